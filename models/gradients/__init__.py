"""Gradients of whole runs: the discrete adjoint of their steps, events and stage changes."""
