"""Signs of the guards where a motion goes on after the actions of events: what has happened, what may happen again.

An event happens when its condition comes true. Right after it the guard lies on its bound, on one side or the other by rounding, by the error of the
dense output or by the closing of loops; there the rate of the guard tells, which the values cannot.
"""

import math

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
    SIGN,
    SLOPES_AT,
    VALUE,
    per_guard,
)

RATE_STEP = 1e-3  # distance for one-sided rates, relative to the next step: nothing moves far in it
SAME_INSTANT = 1e-11  # relative to the larger of |t| and the step: a guard that needs less to reach its bound is on it


@kernel
def events_resume(ev, guards, context, mem, met, noise):
    """Signs after the actions of events, with the state of a restarted integrator: a guard that nothing moved keeps its own.

    A guard that happened (met) and lies on its bound within `noise`, or within the resolution of time, gets the sign to which its rate takes it: one
    whose condition goes on to hold does not happen again, one that the actions turned back does when it returns.
    """
    t, y = mem[T_NEW], block(mem, Y_NEW)
    value, sign, fired, band, state = per_guard(ev, VALUE), per_guard(ev, SIGN), per_guard(ev, FIRED), per_guard(ev, BAND), per_guard(ev, ARM)
    ev[CHECKED] = t
    ev[SLOPES_AT] = -math.inf
    ev[CALLS] += 1.0
    status = guards(value, context, t, y)
    far, near = per_guard(ev, AT_B), per_guard(ev, AT_TRY)
    some = False
    for i in range(len(value)):
        some = some or met[i] != 0.0
    if status == 0 and some:
        status = rates_of(ev, far, guards, context, mem, 1.0)
    if status == 0 and some:
        status = rates_of(ev, near, guards, context, mem, 0.5)
    for i in range(len(value)):
        fired[i] = 0.0
        if met[i] == 0.0:
            if abs(value[i]) > (max(band[i], noise[i]) if state[i] == LEAVING else band[i]):
                sign[i] = math.copysign(1.0, value[i])
            continue
        steady = far[i] * near[i] > 0.0 and abs(far[i]) < 2.0 * abs(near[i]) < 4.0 * abs(far[i])
        way = SAME_INSTANT * max(abs(t), mem[H_NEXT]) * abs(near[i]) if steady else 0.0
        if abs(value[i]) > max(noise[i], way):
            sign[i], state[i], band[i] = math.copysign(1.0, value[i]), 0.0, 0.0
        else:
            sign[i], state[i] = (math.copysign(1.0, near[i]), LEAVING) if steady else (0.0, 1.0)
            band[i] = 2.0 * abs(value[i])
            value[i] = 0.0
    return status


@kernel
def rates_of(ev, out, guards, context, mem, share):
    """One-sided rates of the guards in VALUE along the rates of the state, by a difference over a share of a thousandth of the next step."""
    y, f, moved = block(mem, Y_NEW), block(mem, F_NEW), ev[EV_HEADER + GUARD_BLOCKS * int(ev[GUARDS]) :]
    d = share * RATE_STEP * mem[H_NEXT]
    for k in range(len(y)):
        moved[k] = y[k] + d * f[k]
    ev[CALLS] += 1.0
    status = guards(out, context, mem[T_NEW] + d, moved)
    value = per_guard(ev, VALUE)
    for i in range(len(value)):
        out[i] = (out[i] - value[i]) / d
    return status
