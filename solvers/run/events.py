"""Events: the instants at which guards change sign, found in order on the dense output of an accepted step.

Order of work of a driver: `events_start` once, `events_reset` after every start or restart, `locate` after every step until it returns OK. An
event is reported at the end of its bracket, where the guard already has its new sign; all guards that cross by then, or within the resolution of
time after it, are reported together. A guard that is exactly zero has not crossed. Two crossings inside one step are found for guards with WATCH > 0:
the step is looked at in parts that resolve the guards (`guard_resolution`), and where a guard heads for zero at both ends of a part, its extremum is
searched. After actions `event_signs.events_resume` reads the signs.
"""

import math

from kinetree.solvers.integrate.controller import CHATTERING, EVENT, OK, T_NEW
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.event_search import (
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
    dip,
    guards_at,
    left,
    noise_of,
    per_guard,
    resolution,
    root,
    told_by_its_ends,
)
from kinetree.solvers.run.guard_resolution import (
    EXACT,
    FORGIVEN,
    longest_part,
    polynomial,
    resolved_part,
    valley,
)

OFF = 4.0 * EXACT  # of a guard's larger end: as far it may be below the polynomial of its ends
AROUND = 0.35  # of a part, to both sides of the minimum of the polynomial: where a dip is sought
FEW = 2.2e-13  # relative to |t|: a thousand roundings; events of one guard that are closer are chatter at any rate


@kernel
def events_size(guards, states):
    """Return the length of `ev`."""
    return EV_HEADER + GUARD_BLOCKS * guards + states


@kernel
def events_start(ev, guards, states):
    """Lay out `ev`: both directions, slopes watched; the caller may then change DIRECTION, WATCH and the chatter limits."""
    for i in range(len(ev)):
        ev[i] = 0.0
    ev[GUARDS] = guards
    ev[STATES] = states
    ev[CHATTER_INTERVAL] = 1e-7
    ev[CHATTER_COUNT] = 5.0
    watch, last = per_guard(ev, WATCH), per_guard(ev, LAST_TIME)
    for i in range(guards):
        watch[i] = 1.0
        last[i] = -math.inf


@kernel
def events_reset(ev, guards, context, t, y):
    """Read the signs at t. A guard that fired at t and still is at zero gets its sign silently, any other zero lies before its crossing."""
    value, sign, fired, band = (
        per_guard(ev, VALUE),
        per_guard(ev, SIGN),
        per_guard(ev, FIRED),
        per_guard(ev, BAND),
    )
    direction, arm, noise = per_guard(ev, DIRECTION), per_guard(ev, ARM), per_guard(ev, NOISE)
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
def locate(ev, guards, context, interpolate, mem, t_to):
    """Look for the first event after CHECKED and up to min(t_to, end of the step): EVENT, OK (none), CHATTERING or the status of a failed guard."""
    t_end = min(t_to, mem[T_NEW])
    watch, points = per_guard(ev, WATCH), 0
    for i in range(len(watch)):
        points = max(points, int(watch[i]) - 1)
    t_begin = ev[CHECKED]
    if len(watch) == 0 or not t_end > t_begin:
        return OK
    ev[UNRESOLVED] = max(0.0, ev[UNRESOLVED] - FORGIVEN)
    a = t_begin
    for k in range(1, points + 2):
        b = t_end if k == points + 1 else t_begin + (t_end - t_begin) * k / (points + 1)
        while a < b:
            reach = longest_part(ev, a, b)
            status, a = search_interval(ev, guards, context, interpolate, mem, a, reach)
            if status != 0:
                return status
    return OK


@kernel
def search_interval(ev, guards, context, interpolate, mem, a, b):
    """Find the first event in (a, b]; return status and time, with the guard values there."""
    b = arm(ev, guards, context, interpolate, mem, a, b)
    at_b = per_guard(ev, AT_B)
    guards_at(at_b, ev, guards, context, interpolate, mem, b)
    b = told_by_its_ends(ev, guards, context, interpolate, mem, a, b)
    b = resolved_part(ev, guards, context, interpolate, mem, a, b)
    earliest = b
    for i in range(len(at_b)):
        earliest = first_crossing(ev, guards, context, interpolate, mem, i, a, b, earliest)
    if earliest < b:
        find_together(ev, guards, context, interpolate, mem, earliest)
        guards_at(at_b, ev, guards, context, interpolate, mem, earliest)
        ev[SLOPES_AT] = -math.inf
    if ev[FAILED] != 0.0:
        status = int(ev[FAILED])
        ev[FAILED] = 0.0
        return status, b
    return take_signs(ev, earliest), earliest


@kernel
def find_together(ev, guards, context, interpolate, mem, t):
    """Mark the guards that cross zero within the resolution of time after t."""
    sign, direction, state, trial = (
        per_guard(ev, SIGN),
        per_guard(ev, DIRECTION),
        per_guard(ev, ARM),
        per_guard(ev, AT_TRY),
    )
    guards_at(trial, ev, guards, context, interpolate, mem, t + 2.0 * resolution(mem, t))
    for i in range(len(sign)):
        if (
            state[i] == 0.0
            and sign[i] * trial[i] < 0.0
            and (direction[i] == 0.0 or direction[i] == -sign[i])
        ):
            state[i] = TOGETHER


