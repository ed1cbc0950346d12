"""DEC, the default engine: symmetric elimination of the redundant equations (1.38), leaves to root and back, O(N).

The recursion of [Sh24] (3.30)-(3.31) in ground axes about O_i: articulated inertia [J H; Hᵀ M] (moment and force by angular and linear acceleration),
one rank-one step per freedom, or one block step for a ball or a free joint, which leaves exact zeros behind. The bias is carried as the Newton-Euler
moment N and force F at u̇ = 0. Rows keep the inertia before the elimination, so that reactions follow as in R_i = M*_i w_i - F*_i.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import (
    add3,
    add6,
    add9,
    add_to3,
    add_to6,
    add_to9,
    cross,
    dot3,
    full,
    get3,
    get6,
    get9,
    inverse_symmetric,
    mm,
    mtv,
    mv,
    outer,
    outer_symmetric,
    put3,
    put6,
    scale,
    skew_mm,
    sub3,
    sub6,
    sub9,
    sv,
    transpose,
)
from kinetree.solvers.kernel import kernel

ZERO3 = (0.0, 0.0, 0.0)
ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
# smallest pivot D_j relative to the largest entry of its inertia that still counts as inertia
SINGULAR = 1e-14


@kernel
def dec(model, ws):
    """u̇ from the rows of `motion`, ws.wrench, ws.extra and ws.tau; overwrites W_J..W_DB and the second half of ws.col."""
    apply_loads(model, ws)
    for i in range(model.parent.size - 1, 0, -1):  # leaves -> root
        status = eliminate(model, ws, i)
        if status != 0:
            ws.head[L.K_ITEM] = i
            return status
    for i in range(1, model.parent.size):  # root -> leaves
        accelerate(model, ws, i)
    return 0


@kernel
def apply_loads(model, ws):
    """Subtract applied wrenches (ground axes) and the caller's loads (body axes) from the bias."""
    if ws.head[L.K_WRENCH] != 0.0:
        for i in range(1, model.parent.size):
            at = i * L.ROW
            put3(ws.row, at + L.W_F, sub3(get3(ws.row, at + L.W_F), get3(ws.wrench, 6 * i)))
            put3(ws.row, at + L.W_N, sub3(get3(ws.row, at + L.W_N), get3(ws.wrench, 6 * i + 3)))
    if ws.head[L.K_EXTRA] != 0.0:
        for i in range(1, model.parent.size):
            at = i * L.ROW
            R = get9(ws.row, at + L.W_R)
            put3(ws.row, at + L.W_F, sub3(get3(ws.row, at + L.W_F), mv(R, get3(ws.extra, 6 * i))))
            put3(ws.row, at + L.W_N, sub3(get3(ws.row, at + L.W_N), mv(R, get3(ws.extra, 6 * i + 3))))


@kernel
def eliminate(model, ws, i):
    """Eliminate the freedoms of joint i and hand the rest to the parent."""
    joint = model.joint[i]
    if joint == L.Joint.REVOLUTE:
        return eliminate_revolute(model, ws, i)
    if joint == L.Joint.SPHERICAL:
        return eliminate_ball(model, ws, i)
    if joint == L.Joint.FREE:
        return eliminate_free(model, ws, i)
    return eliminate_columns(model, ws, i)


@kernel
def eliminate_revolute(model, ws, i):
    """One column (0, a)."""
    at = i * L.ROW
    j = model.u_at[i]
    c = j * L.COLUMN
    a = get3(ws.col, c + L.C_A)
    J = get6(ws.row, at + L.W_J)
    H = get9(ws.row, at + L.W_H)
    un = sv(J, a)
    D = dot3(a, un)
    if not D > SINGULAR * (J[0] + J[3] + J[5]):
        return L.Status.SINGULAR_JOINT
    uf = mtv(H, a)
    inv = 1.0 / D
    N = get3(ws.row, at + L.W_N)
    g = inv * (ws.tau[j] - dot3(a, N))
    put3(ws.col, c + L.C_UN, un)
    put3(ws.col, c + L.C_UF, uf)
    ws.col[c + L.C_INV] = inv
    ws.col[c + L.C_G] = g
    if model.parent[i] > 0:
        gn = scale(inv, un)
        J = sub6(J, outer_symmetric(gn, un))
        H = sub9(H, outer(gn, uf))
        M = sub6(get6(ws.row, at + L.W_M), outer_symmetric(scale(inv, uf), uf))
        hand_over(model, ws, i, J, H, M, add3(N, scale(g, un)), add3(get3(ws.row, at + L.W_F), scale(g, uf)))
    return 0


