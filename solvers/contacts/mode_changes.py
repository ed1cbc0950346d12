"""Contact modes at an instant: impulses first, then which contacts are closed, stick or slide
afterwards.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.contact_jacobian import (
    OVERLAP_TOLERANCE,
    gap_of,
    row_velocity,
    set_unit_direction,
)
from kinetree.solvers.contacts.contact_modes import (
    CLOSED_ON_TRIAL,
    NOT_INVOLVED,
    OPEN,
    SLIDE,
    SLIP_KEPT,
    has_part,
    is_closed,
    is_located,
    slides,
    sticks,
)
from kinetree.solvers.contacts.forces import change_modes, close_contact
from kinetree.solvers.contacts.impacts import STILL_SPEED, apply_impulses, slip_after_impact
from kinetree.solvers.contacts.projection import (
    DRIVEN_TOGETHER,
    is_driven_together,
    project_constraints,
)
from kinetree.solvers.engine.evaluation import load
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.constrained_accelerations import accelerations_of
from kinetree.solvers.loops.constraint_projection import speed_scale
from kinetree.solvers.loops.minimum_norm_change import place_loops

PENETRATES = int(L.Status.PENETRATES)
PARTED_GAP = 1e-9  # m: closed contacts have smaller gaps, by the errors of projections


@kernel
def evaluate_accelerations(model, ws, t):
    """Compute accelerations and contact forces; return the status."""
    status = load(model, ws, t)
    return accelerations_of(model, ws) if status == 0 else status


@kernel
def sticks_on_trial(model, ws, k):
    """Return whether contact k sticks tentatively: its slip has reversed and is slow."""
    r = model.c_row[k]
    return (
        sticks(ws, k)
        and has_part(ws, k)
        and model.c_row[k + 1] - r == 3
        and slip_after_impact(ws, r) > STILL_SPEED * speed_scale(ws)
    )


@kernel
def any_on_trial(model, ws):
    """Return whether any contact is tentatively closed or tentatively sticks."""
    found = False
    for k in range(ws.c_mode.size):
        found = (
            found
            or (ws.c_impact[k] == CLOSED_ON_TRIAL and is_closed(ws, k))
            or sticks_on_trial(model, ws, k)
        )
    return found


@kernel
def end_trials(model, ws):
    """Open the tentatively closed contacts that have no pressure; let tentatively sticking ones
    slide if friction cannot hold them.

    The latter keep their velocity and slip in the direction in which they are accelerated.
    """
    for k in range(model.c_law.size):
        r = model.c_row[k]
        if ws.c_impact[k] == CLOSED_ON_TRIAL and is_closed(ws, k) and not ws.c_lam[r] > 0.0:
            ws.c_mode[k] = OPEN
        elif sticks_on_trial(model, ws, k) and ws.c_margin[2 * k + 1] > 0.0:
            close_contact(ws, k, SLIDE)
            ws.c_impact[k] = SLIP_KEPT
            slip = slip_after_impact(ws, r)
            set_unit_direction(
                ws.c_dir,
                k,
                ws.c_rate[r + 1] / slip + 2.0 * ws.c_slip[2 * k],
                ws.c_rate[r + 2] / slip + 2.0 * ws.c_slip[2 * k + 1],
            )


@boundary("state")
def apply_impacts(model, ws, t):
    """Compute the impulses of all touching contacts and their new modes; return the status."""
    status = apply_impulses(model, ws, t)
    if status == 0 and any_on_trial(model, ws):
        status = evaluate_accelerations(model, ws, t)
        end_trials(model, ws)
    if status == 0:
        status = project_constraints(model, ws, t)
    if status == 0:
        restart_slip_directions(model, ws)
        status = settle_modes(model, ws, t)
    return report_driven_together(model, ws) if status == 0 else status


@kernel
def starts_slip(ws, k):
    """Return whether contact k slides after the current impact with a slip velocity of its own."""
    return slides(ws, k) and has_part(ws, k) and ws.c_impact[k] != SLIP_KEPT


@kernel
def restart_slip_directions(model, ws):
    """Reset the slip directions that were reversed when slowly separating contacts were closed."""
    still = STILL_SPEED * speed_scale(ws)
    for k in range(ws.c_mode.size):
        r = model.c_row[k]
        ws.c_along[k] = 0.0
        if starts_slip(ws, k) and model.c_row[k + 1] - r == 3:
            x, y = row_velocity(model, ws, r + 1), row_velocity(model, ws, r + 2)
            if math.hypot(x, y) > still:
                set_unit_direction(ws.c_dir, k, x, y)


@kernel
def report_driven_together(model, ws):
    """Return DRIVEN_TOGETHER, with the contact in head.item, if prescribed motions press bodies
    into each other, else 0.
    """
    for k in range(ws.c_mode.size):
        if has_part(ws, k) and is_driven_together(model, ws, k):
            ws.head.item = k
            return DRIVEN_TOGETHER
    return 0


@kernel
def settle_modes(model, ws, t):
    """Change contact modes until the forces contradict none of them; return the status."""
    status = 0
    for _ in range(3 * model.c_law.size + 1):
        if status == 0:
            status = evaluate_accelerations(model, ws, t)
        if status != 0 or not change_modes(model, ws):
            break
    return status


@kernel
def report_overlap(model, ws):
    """Return PENETRATES, with the contact in head.item, if bodies overlap although no host has
    stepped them into each other; else 0.
    """
    for k in range(ws.c_mode.size):
        if gap_of(model, ws, k) < -OVERLAP_TOLERANCE and not is_located(ws, k):
            ws.head.item = k
            return PENETRATES
    return 0


@boundary("state")
def open_moved_contacts(model, ws, t):
    """Open the closed contacts that event actions have moved apart; return PENETRATES if bodies
    overlap now.
    """
    status = place_loops(model, ws, t)
    for k in range(ws.c_mode.size):
        if status == 0 and is_closed(ws, k) and gap_of(model, ws, k) > PARTED_GAP:
            ws.c_mode[k] = OPEN
    return report_overlap(model, ws) if status == 0 else status


@kernel
def initialise_contacts(model, ws, t):
    """Find the closed contacts at the start of a run and apply impacts; return PENETRATES if bodies
    overlap.
    """
    for k in range(ws.c_mode.size):
        ws.c_mode[k] = OPEN
        ws.c_impact[k] = NOT_INVOLVED
    status = place_loops(model, ws, t)
    if status == 0:
        status = report_overlap(model, ws)
    return apply_impacts(model, ws, t) if status == 0 else status
