"""Motion of a unit from its present time to a target: steps, projection, events, stages, change of integrator."""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.integrate.kinds import AUTO, CODES, INTERRUPTED, SMOOTH, STIFF
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.projection import project
from kinetree.solvers.run.corners import look_after, next_jump, side, turn_corner
from kinetree.solvers.run.derivatives import get_state, guards, in_momenta, put_state, sided
from kinetree.solvers.run.event_actions import happen
from kinetree.solvers.run.event_search import DIRECTION, EVENT_TIME, FIRED, LAST_COUNT, VALUE, per_guard
from kinetree.solvers.run.events import events_reset, events_start, locate
from kinetree.solvers.run.failures import blame
from kinetree.solvers.run.knots import near, next_knot
from kinetree.solvers.run.methods import KIND, changed, interpolate, is_fixed, restart, start, step
from kinetree.solvers.run.step_start import latch
from kinetree.solvers.run.unit import locator, memory, refresh, structure

ADAMS, RK45, RADAU = CODES[SMOOTH], CODES[INTERRUPTED], CODES[STIFF]
EVENT, CHATTERING = int(L.Status.EVENT), int(L.Status.CHATTERING)
TOO_MANY_STEPS, CANCELLED = int(L.Status.TOO_MANY_STEPS), int(L.Status.CANCELLED)
LONGEST_STEP = 5.0  # of a method of fixed step, whose start may span some


@kernel
def begin_stage(I, W, model, ws, mem):
    """Start the integrator and the event locator at the present state; EVENT when the condition of the stage's end holds already."""
    kind = I[U.U_INTEGRATOR]
    if kind == AUTO:
        kind = RK45 if I[U.U_INPUTS] > 0 and W[U.V_SOFT] == 0.0 else ADAMS
    status = set_integrator(I, W, model, ws, mem, kind)
    context = (model, ws)
    if model.knots.size > 0:
        look_after(ws, W[U.V_TURNED])
    if status == 0:
        status = start(mem, context, W[U.V_TIME], scratch(I, W, int(mem[C.N])))
    W[U.V_STARTED] = 1.0
    W[U.V_KNOT] = -math.inf
    keep_inputs(I, W, ws)
    count = model.guards.size // L.GUARD
    ev = locator(I, W, count, int(mem[C.N]))
    events_start(ev, count, int(mem[C.N]))
    direction = per_guard(ev, DIRECTION)
    for k in range(count):
        direction[k] = 1.0
    if status == 0 and count > 0:
        status = events_reset(ev, guards, context, W[U.V_TIME], C.state_of(mem))
    return met_already(W, model, ev, count) if status == 0 else status


@kernel
def met_already(W, model, ev, count):
    """EVENT when a stage begins where its end condition holds."""
    status = 0
    fired, value = per_guard(ev, FIRED), per_guard(ev, VALUE)
    for k in range(count):
        if model.guards[L.GUARD * k + 1] == L.G_STAGE and value[k] >= 0.0:
            fired[k] = 1.0
            ev[EVENT_TIME] = W[U.V_TIME]
            status = EVENT
    return status


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
    fixed = is_fixed(kind)
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
    sloped = keep_given(I, F, W, option)
    W[U.V_USED] = 0.0
    while True:
        model, ws = structure(I, F, W)
        if sloped:
            set_slopes(I, W, ws)
        status = run(I, W, model, ws, target)
        if status != EVENT:
            break
        status = happen(I, F, W, W[U.V_TIME])
        if status != 0:
            break
        if option & U.STOP_AT_EVENT:
            status = refresh(I, F, W, W[U.V_TIME])
            W[U.V_STATUS] = status
            hold_inputs(I, F, W)
            return EVENT if status == 0 else status
    if status == 0:
        status = close_output(I, F, W, target)
    if status == 0:
        status = refresh(I, F, W, target)
    W[U.V_STATUS] = status
    if sloped:
        hold_inputs(I, F, W)
    return status


@kernel
def close_output(I, F, W, t):
    """Project the interpolated state, which the integrator does not go on from, onto the loop constraints."""
    model, ws = structure(I, F, W)
    if model.l_kind.size > 0:
        return project(model, ws, t)
    return 0


@kernel
def keep_given(I, F, W, option):
    """Latch, and remember the inputs from which slopes extrapolate; whether any has one."""
    model, ws = structure(I, F, W)
    if not option & U.CONTINUED:
        latch(model, ws)
    sloped = W[U.V_CURVED] != 0.0
    for k in range(I[U.U_INPUTS]):
        W[I[U.U_AT_GIVEN] + k] = ws.val[1 + I[U.U_PARAMETERS] + k]
        sloped = sloped or W[I[U.U_AT_SLOPES] + k] != 0.0
    W[U.V_GIVEN_AT] = W[U.V_TIME]
    return sloped


