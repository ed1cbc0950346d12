"""Bodies that bend by modes: a floating frame E in its root interface with n modal coordinates, and interfaces whose frames the modes carry.

Displacements of the material points are φ_k q_k, with c = (1, q), d = (0, q̇) and the invariants S_a = Σ m φ_a, P_ab = Σ m φ_a φ_bᵀ (φ_0: the points):

    X_k = c_a P_ak,  Y_k = d_a P_ak,  C_k = axial X_k,  S = c_a S_a,  J = tr A 1 - A with A = c_b X_b,  J' = 2 tr Z 1 - Z - Zᵀ with Z = c_b Y_b
    N = S×a + Jα + ω×(Jω + C_k q̇_k) + J'ω          F = m a + α×S + ω×(ω×S) + 2 ω×S_k q̇_k
    h_k = S_k·a + C_k·α + ωᵀX_k ω - ω² tr X_k + 2 ω·axial Y_k          M_kl = tr P_kl

all in body axes about O_E. An interface is at p + Φ q with axes exp(Ψ q). The modes are eliminated with what the interfaces hand
over, last mode first: M* = M_rr - E M_ff⁻¹Eᵀ, and the bias alike; then the frame is a body fixed to its parent. Stiffness and damping
of the modes are forces along them.
Shabana, Dynamics of multibody systems (2020), chapter 5; the elimination as in `dec_columns`.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import every
from kinetree.solvers.algebra.vectors import (
    add3,
    add9,
    axpy3,
    cross,
    dot3,
    get3,
    get6,
    get9,
    mm,
    mtv,
    mv,
    outer,
    outer_symmetric,
    put3,
    put6,
    put9,
    rotate_symmetric,
    scale,
    skew,
    skew_mm,
    sub6,
    sub9,
    sv,
)
from kinetree.solvers.engine.dec_transfer import carried, hand_over
from kinetree.solvers.kernel import kernel
from kinetree.solvers.views import face_at, modal_at

ZERO = (0.0, 0.0, 0.0)
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def modal_of(model, body):
    """Number of the record MODAL of a frame."""
    k = 0
    while modal_at(model.modal, k).body != body:
        k += 1
    return k


@kernel
def face_of(model, body):
    """Number of the record FACE of an interface."""
    k = 0
    while face_at(model.faces, k).body != body:
        k += 1
    return k


@kernel
def move_frame(model, ws, i):
    """Row of a frame: that of its parent; its modes move interfaces, not the frame."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    put9(ws.row, at + L.W_R, get9(ws.row, parent + L.W_R))
    put3(ws.row, at + L.W_D, ZERO)
    put3(ws.row, at + L.W_OM, get3(ws.row, parent + L.W_OM))
    put3(ws.row, at + L.W_AL, get3(ws.row, parent + L.W_AL))
    put3(ws.row, at + L.W_A0, get3(ws.row, parent + L.W_A0))
    for j in range(model.u_at[i], model.u_at[i + 1]):
        put3(ws.col, j * L.COLUMN + L.C_A, ZERO)
        put3(ws.col, j * L.COLUMN + L.C_L, ZERO)


@kernel
def turned(turn, rate):
    """Rotation exp(θ×) of a rotation vector, T that makes its angular velocity of dθ/dt, and (dT/dt) dθ/dt."""
    x = dot3(turn, turn)
    # series of sin φ/φ, (1 - cos φ)/φ², (φ - sin φ)/φ³ and of the slopes of the last two, in x = φ²
    s = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0)))
    a = 0.5 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0))))
    b = (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0)))) / 6.0
    da = -(1.0 - x / 15.0 * (1.0 - x * 3.0 / 112.0 * (1.0 - x * 4.0 / 270.0))) / 24.0
    db = -(1.0 - x / 21.0 * (1.0 - x / 48.0 * (1.0 - x * 4.0 / 330.0))) / 120.0
    once = skew(turn)
    twice = skew_mm(turn, once)
    E = add9(UNIT, add9(scaled9(s, once), scaled9(a, twice)))
    T = add9(UNIT, add9(scaled9(a, once), scaled9(b, twice)))
    across = cross(turn, rate)
    inner = scale(2.0 * dot3(turn, rate), add3(scale(da, across), scale(db, cross(turn, across))))
    return E, T, add3(inner, scale(b, cross(rate, across)))


