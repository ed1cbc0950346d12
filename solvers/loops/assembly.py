"""Assembly: coordinates and speeds that close the loops, computed from rough guesses by damped
Gauss-Newton steps.

Given start values are kept if the other coordinates can close the loops; otherwise all are changed,
given ones with a weight a hundred times smaller. If neither works, the other coordinates start from
rotated guesses, always the same ones. The guesses select the branch; on it the position nearest to
them is computed.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import speed_scale
from kinetree.solvers.loops.constraint_rank import survey_ranks
from kinetree.solvers.loops.constraint_residuals import largest, velocity_residual
from kinetree.solvers.loops.envelope_cholesky import ALL
from kinetree.solvers.loops.gauss_newton import CLOSED, SETTLED, close, weigh
from kinetree.solvers.loops.minimum_norm_change import least_change, place_loops, retract
from kinetree.solvers.loops.nearest_assembly import slide_to_nearest

SOFT = 1e-4  # weight of a given start value against a free one once it may give way
ATTEMPTS = 24


@kernel
def close_speeds(model, ws, t, bit):
    """Compute speeds that satisfy the constraints, changing given values only if necessary; return
    the status.
    """
    for attempt in range(2):
        weigh(model, ws, bit, 0.0 if attempt == 0 else SOFT)
        for _ in range(20):
            status = place_loops(model, ws, t)
            if status != 0:
                return status
            velocity_residual(model, ws)
            if largest(model, ws) <= CLOSED * speed_scale(ws):
                return 0
            least_change(model, ws, 1e-10, False, ALL)
            for j in range(ws.u.size):
                ws.u[j] += ws.udot[j]
        if largest(model, ws) <= SETTLED * speed_scale(ws):
            return 0
        for j in range(ws.u.size):
            ws.u[j] = ws.loop_u[j]
    return L.Status.INCONSISTENT.value


@kernel
def shake(model, ws, seed, size):
    """Change the free coordinates by pseudo-random amounts up to `size`; return the next seed."""
    for j in range(model.u_held.size):
        seed = (1103515245 * seed + 12345) % 2147483648
        free = model.u_held[j] != 1 and model.u_held[j] != 3
        ws.udot[j] = size * (seed / 1073741824.0 - 1.0) if free else 0.0
    retract(model, ws, ws.udot, 1.0)
    return seed


@kernel
def close_positions(model, ws, t):
    """Compute coordinates that close the loops, starting from ws.q; on failure ws.q is unchanged
    and head.item is the worst row.
    """
    seed = 1
    row = 0.0
    for k in range(ws.q.size):
        ws.loop_q[k] = ws.q[k]
    for attempt in range(ATTEMPTS):
        weigh(model, ws, 1, SOFT if attempt % 2 == 1 else 0.0)
        if attempt > 1:
            seed = shake(model, ws, seed, 0.2 * attempt)
        status = close(model, ws, t)
        if status != L.Status.INCONSISTENT:
            return status
        if attempt == 1:
            row = ws.head.item
        for k in range(ws.q.size):
            ws.q[k] = ws.loop_q[k]
    ws.head.item = row
    return L.Status.INCONSISTENT.value


@boundary("state")
def assemble(model, ws, t):
    """Make ws.q and ws.u satisfy the constraints at time t and compute the ranks of the constraint
    rows; return the status.
    """
    for j in range(ws.u.size):
        ws.loop_u[j] = ws.u[j]
    status = close_positions(model, ws, t)
    if status == 0:
        status = slide_to_nearest(model, ws, t)
    if status == 0:
        status = close_speeds(model, ws, t, 2)
    return survey_ranks(model, ws, t) if status == 0 else status
