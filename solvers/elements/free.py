"""Free element: position in parent axes and a unit quaternion; speeds are relative velocity and
angular velocity in child axes.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix
from kinetree.solvers.algebra.spatial import join
from kinetree.solvers.algebra.vectors import (
    add3,
    add_to3,
    cross,
    get3,
    get9,
    mm,
    mtv,
    mv,
    put3,
    put6,
    sub3,
)
from kinetree.solvers.elements.ball import (
    column_rates,
    quaternion_rate,
    turn_between,
    turn_by_speeds,
    turn_quaternion,
    turning_columns,
    unit_quaternion,
)
from kinetree.solvers.elements.interface import Kernels
from kinetree.solvers.elements.single import ZERO, derives_nothing, leaves_plane
from kinetree.solvers.kernel import kernel


@kernel
def turned(model, ws, e, _):
    """Return the rotation matrix of the quaternion of a free element."""
    k = model.e_q[e] + 3
    return quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3])


@kernel
def moved(model, ws, e, _):
    """Return the position of the free body in parent axes."""
    return get3(ws.q, model.e_q[e])


@kernel
def walk(model, ws, e, at):
    """Shift the running frame by the position, then rotate it by the quaternion."""
    j = model.e_u[e]
    Rp = get9(ws.row, at + L.W_R)
    R = mm(Rp, turned(model, ws, e, 0))
    step = mv(Rp, moved(model, ws, e, 0))
    vel = mv(R, get3(ws.u, j))
    om = get3(ws.row, at + L.W_OM)
    swing = add3(cross(get3(ws.row, at + L.W_AL), step), cross(om, cross(om, step)))
    coriolis = add3(cross(om, vel), cross(add3(om, mv(R, get3(ws.u, j + 3))), vel))
    add_to3(ws.row, at + L.W_A0, add3(swing, coriolis))
    add_to3(ws.row, at + L.W_D, step)
    c = j * L.COLUMN + L.C_L
    put3(ws.col, c, (R[0], R[3], R[6]))
    put3(ws.col, c + L.COLUMN, (R[1], R[4], R[7]))
    put3(ws.col, c + 2 * L.COLUMN, (R[2], R[5], R[8]))
    turn_by_speeds(ws, at, R, R, j + 3)


@kernel
def columns(model, ws, e, place):
    """Set the columns of a free element: unit velocities and unit angular velocities along the axes
    behind it.
    """
    i, G, s = place
    j = model.e_u[e]
    for k in range(3):
        put6(ws.A, 6 * (j + k), join((G[k], G[3 + k], G[6 + k]), ZERO))
    turning_columns(ws, j + 3, G, mv(G, s))


@kernel
def rates(model, ws, e, motion):
    """Return the time derivative of the six columns of a free element, which rotate with the frame
    behind it.
    """
    v, a = motion
    return column_rates(ws, model.e_u[e], model.e_u[e] + 6, False, v, a)


@kernel
def q_rates(model, ws, e, ydot):
    """Write the time derivatives of position and quaternion of a free element to ydot."""
    shift_rate(ydot, ws, model.e_q[e], model.e_u[e])
    quaternion_rate(ydot, ws, model.e_q[e] + 3, model.e_u[e] + 3)


@kernel
def shift_rate(ydot, ws, k, j):
    """Write the time derivative of the position in parent axes, computed from the velocity in child
    axes.
    """
    w, x, y, z = ws.q[k + 3], ws.q[k + 4], ws.q[k + 5], ws.q[k + 6]
    a, b, c = ws.u[j], ws.u[j + 1], ws.u[j + 2]
    s = 2.0 / (w * w + x * x + y * y + z * z)
    p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
    ydot[k] = a + s * (w * p + y * r - z * q)
    ydot[k + 1] = b + s * (w * q + z * p - x * r)
    ydot[k + 2] = c + s * (w * r + x * q - y * p)


@kernel
def retract(model, ws, e, step):
    """Shift a free element in child axes, then rotate it, by the entries of `step`."""
    change, scale = step
    k, j = model.e_q[e], model.e_u[e]
    x, y, z = mv(turned(model, ws, e, 0), get3(change, j))
    add_to3(ws.q, k, (scale * x, scale * y, scale * z))
    turn_quaternion(ws.q, k + 3, change[j + 3], change[j + 4], change[j + 5], scale)


@kernel
def departure(model, ws, e, way):
    """Write the shift in child axes and the rotation vector between two positions of a free
    element.
    """
    q, out = way
    k, j = model.e_q[e], model.e_u[e]
    R = quaternion_matrix(q[k + 3], q[k + 4], q[k + 5], q[k + 6])
    put3(out, j, mtv(R, sub3(get3(ws.q, k), get3(q, k))))
    put3(out, j + 3, turn_between(q, ws.q, k + 3))


@kernel
def unify(model, ws, e, _):
    """Normalise the quaternion of a free element."""
    unit_quaternion(ws.q, model.e_q[e] + 3)


FREE = Kernels(
    derives_nothing,
    turned,
    moved,
    walk,
    columns,
    rates,
    leaves_plane,
    q_rates,
    retract,
    departure,
    unify,
)
