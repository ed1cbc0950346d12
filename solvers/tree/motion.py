"""Fast kinematics in world axes: poses, angular velocities and the accelerations that remain at u̇ = 0, root to leaves.

Equations (1.13), (1.14) with all vectors in ground axes and every linear quantity taken at the body-frame origins O_i. Gravity enters as
an acceleration -g of the ground, so a0 of body i is its acceleration at u̇ = 0 minus g.
Tangent columns A_j (linear, angular part) of speed j stand in ws.col.
"""
import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix, rotation, turn_x, turn_y, turn_z
from kinetree.solvers.algebra.vectors import add3, add_to3, cross, get3, get6, get9, mm, mv, neg3, put3, put6, put9, rotate_symmetric, scale, skew, sv, transpose
from kinetree.solvers.kernel import kernel

ZERO = (0.0, 0.0, 0.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def motion(model, ws):
    """Fill the rows and columns of all bodies from ws.q, ws.u and the registers of given motions."""
    start_ground(model, ws)
    for i in range(1, model.parent.size):
        joint = model.joint[i]
        if joint == L.Joint.REVOLUTE:
            move_revolute(model, ws, i)
        elif joint == L.Joint.SPHERICAL:
            move_ball(model, ws, i)
        elif joint == L.Joint.PRISMATIC:
            move_prismatic(model, ws, i)
        else:
            move_general(model, ws, i)
        start_inertia(ws, i)
    return 0


@kernel
def start_ground(model, ws):
    """Row of the ground: at rest, accelerated by -g."""
    g = get3(ws.val, model.header[L.H_GRAVITY])
    put9(ws.row, L.W_R, UNIT)
    put3(ws.row, L.W_D, ZERO)
    put3(ws.row, L.W_OM, ZERO)
    put3(ws.row, L.W_AL, ZERO)
    put3(ws.row, L.W_A0, neg3(g))
    put3(ws.row, L.W_DA, ZERO)
    put3(ws.row, L.W_DB, ZERO)
    put3(ws.row, L.W_P, ZERO)
    put3(ws.row, L.W_V, ZERO)
    put3(ws.row, L.W_VH, ZERO)


@kernel
def turn(b, axis, code, angle):
    """B Rot(axis, angle), short for coordinate axes."""
    if code == 0.0:
        return mm(b, rotation(axis, angle))
    s = math.sin(angle)
    c = math.cos(angle)
    if code == 3.0:
        return turn_z(b, s, c)
    if code == 2.0:
        return turn_y(b, s, c)
    return turn_x(b, s, c)


@kernel
def carry(ws, parent, d):
    """Acceleration of the point of the parent at distance d from O_kappa, at u̇ = 0."""
    om = get3(ws.row, parent + L.W_OM)
    return add3(get3(ws.row, parent + L.W_A0), add3(cross(get3(ws.row, parent + L.W_AL), d), cross(om, cross(om, d))))


@kernel
def move_revolute(model, ws, i):
    """Constant part, then a rotation about an axis through O_i."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    j = model.u_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    d = mv(Rp, get3(ws.body, b + L.B_R))
    B = mm(Rp, get9(ws.body, b + L.B_E))
    axis = get3(ws.body, b + L.B_AXIS)
    a = mv(B, axis)
    om = get3(ws.row, parent + L.W_OM)
    turning = scale(ws.u[j], a)
    put9(ws.row, at + L.W_R, turn(B, axis, ws.body[b + L.B_CODE], ws.q[model.q_at[i]]))
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_OM, add3(om, turning))
    put3(ws.row, at + L.W_AL, add3(get3(ws.row, parent + L.W_AL), cross(om, turning)))
    put3(ws.row, at + L.W_A0, carry(ws, parent, d))
    put3(ws.col, j * L.COLUMN + L.C_A, a)
    put3(ws.col, j * L.COLUMN + L.C_L, ZERO)


@kernel
def move_prismatic(model, ws, i):
    """Constant part, then a shift along an axis."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    j = model.u_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    R = mm(Rp, get9(ws.body, b + L.B_E))
    a = mv(R, get3(ws.body, b + L.B_AXIS))
    d = add3(mv(Rp, get3(ws.body, b + L.B_R)), scale(ws.q[model.q_at[i]], a))
    om = get3(ws.row, parent + L.W_OM)
    put9(ws.row, at + L.W_R, R)
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_OM, om)
    put3(ws.row, at + L.W_AL, get3(ws.row, parent + L.W_AL))
    put3(ws.row, at + L.W_A0, add3(carry(ws, parent, d), cross(om, scale(2.0 * ws.u[j], a))))
    put3(ws.col, j * L.COLUMN + L.C_A, ZERO)
    put3(ws.col, j * L.COLUMN + L.C_L, a)


