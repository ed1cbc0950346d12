"""WIDTH runs of one tree in SIMD lanes by an explicit Runge-Kutta method with a given tableau.

y = (q, u, x) in lanes; all lanes take the same steps: fixed ones, or as long as the lane with the
largest error allows, |error| being the root mean square of the components over (absolute + relative
|y|). Only for runs without events.

plan: numbers of runs, varied registers, rows, columns, stages; steps at most. method: relative and
absolute tolerance, fixed step (0: by the error), order of the error, 1 where the last stage is the
first of the next step, the next step, steps taken; then c, b, e (b minus the weights of the lower
order) and a of the table, row by row.
"""

import math

from kinetree.solvers.algebra.lane_select import select
from kinetree.solvers.engine.dec import dec
from kinetree.solvers.engine.evaluation import finished, loaded
from kinetree.solvers.engine.reactions import react
from kinetree.solvers.instance.derivatives import coordinate_rates
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import WIDTH, Status
from kinetree.solvers.numbers.primitive_operations import lane, lanes_of

RUNS, VARIED, ROWS, COLUMNS, STAGES, MOST = range(6)
RELATIVE, ABSOLUTE, FIXED, ORDER, SAME_LAST, NEXT, STEPS, TABLE = range(8)
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
SMALLEST_STEP = 1e-14  # step relative to the time
STEP_COUNT_TOLERANCE = (
    1e-9  # of a fixed step: an interval this much longer than whole steps is one of whole steps
)


@kernel
def lane_rates(out, model, lanes, t, y):
    """Compute the rates of the state y of all lanes; return the status."""
    nq, nu, nx = lanes.q.size, lanes.u.size, lanes.x.size
    for k in range(nq):
        lanes.q[k] = y[k]
    for k in range(nu):
        lanes.u[k] = y[nq + k]
    for k in range(nx):
        lanes.x[k] = y[nq + nu + k]
    status = loaded(model, lanes, lanes_of(t))
    if status == 0:
        status = dec(model, lanes)
    if status != 0:
        return status
    coordinate_rates(out, model, lanes)
    for j in range(nu):
        out[nq + j] = lanes.udot[j]
    if nx > 0:
        if model.header.reactions == 1:
            react(model, lanes)
        status = finished(model, lanes)
        for k in range(nx):
            out[nq + nu + k] = lanes.xdot[k]
    return status


@kernel
def attempt_step(model, lanes, memory, plan, method, t, h):
    """Compute all Runge-Kutta stages and the new state of all lanes; return the status."""
    n, stages = lanes.q.size + lanes.u.size + lanes.x.size, plan[STAGES]
    a = TABLE + 3 * stages
    new = memory[n : 2 * n]
    for s in range(1, stages):
        for i in range(n):
            sum_of = memory[i]
            for j in range(s):
                if method[a + s * stages + j] != 0.0:
                    sum_of = sum_of + (h * method[a + s * stages + j]) * memory[(2 + j) * n + i]
            new[i] = sum_of
        status = lane_rates(
            memory[(2 + s) * n : (3 + s) * n], model, lanes, t + h * method[TABLE + s], new
        )
        if status != 0:
            return status
    for i in range(n):
        sum_of = memory[i]
        for j in range(stages):
            sum_of = sum_of + (h * method[TABLE + stages + j]) * memory[(2 + j) * n + i]
        new[i] = sum_of
    return 0


@kernel
def largest_error(lanes, memory, plan, method, h):
    """Return the error of an attempted step, relative to the tolerance, in the worst lane; infinity
    if a lane is not finite.
    """
    n, stages = lanes.q.size + lanes.u.size + lanes.x.size, plan[STAGES]
    total = lanes_of(0.0)
    for i in range(n):
        error = lanes_of(0.0)
        for j in range(stages):
            error = error + (h * method[TABLE + 2 * stages + j]) * memory[(2 + j) * n + i]
        old, new = abs(memory[i]), abs(memory[n + i])
        part = error / (method[ABSOLUTE] + method[RELATIVE] * select(new > old, new, old))
        total = total + part * part
    worst = 0.0
    for k in range(WIDTH):
        if not lane(total, k) < math.inf:
            return math.inf
        worst = max(worst, lane(total, k))
    return math.sqrt(worst / max(n, 1))


@kernel
def accept_lanes(model, lanes, memory, plan, method, t):
    """Accept the new state of all lanes and compute its rates; return the status."""
    n = lanes.q.size + lanes.u.size + lanes.x.size
    for i in range(n):
        memory[i] = memory[n + i]
    if method[SAME_LAST] != 0.0:
        last = (1 + plan[STAGES]) * n
        for i in range(n):
            memory[2 * n + i] = memory[last + i]
        return 0
    return lane_rates(memory[2 * n : 3 * n], model, lanes, t, memory[:n])


@kernel
def run_lanes(model, lanes, memory, plan, method, begin, end):
    """Integrate all lanes from time `begin` to `end`, overwriting their states; return the status."""
    t, left = begin, 1.0
    if method[FIXED] > 0.0:
        left = max(1.0, math.ceil((end - begin) / method[FIXED] - STEP_COUNT_TOLERANCE))
        method[NEXT] = (end - begin) / left
    while t < end:
        planned = method[NEXT]
        last = (
            left <= 1.0
            if method[FIXED] > 0.0
            else planned >= (1.0 - STEP_COUNT_TOLERANCE) * (end - t)
        )
        h = end - t if last else planned
        method[STEPS] += 1.0
        if h < SMALLEST_STEP * max(abs(t), 1e-6) or method[STEPS] > plan[MOST]:
            return Status.TOO_MANY_STEPS
        status = attempt_step(model, lanes, memory, plan, method, t, h)
        error = (
            math.inf
            if status != 0
            else 0.0
            if method[FIXED] > 0.0
            else largest_error(lanes, memory, plan, method, h)
        )
        if method[FIXED] > 0.0 and status != 0:
            return status
        if error <= 1.0:
            t = end if last else t + h
            left -= 1.0
            status = accept_lanes(model, lanes, memory, plan, method, t)
            if status != 0:
                return status
        if method[FIXED] == 0.0:
            factor = (
                SAFETY / max(error, 1e-10) ** (1.0 / method[ORDER]) if error < math.inf else SHRINK
            )
            after = h * min(max(factor, SHRINK), GROW)
            method[NEXT] = max(after, planned) if last and error <= 1.0 else after
    return 0
