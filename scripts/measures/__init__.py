"""Measures of runs and equilibria that studies, searches, maps and runs in the loop share."""
