"""The planar joint: two translations in a plane and a rotation about its normal."""

from kinetree.models.joints.elements import perpendiculars, slide, turn
from kinetree.models.joints.joint_kind import JointKind


def elements(axes, pitch):
    first, second = perpendiculars(axes[0])
    return slide(first), slide(second, 1), turn(axes[0], 2)


JOINT = JointKind(
    "planar",
    "two shifts across `axis` (along x and y for the z axis) and a turn about it",
    coordinates=("x", "y", "angle"),
    elements=elements,
    rank=7,
)
