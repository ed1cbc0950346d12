"""Kinematics and forces in body axes, the quantities that the literal forms share ([Sh24]
1.11-1.36).

v_i = C_i v_κ + A_i q̇_i + v̂_i (1.13), w_i = C_i w_κ + A_i q̈_i + w'_i (1.14), F'_i = F_i + F^c_i.
Passes for positions, velocities and forces are separate, since a momentum form knows the speeds
only after its first pass. Gravity acts as a force at the centre of mass, so w is the true
acceleration.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.spatial import angular, axpy6, carry, carry_back, join, linear
from kinetree.solvers.algebra.vectors import (
    add3,
    add6,
    axpy3,
    cross,
    get3,
    get6,
    get9,
    mm,
    mtv,
    mv,
    put6,
    put9,
    scale,
    sv,
    transpose,
)
from kinetree.solvers.engine.evaluation import set_registers
from kinetree.solvers.engine.joint_frames import UNIT, ZERO6, joint_rates, place_joint
from kinetree.solvers.kernel import kernel
from kinetree.solvers.literal.orthogonal_complements import complement


@kernel
def literal_kinematics(model, ws):
    """Compute all kinematics and forces that a Lagrangian form needs, in body axes; return the
    status.
    """
    status = literal_positions(model, ws)
    if status == 0:
        literal_velocities(model, ws)
        active_forces(model, ws)
        inertia_forces(model, ws)
    return status


@kernel
def literal_place(model, ws, t):
    """Set the registers and compute the kinematics in body axes of the position q; return the
    status.
    """
    status = set_registers(model, ws, t)
    return literal_positions(model, ws) if status == 0 else status


@kernel
def literal_positions(model, ws):
    """Compute G, rho, Rg, A, vh, Z and Ap (joint transforms, tangent columns, complements) of all
    bodies from ws.q; the ground is fixed.
    """
    put9(ws.Rg, 0, UNIT)
    put6(ws.v, 0, ZERO6)
    put6(ws.w, 0, ZERO6)
    for i in range(1, model.parent.size):
        place_joint(model, ws, i)
        put9(ws.Rg, 9 * i, mm(get9(ws.Rg, 9 * model.parent[i]), transpose(get9(ws.G, 9 * i))))
        status = complement(model, ws, i)
        if status != 0:
            return status
    return 0


@kernel
def literal_velocities(model, ws):
    """Fill the column rates Adot, the velocities v and the accelerations wp = w' at q̈ = 0 of all
    bodies.
    """
    for i in range(1, model.parent.size):
        vr, a = joint_rates(model, ws, i)
        G = get9(ws.G, 9 * i)
        rho = get3(ws.rho, 3 * i)
        vk = get6(ws.v, 6 * model.parent[i])
        put6(ws.v, 6 * i, add6(carry(G, rho, vk), vr))
        ok = angular(vk)
        og = mv(G, ok)
        # w^c + ŵ
        lin = add3(
            mv(G, cross(ok, cross(ok, rho))),
            axpy3(2.0, cross(og, linear(vr)), cross(angular(vr), linear(vr))),
        )
        put6(ws.wp, 6 * i, add6(a, join(lin, cross(og, angular(vr)))))


@kernel
def active_forces(model, ws):
    """Fill F: applied wrenches, the caller's loads, gravity, and joint forces tau as wrenches
    A(AᵀA)⁻¹tau on the body with the opposite on the parent.
    """
    g = get3(ws.val, model.header.gravity)
    for i in range(1, model.parent.size):
        R = get9(ws.Rg, 9 * i)
        at = i * L.BODY
        gb = mtv(R, g)
        f = join(scale(ws.body[at + L.B_MASS], gb), cross(get3(ws.body, at + L.B_H), gb))
        if ws.head.wrench != 0.0:
            f = add6(f, join(mtv(R, get3(ws.wrench, 6 * i)), mtv(R, get3(ws.wrench, 6 * i + 3))))
        if ws.head.extra != 0.0:
            f = add6(f, get6(ws.extra, 6 * i))
        put6(ws.F, 6 * i, f)
    for i in range(1, model.parent.size):
        y = joint_wrench(model, ws, i, ws.tau)
        put6(ws.F, 6 * i, add6(get6(ws.F, 6 * i), y))
        k = model.parent[i]
        if k > 0:
            put6(
                ws.F,
                6 * k,
                axpy6(
                    -1.0, carry_back(get9(ws.G, 9 * i), get3(ws.rho, 3 * i), y), get6(ws.F, 6 * k)
                ),
            )


@kernel
def joint_wrench(model, ws, i, x):
    """Return the wrench A_i(A_iᵀA_i)⁻¹ x_i that joint forces x_i of a vector x over the speeds
    exert on body i.
    """
    y = ZERO6
    for k in range(model.u_at[i], model.u_at[i + 1]):
        if x[k] != 0.0:
            y = axpy6(x[k], get6(ws.Ap, 6 * k), y)
    return y


@kernel
def inertia_forces(model, ws):
    """Fill Fp with F' = F + F^c, where F^c = (-m ω̃² rc, -ω̃ J ω)."""
    for i in range(1, model.parent.size):
        at = i * L.BODY
        o = get3(ws.v, 6 * i + 3)
        h = get3(ws.body, at + L.B_H)
        J = get6(ws.body, at + L.B_J)
        fc = join(cross(o, cross(h, o)), cross(sv(J, o), o))
        put6(ws.Fp, 6 * i, add6(get6(ws.F, 6 * i), fc))
