"""Joints of any kind, element by element: shifts and rotations, constant, by a coordinate, by a given function of time, and quaternions.

The row of the body serves as the running frame on the way from the parent; equations (1.13), (1.14) in ground axes as in `motion`.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix, rotation, turn_x, turn_y, turn_z
from kinetree.solvers.algebra.trigonometry import sincos
from kinetree.solvers.algebra.vectors import add3, add_to3, cross, get3, get9, mm, mv, put3, put9, scale, transpose
from kinetree.solvers.kernel import inline, kernel

ZERO = (0.0, 0.0, 0.0)


@inline
def turn(b, axis, code, angle):
    """B Rot(axis, angle), short for coordinate axes."""
    if code == 0.0:
        return mm(b, rotation(axis, angle))
    s, c = sincos(angle)
    if code == 3.0:
        return turn_z(b, s, c)
    if code == 2.0:
        return turn_y(b, s, c)
    return turn_x(b, s, c)


@kernel
def move_general(model, ws, i):
    """Walk through the elements of the joint; the row of body i serves as the running frame."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    put9(ws.row, at + L.W_R, get9(ws.row, parent + L.W_R))
    put3(ws.row, at + L.W_D, ZERO)
    put3(ws.row, at + L.W_OM, get3(ws.row, parent + L.W_OM))
    put3(ws.row, at + L.W_AL, get3(ws.row, parent + L.W_AL))
    put3(ws.row, at + L.W_A0, get3(ws.row, parent + L.W_A0))
    put3(ws.row, at + L.W_VH, ZERO)
    put3(ws.row, at + L.W_VH + 3, ZERO)
    for j in range(model.u_at[i], model.u_at[i + 1]):
        put3(ws.col, j * L.COLUMN + L.C_L, ZERO)
        put3(ws.col, j * L.COLUMN + L.C_A, ZERO)
    for e in range(model.e_at[i], model.e_at[i + 1]):
        kind = model.e_kind[e]
        if kind == L.Element.SHIFT or kind == L.Element.SHIFT_Q or kind == L.Element.SHIFT_T:
            walk_shift(model, ws, at, e, kind)
        elif kind == L.Element.ROTATE or kind == L.Element.ROTATE_Q or kind == L.Element.ROTATE_T:
            walk_rotation(model, ws, at, e, kind)
        elif kind == L.Element.BALL or kind == L.Element.BALL_BACK:
            walk_ball(model, ws, at, e, kind)
        else:
            walk_free(model, ws, at, e)
    close_joint(model, ws, i)


@kernel
def amounts(model, ws, e):
    """Amount, rate and given second rate of a moving element."""
    f = ws.elem[e * L.ELEMENT + L.E_FACTOR]
    if model.e_q[e] >= 0:
        return (f * ws.q[model.e_q[e]], f * ws.u[model.e_u[e]], 0.0)
    k = model.e_amount[e]
    return (ws.val[k], ws.val[k + 1], ws.val[k + 2])


@kernel
def walk_shift(model, ws, at, e, kind):
    """Move the running origin: centripetal, Coriolis 2 ω × (axis ṡ) and given axis s̈ accelerations."""
    a = mv(get9(ws.row, at + L.W_R), get3(ws.elem, e * L.ELEMENT + L.E_AXIS))
    s = 1.0
    om = get3(ws.row, at + L.W_OM)
    acc = get3(ws.row, at + L.W_A0)
    if kind != L.Element.SHIFT:
        s, rate, second = amounts(model, ws, e)
        acc = add3(acc, add3(scale(second, a), cross(om, scale(2.0 * rate, a))))
        if model.e_q[e] >= 0:
            column = model.e_u[e] * L.COLUMN
            add_to3(ws.col, column + L.C_L, scale(ws.elem[e * L.ELEMENT + L.E_FACTOR], a))
        else:
            add_to3(ws.row, at + L.W_VH + 3, scale(rate, a))
    step = scale(s, a)
    put3(ws.row, at + L.W_A0, add3(acc, add3(cross(get3(ws.row, at + L.W_AL), step), cross(om, cross(om, step)))))
    add_to3(ws.row, at + L.W_D, step)


@kernel
def walk_rotation(model, ws, at, e, kind):
    """Turn the running frame; ω × (axis rate) and given second rate."""
    R = get9(ws.row, at + L.W_R)
    k = e * L.ELEMENT
    if kind == L.Element.ROTATE:
        put9(ws.row, at + L.W_R, mm(R, get9(ws.elem, k + L.E_MATRIX)))
        return
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
        add_turn(ws.col, model.e_u[e] * L.COLUMN + L.C_L, model.e_u[e] * L.COLUMN + L.C_A, scale(ws.elem[k + L.E_FACTOR], a), d)
    else:
        add_turn(ws.row, at + L.W_VH + 3, at + L.W_VH, turning, d)


@kernel
def add_turn(array, linear, angular, a, d):
    """Add a rotation a about the point d; the linear part is taken at the parent's origin until `close_joint` refers it to O_i."""
    add_to3(array, angular, a)
    add_to3(array, linear, cross(d, a))


@kernel
def walk_ball(model, ws, at, e, kind):
    """Turn the running frame by a quaternion; from child to parent the axes of the speeds are those before, with the opposite sign."""
    k = model.e_q[e]
    j = model.e_u[e]
    R = get9(ws.row, at + L.W_R)
    Q = quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3])
    if kind == L.Element.BALL:
        R = mm(R, Q)
        turn_by_speeds(ws, at, R, R, j)
    else:
        back = (-R[0], -R[1], -R[2], -R[3], -R[4], -R[5], -R[6], -R[7], -R[8])
        turn_by_speeds(ws, at, mm(R, transpose(Q)), back, j)


@kernel
def turn_by_speeds(ws, at, new, R, j):
    """New running frame, turning with the relative angular velocity u[j:j+3] in the axes R; three columns."""
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


@kernel
def walk_free(model, ws, at, e):
    """Shift in the running axes, then a quaternion; speeds are the child's relative velocity and angular velocity in child axes."""
    k = model.e_q[e]
    j = model.e_u[e]
    Rp = get9(ws.row, at + L.W_R)
    R = mm(Rp, quaternion_matrix(ws.q[k + 3], ws.q[k + 4], ws.q[k + 5], ws.q[k + 6]))
    step = mv(Rp, get3(ws.q, k))
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
def close_joint(model, ws, i):
    """Refer the linear parts of columns and of the given motion to O_i: l + a × d."""
    at = i * L.ROW
    d = get3(ws.row, at + L.W_D)
    add_to3(ws.row, at + L.W_VH + 3, cross(get3(ws.row, at + L.W_VH), d))
    for j in range(model.u_at[i], model.u_at[i + 1]):
        c = j * L.COLUMN
        if model.u_kind[j] == L.Column.ROTATION:
            put3(ws.col, c + L.C_L, ZERO)
        else:
            add_to3(ws.col, c + L.C_L, cross(get3(ws.col, c + L.C_A), d))
