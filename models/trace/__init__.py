"""Execution of the kernels on symbols: simplified straight-line operations of one mechanism."""
