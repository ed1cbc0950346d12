"""From a description to the flat blocks of `solvers/layout.py`."""
