"""Flexible bodies described by modes: a floating frame E at the root interface, n modal
coordinates, and interface frames that the modes move.

Material points are at x = φ_0 + φ_k q_k + φ_kl q_k q_l / 2, where the last term, of second order,
gives geometric stiffening under loads and rotation (zero if the file has none). With c = (1, q), a
= 0..n and the invariants S_a = Σ m φ_a, V_ak = Σ m φ_a×φ_k, J_ak the inertia tensor of φ_a and φ_k,
and of second order S_kl = Σ m φ_kl, W_kl = Σ m φ_0×φ_kl and a part of J_kl:

    y_k = c_a J_ak,  J = c_k y_k,  J' = 2 q̇_k y_k,  C_k = c_a V_ak + W_kl q_l,  S_k' = S_k + S_kl q_l,  S = c_a S_a + S_kl q_k q_l / 2
    N = S×a + Jα + ω×(Jω + C_k q̇_k) + J'ω + W_kl q̇_k q̇_l          F = m a + α×S + ω×(ω×S) + 2 ω×S_k' q̇_k + S_kl q̇_k q̇_l
    h_k = S_k'·a + C_k·α - ωᵀy_k ω + 2 ω·V_lk q̇_l          M_kk = m_k, else 0: modes are orthogonal

all in body axes about O_E. An interface is at p + Φ_k q_k + Φ_kl q_k q_l / 2 with axes exp(Ψ q).
The modes are eliminated, last mode first, after the interfaces have added the inertia and bias of
their subtrees: M* = M_rr - E M_ff⁻¹Eᵀ, and the bias alike; then the frame is a body fixed to its
parent. Stiffness and damping of the modes are forces along them. Values of all modes are
contiguous, so that sums run along them. Shabana, Dynamics of multibody systems (2020), chapter 5;
Wallrapp, Schwertassek, Int. J. Num. Meth. Eng. 32 (1991) 1833 (second order); elimination as in
`dec_columns`.
"""

from kinetree.solvers import layout as L
from kinetree.solvers.algebra.lane_select import every
from kinetree.solvers.algebra.rotation_vectors import turned
from kinetree.solvers.algebra.rows_of_numbers import (
    add_row,
    add_three,
    column_of,
    copy_row,
    put_column,
    sum_along,
    three_along,
    weighted,
)
from kinetree.solvers.algebra.vectors import (
    add3,
    cross,
    dot3,
    get3,
    get6,
    get9,
    mm,
    mtv,
    mv,
    put3,
    put6,
    put9,
    rotate_symmetric,
    scale,
    skew,
    sv,
)
from kinetree.solvers.engine.dec_columns import put_step, rate, yielded
from kinetree.solvers.engine.dec_transfer import carried, hand_over
from kinetree.solvers.kernel import inline, kernel
from kinetree.solvers.views import face_at, modal_at

ZERO = (0.0, 0.0, 0.0)


@kernel
def modal_of(model, body):
    """Return the index of the record MODAL of a frame body."""
    k = 0
    while modal_at(model.modal, k).body != body:
        k += 1
    return k


@kernel
def face_of(model, body):
    """Return the index of the record FACE of an interface body."""
    k = 0
    while face_at(model.faces, k).body != body:
        k += 1
    return k


@kernel
def move_frame(model, ws, i):
    """Fill the row of the floating frame of a flexible body: that of its parent, since modes move
    interfaces and not the frame.
    """
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
def quadratic(model, ws, m, rows, out):
    """Return three sums over k, l of rows[k][l] q̇_k q̇_l; `out` is the index of scratch memory for
    n values.
    """
    n = m.count
    none = 0.0 * ws.u[m.speed]
    found = (none, none, none)
    for axis in range(3):
        copy_row(ws.modes, out, none, model.modal_data, rows, n)
        weighted(ws.modes, out, ws.u, m.speed, n, model.modal_data, rows + axis * n * n, n)
        one = sum_along(ws.modes, out, ws.u, m.speed, n)
        if axis == 0:
            found = (one, found[1], found[2])
        elif axis == 1:
            found = (found[0], one, found[2])
        else:
            found = (found[0], found[1], one)
    return found


