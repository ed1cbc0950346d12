"""Rates of speeds."""

from kinetree.solvers.kernel import kernel


@kernel
def speed_rate(model, ws, s):
    """Return u̇ of one speed."""
    return ws.udot[s.a]
