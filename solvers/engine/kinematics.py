"""Fast kinematics in world axes: poses, angular velocities and the accelerations that remain at u̇ = 0, root to leaves.

Equations (1.13), (1.14) with all vectors in ground axes and every linear quantity taken at the body-frame origins O_i. Gravity enters as
an acceleration -g of the ground, so a0 of body i is its acceleration at u̇ = 0 minus g.
Tangent columns A_j (linear, angular part) of speed j stand in ws.col.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rotations import quaternion_matrix
from kinetree.solvers.algebra.vectors import (
    add3,
    cross,
    get3,
    get6,
    get9,
    mm,
    mv,
    neg3,
    put3,
    put6,
    put9,
    rotate_symmetric,
    scale,
    skew,
    sv,
)
from kinetree.solvers.elements.rotation import turn
from kinetree.solvers.engine.joint_elements import move_general
from kinetree.solvers.engine.modal_bodies import move_face, move_frame, start_modal_inertia
from kinetree.solvers.kernel import inline, kernel

ZERO = (0.0, 0.0, 0.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def motion(model, ws, inertia):
    """Compute the motion of all bodies (rows) and tangent columns from ws.q, ws.u and prescribed
    motions; with `inertia` also their inertias.
    """
    start_ground(model, ws)
    for i in range(1, model.parent.size):
        move(model, ws, i)
        if inertia:
            if model.joint[i] == L.Joint.MODES:
                start_modal_inertia(model, ws, i)
            else:
                start_inertia(ws, i)
    return 0


@inline
def move(model, ws, i):
    """Fill the row (kinematics) and the columns of body i from the row of its parent."""
    joint = model.joint[i]
    if joint == L.Joint.REVOLUTE:
        move_revolute(model, ws, i)
    elif joint == L.Joint.SPHERICAL:
        move_ball(model, ws, i)
    elif joint == L.Joint.PRISMATIC:
        move_prismatic(model, ws, i)
    elif joint == L.Joint.UNIVERSAL:
        move_universal(model, ws, i)
    elif joint == L.Joint.MODES:
        move_frame(model, ws, i)
    elif joint == L.Joint.FACE:
        move_face(model, ws, i)
    else:
        move_general(model, ws, i)


@kernel
def start_ground(model, ws):
    """Initialise the ground's motion: zero velocity, and acceleration -g to include gravity."""
    g = get3(ws.val, model.header.gravity)
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


@inline
def carry(ws, parent, d):
    """Return the acceleration at u̇ = 0 of the parent's point at distance d from its origin."""
    om = get3(ws.row, parent + L.W_OM)
    return add3(
        get3(ws.row, parent + L.W_A0),
        add3(cross(get3(ws.row, parent + L.W_AL), d), cross(om, cross(om, d))),
    )


