"""Damped Gauss-Newton steps that close the loops from the current coordinates, with given weights
of the coordinates.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_residuals import largest, norm_squared, position_residual
from kinetree.solvers.loops.envelope_cholesky import PLACING
from kinetree.solvers.loops.minimum_norm_change import least_change, place_loops, retract

CLOSED = 1e-13  # m, rad, and per second: nothing is gained below
STEPS = 80
REACH = 0.5  # m, rad: largest change in one step
SETTLED = 1e-10  # m, rad: residual at which a stalled iteration counts as closed


@kernel
def weigh(model, ws, bit, held):
    """Set weight 1 for free coordinates (bit 1) or speeds (bit 2) and weight `held` for those with
    given values.
    """
    for j in range(model.u_held.size):
        given = model.u_held[j] == bit or model.u_held[j] == 3
        ws.loop_weight[j] = held if given else 1.0


@kernel
def limit_step(ws):
    """Return the factor that limits the largest component of the step ws.udot to REACH."""
    top = REACH
    for j in range(ws.udot.size):
        top = max(top, abs(ws.udot[j]))
    return REACH / top


@kernel
def close(model, ws, t):
    """Close the loops from ws.q by damped Gauss-Newton steps; INCONSISTENT on failure, with the
    worst row in head.item.
    """
    status = place_loops(model, ws, t)
    if status != 0:
        return status
    position_residual(model, ws)
    size = norm_squared(ws)
    damping = 1e-3
    for _ in range(STEPS):
        if largest(model, ws) <= CLOSED or damping > 1e6:
            break
        for k in range(ws.q.size):
            ws.loop_q[ws.q.size + k] = ws.q[k]
        least_change(model, ws, damping, False, PLACING)
        retract(model, ws, ws.udot, limit_step(ws))
        place_loops(model, ws, t)
        position_residual(model, ws)
        after = norm_squared(ws)
        if after < size:
            size = after
            damping = max(0.1 * damping, 1e-12)
        else:
            for k in range(ws.q.size):
                ws.q[k] = ws.loop_q[ws.q.size + k]
            place_loops(model, ws, t)
            position_residual(model, ws)
            damping *= 10.0
    return 0 if largest(model, ws) <= SETTLED else L.Status.INCONSISTENT.value
