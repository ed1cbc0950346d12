"""Ranks of the constraint rows in general position: at the assembled position and at neighbours on the constraint manifold.

A singular start, as of a flat four-bar, has fewer independent rows than its neighbours; a redundant row is redundant at all of them.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.envelope import block_at, factor, form_gram
from kinetree.solvers.loops.least_change import least_change, place_loops, retract
from kinetree.solvers.loops.residual import largest, position_residual, velocity_residual
from kinetree.solvers.loops.rows import spread_rows

NEIGHBOURS = 3
DISTANCE = 0.02  # m, rad: step to a neighbour
CLOSED = 1e-11  # residual of a neighbour that counts


@kernel
def find_ranks(model, ws):
    """Ranks at the placed position join ws.loop_rank when they are larger."""
    spread_rows(model, ws, False)
    form_gram(model, ws)
    for k in range(model.l_kind.size):
        rows = model.l_row[k + 1] - model.l_row[k]
        at = block_at(model, k, k)
        for r in range(rows):
            row = model.l_row[k] + r
            ws.loop_live[row] = max(ws.loop_live[row], ws.loop_g[at + r * rows + r] / ws.loop_scale[2 * k + model.l_part[row] // 3])
    factor(model, ws, 0.0, False)
    for k in range(ws.loop_rank.size):
        ws.loop_rank[k] = max(ws.loop_rank[k], ws.loop_found[k])


@kernel
def walk(model, ws, t, seed):
    """Step to a neighbour on the manifold; False when it cannot be reached."""
    for j in range(ws.u.size):
        seed = (1103515245 * seed + 12345) % 2147483648
        ws.u[j] = seed / 1073741824.0 - 1.0
    place_loops(model, ws, t)
    velocity_residual(model, ws)
    least_change(model, ws, 1e-9, False)
    for j in range(ws.u.size):
        ws.u[j] += ws.udot[j]
    retract(model, ws, ws.u, DISTANCE)
    for _ in range(20):
        if place_loops(model, ws, t) != 0:
            return False
        position_residual(model, ws)
        if largest(model, ws) <= CLOSED:
            return True
        least_change(model, ws, 1e-9, False)
        retract(model, ws, ws.udot, 1.0)
    return False


@kernel
def survey_ranks(model, ws, t):
    """Fill ws.loop_rank; the state in ws.q, ws.u stays."""
    for k in range(ws.q.size):
        ws.loop_q[k] = ws.q[k]
    for j in range(ws.u.size):
        ws.loop_u[j] = ws.u[j]
        ws.loop_weight[j] = 1.0
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
