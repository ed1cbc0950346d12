"""State of the event guards: one record GUARD_STATE per guard, in the memory of the root finder.

This module owns the record: its constants and predicates, and what is known of conditions across a
restart (CONDITION per event of the description). The values of the guards are stored in vectors.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.contacts.forces import monitored_margin
from kinetree.solvers.contacts.located_contacts import monitors_separating_contact
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import GuardCourse, GuardMark, GuardPhase, GuardVerdict
from kinetree.solvers.views import condition_at, guard_at, guard_state_at

# blocks of a number per guard: values at `checked`, at the end of the interval, at a trial point;
# slopes at both ends
VALUE, AT_B, AT_TRY, SLOPE_A, SLOPE_B = range(5)
BLOCKS = 5
LOCATOR_HEAD, GUARD_STATE = U.LOCATOR.size, U.GUARD_STATE.size
# the codes of the enumerations as the floats that kernels compare with
KNOWN, UNKNOWN = float(GuardPhase.KNOWN), float(GuardPhase.UNKNOWN)
LEAVING, SIMULTANEOUS = float(GuardPhase.LEAVING), float(GuardPhase.SIMULTANEOUS)
RETURNED = float(GuardPhase.RETURNED)
CLOCKED, SLIP = float(GuardCourse.CLOCKED), float(GuardCourse.SLIP)
NOT_MARKED, PENDING = float(GuardMark.NONE), float(GuardMark.PENDING)
RELEASE_FOUND, EVENT_FOUND = float(GuardMark.RELEASE_FOUND), float(GuardMark.EVENT_FOUND)
NO_VERDICT, FIRED = float(GuardVerdict.NONE), float(GuardVerdict.FIRED)
EVALUATED_FALSE = float(GuardVerdict.EVALUATED_FALSE)
FORCED_OPEN, WAS_CLOSED = float(GuardVerdict.FORCED_OPEN), float(GuardVerdict.WAS_CLOSED)
FALSE, NOT_KNOWN = float(L.Condition.FALSE), float(L.Condition.UNKNOWN)
TRUE, JUST_FIRED = float(L.Condition.TRUE), float(L.Condition.JUST_FIRED)
EVALUATED = float(L.Condition.EVALUATED)
NEVER = 2.0  # `direction` of a guard whose changes of sign are no events
SUSPECTED = -1.0  # `unresolved_size` of a guard that one shortest part has not resolved
RELEASE_DISTANCE = 1e-9  # m, m/s: what opens without speed leaves its bound more slowly than this


@kernel
def locator_size(guards, states):
    """Return the length of the root finder's memory for given numbers of guards and states."""
    return LOCATOR_HEAD + (GUARD_STATE + BLOCKS) * guards + states


@kernel
def guard_state(ev, k):
    """Return the record of guard k in the memory of the root finder."""
    return guard_state_at(ev[LOCATOR_HEAD:], k)


@kernel
def guard_states(I, W):
    """Return the table of GUARD_STATE records of all guards of a unit."""
    return W[I.at_locator + LOCATOR_HEAD :]


@kernel
def guard_values(ev, j):
    """Return the view of block j of the root finder's memory: one value per guard."""
    ng = int(ev.guards)
    first = LOCATOR_HEAD + GUARD_STATE * ng
    return ev[first + j * ng : first + (j + 1) * ng]


@kernel
def trial_state(ev):
    """Return scratch memory for one state in the memory of the root finder."""
    first = LOCATOR_HEAD + (GUARD_STATE + BLOCKS) * int(ev.guards)
    return ev[first : first + int(ev.states)]


@kernel
def indicators(I, W, model):
    """Return the view of the guard values of the current structure, which `refresh` evaluates."""
    return W[I.at_guards : I.at_guards + model.header.guards]


@kernel
def has_fired(guard):
    """Return whether a guard became true, or its contact opened or closed, at this instant."""
    return guard.verdict == FIRED or guard.verdict == FORCED_OPEN or guard.verdict == WAS_CLOSED


@kernel
def is_marked(guard):
    """Return whether a guard is marked for execution."""
    return guard.mark != NOT_MARKED


@kernel
def begin_located_instant(I, W, model, ev):
    """Start the cascade at an instant that the root finder has located.

    Fired guards get their verdict, all guards the condition before the instant and their noise.
    `indicators` holds the values evaluated after the loops were closed; their difference from the
    values on the dense output counts as noise.
    """
    located, value = guard_values(ev, VALUE), indicators(I, W, model)
    for k in range(value.size):
        guard = guard_state(ev, k)
        guard.verdict = FIRED if is_marked(guard) else NO_VERDICT
        guard.condition = guard.sign if guard.sign != 0.0 else math.copysign(1.0, value[k])
        guard.noise = 4.0 * abs(value[k]) + 2.0 * abs(located[k] - value[k])


