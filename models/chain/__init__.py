"""Linear multi-mass chains as mechanisms."""
