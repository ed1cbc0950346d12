"""Blocks that are carried out at sample events with a model of their own: predictive control and Kalman filters."""
