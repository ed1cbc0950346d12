"""Joint element `ball`: any rotation, by a unit quaternion."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "BALL",
    6,
    "unit quaternion (child axes to parent axes), speeds = relative angular velocity in child axes",
    "ball.BALL",
    coordinates=4,
    speeds=3,
    turns=True,
    quaternion=0,
    back="BALL_BACK",
    whole="SPHERICAL",
    pure=True,
)
