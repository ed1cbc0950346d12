"""Compilation of descriptions to the flat blocks of `solvers/layout.py`."""
