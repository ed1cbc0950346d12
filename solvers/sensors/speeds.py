"""Sensors of the time derivatives of generalised speeds."""

from kinetree.solvers.kernel import kernel


@kernel
def speed_rate(model, ws, s):
    """Return the time derivative u̇ of one generalised speed."""
    return ws.udot[s.a]
