"""DEC-H: symmetric LᵀDL elimination of the momentum equations (1.54) of [Sh24], (3.40) with the
recursion of its forward pass:

U_j = L_j⁻ᵀA_jᵀM*_j ; u_j = L_j⁻ᵀ(p_j + A_jᵀπ*_j) ; H_j = M*_j − U_jᵀU_j ; h_j = π*_j − H_jv̂_j −
U_jᵀu_j M*_i = M_i + Σ C_jᵀH_jC_j ; π*_i = Σ C_jᵀh_j q̇_i = L_i⁻¹(u_i − U_iv*_i) ; v_i = A_iq̇_i +
v*_i ; p*_i = M*_iv_i − π*_i, with v*_i = C_iv_κ + v̂_i, L_jᵀL_j = A_jᵀM*_jA_j. Linear in N.
"""

from kinetree.solvers.algebra.small_triangular import solve_lower, solve_upper
from kinetree.solvers.algebra.spatial import axpy6, dot6, mv6
from kinetree.solvers.algebra.vectors import add6, get6, put6, sub6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.articulated_inertia import (
    factor_joint,
    joint_columns,
    pass_inertia,
    start_inertias,
)
from kinetree.solvers.literal.newton_euler import carry_from, carry_to


@kernel
def dec_h(model, ws):
    """Compute ws.u, ws.v and ws.ps by DEC-H from ws.p and evaluated positions; return the status."""
    start_inertias(model, ws)
    for k in range(ws.pis.size):
        ws.pis[k] = 0.0
    for j in range(model.parent.size - 1, 0, -1):
        status = decompose(model, ws, j)
        if status != 0:
            return status
        pass_momentum(model, ws, j)
    for i in range(1, model.parent.size):
        n = model.u_at[i + 1] - model.u_at[i]
        x = add6(carry_to(ws, i, get6(ws.v, 6 * model.parent[i])), get6(ws.vh, 6 * i))
        for s in range(model.u_at[i], model.u_at[i + 1]):
            ws.u[s] = ws.uj[s] - dot6(get6(ws.U, 6 * s), x)
        solve_lower(ws.Y, 36 * i, 6, n, ws.u, model.u_at[i])
        for s in range(model.u_at[i], model.u_at[i + 1]):
            x = axpy6(ws.u[s], get6(ws.A, 6 * s), x)
        put6(ws.v, 6 * i, x)
        put6(ws.ps, 6 * i, sub6(mv6(ws.Ms, 36 * i, x), get6(ws.pis, 6 * i)))
    return 0


@kernel
def decompose(model, ws, j):
    """Compute the factor of A_jᵀM*_jA_j, the rows of U_j and H_j = M*_j − U_jᵀU_j (in ws.X), and
    add H_j to the parent; return the status.
    """
    joint_columns(model, ws, j, ws.U)
    status = factor_joint(model, ws, j, ws.U)
    if status != 0:
        return status
    first = model.u_at[j]
    n = model.u_at[j + 1] - first
    at = 36 * j
    for r in range(n - 1, -1, -1):  # U = L⁻ᵀ (A_jᵀM*_j), rows from the last up
        for c in range(6):
            ws.U[6 * (first + r) + c] /= ws.Y[at + 7 * r]
        for k in range(r):
            for c in range(6):
                ws.U[6 * (first + k) + c] -= ws.Y[at + 6 * r + k] * ws.U[6 * (first + r) + c]
    for r in range(6):
        for c in range(r + 1):
            x = ws.Ms[at + 6 * r + c]
            for s in range(first, first + n):
                x -= ws.U[6 * s + r] * ws.U[6 * s + c]
            ws.X[at + 6 * r + c] = x
            ws.X[at + 6 * c + r] = x
    pass_inertia(model, ws, j)
    return 0


@kernel
def pass_momentum(model, ws, j):
    """Compute u_j and add C_jᵀh_j to π* of the parent."""
    first = model.u_at[j]
    n = model.u_at[j + 1] - first
    h = get6(ws.pis, 6 * j)
    for s in range(first, first + n):
        ws.uj[s] = ws.p[s] + dot6(get6(ws.A, 6 * s), h)
    solve_upper(ws.Y, 36 * j, 6, n, ws.uj, first)
    k = model.parent[j]
    if k > 0:
        h = sub6(h, mv6(ws.X, 36 * j, get6(ws.vh, 6 * j)))
        for s in range(first, first + n):
            h = axpy6(-ws.uj[s], get6(ws.U, 6 * s), h)
        put6(ws.pis, 6 * k, add6(get6(ws.pis, 6 * k), carry_from(ws, j, h)))
