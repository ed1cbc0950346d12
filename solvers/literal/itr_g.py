"""ITR-G: Lagrange's equations of the second kind solved by the variable-metric iteration without
forming M: u = TAx, then AᵀTᵀMu, by two sweeps (2.54)-(2.55).

[Sh24] section 2.3.4; cost (4.5) with K iterations.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import generalized_forces
from kinetree.solvers.literal.variable_metric import solve_iteratively, vector


@kernel
def itr_g(model, ws):
    """Compute ws.udot by ITR-G from evaluated kinematics; ws.Hq and ws.itr are kept as the start of
    the next evaluation. Return the status.
    """
    generalized_forces(model, ws)
    ws.head.sweeps = 1.0
    status = solve_iteratively(model, ws, ws.Q)
    x = vector(ws, 0)
    for s in range(ws.udot.size):
        ws.udot[s] = x[s]
    return status
