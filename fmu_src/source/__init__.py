"""The engine as C99 sources: kernels translated statement by statement, for FMUs that are compiled
by the host.
"""
