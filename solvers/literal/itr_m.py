"""ITR-M: Lagrange's equations of the second kind solved by the variable-metric iteration, M formed
by composite bodies and multiplied block by block (2.53).

[Sh24] section 2.3; cost (4.4) with K iterations: quadratic in the number of degrees of freedom for
every tree.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import (
    composite_bodies,
    generalized_forces,
    mass_rows,
)
from kinetree.solvers.literal.variable_metric import solve_iteratively, vector


@kernel
def itr_m(model, ws):
    """Compute ws.udot by ITR-M from evaluated kinematics; ws.Hq and ws.itr are kept as the start of
    the next evaluation. Return the status.
    """
    composite_bodies(model, ws)
    mass_rows(model, ws)
    generalized_forces(model, ws)
    ws.head.sweeps = 0.0
    status = solve_iteratively(model, ws, ws.Q)
    x = vector(ws, 0)
    for s in range(ws.udot.size):
        ws.udot[s] = x[s]
    return status