@inline
def joint_axes(ws, b, Rp):
    """Return the axes of the joint frame: those of the parent body times the constant rotation of
    the joint.
    """
    if ws.body_code[2 * (b // L.BODY) + 1] == 1.0:
        return Rp
    return mm(Rp, get9(ws.body, b + L.B_E))


@kernel
def move_revolute(model, ws, i):
    """Compute motion and tangent column of a body on a revolute joint."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    j = model.u_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    d = mv(Rp, get3(ws.body, b + L.B_R))
    B = joint_axes(ws, b, Rp)
    axis = get3(ws.body, b + L.B_AXIS)
    a = mv(B, axis)
    om = get3(ws.row, parent + L.W_OM)
    turning = scale(ws.u[j], a)
    put9(ws.row, at + L.W_R, turn(B, axis, ws.body_code[2 * i], ws.q[model.q_at[i]]))
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_OM, add3(om, turning))
    put3(ws.row, at + L.W_AL, add3(get3(ws.row, parent + L.W_AL), cross(om, turning)))
    put3(ws.row, at + L.W_A0, carry(ws, parent, d))
    put3(ws.col, j * L.COLUMN + L.C_A, a)
    put3(ws.col, j * L.COLUMN + L.C_L, ZERO)


@kernel
def move_universal(model, ws, i):
    """Compute motion and tangent columns of a body on a universal joint."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    second = (model.e_at[i + 1] - 1) * L.ELEMENT
    j, k = model.u_at[i], model.q_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    d = mv(Rp, get3(ws.body, b + L.B_R))
    B = joint_axes(ws, b, Rp)
    axis = get3(ws.body, b + L.B_AXIS)
    a1 = mv(B, axis)
    B = turn(B, axis, ws.body_code[2 * i], ws.q[k])
    axis = get3(ws.elem, second + L.E_AXIS)
    a2 = mv(B, axis)
    om = get3(ws.row, parent + L.W_OM)
    t1, t2 = scale(ws.u[j], a1), scale(ws.u[j + 1], a2)
    om1 = add3(om, t1)
    put9(ws.row, at + L.W_R, turn(B, axis, ws.elem_code[second // L.ELEMENT], ws.q[k + 1]))
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_OM, add3(om1, t2))
    put3(
        ws.row,
        at + L.W_AL,
        add3(get3(ws.row, parent + L.W_AL), add3(cross(om, t1), cross(om1, t2))),
    )
    put3(ws.row, at + L.W_A0, carry(ws, parent, d))
    c = j * L.COLUMN
    put3(ws.col, c + L.C_A, a1)
    put3(ws.col, c + L.C_L, ZERO)
    put3(ws.col, c + L.COLUMN + L.C_A, a2)
    put3(ws.col, c + L.COLUMN + L.C_L, ZERO)


@kernel
def move_prismatic(model, ws, i):
    """Compute motion and tangent column of a body on a prismatic joint."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    j = model.u_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    R = joint_axes(ws, b, Rp)
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
    """Compute motion and tangent columns of a body on a spherical joint (quaternion, angular
    velocity in child axes).
    """
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    b = i * L.BODY
    j = model.u_at[i]
    k = model.q_at[i]
    Rp = get9(ws.row, parent + L.W_R)
    d = mv(Rp, get3(ws.body, b + L.B_R))
    R = mm(joint_axes(ws, b, Rp), quaternion_matrix(ws.q[k], ws.q[k + 1], ws.q[k + 2], ws.q[k + 3]))
    om = get3(ws.row, parent + L.W_OM)
    turning = mv(R, get3(ws.u, j))
    put9(ws.row, at + L.W_R, R)
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_OM, add3(om, turning))
    put3(ws.row, at + L.W_AL, add3(get3(ws.row, parent + L.W_AL), cross(om, turning)))
    put3(ws.row, at + L.W_A0, carry(ws, parent, d))
    put_turning_columns(ws, j, R)


@inline
def put_turning_columns(ws, j, R):
    """Set the columns of rotations about the child's three axes through O_i."""
    for k in range(3):
        put3(ws.col, (j + k) * L.COLUMN + L.C_L, ZERO)
    put3(ws.col, j * L.COLUMN + L.C_A, (R[0], R[3], R[6]))
    put3(ws.col, (j + 1) * L.COLUMN + L.C_A, (R[1], R[4], R[7]))
    put3(ws.col, (j + 2) * L.COLUMN + L.C_A, (R[2], R[5], R[8]))


@inline
def inertia_of(ws, i):
    """Return mass, mass times the centre of mass, and inertia about O_i of body i in ground axes."""
    b = i * L.BODY
    R = get9(ws.row, i * L.ROW + L.W_R)
    return (
        ws.body[b + L.B_MASS],
        mv(R, get3(ws.body, b + L.B_H)),
        rotate_symmetric(R, get6(ws.body, b + L.B_J)),
    )


@inline
def start_inertia(ws, i):
    """Initialise inertia (ground axes, about O_i) and Newton-Euler bias at u̇ = 0 of body i before
    the elimination.
    """
    at = i * L.ROW
    m, h, J = inertia_of(ws, i)
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
    """Compute positions and velocities of all body origins O_i in ground axes for loads and
    outputs; `motion` must have run.
    """
    for i in range(1, model.parent.size):
        at = i * L.ROW
        parent = model.parent[i] * L.ROW
        d = get3(ws.row, at + L.W_D)
        v = add3(get3(ws.row, parent + L.W_V), cross(get3(ws.row, parent + L.W_OM), d))
        joint = model.joint[i]
        if joint == L.Joint.GENERAL or joint == L.Joint.FREE or joint == L.Joint.FACE:
            v = add3(v, get3(ws.row, at + L.W_VH + 3))
        for j in range(model.u_at[i], model.u_at[i + 1]):
            v = add3(v, scale(ws.u[j], get3(ws.col, j * L.COLUMN + L.C_L)))
        put3(ws.row, at + L.W_P, add3(get3(ws.row, parent + L.W_P), d))
        put3(ws.row, at + L.W_V, v)
    return 0
