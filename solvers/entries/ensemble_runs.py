"""Entry point for many runs of one tree, WIDTH at a time: equal structure, different register
values and start states.
"""

from kinetree.solvers.engine.evaluation import finished, tell
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import react
from kinetree.solvers.kernel import entry, kernel
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers import arithmetic, elementary_functions, wide_tables  # noqa: F401  (what operators and functions do with wide numbers)
from kinetree.solvers.numbers.lane_packing import gather, scatter, spread_workspace
from kinetree.solvers.numbers.wide_views import lanes_row, lanes_view
from kinetree.solvers.run import lane_steps as E
from kinetree.solvers.views import floats_view, ints_view, model_view, work_view


@entry
def ensemble(
    ints,
    floats,
    work,
    wide,
    scratch,
    plan,
    method,
    varied,
    values,
    starts,
    times,
    columns,
    table,
    codes,
):
    """Compute runs over all output times. Rows of `values` are the varied values (registers,
    constants), rows of `starts` the start states q, u, x.

    `table` receives the chosen registers, run by run, time by time; `codes` a status per WIDTH
    runs.
    """
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    lanes = lanes_view(ints, wide)
    spread_workspace(ws, lanes)
    memory, p, m = lanes_row(scratch), ints_view(plan), floats_view(method)
    n = ws.q.size + ws.u.size + ws.x.size
    planned = m[E.NEXT]
    for first in range(0, p[E.RUNS], WIDTH):
        left = min(WIDTH, p[E.RUNS] - first)
        for k in range(p[E.VARIED]):
            put_varied(
                lanes,
                ints_view(varied)[k],
                gather(floats_view(values), p[E.VARIED], k, first, left),
            )
        for k in range(n):
            memory[k] = gather(floats_view(starts), n, k, first, left)
        m[E.NEXT], m[E.STEPS] = planned, 0.0
        status = run_group(
            model,
            lanes,
            memory,
            p,
            m,
            floats_view(times),
            ints_view(columns),
            floats_view(table),
            first,
        )
        floats_view(codes)[first // WIDTH] = status
    return 0


@kernel
def put_varied(lanes, k, numbers):
    """Write varied value k (register or constant) of WIDTH runs to the lanes."""
    if k < lanes.val.size:
        lanes.val[k] = numbers
    elif k < lanes.val.size + lanes.body.size:
        lanes.body[k - lanes.val.size] = numbers
    elif k < lanes.val.size + lanes.body.size + lanes.elem.size:
        lanes.elem[k - lanes.val.size - lanes.body.size] = numbers
    else:
        lanes.rotor[k - lanes.val.size - lanes.body.size - lanes.elem.size] = numbers


@kernel
def run_group(model, lanes, memory, plan, method, times, columns, table, first):
    """Integrate one group of WIDTH runs in lanes over all output times and fill the table; return
    the status.
    """
    n = lanes.q.size + lanes.u.size + lanes.x.size
    status = E.lane_rates(memory[2 * n : 3 * n], model, lanes, times[0], memory[:n])
    for row in range(plan[E.ROWS]):
        if status == 0 and row > 0:
            status = E.run_lanes(model, lanes, memory, plan, method, times[row - 1], times[row])
        if status == 0:
            status = record(model, lanes, memory, plan, times[row], columns, table, row, first)
    return status


@kernel
def record(model, lanes, memory, plan, t, columns, table, row, first):
    """Evaluate the current state of all lanes and write its columns to a row of the table."""
    n = lanes.q.size + lanes.u.size + lanes.x.size
    status = E.lane_rates(memory[n : 2 * n], model, lanes, t, memory[:n])
    if status == 0:
        react(model, lanes)
        velocities(model, lanes)
        status = finished(model, lanes)
        tell(model, lanes)
    width, left = plan[E.ROWS] * plan[E.COLUMNS], min(WIDTH, plan[E.RUNS] - first)
    for k in range(plan[E.COLUMNS]):
        scatter(table, width, row * plan[E.COLUMNS] + k, first, left, lanes.val[columns[k]])
    return status
