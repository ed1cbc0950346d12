"""Mass, momentum and energy of the current state and the power of the loads, for conservation
checks.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import add3, cross, dot3, get3, get9, mtv, mv, put3, scale, sv
from kinetree.solvers.algebra.vectors import get6 as get_symmetric
from kinetree.solvers.contacts.contact_jacobian import contact_power
from kinetree.solvers.engine.energy import kinetic, potential, weight
from kinetree.solvers.engine.modal_momenta import modal_momentum
from kinetree.solvers.kernel import kernel
from kinetree.solvers.loops.constraint_force_response import carry
from kinetree.solvers.loops.constraint_residuals import power_of_couplings


@kernel
def write_balances(out, model, ws):
    """Write mass [kg], momentum (3) [N.s] and energy [J] to `out`; `velocities` must have run."""
    mass = 0.0
    p = (0.0, 0.0, 0.0)
    for i in range(1, model.parent.size):
        row = i * L.ROW
        m = ws.body[i * L.BODY + L.B_MASS]
        h = mv(get9(ws.row, row + L.W_R), get3(ws.body, i * L.BODY + L.B_H))
        mass += m
        if model.joint[i] == L.Joint.MODES:
            p = add3(p, modal_momentum(model, ws, i)[0])
            continue
        p = add3(p, add3(scale(m, get3(ws.row, row + L.W_V)), cross(get3(ws.row, row + L.W_OM), h)))
    out[0] = mass
    put3(out, 1, p)
    out[4] = kinetic(model, ws) + potential(model, ws)


@kernel
def load_power(model, ws):
    """Return the power [W] of applied loads and prescribed motions, after the accelerations;
    `velocities` must have run.
    """
    total = 0.0
    for j in range(ws.u.size):
        total += ws.tau[j] * ws.u[j]
    if ws.head.wrench != 0.0:
        for i in range(1, model.parent.size):
            at = i * L.ROW
            total += dot3(get3(ws.wrench, 6 * i), get3(ws.row, at + L.W_V)) + dot3(
                get3(ws.wrench, 6 * i + 3), get3(ws.row, at + L.W_OM)
            )
    if model.header.given == 1:
        if model.l_kind.size > 0:
            carry(model, ws)
        for i in range(1, model.parent.size):
            total += prescribed_power(model, ws, i)
    return total + power_of_couplings(model, ws) + contact_power(model, ws)


@kernel
def prescribed_power(model, ws, i):
    """Return the power [W] that the wrench of joint i puts into its prescribed motion."""
    if model.joint[i] != L.Joint.GENERAL:
        return 0.0
    at = i * L.ROW
    da = get3(ws.row, at + L.W_DA)
    db = get3(ws.row, at + L.W_DB)
    H = get9(ws.row, at + L.W_H)
    n = add3(add3(sv(get_symmetric(ws.row, at + L.W_J), da), mv(H, db)), get3(ws.row, at + L.W_N))
    f = add3(add3(mtv(H, da), sv(get_symmetric(ws.row, at + L.W_M), db)), get3(ws.row, at + L.W_F))
    return dot3(n, get3(ws.row, at + L.W_VH)) + dot3(f, get3(ws.row, at + L.W_VH + 3))


@kernel
def energy_of_motion(model, ws):
    """Return kinetic energy plus potential energy of gravity [J]; only the power of the loads
    changes it.
    """
    return kinetic(model, ws) + weight(model, ws)
