"""ITR-H: the momentum equations (AᵀTᵀMTA) q̇ = p − AᵀTᵀMT v̂ solved by the variable-metric
iteration, M formed by composite bodies; p* = TᵀMT(Aq̇ + v̂).

[Sh24] (1.56)-(1.59), section 2.3. The approximate inverse H carried over is that of ITR-M and
ITR-G.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import composite_bodies, mass_rows, momentum_residual
from kinetree.solvers.literal.newton_euler import carried_momenta, sweep_up
from kinetree.solvers.literal.variable_metric import solve_iteratively, vector


@kernel
def itr_h(model, ws):
    """Compute ws.u, ws.v and ws.ps by ITR-H from ws.p; ws.Hq and ws.itr are kept as the start of
    the next evaluation. Return the status.
    """
    composite_bodies(model, ws)
    mass_rows(model, ws)
    momentum_residual(model, ws)
    ws.head.sweeps = 0.0
    status = solve_iteratively(model, ws, ws.Q)
    if status != 0:
        return status
    x = vector(ws, 0)
    for s in range(ws.u.size):
        ws.u[s] = x[s]
    sweep_up(ws.v, model, ws, ws.u, ws.vh)
    carried_momenta(model, ws)
    return 0
