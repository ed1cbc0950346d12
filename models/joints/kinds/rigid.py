"""The rigid joint: no degree of freedom."""

from kinetree.models.joints.joint_kind import JointKind

JOINT = JointKind(
    "rigid",
    "nothing: the bodies are one",
    coordinates=(),
    elements=lambda axes, pitch: (),
    axes=(),
    rank=1,
)