@kernel
def move_face(model, ws, i):
    """Compute the motion of an interface frame and its mode columns in ws.modes."""
    at = i * L.ROW
    parent = model.parent[i] * L.ROW
    f = face_at(model.faces, face_of(model, i))
    m = modal_at(model.modal, modal_of(model, model.parent[i]))
    n = m.count
    one = 1.0 + 0.0 * ws.u[m.speed]
    moved = f.work + 6 * n  # Φ_k + Φ_kl q_l
    fixed = f.data + 3
    twists = fixed + 3 * n
    second = twists + 3 * n
    for axis in range(3):
        copy_row(ws.modes, moved + axis * n, one, model.modal_data, fixed + axis * n, n)
    p = add3(
        scale(one, get3(model.modal_data, f.data)),
        three_along(ws.modes, moved, n, ws.q, m.coordinate, n),
    )
    bias = scale(0.0, p)
    if m.second > 0:
        for axis in range(3):
            rows = second + axis * n * n
            to = moved + axis * n
            weighted(ws.modes, to, ws.q, m.coordinate, n, model.modal_data, rows, n)
        more = three_along(ws.modes, moved, n, ws.q, m.coordinate, n)
        place = get3(model.modal_data, f.data)
        p = scale(0.5, add3(add3(p, more), place))
        bias = quadratic(model, ws, m, second, f.work)
    v = three_along(ws.modes, moved, n, ws.u, m.speed, n)
    turn = three_along(model.modal_data, twists, n, ws.q, m.coordinate, n)
    rate = three_along(model.modal_data, twists, n, ws.u, m.speed, n)
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
    put3(ws.row, at + L.W_A0, add3(add3(a0, mv(R, bias)), scale(2.0, cross(om, v))))
    put_face_columns(model, ws, f, n, R, mm(R, T))


@kernel
def put_face_columns(model, ws, f, n, R, RT):
    """Write the rotation and displacement of an interface per unit of each mode, in ground axes:
    six rows of n.
    """
    twists = f.data + 3 + 3 * n
    for k in range(n):
        a = mv(RT, column_of(model.modal_data, twists + k, n))
        put_column(ws.modes, f.work + k, n, a)
        el = mv(R, column_of(ws.modes, f.work + 6 * n + k, n))
        put_column(ws.modes, f.work + 3 * n + k, n, el)


@kernel
def sweep(model, ws, m):
    """Write y_k (six rows of n + 1), C_k (three rows, k from 0) and S_k' (three rows of n) for the
    current modal coordinates q; return their index.
    """
    n = m.count
    N = n + 1
    to = m.work + 7 * n + n * n
    one = 1.0 + 0.0 * ws.q[m.coordinate]
    for part in range(9):
        rows = m.data + 1 + 3 * N + part * N * N
        copy_row(ws.modes, to + part * N, one, model.modal_data, rows, N)
        at = to + part * N
        weighted(ws.modes, at, ws.q, m.coordinate, n, model.modal_data, rows + N, N)
    second = second_order(m)
    for axis in range(3):
        moved = to + 9 * N + axis * n
        copy_row(ws.modes, moved, one, model.modal_data, m.data + 1 + axis * N + 1, n)
        if m.second > 0:
            rows = second + axis * n * n
            weighted(ws.modes, moved, ws.q, m.coordinate, n, model.modal_data, rows, n)
            turning = to + (6 + axis) * N + 1
            rows = second + (3 + axis) * n * n
            weighted(ws.modes, turning, ws.q, m.coordinate, n, model.modal_data, rows, n)
    return to


@inline
def second_order(m):
    """Return the index of S_kl and W_kl in the data of a flexible body."""
    N = m.count + 1
    return m.data + 1 + 3 * N + 9 * N * N + m.count


@kernel
def first_moment(model, ws, m, moved):
    """Return the first moment S for the current q, from S_k' at index `moved`."""
    n = m.count
    N = n + 1
    S = three_along(ws.modes, moved, n, ws.q, m.coordinate, n)
    if m.second > 0:
        S = add3(S, three_along(model.modal_data, m.data + 2, N, ws.q, m.coordinate, n))
        S = scale(0.5, S)
    return add3(S, column_of(model.modal_data, m.data + 1, N))


@kernel
def tensors(ws, m, to):
    """Return the inertia tensor J and half its rate from the sums y_k at index `to`."""
    n = m.count
    N = n + 1
    a = three_along(ws.modes, to + 1, N, ws.q, m.coordinate, n)
    b = three_along(ws.modes, to + 3 * N + 1, N, ws.q, m.coordinate, n)
    c = three_along(ws.modes, to + 1, N, ws.u, m.speed, n)
    d = three_along(ws.modes, to + 3 * N + 1, N, ws.u, m.speed, n)
    a = add3(a, column_of(ws.modes, to, N))
    b = add3(b, column_of(ws.modes, to + 3 * N, N))
    return (a[0], a[1], a[2], b[0], b[1], b[2]), (c[0], c[1], c[2], d[0], d[1], d[2])


