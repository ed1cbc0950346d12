"""Kernels shared by elements that move along or about one axis, by a coordinate or a prescribed
function.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.spatial import axpy6, motion_cross
from kinetree.solvers.algebra.vectors import add_to6, dot3, get3, get6, put3, put6, scale
from kinetree.solvers.kernel import kernel

ZERO = (0.0, 0.0, 0.0)
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def amounts(model, ws, e):
    """Return displacement (or angle), rate and prescribed second rate of a moving element."""
    f = ws.elem[e * L.ELEMENT + L.E_FACTOR]
    if model.e_q[e] >= 0:
        return (f * ws.q[model.e_q[e]], f * ws.u[model.e_u[e]], 0.0)
    k = model.e_amount[e]
    return (ws.val[k], ws.val[k + 1], ws.val[k + 2])


@kernel
def amount(model, ws, e):
    """Return the displacement or angle of an element."""
    if model.e_q[e] >= 0:
        return ws.elem[e * L.ELEMENT + L.E_FACTOR] * ws.q[model.e_q[e]]
    return ws.val[model.e_amount[e]]


@kernel
def axis_per_unit(model, ws, e):
    """Return the axis scaled by the displacement (or angle) per unit of the coordinate."""
    a = get3(ws.elem, e * L.ELEMENT + L.E_AXIS)
    if model.e_q[e] >= 0:
        a = scale(ws.elem[e * L.ELEMENT + L.E_FACTOR], a)
    return a


@kernel
def hand_column(model, ws, i, e, c):
    """Store the column of an element per unit of its speed, or add it to the prescribed motion per
    unit of its rate.
    """
    put6(ws.ecol, 6 * e, c)
    if model.e_q[e] >= 0:
        add_to6(ws.A, 6 * model.e_u[e], c)
    else:
        add_to6(ws.vh, 6 * i, axpy6(ws.val[model.e_amount[e] + 1], c, ZERO6))


@kernel
def single_rates(model, ws, e, motion):
    """Return the time derivative of a single-axis element's tangent column, which rotates with the
    frame behind it.
    """
    v, a = motion
    c = get6(ws.ecol, 6 * e)
    d = motion_cross(neg6(v), c)
    if model.e_q[e] >= 0:
        rate = ws.u[model.e_u[e]]
        add_to6(ws.Adot, 6 * model.e_u[e], d)
    else:
        given = model.e_amount[e]
        rate = ws.val[given + 1]
        a = axpy6(ws.val[given + 2], c, a)
    a = axpy6(rate, d, a)
    v = axpy6(rate, c, v)
    return v, a


@kernel
def neg6(a):
    """Return the negative of a six-vector."""
    return (-a[0], -a[1], -a[2], -a[3], -a[4], -a[5])


@kernel
def no_rotation(model, ws, e, _):
    """Return the unit matrix: the element only shifts."""
    return UNIT


@kernel
def no_shift(model, ws, e, _):
    """Return the zero vector: the element only rotates."""
    return ZERO


@kernel
def no_columns(model, ws, e, place):
    """Do nothing: constant elements have no columns."""


@kernel
def no_rates(model, ws, e, motion):
    """Do nothing: constant elements have no column rates."""
    return motion


@kernel
def derives_nothing(model, ws, e, _):
    """Do nothing: a prescribed element has no derived constants."""


@kernel
def unit_axis(model, ws, e, _):
    """Normalise the axis of the element to length 1."""
    at = e * L.ELEMENT + L.E_AXIS
    a = get3(ws.elem, at)
    put3(ws.elem, at, scale(1.0 / math.sqrt(dot3(a, a)), a))


@kernel
def leaves_plane(model, ws, e, n):
    """Return the normal and False: the element preserves no plane, so its loop is spatial."""
    return n, False


@kernel
def rates_are_speeds(model, ws, e, ydot):
    """Copy the speeds to the coordinate rates (`q_rates` of elements whose speeds are the
    derivatives of coordinates).
    """


@kernel
def straight(model, ws, e, step):
    """Do nothing: `retract` and `departure` of elements whose coordinates simply add up."""


@kernel
def unbound(model, ws, e, _):
    """Do nothing: the coordinates of the element have no normalisation condition."""


PLAIN = (rates_are_speeds, straight, straight, unbound)