@kernel
def save_conditions(I, W, model):
    """Store which conditions are true, and which events just occurred, before the structure
    changes.
    """
    states = guard_states(I, W)
    for k in range(model.header.guards):
        event, guard = guard_at(model.guards, k).event, guard_state_at(states, k)
        if event >= 0:
            saved = condition_at(W[I.at_conditions :], event)
            saved.condition = JUST_FIRED if has_fired(guard) else guard.condition
            saved.noise = guard.noise


@kernel
def save_signs(I, W, model):
    """Store the signs known to the root finder before a restart in the same structure."""
    states = guard_states(I, W)
    for k in range(model.header.guards):
        event = guard_at(model.guards, k).event
        if event >= 0:
            saved = condition_at(W[I.at_conditions :], event)
            saved.condition, saved.noise = guard_state_at(states, k).sign, 0.0


@kernel
def forget_conditions(I, W):
    """Clear the stored conditions and occurrences of all events."""
    for event in range(I.event_names):
        saved = condition_at(W[I.at_conditions :], event)
        saved.condition, saved.noise = NOT_KNOWN, 0.0


@kernel
def mark_contacts_evaluated(I, W, model):
    """Mark contacts as evaluated at the start of a run or structure."""
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if guard.kind == L.Guard.CONTACT:
            condition_at(W[I.at_conditions :], guard.event).condition = EVALUATED


@kernel
def restore_conditions(I, W, model, ws, value):
    """Restore which events occurred at this instant in the structure before; return whether any
    did.

    After contacts were solved anew, a closed contact does not count as opened. An open one at zero
    gap leaves its bound, whichever side round-off put it on.
    """
    states, some = guard_states(I, W), False
    for k in range(model.header.guards):
        record, guard = guard_at(model.guards, k), guard_state_at(states, k)
        guard.verdict, guard.noise = NO_VERDICT, 0.0
        known = NOT_KNOWN
        if record.event >= 0:
            known = condition_at(W[I.at_conditions :], record.event).condition
        if known == JUST_FIRED:
            guard.verdict = FIRED
            guard.noise = condition_at(W[I.at_conditions :], record.event).noise
        elif known == EVALUATED and monitored_margin(model, ws, record.register) >= 0:
            guard.verdict = EVALUATED_FALSE
        elif known == EVALUATED and abs(value[k]) <= RELEASE_DISTANCE:
            guard.verdict, guard.noise = FORCED_OPEN, RELEASE_DISTANCE
        some = some or guard.verdict != NO_VERDICT
    return some


@kernel
def mark_initially_due(I, W, model, ws, value):
    """Mark events that are due at the start of a stage; return EVENT or 0."""
    states, found = guard_states(I, W), 0
    for k in range(model.header.guards):
        event, guard = guard_at(model.guards, k).event, guard_state_at(states, k)
        guard.mark = PENDING if ends_stage_at_start(model, ws, k) else NOT_MARKED
        if event >= 0 and value[k] > 0.0:
            if condition_at(W[I.at_conditions :], event).condition == FALSE:
                guard.mark = PENDING
        if is_marked(guard):
            found = L.Status.EVENT.value
    forget_conditions(I, W)
    return found


@kernel
def ends_stage_at_start(model, ws, k):
    """Return whether guard k ends a stage already at its start."""
    event = guard_at(model.guards, k).event
    return event < 0 and ws.val[-1 - event] != 0.0


@kernel
def arm_guards(I, W, model, ws):
    """Arm the guards that may fire under model exchange: negative ones and active stage ends."""
    value, states = indicators(I, W, model), guard_states(I, W)
    for k in range(value.size):
        armed = value[k] < 0.0 or ends_stage_at_start(model, ws, k)
        guard_state_at(states, k).armed = 1.0 if armed else 0.0


@kernel
def disarm_at_bounds(I, W, model, ws):
    """Prevent fired guards at zero from firing again before the host's next complete step.

    Contacts whose bodies separate stay armed: they may touch again.
    """
    value, states = indicators(I, W, model), guard_states(I, W)
    for k in range(value.size):
        guard = guard_state_at(states, k)
        if (
            has_fired(guard)
            and abs(value[k]) <= guard.noise
            and not monitors_separating_contact(model, ws, guard_at(model.guards, k).register)
        ):
            guard.armed = 0.0


@kernel
def note_guard_values(I, W, model):
    """Store the guard values before events that a host requests in the `noise` entries."""
    value, states = indicators(I, W, model), guard_states(I, W)
    for k in range(value.size):
        guard = guard_state_at(states, k)
        guard.noise, guard.verdict = value[k], NO_VERDICT


@kernel
def begin_host_instant(I, W, model):
    """Start the cascade of events that a host requests: verdicts, conditions and noise."""
    value, states = indicators(I, W, model), guard_states(I, W)
    for k in range(value.size):
        guard = guard_state_at(states, k)
        guard.verdict = FIRED if is_marked(guard) else NO_VERDICT
        guard.condition = TRUE if value[k] >= 0.0 else FALSE
        guard.noise = 4.0 * abs(value[k]) + 2.0 * abs(guard.noise - value[k])