@kernel
def eliminate_columns(model, ws, i):
    """Columns of any form, last first, one rank-one step each."""
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
        D = dot3(a, un) + dot3(el, uf)
        if not D > tiny_j * dot3(a, a) + tiny_m * dot3(el, el):
            return L.Status.SINGULAR_JOINT
        inv = 1.0 / D
        g = inv * (ws.tau[j] - dot3(a, N) - dot3(el, F))
        put3(ws.col, c + L.C_UN, un)
        put3(ws.col, c + L.C_UF, uf)
        ws.col[c + L.C_INV] = inv
        ws.col[c + L.C_G] = g
        gn = scale(inv, un)
        J = sub6(J, outer_symmetric(gn, un))
        H = sub9(H, outer(gn, uf))
        M = sub6(M, outer_symmetric(scale(inv, uf), uf))
        N = add3(N, scale(g, un))
        F = add3(F, scale(g, uf))
    if model.parent[i] > 0:
        hand_over(model, ws, i, J, H, M, N, F)
    return 0


@kernel
def eliminate_ball(model, ws, i):
    """Three turning freedoms as a block: the parent feels M - Hᵀ J⁻¹ H and no moment but the applied one."""
    at = i * L.ROW
    j = model.u_at[i]
    J = get6(ws.row, at + L.W_J)
    K = inverse_symmetric(J)
    if not (K[0] > 0.0 and K[3] > 0.0 and K[5] > 0.0 and (K[0] + K[3] + K[5]) * (J[0] + J[3] + J[5]) < 1.0 / SINGULAR):
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
    """Six freedoms: the body's acceleration follows at once, the parent feels the applied wrench only."""
    at = i * L.ROW
    j = model.u_at[i]
    R = get9(ws.row, at + L.W_R)
    M = get6(ws.row, at + L.W_M)
    J = get6(ws.row, at + L.W_J)
    H = get9(ws.row, at + L.W_H)
    if not M[0] > 0.0:
        return L.Status.SINGULAR_JOINT
    K = inverse_symmetric(M)
    HK = mm(H, full(K))
    S = mm(HK, transpose(H))
    P = sub6(J, (S[0], S[1], S[2], S[4], S[5], S[8]))
    Q = inverse_symmetric(P)
    if not (Q[0] > 0.0 and Q[3] > 0.0 and Q[5] > 0.0 and (Q[0] + Q[3] + Q[5]) * (J[0] + J[3] + J[5]) < 1.0 / SINGULAR):
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
def hand_over(model, ws, i, J, H, M, N, F):
    """Refer inertia and bias to the parent's origin, C_jᵀ H_j C_j and C_jᵀ h_j, and add them there."""
    p = model.parent[i] * L.ROW
    d = get3(ws.row, i * L.ROW + L.W_D)
    G = add9(H, skew_mm(d, full(M)))
    X = skew_mm(d, transpose(G))
    Y = skew_mm(d, transpose(H))
    J = add6(J, (X[0] + Y[0], X[1] + Y[3], X[2] + Y[6], X[4] + Y[4], X[5] + Y[7], X[8] + Y[8]))
    add_to6(ws.row, p + L.W_J, J)
    add_to9(ws.row, p + L.W_H, G)
    add_to6(ws.row, p + L.W_M, M)
    add_to3(ws.row, p + L.W_N, add3(N, cross(d, F)))
    add_to3(ws.row, p + L.W_F, F)


@kernel
def accelerate(model, ws, i):
    """u̇ of joint i and the increments of acceleration at O_i."""
    at = i * L.ROW
    p = model.parent[i] * L.ROW
    j = model.u_at[i]
    da = get3(ws.row, p + L.W_DA)
    db = add3(get3(ws.row, p + L.W_DB), cross(da, get3(ws.row, at + L.W_D)))
    joint = model.joint[i]
    if joint == L.Joint.SPHERICAL:
        R = get9(ws.row, at + L.W_R)
        turned = sub3(get3(ws.col, j * L.COLUMN + L.C_UN), sv(get6(ws.row, at + L.W_INV), mv(get9(ws.row, at + L.W_H), db)))
        put3(ws.udot, j, mtv(R, sub3(turned, da)))
        da = turned
    elif joint == L.Joint.FREE:
        R = get9(ws.row, at + L.W_R)
        put3(ws.udot, j, mtv(R, sub3(get3(ws.row, at + L.W_DB), db)))
        put3(ws.udot, j + 3, mtv(R, sub3(get3(ws.row, at + L.W_DA), da)))
        da = get3(ws.row, at + L.W_DA)
        db = get3(ws.row, at + L.W_DB)
    else:
        for k in range(j, model.u_at[i + 1]):
            c = k * L.COLUMN
            r = ws.col[c + L.C_G] - ws.col[c + L.C_INV] * (dot3(get3(ws.col, c + L.C_UN), da) + dot3(get3(ws.col, c + L.C_UF), db))
            ws.udot[k] = r
            da = add3(da, scale(r, get3(ws.col, c + L.C_A)))
            db = add3(db, scale(r, get3(ws.col, c + L.C_L)))
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, db)
