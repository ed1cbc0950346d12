"""Inputs that couplings follow may jump where a host sets them: coordinates and speeds go with them by the least change in the masses' metric."""

from kinetree.solvers.integrate import controller as C
from kinetree.solvers.integrate.kinds import CODES, SMOOTH
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_projection import project
from kinetree.solvers.loops.minimum_norm_change import place_loops
from kinetree.solvers.run.balances import energy_of_motion
from kinetree.solvers.run.contact_events import apply_impacts
from kinetree.solvers.run.derivatives import get_state, put_state, sided_time
from kinetree.solvers.run.methods import KIND, changed, restart

ADAMS = CODES[SMOOTH]


@kernel
def apply_input_jump(model, ws, t):
    """Project ws.q and ws.u; the status, and the work of the impulse."""
    status = place_loops(model, ws, t)
    before = energy_of_motion(model, ws)
    if status == 0:
        status = project(model, ws, t)
    if status == 0 and model.c_law.size > 0:
        status = apply_impacts(model, ws, t)
    if status == 0:
        status = place_loops(model, ws, t)
    return status, energy_of_motion(model, ws) - before


@kernel
def take_changed_inputs(mem, context):
    """Pass changed inputs to the integrator, moving followed couplings at once."""
    model, ws = context
    status = 0
    if model.header.followed > 0:
        y, t = C.state_of(mem), sided_time(ws, C.time_of(mem))
        status = put_state(model, ws, t, y)
        if status == 0:
            status, work = apply_input_jump(model, ws, t)
            y[len(y) - 1] += work
        if status == 0:
            status = get_state(y, model, ws, t)
    if status != 0:
        return status
    return restart(mem, context) if int(mem[KIND]) == ADAMS else changed(mem, context)
