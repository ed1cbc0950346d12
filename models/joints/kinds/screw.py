"""The screw joint: rotation and translation coupled by a pitch."""

import math

from kinetree.models.joints.elements import slide, turn
from kinetree.models.joints.joint_kind import JointKind
from kinetree.models.language.numbers_and_expressions import Expression


def elements(axes, pitch):
    """Return a rotation and a translation that share one coordinate."""
    factor = Expression(f"({pitch})/(2*pi)") if isinstance(pitch, str) else pitch / (2 * math.pi)
    return turn(axes[0]), slide(axes[0], 0, factor)


JOINT = JointKind(
    "screw",
    "a turn about `axis` that advances along it by `pitch` per turn",
    coordinates=("angle",),
    elements=elements,
    pitch=True,
    rank=8,
)
