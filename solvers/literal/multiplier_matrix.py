"""Matrix H = ZᵀSM⁻¹SᵀZ of Lagrange's equations of the first kind ([Sh24] (2.24)) and products with
S M⁻¹ Sᵀ.

H_ii = Z_iᵀC_iM_κ⁻¹C_iᵀZ_i + Z_iᵀM_i⁻¹Z_i ; H_iκ = −Z_iᵀC_iM_κ⁻¹Z_κ ; siblings i > j: H_ij =
Z_iᵀC_iM_κ⁻¹C_jᵀZ_j. The ground is immovable.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.spatial import angular, axpy6, dot6, join, linear
from kinetree.solvers.algebra.vectors import (
    add6,
    axpy3,
    cross,
    get3,
    get6,
    inverse_symmetric,
    put3,
    put6,
    scale,
    sub3,
    sub6,
    sv,
)
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.multiplier_cholesky import (
    factor_multipliers,
    order,
    solve_multipliers,
)
from kinetree.solvers.literal.newton_euler import carry_from, carry_to

NOISE = 1e-13  # moments of inertia about the centre of mass below this part of those about O_i are rounding noise


@kernel
def inverse_inertias(model, ws):
    """Compute ten numbers per body in ws.Ms that represent M_i⁻¹: 1/m, centre of mass, inverse
    central inertia; return the status.
    """
    for s in range(ws.rotor.size):
        if ws.rotor[s] != 0.0:  # [AᵀR = -rotor q̈] would couple the multipliers of all joints
            ws.head.item = s
            return L.Status.ROTOR.value
    for i in range(1, model.parent.size):
        at = i * L.BODY
        m = ws.body[at + L.B_MASS]
        J = get6(ws.body, at + L.B_J)
        x, y, z = scale(1.0 / m if m > 0.0 else 0.0, get3(ws.body, at + L.B_H))
        # Steiner, back to the centre of mass
        Jc = (
            J[0] - m * (y * y + z * z),
            J[1] + m * x * y,
            J[2] + m * x * z,
            J[3] - m * (x * x + z * z),
            J[4] + m * y * z,
            J[5] - m * (x * x + y * y),
        )
        if not m > 0.0 or not positive(Jc, NOISE * (J[0] + J[3] + J[5])):
            ws.head.item = i
            return L.Status.SINGULAR_BODY.value
        ws.Ms[36 * i] = 1.0 / m
        put3(ws.Ms, 36 * i + 1, (x, y, z))
        put6(ws.Ms, 36 * i + 4, inverse_symmetric(Jc))
    return 0


@kernel
def free_body(ws, i, f):
    """Return M_i⁻¹ f: the acceleration of body i under the wrench f without its joints."""
    r = get3(ws.Ms, 36 * i + 1)
    o = sv(get6(ws.Ms, 36 * i + 4), sub3(angular(f), cross(r, linear(f))))
    return join(axpy3(ws.Ms[36 * i], linear(f), cross(r, o)), o)


@kernel
def positive(J, noise):
    """Return whether the pivots of a symmetric 3 x 3 matrix exceed `noise`."""
    if not J[0] > noise:
        return False
    d = J[3] - J[1] * J[1] / J[0]
    if not d > noise:
        return False
    e = J[4] - J[1] * J[2] / J[0]
    return J[5] - J[2] * J[2] / J[0] - e * e / d > noise


@kernel
def constraint_rows(model, ws):
    """Compute the lower triangle of H in ws.Hr and the columns C_iᵀZ_i in ws.X."""
    for i in range(1, model.parent.size):
        m = order(model, i)
        width = model.h_col[i] + m
        z = 36 * i + 36 - 6 * m
        k = model.parent[i]
        for a in range(m):
            row = model.h_at[i] + a * width
            za = get6(ws.Z, z + 6 * a)
            u = free_body(ws, i, za)
            for b in range(a + 1):
                ws.Hr[row + model.h_col[i] + b] = dot6(u, get6(ws.Z, z + 6 * b))
            if k > 0:
                x = carry_from(ws, i, za)
                put6(ws.X, 36 * i + 6 * a, x)
                couple_parent(model, ws, i, k, row, free_body(ws, k, x), a)


@kernel
def couple_parent(model, ws, i, k, row, y, a):
    """Compute row a of the blocks H_iκ, of the siblings' blocks and of the first term of H_ii, from
    y = M_κ⁻¹C_iᵀZ_i e_a.
    """
    mk = order(model, k)
    for b in range(mk):
        ws.Hr[row + b] = -dot6(y, get6(ws.Z, 36 * k + 36 - 6 * mk + 6 * b))
    for c in range(model.child_at[k], model.child_at[k + 1]):
        j = model.child[c]
        if j == i:
            break
        for b in range(order(model, j)):
            ws.Hr[row + model.h_col[j] + b] = dot6(y, get6(ws.X, 36 * j + 6 * b))
    for b in range(a + 1):
        ws.Hr[row + model.h_col[i] + b] += dot6(y, get6(ws.X, 36 * i + 6 * b))


@kernel
def free_bodies(out, model, ws, f):
    """Compute out = M⁻¹f: the accelerations of all bodies under the wrenches f without joints."""
    for i in range(1, model.parent.size):
        put6(out, 6 * i, free_body(ws, i, get6(f, 6 * i)))


@kernel
def add_reactions(f, model, ws, R):
    """Add the joint reactions SᵀR to the forces f."""
    for i in range(1, model.parent.size):
        k = model.parent[i]
        x = get6(R, 6 * i)
        put6(f, 6 * i, add6(get6(f, 6 * i), x))
        if k > 0:
            put6(f, 6 * k, sub6(get6(f, 6 * k), carry_from(ws, i, x)))


@kernel
def relative(model, ws, i, w, drift):
    """Return (Sw − drift)_i: the relative acceleration (or velocity) of joint i minus `drift`."""
    k = model.parent[i]
    x = sub6(get6(w, 6 * i), get6(drift, 6 * i))
    if k > 0:
        x = sub6(x, carry_to(ws, i, get6(w, 6 * k)))
    return x


@kernel
def multipliers(model, ws, w, drift):
    """Solve H λ = Zᵀ(drift − Sw) for ws.lam; overwrites ws.Hr, ws.X. Return the status."""
    constraint_rows(model, ws)
    for i in range(1, model.parent.size):
        x = relative(model, ws, i, w, drift)
        m = order(model, i)
        for a in range(m):
            ws.lam[6 * i + a] = -dot6(get6(ws.Z, 36 * i + 36 - 6 * m + 6 * a), x)
    status = factor_multipliers(model, ws)
    if status == 0:
        solve_multipliers(model, ws)
    return status


@kernel
def constraint_wrenches(out, model, ws):
    """Compute the constraint wrenches out = Zλ of all joints."""
    for i in range(1, model.parent.size):
        m = order(model, i)
        x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for a in range(m):
            x = axpy6(ws.lam[6 * i + a], get6(ws.Z, 36 * i + 36 - 6 * m + 6 * a), x)
        put6(out, 6 * i, x)


@kernel
def joint_speeds(out, model, ws, w, drift):
    """Compute out = (AᵀA)⁻¹Aᵀ(Sw − drift): the joint accelerations (or speeds) that correspond to
    the body motions w.
    """
    for i in range(1, model.parent.size):
        x = relative(model, ws, i, w, drift)
        for s in range(model.u_at[i], model.u_at[i + 1]):
            out[s] = dot6(get6(ws.Ap, 6 * s), x)
