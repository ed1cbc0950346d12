"""Numbers that are several numbers at once: lanes of states, and values with slopes. The kernels of the engine compile for them unchanged."""
