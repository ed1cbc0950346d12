"""Kinds of sensors: orientations, angular velocities and angular accelerations of bodies."""

from kinetree.solvers.sensors.kinds import Kind

ORIENTATION = Kind(
    "ORIENTATION", 2, "bodies.orientation", late=False, speeds=False
)  # axis 0-3: quaternion w, x, y, z of the body relative to ground
ANGULAR_VELOCITY = Kind("ANGULAR_VELOCITY", 3, "bodies.angular_velocity", vector=True, late=False)
ANGULAR_ACCELERATION = Kind("ANGULAR_ACCELERATION", 7, "bodies.angular_acceleration", vector=True)
SENSORS = (ORIENTATION, ANGULAR_VELOCITY, ANGULAR_ACCELERATION)
