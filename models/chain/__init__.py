"""Linear chains as mechanisms."""
