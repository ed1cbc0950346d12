"""Joint element `shift_q`: a shift by a coordinate."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "SHIFT_Q",
    2,
    "along an axis by factor*q",
    "shift.MOVING",
    coordinates=1,
    speeds=1,
    shifts=True,
    back="SHIFT_Q",
    whole="PRISMATIC",
)
