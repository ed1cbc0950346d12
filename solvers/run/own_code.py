"""Rates by specialised code of one mechanism.

    int32 own(double t, const double *y, const double *val, double *ydot)

y = (q, u, x), ydot = (rates of y, power of the loads), val the registers: inputs, parameters and what is held between events are read there.
Status 0: done. Otherwise nothing counts and the engine answers: a parameter has another value than the code was made for, or a loop is too near to a
singular position.
"""

from kinetree.solvers.engine.evaluation import move_inputs
from kinetree.solvers.kernel import kernel
from kinetree.solvers.linked_kernels import call_own


@kernel
def specialised_rates(ydot, model, ws, t, y):
    """Compute the rates by specialised code; return whether that was possible."""
    if ws.head.form != 0.0 or ws.head.on_constraints != 0.0:
        return False
    if ws.head.sloped != 0.0:
        move_inputs(model, ws, t - ws.head.given_at)
    return call_own(model.header.own, t, y, ws.val, ydot) == 0
