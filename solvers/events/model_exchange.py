"""Events under model exchange: indicators for the host, location, execution.

The states of such a host violate closed loops and closed contacts by the errors of its steps; an
event corrects them. The indicators are therefore evaluated on the corrected state, from which an
event would start. The event instant is the one that the host found, whatever its tolerance. An
event that the host has located is executed whichever side of the bound rounding leaves the guard
on.

Host calls between events may be trial steps. Only marks and slip directions are stored then, and
they take effect when the host continues to a later time.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.forces import monitored_margin, store_slip_directions
from kinetree.solvers.contacts.located_contacts import (
    follow_unseen_reversal,
    margin_noise,
    prepare_contact_located_by_host,
    separate_indicators,
)
from kinetree.solvers.contacts.projection import (
    close_for_inspection,
    is_constrained,
    project_constraints,
)
from kinetree.solvers.events.event_cascade import run_cascade
from kinetree.solvers.events.guard_state import (
    EVENT_FOUND,
    NOT_MARKED,
    PENDING,
    RELEASE_FOUND,
    arm_guards,
    begin_host_instant,
    disarm_at_bounds,
    guard_states,
    indicators,
    mark_initially_due,
    note_guard_values,
)
from kinetree.solvers.instance.derivatives import evaluate_guards, read_guards
from kinetree.solvers.instance.memory import load_states, refresh, structure
from kinetree.solvers.instance.time_breakpoints import host_time, later_side
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import guard_at, guard_state_at

EVERY_POSITIVE, ARMED = 0, 1  # which guards happen: option of unit_event
HELD_SIDE = (
    1e-9  # m or N: as far beyond a jump a law stays on its side until the host has located it
)
GUARD_ROUNDING = 1e-13  # roundings of a guard: bodies that rest on one another have distances of nothing but roundings, of any sign


@kernel
def refresh_for_host(I, F, W, t):
    """Evaluate the current state and its event indicators for a host; return the status."""
    status = refresh(I, F, W, t)
    model, ws = structure(I, F, W)
    if status == 0 and model.c_law.size > 0:
        separate_indicators(model, ws)
        read_guards(indicators(I, W, model), model, ws)
    return status


@kernel
def evaluate_closed_guards(I, F, W, t):
    """Evaluate the guards with loops and closed contacts of the host's state closed, without
    changing that state. Guards stay unchanged if it cannot be closed.
    """
    model, ws = structure(I, F, W)
    if is_constrained(model, ws):
        load_states(I, W, ws)
        instant = host_time(W, t)
        status = close_for_inspection(model, ws, instant)
        if status == 0:
            status = evaluate_guards(model, ws, instant)
        if status == 0:
            separate_indicators(model, ws)
            read_guards(indicators(I, W, model), model, ws)
        load_states(I, W, ws)
    return 0


@kernel
def mark_located_by_host(I, F, W):
    """Mark the events that a host has located, before loops and contacts are closed; return EVENT
    or 0.
    """
    model, ws = structure(I, F, W)
    noise = margin_noise(model, ws) if model.c_law.size > 0 else 0.0
    value, states, found = indicators(I, W, model), guard_states(I, W), 0
    for k in range(value.size):
        state = guard_state_at(states, k)
        state.mark = NOT_MARKED
        closed = monitors_closed_contact(model, ws, k)
        if state.armed != 0.0 and value[k] >= (-noise if closed else 0.0):
            state.mark, found = RELEASE_FOUND if closed else EVENT_FOUND, L.Status.EVENT.value
    return found


@kernel
def monitors_closed_contact(model, ws, k):
    """Return whether guard k monitors a closed contact."""
    guard = guard_at(model.guards, k)
    return guard.kind == L.Guard.CONTACT and monitored_margin(model, ws, guard.register) >= 0


@kernel
def mark_requested_events(I, F, W, option):
    """Mark the events to execute, as `option` says; return whether there are any."""
    model, ws = structure(I, F, W)
    value, states, some = indicators(I, W, model), guard_states(I, W), False
    for k in range(value.size):
        guard, state = guard_at(model.guards, k), guard_state_at(states, k)
        closed = monitors_closed_contact(model, ws, k)
        opens = closed and state.mark == RELEASE_FOUND
        located = opens or (not closed and state.mark == EVENT_FOUND)
        state.mark = NOT_MARKED
        if guard.kind == L.Guard.JUMP:
            state.armed = 0.0 if value[k] >= 0.0 else state.armed
            continue
        if located or (value[k] >= 0.0 and (option == EVERY_POSITIVE or state.armed != 0.0)):
            if guard.kind == L.Guard.CONTACT and not opens:
                prepare_contact_located_by_host(model, ws, guard.register)
            state.mark, some = PENDING, True
    return some


@kernel
def handle_host_events(I, F, W, t, option):
    """Execute the events that a host requests, and those that these cause at once; return the
    status.
    """
    model, ws = structure(I, F, W)
    load_states(I, W, ws)
    instant = later_side(W, t)
    status = refresh_for_host(I, F, W, instant)
    note_guard_values(I, W, model)
    some = mark_requested_events(I, F, W, option)
    if some and status == 0:
        status = project_constraints(model, ws, instant)
        status = refresh(I, F, W, instant) if status == 0 else status
    while some and status == 0:
        stage = W.stage
        begin_host_instant(I, W, model)
        status = run_cascade(I, F, W, instant)
        model, ws = structure(I, F, W)
        some = False
        if status == 0 and W.stage != stage:
            some = mark_initially_due(I, W, model, ws, indicators(I, W, model)) != 0
            note_guard_values(I, W, model)
        if status == 0:
            separate_indicators(model, ws)
            read_guards(indicators(I, W, model), model, ws)
        arm_guards(I, W, model, ws)
        disarm_at_bounds(I, W, model, ws)
    W.time = t
    return status


@kernel
def forget_noted_step(W):
    """Clear the noted step of the host and the end of its event mode."""
    W.noted = math.inf
    W.settled = -math.inf


@kernel
def note_step(I, F, W, t):
    """Note the consequences of a step that a host reports as completed; they count once the host
    continues to a later time (`continue_from`).

    Hosts also report trial points of their search for an event, and points behind it. If an armed
    guard is at or beyond its bound, an event is due that the host has not executed, and nothing is
    noted.
    """
    model, ws = structure(I, F, W)
    value, states = indicators(I, W, model), guard_states(I, W)
    W.noted = math.inf
    if t <= W.settled:
        return 0
    for k in range(value.size):
        if guard_state_at(states, k).armed != 0.0 and value[k] >= 0.0:
            return 0
    noted = W[I.at_noted :]
    swap_noted(noted, model, ws, states)
    adopt_noted(noted, model, ws, states)
    follow_accepted_step(model, ws, value, states)
    swap_noted(noted, model, ws, states)
    W.noted = t
    return 0


@kernel
def continue_from(I, F, W, t):
    """Adopt the noted step if the host continues to a time t after it; discard it if the host goes
    back.
    """
    if t > W.noted:
        model, ws = structure(I, F, W)
        adopt_noted(W[I.at_noted :], model, ws, guard_states(I, W))
    if t != W.noted:
        W.noted = math.inf
    return 0


@kernel
def leave_event_mode(I, F, W, t):
    """At the end of event mode arm the negative guards and select the side of discontinuous laws.
    Return EVENT if a law changed its side, else 0.
    """
    model, ws = structure(I, F, W)
    states, changed = guard_states(I, W), 0
    arm_negative_guards(indicators(I, W, model), states)
    W.noted = math.inf
    W.settled = t
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if guard.kind == L.Guard.JUMP and guard.action >= 0:
            side = HELD_SIDE if guard_state_at(states, k).armed != 0.0 else -HELD_SIDE
            if ws.val[guard.action] != side:
                ws.val[guard.action] = side
                changed = L.Status.EVENT.value
    return changed


@kernel
def arm_negative_guards(value, states):
    """Arm guards whose values are negative by more than rounding."""
    for k in range(value.size):
        if value[k] < -GUARD_ROUNDING:
            guard_state_at(states, k).armed = 1.0


@kernel
def swap_rows(a, b):
    """Exchange the values of two rows; the second is at least as long as the first."""
    for k in range(a.size):
        kept = a[k]
        a[k] = b[k]
        b[k] = kept


@kernel
def swap_noted(noted, model, ws, states):
    """Exchange the armed guards and slip directions with the noted ones."""
    guards, contacts = model.header.guards, model.c_law.size
    for k in range(guards):
        armed = guard_state_at(states, k).armed
        guard_state_at(states, k).armed = noted[k]
        noted[k] = armed
    swap_rows(ws.c_dir, noted[guards:])
    swap_rows(ws.c_along, noted[guards + 2 * contacts :])


@kernel
def adopt_noted(noted, model, ws, states):
    """Copy the noted armed guards and slip directions to the current ones."""
    guards, contacts = model.header.guards, model.c_law.size
    for k in range(guards):
        guard_state_at(states, k).armed = noted[k]
    for k in range(2 * contacts):
        ws.c_dir[k] = noted[guards + k]
    for k in range(contacts):
        ws.c_along[k] = noted[guards + 2 * contacts + k]


@kernel
def follow_accepted_step(model, ws, value, states):
    """Store the slip directions after a step that the host has accepted.

    After a slip-reversal event, the host's errors may leave the slip just before its reversal; it
    then reverses in the next step without an event.
    """
    for k in range(model.header.guards if model.c_law.size > 0 else 0):
        guard, state = guard_at(model.guards, k), guard_state_at(states, k)
        if (
            guard.kind == L.Guard.CONTACT
            and state.armed == 0.0
            and follow_unseen_reversal(model, ws, guard.register)
        ):
            state.armed = 1.0
    if model.c_law.size > 0:
        store_slip_directions(model, ws)
    arm_negative_guards(value, states)


@kernel
def close_host_state(I, F, W, t):
    """Project the states of a host that integrates itself onto the loop constraints and closed
    contacts; return the status.
    """
    model, ws = structure(I, F, W)
    load_states(I, W, ws)
    status = project_constraints(model, ws, t)
    return refresh_for_host(I, F, W, t) if status == 0 else status
