"""One simulation unit: its memory, evaluation, right-hand side and integrators."""
