"""Sampled blocks, executed at sample events with a model of their own: predictive controllers and
Kalman filters.
"""
