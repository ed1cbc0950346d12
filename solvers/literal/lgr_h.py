"""LGR-H: Lagrange's equations of the first kind in Poisson impulses (momenta), (ZᵀSM⁻¹SᵀZ) λ =
Zᵀ[v̂ − SM⁻¹SᵀA(AᵀA)⁻¹p].

p* = A(AᵀA)⁻¹p + Zλ ; v = M⁻¹Sᵀp* ; q̇ = (AᵀA)⁻¹Aᵀ(Sv − v̂). [Sh24] (1.63)-(1.67).
"""

from kinetree.solvers.algebra.vectors import put6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.body_axes_kinematics import joint_wrench
from kinetree.solvers.literal.multiplier_matrix import (
    add_reactions,
    constraint_wrenches,
    free_bodies,
    inverse_inertias,
    joint_speeds,
    multipliers,
)


@kernel
def lgr_h(model, ws):
    """Compute ws.u, ws.v and ws.ps by LGR-H from ws.p and evaluated positions; return the status."""
    status = inverse_inertias(model, ws)
    if status != 0:
        return status
    for i in range(1, model.parent.size):
        put6(ws.R, 6 * i, joint_wrench(model, ws, i, ws.p))
    velocities_of(ws.R, model, ws)
    status = multipliers(model, ws, ws.v, ws.vh)
    if status != 0:
        return status
    constraint_wrenches(ws.ps, model, ws)
    for k in range(6, ws.ps.size):
        ws.ps[k] += ws.R[k]
    velocities_of(ws.ps, model, ws)
    joint_speeds(ws.u, model, ws, ws.v, ws.vh)
    return 0


@kernel
def velocities_of(ps, model, ws):
    """Compute the velocities ws.v = M⁻¹Sᵀp*; scratch: ws.Fs."""
    for k in range(ws.Fs.size):
        ws.Fs[k] = 0.0
    add_reactions(ws.Fs, model, ws, ps)
    free_bodies(ws.v, model, ws, ws.Fs)
