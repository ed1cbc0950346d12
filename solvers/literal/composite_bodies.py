"""Composite rigid bodies and the mass matrix computed from them ([Sh24] (2.15)-(2.22)).

M*_i = M_i + Σ C_jᵀM*_jC_j has the form of a rigid body's inertia: m, h, J (10 numbers). M_ij =
A_iᵀM*_iT_ijA_j for j on the path 0 -> i.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.spatial import dot6, rigid_back, rigid_mv
from kinetree.solvers.algebra.vectors import add6, add_to3, add_to6, get3, get6, get9, put6, sub6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.newton_euler import body_mv, carry_from, carry_to, project, sweep_down


@kernel
def composite_bodies(model, ws):
    """Compute the composite inertias: the first ten numbers per body of ws.Ms."""
    for i in range(1, model.parent.size):
        for k in range(10):
            ws.Ms[36 * i + k] = ws.body[i * L.BODY + L.B_MASS + k]
    for j in range(model.parent.size - 1, 0, -1):
        k = model.parent[j]
        if k > 0:
            m = ws.Ms[36 * j]
            h, J = rigid_back(
                get9(ws.G, 9 * j),
                get3(ws.rho, 3 * j),
                m,
                get3(ws.Ms, 36 * j + 1),
                get6(ws.Ms, 36 * j + 4),
            )
            ws.Ms[36 * k] += m
            add_to3(ws.Ms, 36 * k + 1, h)
            add_to6(ws.Ms, 36 * k + 4, J)


@kernel
def mass_rows(model, ws):
    """Compute the mass matrix ws.Mr from the composite bodies; scratch: ws.U."""
    for i in range(1, model.parent.size):
        for s in range(model.u_at[i], model.u_at[i + 1]):
            put6(
                ws.U,
                6 * s,
                rigid_mv(
                    ws.Ms[36 * i],
                    get3(ws.Ms, 36 * i + 1),
                    get6(ws.Ms, 36 * i + 4),
                    get6(ws.A, 6 * s),
                ),
            )
        j = i
        while j > 0:
            project_row(model, ws, i, j)
            if model.parent[j] > 0:
                for s in range(model.u_at[i], model.u_at[i + 1]):
                    put6(ws.U, 6 * s, carry_from(ws, j, get6(ws.U, 6 * s)))
            j = model.parent[j]


@kernel
def project_row(model, ws, i, j):
    """Compute the block M_ij = (carried M*_iA_i)ᵀ A_j; of a diagonal block only the lower triangle."""
    for s in range(model.u_at[i], model.u_at[i + 1]):
        row = (
            model.m_at[i]
            + (s - model.u_at[i]) * model.eta[i]
            + model.eta[model.parent[j]]
            - model.u_at[j]
        )
        for t in range(model.u_at[j], model.u_at[j + 1] if i != j else s + 1):
            ws.Mr[row + t] = dot6(get6(ws.U, 6 * s), get6(ws.A, 6 * t))
        if i == j:
            ws.Mr[row + s] += ws.rotor[s]


@kernel
def generalized_forces(model, ws):
    """Compute ws.Q = AᵀTᵀF̂ with F̂ = F' − M ŵ, ŵ = T w' the accelerations at q̈ = 0 (2.14),
    (2.21)-(2.22); overwrites ws.w and ws.Fs.
    """
    drift_accelerations(model, ws)
    sweep_down(ws.Fs, model, ws)
    project(ws.Q, model, ws, ws.Fs)


@kernel
def drift_accelerations(model, ws):
    """Fill ws.w with the accelerations ŵ at q̈ = 0 and ws.Fs with the forces F̂ = F' − M ŵ."""
    for i in range(1, model.parent.size):
        k = model.parent[i]
        x = get6(ws.wp, 6 * i)
        if k > 0:
            x = add6(x, carry_to(ws, i, get6(ws.w, 6 * k)))
        put6(ws.w, 6 * i, x)
        put6(ws.Fs, 6 * i, sub6(get6(ws.Fp, 6 * i), body_mv(ws, i, x)))


@kernel
def momentum_residual(model, ws):
    """Compute ws.Q = p − AᵀTᵀMT v̂, the right-hand side of (1.56); overwrites ws.v and ws.ps."""
    for i in range(1, model.parent.size):
        k = model.parent[i]
        x = get6(ws.vh, 6 * i)
        if k > 0:
            x = add6(x, carry_to(ws, i, get6(ws.v, 6 * k)))
        put6(ws.v, 6 * i, x)
        put6(ws.ps, 6 * i, body_mv(ws, i, x))
    sweep_down(ws.ps, model, ws)
    project(ws.Q, model, ws, ws.ps)
    for s in range(ws.p.size):
        ws.Q[s] = ws.p[s] - ws.Q[s]
