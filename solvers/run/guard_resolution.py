"""Parts of a step in which every guard is nearly a cubic polynomial of time, so that values and slopes at the ends tell how often it crosses zero.

The step of an integrator may be many turns of a rotation long, and given motions may swing while the state stands still: a guard of such a step
can cross zero twice between its ends, or many times. A part is accepted when the cubic polynomial of its ends meets each guard inside of the part as
well. The place inside is an irrational share of the part, so that no period of a guard repeats there what the ends show.
"""

import math

from kinetree.solvers.integrate.controller import H, copy
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.event_search import (
    AT_B,
    AT_TRY,
    BEND,
    NOISE,
    SIGN,
    SLOPE_A,
    SLOPE_B,
    SLOPE_TIME,
    SLOPES_AT,
    SPAN,
    SPAN_TRIED,
    UNRESOLVED,
    VALUE,
    WATCH,
    end_slopes,
    guards_at,
    per_guard,
)

SHARE = 0.381966011250105  # of the part: where it is looked into, and what is left of it if it is too long
FURTHER = (
    0.1715728752538,
    0.6180339887499,
    0.8284271247462,
)  # where a part longer than those before is looked into too
EXACT = 0.025  # of a guard's largest value: as far it may be from the polynomial
CLEAR = 4.0  # times as far the polynomial stays off zero where a guard does not cross
SHORTEST = 1e-5  # of the step: a guard that is not resolved by such a part jumps, or is noise
MOST_UNRESOLVED = 3.0  # of such parts in one step
FORGIVEN = 0.125  # of them per step, so that noise costs few looks on the average
GROWTH = 1.7  # of a part that was accepted: the next one
FAST_GROWTH, EASY = 3.0, 1.0 / 256.0  # of one with this share of the allowed error
EXACTLY = 1e-6  # of the allowed error: the next part may be as long as the step
SAME = 1.0 + 1e-9  # lengths of parts that differ by rounding are the same


@kernel
def longest_part(ev, a, b):
    """Return the end of the part of (a, b] that is tried next: not much longer than the last one that was resolved."""
    span = max(ev[SPAN_TRIED], 10.0 * SLOPE_TIME * abs(b))
    return b if ev[SPAN_TRIED] == 0.0 else min(b, a + span)


@kernel
def resolved_part(ev, guards, context, interpolate, mem, a, b):
    """Shorten (a, b] until every guard with a sign is resolved; AT_B, SLOPE_A and SLOPE_B are those of its ends. Returns the new end."""
    watch, watched, trial = per_guard(ev, WATCH), False, per_guard(ev, AT_TRY)
    for i in range(len(watch)):
        watched = watched or watch[i] != 0.0
    if not watched:
        return b
    end_slopes(ev, guards, context, interpolate, mem, a, b)
    seen = b - a <= SAME * ev[SPAN] and not any_suspicious(ev, b - a)
    floor = max(SHORTEST * mem[H], 10.0 * SLOPE_TIME * abs(b))
    if seen or ev[UNRESOLVED] >= MOST_UNRESOLVED or b - a <= floor:
        return b
    while True:
        inside = a + SHARE * (b - a)
        if guards_at(trial, ev, guards, context, interpolate, mem, inside) != 0:
            return b
        worst = largest_error(ev, b - a, SHARE)
        if b - a > SAME * ev[SPAN]:
            for share in FURTHER:
                if worst <= 1.0:
                    if (
                        guards_at(trial, ev, guards, context, interpolate, mem, a + share * (b - a))
                        != 0
                    ):
                        return b
                    worst = max(worst, largest_error(ev, b - a, share))
            if worst > 1.0 and guards_at(trial, ev, guards, context, interpolate, mem, inside) != 0:
                return b
        if worst <= 1.0:
            ev[SPAN] = b - a
            ev[SPAN_TRIED] = (
                0.0 if worst <= EXACTLY else (FAST_GROWTH if worst <= EASY else GROWTH) * (b - a)
            )
            return b
        if inside - a <= floor:
            ev[SPAN], ev[SPAN_TRIED] = 0.0, 0.0
            ev[UNRESOLVED] += 1.0
            note_noise(ev, b - a)
            return b
        b = inside
        copy(per_guard(ev, AT_B), trial)
        ev[SLOPES_AT] = -math.inf
        end_slopes(ev, guards, context, interpolate, mem, a, b)


