"""Sensors of positions, velocities and accelerations of points of bodies, and of distances."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import select
from kinetree.solvers.algebra.vectors import add3, cross, dot3, get3, get9, mv, sub3
from kinetree.solvers.kernel import kernel


@kernel
def arm(ws, body, register):
    """Return the vector from O_i to a point given in body axes, in ground axes."""
    if register < 0:
        return (0.0, 0.0, 0.0)
    return mv(get9(ws.row, body * L.ROW + L.W_R), get3(ws.val, register))


@kernel
def point_position(ws, body, register):
    """Return the position [m] of a point of a body in ground axes."""
    return add3(get3(ws.row, body * L.ROW + L.W_P), arm(ws, body, register))


@kernel
def point_velocity(ws, body, register):
    """Return the velocity [m/s] of a point of a body in ground axes."""
    at = body * L.ROW
    return add3(get3(ws.row, at + L.W_V), cross(get3(ws.row, at + L.W_OM), arm(ws, body, register)))


@kernel
def position(model, ws, s):
    """Return the position [m] of the sensor's point in ground axes."""
    return point_position(ws, s.a, s.point_a)


@kernel
def direction(model, ws, s):
    """Return the direction fixed to the sensor's body in ground axes."""
    return arm(ws, s.a, s.point_a)


@kernel
def velocity(model, ws, s):
    """Return the velocity of a point [m/s] in ground axes."""
    return point_velocity(ws, s.a, s.point_a)


@kernel
def acceleration(model, ws, s):
    """Return the acceleration of a point [m/s²] in ground axes, after the accelerations are
    computed.
    """
    at = s.a * L.ROW
    r = arm(ws, s.a, s.point_a)
    om = get3(ws.row, at + L.W_OM)
    al = add3(get3(ws.row, at + L.W_AL), get3(ws.row, at + L.W_DA))
    a = add3(get3(ws.row, at + L.W_A0), get3(ws.row, at + L.W_DB))
    return add3(
        add3(a, get3(ws.val, model.header.gravity)), add3(cross(al, r), cross(om, cross(om, r)))
    )


@kernel
def lengths(ws, s):
    """Return the distance [m] of two points and its rate [m/s]."""
    r = sub3(point_position(ws, s.b, s.point_b), point_position(ws, s.a, s.point_a))
    length = math.sqrt(dot3(r, r))
    v = sub3(point_velocity(ws, s.b, s.point_b), point_velocity(ws, s.a, s.point_a))
    return (length, select(length > 0.0, dot3(r, v) / length, math.sqrt(dot3(v, v))))


@kernel
def distance(model, ws, s):
    """Return the distance [m] of two points."""
    return lengths(ws, s)[0]


@kernel
def distance_rate(model, ws, s):
    """Return the time derivative of the distance between two points [m/s]."""
    return lengths(ws, s)[1]
