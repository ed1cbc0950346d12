"""Integration of a unit from its current time to a target: steps, projection, events, breakpoints,
stages, within a budget of steps.
"""

import math

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.contacts.projection import (
    is_constrained,
    project_closed_contacts,
    project_constraints,
)
from kinetree.solvers.events.event_handling import (
    close_at_event,
    handle_located_events,
    release_contacts_after_breakpoint,
)
from kinetree.solvers.events.event_location import locate_event
from kinetree.solvers.events.guard_state import guard_state, is_marked
from kinetree.solvers.instance.derivatives import event_indicators, get_state, put_state, sided_time
from kinetree.solvers.instance.failures import find_cause
from kinetree.solvers.instance.integrators import (
    KIND,
    changed,
    interpolate,
    is_fixed,
    restart,
    step,
)
from kinetree.solvers.instance.memory import integrator_memory, locator_memory, refresh, structure
from kinetree.solvers.instance.time_breakpoints import (
    breakpoint_side,
    next_breakpoint,
    time_tolerance,
)
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.integrate.kinds import AUTO, CODES, SMOOTH, STIFF
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_projection import project_near
from kinetree.solvers.run.breakpoint_jumps import next_velocity_jump, pass_breakpoint
from kinetree.solvers.run.input_changes import (
    begin_input_motion,
    hold_inputs,
    set_input_slopes,
    store_inputs,
    take_changed_inputs,
)
from kinetree.solvers.run.integrator_start import maybe_switch_method, scratch_state, start_stage
from kinetree.solvers.run.jump_steps import end_step_at_jump, turn_behind_jump
from kinetree.solvers.run.sliding import detect_sliding

ADAMS, RADAU = CODES[SMOOTH], CODES[STIFF]
EVENT, CHATTERING = int(L.Status.EVENT), int(L.Status.CHATTERING)
TOO_MANY_STEPS, CANCELLED = int(L.Status.TOO_MANY_STEPS), int(L.Status.CANCELLED)
# near a singular position the directions across the constraints look stiff, and radau's error estimate is blind to what is stiff: a step that ends so
# many tolerances off the constraints is taken again, and from then on right-hand sides are those of the state projected onto them
FAR_OFF_TOLERANCES = 20.0
LONGEST_STEP = 5.0  # of a method of fixed step, whose start may span some


@kernel
def advance(I, F, W, target, option):
    """Integrate to the target time, executing events and stage changes on the way; return the
    status.
    """
    status = 0
    sloped = begin_input_motion(I, F, W, option)
    around = option & U.STOP_AROUND_EVENT != 0
    while True:
        model, ws = structure(I, F, W)
        if sloped:
            set_input_slopes(I, W, ws)
        status = EVENT if W.pending == U.PENDING_EVENT else run_structure(I, W, model, ws, target)
        if status != EVENT:
            break
        if around and W.pending != U.PENDING_EVENT:
            return pause_at_event(I, F, W, U.PENDING_EVENT)
        W.pending = 0.0
        status = handle_located_events(I, F, W, W.time)
        if status != 0:
            break
        if around or (option & U.STOP_BEFORE_FULL != 0 and 2 * (W.events - W.told) > I.logged):
            return pause_at_event(I, F, W, U.PENDING_REST)
        if option & U.STOP_AT_EVENT:
            status = refresh(I, F, W, W.time)
            W.status = status
            hold_inputs(I, F, W)
            return EVENT if status == 0 else status
    if status == 0:
        status = close_output_state(I, F, W, target)
    if status == 0:
        status = refresh(I, F, W, target)
    W.pending = 0.0
    W.status = status
    if sloped:
        hold_inputs(I, F, W)
    return status


@kernel
def pause_at_event(I, F, W, pending):
    """Stop at a located event before the target with the state evaluated; the next call continues
    with `pending`. Return the status.
    """
    status = close_at_event(I, F, W)
    W.pending = pending if status == 0 else 0.0
    W.status = status
    return EVENT if status == 0 else status


@kernel
def close_output_state(I, F, W, t):
    """Project an interpolated output state onto loop constraints and closed contacts."""
    model, ws = structure(I, F, W)
    return project_constraints(model, ws, t)


@kernel
def run_structure(I, W, model, ws, target):
    """Integrate within the current structure up to the target (return 0) or to the first event
    (return EVENT).
    """
    mem = integrator_memory(I, W)
    context = (model, ws)
    status = 0
    if W.started == 0.0:
        status = start_stage(I, W, model, ws, mem)
    elif store_inputs(I, W, ws) == 1:
        status = take_changed_inputs(mem, context)
    mem[C.HARD] = 1.0 - W.soft
    ev = locator_memory(I, W)
    while status == 0:
        status = locate_event(ev, event_indicators, context, interpolate, mem, target)
        if has_reached_breakpoint(W, mem, ev, target, status):
            turned = pass_breakpoint(W, mem, model, ws)
            ev.slopes_at = -math.inf
            if turned == 0 and model.c_law.size > 0:
                turned = release_contacts_after_breakpoint(model, ws, mem, ev)
            status = turned if turned != 0 else status
        if status != 0 or C.too_small(C.time_of(mem), target - C.time_of(mem)):
            break
        status = check_step_budget(W)
        # what the last step knows is read until here: rows and events lie inside it
        if status == 0 and I.integrator == AUTO:
            status = maybe_switch_method(I, W, mem, context)
        mem[C.LATE] = 1.0 if is_constrained(model, ws) else 0.0
        if status == 0:
            status = turn_behind_jump(I, W, mem, context)
        if status == 0:
            status = step_towards(W, mem, model, ws, target)
            if status == 0:
                status = end_step_at_jump(I, W, mem, context)
            if status != 0 and can_project(mem, model, ws):
                status = restart_on_constraints(mem, context)
            W.steps += 1.0
            W.used += 1.0
        if status == 0 and mem[C.LATE] != 0.0:
            status = close_step(mem, context)
        if status == 0:
            status = detect_sliding(I, W, mem, context, target)
    return finish_run(I, W, mem, ev, model, ws, target, status)


