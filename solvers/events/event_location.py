"""Events: the instants at which guards change sign, found in order on the dense output of an accepted step.

Order of work of a driver: `start_locator` once, `reset_signs` after every start or restart, `locate_event` after every step until it returns OK. An
event is reported at the end of its bracket, where the guard already has its new sign; all guards that cross by then, or within the resolution of
time after it, are reported together. A guard that is exactly zero has not crossed. Two crossings inside one step are found for guards with WATCH > 0:
the step is looked at in parts that resolve the guards (`guard_resolution`), and where a guard heads for zero at both ends of a part, its extremum is
searched. After actions `event_signs.resume_signs` reads the signs.
"""

import math

from kinetree.solvers.events.guard_resolution import (
    FORGIVEN_PER_STEP,
    POLYNOMIAL_TOLERANCE,
    cubic_minimum_place,
    cubic_value,
    next_part_end,
    shrink_to_resolved,
)
from kinetree.solvers.events.root_finding import (
    ARM,
    AT_B,
    AT_TRY,
    BAND,
    CALLS,
    CHATTER_COUNT,
    CHATTER_INTERVAL,
    CHECKED,
    DIRECTION,
    EV_HEADER,
    EVENT_TIME,
    EVENTS,
    FAILED,
    FIRED,
    GUARD_BLOCKS,
    GUARDS,
    LAST_COUNT,
    LAST_TIME,
    LEAVING,
    LEFT,
    NOISE,
    ROOT_TOLERANCE,
    SIGN,
    SLOPE_A,
    SLOPE_B,
    SLOPES_AT,
    SPAN,
    SPAN_TRIED,
    STATES,
    TIMED,
    TOGETHER,
    UNRESOLVED,
    VALUE,
    WATCH,
    crossing_noise,
    evaluate_guards_at,
    find_departure,
    find_dip,
    find_root,
    guard_values,
    shrink_to_nearly_linear,
    time_resolution,
)
from kinetree.solvers.integrate.controller import CHATTERING, EVENT, OK, T_NEW
from kinetree.solvers.kernel import kernel

DIP_TOLERANCE = (
    4.0 * POLYNOMIAL_TOLERANCE
)  # of a guard's larger end: as far it may be below the polynomial of its ends
DIP_HALF_WIDTH = (
    0.35  # of a part, to both sides of the minimum of the polynomial: where a dip is sought
)
CHATTER_RESOLUTION = 2.2e-13  # relative to |t|: a thousand roundings; events of one guard that are closer are chatter at any rate


@kernel
def locator_size(guards, states):
    """Return the length of `ev`."""
    return EV_HEADER + GUARD_BLOCKS * guards + states


@kernel
def start_locator(ev, guards, states):
    """Lay out `ev`: both directions, slopes watched; the caller may then change DIRECTION, WATCH and the chatter limits."""
    for i in range(len(ev)):
        ev[i] = 0.0
    ev[GUARDS] = guards
    ev[STATES] = states
    ev[CHATTER_INTERVAL] = 1e-7
    ev[CHATTER_COUNT] = 5.0
    watch, last = guard_values(ev, WATCH), guard_values(ev, LAST_TIME)
    for i in range(guards):
        watch[i] = 1.0
        last[i] = -math.inf


@kernel
def reset_signs(ev, guards, context, t, y):
    """Read the signs at t. A guard that fired at t and still is at zero gets its sign silently, any other zero lies before its crossing."""
    value, sign, fired, band = (
        guard_values(ev, VALUE),
        guard_values(ev, SIGN),
        guard_values(ev, FIRED),
        guard_values(ev, BAND),
    )
    direction, arm, noise = (
        guard_values(ev, DIRECTION),
        guard_values(ev, ARM),
        guard_values(ev, NOISE),
    )
    ev[CHECKED] = t
    ev[CALLS] += 1.0
    status = guards(value, context, t, y)
    if status != 0:
        return status
    for i in range(len(value)):
        recent = fired[i] != 0.0 and ev[EVENT_TIME] == t
        if not recent:
            band[i] = 0.0
        fired[i] = 0.0
        sign[i] = (
            math.copysign(1.0, value[i])
            if abs(value[i]) > band[i]
            else (0.0 if recent else -direction[i])
        )
        arm[i] = 1.0 if sign[i] == 0.0 else (LEAVING if value[i] == 0.0 else 0.0)
        noise[i] = 0.0
    ev[SLOPES_AT] = -math.inf
    ev[SPAN], ev[SPAN_TRIED] = 0.0, 0.0
    return OK


