"""Rates of the momenta, common to all momentum forms: ṗ_i = (Ȧ_iᵀ − A_iᵀΩ_i) p*_i + A_iᵀF*_i, F* =
TᵀF.

[Sh24] (1.54), (3.12): no gyroscopic forces are needed. Also valid for quasi-velocities, since only
v^r = A u + v̂ is used.
"""

from kinetree.solvers.algebra.spatial import dot6, momentum_cross
from kinetree.solvers.algebra.vectors import get6, sub6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.newton_euler import sweep_down


@kernel
def momentum_rates(model, ws):
    """Compute ws.pdot from ws.ps, evaluated velocities and active forces."""
    for k in range(ws.Fs.size):
        ws.Fs[k] = ws.F[k]
    sweep_down(ws.Fs, model, ws)
    for i in range(1, model.parent.size):
        ps = get6(ws.ps, 6 * i)
        f = sub6(get6(ws.Fs, 6 * i), momentum_cross(get6(ws.v, 6 * i), ps))
        for s in range(model.u_at[i], model.u_at[i + 1]):
            ws.pdot[s] = dot6(get6(ws.Adot, 6 * s), ps) + dot6(get6(ws.A, 6 * s), f)
    return 0
