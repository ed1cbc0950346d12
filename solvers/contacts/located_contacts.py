"""Contacts at located events, and contact indicators for model exchange hosts.

A host sees only the signs of indicators at the ends of its steps, and searches for the root if a
sign changes. An open contact touches when its gap is zero and its bodies approach. After a bounce
or an opening the gap may be zero by rounding, or negative by the host's step error; its indicator
is kept negative until the bodies approach again. So the next touch changes a sign however short the
flight is, and bodies do not pass through a contact that the host has overrun.
"""

import math

from kinetree.solvers.contacts.contact_jacobian import (
    OVERLAP_TOLERANCE,
    REST_SPEED,
    contact_number,
    gap_of,
    row_acceleration,
    row_velocity,
    set_unit_direction,
)
from kinetree.solvers.contacts.contact_modes import LOCATED, OVERRUN, is_closed, slides
from kinetree.solvers.contacts.forces import slip_speed
from kinetree.solvers.contacts.slip_directions import MARGIN_SAFETY
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_projection import speed_scale

SEPARATED_GAP = 1e-12  # m: what is told at least of a contact whose bodies do not approach, beyond the roundings of indicators
STEADY_SPEED = 1e-12  # relative to the largest speed: slower approaches are roundings of speeds on closed loops
MARGIN_NOISE = 1e-3  # of SURE: as far the margin of one state differs with the guess from which the forces were found


@kernel
def is_separating(model, ws, k):
    """Return whether contact k is open and its bodies do not approach."""
    return not is_closed(ws, k) and row_velocity(
        model, ws, model.c_row[k]
    ) >= -STEADY_SPEED * speed_scale(ws)


@kernel
def separate_indicators(model, ws):
    """Make the event indicators of separating contacts negative."""
    for k in range(model.c_law.size):
        if is_separating(model, ws, k):
            register = model.c_guard[2 * k]
            ws.val[register] = min(ws.val[register], -SEPARATED_GAP)


@kernel
def monitors_separating_contact(model, ws, register):
    """Return whether a guard monitors an open contact whose bodies do not approach."""
    found = False
    for k in range(model.c_law.size):
        found = found or (model.c_guard[2 * k] == register and is_separating(model, ws, k))
    return found


@kernel
def is_grazing(model, ws, register):
    """Return whether a guard monitors an open contact whose gap is tiny and nearly constant
    (grazing).
    """
    found = False
    for k in range(model.c_law.size):
        if model.c_guard[2 * k] == register and not is_closed(ws, k):
            found = gap_of(model, ws, k) <= OVERLAP_TOLERANCE and abs(
                row_velocity(model, ws, model.c_row[k])
            ) <= contact_number(model, ws, k, REST_SPEED)
    return found


@kernel
def rewind_to_touch(model, ws, k):
    """Prepare a contact that a host has stepped over for its impact: its normal velocity becomes
    that at first touch, √(v² - 2 a g) for gap g and acceleration a.
    """
    r = model.c_row[k]
    v, a = row_velocity(model, ws, r), row_acceleration(model, ws, r)
    ws.c_impact[k], ws.c_share[k] = (
        OVERRUN,
        -math.sqrt(max(0.0, v * v - 2.0 * a * gap_of(model, ws, k))),
    )


@kernel
def prepare_located_contact(model, ws, register):
    """Prepare the contact of a located guard for the event.

    An open contact touches; at a slip reversal the slip is taken as opposite to the stored
    direction.
    """
    for k in range(model.c_law.size):
        if model.c_guard[2 * k] == register and not is_closed(ws, k):
            ws.c_impact[k] = LOCATED
        elif (
            model.c_row[k + 1] - model.c_row[k] == 3
            and model.c_guard[2 * k + 1] == register
            and slides(ws, k)
        ):
            r = model.c_row[k]
            x, y = row_velocity(model, ws, r + 1), row_velocity(model, ws, r + 2)
            if math.hypot(x, y) <= contact_number(model, ws, k, REST_SPEED):
                set_unit_direction(ws.c_dir, k, -x, -y)


@kernel
def prepare_contact_located_by_host(model, ws, register):
    """Prepare the contact of a guard that a host has located, or stepped over."""
    prepare_located_contact(model, ws, register)
    for k in range(model.c_law.size):
        if (
            model.c_guard[2 * k] == register
            and ws.c_impact[k] == LOCATED
            and not is_closed(ws, k)
            and gap_of(model, ws, k) < -SEPARATED_GAP
        ):
            rewind_to_touch(model, ws, k)


@kernel
def follow_unseen_reversal(model, ws, register):
    """Reverse the stored slip direction if the velocity has reversed without an event; return
    whether it had.
    """
    for k in range(model.c_law.size):
        if (
            model.c_row[k + 1] - model.c_row[k] == 3
            and model.c_guard[2 * k + 1] == register
            and slides(ws, k)
            and slip_speed(model, ws, k) < 0.0
        ):
            ws.c_dir[2 * k], ws.c_dir[2 * k + 1] = -ws.c_dir[2 * k], -ws.c_dir[2 * k + 1]
            return True
    return False


@kernel
def margin_noise(model, ws):
    """Return the round-off level of contact margins [m/s²]."""
    motion = 0.0
    for k in range(model.c_law.size):
        if is_closed(ws, k):
            for r in range(model.c_row[k], model.c_row[k + 1]):
                motion = max(motion, abs(ws.c_b[r]))
    return MARGIN_NOISE * MARGIN_SAFETY * motion
