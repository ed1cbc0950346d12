"""The universal (Cardan) joint: rotations about two perpendicular axes."""

from kinetree.models.joints.elements import turn
from kinetree.models.joints.joint_kind import JointKind

JOINT = JointKind(
    "universal",
    "a turn about the first of two axes, which carries the second, and a turn about that",
    coordinates=("angle1", "angle2"),
    elements=lambda axes, pitch: (turn(axes[0]), turn(axes[1], 1)),
    axes=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    rank=5,
)
