"""Motion of a unit from its present time to a target: steps, projection, events, stages, change of integrator."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.projection import project
from kinetree.solvers.run.derivatives import get_state, guards, in_momenta, put_state
from kinetree.solvers.run.event_search import EVENT_TIME, FIRED, LAST_COUNT, per_guard
from kinetree.solvers.run.events import locate
from kinetree.solvers.run.knots import SAME, next_knot
from kinetree.solvers.run.located import begin_events, close_state, happen
from kinetree.solvers.run.methods import ADAMS, KIND, RADAU, RK45, changed, interpolate, restart, start, step
from kinetree.solvers.run.step_start import latch
from kinetree.solvers.run.unit import locator, memory, refresh, structure
from kinetree.solvers.unit_layout import Kind

AUTO = Kind.AUTO
EVENT, CHATTERING = int(L.Status.EVENT), int(L.Status.CHATTERING)
STOP_AT_EVENT = 1  # option bit: return after the first event; the inputs keep the values they have reached
STOP_AROUND_EVENT = 2  # option bit: return before an event is carried out and again after it; the same call once more goes on
STOP_BEFORE_FULL = 4  # option bit: return when half of the log of events is new to the caller; the same call once more goes on


@kernel
def begin_stage(I, W, model, ws, mem):
    """Start the integrator and the event locator at the present state; EVENT when something happens there already."""
    kind = I[U.U_INTEGRATOR]
    if kind == AUTO:
        kind = RK45 if I[U.U_INPUTS] > 0 and W[U.V_SOFT] == 0.0 else ADAMS
    status = set_integrator(I, W, model, ws, mem, kind)
    context = (model, ws)
    if status == 0:
        status = start(mem, context, W[U.V_TIME], scratch(I, W, int(mem[C.N])))
    W[U.V_STARTED] = 1.0
    W[U.V_KNOT] = -math.inf
    keep_inputs(I, W, ws)
    return begin_events(I, W, model, ws, mem) if status == 0 else status


@kernel
def scratch(I, W, n):
    """Room for one state."""
    return W[I[U.U_AT_SCRATCH] : I[U.U_AT_SCRATCH] + n]


@kernel
def set_integrator(I, W, model, ws, mem, kind):
    """Options of one integrator; the present state goes to the scratch."""
    n = ws.q.size + ws.u.size + ws.x.size + 1
    y = scratch(I, W, n)
    status = get_state(y, model, ws, W[U.V_TIME])
    y[n - 1] = W[U.V_WORK]
    fixed = kind != ADAMS and kind != RK45 and kind != RADAU
    C.set_options(mem, n, W[U.V_RELATIVE], W[U.V_ABSOLUTE], W[U.V_STEP] if fixed else 0.0, W[U.V_LARGEST_STEP])
    # the work of the loads is a book entry: it must not decide about steps
    C.block(mem, C.ATOL)[n - 1] = 1e30
    mem[C.NQ] = ws.q.size
    mem[C.NU] = ws.u.size if not in_momenta(ws) else -1.0  # momenta are not the rates of the coordinates
    mem[C.REFRESH] = W[U.V_REFRESH]
    mem[KIND] = kind
    ws.head[L.K_ON_CONSTRAINTS] = 1.0 if kind == RADAU and ws.loop_lam.size > 0 else 0.0
    W[U.V_KIND] = kind
    return status


@kernel
def keep_inputs(I, W, ws):
    """Remember the inputs the integrator has seen; 1 when they differ from the last ones."""
    different = 1 if ws.head[L.K_SLOPED] != 0.0 else 0
    for k in range(I[U.U_INPUTS]):
        value = ws.val[1 + I[U.U_PARAMETERS] + k]
        if value != W[I[U.U_AT_INPUTS] + k]:
            different = 1
            W[I[U.U_AT_INPUTS] + k] = value
    return different


@kernel
def advance(I, F, W, target, option):
    """Integrate to the target; carries out events and stage changes on the way."""
    status = 0
    sloped = keep_given(I, F, W)
    around = option & STOP_AROUND_EVENT != 0
    while True:
        model, ws = structure(I, F, W)
        if sloped:
            set_slopes(I, W, ws)
        status = EVENT if W[U.V_PENDING] == U.PENDING_EVENT else run(I, W, model, ws, target)
        if status != EVENT:
            break
        if around and W[U.V_PENDING] != U.PENDING_EVENT:
            return pause(I, F, W, U.PENDING_EVENT)
        W[U.V_PENDING] = 0.0
        status = happen(I, F, W, W[U.V_TIME])
        if status != 0:
            break
        if around or (option & STOP_BEFORE_FULL != 0 and 2 * (W[U.V_EVENTS] - W[U.V_TOLD]) > I[U.U_EVENTS]):
            return pause(I, F, W, U.PENDING_REST)
        if option & STOP_AT_EVENT:
            status = refresh(I, F, W, W[U.V_TIME])
            W[U.V_STATUS] = status
            hold_inputs(I, F, W)
            return EVENT if status == 0 else status
    if status == 0:
        status = close_output(I, F, W, target)
    if status == 0:
        status = refresh(I, F, W, target)
    W[U.V_PENDING] = 0.0
    W[U.V_STATUS] = status
    if sloped:
        hold_inputs(I, F, W)
    return status


@kernel
def pause(I, F, W, pending):
    """Return on the way, everything evaluated; the next call goes on with `pending`."""
    status = close_state(I, F, W)
    W[U.V_PENDING] = pending if status == 0 else 0.0
    W[U.V_STATUS] = status
    return EVENT if status == 0 else status


@kernel
def close_output(I, F, W, t):
    """Project the interpolated state, which the integrator does not go on from, onto the loop constraints."""
    model, ws = structure(I, F, W)
    if model.l_kind.size > 0:
        return project(model, ws, t)
    return 0


@kernel
def keep_given(I, F, W):
    """Latch, and remember the inputs from which slopes extrapolate, unless an advance goes on; whether any has one."""
    model, ws = structure(I, F, W)
    begins, sloped = W[U.V_PENDING] == 0.0, False
    if begins:
        latch(model, ws)
        W[U.V_GIVEN_AT] = W[U.V_TIME]
    for k in range(I[U.U_INPUTS]):
        if begins:
            W[I[U.U_AT_GIVEN] + k] = ws.val[1 + I[U.U_PARAMETERS] + k]
        sloped = sloped or W[I[U.U_AT_SLOPES] + k] != 0.0
    return sloped


@kernel
def set_slopes(I, W, ws):
    """Let the inputs of the present structure move."""
    for k in range(ws.slope.size):
        ws.given[k] = W[I[U.U_AT_GIVEN] + k]
        ws.slope[k] = W[I[U.U_AT_SLOPES] + k]
    ws.head[L.K_GIVEN_AT] = W[U.V_GIVEN_AT]
    ws.head[L.K_SLOPED] = 1.0


@kernel
def hold_inputs(I, F, W):
    """Inputs keep the values they have reached."""
    _, ws = structure(I, F, W)
    ws.head[L.K_SLOPED] = 0.0
    for k in range(I[U.U_INPUTS]):
        W[I[U.U_AT_SLOPES] + k] = 0.0


@kernel
def run(I, W, model, ws, target):
    """Steps in the present structure up to the target, 0, or to the first event, EVENT."""
    mem = memory(I, W)
    context = (model, ws)
    status = 0
    if W[U.V_STARTED] == 0.0:
        status = begin_stage(I, W, model, ws, mem)
    elif keep_inputs(I, W, ws) == 1:
        status = restart(mem, context) if int(mem[KIND]) == ADAMS else changed(mem, context)
    mem[C.HARD] = 1.0 - W[U.V_SOFT]
    ev = locator(I, W, model.guards.size // L.GUARD, int(mem[C.N]))
    while status == 0:
        status = locate(ev, guards, context, interpolate, mem, target)
        if status != 0 or C.too_small(C.time_of(mem), target - C.time_of(mem)):
            break
        status = step_to(W, mem, model, ws, target)
        W[U.V_STEPS] += 1.0
        if status == 0 and model.l_kind.size > 0:
            status = close_loops(mem, context)
        if status == 0 and I[U.U_INTEGRATOR] == AUTO:
            status = reconsider(I, W, mem, context)
    return arrive(I, W, mem, ev, model, ws, target, status)


@kernel
def step_to(W, mem, model, ws, target):
    """One step; methods of variable step end it at the next corner of the laws of time, and adams forgets there what it knew before."""
    kind = int(mem[KIND])
    if model.knots.size == 0 or not (kind == ADAMS or kind == RK45 or kind == RADAU):
        return step(mem, (model, ws), target)
    t, status = C.time_of(mem), 0
    if abs(t - W[U.V_KNOT]) <= SAME * abs(t) and kind == ADAMS:
        status = restart(mem, (model, ws))
    knot = next_knot(model, ws, t)
    mem[C.HARD] = 1.0 - W[U.V_SOFT]
    # hosts add up their times: a target that misses a corner by rounding is that corner
    if knot < target - SAME * abs(target) or W[U.V_SOFT] != 0.0:
        target = knot
        mem[C.HARD] = 1.0 if knot < math.inf else 0.0
    if status == 0:
        status = step(mem, (model, ws), target)
    W[U.V_KNOT] = knot
    return status


@kernel
def close_loops(mem, context):
    """Project the new state onto the loop constraints; the integrator takes the small change over."""
    model, ws = context
    y = C.state_of(mem)
    t = C.time_of(mem)
    status = put_state(model, ws, t, y)
    if status == 0:
        status = project(model, ws, t)
    if status == 0:
        status = get_state(y, model, ws, t)
    if status == 0:
        status = changed(mem, context)
    return status


@kernel
def reconsider(I, W, mem, context):
    """Change to radau when stability limits an explicit method, and back when the motion has become smooth."""
    kind = int(mem[KIND])
    other = kind
    if kind != RADAU and C.is_stiff(mem):
        other = RADAU
    elif kind == RADAU and C.is_smooth(mem):
        other = RK45 if I[U.U_INPUTS] > 0 and W[U.V_SOFT] == 0.0 else ADAMS
    if other == kind:
        return 0
    model, ws = context
    y = C.state_of(mem)
    t, last = C.time_of(mem), C.step_of(mem)
    W[U.V_WORK] = y[len(y) - 1]
    W[U.V_TIME] = t
    status = put_state(model, ws, t, y)
    if status == 0:
        status = set_integrator(I, W, model, ws, mem, other)
    mem[C.HARD] = 1.0 - W[U.V_SOFT]
    mem[C.H_GIVEN] = last
    return status if status != 0 else start(mem, context, t, scratch(I, W, int(mem[C.N])))


@kernel
def arrive(I, W, mem, ev, model, ws, target, status):
    """State at the target, at the event, or where the integration failed, and what a failure means; the status."""
    t = C.time_of(mem)
    W[U.V_ITEM] = ws.head[L.K_ITEM]
    if status == EVENT or status == CHATTERING:
        t = ev[EVENT_TIME]
    elif status == 0:
        t = target
    n = int(mem[C.N])
    y = scratch(I, W, n)
    if t < C.time_of(mem):
        interpolate(y, mem, t)
    else:
        C.copy(y, C.state_of(mem))
    found = put_state(model, ws, t, y)
    W[U.V_WORK] = y[n - 1]
    W[U.V_TIME] = t
    if status == CHATTERING:
        W[U.V_ITEM] = chatters(ev, model.guards.size // L.GUARD)
    return status if status != 0 else found


@kernel
def chatters(ev, count):
    """The guard that fired too often."""
    fired, often = per_guard(ev, FIRED), per_guard(ev, LAST_COUNT)
    found = -1
    for k in range(count):
        if fired[k] != 0.0 and (found < 0 or often[k] > often[found]):
            found = k
    return found
