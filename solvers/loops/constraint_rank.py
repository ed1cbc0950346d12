"""Ranks of the constraint rows in general position: the largest over the assembled position and
neighbours on the constraint manifold.

At a singular start, such as that of a flat four-bar, fewer rows are independent than at its
neighbours; a truly redundant row is redundant at all of them.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_jacobian import spread_rows
from kinetree.solvers.loops.constraint_residuals import largest, position_residual
from kinetree.solvers.loops.envelope_cholesky import ALL, PLACING, block_at, factor, form_gram
from kinetree.solvers.loops.minimum_norm_change import (
    departure,
    least_change,
    place_loops,
    retract,
    row_rates,
)

NEIGHBOURS = 3
DISTANCE = 0.02  # m, rad: step to a neighbour
CLOSED = 1e-11  # residual of a neighbour that counts
BLOCKED = (
    1e-6  # residual from which on a step that led nowhere counts: far below the square of the step
)
SEEN, STUCK = (
    0.05,
    0.1,
)  # size of a tangent speed that is judged; part of its step below which it has not gone on


@kernel
def find_ranks(model, ws):
    """Raise ws.loop_rank to the ranks of the groups at the current position."""
    spread_rows(model, ws, L.WEIGHTS)
    form_gram(model, ws)
    for k in range(model.l_kind.size):
        rows = model.l_row[k + 1] - model.l_row[k]
        at = block_at(model, k, k)
        for r in range(rows):
            row = model.l_row[k] + r
            ws.loop_live[row] = max(
                ws.loop_live[row],
                ws.loop_g[at + r * rows + r] / ws.loop_scale[2 * k + model.l_part[row] // 3],
            )
    factor(model, ws, 0.0, ALL)
    for k in range(ws.loop_rank.size):
        ws.loop_rank[k] = max(ws.loop_rank[k], ws.loop_found[k])


@kernel
def walk(model, ws, t, seed):
    """Move to a neighbouring position on the constraint manifold; return False if it cannot be
    reached.
    """
    for j in range(ws.u.size):
        seed = (1103515245 * seed + 12345) % 2147483648
        ws.u[j] = seed / 1073741824.0 - 1.0
    row_rates(model, ws, t)
    least_change(model, ws, 1e-9, False, ALL)
    for j in range(ws.u.size):
        ws.u[j] += ws.udot[j]
    retract(model, ws, ws.u, DISTANCE)
    for _ in range(20):
        if place_loops(model, ws, t) != 0:
            return False
        position_residual(model, ws)
        if largest(model, ws) <= CLOSED:
            break
        least_change(model, ws, 1e-9, False, PLACING)
        retract(model, ws, ws.udot, 1.0)
    if largest(model, ws) <= BLOCKED:
        mark(model, ws)
    return largest(model, ws) <= CLOSED


@kernel
def mark(model, ws):
    """Record for every tangent speed of a step whether it has actually moved its coordinate."""
    departure(model, ws, ws.loop_q, ws.udot)
    for j in range(ws.u.size):
        if abs(ws.u[j]) > SEEN:
            went_on = abs(ws.udot[j]) > STUCK * DISTANCE * abs(ws.u[j])
            ws.loop_mark[j] = max(ws.loop_mark[j], 2.0 if went_on else 1.0)


@kernel
def dead_point(model, ws):
    """Return DEAD_POINT, with a row in head.item, if all movable speeds of a group are blocked at
    second order, else 0; needs the rows at the start.
    """
    spread_rows(model, ws, L.WEIGHTS)
    for g in range(model.l_kind.size):
        stuck = False
        free = False
        rows = model.l_row[g + 1] - model.l_row[g]
        for e in range(model.l_at[g], model.l_at[g + 1]):
            first = model.u_at[model.l_body[e]]
            n = model.u_at[model.l_body[e] + 1] - first
            for k in range(n):
                felt = False
                for r in range(rows):
                    felt = felt or abs(ws.loop_x[model.l_x[e] + rows * k + r]) > CLOSED
                stuck = stuck or (felt and ws.loop_mark[first + k] == 1.0)
                free = free or (felt and ws.loop_mark[first + k] == 2.0)
        if stuck and not free:
            ws.head.item = model.l_row[g]
            return L.Status.DEAD_POINT.value
    return 0


@kernel
def survey_ranks(model, ws, t):
    """Compute the ranks of the constraint groups in ws.loop_rank without changing the state; return
    DEAD_POINT at a singular position.
    """
    for k in range(ws.q.size):
        ws.loop_q[k] = ws.q[k]
    for j in range(ws.u.size):
        ws.loop_u[j] = ws.u[j]
        ws.loop_weight[j] = 1.0
        ws.loop_mark[j] = 0.0
    for k in range(ws.loop_rank.size):
        ws.loop_rank[k] = 0.0
    for r in range(ws.loop_live.size):
        ws.loop_live[r] = 0.0
    place_loops(model, ws, t)
    find_ranks(model, ws)
    for n in range(NEIGHBOURS):
        if walk(model, ws, t, n + 1):
            find_ranks(model, ws)
        for k in range(ws.q.size):
            ws.q[k] = ws.loop_q[k]
    for j in range(ws.u.size):
        ws.u[j] = ws.loop_u[j]
    place_loops(model, ws, t)
    return dead_point(model, ws)
