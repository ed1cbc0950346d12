"""Execution of simultaneous events: cascades of events, then the end of the stage, with event log
and balances.

1. All events whose conditions became true at the instant. First-order states and parameters are set
event by event in the order of the description, each from the values that earlier events left.
Coordinates and speeds of all events are set together, from the values before the instant
(`apply_actions`). 2. Events whose conditions became true by these actions, in a further pass, until
there are none; too many passes are reported as chatter. 3. The end of the stage, if its condition
became true in any pass: its actions, then the next structure (`stage_change`).
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.contacts.forces import (
    monitored_margin,
    monitors_slow_separation,
    release_contact,
)
from kinetree.solvers.contacts.mode_changes import apply_impacts, open_moved_contacts, settle_modes
from kinetree.solvers.engine.derived_constants import prepare
from kinetree.solvers.events.guard_state import (
    EVALUATED_FALSE,
    FALSE,
    FIRED,
    FORCED_OPEN,
    NOT_MARKED,
    PENDING,
    RELEASE_DISTANCE,
    TRUE,
    WAS_CLOSED,
    guard_states,
    has_fired,
    indicators,
    is_marked,
    save_conditions,
)
from kinetree.solvers.events.observed_stages import end_observed_stage
from kinetree.solvers.events.stage_change import change_structure
from kinetree.solvers.instance.balances import write_balances
from kinetree.solvers.instance.memory import (
    normalise_quaternions,
    open_energy_balance,
    refresh,
    structure,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.loops.set_speeds import settle
from kinetree.solvers.sampled.run_block import block_of, run_block
from kinetree.solvers.views import action_at, event_at, guard_at, guard_state_at

CONTACT_NOISE = 1e-12  # m, m/s, m/s2: a contact that has just been judged is on its bound
MAX_PASSES = 100  # of a chain of events at one instant; more are chatter


@boundary("unit")
def run_cascade(I, F, W, t):
    """Execute all marked events at the current time, with the cascade that follows from them;
    return the status.
    """
    model, ws = structure(I, F, W)
    residual = W.energy_residual
    ending = find_stage_end(I, W, model)
    status, passes = 0, 0
    while status == 0 and has_pending_event(I, W, model):
        passes += 1
        status = (
            run_pass(I, F, W, model, ws) if passes <= MAX_PASSES else report_chatter(I, W, model)
        )
        if status == 0:
            mark_newly_true(I, W, model)
            ending = find_stage_end(I, W, model) if ending < 0 else ending
    if status == 0 and ending >= 0:
        status = end_stage(I, F, W, model, ws, ending)
    W.energy_residual = residual
    open_energy_balance(I, F, W)
    return status


@kernel
def find_stage_end(I, W, model):
    """Return the marked guard that ends the stage, or -1."""
    states = guard_states(I, W)
    for k in range(model.header.guards):
        if is_marked(guard_state_at(states, k)) and not is_event(model, k):
            return k
    return -1


@kernel
def is_event(model, k):
    """Return whether guard k belongs to an event or a contact, and not to the end of the stage."""
    return guard_at(model.guards, k).kind != L.Guard.STAGE


@kernel
def has_pending_event(I, W, model):
    """Return whether an event other than the stage end is marked."""
    states, found = guard_states(I, W), False
    for k in range(model.header.guards):
        found = found or (is_marked(guard_state_at(states, k)) and is_event(model, k))
    return found


@kernel
def report_chatter(I, W, model):
    """Return CHATTERING, with the last marked guard in head.item, for a cascade that does not
    terminate.
    """
    states = guard_states(I, W)
    for k in range(model.header.guards):
        if is_marked(guard_state_at(states, k)):
            W.item = k
    return L.Status.CHATTERING.value


@kernel
def run_pass(I, F, W, model, ws):
    """Execute the marked events of one pass together, with balances before and after; return the
    status.
    """
    t, states = W.time, guard_states(I, W)
    first, count = -1, 0
    for k in range(model.header.guards):
        if is_marked(guard_state_at(states, k)) and is_event(model, k):
            first = k if first < 0 else first
            count += 1
    event = log_event(I, W, U.E_RESET, first, count)
    write_balances(event.before, model, ws)
    status = apply_actions(I, F, W, L.Guard.RESET)
    if status == 0 and model.c_law.size > 0 and sets_anything(I, W, model):
        status = open_moved_contacts(model, ws, t)
    if status == 0 and model.c_law.size > 0:
        mark_located_contacts(I, W, model, ws)
        status = apply_impacts(model, ws, t)
        if status == 0 and force_located_contacts(I, W, model, ws):
            status = settle_modes(model, ws, t)
    if status == 0:
        status = refresh(I, F, W, t)
    write_balances(event.after, model, ws)
    record_contact_verdicts(I, W, model, ws)
    return status


@kernel
def sets_anything(I, W, model):
    """Return whether any marked event has an action that sets a value."""
    states, some = guard_states(I, W), False
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        acts = guard.kind == L.Guard.RESET and guard.actions > 0
        some = some or (acts and is_marked(guard_state_at(states, k)))
    return some


@kernel
def mark_located_contacts(I, W, model, ws):
    """Before contacts are solved, mark those that were located to open or slide, and record which
    are closed.
    """
    states = guard_states(I, W)
    for k in range(model.header.guards):
        guard, state = guard_at(model.guards, k), guard_state_at(states, k)
        which = monitored_margin(model, ws, guard.register) if guard.kind == L.Guard.CONTACT else -1
        if state.mark == PENDING and which >= 0:
            state.verdict = FORCED_OPEN
        elif which >= 0 and which % 2 == 0:
            state.verdict = WAS_CLOSED


@kernel
def force_located_contacts(I, W, model, ws):
    """Open contacts, or let them slide, as located, even if round-off left their margin negative;
    return whether any mode changed.
    """
    states, some = guard_states(I, W), False
    for k in range(model.header.guards):
        state = guard_state_at(states, k)
        if state.verdict == FORCED_OPEN:
            which = monitored_margin(model, ws, guard_at(model.guards, k).register)
            some = (which >= 0 and release_contact(model, ws, which, state.noise)) or some
    return some


@kernel
def record_contact_verdicts(I, W, model, ws):
    """Set verdict, condition and noise of the contact guards after all contacts were solved
    together; guards that fired lie on their bound.
    """
    value, states = indicators(I, W, model), guard_states(I, W)
    for k in range(model.header.guards):
        guard, state = guard_at(model.guards, k), guard_state_at(states, k)
        if guard.kind != L.Guard.CONTACT:
            continue
        if monitored_margin(model, ws, guard.register) >= 0:
            state.verdict, state.condition, state.noise = EVALUATED_FALSE, FALSE, 0.0
        elif state.verdict == FORCED_OPEN or state.verdict == WAS_CLOSED:
            state.verdict, state.condition, state.noise = FORCED_OPEN, FALSE, RELEASE_DISTANCE
        elif monitors_slow_separation(model, ws, guard.register):
            state.verdict, state.condition = FORCED_OPEN, FALSE
            state.noise = max(RELEASE_DISTANCE, 2.0 * abs(value[k]))
        else:
            state.noise = max(state.noise if state.verdict == FIRED else 0.0, CONTACT_NOISE)
            state.verdict, state.condition = FIRED, TRUE


@kernel
def mark_newly_true(I, W, model):
    """Mark the events whose conditions became true in the last pass; those that fired in it lie on
    their bound.
    """
    value, states = indicators(I, W, model), guard_states(I, W)
    for k in range(value.size):
        state = guard_state_at(states, k)
        state.mark = NOT_MARKED
        bound = state.noise if state.verdict == FORCED_OPEN else 0.0
        if guard_at(model.guards, k).kind == L.Guard.JUMP:
            continue
        if state.condition == FALSE and value[k] > bound:
            state.condition, state.mark, state.verdict, state.noise = TRUE, PENDING, FIRED, 0.0
        elif value[k] < (-state.noise if has_fired(state) else 0.0):
            state.condition = FALSE


@kernel
def end_stage(I, F, W, model, ws, ending):
    """Execute the actions at the end of the stage and change to the next structure; return the
    status.
    """
    t, states = W.time, guard_states(I, W)
    event = log_event(I, W, U.E_STAGE, ending, 1)
    write_balances(event.before, model, ws)
    for k in range(model.header.guards):
        guard_state_at(states, k).mark = PENDING if k == ending else NOT_MARKED
    guard_state_at(states, ending).verdict = FIRED
    save_conditions(I, W, model)
    status = end_observed_stage(I, F, W, ws, t) if I.blocks > 0 else 0
    if status == 0 and guard_at(model.guards, ending).actions > 0:
        status = apply_actions(I, F, W, L.Guard.STAGE)
        if status == 0:
            status = refresh(I, F, W, t)
    if status == 0 and int(W.stage) + 1 < I.stages:
        status = change_structure(I, F, W, t)
    if status == 0:
        status = refresh(I, F, W, t)
    now_model, now_ws = structure(I, F, W)
    write_balances(event.after, now_model, now_ws)
    return status


@kernel
def log_event(I, W, kind, guard, count):
    """Append an entry to the event log and return its position: time, kind, stage afterwards, guard
    in the stage before, number of simultaneous events.
    """
    event = event_at(W[I.at_events :], int(W.events) % I.logged)
    event.time = W.time
    event.kind = kind
    event.stage = W.stage + (1.0 if kind == U.E_STAGE else 0.0)
    event.guard = guard
    event.count = count
    W.events += 1.0
    W.event_time = W.time
    return event


@kernel
def acts_now(I, W, model, k, kind):
    """Return whether guard k is marked and of the given kind."""
    marked = is_marked(guard_state_at(guard_states(I, W), k))
    return marked and guard_at(model.guards, k).kind == kind


@kernel
def apply_actions(I, F, W, kind):
    """Execute the actions of all marked guards of one kind; registers hold the state before them."""
    model, ws = structure(I, F, W)
    status, fresh, parameters = 0, True, False
    for k in range(model.header.guards):
        if acts_now(I, W, model, k, kind) and status == 0:
            if not fresh:
                status = refresh(I, F, W, W.time)
            if status != 0:
                break
            if I.blocks > 0 and kind == L.Guard.RESET:
                status = run_sampled_block(I, F, W, guard_at(model.guards, k).event)
            if status != 0:
                break
            changed = assign_values(model, ws, k)
            fresh = changed == 0
            if changed & 2:
                status = prepare(model, ws)
                parameters = True
    if status == 0:
        status = set_coordinates_and_speeds(I, W, model, ws, kind, parameters)
    if status != 0:
        W.item = ws.head.item
    return status


@kernel
def run_sampled_block(I, F, W, event):
    """Run the sampled block of an event (controller or observer), if it has one, and evaluate its
    results; return the status.
    """
    block = block_of(I, event, int(W.stage))
    if block < 0:
        return 0
    W.sampled = block
    status = run_block(I, F, W, W.time)
    return refresh(I, F, W, W.time) if status == 0 else status


@kernel
def assign_values(model, ws, k):
    """Evaluate all values that guard k sets, then write its states (1) and parameters (2); return
    which of them were written.
    """
    first, count = guard_at(model.guards, k).action, guard_at(model.guards, k).actions
    for a in range(first, first + count):
        ws.new_value[a] = ws.val[action_at(model.actions, a).value]
    changed = 0
    mechanical = ws.q.size + ws.u.size
    for a in range(first, first + count):
        entry = action_at(model.actions, a).entry
        if entry < 0:
            ws.val[action_at(model.actions, a).parameter] = ws.new_value[a]
            changed |= 2
        elif entry >= mechanical:
            ws.x[entry - mechanical] = ws.new_value[a]
            changed |= 1
    return changed


@kernel
def set_coordinates_and_speeds(I, W, model, ws, kind, parameters):
    """Set coordinates and speeds as the marked guards of one kind request; return the status."""
    for k in range(ws.set_mark.size):
        ws.set_mark[k] = 0.0
        ws.set_hold[k] = 0.0
    for k in range(ws.set_q.size):
        ws.set_q[k] = math.nan
    asked = False
    for k in range(model.header.guards):
        if acts_now(I, W, model, k, kind):
            first = guard_at(model.guards, k).action
            for a in range(first, first + guard_at(model.guards, k).actions):
                asked = (
                    note_requested_value(
                        model, ws, action_at(model.actions, a).entry, ws.new_value[a]
                    )
                    or asked
                )
    if not asked and not (parameters and model.l_kind.size > 0):
        return 0
    if write_set_coordinates(model, ws):
        normalise_quaternions(model, ws)
        for k in range(ws.set_q.size):
            ws.set_q[k] = ws.q[k] if not math.isnan(ws.set_q[k]) else math.nan
    return settle(model, ws, W.time)


@kernel
def write_set_coordinates(model, ws):
    """Write the requested coordinates to the state; return whether there are any."""
    some = False
    for k in range(ws.set_q.size):
        if not math.isnan(ws.set_q[k]):
            ws.q[k] = ws.set_q[k]
            some = True
    return some


@kernel
def note_requested_value(model, ws, entry, value):
    """Store the value that an action requests for a coordinate or a speed; return False if it sets
    something else.
    """
    if entry < 0 or entry >= ws.q.size + ws.u.size:
        return False
    if entry >= ws.q.size:
        for k in range(model.set_speed.size):
            if model.set_speed[k] == entry - ws.q.size:
                ws.set_mark[k] = 1.0
                ws.set_to[k] = value
        return True
    ws.set_q[entry] = value
    for k in range(model.set_speed.size):
        j = model.set_speed[k]
        i = model.u_body[j]
        own = model.u_q[j] == entry
        whole = (
            model.u_q[j] < 0 and model.q_at[i] <= entry < model.q_at[i + 1]
        )  # a joint with a quaternion is kept as a whole
        if own or whole:
            ws.set_hold[k] = 1.0
    return True
