"""Parts shared by the eliminations ABM (articulated bodies) and DEC (LᵀDL) and their momentum
forms: M*_i, the factor of A_iᵀM*_iA_i and the pivot test.

M*_i is stored full (36 numbers) in ws.Ms, the lower-triangular L_i with L_iᵀL_i = A_iᵀM*_iA_i in
ws.Y of body i with stride 6: `solve_upper` applies L⁻ᵀ, `solve_lower` L⁻¹.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.small_triangular import PIVOT, factor_rows
from kinetree.solvers.algebra.spatial import add_congruence, dot6, mv6, put_rigid
from kinetree.solvers.algebra.vectors import dot3, get3, get6, get9, put6
from kinetree.solvers.kernel import kernel


@kernel
def start_inertias(model, ws):
    """Initialise M*_i = M_i and the scales (mass and moments of inertia) that bound the rounding of
    body i.
    """
    for i in range(1, model.parent.size):
        at = i * L.BODY
        J = get6(ws.body, at + L.B_J)
        put_rigid(ws.Ms, 36 * i, ws.body[at + L.B_MASS], get3(ws.body, at + L.B_H), J)
        ws.diagonal[2 * i] = ws.body[at + L.B_MASS]
        ws.diagonal[2 * i + 1] = J[0] + J[3] + J[5]


@kernel
def joint_columns(model, ws, i, K):
    """Compute the columns K_s = M*_i A_s of joint i: articulated inertia times tangent columns."""
    for s in range(model.u_at[i], model.u_at[i + 1]):
        put6(K, 6 * s, mv6(ws.Ms, 36 * i, get6(ws.A, 6 * s)))


@kernel
def factor_joint(model, ws, i, K):
    """Factor A_iᵀM*_iA_i + rotors = LᵀL into ws.Y; return SINGULAR_JOINT if a pivot is below the
    rounding noise, else 0.
    """
    first = model.u_at[i]
    n = model.u_at[i + 1] - first
    at = 36 * i
    for r in range(n):
        for c in range(r + 1):
            ws.Y[at + 6 * r + c] = dot6(get6(ws.A, 6 * (first + r)), get6(K, 6 * (first + c)))
        ws.Y[at + 7 * r] += ws.rotor[first + r]
    if not factor_rows(ws.Y, at, 6, n, 0):
        ws.head.item = i
        return L.Status.SINGULAR_JOINT.value
    for r in range(n):
        d = ws.Y[at + 7 * r]
        a = 6 * (first + r)
        v = get3(ws.A, a)
        o = get3(ws.A, a + 3)
        if not d * d > PIVOT * (
            dot3(v, v) * ws.diagonal[2 * i] + dot3(o, o) * ws.diagonal[2 * i + 1]
        ):
            ws.head.item = i
            return L.Status.SINGULAR_JOINT.value
    return 0


@kernel
def pass_inertia(model, ws, i):
    """Add C_iᵀ H_i C_i (the remaining inertia, H_i in ws.X) to M*_κ of the parent, and its scale to
    the parent's noise level.
    """
    k = model.parent[i]
    if k == 0:
        return
    rho = get3(ws.rho, 3 * i)
    add_congruence(ws.Ms, 36 * k, ws.X, 36 * i, get9(ws.G, 9 * i), rho)
    at = 36 * i
    m = max(ws.Ms[at], ws.Ms[at + 7], ws.Ms[at + 14])
    ws.diagonal[2 * k] += m
    ws.diagonal[2 * k + 1] += ws.Ms[at + 21] + ws.Ms[at + 28] + ws.Ms[at + 35] + m * dot3(rho, rho)