@kernel
def move_face(model, ws, i):
    """Compute the row of an interface frame and its mode columns in ws.modes."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    f = face_at(model.faces, face_of(model, i))
    m = modal_at(model.modal, modal_of(model, model.parent[i]))
    n = m.count
    p = get3(model.modal_data, f.data)
    v = scale(ws.u[m.speed] * 0.0, p)  # zeros of the numbers of the workspace
    p = add3(p, v)
    turn = v
    rate = v
    for k in range(n):
        shift = get3(model.modal_data, f.data + 3 + 3 * k)
        twist = get3(model.modal_data, f.data + 3 + 3 * n + 3 * k)
        q = ws.q[m.coordinate + k]
        u = ws.u[m.speed + k]
        p = axpy3(q, shift, p)
        turn = axpy3(q, twist, turn)
        v = axpy3(u, shift, v)
        rate = axpy3(u, twist, rate)
    R = get9(ws.row, parent + L.W_R)
    E, T, bend = turned(turn, rate)
    bend = mv(R, bend)
    d = mv(R, p)
    v = mv(R, v)
    turning = mv(R, mv(T, rate))
    om = get3(ws.row, parent + L.W_OM)
    al = get3(ws.row, parent + L.W_AL)
    put9(ws.row, at + L.W_R, mm(R, E))
    put3(ws.row, at + L.W_D, d)
    put3(ws.row, at + L.W_VH + 3, v)
    put3(ws.row, at + L.W_OM, add3(om, turning))
    put3(ws.row, at + L.W_AL, add3(al, add3(cross(om, turning), bend)))
    a0 = add3(get3(ws.row, parent + L.W_A0), add3(cross(al, d), cross(om, cross(om, d))))
    put3(ws.row, at + L.W_A0, add3(a0, scale(2.0, cross(om, v))))
    RT = mm(R, T)
    for k in range(n):
        c = f.work + 6 * k
        put3(ws.modes, c, mv(RT, get3(model.modal_data, f.data + 3 + 3 * n + 3 * k)))
        put3(ws.modes, c + 3, mv(R, get3(model.modal_data, f.data + 3 + 3 * k)))


@kernel
def scaled9(s, a):
    """Return a 3 x 3 matrix times a number."""
    return (
        s * a[0],
        s * a[1],
        s * a[2],
        s * a[3],
        s * a[4],
        s * a[5],
        s * a[6],
        s * a[7],
        s * a[8],
    )


@kernel
def axial(m):
    """The vector Σ φ×ψ of a matrix Σ φ ψᵀ."""
    return (m[5] - m[7], m[6] - m[2], m[1] - m[3])


@kernel
def total(model, ws, m, k, start):
    """X_k = c_a P_ak; `start` is the place of P."""
    n = m.count
    X = scaled9(1.0 + 0.0 * ws.q[m.coordinate], get9(model.modal_data, start + 9 * k))
    for a in range(n):
        P = get9(model.modal_data, start + 9 * ((a + 1) * (n + 1) + k))
        X = add9(X, scaled9(ws.q[m.coordinate + a], P))
    return X


@kernel
def moving(model, ws, m, k, start):
    """Y_k = d_a P_ak."""
    n = m.count
    Y = scaled9(0.0 * ws.u[m.speed], ZERO9)
    for a in range(n):
        P = get9(model.modal_data, start + 9 * ((a + 1) * (n + 1) + k))
        Y = add9(Y, scaled9(ws.u[m.speed + a], P))
    return Y


@kernel
def inertia_now(model, ws, m):
    """A = c_b X_b and S, body axes."""
    n = m.count
    start = m.data + 1 + 3 * (n + 1)
    A = total(model, ws, m, 0, start)
    S = scale(1.0 + 0.0 * ws.q[m.coordinate], get3(model.modal_data, m.data + 1))
    for k in range(n):
        q = ws.q[m.coordinate + k]
        A = add9(A, scaled9(q, total(model, ws, m, k + 1, start)))
        S = axpy3(q, get3(model.modal_data, m.data + 1 + 3 * (k + 1)), S)
    return A, S


@kernel
def tensor(A):
    """tr A 1 - A of a symmetric matrix, in the order of symmetric matrices."""
    return (A[4] + A[8], -A[1], -A[2], A[0] + A[8], -A[5], A[0] + A[4])


@kernel
def modal_mass(model, m, k, other):
    """Inertia tr P between two modes."""
    n = m.count
    P = m.data + 1 + 3 * (n + 1) + 9 * ((other + 1) * (n + 1) + k + 1)
    return model.modal_data[P] + model.modal_data[P + 4] + model.modal_data[P + 8]


@kernel
def put_modal_masses(model, ws, m, k):
    """Column k of M_ff without interfaces."""
    n = m.count
    for other in range(n):
        ws.modes[m.work + 7 * n + other * n + k] = modal_mass(model, m, k, other)


@kernel
def start_modal_inertia(model, ws, i):
    """Inertia and bias of a frame in ground axes, and E, h, M_ff of its modes in ws.modes."""
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    start = m.data + 1 + 3 * (n + 1)
    R = get9(ws.row, at + L.W_R)
    om = mtv(R, get3(ws.row, at + L.W_OM))
    al = mtv(R, get3(ws.row, at + L.W_AL))
    a0 = mtv(R, get3(ws.row, at + L.W_A0))
    mass = model.modal_data[m.data]
    A = total(model, ws, m, 0, start)
    Z = moving(model, ws, m, 0, start)
    S = scale(1.0 + 0.0 * ws.q[m.coordinate], get3(model.modal_data, m.data + 1))
    Cu = scale(0.0 * ws.u[m.speed], om)
    Su = Cu
    for k in range(n):
        q = ws.q[m.coordinate + k]
        u = ws.u[m.speed + k]
        X = total(model, ws, m, k + 1, start)
        Y = moving(model, ws, m, k + 1, start)
        Sk = get3(model.modal_data, m.data + 1 + 3 * (k + 1))
        C = axial(X)
        A = add9(A, scaled9(q, X))
        Z = add9(Z, scaled9(q, Y))
        S = axpy3(q, Sk, S)
        Cu = axpy3(u, C, Cu)
        Su = axpy3(u, Sk, Su)
        put3(ws.modes, m.work + 6 * k, mv(R, C))
        put3(ws.modes, m.work + 6 * k + 3, mv(R, Sk))
        spun = dot3(om, mv(X, om)) - (X[0] + X[4] + X[8]) * dot3(om, om)
        felt = dot3(Sk, a0) + dot3(C, al)
        ws.modes[m.work + 6 * n + k] = felt + spun + 2.0 * dot3(om, axial(Y))
        put_modal_masses(model, ws, m, k)
    J = tensor(A)
    trace = 2.0 * (Z[0] + Z[4] + Z[8])
    rate = (
        trace - 2.0 * Z[0],
        -(Z[1] + Z[3]),
        -(Z[2] + Z[6]),
        trace - 2.0 * Z[4],
        -(Z[5] + Z[7]),
        trace - 2.0 * Z[8],
    )
    N = add3(add3(cross(S, a0), sv(J, al)), add3(cross(om, add3(sv(J, om), Cu)), sv(rate, om)))
    F = add3(scale(mass, a0), add3(cross(al, S), cross(om, cross(om, S))))
    F = add3(F, scale(2.0, cross(om, Su)))
    put6(ws.row, at + L.W_J, rotate_symmetric(R, J))
    put9(ws.row, at + L.W_H, skew(mv(R, S)))
    put6(ws.row, at + L.W_M, (mass, 0.0, 0.0, mass, 0.0, mass))
    put3(ws.row, at + L.W_N, mv(R, N))
    put3(ws.row, at + L.W_F, mv(R, F))


@kernel
def gather_faces(model, ws, m):
    """Add to E, h and M_ff what the interfaces feel along the modes; their inertia is in the row of the frame already."""
    n = m.count
    for number in range(m.face, m.face + m.faces):
        f = face_at(model.faces, number)
        at = f.body * L.ROW
        J = get6(ws.row, at + L.W_J)
        H = get9(ws.row, at + L.W_H)
        M = get6(ws.row, at + L.W_M)
        N = get3(ws.row, at + L.W_N)
        F = get3(ws.row, at + L.W_F)
        d = get3(ws.row, at + L.W_D)
        for k in range(n):
            a = get3(ws.modes, f.work + 6 * k)
            el = get3(ws.modes, f.work + 6 * k + 3)
            un = add3(sv(J, a), mv(H, el))
            uf = add3(mtv(H, a), sv(M, el))
            e = m.work + 6 * k
            put3(ws.modes, e, add3(get3(ws.modes, e), add3(un, cross(d, uf))))
            put3(ws.modes, e + 3, add3(get3(ws.modes, e + 3), uf))
            ws.modes[m.work + 6 * n + k] += dot3(a, N) + dot3(el, F)
            for other in range(n):
                c = f.work + 6 * other
                ws.modes[m.work + 7 * n + other * n + k] += dot3(get3(ws.modes, c), un) + dot3(
                    get3(ws.modes, c + 3), uf
                )


@kernel
def eliminate_modes(model, ws, i):
    """Eliminate the modes of a frame, last first, and hand the rest to its parent."""
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    gather_faces(model, ws, m)
    J = get6(ws.row, at + L.W_J)
    H = get9(ws.row, at + L.W_H)
    M = get6(ws.row, at + L.W_M)
    N = get3(ws.row, at + L.W_N)
    F = get3(ws.row, at + L.W_F)
    h, square = m.work + 6 * n, m.work + 7 * n
    for k in range(n):
        ws.modes[h + k] = ws.tau[m.speed + k] - ws.modes[h + k]
    for k in range(n - 1, -1, -1):
        D = ws.modes[square + k * n + k] + ws.rotor[m.speed + k]
        if not every(D > 0.0):
            return L.Status.SINGULAR_JOINT
        inv = 1.0 / D
        un = get3(ws.modes, m.work + 6 * k)
        uf = get3(ws.modes, m.work + 6 * k + 3)
        g = ws.modes[h + k] * inv
        gn = scale(inv, un)
        J = sub6(J, outer_symmetric(gn, un))
        H = sub9(H, outer(gn, uf))
        M = sub6(M, outer_symmetric(scale(inv, uf), uf))
        N = add3(N, scale(g, un))
        F = add3(F, scale(g, uf))
        for other in range(k):
            part = -ws.modes[square + other * n + k] * inv
            e = m.work + 6 * other
            put3(ws.modes, e, axpy3(part, un, get3(ws.modes, e)))
            put3(ws.modes, e + 3, axpy3(part, uf, get3(ws.modes, e + 3)))
            ws.modes[h + other] += part * ws.modes[h + k]
            for third in range(other + 1):
                ws.modes[square + third * n + other] += part * ws.modes[square + third * n + k]
        ws.modes[square + k * n + k] = inv
    hand_over(model, ws, i, J, H, M, N, F)
    return 0


@kernel
def accelerate_modes(model, ws, i):
    """u̇ of the modes; the frame moves with its parent."""
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    da, db = carried(model, ws, i)
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, db)
    square = m.work + 7 * n
    for k in range(n):
        e = m.work + 6 * k
        left = (
            ws.modes[m.work + 6 * n + k]
            - dot3(get3(ws.modes, e), da)
            - dot3(get3(ws.modes, e + 3), db)
        )
        for other in range(k):
            left -= ws.modes[square + other * n + k] * ws.udot[m.speed + other]
        ws.udot[m.speed + k] = left * ws.modes[square + k * n + k]


@kernel
def accelerate_face(model, ws, i):
    """Increments of acceleration of an interface."""
    at = i * L.ROW
    f = face_at(model.faces, face_of(model, i))
    m = modal_at(model.modal, modal_of(model, model.parent[i]))
    da, db = carried(model, ws, i)
    for k in range(m.count):
        r = ws.udot[m.speed + k]
        da = axpy3(r, get3(ws.modes, f.work + 6 * k), da)
        db = axpy3(r, get3(ws.modes, f.work + 6 * k + 3), db)
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, db)


@kernel
def modal_momentum(model, ws, i):
    """Mass, momentum about O_E and ground axes, and kinetic energy of a frame with its modes, after `velocities`."""
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    start = m.data + 1 + 3 * (n + 1)
    R = get9(ws.row, at + L.W_R)
    om = mtv(R, get3(ws.row, at + L.W_OM))
    v = mtv(R, get3(ws.row, at + L.W_V))
    mass = model.modal_data[m.data]
    A, S = inertia_now(model, ws, m)
    p = add3(scale(mass, v), cross(om, S))
    energy = 0.5 * (dot3(v, p) + dot3(v, cross(om, S)) + dot3(om, sv(tensor(A), om)))
    for k in range(n):
        u = ws.u[m.speed + k]
        Sk = get3(model.modal_data, m.data + 1 + 3 * (k + 1))
        p = axpy3(u, Sk, p)
        energy += u * (dot3(v, Sk) + dot3(om, axial(total(model, ws, m, k + 1, start))))
        for other in range(n):
            energy += 0.5 * modal_mass(model, m, k, other) * u * ws.u[m.speed + other]
    return mv(R, p), energy


@kernel
def modal_moment(model, ws, i):
    """Mass times the centre of mass of a frame from O_E, ground axes."""
    m = modal_at(model.modal, modal_of(model, i))
    _, S = inertia_now(model, ws, m)
    return mv(get9(ws.row, i * L.ROW + L.W_R), S)
