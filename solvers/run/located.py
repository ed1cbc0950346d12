"""Handling of located events: the state at the instant, actions, continuation."""

from kinetree.solvers import layout as L
from kinetree.solvers.contacts.forces import margin_at, rests
from kinetree.solvers.contacts.hosts import found, hovers
from kinetree.solvers.contacts.projection import keep_closed
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.run.derivatives import get_state, guards, put_state
from kinetree.solvers.run.event_actions import happen_now
from kinetree.solvers.run.event_memory import LIFT, due, guard_part, recall, take_fired
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
    per_guard,
)
from kinetree.solvers.run.event_signs import events_resume
from kinetree.solvers.run.events import events_reset, events_start
from kinetree.solvers.run.methods import interpolate, restart
from kinetree.solvers.run.unit import locator, memory, refresh, structure
from kinetree.solvers.views import guard_at


@kernel
def close_state(I, F, W):
    """Return the state at a located instant on the loop constraints, which the dense output misses
    by its error, and everything evaluated.
    """
    model, ws = structure(I, F, W)
    t = W.time
    status = keep_closed(model, ws, t)
    return refresh(I, F, W, t) if status == 0 else status


@boundary("unit")
def happen(I, F, W, t):
    """Carry out all events that were located at the present time; the integrator is restarted or, in a new structure, started anew later."""
    status = close_state(I, F, W)
    if status != 0:
        return status
    model, ws = structure(I, F, W)
    mem, stage = memory(I, W), W.stage
    take_fired(I, W, model, locator(I, W, model.header.guards, int(mem[C.N])))
    meet(I, W, model, ws)
    status = happen_now(I, F, W, t)
    if status != 0 and status != L.Status.CHATTERING:
        _, ws = structure(I, F, W)
        W.item = ws.head.item
    return resume(I, F, W) if status == 0 and W.stage == stage else status


@kernel
def meet(I, W, model, ws):
    """Apply located touch and slip-reversal events even if loop closure moved the state slightly
    past them.
    """
    fired = guard_part(W, model, I.at_fired)
    for k in range(fired.size):
        guard = guard_at(model.guards, k)
        if (
            fired[k] != 0.0
            and guard.kind == L.Guard.CONTACT
            and margin_at(model, ws, guard.register) < 0
        ):
            found(model, ws, guard.register)


@kernel
def resume(I, F, W):
    """Restart the integrator with the changed state."""
    model, ws = structure(I, F, W)
    mem = memory(I, W)
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
        ev = locator(I, W, model.header.guards, n)
        status = events_resume(
            ev,
            guards,
            context,
            mem,
            guard_part(W, model, I.at_met),
            guard_part(W, model, I.at_noise),
        )
        look_at_resting(model, ws, ev)
    return put_state(model, ws, W.time, C.state_of(mem)) if status == 0 else status


@kernel
def begin_events(I, W, model, ws, mem):
    """Start the root finder; EVENT if a stage end or event is true already."""
    count = model.header.guards
    ev = locator(I, W, count, int(mem[C.N]))
    events_start(ev, count, int(mem[C.N]))
    direction, timed = per_guard(ev, DIRECTION), per_guard(ev, TIMED)
    for k in range(count):
        direction[k] = 1.0
        guard = guard_at(model.guards, k)
        slip = guard.kind == L.Guard.CONTACT and guard.actions == 1
        timed[k] = -1.0 if slip else guard.timed
    if count == 0:
        return 0
    context = (model, ws)
    status = events_reset(ev, guards, context, W.time, C.state_of(mem))
    if status == 0 and recall(I, W, model, ws, per_guard(ev, VALUE)):
        met, noise = guard_part(W, model, I.at_met), guard_part(W, model, I.at_noise)
        status = events_resume(ev, guards, context, mem, met, noise)
    if status == 0:
        status = guards(
            per_guard(ev, AT_TRY), context, W.time, C.state_of(mem)
        )  # registers at the state itself again
    if status == 0:
        status = due(I, W, model, ws, per_guard(ev, VALUE), per_guard(ev, FIRED))
        ev[EVENT_TIME] = W.time
        look_at_resting(model, ws, ev)
    return status


@kernel
def look_at_resting(model, ws, ev):
    """Sample guards of resting or grazing contacts inside steps, since step-size control does not
    see them.
    """
    unseen = per_guard(ev, UNSEEN)
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        looked_at = guard.kind == L.Guard.CONTACT and (
            rests(model, ws, guard.register) or hovers(model, ws, guard.register)
        )
        unseen[k] = 1.0 if looked_at else 0.0


@kernel
def look_at_contacts(model, ws, mem, ev):
    """After a corner, treat open contacts at zero gap as leaving, not as fired."""
    value, sign, state, band = (
        per_guard(ev, VALUE),
        per_guard(ev, SIGN),
        per_guard(ev, ARM),
        per_guard(ev, BAND),
    )
    now = per_guard(ev, AT_TRY)
    status = guards(now, (model, ws), C.time_of(mem), C.state_of(mem))
    for k in range(model.header.guards):
        guard = guard_at(model.guards, k)
        if (
            status == 0
            and guard.kind == L.Guard.CONTACT
            and margin_at(model, ws, guard.register) < 0
            and abs(now[k]) <= LIFT
        ):
            sign[k], state[k], band[k], value[k] = -1.0, LEAVING, LIFT, 0.0
    return status