@kernel
def set_slopes(I, W, ws):
    """Let the inputs of the present structure move."""
    for k in range(ws.slope.size):
        ws.given[k] = W[I[U.U_AT_GIVEN] + k]
        ws.slope[k] = W[I[U.U_AT_SLOPES] + k]
    for k in range(ws.curve.size):
        ws.curve[k] = W[I[U.U_AT_CURVES] + k]
    ws.head[L.K_GIVEN_AT] = W[U.V_GIVEN_AT]
    ws.head[L.K_SLOPED] = 1.0 + W[U.V_CURVED]


@kernel
def hold_inputs(I, F, W):
    """Inputs keep the values they have reached."""
    _, ws = structure(I, F, W)
    ws.head[L.K_SLOPED] = 0.0
    W[U.V_CURVED] = 0.0
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
        if at_corner(W, mem, ev, target, status):
            turned = turn_corner(W, mem, model, ws)
            status = turned if turned != 0 else status
        if status != 0 or C.too_small(C.time_of(mem), target - C.time_of(mem)):
            break
        status = allowed(W)
        # what the last step knows is read until here: rows and events lie inside it
        if status == 0 and I[U.U_INTEGRATOR] == AUTO:
            status = reconsider(I, W, mem, context)
        if status == 0:
            status = step_to(W, mem, model, ws, target)
            W[U.V_STEPS] += 1.0
            W[U.V_USED] += 1.0
        if status == 0 and model.l_kind.size > 0:
            status = close_loops(mem, context)
    return arrive(I, W, mem, ev, model, ws, target, status)


@kernel
def allowed(W):
    """Whether another step may be taken: nobody has asked to stop, and the budget of the advance is not used up."""
    if W[U.V_CANCEL] != 0.0:
        W[U.V_CANCEL] = 0.0
        return CANCELLED
    return TOO_MANY_STEPS if W[U.V_USED] >= W[U.V_BUDGET] else 0


@kernel
def at_corner(W, mem, ev, target, status):
    """Whether everything up to the corner at which the last step ended has been read: nothing else comes first, and the target lies beyond."""
    knot = W[U.V_KNOT]
    if not abs(C.time_of(mem) - knot) <= near(knot) or C.time_of(mem) > target + near(target):
        return False
    return status == 0 or (status == EVENT and abs(ev[EVENT_TIME] - knot) <= near(knot))


@kernel
def step_to(W, mem, model, ws, target):
    """One step. Methods of variable step end it at the next corner of the laws of time, those of fixed step only where speeds jump there."""
    if model.knots.size == 0:
        return step(mem, (model, ws), target)
    kind, t = int(mem[KIND]), sided(ws, C.time_of(mem))
    mem[C.HARD] = 1.0 - W[U.V_SOFT]
    if not is_fixed(kind):
        knot = next_knot(model, ws, t, 0)
    else:
        knot = next_jump(model, ws, t, min(target + near(target), t + LONGEST_STEP * mem[C.H_GIVEN]))
    ws.head[L.K_SIDED] = 1.0
    ws.head[L.K_FROM] = side(W[U.V_TURNED], 1.0)
    ws.head[L.K_UNTIL] = side(knot, -1.0)
    # hosts add up their times: a target that misses a corner by rounding is that corner
    if knot < target - near(target) or W[U.V_SOFT] != 0.0:
        target = knot
        mem[C.HARD] = 1.0 if knot < math.inf else 0.0
    W[U.V_KNOT] = knot
    return step(mem, (model, ws), target)


@kernel
def close_loops(mem, context):
    """Project the new state onto the loop constraints; the integrator takes the small change over."""
    model, ws = context
    y = C.state_of(mem)
    t = sided(ws, C.time_of(mem))
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
    if status == 0:
        status = start(mem, context, t, scratch(I, W, int(mem[C.N])))
    mem[C.H_GIVEN] = 0.0  # later restarts choose their first step
    return status


@kernel
def arrive(I, W, mem, ev, model, ws, target, status):
    """State at the target, at the event, or where the integration failed, and what a failure means; the status."""
    t = C.time_of(mem)
    if status != 0 and status != EVENT:
        status = blame(model, ws, status)
    W[U.V_ITEM] = ws.head[L.K_ITEM]
    W[U.V_FASTEST], W[U.V_LAST_STEP] = mem[C.LIPSCHITZ], mem[C.H]
    ws.head[L.K_UNTIL] = math.inf  # whoever evaluates between two steps looks ahead
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
