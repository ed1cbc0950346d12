"""Integrators: one file per method, step-size control, dense output."""