@kernel
def locate_event(ev, guards, context, interpolate, mem, t_to):
    """Look for the first event after CHECKED and up to min(t_to, end of the step): EVENT, OK (none), CHATTERING or the status of a failed guard."""
    t_end = min(t_to, mem[T_NEW])
    watch, points = guard_values(ev, WATCH), 0
    for i in range(len(watch)):
        points = max(points, int(watch[i]) - 1)
    t_begin = ev[CHECKED]
    if len(watch) == 0 or not t_end > t_begin:
        return OK
    ev[UNRESOLVED] = max(0.0, ev[UNRESOLVED] - FORGIVEN_PER_STEP)
    a = t_begin
    for k in range(1, points + 2):
        b = t_end if k == points + 1 else t_begin + (t_end - t_begin) * k / (points + 1)
        while a < b:
            reach = next_part_end(ev, a, b)
            status, a = search_interval(ev, guards, context, interpolate, mem, a, reach)
            if status != 0:
                return status
    return OK


@kernel
def search_interval(ev, guards, context, interpolate, mem, a, b):
    """Find the first event in (a, b]; return status and time, with the guard values there."""
    b = find_unknown_signs(ev, guards, context, interpolate, mem, a, b)
    at_b = guard_values(ev, AT_B)
    evaluate_guards_at(at_b, ev, guards, context, interpolate, mem, b)
    b = shrink_to_nearly_linear(ev, guards, context, interpolate, mem, a, b)
    b = shrink_to_resolved(ev, guards, context, interpolate, mem, a, b)
    earliest = b
    for i in range(len(at_b)):
        earliest = first_crossing(ev, guards, context, interpolate, mem, i, a, b, earliest)
    if earliest < b:
        mark_simultaneous(ev, guards, context, interpolate, mem, earliest)
        evaluate_guards_at(at_b, ev, guards, context, interpolate, mem, earliest)
        ev[SLOPES_AT] = -math.inf
    if ev[FAILED] != 0.0:
        status = int(ev[FAILED])
        ev[FAILED] = 0.0
        return status, b
    return update_signs(ev, earliest), earliest


@kernel
def mark_simultaneous(ev, guards, context, interpolate, mem, t):
    """Mark the guards that cross zero within the resolution of time after t."""
    sign, direction, state, trial = (
        guard_values(ev, SIGN),
        guard_values(ev, DIRECTION),
        guard_values(ev, ARM),
        guard_values(ev, AT_TRY),
    )
    evaluate_guards_at(
        trial, ev, guards, context, interpolate, mem, t + 2.0 * time_resolution(mem, t)
    )
    for i in range(len(sign)):
        if (
            state[i] == 0.0
            and sign[i] * trial[i] < 0.0
            and (direction[i] == 0.0 or direction[i] == -sign[i])
        ):
            state[i] = TOGETHER


@kernel
def find_unknown_signs(ev, guards, context, interpolate, mem, a, b):
    """Find signs that are unknown at a from the first point after it where they show; returns that point, or b."""
    waiting, sign, band, trial = (
        guard_values(ev, ARM),
        guard_values(ev, SIGN),
        guard_values(ev, BAND),
        guard_values(ev, AT_TRY),
    )
    left = 0
    for i in range(len(sign)):
        if waiting[i] == 1.0:
            left += 1
    part, reached = 1e-9, b
    while left > 0 and part < 1.0 and reached == b:
        t = a + part * (b - a)
        part *= 10.0
        if t == a:
            continue
        if evaluate_guards_at(trial, ev, guards, context, interpolate, mem, t) != 0:
            break
        for i in range(len(sign)):
            if waiting[i] == 1.0 and abs(trial[i]) > band[i]:
                sign[i] = math.copysign(1.0, trial[i])
                waiting[i] = 0.0
                reached = t
    if reached == b:
        for i in range(len(sign)):
            waiting[i] = 0.0 if waiting[i] == 1.0 else waiting[i]
    return reached


