"""An instance: its memory, evaluation, right-hand side and integrators."""
