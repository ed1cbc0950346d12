"""ABM-H: articulated-body method in Poisson impulses (momenta), elimination of (1.54) leaves to
root.

π*_i = Σ C_jᵀ[H_j(π*_j − M*_jv̂_j) − M*_jA_jD_j⁻¹p_j] (3.16) q̇_i = U_i(π*_i − M*_iv*_i) + D_i⁻¹p_i
; p*_i = M*_iv_i − π*_i ; v*_i = C_iv_κ + v̂_i (3.17), [Sh24]
"""

from kinetree.solvers.algebra.small_triangular import solve_lower, solve_upper
from kinetree.solvers.algebra.spatial import axpy6, dot6, mv6
from kinetree.solvers.algebra.vectors import add6, get6, put6, sub6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.abm import apply_elimination, eliminate_inertia
from kinetree.solvers.literal.articulated_inertia import start_inertias
from kinetree.solvers.literal.newton_euler import carry_from, carry_to


@kernel
def abm_h(model, ws):
    """Compute ws.u, ws.v and ws.ps by ABM-H from ws.p and evaluated positions; return the status."""
    start_inertias(model, ws)
    for k in range(ws.pis.size):
        ws.pis[k] = 0.0
    for j in range(model.parent.size - 1, 0, -1):
        status = eliminate_inertia(model, ws, j)
        if status != 0:
            return status
        pass_momentum(model, ws, j)
    for i in range(1, model.parent.size):
        x = add6(carry_to(ws, i, get6(ws.v, 6 * model.parent[i])), get6(ws.vh, 6 * i))
        f = sub6(get6(ws.pis, 6 * i), mv6(ws.Ms, 36 * i, x))
        for s in range(model.u_at[i], model.u_at[i + 1]):
            ws.u[s] = dot6(get6(ws.U, 6 * s), f) + ws.uj[s]
            x = axpy6(ws.u[s], get6(ws.A, 6 * s), x)
        put6(ws.v, 6 * i, x)
        put6(ws.ps, 6 * i, sub6(mv6(ws.Ms, 36 * i, x), get6(ws.pis, 6 * i)))
    return 0


@kernel
def pass_momentum(model, ws, j):
    """Compute u_j = D_j⁻¹p_j and add C_jᵀ[H_j(π*_j − M*_jv̂_j) − K_ju_j] to π* of the parent."""
    first = model.u_at[j]
    n = model.u_at[j + 1] - first
    for s in range(first, first + n):
        ws.uj[s] = ws.p[s]
    solve_upper(ws.Y, 36 * j, 6, n, ws.uj, first)
    solve_lower(ws.Y, 36 * j, 6, n, ws.uj, first)
    k = model.parent[j]
    if k > 0:
        x = apply_elimination(
            model, ws, j, sub6(get6(ws.pis, 6 * j), mv6(ws.Ms, 36 * j, get6(ws.vh, 6 * j)))
        )
        for s in range(first, first + n):
            x = axpy6(-ws.uj[s], get6(ws.K, 6 * s), x)
        put6(ws.pis, 6 * k, add6(get6(ws.pis, 6 * k), carry_from(ws, j, x)))
