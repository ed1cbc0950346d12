"""Rotations that a hinge or a Cardan joint prevents where it closes a loop without a twin: the
directions about which one body cannot turn relative to the other.

A hinge has two such directions, fixed in body a perpendicular to its axis. A Cardan joint has one,
the normal of its two axes, of which each body carries one. A ball has none: its residuals here are
zero. Components of all residuals are along these directions; the third component is zero.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add3, cross, dot3, get3, sub3
from kinetree.solvers.kernel import kernel
from kinetree.solvers.sensors.points import arm

NONE = (0.0, 0.0, 0.0)
ALIGNED = 1e-12  # sine of the angle between the axes of a hinge below which it is the angle


@kernel
def held_turns(model, ws, g):
    """Return the directions, in ground axes, about which group g holds turns; the second of a Cardan
    joint is zero.
    """
    one = arm(ws, model.l_a[g], model.l_turn[4 * g])
    if model.l_kind[g] == L.Loop.HINGE:
        return one, arm(ws, model.l_a[g], model.l_turn[4 * g + 1])
    return cross(one, arm(ws, model.l_b[g], model.l_turn[4 * g + 2])), NONE


@kernel
def turned_apart(model, ws, g):
    """Return by how much body b is turned about the held directions, rad; about the first axis
    across by the whole angle where a hinge is upside down.
    """
    if model.l_kind[g] == L.Loop.BALL:
        return NONE
    one = arm(ws, model.l_a[g], model.l_turn[4 * g])
    axis = arm(ws, model.l_b[g], model.l_turn[4 * g + 2])
    if model.l_kind[g] == L.Loop.CARDAN:
        return (-dot3(one, axis), 0.0, 0.0)
    two = arm(ws, model.l_a[g], model.l_turn[4 * g + 1])
    x, y, along = -dot3(two, axis), dot3(one, axis), dot3(cross(one, two), axis)
    across = math.sqrt(x * x + y * y)
    if across < ALIGNED:
        return (x, y, 0.0) if along > 0.0 else (math.pi, 0.0, 0.0)
    k = math.atan2(across, along) / across
    return (k * x, k * y, 0.0)


@kernel
def along_turns(model, ws, g, spin):
    """Return the components along the held directions of a spin of body b against body a."""
    if model.l_kind[g] == L.Loop.BALL:
        return NONE
    one, two = held_turns(model, ws, g)
    return (dot3(one, spin), dot3(two, spin), 0.0)


@kernel
def turns_at_rest(model, ws, g):
    """Return the second derivatives of the residuals at u̇ = 0: of the spins, and of the directions;
    zeros where no row holds a turn, as in a plane.
    """
    if model.l_part[model.l_row[g + 1] - 1] < 3:
        return NONE
    a, b = model.l_a[g] * L.ROW, model.l_b[g] * L.ROW
    om_a, om_b = get3(ws.row, a + L.W_OM), get3(ws.row, b + L.W_OM)
    spin = sub3(om_b, om_a)
    rest = sub3(get3(ws.row, b + L.W_AL), get3(ws.row, a + L.W_AL))
    one = arm(ws, model.l_a[g], model.l_turn[4 * g])
    if model.l_kind[g] == L.Loop.HINGE:
        two = arm(ws, model.l_a[g], model.l_turn[4 * g + 1])
        rest = add3(rest, cross(spin, om_a))
        return (dot3(one, rest), dot3(two, rest), 0.0)
    axis = arm(ws, model.l_b[g], model.l_turn[4 * g + 2])
    moving = add3(cross(cross(om_a, one), axis), cross(one, cross(om_b, axis)))
    return (dot3(cross(one, axis), rest) + dot3(moving, spin), 0.0, 0.0)