@kernel
def check_step_budget(W):
    """Return 0 if another step may be taken, else the status of a cancelled run or an exhausted
    step budget.
    """
    if W.cancel != 0.0:
        W.cancel = 0.0
        return CANCELLED
    return TOO_MANY_STEPS if W.used >= W.budget else 0


@kernel
def has_reached_breakpoint(W, mem, ev, target, status):
    """Return whether the run has reached the breakpoint at the end of the last step, with all
    output before it written.
    """
    knot = W.knot
    if not abs(C.time_of(mem) - knot) <= time_tolerance(knot) or C.time_of(
        mem
    ) > target + time_tolerance(target):
        return False
    return status == 0 or (status == EVENT and abs(ev.event_time - knot) <= time_tolerance(knot))


@kernel
def step_towards(W, mem, model, ws, target):
    """Make one step; return the status. Variable steps end at the next breakpoint of time
    functions, fixed steps only at velocity jumps.
    """
    if model.header.knots == 0:
        return step(mem, (model, ws), target)
    kind, t = int(mem[KIND]), sided_time(ws, C.time_of(mem))
    mem[C.HARD] = 1.0 - W.soft
    if not is_fixed(kind):
        knot = next_breakpoint(model, ws, t, 0)
    else:
        knot = next_velocity_jump(
            model, ws, t, min(target + time_tolerance(target), t + LONGEST_STEP * mem[C.H_GIVEN])
        )
    ws.head.sided = 1.0
    ws.head.read_from = breakpoint_side(W.turned, 1.0)
    ws.head.read_until = breakpoint_side(knot, -1.0)
    # hosts add up their times: a target that misses a breakpoint by rounding is that breakpoint
    if knot < target - time_tolerance(target) or W.soft != 0.0:
        target = knot
        mem[C.HARD] = 1.0 if knot < math.inf else 0.0
    W.knot = knot
    return step(mem, (model, ws), target)


@kernel
def close_step(mem, context):
    """Project the new state onto loop constraints and closed contacts and pass the change to the
    integrator.
    """
    model, ws = context
    y = C.state_of(mem)
    t = sided_time(ws, C.time_of(mem))
    status = put_state(model, ws, t, y)
    if status == 0:
        status = project_near(model, ws, t) if model.l_kind.size > 0 else 0
    if can_project(mem, model, ws) and (status != 0 or is_far_off(mem, ws)):
        C.cut(mem, mem[C.T_OLD], C.block(mem, C.Y_OLD))
        return restart_on_constraints(mem, context)
    if status == 0:
        status = project_closed_contacts(model, ws, t)
    if status == 0:
        status = get_state(y, model, ws, t)
    if status == 0:
        status = changed(mem, context)
    return status


@kernel
def can_project(mem, model, ws):
    """Return whether Radau integrates a mechanism with closed loops without projecting every stage."""
    return int(mem[KIND]) == RADAU and model.l_kind.size > 0 and ws.head.on_constraints == 0.0


@kernel
def restart_on_constraints(mem, context):
    """Restart the integrator with rates evaluated on the constraints."""
    model, ws = context
    ws.head.on_constraints = 1.0
    return restart(mem, context)


@kernel
def is_far_off(mem, ws):
    """Return whether the projection has changed the state by many times the error tolerance."""
    y, atol = C.state_of(mem), C.block(mem, C.ATOL)
    nq, total = ws.q.size, 0.0
    for k in range(nq):
        total += ((ws.q[k] - y[k]) / (atol[k] + mem[C.RTOL] * abs(y[k]))) ** 2
    for k in range(ws.u.size):
        total += ((ws.u[k] - y[nq + k]) / (atol[nq + k] + mem[C.RTOL] * abs(y[nq + k]))) ** 2
    return not total <= FAR_OFF_TOLERANCES * FAR_OFF_TOLERANCES * len(y)


@kernel
def finish_run(I, W, mem, ev, model, ws, target, status):
    """Leave the unit's state at the target, the event or the failure, and return the status."""
    t = C.time_of(mem)
    if status != 0 and status != EVENT:
        status = find_cause(model, ws, status)
    W.item = ws.head.item
    W.fastest, W.last_step = mem[C.LIPSCHITZ], mem[C.H]
    ws.head.read_until = math.inf  # whoever evaluates between two steps looks ahead
    if status == EVENT or status == CHATTERING:
        t = ev.event_time
    elif status == 0:
        t = target
    n = int(mem[C.N])
    y = scratch_state(I, W, n)
    if t < C.time_of(mem):
        interpolate(y, mem, t)
    else:
        C.copy(y, C.state_of(mem))
    found = put_state(model, ws, t, y)
    W.work = y[n - 1]
    W.time = t
    if status == CHATTERING:
        W.item = find_chattering_guard(ev)
    return status if status != 0 else found


@kernel
def find_chattering_guard(ev):
    """Return the guard that fired too often."""
    found = -1
    for k in range(int(ev.guards)):
        often = guard_state(ev, k).quick_events
        if is_marked(guard_state(ev, k)) and (
            found < 0 or often > guard_state(ev, found).quick_events
        ):
            found = k
    return found
