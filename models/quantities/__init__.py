"""Quantities that outputs can measure, and their sensors and expressions."""
