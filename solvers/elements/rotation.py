"""Rotations about an axis: constant, by a coordinate, or by a prescribed function of time."""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import rotation, turn_x, turn_y, turn_z
from kinetree.solvers.algebra.spatial import join
from kinetree.solvers.algebra.trigonometry import sincos
from kinetree.solvers.algebra.vectors import (
    add3,
    add_to3,
    cross,
    dot3,
    get3,
    get9,
    mm,
    mtv,
    mv,
    put3,
    put9,
    scale,
)
from kinetree.solvers.elements.interface import Kernels
from kinetree.solvers.elements.shift import TILTED
from kinetree.solvers.elements.single import (
    PLAIN,
    amount,
    amounts,
    axis_per_unit,
    hand_column,
    no_columns,
    no_rates,
    no_shift,
    single_rates,
    unit_axis,
)
from kinetree.solvers.kernel import inline, kernel


@inline
def turn(b, axis, code, angle):
    """Return b Rot(axis, angle); `code` 1 to 3 selects the faster formula for a coordinate axis."""
    if code == 0.0:
        return mm(b, rotation(axis, angle))
    s, c = sincos(angle)
    if code == 3.0:
        return turn_z(b, s, c)
    if code == 2.0:
        return turn_y(b, s, c)
    return turn_x(b, s, c)


@kernel
def matrix(model, ws, e, _):
    """Return the matrix of a constant rotation."""
    return get9(ws.elem, e * L.ELEMENT + L.E_MATRIX)


@kernel
def turned(model, ws, e, _):
    """Return the rotation matrix of a rotation by a coordinate or a prescribed function."""
    return rotation(get3(ws.elem, e * L.ELEMENT + L.E_AXIS), amount(model, ws, e))


@kernel
def derive_matrix(model, ws, e, _):
    """Compute and store the matrix of a constant rotation."""
    unit_axis(model, ws, e, 0)
    at = e * L.ELEMENT
    put9(
        ws.elem, at + L.E_MATRIX, rotation(get3(ws.elem, at + L.E_AXIS), ws.val[model.e_amount[e]])
    )


@kernel
def walk_constant(model, ws, e, at):
    """Rotate the running frame by a constant rotation."""
    put9(
        ws.row, at + L.W_R, mm(get9(ws.row, at + L.W_R), get9(ws.elem, e * L.ELEMENT + L.E_MATRIX))
    )


@kernel
def walk(model, ws, e, at):
    """Rotate the running frame by a moving element; its angular acceleration gets ω × (axis rate)
    and the prescribed second rate.
    """
    R = get9(ws.row, at + L.W_R)
    k = e * L.ELEMENT
    axis = get3(ws.elem, k + L.E_AXIS)
    a = mv(R, axis)
    angle, rate, second = amounts(model, ws, e)
    put9(ws.row, at + L.W_R, turn(R, axis, ws.elem_code[e], angle))
    turning = scale(rate, a)
    om = get3(ws.row, at + L.W_OM)
    d = get3(ws.row, at + L.W_D)
    add_to3(ws.row, at + L.W_AL, add3(cross(om, turning), scale(second, a)))
    put3(ws.row, at + L.W_OM, add3(om, turning))
    if model.e_q[e] >= 0:
        add_turn(
            ws.col,
            model.e_u[e] * L.COLUMN + L.C_L,
            model.e_u[e] * L.COLUMN + L.C_A,
            scale(ws.elem[k + L.E_FACTOR], a),
            d,
        )
    else:
        add_turn(ws.row, at + L.W_VH + 3, at + L.W_VH, turning, d)


@kernel
def add_turn(array, linear, angular, a, d):
    """Add the column of a rotation with vector `a` about point d to a joint column; its linear part
    refers to the parent's origin.
    """
    add_to3(array, angular, a)
    add_to3(array, linear, cross(d, a))


@kernel
def columns(model, ws, e, place):
    """Set the column of a rotation about the element's axis."""
    i, G, s = place
    a = axis_per_unit(model, ws, e)
    hand_column(model, ws, i, e, join(mv(G, cross(a, s)), mv(G, a)))


@kernel
def turn_normal(model, ws, e, n):
    """Return the plane normal n in the axes behind a constant rotation, and True, since the plane
    is preserved.
    """
    return mtv(get9(ws.elem, e * L.ELEMENT + L.E_MATRIX), n), True


@kernel
def along(model, ws, e, n):
    """Return a plane normal and whether a rotation by a coordinate preserves it, which is so if it
    is parallel to the axis.
    """
    out = cross(get3(ws.elem, e * L.ELEMENT + L.E_AXIS), n)
    return n, model.e_q[e] >= 0 and dot3(out, out) <= TILTED * TILTED


CONSTANT = Kernels(
    derive_matrix, matrix, no_shift, walk_constant, no_columns, no_rates, turn_normal, *PLAIN
)
MOVING = Kernels(unit_axis, turned, no_shift, walk, columns, single_rates, along, *PLAIN)
