"""Minimum-norm change of speeds or coordinates under the constraints with some of them prescribed
("set"): min ½ Δᵀ M Δ with J Δ = -r, S Δ = s.

The change under the constraints alone is computed first. Then every set speed gets an impulse along
it, to which the constrained system responds by P M⁻¹ Sᵀ: (S P M⁻¹ Sᵀ) λ = s - S Δ. Both steps use
the mass metric, so that together they give the minimum-norm change. A set speed that the
constraints and the other set ones determine already has no pivot and is left out; whether it has
its value is checked in the end. Cost: one response of O(N) per set speed, and the cube of their
number.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.engine.dec import eliminate_all
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_force_response import forget_bias, place_multipliers, respond
from kinetree.solvers.loops.constraint_projection import (
    CLOSED,
    DAMPING,
    DRIFT,
    ITERATIONS,
    look_at_loops,
    project_position,
    project_velocity,
    speed_scale,
)
from kinetree.solvers.loops.constraint_residuals import (
    acceleration_residual,
    largest,
    velocity_residual,
)
from kinetree.solvers.loops.envelope_cholesky import ALL, PLACING
from kinetree.solvers.loops.factor_solve import solve_factor
from kinetree.solvers.loops.massless_bodies import forget_debts, repay
from kinetree.solvers.loops.minimum_norm_change import least_change, place_loops, retract

DEPENDENT = 1e-7  # share of its own mobility below which a set speed is determined by the rest: damped constraints leave 1e-9 of it
REACHED = 1e-8  # difference from the value asked for, relative to the largest speed or coordinate, that counts as none


@kernel
def free_change(model, ws, damping, use):
    """Compute in ws.udot the minimum-norm change under the constraints alone; the factors are kept."""
    if model.l_kind.size > 0:
        return least_change(model, ws, damping, True, use)
    status = eliminate_all(model, ws)
    for j in range(ws.udot.size):
        ws.udot[j] = 0.0
    return status


@kernel
def rest(model, ws):
    """Compute in ws.set_rest the residual of the constraint rows at u̇ = 0."""
    forget_bias(model, ws)
    for j in range(ws.udot.size):
        ws.udot[j] = 0.0
    if model.l_kind.size > 0:
        acceleration_residual(model, ws)
        for r in range(ws.set_rest.size):
            ws.set_rest[r] = ws.loop_r[r]


@kernel
def answer(model, ws, n):
    """Compute ws.udot = P M⁻¹ Sᵀ λ, the response to a unit impulse along set speed n, or to all
    ws.set_lam if n < 0.
    """
    forget_bias(model, ws)
    for k in range(ws.push.size):
        ws.push[k] = 0.0
    for j in range(ws.push_u.size):
        ws.push_u[j] = 0.0
    for k in range(model.set_speed.size):
        if n < 0:
            ws.push_u[model.set_speed[k]] = ws.set_lam[k]
        elif n == k:
            ws.push_u[model.set_speed[k]] = 1.0
    respond(model, ws)
    if n >= 0:
        ws.set_own[n] = ws.udot[model.set_speed[n]]
    if model.l_kind.size > 0:
        acceleration_residual(model, ws)
        for r in range(ws.loop_lam.size):
            ws.loop_lam[r] = ws.set_rest[r] - ws.loop_r[r]
        solve_factor(model, ws, ws.loop_lam)
        place_multipliers(model, ws)
        respond(model, ws)
    if model.ghosts.size > 0:
        forget_debts(ws)
        repay(model, ws)


@kernel
def eliminate_sets(ws, count):
    """Solve for the impulses ws.set_lam of the set speeds by Gauss-Jordan elimination with relative
    pivots; dependent ones become 0.
    """
    while True:
        p = -1
        best = DEPENDENT
        for k in range(count):
            if ws.set_done[k] == 1.0 and ws.set_g[k * count + k] > best * ws.set_own[k]:
                best = ws.set_g[k * count + k] / ws.set_own[k]
                p = k
        if p < 0:
            break
        ws.set_done[p] = 2.0
        for k in range(count):
            if k != p and ws.set_done[k] != 0.0:
                f = ws.set_g[k * count + p] / ws.set_g[p * count + p]
                for m in range(count):
                    ws.set_g[k * count + m] -= f * ws.set_g[p * count + m]
                ws.set_lam[k] -= f * ws.set_lam[p]
    for k in range(count):
        ws.set_lam[k] = ws.set_lam[k] / ws.set_g[k * count + k] if ws.set_done[k] == 2.0 else 0.0


@kernel
def least_change_with(model, ws, marks, damping, use):
    """Compute in ws.udot the change that removes ws.loop_r and changes the marked speeds by
    ws.set_want; return the status.
    """
    status = free_change(model, ws, damping, use)
    if status != 0:
        return status
    count = model.set_speed.size
    for j in range(ws.udot.size):
        ws.set_change[j] = ws.udot[j]
    rest(model, ws)
    for k in range(count):
        ws.set_done[k] = 1.0 if marks[k] != 0.0 else 0.0
        ws.set_lam[k] = (
            ws.set_want[k] - ws.set_change[model.set_speed[k]] if marks[k] != 0.0 else 0.0
        )
    for k in range(count):
        if marks[k] != 0.0:
            answer(model, ws, k)
        for m in range(count):
            ws.set_g[m * count + k] = (
                ws.udot[model.set_speed[m]] if marks[k] != 0.0 and marks[m] != 0.0 else 0.0
            )
    eliminate_sets(ws, count)
    answer(model, ws, -1)
    for j in range(ws.udot.size):
        ws.udot[j] += ws.set_change[j]
    return 0


@kernel
def set_velocity(model, ws, t):
    """Compute speeds that satisfy the constraints and take the values ws.set_to where marked;
    return the status.
    """
    worst = 0.0
    for _ in range(ITERATIONS):
        status = place_loops(model, ws, t)
        if status != 0:
            return status
        before, worst = worst, 0.0
        if model.l_kind.size > 0:
            velocity_residual(model, ws)
            worst = largest(model, ws)
        for k in range(model.set_speed.size):
            ws.set_want[k] = ws.set_to[k] - ws.u[model.set_speed[k]]
            if ws.set_mark[k] != 0.0:
                worst = max(worst, abs(ws.set_want[k]))
        if worst <= CLOSED * speed_scale(ws) or (before > 0.0 and worst > 0.1 * before):
            break
        status = least_change_with(model, ws, ws.set_mark, DAMPING, ALL)
        if status != 0:
            return status
        for j in range(ws.u.size):
            ws.u[j] += ws.udot[j]
    return reached(model, ws)


@kernel
def reached(model, ws):
    """Give the set speeds their exact values; return CANNOT_SET, with the register in head.item, if
    one differs by more than rounding.
    """
    status = 0
    near = REACHED * speed_scale(ws)
    for k in range(model.set_speed.size):
        if ws.set_mark[k] != 0.0:
            j = model.set_speed[k]
            if abs(ws.u[j] - ws.set_to[k]) <= near:
                ws.u[j] = ws.set_to[k]
            else:
                ws.head.item = model.header.r_u + j
                status = L.Status.CANNOT_SET.value
    return status


@kernel
def set_position(model, ws, t):
    """Close the loops and keep the coordinates that are set; return CANNOT_SET if that is
    impossible.
    """
    worst, status = 0.0, 0
    for _ in range(ITERATIONS):
        status, worst, done = look_at_loops(model, ws, t, worst)
        if done:
            break
        for k in range(model.set_speed.size):
            ws.set_want[k] = 0.0
        status = least_change_with(
            model, ws, ws.set_hold, DAMPING, PLACING
        )  # more would let what is set win over the constraints
        if status != 0:
            return status
        retract(model, ws, ws.udot, 1.0)
    if status != 0:
        return status
    status = L.Status.INCONSISTENT.value if worst > DRIFT else 0
    for k in range(ws.set_q.size):
        if not math.isnan(ws.set_q[k]) and abs(ws.q[k] - ws.set_q[k]) > REACHED * max(
            1.0, abs(ws.set_q[k])
        ):
            ws.head.item = model.header.r_q + k
            status = L.Status.CANNOT_SET.value
    return status


@kernel
def any_of(marks):
    """Return whether any mark is set."""
    found = False
    for k in range(marks.size):
        found = found or marks[k] != 0.0
    return found


@boundary("state")
def settle(model, ws, t):
    """Close the loops after event actions with set coordinates, then compute speeds with the set
    ones; return the status.
    """
    status = 0
    if model.l_kind.size > 0:
        status = (
            set_position(model, ws, t) if any_of(ws.set_hold) else project_position(model, ws, t)
        )
    if status == 0 and any_of(ws.set_mark):
        status = set_velocity(model, ws, t)
    elif status == 0 and model.l_kind.size > 0:
        status = project_velocity(model, ws, t)
    return status
