"""Gradients of whole runs: the discrete adjoint of their steps, events and changes of stage."""
