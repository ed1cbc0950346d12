"""Analyses beside the motion: statics, small motions, identification, slopes, many states."""
