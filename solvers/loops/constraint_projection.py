"""Projection onto the constraints after an integration step: positions, then speeds, each by the
minimum-norm correction weighted by mass.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_residuals import (
    increments,
    largest,
    opening,
    position_residual,
    velocity_residual,
)
from kinetree.solvers.loops.envelope_cholesky import ALL, PLACING
from kinetree.solvers.loops.minimum_norm_change import (
    answer_residual,
    least_change,
    place_loops,
    retract,
)

# residual that needs no correction, in units of the reach: fifty roundings. At an angle δ from a singular position a residual r leaves the speeds
# wrong by r ω/δ² across the constraints, so that anything above rounding would be felt
CLOSED = 1e-14
DRIFT = 1e-9  # m, rad: residual after projection that still counts as closed
DAMPING = 1e-9  # squared sine below which a direction is left alone: a correction there would be rounding divided by 1e-5
ITERATIONS = 12
SLOW = 0.01  # part of a residual that may be left of it where the factor of a neighbour serves: more, and the factor is made anew


@kernel
def look_at_loops(model, ws, t, before):
    """Return status, largest position residual, and whether to stop: it is small, or no longer
    decreases from `before`, or cannot be evaluated.
    """
    status = place_loops(model, ws, t)
    if status != 0:
        return status, before, True
    position_residual(model, ws)
    worst = largest(model, ws)
    return (
        status,
        worst,
        worst <= CLOSED * reach(model, ws)
        or (before > 0.0 and worst <= DRIFT and worst > 0.1 * before),
    )


@kernel
def project_position(model, ws, t):
    """Close the loops by changing ws.q; return the status."""
    worst, status = 0.0, 0
    for _ in range(ITERATIONS):
        status, worst, done = look_at_loops(model, ws, t, worst)
        if done:
            break
        damping = min(1e-3, DAMPING + worst * worst)
        status = least_change(model, ws, damping, True, PLACING)
        if status != 0:
            return status
        retract(model, ws, ws.udot, 1.0)
    if status != 0:
        return status
    return (
        0
        if worst <= DRIFT and opening(ws) <= DRIFT * reach(model, ws)
        else L.Status.INCONSISTENT.value
    )


@kernel
def project_velocity(model, ws, t):
    """Change ws.u to satisfy the velocity constraints; return the status."""
    worst = 0.0
    for _ in range(ITERATIONS):
        status = place_loops(model, ws, t)
        if status != 0:
            return status
        velocity_residual(model, ws)
        before = worst
        worst = largest(model, ws)
        if worst <= CLOSED * speed_scale(ws) or (before > 0.0 and worst > 0.1 * before):
            return 0
        status = least_change(model, ws, DAMPING, True, ALL)
        if status != 0:
            return status
        for j in range(ws.u.size):
            ws.u[j] += ws.udot[j]
    return 0


@kernel
def reach(model, ws):
    """Return the largest coordinate [m] of a point where loops are closed, at least 1."""
    top = 1.0
    for g in range(model.l_kind.size):
        if model.l_kind[g] != L.Loop.COUPLING:
            at = model.l_b[g] * L.ROW + L.W_P
            top = max(top, abs(ws.row[at]), abs(ws.row[at + 1]), abs(ws.row[at + 2]))
    return top


@kernel
def speed_scale(ws):
    """Return the largest absolute speed, at least 1."""
    top = 1.0
    for j in range(ws.u.size):
        top = max(top, abs(ws.u[j]))
    return top


@boundary("state")
def project(model, ws, t):
    """Project ws.q and ws.u onto the position and velocity constraints; return the status."""
    status = project_position(model, ws, t)
    if status == 0:
        status = project_velocity(model, ws, t)
    return status


@boundary("state")
def project_near(model, ws, t):
    """Project a state close to the last evaluated one with the factor of that evaluation, or as
    usual if that fails; return the status.
    """
    return (
        0
        if familiar(model, ws) and positions_near(model, ws, t) and speeds_near(model, ws)
        else project(model, ws, t)
    )


@kernel
def familiar(model, ws):
    """Return whether constraint rows and factor of the last evaluation may be reused for position
    corrections.
    """
    last = model.l_kind.size - 1
    plain = model.header.own_tangents == 0 and model.ghosts.size == 0
    return plain and ws.head.factored != 0.0 and model.l_level[last] == L.POSITIONS


@kernel
def positions_near(model, ws, t):
    """Close the loops by simplified Newton steps; return False if they do not converge at once."""
    before = 0.0
    for n in range(3):
        if place_loops(model, ws, t) != 0:
            return False
        position_residual(model, ws)
        worst = largest(model, ws)
        if worst <= CLOSED * reach(model, ws):
            return opening(ws) <= DRIFT * reach(model, ws)
        if n > 0 and not worst <= SLOW * before:
            return worst <= 10.0 * CLOSED * reach(model, ws) and opening(ws) <= DRIFT * reach(
                model, ws
            )
        before = worst
        answer_residual(model, ws)
        retract(model, ws, ws.udot, 1.0)
    return False


@kernel
def speeds_near(model, ws):
    """Correct the speeds after `positions_near`; residuals are linear in them, so no new evaluation
    is needed.
    """
    velocity_residual(model, ws)
    worst = largest(model, ws)
    for _ in range(3):
        if worst <= CLOSED * speed_scale(ws):
            return True
        answer_residual(model, ws)
        increments(model, ws, ws.loop_d)
        before, worst = worst, 0.0
        for j in range(ws.u.size):
            ws.u[j] += ws.udot[j]
        for r in range(ws.loop_r.size):
            ws.loop_r[r] += ws.loop_d[r]
            worst = max(worst, abs(ws.loop_r[r]))
        if not worst <= SLOW * before:
            return worst <= 10.0 * CLOSED * speed_scale(ws)
    return False
