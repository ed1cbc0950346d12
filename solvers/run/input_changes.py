"""Input jumps: inputs that couplings follow may jump when a host sets them; coordinates and speeds
then follow by the minimum-norm change in the mass metric.
"""

from kinetree.solvers import unit_layout as U
from kinetree.solvers.contacts.mode_changes import apply_impacts
from kinetree.solvers.instance.actuator_probes import latch_actuators
from kinetree.solvers.instance.balances import energy_of_motion
from kinetree.solvers.instance.derivatives import get_state, put_state, sided_time
from kinetree.solvers.instance.integrators import KIND, changed, restart
from kinetree.solvers.instance.memory import structure
from kinetree.solvers.integrate import controller as C
from kinetree.solvers.integrate.kinds import CODES, SMOOTH
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_projection import project
from kinetree.solvers.loops.minimum_norm_change import place_loops

ADAMS = CODES[SMOOTH]


@kernel
def apply_input_jump(model, ws, t):
    """Project ws.q and ws.u after an input jump; return the status and the work [J] of the impulse."""
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
    """Pass changed inputs to the integrator; coordinates coupled to them are moved at once. Return
    the status.
    """
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


@kernel
def store_inputs(I, W, ws):
    """Store the inputs that the integrator uses; return 1 if they have changed."""
    different = 1 if ws.head.sloped != 0.0 else 0
    for k in range(I.inputs):
        value = ws.val[1 + I.parameters + k]
        if value != W[I.at_inputs + k]:
            different = 1
            W[I.at_inputs + k] = value
    return different


@kernel
def begin_input_motion(I, F, W, option):
    """Store the inputs from which given derivatives extrapolate; return whether any derivative is
    given.
    """
    model, ws = structure(I, F, W)
    begins, sloped = W.pending == 0.0, W.curved != 0.0
    if begins:
        W.given_at = W.time
        W.used = 0.0
        if not option & U.CONTINUED:
            latch_actuators(model, ws)
    for k in range(I.inputs):
        if begins:
            W[I.at_given + k] = ws.val[1 + I.parameters + k]
        sloped = sloped or W[I.at_slopes + k] != 0.0
    return sloped


@kernel
def set_input_slopes(I, W, ws):
    """Extrapolate the inputs of the current structure by their derivatives."""
    for k in range(ws.slope.size):
        ws.given[k] = W[I.at_given + k]
        ws.slope[k] = W[I.at_slopes + k]
    for k in range(ws.curve.size):
        ws.curve[k] = W[I.at_curves + k]
    ws.head.given_at = W.given_at
    ws.head.sloped = 1.0 + W.curved


@kernel
def hold_inputs(I, F, W):
    """Hold the inputs constant at the values they have reached."""
    _, ws = structure(I, F, W)
    ws.head.sloped = 0.0
    W.curved = 0.0
    for k in range(I.inputs):
        W[I.at_slopes + k] = 0.0
