"""Factors of J M⁻¹ Jᵀ: the unit wrench of every constraint row travels from the loop's ends to the ground through the eliminated joints.

With M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ of the elimination in `engine.dec`, Y = D^-½ L⁻ᵀ Jᵀ has entries only on the two paths of a loop; J M⁻¹ Jᵀ = Yᵀ Y.
With `inertia` 0 nothing is taken off on the way and Y = W^½ Jᵀ for the weights W of `loop_weight`. Cost: rows times path length.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.small_symmetric import cholesky3, lower_transposed
from kinetree.solvers.algebra.vectors import (
    add3,
    add_to3,
    axpy3,
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
    neg3,
    put3,
    scale,
    sub3,
    sub6,
    sv,
    transpose,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.residual import arm_wrench
from kinetree.solvers.views import arm_at


@kernel
def spread_rows(model, ws, inertia):
    """Fill ws.loop_y of all groups."""
    for g in range(model.l_kind.size):
        first = model.l_at[g]
        last = model.l_at[g + 1]
        rows = model.l_row[g + 1] - model.l_row[g]
        for e in range(first, last):
            for k in range(36 * e, 36 * e + 6 * rows):
                ws.loop_w[k] = 0.0
        if model.l_kind[g] == L.Loop.WELD:
            for r in range(rows):
                part = model.l_part[model.l_row[g] + r]
                ws.loop_w[36 * (last - 1) + 6 * r + part] = 1.0
                if model.l_from[g] >= 0:
                    ws.loop_w[36 * model.l_from[g] + 6 * r + part] -= 1.0
        for k in range(model.l_arm_at[g], model.l_arm_at[g + 1]):
            arm = arm_at(model.l_arm, k)
            f, n = arm_wrench(ws, arm)
            add_to3(ws.loop_w, 36 * arm.entry, f)
            add_to3(ws.loop_w, 36 * arm.entry + 3, n)
        for e in range(last - 1, first - 1, -1):
            spread_entry(model, ws, g, e, rows, inertia)


@kernel
def spread_entry(model, ws, g, e, rows, inertia):
    """Rows of one body on the path; the rest of the wrenches goes to its predecessor."""
    i = model.l_body[e]
    if inertia and model.joint[i] == L.Joint.SPHERICAL:
        spread_ball(model, ws, g, e, i, rows)
    elif inertia and model.joint[i] == L.Joint.FREE:
        spread_free(model, ws, g, e, i, rows)
    else:
        spread_columns(model, ws, g, e, i, rows, inertia)
    up = model.l_up[e]
    if up >= 0:
        d = get3(ws.row, i * L.ROW + L.W_D)
        for r in range(rows):
            w = 36 * e + 6 * r
            f = get3(ws.loop_w, w)
            add_to3(ws.loop_w, 36 * up + 6 * r, f)
            add_to3(ws.loop_w, 36 * up + 6 * r + 3, axpy3(1.0, get3(ws.loop_w, w + 3), cross(d, f)))


@kernel
def slope(model, ws, g, j):
    """Derivative of coupling g by coordinate j."""
    for k in range(model.l_k[g], model.l_k[g + 1]):
        if model.l_speed[k] == j:
            return ws.val[model.l_slope[k]]
    return 0.0


@kernel
def slopes_in_ground(model, ws, g, i, j):
    """Derivatives of coupling g by three speeds from j on, which are components in the axes of body i, in ground axes."""
    if model.l_kind[g] != L.Loop.COUPLING:
        return (0.0, 0.0, 0.0)
    return mv(get9(ws.row, i * L.ROW + L.W_R), (slope(model, ws, g, j), slope(model, ws, g, j + 1), slope(model, ws, g, j + 2)))


@kernel
def spread_columns(model, ws, g, e, i, rows, inertia):
    """One rank-one step per freedom, last first."""
    n = model.u_at[i + 1] - model.u_at[i]
    for k in range(n - 1, -1, -1):
        j = model.u_at[i] + k
        c = j * L.COLUMN
        a = get3(ws.col, c + L.C_A)
        el = get3(ws.col, c + L.C_L)
        given = slope(model, ws, g, j) if model.l_kind[g] == L.Loop.COUPLING else 0.0
        if not inertia:
            s = math.sqrt(ws.loop_weight[j])
            for r in range(rows):
                w = 36 * e + 6 * r
                ws.loop_y[model.l_y[e] + r * n + k] = s * (dot3(el, get3(ws.loop_w, w)) + dot3(a, get3(ws.loop_w, w + 3)) + given)
            continue
        un = get3(ws.col, c + L.C_UN)
        uf = get3(ws.col, c + L.C_UF)
        inv = ws.col[c + L.C_INV]
        s = math.sqrt(inv)
        for r in range(rows):
            w = 36 * e + 6 * r
            x = dot3(el, get3(ws.loop_w, w)) + dot3(a, get3(ws.loop_w, w + 3)) + given
            ws.loop_y[model.l_y[e] + r * n + k] = s * x
            add_to3(ws.loop_w, w, scale(-inv * x, uf))
            add_to3(ws.loop_w, w + 3, scale(-inv * x, un))


@kernel
def spread_ball(model, ws, g, e, i, rows):
    """Three turning freedoms as a block; of moments only the opposite of what acts along the joint's own speeds goes on."""
    at = i * L.ROW
    K = get6(ws.row, at + L.W_INV)
    H = get9(ws.row, at + L.W_H)
    c = cholesky3(K)
    s = slopes_in_ground(model, ws, g, i, model.u_at[i])
    for r in range(rows):
        w = 36 * e + 6 * r
        n = add3(get3(ws.loop_w, w + 3), s)
        put3(ws.loop_y, model.l_y[e] + 3 * r, lower_transposed(c, n))
        add_to3(ws.loop_w, w, scale(-1.0, mtv(H, sv(K, n))))
        put3(ws.loop_w, w + 3, neg3(s))


@kernel
def free_blocks(ws, at):
    """M⁻¹, H M⁻¹ and the inverse of J - H M⁻¹ Hᵀ of a free body."""
    K = inverse_symmetric(get6(ws.row, at + L.W_M))
    H = get9(ws.row, at + L.W_H)
    HK = mm(H, full(K))
    S = mm(HK, transpose(H))
    Q = inverse_symmetric(sub6(get6(ws.row, at + L.W_J), (S[0], S[1], S[2], S[4], S[5], S[8])))
    return (K, HK, Q)


@kernel
def spread_free(model, ws, g, e, i, rows):
    """Six freedoms; only the opposite of what acts along the joint's own speeds goes on."""
    K, HK, Q = free_blocks(ws, i * L.ROW)
    ck = cholesky3(K)
    cq = cholesky3(Q)
    force = slopes_in_ground(model, ws, g, i, model.u_at[i])
    torque = slopes_in_ground(model, ws, g, i, model.u_at[i] + 3)
    for r in range(rows):
        w = 36 * e + 6 * r
        f = add3(get3(ws.loop_w, w), force)
        n = add3(get3(ws.loop_w, w + 3), torque)
        put3(ws.loop_y, model.l_y[e] + 6 * r, lower_transposed(ck, f))
        put3(ws.loop_y, model.l_y[e] + 6 * r + 3, lower_transposed(cq, sub3(n, mv(HK, f))))
        put3(ws.loop_w, w, neg3(force))
        put3(ws.loop_w, w + 3, neg3(torque))
