"""Division of a step into parts in which every guard is nearly a cubic polynomial of time, so that
values and derivatives at the ends tell its crossings.

A step may span many rotations, and prescribed motions may oscillate while the state is at rest: a
guard can then cross zero twice or more often within the step. A part is accepted if the cubic
polynomial of its ends also agrees with each guard inside the part. The point inside is at an
irrational fraction of the part, so that a periodic guard cannot repeat its end values there.
"""

import math

from kinetree.solvers.events.guard_state import (
    AT_B,
    AT_TRY,
    SLOPE_A,
    SLOPE_B,
    SUSPECTED,
    VALUE,
    guard_state,
    guard_values,
)
from kinetree.solvers.events.root_finding import (
    BEND,
    SLOPE_TIME,
    compute_end_slopes,
    evaluate_guards_at,
)
from kinetree.solvers.integrate.controller import H, copy
from kinetree.solvers.kernel import kernel

TRIAL_SHARE = 0.381966011250105  # of the part: where it is looked into, and what is left of it if it is too long
FURTHER_SHARES = (
    0.1715728752538,
    0.6180339887499,
    0.8284271247462,
)  # where a part longer than those before is looked into too
POLYNOMIAL_TOLERANCE = 0.025  # of a guard's largest value: as far it may be from the polynomial
CLEARANCE_FACTOR = 4.0  # times as far the polynomial stays off zero where a guard does not cross
SHORTEST_PART = 1e-5  # of the step: a guard that is not resolved by such a part jumps, or is noise
MAX_UNRESOLVED = 3.0  # of such parts in one step
FORGIVEN_PER_STEP = 0.125  # of them per step, so that noise costs few looks on the average
PART_GROWTH = 1.7  # of a part that was accepted: the next one
FAST_PART_GROWTH, EASY_ERROR = 3.0, 1.0 / 256.0  # of one with this share of the allowed error
NEGLIGIBLE_ERROR = 1e-6  # of the allowed error: the next part may be as long as the step
SAME_LENGTH = 1.0 + 1e-9  # lengths of parts that differ by rounding are the same


@kernel
def next_part_end(ev, a, b):
    """Return the end of the part of (a, b] to try next: not much longer than the last part that was
    resolved.
    """
    span = max(ev.span_tried, 10.0 * SLOPE_TIME * abs(b))
    return b if ev.span_tried == 0.0 else min(b, a + span)


@kernel
def shrink_to_resolved(ev, guards, context, interpolate, mem, a, b):
    """Shorten (a, b] until every guard with a known sign is resolved; AT_B, SLOPE_A and SLOPE_B
    then belong to its ends. Return status and new end.
    """
    watched, trial = False, guard_values(ev, AT_TRY)
    for i in range(len(trial)):
        watched = watched or guard_state(ev, i).watch != 0.0
    if not watched:
        return b
    compute_end_slopes(ev, guards, context, interpolate, mem, a, b)
    seen = b - a <= SAME_LENGTH * ev.span and not any_suspicious(ev, b - a)
    floor = max(SHORTEST_PART * mem[H], 10.0 * SLOPE_TIME * abs(b))
    if seen or ev.unresolved >= MAX_UNRESOLVED or b - a <= floor:
        return b
    while True:
        inside = a + TRIAL_SHARE * (b - a)
        if evaluate_guards_at(trial, ev, guards, context, interpolate, mem, inside) != 0:
            return b
        worst = largest_error(ev, b - a, TRIAL_SHARE)
        if b - a > SAME_LENGTH * ev.span:
            for share in FURTHER_SHARES:
                if worst <= 1.0:
                    if (
                        evaluate_guards_at(
                            trial, ev, guards, context, interpolate, mem, a + share * (b - a)
                        )
                        != 0
                    ):
                        return b
                    worst = max(worst, largest_error(ev, b - a, share))
            if (
                worst > 1.0
                and evaluate_guards_at(trial, ev, guards, context, interpolate, mem, inside) != 0
            ):
                return b
        if worst <= 1.0:
            ev.span = b - a
            ev.span_tried = (
                0.0
                if worst <= NEGLIGIBLE_ERROR
                else (FAST_PART_GROWTH if worst <= EASY_ERROR else PART_GROWTH) * (b - a)
            )
            return b
        if inside - a <= floor:
            ev.span, ev.span_tried = 0.0, 0.0
            ev.unresolved += 1.0
            mark_unresolved(ev, b - a)
            return b
        b = inside
        copy(guard_values(ev, AT_B), trial)
        ev.slopes_at = -math.inf
        compute_end_slopes(ev, guards, context, interpolate, mem, a, b)


@kernel
def any_suspicious(ev, h):
    """Return whether any guard must be sampled inside a part of length h."""
    found = False
    for i in range(int(ev.guards)):
        found = found or is_suspicious(ev, i, h)
    return found


