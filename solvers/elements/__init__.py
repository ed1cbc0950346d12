"""Elements that joints are composed of: one registry, and the kinematic kernels of each kind."""
