"""Elements that joints consist of: one registry, and for each kind the kernels that move it."""
