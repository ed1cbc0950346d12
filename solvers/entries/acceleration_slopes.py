"""Entry point for derivatives of accelerations and outputs with respect to state, forces and
inputs, about the state and accelerations in the workspace.

`wide` is a workspace of duals, aligned to 64 bytes. For trees the equations are differentiated
(`numbers/tree_derivatives.py`), loops are solved with duals.
"""

from kinetree.solvers.engine.dec import apply_loads, dec
from kinetree.solvers.engine.evaluation import finished, loaded, pushed, see, set_registers, tell
from kinetree.solvers.engine.kinematics import start_ground, velocities
from kinetree.solvers.engine.reactions import react
from kinetree.solvers.kernel import entry, kernel
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.loops.constrained_accelerations import constrained
from kinetree.solvers.numbers import arithmetic, elementary_functions, wide_tables  # noqa: F401  (what operators and functions do with wide numbers)
from kinetree.solvers.numbers.derivative_seeds import directions_of, plant_all, reap, sow, weed
from kinetree.solvers.numbers.lane_packing import spread_workspace
from kinetree.solvers.numbers.tree_derivatives import move_from, solve_slopes, take_inertias
from kinetree.solvers.numbers.wide_views import duals_view
from kinetree.solvers.views import floats_view, ints_view, model_view, work_view


@entry
def slopes(ints, floats, work, wide, t, plan, registers, chosen, out):
    """Compute derivatives by q, u, forces, x and inputs (rows of `out`), WIDTH directions at a
    time; `plan` lists the directions.

    Columns: u̇ and, unless `chosen` is negative, ẋ and the chosen registers.
    """
    model = model_view(ints, floats)
    ws = work_view(ints, work)
    duals = duals_view(ints, wide)
    spread_workspace(ws, duals)
    plant_all(model, ws, duals)
    start_ground(model, duals)
    status = set_registers(model, duals, t)
    for at in range(0, directions_of(model, ws), WIDTH):
        if status == 0:
            status = solve_some(model, ws, duals, t, ints_view(plan), at, chosen >= 0)
        if status != 0:
            ws.head.item = duals.head.item
            return status
        tell_some(
            model, ws, duals, ints_view(plan), at, ints_view(registers), chosen, floats_view(out)
        )
    return 0


@kernel
def solve_some(model, ws, duals, t, plan, at, rest):
    """Compute accelerations with derivatives along WIDTH directions, from index `at` of the plan
    on.
    """
    loops = model.l_kind.size > 0 or model.modal.size > 0  # solved as a whole on duals
    known = 1  # the first body whose row the directions before have left with slopes, or none
    if at > 0:
        known = first_of(plan, at - WIDTH, model.parent.size)
        weed(model, ws, duals, plan, at - WIDTH)
    first = sow(model, ws, duals, plan, at, directions_of(model, ws) - at)
    if loops:
        status = loaded(model, duals, t)
        if status == 0:
            status = constrained(model, duals) if model.l_kind.size > 0 else dec(model, duals)
    elif rest or whole(model, ws):
        status = solve_whole(model, ws, duals, t)
    else:
        status = 0
        for j in range(ws.u.size):
            duals.tau[j] = duals.added[j]
        move_from(model, ws, duals, min(first, known))
        solve_slopes(model, ws, duals, first)
    if status == 0 and rest:
        if not loops:
            take_inertias(model, ws, duals)
        react(model, duals)
        velocities(model, duals)
        status = finished(model, duals)
        tell(model, duals)
    return status


@kernel
def first_of(plan, at, first):
    """Return the first body that moves along any of the WIDTH directions from index `at` of the
    plan, or `first` if that is less.
    """
    for n in range(at, at + WIDTH):
        first = min(first, plan[2 * n + 1])
    return first


@kernel
def whole(model, ws):
    """Return whether forces, first-order states, inputs or additional loads are present, so that
    more than the rigid-body dynamics must be differentiated.
    """
    return (
        model.header.forces > 0 or ws.x.size > 0 or model.header.inputs > 0 or ws.head.extra != 0.0
    )


@kernel
def solve_whole(model, ws, duals, t):
    """Compute derivatives of u̇ including those of all registers and loads, with duals; return the
    status.
    """
    status = set_registers(model, duals, t)
    move_from(model, ws, duals, 1)
    see(model, duals)
    status = pushed(model, duals, status)
    apply_loads(model, duals)
    solve_slopes(model, ws, duals, 1)
    return status


@kernel
def tell_some(model, ws, duals, plan, at, registers, chosen, out):
    """Write the derivatives along the directions from index `at` of the plan to their rows of
    `out`.
    """
    nu, nx = ws.u.size, ws.x.size
    width = nu if chosen < 0 else nu + nx + chosen
    left = directions_of(model, ws) - at
    for k in range(nu):
        reap(out, width, k, plan, at, left, duals.udot[k])
    if chosen >= 0:
        for k in range(nx):
            reap(out, width, nu + k, plan, at, left, duals.xdot[k])
    for k in range(chosen):
        reap(out, width, nu + nx + k, plan, at, left, duals.val[registers[k]])