@kernel
def start_modal_masses(model, ws, m):
    """Initialise M_ff without the interfaces' contributions: rows up to the diagonal."""
    n = m.count
    N = n + 1
    own = m.data + 1 + 3 * N + 9 * N * N
    square = m.work + 7 * n
    none = 0.0 * ws.q[m.coordinate]
    for k in range(n):
        for other in range(k):
            ws.modes[square + n * k + other] = none
        ws.modes[square + n * k + k] = none + model.modal_data[own + k]


@kernel
def start_modal_inertia(model, ws, i):
    """Initialise inertia and bias of a flexible body's frame in ground axes, and E, h, M_ff of its
    modes in ws.modes.
    """
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    R = get9(ws.row, at + L.W_R)
    om = mtv(R, get3(ws.row, at + L.W_OM))
    al = mtv(R, get3(ws.row, at + L.W_AL))
    a0 = mtv(R, get3(ws.row, at + L.W_A0))
    mass = model.modal_data[m.data]
    to = sweep(model, ws, m)
    moved = to + 9 * (n + 1)
    J, half = tensors(ws, m, to)
    S = first_moment(model, ws, m, moved)
    Cu = three_along(ws.modes, to + 6 * (n + 1) + 1, n + 1, ws.u, m.speed, n)
    Su = three_along(ws.modes, moved, n, ws.u, m.speed, n)
    put_modal_bias(model, ws, m, to, om, al, a0)
    turn_to_ground(ws, m, to, R)
    start_modal_masses(model, ws, m)
    N = add3(add3(cross(S, a0), sv(J, al)), cross(om, add3(sv(J, om), Cu)))
    N = add3(N, scale(2.0, sv(half, om)))
    F = add3(scale(mass, a0), add3(cross(al, S), cross(om, cross(om, S))))
    F = add3(F, scale(2.0, cross(om, Su)))
    if m.second > 0:
        second = second_order(m)
        F = add3(F, quadratic(model, ws, m, second, to))
        N = add3(N, quadratic(model, ws, m, second + 3 * n * n, to))
    put6(ws.row, at + L.W_J, rotate_symmetric(R, J))
    put9(ws.row, at + L.W_H, skew(mv(R, S)))
    put6(ws.row, at + L.W_M, (mass, 0.0, 0.0, mass, 0.0, mass))
    put3(ws.row, at + L.W_N, mv(R, N))
    put3(ws.row, at + L.W_F, mv(R, F))


@kernel
def put_modal_bias(model, ws, m, to, om, al, a0):
    """Write the modal bias h_k from the sums of `sweep`, in body axes."""
    n = m.count
    N = n + 1
    h = m.work + 6 * n
    none = 0.0 * om[0]
    for k in range(n):
        ws.modes[h + k] = none
    add_three(ws.modes, h, a0, ws.modes, to + 9 * N, n, n)
    add_three(ws.modes, h, al, ws.modes, to + 6 * N + 1, N, n)
    x, y, z = scale(2.0, om)
    across = m.data + 1 + 3 * N + 6 * N * N + N + 1  # V_lk of the x axis
    for a in range(n):
        u = ws.u[m.speed + a]
        row = across + N * a
        add_three(ws.modes, h, (x * u, y * u, z * u), model.modal_data, row, N * N, n)
    first = (-om[0] * om[0], -2.0 * om[0] * om[1], -2.0 * om[0] * om[2])
    add_three(ws.modes, h, first, ws.modes, to + 1, N, n)
    last = (-om[1] * om[1], -2.0 * om[1] * om[2], -om[2] * om[2])
    add_three(ws.modes, h, last, ws.modes, to + 3 * N + 1, N, n)


@kernel
def turn_to_ground(ws, m, to, R):
    """Write E in ground axes: six rows from C_k and S_k'."""
    n = m.count
    N = n + 1
    for k in range(n):
        c = mv(R, column_of(ws.modes, to + 6 * N + 1 + k, N))
        put_column(ws.modes, m.work + k, n, c)
        c = mv(R, column_of(ws.modes, to + 9 * N + k, n))
        put_column(ws.modes, m.work + 3 * n + k, n, c)


