"""Sensors: one registry of what can be measured, and the kernels that do it."""
