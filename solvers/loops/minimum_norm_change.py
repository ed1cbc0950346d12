"""Minimum-norm change of speeds or coordinates that removes a residual of the constraint rows: Δ =
-W Jᵀ (J W Jᵀ + damping)⁻¹ r.

W is the inverse mass matrix, so that the correction has the least kinetic energy, or the diagonal
`loop_weight`. The damping keeps rounding errors from being amplified in directions that the
constraints hardly determine, as near singular positions.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.elements.chosen import element_departure, has_own_tangent, retract_element
from kinetree.solvers.engine.dec import accelerate_all, eliminate_all
from kinetree.solvers.engine.derived_constants import run_phase
from kinetree.solvers.engine.evaluation import place
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_force_response import along, forget_bias, yield_to
from kinetree.solvers.loops.constraint_jacobian import spread_rows
from kinetree.solvers.loops.constraint_residuals import velocity_residual
from kinetree.solvers.loops.envelope_cholesky import factor, form_gram
from kinetree.solvers.loops.factor_solve import solve_factor
from kinetree.solvers.loops.massless_bodies import lend, repay


@kernel
def place_loops(model, ws, t):
    """Compute the positions, velocities and registers that the constraint rows need; return the
    status.
    """
    status = place(model, ws, t, True)
    velocities(model, ws)
    if status == 0 and model.l_k[model.l_kind.size] + model.l_arm.size > 0:
        status = run_phase(model, ws, 2)
    return status


@kernel
def least_change(model, ws, damping, inertia, use):
    """Compute in ws.udot the smallest change that removes ws.loop_r, measured by kinetic energy
    (`inertia`) or weighted by ws.loop_weight.
    """
    if inertia:
        lend(model, ws)
        status = eliminate_all(model, ws)
        if status != 0:
            return status
    spread_rows(model, ws, L.MASSES if inertia else L.WEIGHTS)
    form_gram(model, ws)
    factor(model, ws, damping, use)
    if inertia:
        answer_residual(model, ws)
        return repay(model, ws) if model.ghosts.size > 0 else 0
    solve_residual(model, ws)
    gather_change(model, ws)
    return 0


@kernel
def solve_residual(model, ws):
    """Compute in ws.loop_lam the multipliers that remove ws.loop_r, with the existing factor."""
    for r in range(ws.loop_lam.size):
        ws.loop_lam[r] = -ws.loop_r[r]
    solve_factor(model, ws, ws.loop_lam)


@kernel
def answer_residual(model, ws):
    """Compute in ws.udot the change of least kinetic energy that removes ws.loop_r, with existing
    factor and elimination.
    """
    solve_residual(model, ws)
    forget_bias(model, ws)
    yield_to(model, ws)
    accelerate_all(model, ws)


@kernel
def row_rates(model, ws, t):
    """Compute ws.loop_r = J u for the speeds ws.u, without the explicit rates of the rows by time,
    states and inputs.
    """
    place_loops(model, ws, t)
    velocity_residual(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_d[r] = ws.loop_r[r]
    for j in range(ws.u.size):
        ws.u[j] = -ws.u[j]
    place_loops(model, ws, t)
    velocity_residual(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_r[r] = 0.5 * (ws.loop_d[r] - ws.loop_r[r])
    for j in range(ws.u.size):
        ws.u[j] = -ws.u[j]


@kernel
def gather_change(model, ws):
    """Compute ws.udot = W Jᵀ λ with the weights W = ws.loop_weight."""
    for j in range(ws.udot.size):
        ws.udot[j] = 0.0
    for g in range(model.l_kind.size):
        own = model.l_row[g]
        for e in range(model.l_at[g], model.l_at[g + 1]):
            first = model.u_at[model.l_body[e]]
            rows = model.l_row[g + 1] - own
            for k in range(model.u_at[model.l_body[e] + 1] - first):
                ws.udot[first + k] += along(ws, model.l_x[e] + rows * k, own, rows)


@kernel
def retract(model, ws, change, scale):
    """Move the coordinates ws.q by `scale` times a change expressed along the speeds."""
    for j in range(model.u_q.size):
        if model.u_q[j] >= 0:
            ws.q[model.u_q[j]] += scale * change[j]
    for e in range(model.e_kind.size):
        if has_own_tangent(model.e_kind[e]):
            retract_element(model, ws, e, (change, scale))


@kernel
def departure(model, ws, q, out):
    """Compute the difference between ws.q and coordinates q, expressed along the speeds: the
    inverse of `retract`.
    """
    for j in range(model.u_q.size):
        if model.u_q[j] >= 0:
            out[j] = ws.q[model.u_q[j]] - q[model.u_q[j]]
    for e in range(model.e_kind.size):
        if has_own_tangent(model.e_kind[e]):
            element_departure(model, ws, e, (q, out))
