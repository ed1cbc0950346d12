"""Kinds of sensors: positions, velocities and accelerations of points of bodies, and directions
fixed to bodies.
"""

from kinetree.solvers.sensors.kinds import Kind

POSITION = Kind("POSITION", 0, "points.position", vector=True, late=False, speeds=False)
VELOCITY = Kind("VELOCITY", 1, "points.velocity", vector=True, late=False)
ACCELERATION = Kind("ACCELERATION", 6, "points.acceleration", vector=True)
DIRECTION = Kind("DIRECTION", 17, "points.direction", vector=True, late=False, speeds=False)
DISTANCE = Kind("DISTANCE", 4, "points.distance", late=False, speeds=False)
DISTANCE_RATE = Kind("DISTANCE_RATE", 5, "points.distance_rate", late=False)
SENSORS = (POSITION, VELOCITY, ACCELERATION, DIRECTION, DISTANCE, DISTANCE_RATE)
