"""DRT (direct method): Lagrange's equations of the second kind, M = BᵀMB with B = TA formed
explicitly.

[Sh24] (2.11)-(2.14), (2.23); cost (4.1). Block B_ij = T_ij A_j exists for j on the path 0 -> i:
block row i has eta_i columns, stored one after another.
"""

from kinetree.solvers.algebra.spatial import dot6
from kinetree.solvers.algebra.vectors import get6, put6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.composite_bodies import drift_accelerations
from kinetree.solvers.literal.mass_matrix_cholesky import solve_forces
from kinetree.solvers.literal.newton_euler import body_mv, carry_to


@kernel
def drt(model, ws):
    """Compute ws.udot by DRT from evaluated kinematics; overwrites ws.Br, ws.Mr, ws.Q. Return the
    status.
    """
    drift_accelerations(model, ws)
    for k in range(ws.Mr.size):
        ws.Mr[k] = 0.0
    for s in range(ws.Q.size):
        ws.Q[s] = 0.0
    for i in range(1, model.parent.size):
        fill_row(model, ws, i)
        add_body(model, ws, i)
    for i in range(1, model.parent.size):
        for s in range(model.u_at[i], model.u_at[i + 1]):
            ws.Mr[
                model.m_at[i]
                + (s - model.u_at[i]) * model.eta[i]
                + model.eta[model.parent[i]]
                + s
                - model.u_at[i]
            ] += ws.rotor[s]
    return solve_forces(model, ws)


@kernel
def fill_row(model, ws, i):
    """Compute block row i of B: B_ij = C_i B_κj for the ancestors j, B_ii = A_i."""
    k = model.parent[i]
    at = model.b_at[i]
    for c in range(model.eta[k]):
        put6(ws.Br, at + 6 * c, carry_to(ws, i, get6(ws.Br, model.b_at[k] + 6 * c)))
    for s in range(model.u_at[i], model.u_at[i + 1]):
        put6(ws.Br, at + 6 * (model.eta[k] + s - model.u_at[i]), get6(ws.A, 6 * s))


@kernel
def add_body(model, ws, i):
    """Add body i to the mass matrix and forces: B_iᵀM_iB_i to M and B_iᵀF̂_i to Q."""
    at = model.b_at[i]
    f = get6(ws.Fs, 6 * i)
    j = i
    while j > 0:
        first = model.u_at[j]
        width = model.eta[j]
        for r in range(model.u_at[j + 1] - first):
            c = width - (model.u_at[j + 1] - first) + r
            b = get6(ws.Br, at + 6 * c)
            ws.Q[first + r] += dot6(b, f)
            x = body_mv(ws, i, b)
            for d in range(c + 1):
                ws.Mr[model.m_at[j] + r * width + d] += dot6(x, get6(ws.Br, at + 6 * d))
        j = model.parent[j]
