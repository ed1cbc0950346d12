"""State and parameter estimation with the mechanism's own equations: Kalman filters and
moving-horizon estimation.
"""
