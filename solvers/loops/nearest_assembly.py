"""Assembly at the position that satisfies the constraints and is nearest to the given start values,
whichever joints were cut.

Gauss-Newton steps close the loops first. Then the position moves back towards the guesses along the
constraints, by Δ = -(1 - W Jᵀ(J W Jᵀ)⁻¹J) d with the distance d expressed along the speeds and the
weights W of the assembly, and the loops are closed again.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.envelope_cholesky import PLACING
from kinetree.solvers.loops.gauss_newton import REACH, close
from kinetree.solvers.loops.minimum_norm_change import (
    departure,
    least_change,
    place_loops,
    retract,
    row_rates,
)

SLIDES = 200
NEAREST = 1e-11  # m, rad: nothing is gained by smaller steps
NO_FARTHER = 1.0 + 1e-12  # rounding of a sum of squares


@kernel
def distance(model, ws):
    """Return the weighted squared distance between the start values and ws.q, and store the
    difference in ws.loop_mark.
    """
    departure(model, ws, ws.loop_q, ws.loop_mark)
    total = 0.0
    for j in range(ws.loop_mark.size):
        if ws.loop_weight[j] > 0.0:
            total += ws.loop_mark[j] ** 2 / ws.loop_weight[j]
        else:
            ws.loop_mark[j] = 0.0
    return total


@kernel
def way_back(model, ws, t):
    """Compute in ws.udot the step towards the guesses along the constraints, after `distance`;
    return its largest component.
    """
    for j in range(ws.u.size):
        ws.u[j] = ws.loop_mark[j]
    row_rates(model, ws, t)
    least_change(model, ws, 0.0, False, PLACING)
    top = 0.0
    for j in range(ws.udot.size):
        ws.udot[j] = -(ws.loop_mark[j] + ws.udot[j])
        top = max(top, abs(ws.udot[j]))
    return top


@kernel
def slide_to_nearest(model, ws, t):
    """Move ws.q along the constraints to the position nearest to the start values; ws.u is
    unchanged. Return the status.
    """
    last = 2 * ws.q.size
    before = distance(model, ws)
    part = 1.0
    status = 0
    for _ in range(SLIDES):
        top = way_back(model, ws, t)
        if top <= NEAREST or part < 1e-3:
            break
        for k in range(ws.q.size):
            ws.loop_q[last + k] = ws.q[k]
        retract(model, ws, ws.udot, min(part, REACH / top))
        status = close(model, ws, t)
        after = distance(model, ws)
        if status == 0 and after <= before * NO_FARTHER:
            before = after
        else:
            part *= 0.25
            for k in range(ws.q.size):
                ws.q[k] = ws.loop_q[last + k]
            before = distance(model, ws)
    for j in range(ws.u.size):
        ws.u[j] = ws.loop_u[j]
    return place_loops(model, ws, t)
