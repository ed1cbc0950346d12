"""The revolute joint: rotation about one axis."""

from kinetree.models.joints.elements import turn
from kinetree.models.joints.joint_kind import JointKind

JOINT = JointKind(
    "revolute",
    "a turn about `axis`",
    coordinates=("angle",),
    elements=lambda axes, pitch: (turn(axes[0]),),
    rank=2,
)
