"""Event location: the instants at which guards change sign, in order, by root finding on the dense
output of an accepted step.

Calling order: `start_locator` once, `reset_signs` after every start or restart, `locate_event`
after every step until it returns OK. An event is reported at the end of its bracket, where the
guard already has its new sign. All guards that cross before that, or within the time resolution
after it, are reported together. A guard that is exactly zero has not crossed. Double crossings
inside one step are found for guards with WATCH > 0: the step is divided into parts that resolve the
guards (`guard_resolution`), and the extremum of a guard that heads for zero at both ends of a part
is searched. After actions `event_handling.resume_signs` reads the signs.
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
from kinetree.solvers.events.guard_state import (
    AT_B,
    AT_TRY,
    CLOCKED,
    KNOWN,
    LEAVING,
    NEVER,
    NOT_MARKED,
    PENDING,
    RETURNED,
    SIMULTANEOUS,
    SLIP,
    SLOPE_A,
    SLOPE_B,
    UNKNOWN,
    VALUE,
    guard_state,
    guard_values,
    is_marked,
    locator_size,
)
from kinetree.solvers.events.root_finding import (
    ROOT_TOLERANCE,
    crossing_noise,
    evaluate_guards_at,
    find_departure,
    find_dip,
    find_root,
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
def start_locator(ev, guards, states):
    """Clear the root finder `ev` and set its default options: crossings in both directions,
    derivatives of guards watched.

    The caller may then change `direction`, `watch`, `course` and the limits of chatter.
    """
    for i in range(locator_size(guards, states)):
        ev[i] = 0.0
    ev.guards, ev.states = guards, states
    ev.chatter_interval, ev.chatter_count = 1e-7, 5.0
    for i in range(guards):
        guard = guard_state(ev, i)
        guard.watch, guard.last_time = 1.0, -math.inf


@kernel
def reset_signs(ev, guards, context, t, y):
    """Read the signs of the guards at t; return the status.

    A guard that fired at t and is still zero gets its new sign without an event; any other zero
    counts as before its crossing.
    """
    value = guard_values(ev, VALUE)
    ev.checked = t
    ev.calls += 1.0
    status = guards(value, context, t, y)
    if status != 0:
        return status
    for i in range(len(value)):
        guard = guard_state(ev, i)
        recent = is_marked(guard) and ev.event_time == t
        if not recent:
            guard.band = 0.0
        guard.mark = NOT_MARKED
        if abs(value[i]) > guard.band:
            guard.sign = math.copysign(1.0, value[i])
        else:
            guard.sign = 0.0 if recent or guard.direction == NEVER else -guard.direction
        guard.phase = KNOWN if value[i] != 0.0 else LEAVING
        if guard.sign == 0.0:
            guard.phase = UNKNOWN
        guard.unresolved_size = 0.0
    ev.slopes_at = -math.inf
    ev.span, ev.span_tried = 0.0, 0.0
    return OK


@kernel
def locate_event(ev, guards, context, interpolate, mem, t_to):
    """Search the first event after CHECKED, up to min(t_to, end of the step). Return EVENT, OK
    (none), CHATTERING or the status of a failed guard.
    """
    t_end = min(t_to, mem[T_NEW])
    points, wanted = 0, 0
    for i in range(int(ev.guards)):
        points = max(points, int(guard_state(ev, i).watch) - 1)
        wanted += 1 if guard_state(ev, i).direction != NEVER else 0
    t_begin = ev.checked
    if wanted == 0 or not t_end > t_begin:
        return OK
    ev.unresolved = max(0.0, ev.unresolved - FORGIVEN_PER_STEP)
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
    """Search the first event in (a, b]; return status and time. Guard values at that time stay in
    memory.
    """
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
        ev.slopes_at = -math.inf
    if ev.failed != 0.0:
        status = int(ev.failed)
        ev.failed = 0.0
        return status, b
    return update_signs(ev, earliest), earliest


@kernel
def mark_simultaneous(ev, guards, context, interpolate, mem, t):
    """Mark the guards that cross zero within the time resolution after t."""
    trial = guard_values(ev, AT_TRY)
    evaluate_guards_at(
        trial, ev, guards, context, interpolate, mem, t + 2.0 * time_resolution(mem, t)
    )
    for i in range(len(trial)):
        guard = guard_state(ev, i)
        if (
            guard.phase == KNOWN
            and guard.sign * trial[i] < 0.0
            and (guard.direction == 0.0 or guard.direction == -guard.sign)
        ):
            guard.phase = SIMULTANEOUS


@kernel
def find_unknown_signs(ev, guards, context, interpolate, mem, a, b):
    """Determine signs that are unknown at a, from the first point after it where they are clear;
    return that point, or b.
    """
    trial, unknown = guard_values(ev, AT_TRY), 0
    for i in range(len(trial)):
        if guard_state(ev, i).phase == UNKNOWN:
            unknown += 1
    part, reached = 1e-9, b
    while unknown > 0 and part < 1.0 and reached == b:
        t = a + part * (b - a)
        part *= 10.0
        if t == a:
            continue
        if evaluate_guards_at(trial, ev, guards, context, interpolate, mem, t) != 0:
            break
        for i in range(len(trial)):
            guard = guard_state(ev, i)
            if guard.phase == UNKNOWN and abs(trial[i]) > guard.band:
                guard.sign, guard.phase = math.copysign(1.0, trial[i]), KNOWN
                reached = t
    if reached == b:
        for i in range(len(trial)):
            guard = guard_state(ev, i)
            guard.phase = KNOWN if guard.phase == UNKNOWN else guard.phase
    return reached


@kernel
def first_crossing(ev, guards, context, interpolate, mem, i, a, b, earliest):
    """Return the earlier of `earliest` and the first crossing of guard i in (a, b] in its
    direction.

    A guard that was on its bound, has left it and returns to within its noise counts as having
    left: from then on zero is its bound.
    """
    guard = guard_state(ev, i)
    sign, direction = guard.sign, guard.direction
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
        if guard.watch != 0.0 and guard.course != SLIP:
            low, high = bracket_dip(sign * g_a, sign * s_a, sign * g_b, sign * s_b, a, b)
        if not low < high:
            if back:
                guard.phase, guard.returned = RETURNED, b
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
    """Return the time in (a, b] at which guard i returns to zero, ignoring noise until it has left
    zero.
    """
    guard, g_a, m = guard_state(ev, i), guard_values(ev, VALUE)[i], a
    sign = guard.sign
    if guard.phase == LEAVING:
        m = find_departure(ev, guards, context, interpolate, mem, i, sign, a, b, noise)
    if m == a:
        return find_root(ev, guards, context, interpolate, mem, i, sign, a, g_a, b, g_b, noise)
    t = find_root(
        ev, guards, context, interpolate, mem, i, sign, m, guard_values(ev, AT_TRY)[i], b, g_b, 0.0
    )
    guard.phase, guard.returned = RETURNED, t
    return t


@kernel
def bracket_dip(g_a, slope_a, g_b, slope_b, a, b):
    """Return the part of (a, b] in which a guard that is positive at both ends may be negative; an
    empty interval if there is none.
    """
    h = b - a
    s = cubic_minimum_place(g_a, h * slope_a, g_b, h * slope_b)
    if s < 0.0 or cubic_value(g_a, h * slope_a, g_b, h * slope_b, s) >= DIP_TOLERANCE * max(
        g_a, g_b
    ):
        return a, a
    return max(a, a + (s - DIP_HALF_WIDTH) * h), min(b, a + (s + DIP_HALF_WIDTH) * h)


@kernel
def update_signs(ev, t):
    """Update the signs at t from the guard values in AT_B; return EVENT if a guard crossed in its
    direction, CHATTERING if one did too often.
    """
    value, at_b, status = guard_values(ev, VALUE), guard_values(ev, AT_B), OK
    for i in range(len(value)):
        guard = guard_state(ev, i)
        if guard.phase == RETURNED:
            guard.phase = KNOWN if t >= guard.returned else LEAVING
        guard.mark = NOT_MARKED
        noise = crossing_noise(ev, i, value[i], at_b[i])
        simultaneous = guard.phase == SIMULTANEOUS
        if simultaneous or (guard.phase == LEAVING and abs(at_b[i]) > noise):
            guard.phase = KNOWN
        if simultaneous or guard.sign * at_b[i] < -noise:
            guard.sign = -guard.sign
            if guard.direction == 0.0 or guard.direction == guard.sign:
                guard.mark = PENDING
                guard.band = 2.0 * abs(at_b[i]) + ROOT_TOLERANCE * abs(value[i])
                quick = t - guard.last_time < max(ev.chatter_interval, CHATTER_RESOLUTION * abs(t))
                counts = quick and guard.course != CLOCKED
                guard.quick_events = guard.quick_events + 1.0 if counts else 0.0
                guard.last_time = t
                chatters = guard.quick_events >= ev.chatter_count
                status = CHATTERING if chatters or status == CHATTERING else EVENT
        elif guard.sign == 0.0 and abs(at_b[i]) > guard.band:
            guard.sign = math.copysign(1.0, at_b[i])
        value[i] = at_b[i]
    if status != OK:
        ev.event_time = t
        ev.events += 1.0
    ev.checked = t
    return status
