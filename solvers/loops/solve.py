"""Accelerations of a mechanism with closed loops: M u̇ = f + Jᵀλ, J u̇ + bias = 0 ([SC24] (17)).

The tree is solved by elimination, the multipliers from J M⁻¹ Jᵀ λ = -(residual of the free tree) in envelope storage, the tree once more for its
response. Redundant rows are dropped. Cost: linear in the bodies and, for a bounded envelope, in the loops.
"""

from kinetree.solvers.forms.dec import dec
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.envelope import factor, form_gram, solve_factor
from kinetree.solvers.loops.residual import acceleration_residual
from kinetree.solvers.loops.response import place_multipliers, respond
from kinetree.solvers.loops.rows import spread_rows


@kernel
def accelerations_of(model, ws):
    """u̇ after `load`: of the tree, or under its loop constraints."""
    status = dec(model, ws)
    if status == 0 and model.l_kind.size > 0:
        constrain(model, ws)
    return status


@kernel
def constrain(model, ws):
    """Multipliers and the accelerations that keep the loops closed, after `dec`."""
    spread_rows(model, ws, True)
    form_gram(model, ws)
    factor(model, ws, 0.0, True)
    acceleration_residual(model, ws)
    for r in range(ws.loop_lam.size):
        ws.loop_lam[r] = -ws.loop_r[r]
    solve_factor(model, ws, ws.loop_lam)
    place_multipliers(model, ws)
    respond(model, ws)
