"""Runs in SIMD lanes until the next event of any of them.

Events themselves are left to the unit of each lane. A lane is marked if one of its guards crosses
zero in a step, would do so in another step at its present rate, or deviates strongly from linearity
inside the step; its state is then that at the start of the output interval. The other lanes
complete the interval.

plan: 1 if values of the lanes are given anew; their count; rows, columns, stages; the row that was
reached. method: as in lane_steps.py. memory: state, new state, rates of the stages, state at the
start of the interval, guards now, at the step before, inside the step.
"""

import math

from kinetree.solvers.engine.evaluation import finished, tell
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import react
from kinetree.solvers.events.root_finding import BEND
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import WIDTH, Guard
from kinetree.solvers.numbers.lane_packing import scatter
from kinetree.solvers.numbers.primitive_operations import lane, with_lane
from kinetree.solvers.run.lane_steps import (
    FIXED,
    STEP_COUNT_TOLERANCE,
    accept_lanes,
    attempt_step,
    lane_rates,
)
from kinetree.solvers.views import guard_at

FRESH, VARIED, ROWS, COLUMNS, STAGES, REACHED = range(6)
IDLE, QUIET, MARKED = -1.0, 0.0, 1.0  # of a lane
TRIAL_SHARE = 0.381966011250105  # of a step, irrational: no period of a guard divides it


@kernel
def interval_start_at(lanes, plan):
    """Return the memory offset of the state at the start of an output interval."""
    return (2 + plan[STAGES]) * (lanes.q.size + lanes.u.size + lanes.x.size)


@kernel
def evaluate_lane_guards(model, lanes, seen):
    """Compute the guards of the evaluated state of all lanes."""
    status = 0
    if model.header.late_guards == 1:
        if model.header.reactions == 1:
            react(model, lanes)
        status = finished(model, lanes)
    for k in range(model.header.guards):
        seen[k] = lanes.val[guard_at(model.guards, k).register]
    return status


@kernel
def mark_lanes(model, lanes, seen, flags):
    """Mark the lanes in which a guard has crossed zero since the last step, may cross in another
    step, or oscillates inside this one.
    """
    before, inside = seen[model.header.guards :], seen[2 * model.header.guards :]
    for k in range(model.header.guards):
        before[k] = seen[k]
    status = evaluate_lane_guards(model, lanes, seen)
    for k in range(model.header.guards):
        happens = guard_at(model.guards, k).kind != Guard.JUMP
        for n in range(WIDTH):
            old, new = lane(before[k], n), lane(seen[k], n)
            off = abs(lane(inside[k], n) - (old + TRIAL_SHARE * (new - old)))
            clear = old * new > 0.0 and abs(new) > abs(new - old)
            if (
                happens
                and flags[n] == QUIET
                and not (clear and off <= BEND * min(abs(old), abs(new)))
            ):
                flags[n] = MARKED
    return status


@kernel
def evaluate_guards_inside(model, lanes, memory, plan, t, h, seen):
    """Evaluate the guards inside the step of length h from t, on the parabola through both end
    states; needs the new state and the rates before it.
    """
    n, stages = lanes.q.size + lanes.u.size + lanes.x.size, plan[STAGES]
    y, rates = memory[stages * n : (1 + stages) * n], memory[(1 + stages) * n : (2 + stages) * n]
    for i in range(n):
        along = h * memory[2 * n + i]
        y[i] = memory[i] + TRIAL_SHARE * (along + TRIAL_SHARE * (memory[n + i] - memory[i] - along))
    status = lane_rates(rates, model, lanes, t + TRIAL_SHARE * h, y)
    if status == 0:
        status = evaluate_lane_guards(model, lanes, seen[2 * model.header.guards :])
    return status


@kernel
def any_marked(flags):
    """Return whether any lane is marked."""
    found = False
    for n in range(WIDTH):
        found = found or flags[n] == MARKED
    return found


@kernel
def watched_steps(model, lanes, memory, plan, method, flags, begin, end):
    """Make equal steps of all lanes from `begin` to `end`, checking the guards after each; return
    the status.
    """
    seen = memory[interval_start_at(lanes, plan) + lanes.q.size + lanes.u.size + lanes.x.size :]
    count = max(1.0, math.ceil((end - begin) / method[FIXED] - STEP_COUNT_TOLERANCE))
    h, status, done = (end - begin) / count, 0, 0.0
    while status == 0 and done < count:
        status = attempt_step(model, lanes, memory, plan, method, begin + done * h, h)
        if status == 0:
            status = evaluate_guards_inside(model, lanes, memory, plan, begin + done * h, h, seen)
        done += 1.0
        if status == 0:
            status = accept_lanes(
                model, lanes, memory, plan, method, begin + done * h if done < count else end
            )
        if status == 0:
            status = mark_lanes(model, lanes, seen, flags)
    return status


@kernel
def write_row(model, lanes, plan, columns, table, row):
    """Write the columns of the evaluated state of all lanes to a row of `table`; return the status."""
    react(model, lanes)
    velocities(model, lanes)
    status = finished(model, lanes)
    tell(model, lanes)
    width = plan[ROWS] * plan[COLUMNS]
    for k in range(plan[COLUMNS]):
        scatter(table, width, row * plan[COLUMNS] + k, 0, WIDTH, lanes.val[columns[k]])
    return status


@kernel
def run_lanes_until_event(model, lanes, memory, plan, method, times, columns, table, flags):
    """Advance the lanes interval by interval up to the last row, or to the end of the interval in which
    a lane is marked; return the status.
    """
    n, status = lanes.q.size + lanes.u.size + lanes.x.size, 0
    begin = memory[interval_start_at(lanes, plan) :]
    status = lane_rates(memory[2 * n : 3 * n], model, lanes, times[0], memory[:n])
    if status == 0:
        status = evaluate_lane_guards(model, lanes, begin[n:])
    row = 0
    while status == 0 and row < plan[ROWS] - 1 and not any_marked(flags):
        for k in range(n):
            begin[k] = memory[k]
        status = watched_steps(
            model, lanes, memory, plan, method, flags, times[row], times[row + 1]
        )
        row += 1
        if status == 0:
            status = write_row(model, lanes, plan, columns, table, row)
    plan[REACHED] = row
    for k in range(n):
        for m in range(WIDTH):
            if flags[m] == MARKED:
                memory[k] = with_lane(memory[k], m, lane(begin[k], m))
    return status
