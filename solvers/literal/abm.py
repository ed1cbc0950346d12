"""ABM (articulated-body method): unsymmetric elimination of the redundant equations (1.38) leaves
to root.

H_j = E − M*_jA_jD_j⁻¹A_jᵀ, D_j = A_jᵀM*_jA_j ; M*_i = M_i + Σ C_jᵀH_jM*_jC_j ; F*_i = F'_i + Σ
C_jᵀH_j(F*_j − M*_jw'_j) (3.7) q̈_i = D_i⁻¹A_iᵀ(F*_i − M*_iw*_i) ; w_i = A_iq̈_i + w*_i ; R_i =
M*_iw_i − F*_i (3.8), [Sh24]. Cost (4.6), linear in N.
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
def abm(model, ws):
    """Compute ws.udot and ws.w by ABM from evaluated kinematics; return the status."""
    start_inertias(model, ws)
    for k in range(ws.Fs.size):
        ws.Fs[k] = ws.Fp[k]
    for j in range(model.parent.size - 1, 0, -1):
        status = eliminate_inertia(model, ws, j)
        if status != 0:
            return status
        k = model.parent[j]
        if k > 0:
            f = sub6(get6(ws.Fs, 6 * j), mv6(ws.Ms, 36 * j, get6(ws.wp, 6 * j)))
            put6(
                ws.Fs,
                6 * k,
                add6(get6(ws.Fs, 6 * k), carry_from(ws, j, apply_elimination(model, ws, j, f))),
            )
    for i in range(1, model.parent.size):
        x = add6(carry_to(ws, i, get6(ws.w, 6 * model.parent[i])), get6(ws.wp, 6 * i))
        f = sub6(get6(ws.Fs, 6 * i), mv6(ws.Ms, 36 * i, x))
        for s in range(model.u_at[i], model.u_at[i + 1]):
            ws.udot[s] = dot6(get6(ws.U, 6 * s), f)
            x = axpy6(ws.udot[s], get6(ws.A, 6 * s), x)
        put6(ws.w, 6 * i, x)
    return 0


@kernel
def eliminate_inertia(model, ws, j):
    """Compute K_j = M*_jA_j, U_j = D_j⁻¹A_jᵀ (rows) and the remaining inertia H_jM*_j = M*_j −
    K_jD_j⁻¹K_jᵀ in ws.X, and add it to the parent; return the status.
    """
    joint_columns(model, ws, j, ws.K)
    status = factor_joint(model, ws, j, ws.K)
    if status != 0:
        return status
    solve_rows(model, ws, j, ws.A)
    at = 36 * j
    for r in range(6):
        for c in range(6):
            # (H M*)_rc = M*_rc − K_r U M*_c
            ws.X[at + 6 * r + c] = ws.Ms[at + 6 * r + c]
    for s in range(model.u_at[j], model.u_at[j + 1]):
        v = mv6(ws.Ms, at, get6(ws.U, 6 * s))
        for r in range(6):
            for c in range(6):
                ws.X[at + 6 * r + c] -= ws.K[6 * s + r] * v[c]
    pass_inertia(model, ws, j)
    return 0


@kernel
def solve_rows(model, ws, j, A):
    """Compute U_j = D_j⁻¹A_jᵀ by rows, column after column of A_jᵀ."""
    first = model.u_at[j]
    n = model.u_at[j + 1] - first
    for c in range(6):
        for r in range(n):
            ws.small[r] = A[6 * (first + r) + c]
        solve_upper(ws.Y, 36 * j, 6, n, ws.small, 0)
        solve_lower(ws.Y, 36 * j, 6, n, ws.small, 0)
        for r in range(n):
            ws.U[6 * (first + r) + c] = ws.small[r]


@kernel
def apply_elimination(model, ws, j, f):
    """Return H_j f = f − K_jU_jf: a force after the elimination of joint j."""
    x = f
    for s in range(model.u_at[j], model.u_at[j + 1]):
        x = axpy6(-dot6(get6(ws.U, 6 * s), f), get6(ws.K, 6 * s), x)
    return x


@kernel
def abm_reactions(model, ws):
    """Compute the joint reactions R_i = M*_iw_i − F*_i in ws.reaction after `abm`."""
    for i in range(1, model.parent.size):
        put6(ws.reaction, 6 * i, sub6(mv6(ws.Ms, 36 * i, get6(ws.w, 6 * i)), get6(ws.Fs, 6 * i)))
    return 0
