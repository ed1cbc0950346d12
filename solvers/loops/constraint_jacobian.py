"""Factors of J M⁻¹ Jᵀ: each constraint row's unit wrench is propagated from the loop ends to the
ground.

With M = LᵀDL of the elimination in `engine.dec`, X = L⁻ᵀ Jᵀ lives on the two paths of a loop; with Z = D⁻¹ X the matrix is J M⁻¹ Jᵀ = Xᵀ Z,
and what the free tree does along the rows comes along: J u̇ = Xᵀ g with g of the bias sweep. By WEIGHTS nothing is taken off on the way: X = Jᵀ and
Z = W Jᵀ for the weights W of `loop_weight`. Cost: rows times path length. Numbers of an entry stand speed by speed, row after row.
"""

from kinetree.solvers import layout as L
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
from kinetree.solvers.loops.constraint_residuals import arm_wrench
from kinetree.solvers.loops.planar_loops import spread_in_plane
from kinetree.solvers.views import arm_at


@kernel
def spread_rows(model, ws, metric):
    """Fill ws.loop_x and ws.loop_z of all groups; in MOTION ws.loop_r, the residual at u̇ = 0, becomes that of the free tree."""
    ws.head.factored = 0.0
    for g in range(model.l_kind.size):
        if ws.loop_plane[g] != 0.0:
            spread_in_plane(model, ws, g, int(ws.loop_plane[g]) - 1, metric)
        else:
            spread_in_space(model, ws, g, metric)


@kernel
def spread_in_space(model, ws, g, metric):
    """Compute the constraint rows of one spatial group."""
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
        spread_entry(model, ws, g, e, rows, metric)


@kernel
def spread_entry(model, ws, g, e, rows, metric):
    """Compute the rows of one body on a loop path and pass the remaining wrenches to its
    predecessor.
    """
    i = model.l_body[e]
    if metric != L.WEIGHTS and model.joint[i] == L.Joint.SPHERICAL:
        spread_ball(model, ws, g, e, i, rows, metric)
    elif metric != L.WEIGHTS and model.joint[i] == L.Joint.FREE:
        spread_free(model, ws, g, e, i, rows, metric)
    else:
        spread_columns(model, ws, g, e, i, rows, metric)
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
    """Return the derivative of coupling g by coordinate j."""
    for k in range(model.l_k[g], model.l_k[g + 1]):
        if model.l_speed[k] == j:
            return ws.val[model.l_slope[k]]
    return 0.0


@kernel
def slopes_in_ground(model, ws, g, i, j):
    """Return the derivatives of coupling g by three speeds from j on, which are components in the
    axes of body i, in ground axes.
    """
    if model.l_kind[g] != L.Loop.COUPLING:
        return (0.0, 0.0, 0.0)
    return mv(
        get9(ws.row, i * L.ROW + L.W_R),
        (slope(model, ws, g, j), slope(model, ws, g, j + 1), slope(model, ws, g, j + 2)),
    )


@kernel
def spread_columns(model, ws, g, e, i, rows, metric):
    """Propagate the rows of a group through joint i, one rank-one step per speed, last first."""
    own = model.l_row[g]
    for k in range(model.u_at[i + 1] - model.u_at[i] - 1, -1, -1):
        j = model.u_at[i] + k
        at = model.l_x[e] + k * rows
        c = j * L.COLUMN
        a = get3(ws.col, c + L.C_A)
        el = get3(ws.col, c + L.C_L)
        given = slope(model, ws, g, j) if model.l_kind[g] == L.Loop.COUPLING else 0.0
        inv = ws.loop_weight[j] if metric == L.WEIGHTS else ws.col[c + L.C_INV]
        for r in range(rows):
            w = 36 * e + 6 * r
            x = dot3(el, get3(ws.loop_w, w)) + dot3(a, get3(ws.loop_w, w + 3)) + given
            ws.loop_x[at + r] = x
            ws.loop_z[at + r] = inv * x
            if metric == L.MOTION:
                ws.loop_r[own + r] += x * ws.col[c + L.C_G]
            if metric != L.WEIGHTS:
                add_to3(ws.loop_w, w, scale(-inv * x, get3(ws.col, c + L.C_UF)))
                add_to3(ws.loop_w, w + 3, scale(-inv * x, get3(ws.col, c + L.C_UN)))


@kernel
def put_rows(ws, at, rows, x, z):
    """Store three numbers of a row, one per speed."""
    for k in range(3):
        ws.loop_x[at + k * rows] = x[k]
        ws.loop_z[at + k * rows] = z[k]


@kernel
def spread_ball(model, ws, g, e, i, rows, metric):
    """Propagate the rows of a group through a spherical joint as one 3 x 3 block."""
    at = i * L.ROW
    K = get6(ws.row, at + L.W_INV)
    H = get9(ws.row, at + L.W_H)
    s = slopes_in_ground(model, ws, g, i, model.u_at[i])
    bias = get3(ws.col, model.u_at[i] * L.COLUMN + L.C_UN)
    for r in range(rows):
        w = 36 * e + 6 * r
        n = add3(get3(ws.loop_w, w + 3), s)
        z = sv(K, n)
        put_rows(ws, model.l_x[e] + r, rows, n, z)
        add_to3(ws.loop_w, w, neg3(mtv(H, z)))
        put3(ws.loop_w, w + 3, neg3(s))
        if metric == L.MOTION:
            ws.loop_r[model.l_row[g] + r] += dot3(n, bias)


@kernel
def free_blocks(ws, at):
    """Return M⁻¹, H M⁻¹ and the inverse of J - H M⁻¹ Hᵀ of a free body."""
    K = inverse_symmetric(get6(ws.row, at + L.W_M))
    H = get9(ws.row, at + L.W_H)
    HK = mm(H, full(K))
    S = mm(HK, transpose(H))
    Q = inverse_symmetric(sub6(get6(ws.row, at + L.W_J), (S[0], S[1], S[2], S[4], S[5], S[8])))
    return (K, HK, Q)


@kernel
def spread_free(model, ws, g, e, i, rows, metric):
    """Propagate the rows of a group through a free joint as one 6 x 6 block."""
    at = i * L.ROW
    K, HK, Q = free_blocks(ws, at)
    force = slopes_in_ground(model, ws, g, i, model.u_at[i])
    torque = slopes_in_ground(model, ws, g, i, model.u_at[i] + 3)
    for r in range(rows):
        w = 36 * e + 6 * r
        f = add3(get3(ws.loop_w, w), force)
        n = add3(get3(ws.loop_w, w + 3), torque)
        if metric == L.MOTION:
            ws.loop_r[model.l_row[g] + r] += dot3(f, get3(ws.row, at + L.W_DB)) + dot3(
                n, get3(ws.row, at + L.W_DA)
            )
        n = sub3(n, mv(HK, f))
        put_rows(ws, model.l_x[e] + r, rows, f, sv(K, f))
        put_rows(ws, model.l_x[e] + 3 * rows + r, rows, n, sv(Q, n))
        put3(ws.loop_w, w, neg3(force))
        put3(ws.loop_w, w + 3, neg3(torque))
