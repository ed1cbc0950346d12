"""Ball element: a rotation by a unit quaternion, angular velocity in child axes; also for joints
that the tree uses from child to parent.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix
from kinetree.solvers.algebra.spatial import axpy6, join, motion_cross
from kinetree.solvers.algebra.vectors import (
    add3,
    add_to3,
    cross,
    get3,
    get6,
    get9,
    mm,
    mv,
    put3,
    put6,
    put9,
    transpose,
)
from kinetree.solvers.elements.interface import Kernels
from kinetree.solvers.elements.rotation import add_turn
from kinetree.solvers.elements.single import derives_nothing, leaves_plane, neg6, no_shift
from kinetree.solvers.kernel import kernel


@kernel
def turned(model, ws, e, _):
    """Return the rotation matrix of the quaternion of a ball element."""
    k = model.e_q[e]
    return quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3])


@kernel
def turned_back(model, ws, e, _):
    """Return the inverse rotation matrix of the quaternion of a ball element."""
    return transpose(turned(model, ws, e, 0))


# -- ground axes --------------------------------------------------------------------------------------------------------------------------
@kernel
def walk(model, ws, e, at):
    """Rotate the running frame by the quaternion of a ball element."""
    R = mm(get9(ws.row, at + L.W_R), turned(model, ws, e, 0))
    turn_by_speeds(ws, at, R, R, model.e_u[e])


@kernel
def walk_back(model, ws, e, at):
    """Rotate the frame of a ball element used from child to parent and add its columns with
    opposite sign.
    """
    R = get9(ws.row, at + L.W_R)
    back = (-R[0], -R[1], -R[2], -R[3], -R[4], -R[5], -R[6], -R[7], -R[8])
    turn_by_speeds(ws, at, mm(R, turned_back(model, ws, e, 0)), back, model.e_u[e])


@kernel
def turn_by_speeds(ws, at, new, R, j):
    """Set the new running frame with relative angular velocity u[j:j+3] in axes R, and the three
    columns of the element.
    """
    turning = mv(R, get3(ws.u, j))
    om = get3(ws.row, at + L.W_OM)
    d = get3(ws.row, at + L.W_D)
    put9(ws.row, at + L.W_R, new)
    add_to3(ws.row, at + L.W_AL, cross(om, turning))
    put3(ws.row, at + L.W_OM, add3(om, turning))
    c = j * L.COLUMN
    add_turn(ws.col, c + L.C_L, c + L.C_A, (R[0], R[3], R[6]), d)
    add_turn(ws.col, c + L.COLUMN + L.C_L, c + L.COLUMN + L.C_A, (R[1], R[4], R[7]), d)
    add_turn(ws.col, c + 2 * L.COLUMN + L.C_L, c + 2 * L.COLUMN + L.C_A, (R[2], R[5], R[8]), d)


# -- body axes ----------------------------------------------------------------------------------------------------------------------------
@kernel
def columns(model, ws, e, place):
    """Set the columns of a ball element: unit angular velocities about the axes behind the element."""
    i, G, s = place
    turning_columns(ws, model.e_u[e], G, mv(G, s))


@kernel
def columns_back(model, ws, e, place):
    """Set the columns of a reversed ball element: unit angular velocities about the axes before it,
    with opposite sign.
    """
    i, G, s = place
    turning_columns(
        ws, model.e_u[e], scale9(-1.0, mm(G, transpose(turned_back(model, ws, e, 0)))), mv(G, s)
    )


@kernel
def turning_columns(ws, u, B, arm):
    """Set the tangent columns of unit angular velocities about the axes B, with `arm` to the
    child's origin.
    """
    for k in range(3):
        g = (B[k], B[3 + k], B[6 + k])
        put6(ws.A, 6 * (u + k), join(cross(g, arm), g))


@kernel
def scale9(s, m):
    """Return a number times a 3 x 3 matrix (9 elements)."""
    return (
        s * m[0],
        s * m[1],
        s * m[2],
        s * m[3],
        s * m[4],
        s * m[5],
        s * m[6],
        s * m[7],
        s * m[8],
    )


@kernel
def rates(model, ws, e, motion):
    """Return the time derivative of the columns of a ball element, which rotate with the frame
    behind it.
    """
    v, a = motion
    return column_rates(ws, model.e_u[e], model.e_u[e] + 3, False, v, a)


@kernel
def rates_back(model, ws, e, motion):
    """Return the time derivative of the columns of a reversed ball element, which rotate with the
    element too.
    """
    v, a = motion
    return column_rates(ws, model.e_u[e], model.e_u[e] + 3, True, v, a)


@kernel
def column_rates(ws, first, end, back, v, a):
    """Write the rates of the columns first..end-1, which rotate with the part of the joint behind
    them (`back`: with the element as well). Return the relative velocity and acceleration including
    the element.
    """
    v1 = v
    for k in range(first, end):
        v1 = axpy6(ws.u[k], get6(ws.A, 6 * k), v1)
    turning = v1 if back else v
    for k in range(first, end):
        d = motion_cross(neg6(turning), get6(ws.A, 6 * k))
        put6(ws.Adot, 6 * k, d)
        a = axpy6(ws.u[k], d, a)
    return v1, a


# -- coordinates --------------------------------------------------------------------------------------------------------------------------
@kernel
def q_rates(model, ws, e, ydot):
    """Write the time derivative of a ball element's quaternion to ydot."""
    quaternion_rate(ydot, ws, model.e_q[e], model.e_u[e])


