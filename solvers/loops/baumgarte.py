"""Baumgarte stabilisation for hosts that integrate themselves: accelerations correct open loops by
J u̇ = γ - 2 (J u + c)/τ - g/τ² (J. W. Baumgarte, 1972).

The gap decays with the double eigenvalue -1/τ. τ is a third of the time in which the loops move by
about one radian. It is computed from the speeds of the loop joints and, where these reverse, their
accelerations. A host whose steps resolve the motion therefore resolves the correction too, and
errors of one step decay within a few steps. Closed loops are not affected.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import dot3, get3
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_force_response import place_multipliers, respond
from kinetree.solvers.loops.constraint_residuals import position_residual, velocity_residual
from kinetree.solvers.loops.factor_solve import solve_factor

HASTE = 3.0  # 1/τ in units of the rate of the motion: gaps stay within the host's tolerance, explicit hosts take twice the steps


@kernel
def shifted(model, ws, i):
    """Return whether joint i only translates its body, so that its displacement says nothing about
    the size of the mechanism.
    """
    for j in range(model.u_at[i], model.u_at[i + 1]):
        a = get3(ws.col, j * L.COLUMN + L.C_A)
        if dot3(a, a) == 0.0:
            return True
    return False


@kernel
def size_of(model, ws):
    """Return a length [m] that makes translation rates comparable with rotation rates: the largest
    distance between neighbouring loop joints, or radius of gyration.
    """
    top = 0.0
    for e in range(model.l_body.size):
        i = model.l_body[e]
        at = i * L.BODY
        if ws.body[at + L.B_MASS] > 0.0:
            J = at + L.B_J
            top = max(
                top, 0.5 * (ws.body[J] + ws.body[J + 3] + ws.body[J + 5]) / ws.body[at + L.B_MASS]
            )
        if not shifted(model, ws, i):
            d = get3(ws.row, i * L.ROW + L.W_D)
            top = max(top, dot3(d, d))
    return math.sqrt(top) if top > 0.0 else 1.0


@kernel
def rate_of_motion(model, ws):
    """Return the rate [1/s] of the loop motion, √(u² + |u̇|) for the fastest joint speeds u and
    accelerations u̇ on the paths.
    """
    size = size_of(model, ws)
    speed, acceleration = 0.0, 0.0
    for e in range(model.l_body.size):
        i = model.l_body[e]
        if model.joint[i] == L.Joint.FREE:
            continue  # the loop travels with it
        for j in range(model.u_at[i], model.u_at[i + 1]):
            a, shift = get3(ws.col, j * L.COLUMN + L.C_A), get3(ws.col, j * L.COLUMN + L.C_L)
            turning = math.sqrt(dot3(a, a))
            weight = turning if turning > 0.0 else math.sqrt(dot3(shift, shift)) / size
            speed = max(speed, weight * abs(ws.u[j]))
            acceleration = max(acceleration, weight * abs(ws.udot[j]))
    return math.sqrt(speed * speed + acceleration)


@kernel
def pull_closed(model, ws):
    """Add the Baumgarte correction to the accelerations; needs the factor of J M⁻¹ Jᵀ."""
    pull = HASTE * rate_of_motion(model, ws)
    velocities(model, ws)
    position_residual(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_free[r] = ws.loop_lam[r]
        ws.loop_lam[r] = -pull * pull * ws.loop_r[r]
    velocity_residual(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_lam[r] -= 2.0 * pull * ws.loop_r[r]
    solve_factor(model, ws, ws.loop_lam)
    place_multipliers(model, ws)
    respond(model, ws)
    for r in range(ws.loop_r.size):
        ws.loop_lam[r] += ws.loop_free[r]
