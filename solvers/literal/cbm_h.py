"""CBM-H: composite-body method in Poisson impulses (momenta), (AᵀTᵀMTA) q̇ = p − AᵀTᵀMT v̂ ; p* =
TᵀMT(Aq̇ + v̂).

[Sh24] (1.56)-(1.59) with TᵀMT in (1.58); M by composite bodies (2.19)-(2.20).
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import composite_bodies, mass_rows, momentum_residual
from kinetree.solvers.literal.mass_matrix_cholesky import factor_mass, solve_mass
from kinetree.solvers.literal.newton_euler import carried_momenta, sweep_up


@kernel
def cbm_h(model, ws):
    """Compute ws.u, ws.v and ws.ps by CBM-H from ws.p and evaluated positions, and leave the factor
    of M in ws.Mr; return the status.
    """
    composite_bodies(model, ws)
    mass_rows(model, ws)
    momentum_residual(model, ws)
    status = factor_mass(model, ws)
    if status != 0:
        return status
    for s in range(ws.u.size):
        ws.u[s] = ws.Q[s]
    solve_mass(model, ws, ws.u)
    sweep_up(ws.v, model, ws, ws.u, ws.vh)
    carried_momenta(model, ws)
    return 0
