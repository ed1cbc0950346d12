"""Handling of located events: the state at the instant, actions, continuation of the run."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.forces import monitored_margin, monitors_resting_contact
from kinetree.solvers.contacts.located_contacts import is_grazing, prepare_located_contact
from kinetree.solvers.contacts.projection import project_constraints
from kinetree.solvers.events.event_cascade import run_cascade
from kinetree.solvers.events.event_location import reset_signs, start_locator
from kinetree.solvers.events.guard_state import (
    AT_B,
    AT_TRY,
    EVALUATED_FALSE,
    FORCED_OPEN,
    KNOWN,
    LEAVING,
    NEVER,
    NO_VERDICT,
    NOT_MARKED,
    RELEASE_DISTANCE,
    SLIP,
    SLOPE_A,
    UNKNOWN,
    VALUE,
    begin_located_instant,
    guard_state,
    guard_values,
    has_fired,
    is_marked,
    mark_initially_due,
    restore_conditions,
    trial_state,
)
from kinetree.solvers.instance.derivatives import event_indicators, get_state, put_state
from kinetree.solvers.instance.integrators import interpolate, restart
from kinetree.solvers.instance.memory import integrator_memory, locator_memory, refresh, structure
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.integrate.controller import F_NEW, H_NEXT, T_NEW, Y_NEW, block
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.views import guard_at

LONGEST_INSTANT = 1e-10  # s
RATE_STEP = 1e-3  # shortest distance for one-sided rates, relative to the next step: nothing moves far in it
MAX_RATE_TRIES = 5  # each 32 times as long
SAME_INSTANT, SAME_TIME = (
    1e-11,
    3.6e-13,
)  # relative to the step, and to |t|: a guard that needs less to reach its bound is on it


@kernel
def close_at_event(I, F, W):
    """Interpolate the state at a located instant, project it onto the loop constraints (dense
    output violates them by its error) and evaluate it; return the status.
    """
    model, ws = structure(I, F, W)
    t = W.time
    status = project_constraints(model, ws, t)
    return refresh(I, F, W, t) if status == 0 else status


@boundary("unit")
def handle_located_events(I, F, W, t):
    """Execute all events located at the current time. The integrator is restarted, or started later
    if the structure changed.
    """
    status = close_at_event(I, F, W)
    if status != 0:
        return status
    model, ws = structure(I, F, W)
    stage = W.stage
    ev = locator_memory(I, W)
    begin_located_instant(I, W, model, ev)
    apply_located_contacts(model, ws, ev)
    status = run_cascade(I, F, W, t)
    if status != 0 and status != L.Status.CHATTERING:
        _, ws = structure(I, F, W)
        W.item = ws.head.item
    return resume_integration(I, F, W) if status == 0 and W.stage == stage else status


@kernel
def apply_located_contacts(model, ws, ev):
    """Execute located touch and slip-reversal events even if closing the loops moved the state
    slightly past them.
    """
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if (
            is_marked(guard_state(ev, k))
            and guard.kind == L.Guard.CONTACT
            and monitored_margin(model, ws, guard.register) < 0
        ):
            prepare_located_contact(model, ws, guard.register)


@kernel
def resume_integration(I, F, W):
    """Restart the integrator with the state changed by an event; return the status."""
    model, ws = structure(I, F, W)
    mem = integrator_memory(I, W)
    n = int(mem[C.N])
    y = W[I.at_scratch : I.at_scratch + n]
    interpolate(y, mem, W.time)
    status = get_state(y, model, ws, W.time)
    y[n - 1] = W.work
    C.cut(mem, W.time, y)
    context = (model, ws)
    if status == 0:
        status = restart(mem, context)
    if status == 0:
        ev = locator_memory(I, W)
        status = resume_signs(ev, event_indicators, context, mem)
        sample_resting_contacts(model, ws, ev)
    return put_state(model, ws, W.time, C.state_of(mem)) if status == 0 else status


@kernel
def start_event_location(I, W, model, ws, mem):
    """Start the root finder; return EVENT if the condition of a stage end or event is true already."""
    count = model.header.guards
    ev = locator_memory(I, W)
    start_locator(ev, count, int(mem[C.N]))
    for k in range(count):
        guard, state = guard_at(model.guards, k), guard_state(ev, k)
        slip = guard.kind == L.Guard.CONTACT and guard.actions == 1
        state.direction = 1.0
        state.course = SLIP if slip else float(guard.timed)
        if guard.kind == L.Guard.JUMP:
            state.direction, state.watch, state.returned = NEVER, 0.0, -math.inf
    if count == 0:
        return 0
    context, value = (model, ws), guard_values(ev, VALUE)
    status = reset_signs(ev, event_indicators, context, W.time, C.state_of(mem))
    if status == 0 and restore_conditions(I, W, model, ws, value):
        status = resume_signs(ev, event_indicators, context, mem)
    if status == 0:
        status = event_indicators(
            guard_values(ev, AT_TRY), context, W.time, C.state_of(mem)
        )  # registers at the state itself again
    if status == 0:
        status = mark_initially_due(I, W, model, ws, value)
        ev.event_time = W.time
        sample_resting_contacts(model, ws, ev)
    return status


@kernel
def sample_resting_contacts(model, ws, ev):
    """Let guards of resting or grazing contacts be sampled inside steps, since step-size control
    does not see their changes.
    """
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        sampled = guard.kind == L.Guard.CONTACT and (
            monitors_resting_contact(model, ws, guard.register)
            or is_grazing(model, ws, guard.register)
        )
        guard_state(ev, k).sampled = 1.0 if sampled else 0.0


@kernel
def release_contacts_after_breakpoint(model, ws, mem, ev):
    """After a breakpoint, treat open contacts at zero gap as leaving their bound, not as having
    fired.
    """
    value, now = guard_values(ev, VALUE), guard_values(ev, AT_TRY)
    status = event_indicators(now, (model, ws), C.time_of(mem), C.state_of(mem))
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if (
            status == 0
            and guard.kind == L.Guard.CONTACT
            and monitored_margin(model, ws, guard.register) < 0
            and abs(now[k]) <= RELEASE_DISTANCE
        ):
            start_leaving(guard_state(ev, k), -1.0, RELEASE_DISTANCE)
            value[k] = 0.0
    return status


@kernel
def start_leaving(guard, sign, band):
    """Let a guard leave its bound towards a sign; values up to `band` still count as on the bound."""
    guard.sign, guard.phase, guard.band = sign, LEAVING, band


@kernel
def set_known_sign(guard, sign):
    """Set the known sign of a guard whose value is clear of its bound."""
    guard.sign, guard.phase, guard.band = sign, KNOWN, 0.0


@kernel
def instant_width(t, step):
    """Return the time [s] within which a guard still counts as on its bound: that of the dense
    output's error, and of rounding at late times.
    """
    return max(
        SAME_INSTANT * step, min(SAME_INSTANT * abs(t), LONGEST_INSTANT + SAME_TIME * abs(t))
    )


@kernel
def resume_signs(ev, guards, context, mem):
    """Set the guard signs after event actions; guards that no action affected keep theirs.

    A guard that has fired and lies on its bound, within its noise or the time resolution, gets the
    sign towards which its rate takes it. A condition that stays true does not fire again; one that
    the actions reversed fires when it returns. A contact guard that was evaluated and is false
    counts as below its bound, and so does that of a contact that opened without speed.
    """
    t, y = mem[T_NEW], block(mem, Y_NEW)
    value, rate = guard_values(ev, VALUE), guard_values(ev, SLOPE_A)
    ev.checked = t
    ev.slopes_at = -math.inf
    ev.calls += 1.0
    status = guards(value, context, t, y)
    some = False
    for i in range(len(value)):
        some = some or has_fired(guard_state(ev, i))
    if status == 0 and some:
        estimate_guard_rates(ev, guards, context, mem)
    for i in range(len(value)):
        guard = guard_state(ev, i)
        guard.mark, guard.unresolved_size = NOT_MARKED, 0.0
        if guard.direction == NEVER:
            guard.last_time = -math.inf
        if guard.verdict == EVALUATED_FALSE:
            set_known_sign(guard, -1.0)
        elif guard.verdict == FORCED_OPEN:
            start_leaving(guard, -1.0, guard.noise)
            value[i] = 0.0
        elif guard.verdict == NO_VERDICT:
            band = max(guard.band, guard.noise) if guard.phase == LEAVING else guard.band
            if abs(value[i]) > band:
                guard.sign = math.copysign(1.0, value[i])
        elif abs(value[i]) > max(guard.noise, instant_width(t, mem[H_NEXT]) * abs(rate[i])):
            set_known_sign(guard, math.copysign(1.0, value[i]))
        else:
            start_leaving(guard, math.copysign(1.0, rate[i]), 2.0 * abs(value[i]))
            value[i] = 0.0
            if rate[i] == 0.0:
                guard.sign, guard.phase = 0.0, UNKNOWN
    return status


@kernel
def estimate_guard_rates(ev, guards, context, mem):
    """Compute one-sided time derivatives of the guards that fired, by differences at two distances.

    The state is moved linearly along its rates, so that only the guard itself is curved; longer
    distances are tried if rounding hides shorter ones. The search ends where the mechanism cannot
    be evaluated.
    """
    far, near, rate = guard_values(ev, AT_B), guard_values(ev, AT_TRY), guard_values(ev, SLOPE_A)
    for i in range(len(rate)):
        rate[i] = 0.0
    distance, open_ones = RATE_STEP * mem[H_NEXT], 1
    for _ in range(MAX_RATE_TRIES):
        if (
            open_ones == 0
            or guard_differences(ev, far, guards, context, mem, distance) != 0
            or guard_differences(ev, near, guards, context, mem, 0.5 * distance) != 0
        ):
            break
        open_ones = 0
        for i in range(len(rate)):
            if has_fired(guard_state(ev, i)) and rate[i] == 0.0:
                steady = far[i] * near[i] > 0.0 and 2.0 * abs(far[i]) < 3.0 * abs(
                    near[i]
                ) < 4.5 * abs(far[i])
                rate[i] = near[i] if steady else 0.0
                open_ones += 0 if steady else 1
        distance *= 32.0


@kernel
def guard_differences(ev, out, guards, context, mem, d):
    """Compute in `out` the difference quotients of the guards over the time d [s], with the state
    moved along its rates; return the status.
    """
    y, f, moved = block(mem, Y_NEW), block(mem, F_NEW), trial_state(ev)
    for k in range(len(y)):
        moved[k] = y[k] + d * f[k]
    ev.calls += 1.0
    status = guards(out, context, mem[T_NEW] + d, moved)
    value = guard_values(ev, VALUE)
    for i in range(len(value)):
        out[i] = (out[i] - value[i]) / d
    return status
