"""ITR-G: Lagrange's second kind solved by the variable-metric iteration without forming M: u = TAx, then AᵀTᵀMu, two sweeps (2.54)-(2.55).

[Sh24] section 2.3.4; cost (4.5) with K iterations.
"""

from kinetree.solvers.algebra.vectors import get6, put6
from kinetree.solvers.forms.composite import generalized_forces
from kinetree.solvers.forms.itr import solve_iteratively, vector
from kinetree.solvers.forms.newton_euler import body_mv, project, sweep_down, sweep_joints
from kinetree.solvers.kernel import kernel


@kernel
def apply_mass(out, model, ws, x):
    """out = AᵀTᵀMTA x; scratch: ws.w, ws.Fs."""
    sweep_joints(ws.w, model, ws, x)
    for i in range(1, model.parent.size):
        put6(ws.Fs, 6 * i, body_mv(ws, i, get6(ws.w, 6 * i)))
    sweep_down(ws.Fs, model, ws)
    project(out, model, ws, ws.Fs)


@kernel
def itr_g(model, ws):
    """Fill ws.udot from evaluated kinematics; carries ws.Hq and ws.itr on to the next evaluation."""
    generalized_forces(model, ws)
    status = solve_iteratively(apply_mass, model, ws, ws.Q)
    x = vector(ws, 0)
    for s in range(ws.udot.size):
        ws.udot[s] = x[s]
    return status
