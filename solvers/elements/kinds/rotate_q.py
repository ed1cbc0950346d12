"""Joint element `rotate_q`: a rotation by a coordinate."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "ROTATE_Q",
    3,
    "about an axis by factor*q",
    "rotation.MOVING",
    coordinates=1,
    speeds=1,
    turns=True,
    back="ROTATE_Q",
    whole="REVOLUTE",
)
