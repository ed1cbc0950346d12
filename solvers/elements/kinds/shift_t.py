"""Joint element `shift_t`: a shift by a prescribed function of time."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "SHIFT_T",
    4,
    "along an axis by a given function of time",
    "shift.MOVING",
    given=True,
    shifts=True,
    back="SHIFT_T",
)