@kernel
def gather_faces(model, ws, m):
    """Add to E, h and M_ff the inertia and bias of the interfaces along the modes; those of the
    frame are in its row already.
    """
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
        add_three(ws.modes, m.work + 6 * n, N, ws.modes, f.work, n, n)
        add_three(ws.modes, m.work + 6 * n, F, ws.modes, f.work + 3 * n, n, n)
        for k in range(n):
            a = column_of(ws.modes, f.work + k, n)
            el = column_of(ws.modes, f.work + 3 * n + k, n)
            un = add3(sv(J, a), mv(H, el))
            uf = add3(mtv(H, a), sv(M, el))
            e = m.work + k
            more = add3(un, cross(d, uf))
            put_column(ws.modes, e, n, add3(column_of(ws.modes, e, n), more))
            e = m.work + 3 * n + k
            put_column(ws.modes, e, n, add3(column_of(ws.modes, e, n), uf))
            row = m.work + 7 * n + n * k
            for other in range(k + 1):
                c = f.work + other
                ws.modes[row + other] += (
                    ws.modes[c] * un[0] + ws.modes[c + n] * un[1] + ws.modes[c + 2 * n] * un[2]
                ) + (
                    ws.modes[c + 3 * n] * uf[0]
                    + ws.modes[c + 4 * n] * uf[1]
                    + ws.modes[c + 5 * n] * uf[2]
                )


@kernel
def eliminate_modes(model, ws, i):
    """Eliminate the modes of a flexible body, last first, and add the remaining inertia and bias to
    its parent.
    """
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
        row = square + k * n
        D = ws.modes[row + k] + ws.rotor[m.speed + k]
        if not every(D > 0.0):
            return L.Status.SINGULAR_JOINT
        inv = 1.0 / D
        un = column_of(ws.modes, m.work + k, n)
        uf = column_of(ws.modes, m.work + 3 * n + k, n)
        g = ws.modes[h + k] * inv
        J, H, M, N, F = yielded(J, H, M, N, F, un, uf, inv, g)
        put_step(ws, (m.speed + k) * L.COLUMN, un, uf, inv, g)
        add_row(ws.modes, h, -g, ws.modes, row, k)
        for axis in range(3):
            add_row(ws.modes, m.work + axis * n, -inv * un[axis], ws.modes, row, k)
            add_row(ws.modes, m.work + (3 + axis) * n, -inv * uf[axis], ws.modes, row, k)
        for other in range(k):
            part = -inv * ws.modes[row + other]
            add_row(ws.modes, square + n * other, part, ws.modes, row, other + 1)
    hand_over(model, ws, i, J, H, M, N, F)
    return 0


@kernel
def coupled(model, ws, m, k, other):
    """Return the coupling inertia between modes k and `other` < k that remains when the modes after
    k are eliminated.
    """
    return ws.modes[m.work + 7 * m.count + k * m.count + other]


@kernel
def accelerate_modes(model, ws, i):
    """Compute u̇ of the modes; the frame itself moves with its parent."""
    at = i * L.ROW
    m = modal_at(model.modal, modal_of(model, i))
    n = m.count
    da, db = carried(model, ws, i)
    put3(ws.row, at + L.W_DA, da)
    put3(ws.row, at + L.W_DB, db)
    for k in range(n):
        c = (m.speed + k) * L.COLUMN
        felt = 0.0 * ws.u[m.speed]
        for other in range(k):
            felt += coupled(model, ws, m, k, other) * ws.udot[m.speed + other]
        ws.udot[m.speed + k] = rate(ws, c, da, db) - ws.col[c + L.C_INV] * felt


@kernel
def accelerate_face(model, ws, i):
    """Compute the increments of acceleration of an interface."""
    at = i * L.ROW
    f = face_at(model.faces, face_of(model, i))
    m = modal_at(model.modal, modal_of(model, model.parent[i]))
    n = m.count
    da, db = carried(model, ws, i)
    put3(ws.row, at + L.W_DA, add3(da, three_along(ws.modes, f.work, n, ws.udot, m.speed, n)))
    moved = three_along(ws.modes, f.work + 3 * n, n, ws.udot, m.speed, n)
    put3(ws.row, at + L.W_DB, add3(db, moved))


@kernel
def along_modes(model, ws, i, f, n, out, at, stride):
    """Add the modal forces that force f and moment n on interface i cause to `out`, one per mode,
    `stride` elements apart from index `at` on.
    """
    face = face_at(model.faces, face_of(model, i))
    m = modal_at(model.modal, modal_of(model, model.parent[i]))
    for k in range(m.count):
        a = column_of(ws.modes, face.work + k, m.count)
        el = column_of(ws.modes, face.work + 3 * m.count + k, m.count)
        out[at + stride * k] += dot3(a, n) + dot3(el, f)
