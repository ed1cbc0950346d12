"""What an event does: resets, and the change to the next stage; every event is logged with its books."""

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.boundary import boundary
from kinetree.solvers.engine.prepare import prepare
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.projection import project
from kinetree.solvers.run.balances import write_books
from kinetree.solvers.run.derivatives import get_state, guards
from kinetree.solvers.run.event_search import FIRED, per_guard
from kinetree.solvers.run.events import events_reset
from kinetree.solvers.run.methods import interpolate, restart
from kinetree.solvers.run.stage_change import change_structure
from kinetree.solvers.run.unit import load_states, locator, memory, open_books, refresh, set_entry, structure


@boundary("unit")
def happen(I, F, W, t):
    """Carry out all events that fired at the present time; the integrator is restarted or, in a new structure, started anew later."""
    status = refresh(I, F, W, t)
    if status != 0:
        return status
    model, ws = structure(I, F, W)
    mem = memory(I, W)
    fired = per_guard(locator(I, W, model.guards.size // L.GUARD, int(mem[C.N])), FIRED)
    ending = ending_guard(model, fired)
    status = carry_out(I, F, W, model, ws, fired, ending)
    if status == 0 and ending < 0:
        status = resume(I, F, W)
    return status


@kernel
def happen_by_guards(I, F, W, t, mask):
    """As `happen` for a host that integrates itself: guards in the mask, or all positive ones, have fired."""
    model, ws = structure(I, F, W)
    load_states(I, W, ws)
    status = refresh(I, F, W, t)
    if status != 0:
        return status
    count = model.guards.size // L.GUARD
    fired = W[I[U.U_AT_GUARDS] : I[U.U_AT_GUARDS] + count]
    some = False
    for k in range(count):
        asked = fired[k] >= 0.0 if mask == 0 else (mask >> k) & 1 == 1
        fired[k] = 1.0 if asked else 0.0
        some = some or asked
    if some:
        status = carry_out(I, F, W, model, ws, fired, ending_guard(model, fired))
    return status


@kernel
def close_again(I, F, W, t):
    """Bring the states of a host that integrates itself back onto the loop constraints."""
    model, ws = structure(I, F, W)
    load_states(I, W, ws)
    status = project(model, ws, t) if model.l_kind.size > 0 else 0
    return refresh(I, F, W, t) if status == 0 else status


@kernel
def ending_guard(model, fired):
    """The guard that ends the stage, or -1."""
    for k in range(model.guards.size // L.GUARD):
        if fired[k] != 0.0 and model.guards[L.GUARD * k + 1] == L.G_STAGE:
            return k
    return -1


@kernel
def carry_out(I, F, W, model, ws, fired, ending):
    """Resets or the change of stage, with books before and after; the end of a stage goes before resets at the same instant."""
    t = W[U.V_TIME]
    residual = W[U.V_ENERGY_RESIDUAL]
    status = 0
    at = log_event(I, W, t, ending)
    write_books(W, at + 4, model, ws)
    if ending >= 0:
        status = change_structure(I, F, W, t)
    else:
        for k in range(model.guards.size // L.GUARD):
            if fired[k] != 0.0 and status == 0:
                status = reset(model, ws, k)
                W[at + 3] = k
        if model.l_kind.size > 0 and status == 0:
            status = project(model, ws, t)
    if status == 0:
        status = refresh(I, F, W, t)
    now_model, now_ws = structure(I, F, W)
    write_books(W, at + 9, now_model, now_ws)
    W[U.V_ENERGY_RESIDUAL] = residual
    open_books(I, F, W)
    return status


@kernel
def log_event(I, W, t, ending):
    """Next place of the event log: time, kind, stage after, guard."""
    at = I[U.U_AT_EVENTS] + U.EVENT * (int(W[U.V_EVENTS]) % I[U.U_EVENTS])
    W[at] = t
    W[at + 1] = U.E_STAGE if ending >= 0 else U.E_RESET
    W[at + 2] = W[U.V_STAGE] + (1.0 if ending >= 0 else 0.0)
    W[at + 3] = ending
    W[U.V_EVENTS] += 1.0
    W[U.V_EVENT_TIME] = t
    return at


@kernel
def reset(model, ws, k):
    """Actions of guard k: all new values are read before the first is written."""
    first = model.guards[L.GUARD * k + 2]
    count = model.guards[L.GUARD * k + 3]
    for a in range(count):
        ws.small[a] = ws.val[model.actions[L.ACTION * (first + a) + 2]]
    parameters = False
    for a in range(count):
        at = L.ACTION * (first + a)
        if model.actions[at] >= 0:
            set_entry(ws, model.actions[at], ws.small[a])
        else:
            ws.val[model.actions[at + 1]] = ws.small[a]
            parameters = True
    return prepare(model, ws) if parameters else 0


@kernel
def resume(I, F, W):
    """Restart the integrator with the changed state."""
    model, ws = structure(I, F, W)
    mem = memory(I, W)
    n = int(mem[C.N])
    y = W[I[U.U_AT_SCRATCH] : I[U.U_AT_SCRATCH] + n]
    interpolate(y, mem, W[U.V_TIME])
    status = get_state(y, model, ws, W[U.V_TIME])
    y[n - 1] = W[U.V_WORK]
    C.cut(mem, W[U.V_TIME], y)
    context = (model, ws)
    if status == 0:
        status = restart(mem, context)
    ev = locator(I, W, model.guards.size // L.GUARD, n)
    if status == 0:
        status = events_reset(ev, guards, context, W[U.V_TIME], C.state_of(mem))
    return status
