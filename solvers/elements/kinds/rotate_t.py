"""Joint element `rotate_t`: a rotation by a prescribed function of time."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "ROTATE_T",
    5,
    "about an axis by a given function of time",
    "rotation.MOVING",
    given=True,
    turns=True,
    back="ROTATE_T",
)
