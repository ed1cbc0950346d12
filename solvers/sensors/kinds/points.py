"""Places of points of bodies and how they move."""

from kinetree.solvers.sensors.kinds import Kind

POSITION = Kind("POSITION", 0, "points.position", vector=True, late=False, speeds=False)
VELOCITY = Kind("VELOCITY", 1, "points.velocity", vector=True, late=False)
ACCELERATION = Kind("ACCELERATION", 6, "points.acceleration", vector=True)
DISTANCE = Kind("DISTANCE", 4, "points.distance", late=False, speeds=False)
DISTANCE_RATE = Kind("DISTANCE_RATE", 5, "points.distance_rate", late=False)
SENSORS = (POSITION, VELOCITY, ACCELERATION, DISTANCE, DISTANCE_RATE)
