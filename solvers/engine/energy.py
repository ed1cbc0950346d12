"""Kinetic and potential energy [J], from the rows after `velocities`."""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.vectors import cross, dot3, get3, get6, get9, mtv, mv, sv
from kinetree.solvers.engine.derived_constants import run_phase
from kinetree.solvers.engine.modal_momenta import modal_moment, modal_momentum
from kinetree.solvers.kernel import kernel


@kernel
def kinetic(model, ws):
    """Return the kinetic energy [J]: sum of vᵀ M v / 2 over the bodies, plus the rotors of motors."""
    total = 0.0
    for j in range(ws.u.size):
        total += 0.5 * ws.rotor[j] * ws.u[j] * ws.u[j]
    for i in range(1, model.parent.size):
        at = i * L.ROW
        if model.joint[i] == L.Joint.MODES:
            total += modal_momentum(model, ws, i)[1]
            continue
        R = get9(ws.row, at + L.W_R)
        v = get3(ws.row, at + L.W_V)
        om = get3(ws.row, at + L.W_OM)
        own = mtv(R, om)
        h = mv(R, get3(ws.body, i * L.BODY + L.B_H))
        J = get6(ws.body, i * L.BODY + L.B_J)
        total += 0.5 * (ws.body[i * L.BODY + L.B_MASS] * dot3(v, v) + dot3(own, sv(J, own))) + dot3(
            v, cross(om, h)
        )
    return total


@kernel
def weight(model, ws):
    """Return the potential energy of gravity [J], zero at the origin of the ground."""
    g = get3(ws.val, model.header.gravity)
    total = 0.0
    for i in range(1, model.parent.size):
        at = i * L.ROW
        if model.joint[i] == L.Joint.MODES:
            h = modal_moment(model, ws, i)
        else:
            h = mv(get9(ws.row, at + L.W_R), get3(ws.body, i * L.BODY + L.B_H))
        total -= ws.body[i * L.BODY + L.B_MASS] * dot3(g, get3(ws.row, at + L.W_P)) + dot3(g, h)
    return total


@kernel
def potential(model, ws):
    """Return the potential energy [J] of gravity and force elements."""
    run_phase(model, ws, 4)
    total = weight(model, ws)
    for k in range(model.potentials.size):
        total += ws.val[model.potentials[k]]
    return total
