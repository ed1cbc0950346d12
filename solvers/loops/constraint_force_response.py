"""Response of the tree to constraint forces: the bias sweep of the elimination in `engine.dec` is
repeated with the factors from it; O(N).

The wrenches are added to the bias of the bodies, so that `engine.reactions` includes them.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import (
    add3,
    add_to3,
    axpy3,
    cross,
    dot3,
    get3,
    get6,
    get9,
    mtv,
    mv,
    neg3,
    put3,
    scale,
    sub3,
    sv,
)
from kinetree.solvers.engine.dec import accelerate_all
from kinetree.solvers.engine.modal_bodies import along_modes, coupled, modal_of
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_jacobian import free_blocks
from kinetree.solvers.loops.constraint_residuals import arm_wrench, ball_arms, vectors_of_rows
from kinetree.solvers.views import arm_at, modal_at


@kernel
def push_nothing(ws):
    """Set the constraint wrenches and generalised forces to zero."""
    for k in range(ws.push.size):
        ws.push[k] = 0.0
    for j in range(ws.push_u.size):
        ws.push_u[j] = 0.0


@kernel
def place_multipliers(model, ws):
    """Compute the wrenches ws.push and generalised forces Jᵀλ of the multipliers ws.loop_lam."""
    push_nothing(ws)
    for g in range(model.l_kind.size):
        r = model.l_row[g]
        if model.l_kind[g] == L.Loop.COUPLING:
            for k in range(model.l_k[g], model.l_k[g + 1]):
                ws.push_u[model.l_speed[k]] += ws.val[model.l_slope[k]] * ws.loop_lam[r]
            for k in range(model.l_arm_at[g], model.l_arm_at[g + 1]):
                arm = arm_at(model.l_arm, k)
                f, n = arm_wrench(ws, arm)
                add_to3(ws.push, 6 * arm.body, scale(ws.loop_lam[r], f))
                add_to3(ws.push, 6 * arm.body + 3, scale(ws.loop_lam[r], n))
        elif model.l_kind[g] != L.Loop.WELD:
            push_at_point(model, ws, g)
        else:
            f, n = vectors_of_rows(model, ws, g, ws.loop_lam)
            a, b = 6 * model.l_a[g], 6 * model.l_b[g]
            add_to3(ws.push, b, f)
            add_to3(ws.push, b + 3, n)
            add_to3(ws.push, a, neg3(f))
            add_to3(ws.push, a + 3, neg3(n))


@kernel
def push_at_point(model, ws, g):
    """Add force and moment of a joint that closes a loop without a twin to both of its bodies."""
    f, n = vectors_of_rows(model, ws, g, ws.loop_lam)
    r_a, r_b = ball_arms(model, ws, g)
    a, b = 6 * model.l_a[g], 6 * model.l_b[g]
    add_to3(ws.push, b, f)
    add_to3(ws.push, b + 3, add3(n, cross(r_b, f)))
    add_to3(ws.push, a, neg3(f))
    add_to3(ws.push, a + 3, sub3(cross(f, r_a), n))


@kernel
def forget_bias(model, ws):
    """Set the solution of the elimination to zero, so that `respond` gives the effect of constraint
    forces alone.
    """
    for i in range(1, model.parent.size):
        put3(ws.row, i * L.ROW + L.W_DA, (0.0, 0.0, 0.0))
        put3(ws.row, i * L.ROW + L.W_DB, (0.0, 0.0, 0.0))
    for j in range(ws.u.size):
        ws.col[j * L.COLUMN + L.C_G] = 0.0
    for i in range(1, model.parent.size):
        if model.joint[i] == L.Joint.SPHERICAL:
            put3(ws.col, model.u_at[i] * L.COLUMN + L.C_UN, (0.0, 0.0, 0.0))


@kernel
def respond(model, ws):
    """Add the response M⁻¹ Jᵀ λ to constraint forces to ws.udot and to the increments of
    acceleration; `place_multipliers` must have run.
    """
    for i in range(model.parent.size - 1, 0, -1):  # leaves -> root
        take_in(model, ws, i, True)
    accelerate_all(model, ws)


@kernel
def carry(model, ws):
    """Add the constraint forces of ws.loop_lam to the bias of the bodies, once, since `yield_to`
    has left the bias unchanged.
    """
    if ws.head.carried == 0.0:
        place_multipliers(model, ws)
        for i in range(model.parent.size - 1, 0, -1):
            take_in(model, ws, i, False)
        ws.head.carried = 1.0


@kernel
def yield_to(model, ws):
    """Apply Jᵀ λ of ws.loop_lam to the solution of the elimination by the rows of `spread_rows`,
    with half the work of `respond`.
    """
    for g in range(model.l_kind.size):
        own = model.l_row[g]
        rows = model.l_row[g + 1] - own
        for e in range(model.l_at[g], model.l_at[g + 1]):
            i = model.l_body[e]
            if model.joint[i] == L.Joint.SPHERICAL:
                add_to3(
                    ws.col,
                    model.u_at[i] * L.COLUMN + L.C_UN,
                    three_along(ws, model.l_x[e], own, rows),
                )
            elif model.joint[i] == L.Joint.FREE:
                yield_free(ws, i * L.ROW, model.l_x[e], own, rows)
            else:
                for j in range(model.u_at[i], model.u_at[i + 1]):
                    ws.col[j * L.COLUMN + L.C_G] += along(
                        ws, model.l_x[e] + rows * (j - model.u_at[i]), own, rows
                    )


@kernel
def along(ws, at, own, rows):
    """Return Z λ for one speed."""
    if rows == 2:
        return ws.loop_z[at] * ws.loop_lam[own] + ws.loop_z[at + 1] * ws.loop_lam[own + 1]
    if rows == 3:
        return dot3(get3(ws.loop_z, at), get3(ws.loop_lam, own))
    if rows == 6:
        half = dot3(get3(ws.loop_z, at), get3(ws.loop_lam, own))
        return half + dot3(get3(ws.loop_z, at + 3), get3(ws.loop_lam, own + 3))
    total = 0.0
    for r in range(rows):
        total += ws.loop_z[at + r] * ws.loop_lam[own + r]
    return total


@kernel
def three_along(ws, at, own, rows):
    """Return Z λ for three speeds."""
    return (
        along(ws, at, own, rows),
        along(ws, at + rows, own, rows),
        along(ws, at + 2 * rows, own, rows),
    )


@kernel
def yield_free(ws, at, first, own, rows):
    """Compute the solution of a free body from its eliminated force and moment blocks."""
    _, HK, _ = free_blocks(ws, at)
    f = three_along(ws, first, own, rows)
    n = three_along(ws, first + 3 * rows, own, rows)
    add_to3(ws.row, at + L.W_DA, n)
    add_to3(ws.row, at + L.W_DB, sub3(f, mtv(HK, n)))


@kernel
def take_in(model, ws, i, moving):
    """Eliminate joint i for a wrench on body i and pass the remaining wrench to the parent;
    `moving` also updates the solution.
    """
    at = i * L.ROW
    f = get3(ws.push, 6 * i)
    n = get3(ws.push, 6 * i + 3)
    put3(ws.row, at + L.W_F, sub3(get3(ws.row, at + L.W_F), f))
    put3(ws.row, at + L.W_N, sub3(get3(ws.row, at + L.W_N), n))
    if model.joint[i] == L.Joint.FREE:
        R = get9(ws.row, at + L.W_R)
        force = mv(R, get3(ws.push_u, model.u_at[i]))
        torque = mv(R, get3(ws.push_u, model.u_at[i] + 3))
        K, HK, Q = free_blocks(ws, at)
        if moving:
            f, n = add3(f, force), add3(n, torque)
            da = sv(Q, sub3(n, mv(HK, f)))
            add_to3(ws.row, at + L.W_DA, da)
            add_to3(ws.row, at + L.W_DB, sv(K, sub3(f, mtv(get9(ws.row, at + L.W_H), da))))
        f, n = neg3(force), neg3(torque)
    elif model.joint[i] == L.Joint.SPHERICAL:
        torque = mv(get9(ws.row, at + L.W_R), get3(ws.push_u, model.u_at[i]))
        g = sv(get6(ws.row, at + L.W_INV), add3(n, torque))
        if moving:
            add_to3(ws.col, model.u_at[i] * L.COLUMN + L.C_UN, g)
        f = sub3(f, mtv(get9(ws.row, at + L.W_H), g))
        n = neg3(torque)
    elif model.joint[i] == L.Joint.MODES:
        f, n = take_in_modes(model, ws, i, f, n, moving)
    elif model.joint[i] == L.Joint.FACE:
        along_modes(model, ws, i, f, n, ws.push_u, model.u_at[model.parent[i]], 1)
    else:
        for j in range(model.u_at[i + 1] - 1, model.u_at[i] - 1, -1):
            c = j * L.COLUMN
            x = dot3(get3(ws.col, c + L.C_L), f) + dot3(get3(ws.col, c + L.C_A), n) + ws.push_u[j]
            s = ws.col[c + L.C_INV] * x
            if moving:
                ws.col[c + L.C_G] += s
            f = add3(f, scale(-s, get3(ws.col, c + L.C_UF)))
            n = add3(n, scale(-s, get3(ws.col, c + L.C_UN)))
    p = model.parent[i]
    if p > 0:
        add_to3(ws.push, 6 * p, f)
        add_to3(ws.push, 6 * p + 3, axpy3(1.0, n, cross(get3(ws.row, at + L.W_D), f)))


@kernel
def take_in_modes(model, ws, i, f, n, moving):
    """Eliminate the modes of frame i for a wrench on it and for the modal forces ws.push_u; return
    the remaining wrench.
    """
    m = modal_at(model.modal, modal_of(model, i))
    for k in range(m.count - 1, -1, -1):
        c = (m.speed + k) * L.COLUMN
        s = ws.col[c + L.C_INV] * ws.push_u[m.speed + k]
        if moving:
            ws.col[c + L.C_G] += s
        f = add3(f, scale(-s, get3(ws.col, c + L.C_UF)))
        n = add3(n, scale(-s, get3(ws.col, c + L.C_UN)))
        for other in range(k):
            ws.push_u[m.speed + other] -= s * coupled(model, ws, m, k, other)
    return f, n
