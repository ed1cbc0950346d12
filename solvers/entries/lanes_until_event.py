"""Entry point that advances WIDTH runs of one structure in SIMD lanes until the first event of any
of them.
"""

from kinetree.solvers.entries.ensemble_runs import put_varied
from kinetree.solvers.kernel import entry
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers import arithmetic, elementary_functions, wide_tables  # noqa: F401  (what operators and functions do with wide numbers)
from kinetree.solvers.numbers.lane_packing import gather, scatter, spread_workspace
from kinetree.solvers.numbers.wide_views import lanes_row, lanes_view
from kinetree.solvers.run import lanes_until_event as S
from kinetree.solvers.views import floats_view, ints_view, model_view, work_view


@entry
def stretch(
    ints,
    floats,
    work,
    wide,
    scratch,
    plan,
    method,
    varied,
    values,
    states,
    times,
    columns,
    table,
    flags,
):
    """Advance lanes from their rows of `states` (q, u, x) until the last row or an event; `table`
    is filled lane by lane.

    If the plan says so, register values are first copied from `work`, except the `varied` ones,
    which come from rows of `values`. `flags`: -1 for lanes without a run; set to 1 for lanes with
    an event in the last interval.
    """
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    lanes = lanes_view(ints, wide)
    memory, p, y = lanes_row(scratch), ints_view(plan), floats_view(states)
    if p[S.FRESH] == 1:
        spread_workspace(ws, lanes)
        for k in range(p[S.VARIED]):
            put_varied(
                lanes, ints_view(varied)[k], gather(floats_view(values), p[S.VARIED], k, 0, WIDTH)
            )
    n = ws.q.size + ws.u.size + ws.x.size
    for k in range(n):
        memory[k] = gather(y, n, k, 0, WIDTH)
    status = S.run_lanes_until_event(
        model,
        lanes,
        memory,
        p,
        floats_view(method),
        floats_view(times),
        ints_view(columns),
        floats_view(table),
        floats_view(flags),
    )
    for k in range(n):
        scatter(y, n, k, 0, WIDTH, memory[k])
    return status
