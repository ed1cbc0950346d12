"""Quantities that outputs can measure, with their sensors and expressions."""