@kernel
def arm(ev, guards, context, interpolate, mem, a, b):
    """Find signs that are unknown at a from the first point after it where they show; returns that point, or b."""
    waiting, sign, band, trial = (
        per_guard(ev, ARM),
        per_guard(ev, SIGN),
        per_guard(ev, BAND),
        per_guard(ev, AT_TRY),
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
        if guards_at(trial, ev, guards, context, interpolate, mem, t) != 0:
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
    sign, direction = per_guard(ev, SIGN)[i], per_guard(ev, DIRECTION)[i]
    g_a, g_b = per_guard(ev, VALUE)[i], per_guard(ev, AT_B)[i]
    wanted = direction == 0.0 or direction == -sign
    noise = noise_of(ev, i, g_a, g_b)
    if sign == 0.0 or (sign * g_b < 0.0 and not wanted):
        return earliest
    back = (
        abs(g_b) <= noise
        and sign * per_guard(ev, SLOPE_B)[i] < 0.0
        and left(ev, guards, context, interpolate, mem, i, sign, a, b, noise) > a
    )
    noise = 0.0 if back else noise
    if sign * g_b >= -noise:
        s_a, s_b = per_guard(ev, SLOPE_A)[i], per_guard(ev, SLOPE_B)[i]
        low, high = a, a
        rough = per_guard(ev, TIMED)[i] < 0.0
        if per_guard(ev, WATCH)[i] != 0.0 and not rough:
            low, high = around_dip(sign * g_a, sign * s_a, sign * g_b, sign * s_b, a, b)
        if not low < high:
            if back:
                per_guard(ev, ARM)[i], per_guard(ev, FIRED)[i] = LEFT, b
            return earliest
        b = dip(ev, guards, context, interpolate, mem, i, sign, low, high, noise)
        b = a if b == low else b
        if b == a or not wanted:  # the other half of a double crossing is met from the extremum on
            return min(earliest, b) if b > a else earliest
        guards_at(per_guard(ev, AT_TRY), ev, guards, context, interpolate, mem, b)
        g_b = per_guard(ev, AT_TRY)[i]
    if earliest < b:
        guards_at(per_guard(ev, AT_TRY), ev, guards, context, interpolate, mem, earliest)
        b, g_b = earliest, per_guard(ev, AT_TRY)[i]
        if sign * g_b >= -noise:
            return earliest
    return return_of(ev, guards, context, interpolate, mem, i, a, b, g_b, noise)


@kernel
def return_of(ev, guards, context, interpolate, mem, i, a, b, g_b, noise):
    """Return the crossing time of guard i in (a, b], ignoring noise until it has left zero."""
    sign, g_a, state = per_guard(ev, SIGN)[i], per_guard(ev, VALUE)[i], per_guard(ev, ARM)
    m = (
        left(ev, guards, context, interpolate, mem, i, sign, a, b, noise)
        if state[i] == LEAVING
        else a
    )
    if m == a:
        return root(ev, guards, context, interpolate, mem, i, sign, a, g_a, b, g_b, noise)
    t = root(
        ev, guards, context, interpolate, mem, i, sign, m, per_guard(ev, AT_TRY)[i], b, g_b, 0.0
    )
    state[i], per_guard(ev, FIRED)[i] = LEFT, t
    return t


@kernel
def around_dip(g_a, slope_a, g_b, slope_b, a, b):
    """Return the part of (a, b] in which a guard that is positive at both ends may be negative; an empty one where it is not."""
    h = b - a
    s = valley(g_a, h * slope_a, g_b, h * slope_b)
    if s < 0.0 or polynomial(g_a, h * slope_a, g_b, h * slope_b, s) >= OFF * max(g_a, g_b):
        return a, a
    return max(a, a + (s - AROUND) * h), min(b, a + (s + AROUND) * h)


@kernel
def take_signs(ev, t):
    """Bring the signs to t from the guards in AT_B: EVENT if a guard crossed in its direction, CHATTERING if it did too often."""
    value, at_b, sign, fired, band = (
        per_guard(ev, VALUE),
        per_guard(ev, AT_B),
        per_guard(ev, SIGN),
        per_guard(ev, FIRED),
        per_guard(ev, BAND),
    )
    direction, last_time, count, state, timed = (
        per_guard(ev, DIRECTION),
        per_guard(ev, LAST_TIME),
        per_guard(ev, LAST_COUNT),
        per_guard(ev, ARM),
        per_guard(ev, TIMED),
    )
    status = OK
    for i in range(len(sign)):
        if state[i] == LEFT:
            state[i] = 0.0 if t >= fired[i] else LEAVING
        fired[i] = 0.0
        noise = noise_of(ev, i, value[i], at_b[i])
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
                    if t - last_time[i] < max(ev[CHATTER_INTERVAL], FEW * abs(t))
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