@kernel
def quaternion_rate(ydot, ws, k, j):
    """Write the quaternion rate q̇ = q ∘ (0, ω)/2 to ydot, with ω in child axes; it preserves the
    norm.
    """
    w, x, y, z = ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3]
    a, b, c = 0.5 * ws.u[j], 0.5 * ws.u[j + 1], 0.5 * ws.u[j + 2]
    ydot[k] = -(x * a + y * b + z * c)
    ydot[k + 1] = w * a + y * c - z * b
    ydot[k + 2] = w * b + z * a - x * c
    ydot[k + 3] = w * c + x * b - y * a


@kernel
def retract(model, ws, e, step):
    """Rotate the quaternion of a ball element by a small rotation vector, given by the entries of
    `step`.
    """
    change, scale = step
    j = model.e_u[e]
    turn_quaternion(ws.q, model.e_q[e], change[j], change[j + 1], change[j + 2], scale)


@kernel
def departure(model, ws, e, way):
    """Write the rotation vector between two quaternions of a ball element."""
    q, out = way
    put3(out, model.e_u[e], turn_between(q, ws.q, model.e_q[e]))


@kernel
def unify(model, ws, e, _):
    """Normalise the quaternion of a ball element."""
    unit_quaternion(ws.q, model.e_q[e])


@kernel
def unit_quaternion(q, k):
    """Normalise the quaternion stored from index k on."""
    norm = math.sqrt(q[k] ** 2 + q[k + 1] ** 2 + q[k + 2] ** 2 + q[k + 3] ** 2)
    for m in range(k, k + 4):
        q[m] /= norm


@kernel
def turn_between(a, b, k):
    """Return the rotation vector, in child axes, from the quaternion at a[k] to the one at b[k]."""
    x = a[k] * b[k + 1] - b[k] * a[k + 1] - (a[k + 2] * b[k + 3] - a[k + 3] * b[k + 2])
    y = a[k] * b[k + 2] - b[k] * a[k + 2] - (a[k + 3] * b[k + 1] - a[k + 1] * b[k + 3])
    z = a[k] * b[k + 3] - b[k] * a[k + 3] - (a[k + 1] * b[k + 2] - a[k + 2] * b[k + 1])
    w = a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0
    return (factor * x, factor * y, factor * z)


@kernel
def turn_quaternion(q, k, x, y, z, scale):
    """Multiply the quaternion stored from index k on by the rotation with vector scale * (x, y, z)
    in child axes, and normalise it.
    """
    half = 0.5 * scale * math.sqrt(x * x + y * y + z * z)
    s = 0.5 * scale
    if half > 1e-8:
        s *= math.sin(half) / half
    c = math.cos(half)
    x *= s
    y *= s
    z *= s
    qw, qx, qy, qz = q[k], q[k + 1], q[k + 2], q[k + 3]
    q[k] = c * qw - x * qx - y * qy - z * qz
    q[k + 1] = c * qx + x * qw + z * qy - y * qz
    q[k + 2] = c * qy + y * qw + x * qz - z * qx
    q[k + 3] = c * qz + z * qw + y * qx - x * qy
    length = math.sqrt(
        q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3]
    )
    for i in range(4):
        q[k + i] /= length


BALL = Kernels(
    derives_nothing,
    turned,
    no_shift,
    walk,
    columns,
    rates,
    leaves_plane,
    q_rates,
    retract,
    departure,
    unify,
)
BACK = Kernels(
    derives_nothing,
    turned_back,
    no_shift,
    walk_back,
    columns_back,
    rates_back,
    leaves_plane,
    q_rates,
    retract,
    departure,
    unify,
)
