"""Measures of runs and equilibria, used by studies, optimisation, maps and hardware-in-the-loop
runs.
"""
