"""State and parameter estimation: Kalman filters and moving-horizon estimation over the mechanism's own equations."""
