"""The spherical joint: any rotation, by a unit quaternion."""

from kinetree.models.joints.elements import ElementForm
from kinetree.models.joints.joint_kind import QUATERNION, TURNING, JointKind
from kinetree.solvers.elements.kinds.ball import KIND as BALL

JOINT = JointKind(
    "spherical",
    "all turns, as a unit quaternion (w, x, y, z) from child axes to joint axes; speeds are the relative angular velocity in child axes",
    coordinates=QUATERNION,
    elements=lambda axes, pitch: (ElementForm(BALL, coordinate=0),),
    speeds=TURNING,
    axes=(),
    rank=6,
)