@kernel
def move_ball(model, ws, i):
    """Constant part, then a rotation by a quaternion; speeds are the relative angular velocity in child axes."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    j = model.u_at[i]
    k = model.q_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    d = mv(Rp, get3(ws.body, b + L.B_R))
    R = mm(mm(Rp, get9(ws.body, b + L.B_E)), quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3]))
    om = get3(ws.row, parent + L.W_OM)
    turning = mv(R, get3(ws.u, j))
    put9(ws.row, at + L.W_R, R)
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_OM, add3(om, turning))
    put3(ws.row, at + L.W_AL, add3(get3(ws.row, parent + L.W_AL), cross(om, turning)))
    put3(ws.row, at + L.W_A0, carry(ws, parent, d))
    put_turning_columns(ws, j, R)


@kernel
def put_turning_columns(ws, j, R):
    """Columns of a rotation about the child's axes through O_i."""
    for k in range(3):
        put3(ws.col, (j + k) * L.COLUMN + L.C_L, ZERO)
    put3(ws.col, j * L.COLUMN + L.C_A, (R[0], R[3], R[6]))
    put3(ws.col, (j + 1) * L.COLUMN + L.C_A, (R[1], R[4], R[7]))
    put3(ws.col, (j + 2) * L.COLUMN + L.C_A, (R[2], R[5], R[8]))


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
    put9(ws.row, at + L.W_R, turn(R, axis, ws.elem[k + L.E_CODE], angle))
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


@kernel
def start_inertia(ws, i):
    """Inertia in ground axes about O_i and the bias force and moment of Newton and Euler at u̇ = 0."""
    at = i * L.ROW
    b = i * L.BODY
    R = get9(ws.row, at + L.W_R)
    m = ws.body[b + L.B_MASS]
    h = mv(R, get3(ws.body, b + L.B_H))
    J = rotate_symmetric(R, get6(ws.body, b + L.B_J))
    om = get3(ws.row, at + L.W_OM)
    al = get3(ws.row, at + L.W_AL)
    a0 = get3(ws.row, at + L.W_A0)
    put6(ws.row, at + L.W_J, J)
    put9(ws.row, at + L.W_H, skew(h))
    put6(ws.row, at + L.W_M, (m, 0.0, 0.0, m, 0.0, m))
    put3(ws.row, at + L.W_N, add3(add3(sv(J, al), cross(om, sv(J, om))), cross(h, a0)))
    put3(ws.row, at + L.W_F, add3(scale(m, a0), add3(cross(al, h), cross(om, cross(om, h)))))


@kernel
def velocities(model, ws):
    """Positions and velocities of all O_i in ground axes, for loads and outputs; needs `motion`."""
    for i in range(1, model.parent.size):
        at = i * L.ROW
        parent = model.parent[i] * L.ROW
        d = get3(ws.row, at + L.W_D)
        v = add3(get3(ws.row, parent + L.W_V), cross(get3(ws.row, parent + L.W_OM), d))
        if model.joint[i] == L.Joint.GENERAL or model.joint[i] == L.Joint.FREE:
            v = add3(v, get3(ws.row, at + L.W_VH + 3))
        for j in range(model.u_at[i], model.u_at[i + 1]):
            v = add3(v, scale(ws.u[j], get3(ws.col, j * L.COLUMN + L.C_L)))
        put3(ws.row, at + L.W_P, add3(get3(ws.row, parent + L.W_P), d))
        put3(ws.row, at + L.W_V, v)
    return 0
