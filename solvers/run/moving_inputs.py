"""Inputs that move during an advance: polynomials of the time since its beginning, told by whoever calls it."""

from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.kernel import kernel
from kinetree.solvers.run.step_start import latch
from kinetree.solvers.run.unit import structure


@kernel
def keep_inputs(I, W, ws):
    """Remember the inputs the integrator has seen; 1 when they differ from the last ones."""
    different = 1 if ws.head[L.K_SLOPED] != 0.0 else 0
    for k in range(I[U.U_INPUTS]):
        value = ws.val[1 + I[U.U_PARAMETERS] + k]
        if value != W[I[U.U_AT_INPUTS] + k]:
            different = 1
            W[I[U.U_AT_INPUTS] + k] = value
    return different


@kernel
def keep_given(I, F, W, option):
    """Latch, and remember the inputs from which slopes extrapolate, unless an advance goes on; whether any has one."""
    model, ws = structure(I, F, W)
    begins, sloped = W[U.V_PENDING] == 0.0, W[U.V_CURVED] != 0.0
    if begins:
        W[U.V_GIVEN_AT] = W[U.V_TIME]
        W[U.V_USED] = 0.0
        if not option & U.CONTINUED:
            latch(model, ws)
    for k in range(I[U.U_INPUTS]):
        if begins:
            W[I[U.U_AT_GIVEN] + k] = ws.val[1 + I[U.U_PARAMETERS] + k]
        sloped = sloped or W[I[U.U_AT_SLOPES] + k] != 0.0
    return sloped


@kernel
def set_slopes(I, W, ws):
    """Let the inputs of the present structure move."""
    for k in range(ws.slope.size):
        ws.given[k] = W[I[U.U_AT_GIVEN] + k]
        ws.slope[k] = W[I[U.U_AT_SLOPES] + k]
    for k in range(ws.curve.size):
        ws.curve[k] = W[I[U.U_AT_CURVES] + k]
    ws.head[L.K_GIVEN_AT] = W[U.V_GIVEN_AT]
    ws.head[L.K_SLOPED] = 1.0 + W[U.V_CURVED]


@kernel
def hold_inputs(I, F, W):
    """Inputs keep the values they have reached."""
    _, ws = structure(I, F, W)
    ws.head[L.K_SLOPED] = 0.0
    W[U.V_CURVED] = 0.0
    for k in range(I[U.U_INPUTS]):
        W[I[U.U_AT_SLOPES] + k] = 0.0
