"""DEC: the symmetric LᵀDL elimination as published, [Sh24] (3.30)-(3.31): reference for the fast
engine and for printed equations.

U_j = L_j⁻ᵀA_jᵀM*_j ; u_j = L_j⁻ᵀA_jᵀF*_j ; H_j = M*_j − U_jᵀU_j
h_j = F*_j − H_jw'_j − U_jᵀu_j
M*_i = M_i + Σ C_jᵀH_jC_j ; F*_i = F'_i + Σ C_jᵀh_j
w*_i = C_iw_κ + w'_i ; q̈_i = L_i⁻¹(u_i − U_iw*_i) ; w_i = A_iq̈_i + w*_i ; R_i = M*_iw_i − F*_i.
"""

from kinetree.solvers.algebra.small_triangular import solve_lower, solve_upper
from kinetree.solvers.algebra.spatial import axpy6, dot6, mv6
from kinetree.solvers.algebra.vectors import add6, get6, put6, sub6
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.articulated_inertia import start_inertias
from kinetree.solvers.literal.dec_h import decompose
from kinetree.solvers.literal.newton_euler import carry_from, carry_to


@kernel
def dec(model, ws):
    """Compute ws.udot, ws.w and ws.reaction by DEC from evaluated kinematics in body axes; return
    the status.
    """
    start_inertias(model, ws)
    for k in range(ws.Fs.size):
        ws.Fs[k] = ws.Fp[k]
    for j in range(model.parent.size - 1, 0, -1):
        status = decompose(model, ws, j)
        if status != 0:
            return status
        pass_force(model, ws, j)
    for i in range(1, model.parent.size):
        x = get6(ws.wp, 6 * i)
        if model.parent[i] > 0:
            x = add6(carry_to(ws, i, get6(ws.w, 6 * model.parent[i])), x)
        for s in range(model.u_at[i], model.u_at[i + 1]):
            ws.udot[s] = ws.uj[s] - dot6(get6(ws.U, 6 * s), x)
        solve_lower(ws.Y, 36 * i, 6, model.u_at[i + 1] - model.u_at[i], ws.udot, model.u_at[i])
        for s in range(model.u_at[i], model.u_at[i + 1]):
            x = axpy6(ws.udot[s], get6(ws.A, 6 * s), x)
        put6(ws.w, 6 * i, x)
    return 0


@kernel
def pass_force(model, ws, j):
    """Compute u_j and add C_jᵀh_j to F* of the parent."""
    first = model.u_at[j]
    n = model.u_at[j + 1] - first
    h = get6(ws.Fs, 6 * j)
    for s in range(first, first + n):
        ws.uj[s] = dot6(get6(ws.A, 6 * s), h)
    solve_upper(ws.Y, 36 * j, 6, n, ws.uj, first)
    k = model.parent[j]
    if k > 0:
        h = sub6(h, mv6(ws.X, 36 * j, get6(ws.wp, 6 * j)))
        for s in range(first, first + n):
            h = axpy6(-ws.uj[s], get6(ws.U, 6 * s), h)
        put6(ws.Fs, 6 * k, add6(get6(ws.Fs, 6 * k), carry_from(ws, j, h)))
