"""Integrators: one file a method, step control, dense output."""
