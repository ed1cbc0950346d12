"""Newton-Euler sweeps in body axes: accelerations from rates, reactions and generalised forces from accelerations.

w_i = C_i w_κ + A_i q̈_i + w'_i ; R_i = M_i w_i − F'_i + Σ C_jᵀ R_j  (first and second rows of (1.38)). Cost O(N).
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.spatial import axpy6, carry, carry_back, dot6, rigid_mv
from kinetree.solvers.algebra.vectors import add6, get3, get6, get9, put6, sub6
from kinetree.solvers.kernel import kernel

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def body_mv(ws, i, x):
    """Return M_i x, the inertia of body i times a six-vector."""
    at = i * L.BODY
    return rigid_mv(ws.body[at + L.B_MASS], get3(ws.body, at + L.B_H), get6(ws.body, at + L.B_J), x)


@kernel
def carry_to(ws, i, x):
    """Return C_i x, a motion of the parent referred to body i."""
    return carry(get9(ws.G, 9 * i), get3(ws.rho, 3 * i), x)


@kernel
def carry_from(ws, i, f):
    """Return C_iᵀ f, a wrench of body i referred to the parent."""
    return carry_back(get9(ws.G, 9 * i), get3(ws.rho, 3 * i), f)


@kernel
def sweep_up(out, model, ws, rates, drift):
    """Compute out_i = C_i out_κ + A_i rates_i + drift_i from the root to the leaves; the ground's
    entry of `out` is unchanged.
    """
    for i in range(1, model.parent.size):
        k = model.parent[i]
        x = get6(drift, 6 * i)
        if k > 0:
            x = add6(x, carry_to(ws, i, get6(out, 6 * k)))
        for s in range(model.u_at[i], model.u_at[i + 1]):
            x = axpy6(rates[s], get6(ws.A, 6 * s), x)
        put6(out, 6 * i, x)


@kernel
def sweep_joints(out, model, ws, rates):
    """Compute out_i = C_i out_κ + A_i rates_i ([Sh24] (2.54)) from the root to the leaves; the
    ground is fixed.
    """
    for i in range(1, model.parent.size):
        k = model.parent[i]
        x = ZERO6
        if k > 0:
            x = carry_to(ws, i, get6(out, 6 * k))
        for s in range(model.u_at[i], model.u_at[i + 1]):
            x = axpy6(rates[s], get6(ws.A, 6 * s), x)
        put6(out, 6 * i, x)


@kernel
def sweep_down(out, model, ws):
    """Add Σ C_jᵀ out_j over the children j to out_i, from the leaves to the root."""
    for i in range(model.parent.size - 1, 0, -1):
        k = model.parent[i]
        if k > 0:
            put6(out, 6 * k, add6(get6(out, 6 * k), carry_from(ws, i, get6(out, 6 * i))))


@kernel
def project(out, model, ws, f):
    """Compute out = Aᵀ f, joint by joint."""
    for i in range(1, model.parent.size):
        x = get6(f, 6 * i)
        for s in range(model.u_at[i], model.u_at[i + 1]):
            out[s] = dot6(get6(ws.A, 6 * s), x)


@kernel
def reactions(model, ws):
    """Compute body accelerations ws.w and joint reactions ws.reaction from ws.udot."""
    sweep_up(ws.w, model, ws, ws.udot, ws.wp)
    for i in range(1, model.parent.size):
        put6(ws.reaction, 6 * i, sub6(body_mv(ws, i, get6(ws.w, 6 * i)), get6(ws.Fp, 6 * i)))
    sweep_down(ws.reaction, model, ws)
    return 0


@kernel
def inverse_dynamics(model, ws):
    """Compute in ws.Q the generalised forces needed, besides applied ones, for ws.udot; fills
    ws.reaction.
    """
    reactions(model, ws)
    project(ws.Q, model, ws, ws.reaction)
    for s in range(ws.Q.size):
        ws.Q[s] += ws.rotor[s] * ws.udot[s]
    return 0


@kernel
def take_off_rotors(model, ws):
    """Add A_i(A_iᵀA_i)⁻¹ rotor q̈ to R_i: the part of R_i that accelerates motor rotors is not a
    reaction; AᵀR = 0 holds afterwards.
    """
    for i in range(1, model.parent.size):
        for s in range(model.u_at[i], model.u_at[i + 1]):
            put6(
                ws.reaction,
                6 * i,
                axpy6(ws.rotor[s] * ws.udot[s], get6(ws.Ap, 6 * s), get6(ws.reaction, 6 * i)),
            )
    return 0


@kernel
def carried_momenta(model, ws):
    """Compute ws.ps: p*_i = M_iv_i + Σ C_jᵀp*_j (3.9)."""
    for i in range(1, model.parent.size):
        put6(ws.ps, 6 * i, body_mv(ws, i, get6(ws.v, 6 * i)))
    sweep_down(ws.ps, model, ws)


@kernel
def momenta(model, ws):
    """Compute the momenta ws.p = BᵀMv with the rotors' share from evaluated velocities; p* is left
    in ws.ps.
    """
    carried_momenta(model, ws)
    project(ws.p, model, ws, ws.ps)
    for s in range(ws.p.size):
        ws.p[s] += ws.rotor[s] * ws.u[s]
    return 0
