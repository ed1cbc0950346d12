"""LGR: Lagrange's equations of the first kind (joint multipliers), (ZᵀSM⁻¹SᵀZ) λ = Zᵀ(w' − S
M⁻¹F'), R = Zλ, w = M⁻¹(SᵀR + F'), q̈ = (AᵀA)⁻¹Aᵀ(Sw − w').

[Sh24] (1.43)-(1.46), (2.24)-(2.26); cost (4.3): linear in N on chains, cubic on stars. Every body
needs an invertible M_i.
"""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.multiplier_matrix import (
    add_reactions,
    constraint_wrenches,
    free_bodies,
    inverse_inertias,
    joint_speeds,
    multipliers,
)


@kernel
def lgr(model, ws):
    """Compute ws.udot, ws.w and ws.reaction by LGR from evaluated kinematics; return the status."""
    status = inverse_inertias(model, ws)
    if status != 0:
        return status
    free_bodies(ws.w, model, ws, ws.Fp)
    status = multipliers(model, ws, ws.w, ws.wp)
    if status != 0:
        return status
    for k in range(ws.Fs.size):
        ws.Fs[k] = ws.Fp[k]
    constraint_wrenches(ws.reaction, model, ws)
    add_reactions(ws.Fs, model, ws, ws.reaction)
    free_bodies(ws.w, model, ws, ws.Fs)
    joint_speeds(ws.udot, model, ws, ws.w, ws.wp)
    return 0