@kernel
def any_suspicious(ev, h):
    """Return whether some guard has to be looked at inside of a part of length h."""
    found = False
    for i in range(len(per_guard(ev, SIGN))):
        found = found or suspicious(ev, i, h)
    return found


@kernel
def suspicious(ev, i, h):
    """Return whether guard i has an extremum near zero, or its change is not h times its mean slope."""
    g_a, g_b, sign = per_guard(ev, VALUE)[i], per_guard(ev, AT_B)[i], per_guard(ev, SIGN)[i]
    s_a, s_b = h * per_guard(ev, SLOPE_A)[i], h * per_guard(ev, SLOPE_B)[i]
    size = max(abs(g_a), abs(g_b))
    if not regarded(ev, i) or size <= per_guard(ev, NOISE)[i]:
        return False
    turns = (
        sign * s_a < 0.0 < sign * s_b
        and lowest(sign * g_a, s_a * sign, sign * g_b, s_b * sign) < BEND * size
    )
    return turns or abs(g_b - g_a - 0.5 * (s_a + s_b)) > 0.5 * BEND * size


@kernel
def regarded(ev, i):
    """Return whether double crossings of guard i are looked for."""
    return per_guard(ev, WATCH)[i] != 0.0 and per_guard(ev, SIGN)[i] != 0.0


@kernel
def largest_error(ev, h, share):
    """Return the largest distance of a guard from its cubic polynomial inside a part of length h, relative to the allowed one."""
    worst = 0.0
    for i in range(len(per_guard(ev, SIGN))):
        if regarded(ev, i):
            worst = max(worst, error_of(ev, i, h, share))
            if per_guard(ev, NOISE)[i] < 0.0 and worst <= 1.0:
                per_guard(ev, NOISE)[i] = 0.0
    return worst


@kernel
def error_of(ev, i, h, share):
    """Return the distance of guard i from its chord; its value inside the part is in AT_TRY."""
    sign, g, noise = per_guard(ev, SIGN)[i], per_guard(ev, AT_TRY)[i], per_guard(ev, NOISE)[i]
    g_a, g_b = per_guard(ev, VALUE)[i], per_guard(ev, AT_B)[i]
    s_a, s_b = h * per_guard(ev, SLOPE_A)[i], h * per_guard(ev, SLOPE_B)[i]
    size = max(abs(g_a), abs(g_b), abs(g))
    off = abs(g - polynomial(g_a, s_a, g_b, s_b, share))
    if off == 0.0 or size <= noise:
        return 0.0
    clear = max(0.0, lowest(sign * g_a, sign * s_a, sign * g_b, sign * s_b))
    return off / max(EXACT * size, clear / CLEAR)


@kernel
def polynomial(g_a, s_a, g_b, s_b, s):
    """Return the cubic polynomial with values g_a, g_b and slopes s_a, s_b at 0 and 1, evaluated at s."""
    rise = g_b - g_a
    return g_a + s * (s_a + s * (3.0 * rise - 2.0 * s_a - s_b + s * (s_a + s_b - 2.0 * rise)))


@kernel
def valley(g_a, s_a, g_b, s_b):
    """Return the place between 0 and 1 at which that polynomial has a local minimum, or -1."""
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
def lowest(g_a, s_a, g_b, s_b):
    """Return the smallest value of that polynomial between 0 and 1."""
    s = valley(g_a, s_a, g_b, s_b)
    inside = polynomial(g_a, s_a, g_b, s_b, s) if s > 0.0 else g_a
    return min(min(g_a, g_b), inside)


@kernel
def note_noise(ev, h):
    """Treat values of this size as noise until the next event, for guards that the shortest part has not resolved twice in a row."""
    noise = per_guard(ev, NOISE)
    for i in range(len(noise)):
        if regarded(ev, i) and error_of(ev, i, h, SHARE) > 1.0:
            size = max(
                abs(per_guard(ev, VALUE)[i]),
                abs(per_guard(ev, AT_B)[i]),
                abs(per_guard(ev, AT_TRY)[i]),
            )
            noise[i] = 2.0 * size if noise[i] != 0.0 else -1.0
