"""Root finding on the dense output of one step: a root of a guard by bracketing, and an extremum of
a guard that may hide two roots.

Guards are functions guards(out, context, t, y) -> status. `ev` is the memory of the root finder:
record LOCATOR, records GUARD_STATE, vectors, one state. A guard that has just fired and still lies
on its bound is LEAVING: noise of the dense output is not a crossing then.
"""

import math

from kinetree.solvers.events.guard_state import (
    AT_B,
    AT_TRY,
    LEAVING,
    SLOPE_A,
    SLOPE_B,
    VALUE,
    guard_state,
    guard_values,
    trial_state,
)
from kinetree.solvers.integrate.controller import H, copy
from kinetree.solvers.kernel import kernel

DENSE_NOISE = (
    1e-12  # noise of a guard on the dense output, relative to its change over the interval
)

ROOT_TOLERANCE = 1e-13  # relative to the step, and to |t| up to a second
TIME_RESOLUTION = (
    3.6e-15  # relative to |t|: sixteen roundings, as of an instant that is computed in two ways
)
DEPARTURE_HALVINGS = 50  # of an interval, in search of a point at which a guard has left its bound
GOLDEN_SECTION = 0.3819660112501051
BEND = 0.5  # as far a guard may be from its chord in the middle of an interval, of its smallest value, or of the larger end if it crosses
LINEAR_HALVINGS = 10  # halvings of an interval in which a guard bends
DIP_STEPS = 40  # golden sections: 0.618^40 = 4e-9 of the interval
SLOPE_STEP, SLOPE_PART = 1e-4, 0.1  # distance for slopes, relative to the interval, and at most
SHORTEST_TIME = 1e-300  # s: between neighbouring numbers there is no slope
SLOPE_TIME = 2e-12  # at least, relative to |t|: ten thousand roundings


@kernel
def crossing_noise(ev, i, g_a, g_b):
    """Return by how much guard i may be beyond zero through round-off without having crossed."""
    guard = guard_state(ev, i)
    return max(guard.band, DENSE_NOISE * max(abs(g_a), abs(g_b))) if guard.phase == LEAVING else 0.0


@kernel
def time_resolution(mem, t):
    """Return the time difference [s] up to which two instants near t count as simultaneous."""
    return max(TIME_RESOLUTION * abs(t), ROOT_TOLERANCE * max(mem[H], min(abs(t), 1.0)))


@kernel
def evaluate_guards_at(out, ev, guards, context, interpolate, mem, t):
    """Evaluate the guards at t on the dense output; return 0 or the status of the failure."""
    y = trial_state(ev)
    interpolate(y, mem, t)
    ev.calls += 1.0
    status = guards(out, context, t, y)
    if status != 0:
        ev.failed = status
    return status


@kernel
def find_root(ev, guards, context, interpolate, mem, i, sign, a, g_a, b, g_b, noise):
    """Return the time in (a, b] just after guard i crosses zero, by regula falsi (Illinois) with
    bisection; two evaluations for a guard that is linear in time.
    """
    g_a, g_b = g_a + sign * noise, g_b + sign * noise
    trial, tolerance = guard_values(ev, AT_TRY), time_resolution(mem, b)
    held, slow, width, looked = 0, 0, b - a, False
    while b - a > tolerance:
        t = b - g_b * (b - a) / (g_b - g_a)
        behind = t <= a and not looked  # the guard is zero at a, as one of time alone may be
        looked = looked or behind
        if slow >= 3 or not (a < t < b or behind):
            t, slow = 0.5 * (a + b), 0
        t = min(max(t, a + 0.5 * tolerance), b - 0.5 * tolerance)
        if (
            not a < t < b
            or evaluate_guards_at(trial, ev, guards, context, interpolate, mem, t) != 0
        ):
            break
        g = trial[i] + sign * noise
        if sign * g < 0.0:
            b, g_b = t, g
            if held == 1:
                g_a *= 0.5
            held = 1
        else:
            a, g_a = t, g
            if held == -1:
                g_b *= 0.5
            held = -1
        slow = slow + 1 if b - a > 0.5 * width else 0
        width = b - a
    return b


@kernel
def find_departure(ev, guards, context, interpolate, mem, i, sign, a, b, noise):
    """Return a time in (a, b) at which guard i is above its noise, by bisection from b towards a; a
    if there is none.
    """
    trial, t = guard_values(ev, AT_TRY), b
    for _ in range(DEPARTURE_HALVINGS):
        t = a + 0.5 * (t - a)
        if not a < t or evaluate_guards_at(trial, ev, guards, context, interpolate, mem, t) != 0:
            return a
        if sign * trial[i] > noise:
            return t
    return a


