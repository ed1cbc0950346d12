"""CBM: Lagrange's equations of the second kind by composite bodies, (AᵀTᵀMTA) q̈ = AᵀTᵀ(F' − M T w').

[Sh24] (2.15)-(2.23); cost (4.2): linear in N on stars, cubic on chains.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite import composite_bodies, generalized_forces, mass_rows
from kinetree.solvers.literal.path_rows import factor_mass, solve_mass


@kernel
def cbm(model, ws):
    """Fill ws.udot from evaluated kinematics; leaves the factor of M in ws.Mr."""
    composite_bodies(model, ws)
    mass_rows(model, ws)
    generalized_forces(model, ws)
    status = factor_mass(model, ws)
    if status == 0:
        for s in range(ws.udot.size):
            ws.udot[s] = ws.Q[s]
        solve_mass(model, ws, ws.udot)
    return status
