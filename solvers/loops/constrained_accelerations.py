"""Accelerations of a mechanism with closed loops: M u̇ = f + Jᵀλ, J u̇ + bias = 0 ([SC24] (17)).

The tree is eliminated, the multipliers follow from J M⁻¹ Jᵀ λ = -(residual of the free tree) in
envelope storage, and one sweep from the root gives the accelerations. Both the residual and the
effect of multipliers are computed at the joints that the constraint rows cross. Redundant rows are
dropped. Near a singular position a direction of the constraints vanishes, and rounding would be
divided by a small sine: within BLUR that direction is released smoothly and restored on the other
side, so that the solution stays on its branch. Cost: linear in the bodies and, for a bounded
envelope, in the loops.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.forces import solve_contact_forces
from kinetree.solvers.engine.dec import accelerate_all, apply_loads, dec, eliminate_all
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.baumgarte import pull_closed
from kinetree.solvers.loops.constraint_force_response import carry, yield_to
from kinetree.solvers.loops.constraint_jacobian import spread_rows
from kinetree.solvers.loops.constraint_residuals import residual_at_rest
from kinetree.solvers.loops.envelope_cholesky import MOVING, factor, form_gram
from kinetree.solvers.loops.factor_solve import solve_factor
from kinetree.solvers.loops.massless_bodies import lend, repay

NEAR_SINGULAR = 1e-5  # squared sine below which the filter is on; (BLUR/NEAR_SINGULAR)^ROUNDS = 1e-18, so that nothing jumps
BLUR = 1e-8  # squared sine at which a direction is let go: an angle of 1e-4, where rounding of the positions makes relative speeds of 1e-7
ROUNDS = 6


@boundary("solve")
def accelerations_of(model, ws):
    """Compute u̇ after `load`: of the tree, with loop constraints and contact forces if there are
    any; return the status.
    """
    status = constrained(model, ws) if model.l_kind.size > 0 else dec(model, ws)
    return solve_contact_forces(model, ws) if status == 0 and model.c_law.size > 0 else status


@kernel
def constrained(model, ws):
    """Compute loop multipliers and accelerations that keep the loops closed, after `load`; return
    the status.
    """
    if model.ghosts.size > 0:
        lend(model, ws)
    apply_loads(model, ws)
    status = eliminate_all(model, ws)
    if status != 0:
        return status
    residual_at_rest(model, ws)
    spread_rows(model, ws, L.MOTION)
    form_gram(model, ws)
    clear = factor(model, ws, 0.0, MOVING)
    for r in range(ws.loop_lam.size):
        ws.loop_lam[r] = -ws.loop_r[r]
    if clear > NEAR_SINGULAR:
        solve_factor(model, ws, ws.loop_lam)
        ws.head.factored = 1.0
    else:
        form_gram(model, ws)
        factor(model, ws, BLUR, MOVING)
        solve_filtered(model, ws)
    yield_to(model, ws)
    accelerate_all(model, ws)
    ws.head.carried = 0.0
    if ws.head.stabilised != 0.0 or model.ghosts.size > 0:
        carry(model, ws)
    if ws.head.stabilised != 0.0:
        pull_closed(model, ws)
    return repay(model, ws) if model.ghosts.size > 0 else 0


@kernel
def solve_filtered(model, ws):
    """Compute loop multipliers by iterated regularisation: nearly redundant directions (relative
    size s) are damped by 1 - (BLUR/(s + BLUR))^ROUNDS.
    """
    solve_factor(model, ws, ws.loop_lam)
    for _ in range(ROUNDS - 1):
        for k in range(model.l_kind.size):
            for r in range(model.l_row[k], model.l_row[k + 1]):
                half = model.l_part[r] // 3
                ws.loop_lam[r] = BLUR * ws.loop_scale[2 * k + half] * ws.loop_lam[r] - ws.loop_r[r]
        solve_factor(model, ws, ws.loop_lam)
