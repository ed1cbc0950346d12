"""CBM (composite-body method): Lagrange's equations of the second kind, (AᵀTᵀMTA) q̈ = AᵀTᵀ(F' − M
T w').

[Sh24] (2.15)-(2.23); cost (4.2): linear in N on stars, cubic on chains.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import (
    composite_bodies,
    generalized_forces,
    mass_rows,
)
from kinetree.solvers.literal.mass_matrix_cholesky import solve_forces


@kernel
def cbm(model, ws):
    """Compute ws.udot by CBM from evaluated kinematics and leave the factor of M in ws.Mr; return
    the status.
    """
    composite_bodies(model, ws)
    mass_rows(model, ws)
    generalized_forces(model, ws)
    return solve_forces(model, ws)
