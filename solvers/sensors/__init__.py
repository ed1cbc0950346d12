"""Sensors: one registry of measurable quantities, and their kernels."""
