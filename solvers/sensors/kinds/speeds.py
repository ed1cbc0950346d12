"""Kinds of sensors: time derivatives of generalised speeds."""

from kinetree.solvers.sensors.kinds import Kind

SPEED_RATE = Kind("SPEED_RATE", 14, "speeds.speed_rate")
SENSORS = (SPEED_RATE,)
