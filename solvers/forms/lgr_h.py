"""LGR-H: the first-kind form in Poisson impulses, (ZᵀSM⁻¹SᵀZ) λ = Zᵀ[v̂ − SM⁻¹SᵀA(AᵀA)⁻¹p].

p* = A(AᵀA)⁻¹p + Zλ ; v = M⁻¹Sᵀp* ; q̇ = (AᵀA)⁻¹Aᵀ(Sv − v̂). [Sh24] (1.63)-(1.67).
"""

from kinetree.solvers.algebra.vectors import put6
from kinetree.solvers.forms.constraints import add_constraint_wrenches, free_motion, inverse_inertias, joint_speeds, multipliers
from kinetree.solvers.kernel import kernel
from kinetree.solvers.tree.literal import joint_wrench


@kernel
def lgr_h(model, ws):
    """Fill ws.u, ws.v and ws.ps from ws.p and evaluated positions."""
    status = inverse_inertias(model, ws)
    if status != 0:
        return status
    for i in range(1, model.parent.size):
        put6(ws.ps, 6 * i, joint_wrench(model, ws, i, ws.p))
    for k in range(ws.R.size):
        ws.R[k] = 0.0
    free_motion(ws.v, model, ws, ws.R, ws.ps)
    status = multipliers(model, ws, ws.v, ws.vh)
    if status != 0:
        return status
    add_constraint_wrenches(ws.ps, model, ws)
    free_motion(ws.v, model, ws, ws.R, ws.ps)
    joint_speeds(ws.u, model, ws, ws.v, ws.vh)
    return 0
