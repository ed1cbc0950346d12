"""The compiled form of a structure, and calls of the engine's kernels on it."""
