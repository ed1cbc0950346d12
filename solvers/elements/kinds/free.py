"""Joint element `free`: any translation and rotation."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "FREE",
    7,
    "x, y, z in parent axes and quaternion; speeds = relative velocity and angular velocity in child axes",
    "free.FREE",
    coordinates=7,
    speeds=6,
    shifts=True,
    turns=True,
    quaternion=3,
    whole="FREE",
)
