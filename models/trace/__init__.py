"""Tracing: the kernels are executed on symbols, which gives simplified straight-line operations of
one mechanism.
"""
