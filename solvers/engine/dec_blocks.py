"""Block elimination of joints with three or six degrees of freedom: the block inverse is exact, and
the remainder has exact zeros.

A chain of balls therefore loses no digits however long it is: no terms are subtracted that should
cancel.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import every
from kinetree.solvers.algebra.vectors import (
    add3,
    dot3,
    full,
    get3,
    get6,
    get9,
    inverse_symmetric,
    mm,
    mtv,
    mv,
    put3,
    put6,
    sub3,
    sub6,
    sv,
    transpose,
)
from kinetree.solvers.engine.dec_transfer import SINGULAR, carried, hand_over
from kinetree.solvers.kernel import kernel

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def regular(K, J):
    """Return whether K is the inverse of a positive definite, well-conditioned matrix J in all
    lanes.
    """
    positive = every(K[0] > 0.0) and every(K[3] > 0.0) and every(K[5] > 0.0)
    return positive and every((K[0] + K[3] + K[5]) * (J[0] + J[3] + J[5]) < 1.0 / SINGULAR)


@kernel
def eliminate_ball(model, ws, i):
    """Eliminate a ball joint as a block: the parent receives M - Hᵀ J⁻¹ H and no moment but the
    applied one.
    """
    at = i * L.ROW
    j = model.u_at[i]
    J = get6(ws.row, at + L.W_J)
    K = inverse_symmetric(J)
    if not regular(K, J):
        return L.Status.SINGULAR_JOINT
    H = get9(ws.row, at + L.W_H)
    torque = mv(get9(ws.row, at + L.W_R), get3(ws.tau, j))
    g = sv(K, sub3(torque, get3(ws.row, at + L.W_N)))
    put6(ws.row, at + L.W_INV, K)
    put3(ws.col, j * L.COLUMN + L.C_UN, g)
    if model.parent[i] > 0:
        KH = mm(full(K), H)
        F = add3(get3(ws.row, at + L.W_F), mtv(H, g))
        M = get6(ws.row, at + L.W_M)
        x, y, z = (H[0], H[3], H[6]), (H[1], H[4], H[7]), (H[2], H[5], H[8])
        kx, ky, kz = (KH[0], KH[3], KH[6]), (KH[1], KH[4], KH[7]), (KH[2], KH[5], KH[8])
        M = sub6(M, (dot3(x, kx), dot3(x, ky), dot3(x, kz), dot3(y, ky), dot3(y, kz), dot3(z, kz)))
        hand_over(model, ws, i, ZERO6, ZERO9, M, torque, F)
    return 0


@kernel
def eliminate_free(model, ws, i):
    """Eliminate a free joint as a block: the body's acceleration follows at once, and the parent
    receives the applied wrench only.
    """
    at = i * L.ROW
    j = model.u_at[i]
    R = get9(ws.row, at + L.W_R)
    M = get6(ws.row, at + L.W_M)
    J = get6(ws.row, at + L.W_J)
    H = get9(ws.row, at + L.W_H)
    if not every(M[0] > 0.0):
        return L.Status.SINGULAR_JOINT
    K = inverse_symmetric(M)
    HK = mm(H, full(K))
    S = mm(HK, transpose(H))
    P = sub6(J, (S[0], S[1], S[2], S[4], S[5], S[8]))
    Q = inverse_symmetric(P)
    if not regular(Q, J):
        return L.Status.SINGULAR_JOINT
    force = mv(R, get3(ws.tau, j))
    torque = mv(R, get3(ws.tau, j + 3))
    f = sub3(force, get3(ws.row, at + L.W_F))
    da = sv(Q, sub3(sub3(torque, get3(ws.row, at + L.W_N)), mv(HK, f)))
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, sv(K, sub3(f, mtv(H, da))))
    if model.parent[i] > 0:
        hand_over(model, ws, i, ZERO6, ZERO9, ZERO6, torque, force)
    return 0


@kernel
def accelerate_ball(model, ws, i):
    """Compute u̇ = J⁻¹(τ - N - H db) - da of a ball joint in the child's axes."""
    at = i * L.ROW
    j = model.u_at[i]
    da, db = carried(model, ws, i)
    turned = sub3(
        get3(ws.col, j * L.COLUMN + L.C_UN),
        sv(get6(ws.row, at + L.W_INV), mv(get9(ws.row, at + L.W_H), db)),
    )
    put3(ws.udot, j, mtv(get9(ws.row, at + L.W_R), sub3(turned, da)))
    put3(ws.row, at + L.W_DA, turned)
    put3(ws.row, at + L.W_DB, db)


@kernel
def accelerate_free(model, ws, i):
    """Compute u̇ of a free joint from the known acceleration of its body relative to the parent."""
    at = i * L.ROW
    j = model.u_at[i]
    da, db = carried(model, ws, i)
    R = get9(ws.row, at + L.W_R)
    put3(ws.udot, j, mtv(R, sub3(get3(ws.row, at + L.W_DB), db)))
    put3(ws.udot, j + 3, mtv(R, sub3(get3(ws.row, at + L.W_DA), da)))
