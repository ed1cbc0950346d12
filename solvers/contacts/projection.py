"""Projection onto closed contacts: their gaps and approach velocities are made zero, together with
loop constraints.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.complementarity import guess_modes, solve_modes
from kinetree.solvers.contacts.contact_jacobian import (
    CRAWL_SPEED,
    OVERLAP_TOLERANCE,
    gap_of,
    row_velocity,
)
from kinetree.solvers.contacts.contact_modes import (
    OVERRUN,
    any_closed,
    any_overrun,
    is_closed,
    slides,
)
from kinetree.solvers.contacts.forces import store_slip_directions
from kinetree.solvers.contacts.impacts import factor_at_position
from kinetree.solvers.contacts.responses import (
    apply_rows,
    begin_response,
    compute_mobility,
    list_rows,
    respond_alone,
)
from kinetree.solvers.contacts.slip_directions import problem_scales
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import ITERATIONS, project, reach, speed_scale
from kinetree.solvers.loops.minimum_norm_change import place_loops, retract

DRIVEN_TOGETHER = int(L.Status.DRIVEN_TOGETHER)
CLOSED_TOLERANCE = 1e-13  # relative to the reach, or to the largest speed: less needs no correction


@kernel
def collect_gaps(model, ws):
    """Write the gaps of closed and overrun contacts as residuals; return the largest [m]."""
    worst = 0.0
    for k in range(model.c_law.size):
        ws.c_included[k] = 1.0 if is_closed(ws, k) or ws.c_impact[k] == OVERRUN else 0.0
        ws.c_mu[k] = 0.0
        ws.c_b[model.c_row[k]] = gap_of(model, ws, k)
        if ws.c_included[k] == 1.0:
            worst = max(worst, abs(ws.c_b[model.c_row[k]]))
    return worst


@kernel
def collect_velocities(model, ws):
    """Write the velocities that closed contacts exclude as residuals; return the largest [m/s]."""
    worst = 0.0
    for k in range(model.c_law.size):
        ws.c_included[k] = 1.0 if is_closed(ws, k) else 0.0
        if ws.c_impact[k] == OVERRUN and not is_closed(ws, k):
            r = model.c_row[k]
            ws.c_included[k], ws.c_mu[k] = 1.0, 0.0
            ws.c_b[r] = row_velocity(model, ws, r) - ws.c_share[k]
            worst = max(worst, abs(ws.c_b[r]))
        elif ws.c_included[k] == 1.0:
            first = model.c_row[k]
            ws.c_mu[k] = 0.0 if slides(ws, k) else 1.0
            for r in range(first, model.c_row[k + 1] if ws.c_mu[k] == 1.0 else first + 1):
                ws.c_b[r] = row_velocity(model, ws, r)
                worst = max(worst, abs(ws.c_b[r]))
    return worst


@kernel
def solve_least_change(model, ws):
    """Compute in ws.udot the minimum-norm correction (weighted by mass) that removes the residuals
    ws.c_b; sliding rows stay free.
    """
    count = list_rows(model, ws)
    status = factor_at_position(model, ws)
    if status == 0:
        status = compute_mobility(model, ws)
    guess_modes(model, ws, 0.0)
    for k in range(model.c_law.size):
        ws.c_hold[k] = 1.0
    top, _ = problem_scales(ws, count, model.c_value.size)
    solve_modes(model, ws, count, top)
    begin_response(model, ws)
    apply_rows(model, ws, ws.c_x, count)
    found = respond_alone(model, ws)
    return status if status != 0 else found


@boundary("state")
def close_contacts(model, ws, t):
    """Remove the gaps of closed contacts, then their velocities; changes ws.q and ws.u but no slip
    direction.
    """
    worst = 0.0
    for level in range(2):
        for _ in range(ITERATIONS):
            status = place_loops(model, ws, t)
            if status != 0:
                return status
            before = worst
            worst = collect_gaps(model, ws) if level == 0 else collect_velocities(model, ws)
            enough = CLOSED_TOLERANCE * (reach(model, ws) if level == 0 else speed_scale(ws))
            if worst <= enough or (0.0 < before < 10.0 * worst):
                break
            status = solve_least_change(model, ws)
            if status != 0:
                return status
            if level == 0:
                retract(model, ws, ws.udot, 1.0)
            else:
                for j in range(ws.u.size):
                    ws.u[j] += ws.udot[j]
        worst = 0.0
    return 0


@kernel
def is_driven_together(model, ws, k):
    """Return whether the bodies of contact k approach although no coordinate can yield."""
    return row_velocity(model, ws, model.c_row[k]) < -CRAWL_SPEED * speed_scale(ws)


@boundary("state")
def project_contacts(model, ws, t):
    """Project a state onto closed contacts; return the status, DRIVEN_TOGETHER if that is
    impossible.
    """
    status = close_contacts(model, ws, t)
    for k in range(ws.c_mode.size):
        if (
            status == 0
            and is_closed(ws, k)
            and gap_of(model, ws, k) < -OVERLAP_TOLERANCE
            and is_driven_together(model, ws, k)
        ):
            ws.head.item = k
            status = DRIVEN_TOGETHER
    if status == 0:
        store_slip_directions(model, ws)
    return status


@kernel
def is_constrained(model, ws):
    """Return whether loops or closed contacts constrain the state."""
    return model.l_kind.size > 0 or any_closed(ws)


@kernel
def project_constraints(model, ws, t):
    """Project loops and closed contacts; return the status."""
    status = project(model, ws, t) if model.l_kind.size > 0 else 0
    return project_closed_contacts(model, ws, t) if status == 0 else status


@kernel
def project_closed_contacts(model, ws, t):
    """Project closed contacts on closed loops; return the status."""
    status = 0
    if any_closed(ws) or any_overrun(ws):
        status = project_contacts(model, ws, t)
        if status == 0 and model.l_kind.size > 0:
            status = project(model, ws, t)
    return status


@kernel
def close_for_inspection(model, ws, t):
    """Project a state, from which no run continues, onto loops and closed contacts."""
    status = project(model, ws, t) if model.l_kind.size > 0 else 0
    if status == 0 and any_closed(ws):
        status = close_contacts(model, ws, t)
        if status == 0 and model.l_kind.size > 0:
            status = project(model, ws, t)
    return status
