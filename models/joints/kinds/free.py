"""The free joint: six degrees of freedom."""

from kinetree.models.joints.elements import ElementForm
from kinetree.models.joints.joint_kind import POSITION, QUATERNION, TURNING, JointKind
from kinetree.solvers.elements.kinds.free import KIND as FREE

JOINT = JointKind(
    "free",
    "everything: x, y, z in joint axes and a unit quaternion (w, x, y, z); speeds are the relative velocity and angular velocity in child axes",
    coordinates=POSITION + QUATERNION,
    elements=lambda axes, pitch: (ElementForm(FREE, coordinate=0),),
    speeds=("vx", "vy", "vz", *TURNING),
    axes=(),
    rank=9,
)
