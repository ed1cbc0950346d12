"""Handling of located events: the state at the instant, actions, continuation."""

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.forces import monitored_margin, monitors_resting_contact
from kinetree.solvers.contacts.hosts import is_grazing, prepare_located_contact
from kinetree.solvers.contacts.projection import project_constraints
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.run.derivatives import event_indicators, get_state, put_state
from kinetree.solvers.run.event_actions import run_cascade
from kinetree.solvers.run.event_memory import (
    RELEASE_DISTANCE,
    begin_located_instant,
    guard_part,
    mark_initially_due,
    restore_conditions,
)
from kinetree.solvers.run.event_search import (
    ARM,
    AT_TRY,
    BAND,
    DIRECTION,
    EVENT_TIME,
    FIRED,
    LEAVING,
    SIGN,
    TIMED,
    UNSEEN,
    VALUE,
    guard_values,
)
from kinetree.solvers.run.event_signs import resume_signs
from kinetree.solvers.run.events import reset_signs, start_locator
from kinetree.solvers.run.methods import interpolate, restart
from kinetree.solvers.run.unit import integrator_memory, locator_memory, refresh, structure
from kinetree.solvers.views import guard_at


@kernel
def close_at_event(I, F, W):
    """Return the state at a located instant on the loop constraints, which the dense output misses
    by its error, and everything evaluated.
    """
    model, ws = structure(I, F, W)
    t = W.time
    status = project_constraints(model, ws, t)
    return refresh(I, F, W, t) if status == 0 else status


@boundary("unit")
def handle_located_events(I, F, W, t):
    """Carry out all events that were located at the present time; the integrator is restarted or, in a new structure, started anew later."""
    status = close_at_event(I, F, W)
    if status != 0:
        return status
    model, ws = structure(I, F, W)
    mem, stage = integrator_memory(I, W), W.stage
    begin_located_instant(I, W, model, locator_memory(I, W, model.header.guards, int(mem[C.N])))
    apply_located_contacts(I, W, model, ws)
    status = run_cascade(I, F, W, t)
    if status != 0 and status != L.Status.CHATTERING:
        _, ws = structure(I, F, W)
        W.item = ws.head.item
    return resume_integration(I, F, W) if status == 0 and W.stage == stage else status


@kernel
def apply_located_contacts(I, W, model, ws):
    """Apply located touch and slip-reversal events even if loop closure moved the state slightly
    past them.
    """
    fired = guard_part(W, model, I.at_fired)
    for k in range(fired.size):
        guard = guard_at(model.guards, k)
        if (
            fired[k] != 0.0
            and guard.kind == L.Guard.CONTACT
            and monitored_margin(model, ws, guard.register) < 0
        ):
            prepare_located_contact(model, ws, guard.register)


@kernel
def resume_integration(I, F, W):
    """Restart the integrator with the changed state."""
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
        ev = locator_memory(I, W, model.header.guards, n)
        status = resume_signs(
            ev,
            event_indicators,
            context,
            mem,
            guard_part(W, model, I.at_met),
            guard_part(W, model, I.at_noise),
        )
        sample_resting_contacts(model, ws, ev)
    return put_state(model, ws, W.time, C.state_of(mem)) if status == 0 else status


@kernel
def start_event_location(I, W, model, ws, mem):
    """Start the root finder; EVENT if a stage end or event is true already."""
    count = model.header.guards
    ev = locator_memory(I, W, count, int(mem[C.N]))
    start_locator(ev, count, int(mem[C.N]))
    direction, timed = guard_values(ev, DIRECTION), guard_values(ev, TIMED)
    for k in range(count):
        direction[k] = 1.0
        guard = guard_at(model.guards, k)
        slip = guard.kind == L.Guard.CONTACT and guard.actions == 1
        timed[k] = -1.0 if slip else guard.timed
    if count == 0:
        return 0
    context = (model, ws)
    status = reset_signs(ev, event_indicators, context, W.time, C.state_of(mem))
    if status == 0 and restore_conditions(I, W, model, ws, guard_values(ev, VALUE)):
        met, noise = guard_part(W, model, I.at_met), guard_part(W, model, I.at_noise)
        status = resume_signs(ev, event_indicators, context, mem, met, noise)
    if status == 0:
        status = event_indicators(
            guard_values(ev, AT_TRY), context, W.time, C.state_of(mem)
        )  # registers at the state itself again
    if status == 0:
        status = mark_initially_due(
            I, W, model, ws, guard_values(ev, VALUE), guard_values(ev, FIRED)
        )
        ev[EVENT_TIME] = W.time
        sample_resting_contacts(model, ws, ev)
    return status


@kernel
def sample_resting_contacts(model, ws, ev):
    """Sample guards of resting or grazing contacts inside steps, since step-size control does not
    see them.
    """
    unseen = guard_values(ev, UNSEEN)
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        looked_at = guard.kind == L.Guard.CONTACT and (
            monitors_resting_contact(model, ws, guard.register)
            or is_grazing(model, ws, guard.register)
        )
        unseen[k] = 1.0 if looked_at else 0.0


@kernel
def release_contacts_after_breakpoint(model, ws, mem, ev):
    """After a corner, treat open contacts at zero gap as leaving, not as fired."""
    value, sign, state, band = (
        guard_values(ev, VALUE),
        guard_values(ev, SIGN),
        guard_values(ev, ARM),
        guard_values(ev, BAND),
    )
    now = guard_values(ev, AT_TRY)
    status = event_indicators(now, (model, ws), C.time_of(mem), C.state_of(mem))
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if (
            status == 0
            and guard.kind == L.Guard.CONTACT
            and monitored_margin(model, ws, guard.register) < 0
            and abs(now[k]) <= RELEASE_DISTANCE
        ):
            sign[k], state[k], band[k], value[k] = -1.0, LEAVING, RELEASE_DISTANCE, 0.0
    return status
