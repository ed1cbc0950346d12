"""Six-vectors (linear, angular), the transfer matrix C = [[G, -G ρ̃], [0, G]] of a joint and inertias, on tuples and flat arrays.

C is never formed: C x and Cᵀ f cost 24 multiplications and 18 additions each (table 4.2 of [Sh24]).
Symmetric 6x6 matrices are stored full, row by row (36 numbers).
"""

from kinetree.solvers.algebra.vectors import (
    add3,
    add6,
    add9,
    cross,
    full,
    mm,
    mtv,
    mv,
    rotate_symmetric,
    scale,
    skew_mm,
    sv,
    transpose,
)
from kinetree.solvers.kernel import kernel


@kernel
def linear(x):
    """Return the linear part of a six-vector."""
    return (x[0], x[1], x[2])


@kernel
def angular(x):
    """Return the angular part of a six-vector."""
    return (x[3], x[4], x[5])


@kernel
def join(a, b):
    """Return the six-vector with linear part a and angular part b."""
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def dot6(a, b):
    """Return the scalar product of two six-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def axpy6(s, a, b):
    """Return s a + b for six-vectors a and b."""
    return (
        s * a[0] + b[0],
        s * a[1] + b[1],
        s * a[2] + b[2],
        s * a[3] + b[3],
        s * a[4] + b[4],
        s * a[5] + b[5],
    )


@kernel
def carry(G, rho, x):
    """Return C x: a velocity or an acceleration, carried from the parent's origin and axes to the
    child's.
    """
    a = angular(x)
    return join(mv(G, add3(linear(x), cross(a, rho))), mv(G, a))


@kernel
def carry_back(G, rho, f):
    """Return Cᵀ f: a force and moment, carried from the child's origin and axes to the parent's."""
    g = mtv(G, linear(f))
    return join(g, add3(mtv(G, angular(f)), cross(rho, g)))


@kernel
def motion_cross(v, x):
    """Return -Ωᵀ x, the time derivative of a twist that is constant in a frame which moves with -v."""
    w = angular(v)
    return join(add3(cross(w, linear(x)), cross(linear(v), angular(x))), cross(w, angular(x)))


@kernel
def momentum_cross(v, p):
    """Return Ω p with Ω = [[ω̃, 0], [ṽ, ω̃]] of the twist v: the rate of a momentum that is
    constant in the moving frame.
    """
    w = angular(v)
    return join(cross(w, linear(p)), add3(cross(linear(v), linear(p)), cross(w, angular(p))))


@kernel
def rigid_mv(m, h, J, x):
    """Return M x for a rigid body with mass m, first moment h = m rc and symmetric inertia J about
    the origin.
    """
    a = angular(x)
    return join(add3(scale(m, linear(x)), cross(a, h)), add3(cross(h, linear(x)), sv(J, a)))


@kernel
def rigid_back(G, rho, m, h, J):
    """Return first moment and inertia of a rigid body, referred to the parent's origin and axes (Cᵀ
    M C).
    """
    h1 = mtv(G, h)
    h2 = add3(h1, scale(m, rho))
    J1 = rotate_symmetric(transpose(G), J)
    k = scale(0.5, add3(h1, h2))
    x = k[0] * rho[0]
    y = k[1] * rho[1]
    z = k[2] * rho[2]
    shift = (
        2.0 * (y + z),
        -(k[0] * rho[1] + k[1] * rho[0]),
        -(k[0] * rho[2] + k[2] * rho[0]),
        2.0 * (x + z),
        -(k[1] * rho[2] + k[2] * rho[1]),
        2.0 * (x + y),
    )
    return h2, add6(J1, shift)


@kernel
def mv6(M, at, x):
    """Return the product of a 6x6 matrix, stored in M from index `at` on, and a six-vector."""
    return (
        row6(M, at, x),
        row6(M, at + 6, x),
        row6(M, at + 12, x),
        row6(M, at + 18, x),
        row6(M, at + 24, x),
        row6(M, at + 30, x),
    )


@kernel
def row6(M, at, x):
    """Return the scalar product of the six elements stored from index `at` on (one row) and a
    six-vector.
    """
    return (
        M[at] * x[0]
        + M[at + 1] * x[1]
        + M[at + 2] * x[2]
        + M[at + 3] * x[3]
        + M[at + 4] * x[4]
        + M[at + 5] * x[5]
    )


@kernel
def get_block(M, at):
    """Return the 3x3 block of a 6x6 matrix whose first element is stored at index `at`."""
    return (
        M[at],
        M[at + 1],
        M[at + 2],
        M[at + 6],
        M[at + 7],
        M[at + 8],
        M[at + 12],
        M[at + 13],
        M[at + 14],
    )


@kernel
def add_block(M, at, b):
    """Add b to the 3x3 block of a 6x6 matrix whose first element is stored at index `at`."""
    for r in range(3):
        for c in range(3):
            M[at + 6 * r + c] += b[3 * r + c]


@kernel
def put_rigid(M, at, m, h, J):
    """Store the inertia M = [[mE, -h̃], [h̃, J]] of a rigid body as a full 6x6 matrix from index
    `at` on.
    """
    for k in range(36):
        M[at + k] = 0.0
    M[at] = M[at + 7] = M[at + 14] = m
    M[at + 4] = M[at + 24] = h[2]
    M[at + 5] = M[at + 30] = -h[1]
    M[at + 9] = M[at + 19] = -h[2]
    M[at + 11] = M[at + 31] = h[0]
    M[at + 15] = M[at + 20] = h[1]
    M[at + 16] = M[at + 26] = -h[0]
    add_block(M, at + 21, full(J))


@kernel
def add_congruence(M, at, H, ah, G, rho):
    """Add Cᵀ H C of a symmetric 6x6 matrix H to M: its blocks are rotated by G, then its origin is
    shifted by rho.
    """
    Gt = transpose(G)
    P = full(rotate_symmetric(Gt, upper(get_block(H, ah))))
    Q = mm(mm(Gt, get_block(H, ah + 3)), G)
    S = full(rotate_symmetric(Gt, upper(get_block(H, ah + 21))))
    Q1 = add9(Q, transpose(skew_mm(rho, P)))
    S1 = add9(add9(S, skew_mm(rho, Q1)), transpose(skew_mm(rho, Q)))
    add_block(M, at, P)
    add_block(M, at + 3, Q1)
    add_block(M, at + 18, transpose(Q1))
    add_block(M, at + 21, S1)


@kernel
def upper(m):
    """Return the upper triangle (6 elements) of a symmetric 3x3 matrix."""
    return (m[0], m[1], m[2], m[4], m[5], m[8])
