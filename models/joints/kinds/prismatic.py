"""The prismatic joint: translation along one axis."""

from kinetree.models.joints.elements import slide
from kinetree.models.joints.joint_kind import JointKind

JOINT = JointKind(
    "prismatic",
    "a shift along `axis`",
    coordinates=("s",),
    elements=lambda axes, pitch: (slide(axes[0]),),
    rank=3,
)
