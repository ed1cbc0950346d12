"""Simulation over time: units, stages, integration, evaluation of recorded rows."""
