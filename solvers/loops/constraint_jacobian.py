"""Factors of J M⁻¹ Jᵀ: each constraint row's unit wrench is propagated from the loop ends to the
ground.

With M = LᵀDL of the elimination in `engine.dec`, X = L⁻ᵀ Jᵀ is nonzero only on the two paths of a
loop. With Z = D⁻¹ X the matrix is J M⁻¹ Jᵀ = Xᵀ Z, and the acceleration of the free tree along the
rows is J u̇ = Xᵀ g with g of the bias sweep. In the metric WEIGHTS nothing is eliminated on the
path: X = Jᵀ and Z = W Jᵀ for the weights W of `loop_weight`. Cost: rows times path length. The
values of an entry are stored speed by speed, row after row.
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
from kinetree.solvers.engine.modal_bodies import along_modes, coupled, modal_of
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.closing_turns import held_turns
from kinetree.solvers.loops.constraint_residuals import arm_wrench, axis_of_row, ball_arms
from kinetree.solvers.loops.planar_loops import spread_in_plane
from kinetree.solvers.views import arm_at, modal_at


@kernel
def spread_rows(model, ws, metric):
    """Compute ws.loop_x and ws.loop_z of all groups; with metric MOTION also turn ws.loop_r, the
    residual at u̇ = 0, into that of the free tree.
    """
    ws.head.factored = 0.0
    for g in range(model.l_kind.size):
        if ws.loop_plane[g] != 0.0:
            spread_in_plane(model, ws, g, int(ws.loop_plane[g]) - 1, metric)
        else:
            spread_in_space(model, ws, g, metric)


@kernel
def spread_in_space(model, ws, g, metric):
    """Compute X and Z of the constraint rows of one spatial loop."""
    first = model.l_at[g]
    last = model.l_at[g + 1]
    rows = model.l_row[g + 1] - model.l_row[g]
    for e in range(first, last):
        for k in range(36 * e, 36 * e + 6 * rows):
            ws.loop_w[k] = 0.0
    if model.l_kind[g] == L.Loop.WELD:
        for r in range(rows):
            part = model.l_part[model.l_row[g] + r]
            axis, k = axis_of_row(model, ws, g, part), 6 * r + part - part % 3
            put3(ws.loop_w, 36 * (last - 1) + k, axis)
            if model.l_from[g] >= 0:
                add_to3(ws.loop_w, 36 * model.l_from[g] + k, neg3(axis))
    elif model.l_kind[g] != L.Loop.COUPLING:
        hang_at_point(model, ws, g)
    for k in range(model.l_arm_at[g], model.l_arm_at[g + 1]):
        arm = arm_at(model.l_arm, k)
        f, n = arm_wrench(ws, arm)
        add_to3(ws.loop_w, 36 * arm.entry, f)
        add_to3(ws.loop_w, 36 * arm.entry + 3, n)
    plain = metric != L.WEIGHTS and model.l_kind[g] != L.Loop.COUPLING
    if model.modal.size > 0:
        for e in range(first, last):
            i = model.l_body[e]
            if model.joint[i] == L.Joint.MODES:
                for k in range(rows * (model.u_at[i + 1] - model.u_at[i])):
                    ws.loop_x[model.l_x[e] + k] = 0.0
    for e in range(last - 1, first - 1, -1):
        joint = model.joint[model.l_body[e]]
        modal = joint == L.Joint.MODES or joint == L.Joint.FACE
        done = 0
        if plain and joint != L.Joint.FREE and not modal:
            for first_row in range(0, rows - 2, 3):
                spread_three(model, ws, g, e, first_row, rows, metric)
                done = first_row + 3
            if rows - done == 2 and joint != L.Joint.SPHERICAL:
                spread_two(model, ws, g, e, done, rows, metric)
                done = rows
        if done < rows:
            spread_entry(model, ws, g, e, done, rows, metric)


@kernel
def hang_at_point(model, ws, g):
    """Set the unit wrenches that the rows of a joint that closes a loop without a twin exert on its
    two bodies.
    """
    r_a, r_b = ball_arms(model, ws, g)
    for s in range(model.l_row[g], model.l_row[g + 1]):
        r, part = s - model.l_row[g], model.l_part[s]
        if part >= 3:
            hang_moment(model, ws, g, r, part)
            continue
        f = axis_of_row(model, ws, g, part)
        if model.l_into[g] >= 0:
            w = 36 * model.l_into[g] + 6 * r
            add_to3(ws.loop_w, w, f)
            add_to3(ws.loop_w, w + 3, cross(r_b, f))
        if model.l_from[g] >= 0:
            w = 36 * model.l_from[g] + 6 * r
            add_to3(ws.loop_w, w, neg3(f))
            add_to3(ws.loop_w, w + 3, cross(f, r_a))


@kernel
def hang_moment(model, ws, g, r, part):
    """Set the unit moments of row r, about the held direction of a part, on the two bodies."""
    n, two = held_turns(model, ws, g)
    if part > 3:
        n = two
    if model.l_into[g] >= 0:
        add_to3(ws.loop_w, 36 * model.l_into[g] + 6 * r + 3, n)
    if model.l_from[g] >= 0:
        add_to3(ws.loop_w, 36 * model.l_from[g] + 6 * r + 3, neg3(n))


@kernel
def spread_two(model, ws, g, e, one, rows, metric):
    """Compute two rows from `one` on of one body on a loop path at once, as `spread_entry` does row
    by row.
    """
    i, own = model.l_body[e], model.l_row[g] + one
    w, to = 36 * e + 6 * one, 36 * model.l_up[e] + 6 * one
    f, n = get3(ws.loop_w, w), get3(ws.loop_w, w + 3)
    h, m = get3(ws.loop_w, w + 6), get3(ws.loop_w, w + 9)
    turning = model.joint[i] == L.Joint.REVOLUTE or model.joint[i] == L.Joint.UNIVERSAL
    for j in range(model.u_at[i + 1] - 1, model.u_at[i] - 1, -1):
        c, at = j * L.COLUMN, model.l_x[e] + one + rows * (j - model.u_at[i])
        a, inv = get3(ws.col, c + L.C_A), ws.col[c + L.C_INV]
        x, y = dot3(a, n), dot3(a, m)
        if not turning:
            el = get3(ws.col, c + L.C_L)
            x, y = x + dot3(el, f), y + dot3(el, h)
        ws.loop_x[at] = x
        ws.loop_x[at + 1] = y
        ws.loop_z[at] = inv * x
        ws.loop_z[at + 1] = inv * y
        if metric == L.MOTION:
            ws.loop_r[own] += ws.col[c + L.C_G] * x
            ws.loop_r[own + 1] += ws.col[c + L.C_G] * y
        uf, un = get3(ws.col, c + L.C_UF), get3(ws.col, c + L.C_UN)
        f, n = axpy3(-inv * x, uf, f), axpy3(-inv * x, un, n)
        h, m = axpy3(-inv * y, uf, h), axpy3(-inv * y, un, m)
    if model.l_up[e] >= 0:
        d = get3(ws.row, i * L.ROW + L.W_D)
        add_to3(ws.loop_w, to, f)
        add_to3(ws.loop_w, to + 3, add3(n, cross(d, f)))
        add_to3(ws.loop_w, to + 6, h)
        add_to3(ws.loop_w, to + 9, add3(m, cross(d, h)))


@kernel
def spread_three(model, ws, g, e, one, rows, metric):
    """Compute three rows, from row `one` on, of one body on a loop path at once, as `spread_entry`
    does row by row.
    """
    i, own, x = model.l_body[e], model.l_row[g] + one, model.l_x[e] + one
    w, to = 36 * e + 6 * one, 36 * model.l_up[e] + 6 * one
    if model.joint[i] == L.Joint.SPHERICAL:
        three_through_ball(model, ws, i, w, x, own, rows, metric)
    else:
        three_through_columns(model, ws, i, w, x, own, rows, metric)
    up = model.l_up[e]
    if up >= 0:
        d = get3(ws.row, i * L.ROW + L.W_D)
        for r in range(3):
            f = get3(ws.loop_w, w + 6 * r)
            n = add3(get3(ws.loop_w, w + 6 * r + 3), cross(d, f))
            add_to3(ws.loop_w, to + 6 * r, f)
            add_to3(ws.loop_w, to + 6 * r + 3, n)


@kernel
def three_through_ball(model, ws, i, w, x, own, rows, metric):
    """Propagate three rows through a spherical joint: its speeds take all moments, and only forces
    are passed on.
    """
    at = i * L.ROW
    K = get6(ws.row, at + L.W_INV)
    H = get9(ws.row, at + L.W_H)
    a, b, c = get3(ws.loop_w, w + 3), get3(ws.loop_w, w + 9), get3(ws.loop_w, w + 15)
    p, q, s = sv(K, a), sv(K, b), sv(K, c)
    for k in range(3):
        put3(ws.loop_x, x + rows * k, (a[k], b[k], c[k]))
        put3(ws.loop_z, x + rows * k, (p[k], q[k], s[k]))
    if metric == L.MOTION:
        bias = get3(ws.col, model.u_at[i] * L.COLUMN + L.C_UN)
        add_to3(ws.loop_r, own, (dot3(a, bias), dot3(b, bias), dot3(c, bias)))
    put3(ws.loop_w, w, sub3(get3(ws.loop_w, w), mtv(H, p)))
    put3(ws.loop_w, w + 6, sub3(get3(ws.loop_w, w + 6), mtv(H, q)))
    put3(ws.loop_w, w + 12, sub3(get3(ws.loop_w, w + 12), mtv(H, s)))
    for r in range(3):
        put3(ws.loop_w, w + 6 * r + 3, (0.0, 0.0, 0.0))


@kernel
def three_through_columns(model, ws, i, w, x_at, own, rows, metric):
    """Propagate three constraint rows through the speeds of a joint, last speed first."""
    f, n = get3(ws.loop_w, w), get3(ws.loop_w, w + 3)
    h, m = get3(ws.loop_w, w + 6), get3(ws.loop_w, w + 9)
    k, o = get3(ws.loop_w, w + 12), get3(ws.loop_w, w + 15)
    turning = model.joint[i] == L.Joint.REVOLUTE or model.joint[i] == L.Joint.UNIVERSAL
    for j in range(model.u_at[i + 1] - 1, model.u_at[i] - 1, -1):
        c, at = j * L.COLUMN, x_at + rows * (j - model.u_at[i])
        a = get3(ws.col, c + L.C_A)
        x = (dot3(a, n), dot3(a, m), dot3(a, o))
        if not turning:
            el = get3(ws.col, c + L.C_L)
            x = add3(x, (dot3(el, f), dot3(el, h), dot3(el, k)))
        z = scale(ws.col[c + L.C_INV], x)
        put3(ws.loop_x, at, x)
        put3(ws.loop_z, at, z)
        if metric == L.MOTION:
            add_to3(ws.loop_r, own, scale(ws.col[c + L.C_G], x))
        uf, un = get3(ws.col, c + L.C_UF), get3(ws.col, c + L.C_UN)
        f, n = axpy3(-z[0], uf, f), axpy3(-z[0], un, n)
        h, m = axpy3(-z[1], uf, h), axpy3(-z[1], un, m)
        k, o = axpy3(-z[2], uf, k), axpy3(-z[2], un, o)
    put3(ws.loop_w, w, f)
    put3(ws.loop_w, w + 3, n)
    put3(ws.loop_w, w + 6, h)
    put3(ws.loop_w, w + 9, m)
    put3(ws.loop_w, w + 12, k)
    put3(ws.loop_w, w + 15, o)


@kernel
def spread_entry(model, ws, g, e, one, rows, metric):
    """Compute X and Z of the constraint rows, from row `one` on, at one body on a loop path, and
    pass the remaining wrenches to its predecessor.
    """
    i = model.l_body[e]
    if metric != L.WEIGHTS and model.joint[i] == L.Joint.SPHERICAL:
        spread_ball(model, ws, g, e, i, one, rows, metric)
    elif metric != L.WEIGHTS and model.joint[i] == L.Joint.FREE:
        spread_free(model, ws, g, e, i, one, rows, metric)
    elif model.joint[i] == L.Joint.MODES:
        spread_modes(model, ws, g, e, i, one, rows, metric)
    else:
        spread_columns(model, ws, g, e, i, one, rows, metric)
    up = model.l_up[e]
    if model.joint[i] == L.Joint.FACE:
        for r in range(one, rows):
            f, n = get3(ws.loop_w, 36 * e + 6 * r), get3(ws.loop_w, 36 * e + 6 * r + 3)
            along_modes(model, ws, i, f, n, ws.loop_x, model.l_x[up] + r, rows)
    if up >= 0:
        d = get3(ws.row, i * L.ROW + L.W_D)
        for r in range(one, rows):
            w = 36 * e + 6 * r
            f = get3(ws.loop_w, w)
            add_to3(ws.loop_w, 36 * up + 6 * r, f)
            add_to3(ws.loop_w, 36 * up + 6 * r + 3, axpy3(1.0, get3(ws.loop_w, w + 3), cross(d, f)))


@kernel
def slope(model, ws, g, j):
    """Return the partial derivative of coupling g with respect to speed j."""
    for k in range(model.l_k[g], model.l_k[g + 1]):
        if model.l_speed[k] == j:
            return ws.val[model.l_slope[k]]
    return 0.0


@kernel
def slopes_in_ground(model, ws, g, i, j):
    """Return the derivatives of coupling g with respect to three speeds from j on (components in
    the axes of body i), in ground axes.
    """
    if model.l_kind[g] != L.Loop.COUPLING:
        return (0.0, 0.0, 0.0)
    return mv(
        get9(ws.row, i * L.ROW + L.W_R),
        (slope(model, ws, g, j), slope(model, ws, g, j + 1), slope(model, ws, g, j + 2)),
    )


@kernel
def spread_columns(model, ws, g, e, i, one, rows, metric):
    """Propagate the constraint rows of a group through joint i, one rank-one step per speed, last
    speed first.
    """
    own = model.l_row[g]
    for k in range(model.u_at[i + 1] - model.u_at[i] - 1, -1, -1):
        j = model.u_at[i] + k
        at = model.l_x[e] + k * rows
        c = j * L.COLUMN
        a = get3(ws.col, c + L.C_A)
        el = get3(ws.col, c + L.C_L)
        given = slope(model, ws, g, j) if model.l_kind[g] == L.Loop.COUPLING else 0.0
        inv = ws.loop_weight[j] if metric == L.WEIGHTS else ws.col[c + L.C_INV]
        for r in range(one, rows):
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
def spread_modes(model, ws, g, e, i, one, rows, metric):
    """Propagate the rows of a group through the modes of a frame, last mode first; the
    contributions of its interfaces are in ws.loop_x already.
    """
    own = model.l_row[g]
    m = modal_at(model.modal, modal_of(model, i))
    for k in range(m.count - 1, -1, -1):
        j = m.speed + k
        at = model.l_x[e] + k * rows
        c = j * L.COLUMN
        given = slope(model, ws, g, j) if model.l_kind[g] == L.Loop.COUPLING else 0.0
        inv = ws.loop_weight[j] if metric == L.WEIGHTS else ws.col[c + L.C_INV]
        for r in range(one, rows):
            w = 36 * e + 6 * r
            x = ws.loop_x[at + r] + given
            ws.loop_x[at + r] = x
            ws.loop_z[at + r] = inv * x
            if metric == L.MOTION:
                ws.loop_r[own + r] += x * ws.col[c + L.C_G]
            if metric != L.WEIGHTS:
                add_to3(ws.loop_w, w, scale(-inv * x, get3(ws.col, c + L.C_UF)))
                add_to3(ws.loop_w, w + 3, scale(-inv * x, get3(ws.col, c + L.C_UN)))
                for other in range(k):
                    below = model.l_x[e] + other * rows + r
                    ws.loop_x[below] -= inv * x * coupled(model, ws, m, k, other)


@kernel
def put_rows(ws, at, rows, x, z):
    """Store three values of a row, one per speed."""
    for k in range(3):
        ws.loop_x[at + k * rows] = x[k]
        ws.loop_z[at + k * rows] = z[k]


@kernel
def spread_ball(model, ws, g, e, i, one, rows, metric):
    """Propagate the constraint rows of a group through a spherical joint as one 3 x 3 block."""
    at = i * L.ROW
    K = get6(ws.row, at + L.W_INV)
    H = get9(ws.row, at + L.W_H)
    s = slopes_in_ground(model, ws, g, i, model.u_at[i])
    bias = get3(ws.col, model.u_at[i] * L.COLUMN + L.C_UN)
    for r in range(one, rows):
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
    """Return M⁻¹, H M⁻¹ and the inverse of J - H M⁻¹ Hᵀ for the articulated inertia of a free body."""
    K = inverse_symmetric(get6(ws.row, at + L.W_M))
    H = get9(ws.row, at + L.W_H)
    HK = mm(H, full(K))
    S = mm(HK, transpose(H))
    Q = inverse_symmetric(sub6(get6(ws.row, at + L.W_J), (S[0], S[1], S[2], S[4], S[5], S[8])))
    return (K, HK, Q)


@kernel
def spread_free(model, ws, g, e, i, one, rows, metric):
    """Propagate the constraint rows of a group through a free joint as one 6 x 6 block."""
    at = i * L.ROW
    K, HK, Q = free_blocks(ws, at)
    force = slopes_in_ground(model, ws, g, i, model.u_at[i])
    torque = slopes_in_ground(model, ws, g, i, model.u_at[i] + 3)
    for r in range(one, rows):
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
