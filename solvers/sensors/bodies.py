"""Sensors of body orientations, angular velocities and angular accelerations."""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_of
from kinetree.solvers.algebra.vectors import add3, get3, get9
from kinetree.solvers.kernel import kernel


@kernel
def pick_quaternion(m, axis):
    """Return component w, x, y, z (0-3) of the quaternion of a rotation matrix."""
    w, x, y, z = quaternion_of(m)
    if axis == 0:
        return w
    if axis == 1:
        return x
    if axis == 2:
        return y
    return z


@kernel
def orientation(model, ws, s):
    """Return component `axis` of the quaternion of the sensor's body."""
    return pick_quaternion(get9(ws.row, s.a * L.ROW + L.W_R), s.axis)


@kernel
def angular_velocity(model, ws, s):
    """Return the angular velocity of a body [rad/s] in ground axes."""
    return get3(ws.row, s.a * L.ROW + L.W_OM)


@kernel
def angular_acceleration(model, ws, s):
    """Return the angular acceleration of a body [rad/s²], after the accelerations are computed."""
    return add3(get3(ws.row, s.a * L.ROW + L.W_AL), get3(ws.row, s.a * L.ROW + L.W_DA))