@kernel
def first_crossing(ev, guards, context, interpolate, mem, i, a, b, earliest):
    """Return the smaller of `earliest` and the first crossing of guard i in (a, b] in its
    direction.

    One that lay on its bound, has left it and is on its way back within its noise has left it for good: from there on zero is zero.
    """
    sign, direction = guard_values(ev, SIGN)[i], guard_values(ev, DIRECTION)[i]
    g_a, g_b = guard_values(ev, VALUE)[i], guard_values(ev, AT_B)[i]
    wanted = direction == 0.0 or direction == -sign
    noise = crossing_noise(ev, i, g_a, g_b)
    if sign == 0.0 or (sign * g_b < 0.0 and not wanted):
        return earliest
    back = (
        abs(g_b) <= noise
        and sign * guard_values(ev, SLOPE_B)[i] < 0.0
        and find_departure(ev, guards, context, interpolate, mem, i, sign, a, b, noise) > a
    )
    noise = 0.0 if back else noise
    if sign * g_b >= -noise:
        s_a, s_b = guard_values(ev, SLOPE_A)[i], guard_values(ev, SLOPE_B)[i]
        low, high = a, a
        rough = guard_values(ev, TIMED)[i] < 0.0
        if guard_values(ev, WATCH)[i] != 0.0 and not rough:
            low, high = bracket_dip(sign * g_a, sign * s_a, sign * g_b, sign * s_b, a, b)
        if not low < high:
            if back:
                guard_values(ev, ARM)[i], guard_values(ev, FIRED)[i] = LEFT, b
            return earliest
        b = find_dip(ev, guards, context, interpolate, mem, i, sign, low, high, noise)
        b = a if b == low else b
        if b == a or not wanted:  # the other half of a double crossing is met from the extremum on
            return min(earliest, b) if b > a else earliest
        evaluate_guards_at(guard_values(ev, AT_TRY), ev, guards, context, interpolate, mem, b)
        g_b = guard_values(ev, AT_TRY)[i]
    if earliest < b:
        evaluate_guards_at(
            guard_values(ev, AT_TRY), ev, guards, context, interpolate, mem, earliest
        )
        b, g_b = earliest, guard_values(ev, AT_TRY)[i]
        if sign * g_b >= -noise:
            return earliest
    return find_return(ev, guards, context, interpolate, mem, i, a, b, g_b, noise)


@kernel
def find_return(ev, guards, context, interpolate, mem, i, a, b, g_b, noise):
    """Return the crossing time of guard i in (a, b], ignoring noise until it has left zero."""
    sign, g_a, state = guard_values(ev, SIGN)[i], guard_values(ev, VALUE)[i], guard_values(ev, ARM)
    m = (
        find_departure(ev, guards, context, interpolate, mem, i, sign, a, b, noise)
        if state[i] == LEAVING
        else a
    )
    if m == a:
        return find_root(ev, guards, context, interpolate, mem, i, sign, a, g_a, b, g_b, noise)
    t = find_root(
        ev, guards, context, interpolate, mem, i, sign, m, guard_values(ev, AT_TRY)[i], b, g_b, 0.0
    )
    state[i], guard_values(ev, FIRED)[i] = LEFT, t
    return t


@kernel
def bracket_dip(g_a, slope_a, g_b, slope_b, a, b):
    """Return the part of (a, b] in which a guard that is positive at both ends may be negative; an empty one where it is not."""
    h = b - a
    s = cubic_minimum_place(g_a, h * slope_a, g_b, h * slope_b)
    if s < 0.0 or cubic_value(g_a, h * slope_a, g_b, h * slope_b, s) >= DIP_TOLERANCE * max(
        g_a, g_b
    ):
        return a, a
    return max(a, a + (s - DIP_HALF_WIDTH) * h), min(b, a + (s + DIP_HALF_WIDTH) * h)


@kernel
def update_signs(ev, t):
    """Bring the signs to t from the guards in AT_B: EVENT if a guard crossed in its direction, CHATTERING if it did too often."""
    value, at_b, sign, fired, band = (
        guard_values(ev, VALUE),
        guard_values(ev, AT_B),
        guard_values(ev, SIGN),
        guard_values(ev, FIRED),
        guard_values(ev, BAND),
    )
    direction, last_time, count, state, timed = (
        guard_values(ev, DIRECTION),
        guard_values(ev, LAST_TIME),
        guard_values(ev, LAST_COUNT),
        guard_values(ev, ARM),
        guard_values(ev, TIMED),
    )
    status = OK
    for i in range(len(sign)):
        if state[i] == LEFT:
            state[i] = 0.0 if t >= fired[i] else LEAVING
        fired[i] = 0.0
        noise = crossing_noise(ev, i, value[i], at_b[i])
        together = state[i] == TOGETHER
        if together or (state[i] == LEAVING and abs(at_b[i]) > noise):
            state[i] = 0.0
        if together or sign[i] * at_b[i] < -noise:
            sign[i] = -sign[i]
            if direction[i] == 0.0 or direction[i] == sign[i]:
                fired[i] = sign[i]
                band[i] = 2.0 * abs(at_b[i]) + ROOT_TOLERANCE * abs(value[i])
                count[i] = (
                    count[i] + 1.0
                    if t - last_time[i] < max(ev[CHATTER_INTERVAL], CHATTER_RESOLUTION * abs(t))
                    and timed[i] <= 0.0
                    else 0.0
                )
                last_time[i] = t
                status = (
                    CHATTERING if count[i] >= ev[CHATTER_COUNT] or status == CHATTERING else EVENT
                )
        elif sign[i] == 0.0 and abs(at_b[i]) > band[i]:
            sign[i] = math.copysign(1.0, at_b[i])
        value[i] = at_b[i]
    if status != OK:
        ev[EVENT_TIME] = t
        ev[EVENTS] += 1.0
    ev[CHECKED] = t
    return status