@kernel
def slope_step(a, b):
    """Return the time difference [s] for derivatives at the ends of the interval (a, b)."""
    return min(SLOPE_PART * (b - a), max(SLOPE_STEP * (b - a), SLOPE_TIME * abs(b)))


@kernel
def compute_start_slopes(ev, guards, context, interpolate, mem, a, b):
    """Compute the time derivatives of the guards at a unless they are known."""
    slope, value, trial = (
        guard_values(ev, SLOPE_B),
        guard_values(ev, VALUE),
        guard_values(ev, AT_TRY),
    )
    if ev.slopes_at != a:
        inside = a + slope_step(a, b)
        evaluate_guards_at(trial, ev, guards, context, interpolate, mem, inside)
        for i in range(len(slope)):
            slope[i] = (trial[i] - value[i]) / max(inside - a, SHORTEST_TIME)
        ev.slopes_at = a


@kernel
def compute_end_slopes(ev, guards, context, interpolate, mem, a, b):
    """Compute the time derivatives of the guards at both ends of an interval; those at its end are
    reused for the next one.
    """
    at_b, trial, slope_b = (
        guard_values(ev, AT_B),
        guard_values(ev, AT_TRY),
        guard_values(ev, SLOPE_B),
    )
    if ev.slopes_at != b:
        compute_start_slopes(ev, guards, context, interpolate, mem, a, b)
        copy(guard_values(ev, SLOPE_A), slope_b)
        inside = b - slope_step(a, b)
        evaluate_guards_at(trial, ev, guards, context, interpolate, mem, inside)
        for i in range(len(slope_b)):
            slope_b[i] = (at_b[i] - trial[i]) / max(b - inside, SHORTEST_TIME)
        ev.slopes_at = b


@kernel
def is_sampled(ev, i):
    """Return whether guard i has a known sign and is to be sampled inside steps."""
    guard = guard_state(ev, i)
    return guard.sampled != 0.0 and guard.sign != 0.0


@kernel
def shrink_to_nearly_linear(ev, guards, context, interpolate, mem, a, b):
    """Shorten (a, b] until every guard that step-size control does not resolve is nearly linear on
    it; return status and new end.

    Both the value in the middle and the tangent at a are tested, since an oscillating guard may
    happen to meet its chord in the middle.
    """
    value, slope = guard_values(ev, VALUE), guard_values(ev, SLOPE_B)
    at_b, trial = guard_values(ev, AT_B), guard_values(ev, AT_TRY)
    some = False
    for i in range(len(value)):
        some = some or is_sampled(ev, i)
    if some:
        compute_start_slopes(ev, guards, context, interpolate, mem, a, b)
    for _ in range(LINEAR_HALVINGS if some else 0):
        middle = 0.5 * (a + b)
        if (
            not a < middle < b
            or evaluate_guards_at(trial, ev, guards, context, interpolate, mem, middle) != 0
        ):
            break  # what jumps at a breakpoint is between neighbouring numbers
        bends = False
        for i in range(len(value)):
            if is_sampled(ev, i):
                sign = guard_state(ev, i).sign
                low = max(0.0, min(sign * trial[i], sign * at_b[i]))
                if sign * at_b[i] < 0.0:
                    low = max(abs(value[i]), abs(at_b[i]))
                chord, tangent = 0.5 * (value[i] + at_b[i]), value[i] + slope[i] * (middle - a)
                bends = (
                    bends or max(abs(trial[i] - chord), 0.5 * abs(trial[i] - tangent)) > BEND * low
                )
        if not bends:
            break
        b = middle
        copy(at_b, trial)
    return b


@kernel
def find_dip(ev, guards, context, interpolate, mem, i, sign, a, b, noise):
    """Return a point of [a, b] where sign * guard i is below -noise, found by golden-section
    search, or a if there is none.
    """
    trial = guard_values(ev, AT_TRY)
    left, right, best, g_best = a, b, a, math.inf
    for _ in range(DIP_STEPS):
        right_is_longer = right - best > best - left
        t = (
            best + GOLDEN_SECTION * (right - best)
            if right_is_longer
            else best - GOLDEN_SECTION * (best - left)
        )
        if evaluate_guards_at(trial, ev, guards, context, interpolate, mem, t) != 0:
            return a
        g = sign * trial[i]
        if g < -noise:
            return t
        if g < g_best:
            left, right = (best, right) if right_is_longer else (left, best)
            best, g_best = t, g
        elif right_is_longer:
            right = t
        else:
            left = t
    return a
