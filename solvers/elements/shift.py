"""Shifts along an axis: constant, by a coordinate, or by a prescribed function of time."""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.spatial import join
from kinetree.solvers.algebra.vectors import add3, add_to3, cross, dot3, get3, get9, mv, put3, scale
from kinetree.solvers.elements.interface import Kernels
from kinetree.solvers.elements.single import (
    PLAIN,
    ZERO,
    amount,
    amounts,
    axis_per_unit,
    derives_nothing,
    hand_column,
    no_columns,
    no_rates,
    no_rotation,
    single_rates,
    unit_axis,
)
from kinetree.solvers.kernel import kernel

TILTED = 1e-14  # sine of an angle out of a plane that is no rounding of an axis


@kernel
def vector(model, ws, e, _):
    """Return the vector of a constant shift."""
    return get3(ws.elem, e * L.ELEMENT + L.E_AXIS)


@kernel
def moved(model, ws, e, _):
    """Return the displacement vector of a shift by a coordinate or a prescribed function."""
    return scale(amount(model, ws, e), get3(ws.elem, e * L.ELEMENT + L.E_AXIS))


@kernel
def move_origin(ws, at, step, acc):
    """Move the running origin by `step`; `acc` is its acceleration before the move."""
    om = get3(ws.row, at + L.W_OM)
    put3(
        ws.row,
        at + L.W_A0,
        add3(acc, add3(cross(get3(ws.row, at + L.W_AL), step), cross(om, cross(om, step)))),
    )
    add_to3(ws.row, at + L.W_D, step)


@kernel
def walk_constant(model, ws, e, at):
    """Move the running origin by a constant shift."""
    a = mv(get9(ws.row, at + L.W_R), get3(ws.elem, e * L.ELEMENT + L.E_AXIS))
    move_origin(ws, at, a, get3(ws.row, at + L.W_A0))


@kernel
def walk(model, ws, e, at):
    """Move the running origin; its acceleration gets the centripetal, Coriolis 2 ω × (axis ṡ) and
    prescribed axis s̈ parts.
    """
    a = mv(get9(ws.row, at + L.W_R), get3(ws.elem, e * L.ELEMENT + L.E_AXIS))
    s, rate, second = amounts(model, ws, e)
    acc = add3(
        get3(ws.row, at + L.W_A0),
        add3(scale(second, a), cross(get3(ws.row, at + L.W_OM), scale(2.0 * rate, a))),
    )
    if model.e_q[e] >= 0:
        add_to3(
            ws.col, model.e_u[e] * L.COLUMN + L.C_L, scale(ws.elem[e * L.ELEMENT + L.E_FACTOR], a)
        )
    else:
        add_to3(ws.row, at + L.W_VH + 3, scale(rate, a))
    move_origin(ws, at, scale(s, a), acc)


@kernel
def columns(model, ws, e, place):
    """Set the column of a translation along the element's axis."""
    i, G, s = place
    a = axis_per_unit(model, ws, e)
    hand_column(model, ws, i, e, join(mv(G, a), ZERO))


@kernel
def any_plane(model, ws, e, n):
    """Return the plane normal unchanged and True: a constant shift preserves every normal."""
    return n, True


@kernel
def across(model, ws, e, n):
    """Return a plane normal and whether a shift by a coordinate preserves it, which is so if it is
    perpendicular to the axis.
    """
    return n, model.e_q[e] >= 0 and abs(dot3(get3(ws.elem, e * L.ELEMENT + L.E_AXIS), n)) <= TILTED


CONSTANT = Kernels(
    derives_nothing, no_rotation, vector, walk_constant, no_columns, no_rates, any_plane, *PLAIN
)
MOVING = Kernels(unit_axis, no_rotation, moved, walk, columns, single_rates, across, *PLAIN)
