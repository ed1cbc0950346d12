"""Proximal inertia for massless bodies: without it the tree elimination is singular; its effect is
removed by iteration.

With the proximal inertia E the equations (M + E) w = f + Jᵀλ + E w_before, J w = γ are iterated.
The error is multiplied by E/(M + E) per round in the metric of the constrained motion, at most 0.01
if E is small, and the limit does not depend on E. If no constraint determines the motion of the
body the iteration does not converge, which is reported. Cost: two sweeps and a solution per round.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add_to3, get3, put3, scale, sub3
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_force_response import (
    place_multipliers,
    push_nothing,
    respond,
)
from kinetree.solvers.loops.constraint_residuals import increments
from kinetree.solvers.loops.factor_solve import solve_factor

LEAST, ROUNDS = (
    8,
    200,
)  # slopes settle a little later than values, and at rest the values have nothing to settle
SETTLED = 1e-14  # relative change of the ghosts' accelerations in one round


@kernel
def lend(model, ws):
    """Add proximal inertia to the rows of massless bodies before they are eliminated."""
    for k in range(model.ghosts.size):
        at = model.ghosts[k] * L.ROW
        for c in (0, 3, 5):
            ws.row[at + L.W_M + c] += model.lent[2 * k]
            ws.row[at + L.W_J + c] += model.lent[2 * k + 1]
    forget_debts(ws)


@kernel
def forget_debts(ws):
    """Set the accumulated correction for the proximal inertia of massless bodies to zero."""
    for c in range(ws.ghost_w.size):
        ws.ghost_w[c] = 0.0


@kernel
def claim(model, ws):
    """Apply the proximal inertia times the change of acceleration as a load on every massless body;
    return the largest relative change.
    """
    worst = 0.0
    push_nothing(ws)
    for k in range(model.ghosts.size):
        i = model.ghosts[k]
        da = get3(ws.row, i * L.ROW + L.W_DA)
        db = get3(ws.row, i * L.ROW + L.W_DB)
        more_a = sub3(da, get3(ws.ghost_w, 6 * k))
        more_b = sub3(db, get3(ws.ghost_w, 6 * k + 3))
        add_to3(ws.push, 6 * i, scale(model.lent[2 * k], more_b))
        add_to3(ws.push, 6 * i + 3, scale(model.lent[2 * k + 1], more_a))
        put3(ws.ghost_w, 6 * k, da)
        put3(ws.ghost_w, 6 * k + 3, db)
        for c in range(3):
            worst = max(worst, abs(more_a[c]) / (1.0 + abs(da[c])))
            worst = max(worst, abs(more_b[c]) / (1.0 + abs(db[c])))
    return worst


@kernel
def repay(model, ws):
    """Remove the effect of the proximal inertia from a solution of the constrained equations; needs
    the factor of J (M + E)⁻¹ Jᵀ. Return the status.
    """
    for j in range(ws.push_u.size):
        ws.push_u[j] = 0.0
    for r in range(ws.loop_lam.size):
        ws.loop_r[r] = ws.loop_lam[r]
    increments(model, ws, ws.loop_d)
    status = L.Status.SINGULAR_JOINT.value
    for n in range(ROUNDS):
        if claim(model, ws) <= SETTLED and n >= LEAST:
            status = 0
            break
        respond(model, ws)
        increments(model, ws, ws.loop_lam)
        for r in range(ws.loop_lam.size):
            ws.loop_lam[r] = ws.loop_d[r] - ws.loop_lam[r]
        solve_factor(model, ws, ws.loop_lam)
        place_multipliers(model, ws)
        respond(model, ws)
        for r in range(ws.loop_lam.size):
            ws.loop_r[r] += ws.loop_lam[r]
    for r in range(ws.loop_lam.size):
        ws.loop_lam[r] = ws.loop_r[r]
    if status != 0:
        ws.head.item = model.ghosts[0]
    return status
