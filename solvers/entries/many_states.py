"""Entry point for the evaluation of many states. Besides the blocks of the mechanism it takes dense
arrays.

`wide` is a workspace of SIMD lanes, aligned to 64 bytes. Rows of states: q and u; each row of
`rest` (null: as in the workspace) has t, x, inputs, forces along the speeds and wrenches on the
bodies.
"""

from kinetree.solvers.engine.dec import dec
from kinetree.solvers.engine.evaluation import finished, loaded, tell
from kinetree.solvers.engine.kinematics import velocities
from kinetree.solvers.engine.reactions import react
from kinetree.solvers.kernel import entry, kernel
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers import arithmetic, elementary_functions, wide_tables  # noqa: F401  (what operators and functions do with wide numbers)
from kinetree.solvers.numbers.lane_packing import gather, has, scatter, spread_workspace
from kinetree.solvers.numbers.primitive_operations import lanes_of
from kinetree.solvers.numbers.wide_views import lanes_view
from kinetree.solvers.views import floats_view, ints_view, model_view, work_view


@entry
def many(ints, floats, work, wide, count, q, u, rest, udot, registers, chosen, values):
    """Compute u̇ and chosen output registers of `count` states of a tree, WIDTH at a time;
    head.item is the first state that failed.
    """
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    lanes = lanes_view(ints, wide)
    spread_workspace(ws, lanes)
    time = lanes_of(ws.val[0])
    first = 0
    while first < count:
        left = min(WIDTH, count - first)
        for k in range(lanes.q.size):
            lanes.q[k] = gather(floats_view(q), lanes.q.size, k, first, left)
        for k in range(lanes.u.size):
            lanes.u[k] = gather(floats_view(u), lanes.u.size, k, first, left)
        if has(rest):
            time = take_rest(model, lanes, floats_view(rest), first, left)
        status = solve_lanes(model, lanes, time, chosen > 0)
        if status != 0:
            ws.head.item = first
            return status
        for k in range(lanes.udot.size):
            scatter(floats_view(udot), lanes.udot.size, k, first, left, lanes.udot[k])
        for k in range(chosen):
            scatter(floats_view(values), chosen, k, first, left, lanes.val[ints_view(registers)[k]])
        first += WIDTH
    return 0


@kernel
def take_rest(model, lanes, rest, first, left):
    """Read first-order states, inputs, time and loads of the next rows into the lanes; return the
    time.
    """
    nx, ni, nu = lanes.x.size, model.header.inputs, lanes.u.size
    loads = lanes.extra.size - 6
    width = 1 + nx + ni + nu + loads
    at = 1
    for k in range(nx):
        lanes.x[k] = gather(rest, width, at + k, first, left)
    at += nx
    for k in range(ni):
        lanes.val[model.header.r_inputs + k] = gather(rest, width, at + k, first, left)
    at += ni
    for k in range(nu):
        lanes.added[k] = gather(rest, width, at + k, first, left)
    at += nu
    for k in range(loads):
        lanes.extra[6 + k] = gather(rest, width, at + k, first, left)
    lanes.head.extra = 1.0
    return gather(rest, width, 0, first, left)


@kernel
def solve_lanes(model, lanes, time, outputs):
    """Compute accelerations, and outputs if requested, of one group of states; return the status."""
    status = loaded(model, lanes, time)
    if status == 0:
        status = dec(model, lanes)
    if status == 0 and outputs:
        react(model, lanes)
        velocities(model, lanes)
        status = finished(model, lanes)
        tell(model, lanes)
    return status
