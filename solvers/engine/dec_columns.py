"""Elimination of the columns of a joint one after another, last first: rank-one steps M* - M*A
D⁻¹AᵀM* of [Sh24] (3.30), and back substitution (3.31).
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import every
from kinetree.solvers.algebra.vectors import (
    add3,
    dot3,
    get3,
    get6,
    get9,
    mtv,
    mv,
    outer,
    outer_symmetric,
    put3,
    scale,
    sub6,
    sub9,
    sv,
)
from kinetree.solvers.engine.dec_transfer import SINGULAR, carried, hand_over
from kinetree.solvers.kernel import inline, kernel


@kernel
def eliminate_rotations(model, ws, i, count):
    """Eliminate purely rotational columns (0, a) of joint i, last first."""
    at = i * L.ROW
    J = get6(ws.row, at + L.W_J)
    H = get9(ws.row, at + L.W_H)
    M = get6(ws.row, at + L.W_M)
    N = get3(ws.row, at + L.W_N)
    F = get3(ws.row, at + L.W_F)
    tiny = SINGULAR * (J[0] + J[3] + J[5])
    for j in range(model.u_at[i] + count - 1, model.u_at[i] - 1, -1):
        c = j * L.COLUMN
        a = get3(ws.col, c + L.C_A)
        un = sv(J, a)
        D = dot3(a, un) + ws.rotor[j]
        if not every(D > tiny):
            return L.Status.SINGULAR_JOINT
        uf = mtv(H, a)
        inv = 1.0 / D
        g = inv * (ws.tau[j] - dot3(a, N))
        put_step(ws, c, un, uf, inv, g)
        J, H, M, N, F = yielded(J, H, M, N, F, un, uf, inv, g)
    if model.parent[i] > 0:
        hand_over(model, ws, i, J, H, M, N, F)
    return 0


@kernel
def eliminate_columns(model, ws, i):
    """Eliminate columns of any form of joint i, last first, one rank-one step each."""
    at = i * L.ROW
    J = get6(ws.row, at + L.W_J)
    H = get9(ws.row, at + L.W_H)
    M = get6(ws.row, at + L.W_M)
    N = get3(ws.row, at + L.W_N)
    F = get3(ws.row, at + L.W_F)
    tiny_j = SINGULAR * (J[0] + J[3] + J[5])
    tiny_m = SINGULAR * (M[0] + M[3] + M[5])
    for j in range(model.u_at[i + 1] - 1, model.u_at[i] - 1, -1):
        c = j * L.COLUMN
        a = get3(ws.col, c + L.C_A)
        el = get3(ws.col, c + L.C_L)
        un = add3(sv(J, a), mv(H, el))
        uf = add3(mtv(H, a), sv(M, el))
        D = dot3(a, un) + dot3(el, uf) + ws.rotor[j]
        if not every(D > tiny_j * dot3(a, a) + tiny_m * dot3(el, el)):
            return L.Status.SINGULAR_JOINT
        inv = 1.0 / D
        g = inv * (ws.tau[j] - dot3(a, N) - dot3(el, F))
        put_step(ws, c, un, uf, inv, g)
        J, H, M, N, F = yielded(J, H, M, N, F, un, uf, inv, g)
    if model.parent[i] > 0:
        hand_over(model, ws, i, J, H, M, N, F)
    return 0


@inline
def yielded(J, H, M, N, F, un, uf, inv, g):
    """Return the articulated inertia M* - U D⁻¹Uᵀ and bias h + U g after eliminating one speed."""
    gn = scale(inv, un)
    J = sub6(J, outer_symmetric(gn, un))
    H = sub9(H, outer(gn, uf))
    M = sub6(M, outer_symmetric(scale(inv, uf), uf))
    return J, H, M, add3(N, scale(g, un)), add3(F, scale(g, uf))


@inline
def put_step(ws, c, un, uf, inv, g):
    """Store U_j, 1/D_j and g_j of one eliminated speed for the back substitution (see `rate`)."""
    put3(ws.col, c + L.C_UN, un)
    put3(ws.col, c + L.C_UF, uf)
    ws.col[c + L.C_INV] = inv
    ws.col[c + L.C_G] = g


@inline
def rate(ws, c, da, db):
    """Return u̇_j = g_j - D_j⁻¹ U_jᵀ w, where w = (db, da) is the acceleration of the frame before
    the joint.
    """
    return ws.col[c + L.C_G] - ws.col[c + L.C_INV] * (
        dot3(get3(ws.col, c + L.C_UN), da) + dot3(get3(ws.col, c + L.C_UF), db)
    )


@kernel
def accelerate_rotations(model, ws, i, count):
    """Compute u̇ of a joint with purely rotational columns and the acceleration of its body."""
    at = i * L.ROW
    j = model.u_at[i]
    da, db = carried(model, ws, i)
    for k in range(j, j + count):
        c = k * L.COLUMN
        r = rate(ws, c, da, db)
        ws.udot[k] = r
        da = add3(da, scale(r, get3(ws.col, c + L.C_A)))
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, db)


@kernel
def accelerate_columns(model, ws, i):
    """Compute u̇ of a joint with tangent columns of any form and the acceleration of its body."""
    at = i * L.ROW
    da, db = carried(model, ws, i)
    for k in range(model.u_at[i], model.u_at[i + 1]):
        c = k * L.COLUMN
        r = rate(ws, c, da, db)
        ws.udot[k] = r
        da = add3(da, scale(r, get3(ws.col, c + L.C_A)))
        db = add3(db, scale(r, get3(ws.col, c + L.C_L)))
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, db)
