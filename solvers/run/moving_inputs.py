"""Inputs that move during an advance: polynomials of the time since its beginning, told by whoever calls it."""

from kinetree.solvers import unit_layout as U
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.step_start import latch_actuators
from kinetree.solvers.run.unit import structure


@kernel
def store_inputs(I, W, ws):
    """Store the inputs seen by the integrator; return 1 if they changed."""
    different = 1 if ws.head.sloped != 0.0 else 0
    for k in range(I.inputs):
        value = ws.val[1 + I.parameters + k]
        if value != W[I.at_inputs + k]:
            different = 1
            W[I.at_inputs + k] = value
    return different


@kernel
def begin_input_motion(I, F, W, option):
    """Store the inputs from which slopes extrapolate; return whether any has a slope."""
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
    """Let the inputs of the present structure move."""
    for k in range(ws.slope.size):
        ws.given[k] = W[I.at_given + k]
        ws.slope[k] = W[I.at_slopes + k]
    for k in range(ws.curve.size):
        ws.curve[k] = W[I.at_curves + k]
    ws.head.given_at = W.given_at
    ws.head.sloped = 1.0 + W.curved


@kernel
def hold_inputs(I, F, W):
    """Inputs keep the values they have reached."""
    _, ws = structure(I, F, W)
    ws.head.sloped = 0.0
    W.curved = 0.0
    for k in range(I.inputs):
        W[I.at_slopes + k] = 0.0
