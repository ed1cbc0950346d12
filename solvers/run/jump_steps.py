"""Step control at force laws that jump, which are monitored by guards of kind JUMP.

Variable-step methods estimate their error for smooth rates: across a jump the estimate may be small
by chance, or of lower order than the method. The jump is located on the dense output of the step,
and the step is repeated up to just before it. One step short enough to be harmless crosses the
jump, and the next begins with the rates of the other side. Fixed steps are not changed.
"""

import math

from kinetree.solvers.events.guard_state import AT_B, SLOPE_A, guard_state, guard_values
from kinetree.solvers.events.root_finding import find_root, time_resolution
from kinetree.solvers.instance.derivatives import derivatives, event_indicators, sided_time
from kinetree.solvers.instance.integrators import KIND, interpolate, is_fixed, step, turn
from kinetree.solvers.instance.memory import locator_memory
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Guard
from kinetree.solvers.views import guard_at

HARMLESS_ERROR = 0.01  # of the tolerance: what a step over a jump may be wrong by
SIDE = 1e-6  # of the step: as far on both sides of a jump its size is told
SHORTEST_STEP = 64.0  # roundings of time
MOST_RETRIES = 6  # of one step; each is located on a better polynomial


@kernel
def end_step_at_jump(I, W, mem, context):
    """Repeat the last step up to the first jump inside it, or take a short step across a jump at
    its start; return the status.

    `returned` of the last guard records behind which step `turn_behind_jump` has to act.
    """
    model, _ = context
    count, kind = model.header.guards, int(mem[KIND])
    if count == 0 or not is_jump(model, count - 1) or is_fixed(kind):
        return 0
    status, crossed = 0, False
    for _ in range(MOST_RETRIES):
        t = find_jump(I, W, mem, context)
        if t == math.inf:
            break
        shortest = SHORTEST_STEP * C.TINY_STEP * max(abs(t), mem[C.H])
        near = max(harmless_time(I, W, mem, context, t), 4.0 * shortest)
        if near >= mem[C.H] > 4.0 * shortest:
            break
        crossed = t - mem[C.T_OLD] <= near
        limit = t + near if crossed else t - 0.5 * near
        if crossed and not limit < C.time_of(mem):
            break
        status = repeat_step(mem, context, limit)
        if crossed or status != 0:
            break
    if status == 0 and crossed:
        guard_state(locator_memory(I, W), count - 1).returned = C.time_of(mem)
    return status


@kernel
def turn_behind_jump(I, W, mem, context):
    """Continue with the rates behind a jump once all output inside the step across it has been
    written; return the status.
    """
    model, _ = context
    count = model.header.guards
    if count == 0 or not is_jump(model, count - 1):
        return 0
    last = guard_state(locator_memory(I, W), count - 1)
    if last.returned != C.time_of(mem):
        return 0
    last.returned = -math.inf
    return turn(mem, context)


@kernel
def repeat_step(mem, context, limit):
    """Repeat the last step up to time `limit` at most; return the status."""
    hard = mem[C.HARD]
    C.cut(mem, mem[C.T_OLD], C.block(mem, C.Y_OLD))
    status = turn(mem, context)
    mem[C.HARD] = 1.0
    if status == 0:
        status = step(mem, context, limit)
    mem[C.HARD] = hard
    return status


@kernel
def harmless_time(I, W, mem, context, t):
    """Return for how long [s] the rates of one side of a jump at t may replace those of the other
    within tolerance; 0 if they cannot be evaluated.
    """
    n = int(mem[C.N])
    before, after = W[I.at_trial : I.at_trial + n], W[I.at_trial + n : I.at_trial + 2 * n]
    y, near = (
        W[I.at_scratch : I.at_scratch + n],
        max(SIDE * mem[C.H], 2.0 * time_resolution(mem, t)),
    )
    if (
        rates_inside(before, mem, context, max(t - near, mem[C.T_OLD]), y) != 0
        or rates_inside(after, mem, context, min(t + near, C.time_of(mem)), y) != 0
    ):
        return 0.0
    for i in range(n):
        after[i] -= before[i]
    change = C.norm(mem, after, y, y)
    return HARMLESS_ERROR / change if change > 0.0 else math.inf


@kernel
def rates_inside(rates, mem, context, t, y):
    """Compute the rates at t inside the last step, and the state there in y; return the status."""
    _, ws = context
    interpolate(y, mem, t)
    return derivatives(rates, context, sided_time(ws, t), y)


@kernel
def find_jump(I, W, mem, context):
    """Return the first time in the last step at which a jump guard has its new sign; infinity if
    none changes its sign.
    """
    model, _ = context
    ev, found = locator_memory(I, W), math.inf
    before, after = guard_values(ev, SLOPE_A), guard_values(ev, AT_B)
    a, b = mem[C.T_OLD], C.time_of(mem)
    if event_indicators(after, context, b, C.state_of(mem)) != 0:
        return found
    if may_have_changed(ev, model, after, a):
        ev.slopes_at = -math.inf
        if event_indicators(before, context, a, C.block(mem, C.Y_OLD)) != 0:
            return found
        for k in range(model.header.guards):
            if is_jump(model, k) and before[k] * after[k] < 0.0:
                t = find_root(
                    ev, event_indicators, context, interpolate, mem, k, math.copysign(1.0, before[k]),
                    a, before[k], b, after[k], 0.0,
                )  # fmt: skip
                found = min(found, t)
    if found == math.inf:
        note_signs(ev, model, after, b)
    return found


@kernel
def is_jump(model, k):
    """Return whether guard k monitors a jump of a law."""
    return guard_at(model.guards, k).kind == Guard.JUMP


@kernel
def may_have_changed(ev, model, after, t):
    """Return whether the sign of a jump guard differs from the one stored at t, or none was stored
    then.
    """
    for k in range(model.header.guards):
        guard = guard_state(ev, k)
        if is_jump(model, k) and (guard.last_time != t or not guard.quick_events * after[k] > 0.0):
            return True
    return False


@kernel
def note_signs(ev, model, value, t):
    """Store the signs of the jump guards at t, in the entry where other guards count quick
    repetitions.
    """
    for k in range(model.header.guards):
        if is_jump(model, k):
            guard = guard_state(ev, k)
            guard.last_time, guard.quick_events = t, math.copysign(1.0, value[k])