@kernel
def is_suspicious(ev, i, h):
    """Return whether guard i has an extremum near zero, or its change over h differs from h times
    its mean derivative.
    """
    g_a, g_b, sign = (
        guard_values(ev, VALUE)[i],
        guard_values(ev, AT_B)[i],
        guard_state(ev, i).sign,
    )
    s_a, s_b = h * guard_values(ev, SLOPE_A)[i], h * guard_values(ev, SLOPE_B)[i]
    size = max(abs(g_a), abs(g_b))
    if not is_watched(ev, i) or size <= guard_state(ev, i).unresolved_size:
        return False
    turns = (
        sign * s_a < 0.0 < sign * s_b
        and cubic_minimum(sign * g_a, s_a * sign, sign * g_b, s_b * sign) < BEND * size
    )
    return turns or abs(g_b - g_a - 0.5 * (s_a + s_b)) > 0.5 * BEND * size


@kernel
def is_watched(ev, i):
    """Return whether double crossings of guard i are searched."""
    return guard_state(ev, i).watch != 0.0 and guard_state(ev, i).sign != 0.0


@kernel
def largest_error(ev, h, share):
    """Return the largest deviation of a guard from its cubic polynomial inside a part of length h,
    relative to the tolerance; `share` is the fraction of the part.
    """
    worst = 0.0
    for i in range(int(ev.guards)):
        if is_watched(ev, i):
            guard = guard_state(ev, i)
            worst = max(worst, polynomial_error(ev, i, h, share))
            if guard.unresolved_size == SUSPECTED and worst <= 1.0:
                guard.unresolved_size = 0.0
    return worst


@kernel
def polynomial_error(ev, i, h, share):
    """Return the deviation of guard i from its cubic polynomial inside the part, relative to the
    tolerance; AT_TRY holds the value there.
    """
    sign, noise = guard_state(ev, i).sign, guard_state(ev, i).unresolved_size
    g = guard_values(ev, AT_TRY)[i]
    g_a, g_b = guard_values(ev, VALUE)[i], guard_values(ev, AT_B)[i]
    s_a, s_b = h * guard_values(ev, SLOPE_A)[i], h * guard_values(ev, SLOPE_B)[i]
    size = max(abs(g_a), abs(g_b), abs(g))
    off = abs(g - cubic_value(g_a, s_a, g_b, s_b, share))
    if off == 0.0 or size <= noise:
        return 0.0
    clear = max(0.0, cubic_minimum(sign * g_a, sign * s_a, sign * g_b, sign * s_b))
    return off / max(POLYNOMIAL_TOLERANCE * size, clear / CLEARANCE_FACTOR)


@kernel
def cubic_value(g_a, s_a, g_b, s_b, s):
    """Return the cubic polynomial with values g_a, g_b and derivatives s_a, s_b at 0 and 1,
    evaluated at s.
    """
    rise = g_b - g_a
    return g_a + s * (s_a + s * (3.0 * rise - 2.0 * s_a - s_b + s * (s_a + s_b - 2.0 * rise)))


@kernel
def cubic_minimum_place(g_a, s_a, g_b, s_b):
    """Return the position between 0 and 1 of a local minimum of the cubic polynomial with these end
    values and derivatives, or -1.
    """
    rise = g_b - g_a
    bend, twist = 3.0 * rise - 2.0 * s_a - s_b, 3.0 * (s_a + s_b - 2.0 * rise)
    square = bend * bend - twist * s_a
    if square <= 0.0:
        return -1.0
    root, s = math.sqrt(square), -1.0
    if bend + root > 0.0 and bend > 0.0:
        s = -s_a / (bend + root)
    elif twist != 0.0:
        s = (root - bend) / twist
    return s if 0.0 < s < 1.0 else -1.0


@kernel
def cubic_minimum(g_a, s_a, g_b, s_b):
    """Return the smallest value between 0 and 1 of the cubic polynomial with these end values and
    derivatives.
    """
    s = cubic_minimum_place(g_a, s_a, g_b, s_b)
    inside = cubic_value(g_a, s_a, g_b, s_b, s) if s > 0.0 else g_a
    return min(min(g_a, g_b), inside)


@kernel
def mark_unresolved(ev, h):
    """Treat the guard values reached here as noise until the next event, for guards that the
    shortest part left unresolved twice in a row.
    """
    for i in range(int(ev.guards)):
        if is_watched(ev, i) and polynomial_error(ev, i, h, TRIAL_SHARE) > 1.0:
            size = max(
                abs(guard_values(ev, VALUE)[i]),
                abs(guard_values(ev, AT_B)[i]),
                abs(guard_values(ev, AT_TRY)[i]),
            )
            guard = guard_state(ev, i)
            guard.unresolved_size = 2.0 * size if guard.unresolved_size != 0.0 else SUSPECTED
