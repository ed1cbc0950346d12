"""Signs of the guards after events: which have fired and which may fire again.

An event happens when its condition comes true. Right after it the guard lies on its bound, on one side or the other by rounding, by the error of the
dense output or by the closing of loops; there the rate of the guard tells, which the values cannot.
"""

import math

from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate.controller import F_NEW, H_NEXT, T_NEW, Y_NEW, block
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.event_search import (
    ARM,
    AT_B,
    AT_TRY,
    BAND,
    CALLS,
    CHECKED,
    EV_HEADER,
    FIRED,
    GUARD_BLOCKS,
    GUARDS,
    LEAVING,
    NOISE,
    SIGN,
    SLOPE_A,
    SLOPES_AT,
    VALUE,
    guard_values,
)

LONGEST_INSTANT = 1e-10  # s
RATE_STEP = 1e-3  # shortest distance for one-sided rates, relative to the next step: nothing moves far in it
MAX_RATE_TRIES = 5  # each 32 times as long
SAME_INSTANT, SAME_TIME = (
    1e-11,
    3.6e-13,
)  # relative to the step, and to |t|: a guard that needs less to reach its bound is on it


@kernel
def instant_width(t, step):
    """Return the time [s] up to which a guard is on its bound: that of the dense output's error, and of roundings of late times."""
    return max(
        SAME_INSTANT * step, min(SAME_INSTANT * abs(t), LONGEST_INSTANT + SAME_TIME * abs(t))
    )


@kernel
def resume_signs(ev, guards, context, mem, met, noise):
    """Set the guard signs after event actions; unaffected guards keep theirs.

    A guard that happened (met) and lies on its bound within `noise`, or within the resolution of time, gets the sign to which its rate takes it: one
    whose condition goes on to hold does not happen again, one that the actions turned back does when it returns. One that was judged and has not
    happened (NOT_YET) is below its bound; so is what a contact watches from now on that has opened without speed (DUE).
    """
    t, y = mem[T_NEW], block(mem, Y_NEW)
    value, sign, fired, band, state = (
        guard_values(ev, VALUE),
        guard_values(ev, SIGN),
        guard_values(ev, FIRED),
        guard_values(ev, BAND),
        guard_values(ev, ARM),
    )
    ev[CHECKED] = t
    ev[SLOPES_AT] = -math.inf
    ev[CALLS] += 1.0
    status = guards(value, context, t, y)
    some = False
    for i in range(len(value)):
        some = some or met[i] > 0.0
    rate = guard_values(ev, SLOPE_A)
    if status == 0 and some:
        estimate_guard_rates(ev, guards, context, mem, met)
    for i in range(len(value)):
        fired[i], guard_values(ev, NOISE)[i] = 0.0, 0.0
        if met[i] < 0.0:
            sign[i], state[i], band[i] = -1.0, 0.0, 0.0
        elif met[i] == U.DUE:
            sign[i], state[i], band[i], value[i] = -1.0, LEAVING, noise[i], 0.0
        elif met[i] == 0.0:
            if abs(value[i]) > (max(band[i], noise[i]) if state[i] == LEAVING else band[i]):
                sign[i] = math.copysign(1.0, value[i])
        elif abs(value[i]) > max(noise[i], instant_width(t, mem[H_NEXT]) * abs(rate[i])):
            sign[i], state[i], band[i] = math.copysign(1.0, value[i]), 0.0, 0.0
        else:
            sign[i], state[i] = (
                (math.copysign(1.0, rate[i]), LEAVING) if rate[i] != 0.0 else (0.0, 1.0)
            )
            band[i] = 2.0 * abs(value[i])
            value[i] = 0.0
    return status


@kernel
def estimate_guard_rates(ev, guards, context, mem, met):
    """Compute one-sided derivatives of fired guards by differences at two distances.

    Along the rates of the state nothing but the guard itself is curved, so that long distances are as good where rounding hides short ones. Where
    the mechanism cannot be evaluated, as it may not far away, there is nothing more to learn.
    """
    far, near, rate = guard_values(ev, AT_B), guard_values(ev, AT_TRY), guard_values(ev, SLOPE_A)
    for i in range(len(rate)):
        rate[i] = 0.0
    distance, open_ones = RATE_STEP * mem[H_NEXT], 1
    for _ in range(MAX_RATE_TRIES):
        if (
            open_ones == 0
            or guard_differences(ev, far, guards, context, mem, distance) != 0
            or guard_differences(ev, near, guards, context, mem, 0.5 * distance) != 0
        ):
            break
        open_ones = 0
        for i in range(len(rate)):
            if met[i] > 0.0 and rate[i] == 0.0:
                steady = far[i] * near[i] > 0.0 and 2.0 * abs(far[i]) < 3.0 * abs(
                    near[i]
                ) < 4.5 * abs(far[i])
                rate[i] = near[i] if steady else 0.0
                open_ones += 0 if steady else 1
        distance *= 32.0


@kernel
def guard_differences(ev, out, guards, context, mem, d):
    """Differences of the guards over the time d along the rates of the state."""
    y, f, moved = (
        block(mem, Y_NEW),
        block(mem, F_NEW),
        ev[EV_HEADER + GUARD_BLOCKS * int(ev[GUARDS]) :],
    )
    for k in range(len(y)):
        moved[k] = y[k] + d * f[k]
    ev[CALLS] += 1.0
    status = guards(out, context, mem[T_NEW] + d, moved)
    value = guard_values(ev, VALUE)
    for i in range(len(value)):
        out[i] = (out[i] - value[i]) / d
    return status
