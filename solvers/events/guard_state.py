"""State of the event guards at the current instant, and across a restart of the root finder."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.contacts.forces import monitored_margin
from kinetree.solvers.contacts.located_contacts import monitors_separating_contact
from kinetree.solvers.events.root_finding import FIRED, SIGN, VALUE, guard_values
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import guard_at

RELEASE_DISTANCE = 1e-9  # m, m/s: what opens without speed is on its bound up to here, as it leaves more slowly than the dense output errs


@kernel
def guard_part(W, model, at):
    """Return the view of one number per guard of the present structure from a place on, one of
    I.at_guards, I.at_fired, ...
    """
    return W[at : at + model.header.guards]


@kernel
def begin_located_instant(I, W, model, ev):
    """Copy the results of the root finder: fired guards, earlier values, and round-off levels.

    Values of guards at the instant, evaluated after the loops were closed, are in the part `guards`: what lies within their distance from those
    that the dense output had is noise.
    """
    crossed, sign, located = (
        guard_values(ev, FIRED),
        guard_values(ev, SIGN),
        guard_values(ev, VALUE),
    )
    value, fired, met = (
        guard_part(W, model, I.at_guards),
        guard_part(W, model, I.at_fired),
        guard_part(W, model, I.at_met),
    )
    held, noise = guard_part(W, model, I.at_held), guard_part(W, model, I.at_noise)
    for k in range(value.size):
        fired[k] = 1.0 if crossed[k] != 0.0 else 0.0
        met[k] = fired[k]
        held[k] = sign[k] if sign[k] != 0.0 else math.copysign(1.0, value[k])
        noise[k] = 4.0 * abs(value[k]) + 2.0 * abs(located[k] - value[k])


@kernel
def save_conditions(I, W, model):
    """Store which conditions are true, and which events just occurred, before the structure
    changes.
    """
    met, held, noise = (
        guard_part(W, model, I.at_met),
        guard_part(W, model, I.at_held),
        guard_part(W, model, I.at_noise),
    )
    for k in range(met.size):
        event = guard_at(model.guards, k).event
        if event >= 0:
            W[I.at_truth + 2 * event] = U.TRUE_NOW if met[k] > 0.0 else held[k]
            W[I.at_truth + 2 * event + 1] = noise[k]


@kernel
def save_signs(I, W, model, ev):
    """Store the signs known to the root finder before a restart in the same structure."""
    sign = guard_values(ev, SIGN)
    for k in range(sign.size):
        event = guard_at(model.guards, k).event
        if event >= 0:
            W[I.at_truth + 2 * event] = sign[k]
            W[I.at_truth + 2 * event + 1] = 0.0


@kernel
def mark_contacts_evaluated(I, W, model):
    """Mark contacts as evaluated at the start of a motion or structure."""
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if guard.kind == L.Guard.CONTACT:
            W[I.at_truth + 2 * guard.event] = U.JUDGED


@kernel
def restore_conditions(I, W, model, ws, value):
    """Restore which events occurred at this instant in the structure before; return whether any
    did.

    A contact that has been judged anew has not opened where it is closed; an open one on its bound leaves it, whatever the side by rounding.
    """
    met, noise = guard_part(W, model, I.at_met), guard_part(W, model, I.at_noise)
    some = False
    for k in range(met.size):
        guard = guard_at(model.guards, k)
        met[k], noise[k] = 0.0, 0.0
        truth = W[I.at_truth + 2 * guard.event] if guard.event >= 0 else 0.0
        if truth == U.TRUE_NOW:
            met[k], noise[k] = 1.0, W[I.at_truth + 2 * guard.event + 1]
        elif truth == U.JUDGED and monitored_margin(model, ws, guard.register) >= 0:
            met[k] = U.NOT_YET
        elif truth == U.JUDGED and abs(value[k]) <= RELEASE_DISTANCE:
            met[k], noise[k] = U.DUE, RELEASE_DISTANCE
        some = some or met[k] != 0.0
    return some


@kernel
def mark_initially_due(I, W, model, ws, value, fired):
    """Mark events due at the start of a stage; return EVENT or 0."""
    found = 0
    for k in range(model.header.guards):
        event = guard_at(model.guards, k).event
        fired[k] = 1.0 if ends_stage_at_start(model, ws, k) else 0.0
        if event >= 0 and W[I.at_truth + 2 * event] == -1.0 and value[k] > 0.0:
            fired[k] = 1.0
        if fired[k] != 0.0:
            found = L.Status.EVENT.value
    for e in range(2 * I.event_names):
        W[I.at_truth + e] = 0.0
    return found


@kernel
def ends_stage_at_start(model, ws, k):
    """Return whether guard k ends a stage at its start."""
    event = guard_at(model.guards, k).event
    return event < 0 and ws.val[-1 - event] != 0.0


@kernel
def arm_guards(I, W, model, ws):
    """Mark the guards that may fire under model exchange: negative ones and active stage ends."""
    value, armed = guard_part(W, model, I.at_guards), guard_part(W, model, I.at_armed)
    for k in range(value.size):
        armed[k] = 1.0 if value[k] < 0.0 or ends_stage_at_start(model, ws, k) else 0.0


@kernel
def disarm_at_bounds(I, W, model, ws):
    """Prevent fired guards at zero from firing again before the host's next complete step.

    Contacts whose bodies do not approach are apart: they may touch.
    """
    value, armed = guard_part(W, model, I.at_guards), guard_part(W, model, I.at_armed)
    met, noise = guard_part(W, model, I.at_met), guard_part(W, model, I.at_noise)
    for k in range(value.size):
        if (
            met[k] > 0.0
            and abs(value[k]) <= noise[k]
            and not monitors_separating_contact(model, ws, guard_at(model.guards, k).register)
        ):
            armed[k] = 0.0


@kernel
def note_guard_values(I, W, model):
    """Store the guard values before events that a host requests."""
    value, noise, met = (
        guard_part(W, model, I.at_guards),
        guard_part(W, model, I.at_noise),
        guard_part(W, model, I.at_met),
    )
    for k in range(value.size):
        noise[k], met[k] = value[k], 0.0


@kernel
def begin_host_instant(I, W, model):
    """Mark guards requested by a host as fired and store the truth of the others."""
    value, fired, met = (
        guard_part(W, model, I.at_guards),
        guard_part(W, model, I.at_fired),
        guard_part(W, model, I.at_met),
    )
    held, noise = guard_part(W, model, I.at_held), guard_part(W, model, I.at_noise)
    for k in range(value.size):
        met[k] = 1.0 if fired[k] != 0.0 else 0.0
        held[k] = 1.0 if value[k] >= 0.0 else -1.0
        noise[k] = 4.0 * abs(value[k]) + 2.0 * abs(noise[k] - value[k])
