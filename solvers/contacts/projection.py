"""Projection of gaps and velocities of closed contacts, together with loops."""

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.complementarity import balance, guess, slides
from kinetree.solvers.contacts.forces import follow_slip
from kinetree.solvers.contacts.impacts import free_factors
from kinetree.solvers.contacts.responses import (
    begin_response,
    gather_responses,
    list_rows,
    push_rows,
    respond_alone,
)
from kinetree.solvers.contacts.rows import (
    CRAWL,
    DEEP,
    OVERRUN,
    any_closed,
    any_overrun,
    gap_of,
    is_closed,
    rate_of_row,
)
from kinetree.solvers.contacts.ways import scales
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constraint_projection import ITERATIONS, project, reach, speed_scale
from kinetree.solvers.loops.minimum_norm_change import place_loops, retract

DRIVEN_TOGETHER = int(L.Status.DRIVEN_TOGETHER)
CLOSE = 1e-13  # relative to the reach, or to the largest speed: less needs no correction


@kernel
def take_gaps(model, ws):
    """Write the gaps of closed and overrun contacts as residuals; return the largest."""
    worst = 0.0
    for k in range(model.c_law.size):
        ws.c_take[k] = 1.0 if is_closed(ws, k) or ws.c_near[k] == OVERRUN else 0.0
        ws.c_mu[k] = 0.0
        ws.c_b[model.c_row[k]] = gap_of(model, ws, k)
        if ws.c_take[k] == 1.0:
            worst = max(worst, abs(ws.c_b[model.c_row[k]]))
    return worst


@kernel
def take_rates(model, ws):
    """Write the velocities that closed contacts must not have as residuals; return the largest."""
    worst = 0.0
    for k in range(model.c_law.size):
        ws.c_take[k] = 1.0 if is_closed(ws, k) else 0.0
        if ws.c_near[k] == OVERRUN and not is_closed(ws, k):
            r = model.c_row[k]
            ws.c_take[k], ws.c_mu[k] = 1.0, 0.0
            ws.c_b[r] = rate_of_row(model, ws, r) - ws.c_share[k]
            worst = max(worst, abs(ws.c_b[r]))
        elif ws.c_take[k] == 1.0:
            first = model.c_row[k]
            ws.c_mu[k] = 0.0 if slides(ws, k) else 1.0
            for r in range(first, model.c_row[k + 1] if ws.c_mu[k] == 1.0 else first + 1):
                ws.c_b[r] = rate_of_row(model, ws, r)
                worst = max(worst, abs(ws.c_b[r]))
    return worst


@kernel
def change_held(model, ws):
    """Compute in ws.udot the least change that removes ws.c_b; sliding rows are free."""
    count = list_rows(model, ws)
    status = free_factors(model, ws)
    if status == 0:
        status = gather_responses(model, ws)
    guess(model, ws, 0.0)
    for k in range(model.c_law.size):
        ws.c_hold[k] = 1.0
    top, _ = scales(ws, count, model.c_value.size)
    balance(model, ws, count, top)
    begin_response(model, ws)
    push_rows(model, ws, ws.c_x, count)
    found = respond_alone(model, ws)
    return status if status != 0 else found


@boundary("state")
def lay_on(model, ws, t):
    """Close the gaps of closed contacts, then their velocities; changes ws.q and ws.u, not the directions of slip."""
    worst = 0.0
    for level in range(2):
        for _ in range(ITERATIONS):
            status = place_loops(model, ws, t)
            if status != 0:
                return status
            before = worst
            worst = take_gaps(model, ws) if level == 0 else take_rates(model, ws)
            enough = CLOSE * (reach(model, ws) if level == 0 else speed_scale(ws))
            if worst <= enough or (0.0 < before < 10.0 * worst):
                break
            status = change_held(model, ws)
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
def driven_together(model, ws, k):
    """Return whether the bodies of contact k approach although nothing can yield."""
    return rate_of_row(model, ws, model.c_row[k]) < -CRAWL * speed_scale(ws)


@boundary("state")
def project_contacts(model, ws, t):
    """Project a state onto closed contacts; DRIVEN_TOGETHER if that is impossible."""
    status = lay_on(model, ws, t)
    for k in range(ws.c_mode.size):
        if (
            status == 0
            and is_closed(ws, k)
            and gap_of(model, ws, k) < -DEEP
            and driven_together(model, ws, k)
        ):
            ws.head.item = k
            status = DRIVEN_TOGETHER
    if status == 0:
        follow_slip(model, ws)
    return status


@kernel
def constrained(model, ws):
    """Return whether loops or closed contacts constrain the state."""
    return model.l_kind.size > 0 or any_closed(ws)


@kernel
def keep_closed(model, ws, t):
    """Project loops and closed contacts; return the status."""
    status = project(model, ws, t) if model.l_kind.size > 0 else 0
    return keep_contacts(model, ws, t) if status == 0 else status


@kernel
def keep_contacts(model, ws, t):
    """Project closed contacts on closed loops; return the status."""
    status = 0
    if any_closed(ws) or any_overrun(ws):
        status = project_contacts(model, ws, t)
        if status == 0 and model.l_kind.size > 0:
            status = project(model, ws, t)
    return status


@kernel
def close_for_a_look(model, ws, t):
    """Project loops and contacts of a state that the run does not continue from."""
    status = project(model, ws, t) if model.l_kind.size > 0 else 0
    if status == 0 and any_closed(ws):
        status = lay_on(model, ws, t)
        if status == 0 and model.l_kind.size > 0:
            status = project(model, ws, t)
    return status
