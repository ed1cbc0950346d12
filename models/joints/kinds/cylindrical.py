"""The cylindrical joint: rotation about and translation along one axis."""

from kinetree.models.joints.elements import slide, turn
from kinetree.models.joints.joint_kind import JointKind

JOINT = JointKind(
    "cylindrical",
    "a shift along `axis` and a turn about it",
    coordinates=("s", "angle"),
    elements=lambda axes, pitch: (slide(axes[0]), turn(axes[0], 1)),
    rank=4,
)
