"""Momenta and energy of flexible bodies (`modal_bodies`), and their part in computing speeds from
momenta where a structure or a velocity jumps.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.rows_of_numbers import column_of, three_along
from kinetree.solvers.algebra.vectors import (
    add3,
    cross,
    dot3,
    get3,
    get6,
    get9,
    mtv,
    mv,
    put3,
    scale,
    sv,
)
from kinetree.solvers.engine.modal_bodies import first_moment, modal_of, sweep, tensors
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import modal_at


@kernel
def modal_momentum(model, ws, i):
    """Return momentum in ground axes and kinetic energy of a flexible body with its modes;
    `velocities` must have run.
    """
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    N = n + 1
    R = get9(ws.row, at + L.W_R)
    om = mtv(R, get3(ws.row, at + L.W_OM))
    v = mtv(R, get3(ws.row, at + L.W_V))
    mass = model.modal_data[m.data]
    to = sweep(model, ws, m)
    J, _ = tensors(ws, m, to)
    S = first_moment(model, ws, m, to + 9 * N)
    Cu = three_along(ws.modes, to + 6 * N + 1, N, ws.u, m.speed, n)
    Su = three_along(ws.modes, to + 9 * N, n, ws.u, m.speed, n)
    p = add3(scale(mass, v), cross(om, S))
    energy = 0.5 * (dot3(v, p) + dot3(v, cross(om, S)) + dot3(om, sv(J, om)))
    energy += dot3(v, Su) + dot3(om, Cu)
    own = m.data + 1 + 3 * N + 9 * N * N
    for k in range(n):
        u = ws.u[m.speed + k]
        energy += 0.5 * model.modal_data[own + k] * u * u
    return mv(R, add3(p, Su)), energy


@kernel
def modal_moment(model, ws, i):
    """Return mass times centre of mass of a flexible body, measured from O_E, in ground axes."""
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    S = first_moment(model, ws, m, sweep(model, ws, m) + 9 * (n + 1))
    return mv(get9(ws.row, i * L.ROW + L.W_R), S)


@kernel
def keep_modal_momenta(model, ws):
    """Add the modal momenta m_k q̇_k to ws.tau, before the speeds of another structure are
    computed.
    """
    for number in range(model.modal.size // L.MODAL):
        m = modal_at(model.modal, number)
        own = m.data + 1 + 3 * (m.count + 1) + 9 * (m.count + 1) * (m.count + 1)
        for k in range(m.count):
            ws.tau[m.speed + k] += model.modal_data[own + k] * ws.u[m.speed + k]


@kernel
def put_modal_momentum(model, ws, i, v, om):
    """Store minus the momenta of a flexible body, for frame velocity v, angular velocity om and the
    modal speeds saved by `keep_modal_momenta`, as bias of the frame and of the modes.
    """
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    own = m.data + 1 + 3 * (n + 1) + 9 * (n + 1) * (n + 1)
    H = get9(ws.row, at + L.W_H)
    N = add3(sv(get6(ws.row, at + L.W_J), om), mv(H, v))
    F = add3(mtv(H, om), sv(get6(ws.row, at + L.W_M), v))
    for k in range(n):
        C = column_of(ws.modes, m.work + k, n)
        S = column_of(ws.modes, m.work + 3 * n + k, n)
        u = ws.tau[m.speed + k] / model.modal_data[own + k]
        N = add3(N, scale(u, C))
        F = add3(F, scale(u, S))
        ws.modes[m.work + 6 * n + k] = -dot3(C, om) - dot3(S, v)
    put3(ws.row, at + L.W_N, scale(-1.0, N))
    put3(ws.row, at + L.W_F, scale(-1.0, F))
