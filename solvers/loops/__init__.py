"""Closed kinematic loops: constraint rows, their sparse factor, constrained accelerations, projections and assembly."""
