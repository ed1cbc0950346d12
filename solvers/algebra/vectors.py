"""Vectors, matrices and symmetric matrices of order three as tuples of floats.

numba keeps each component in a register: nothing is allocated, and code reads like its equations.
Vector (x, y, z); matrix row by row (9); symmetric matrix xx xy xz yy yz zz (6). `get` and `put` read and write them in flat arrays.
"""

from kinetree.solvers.kernel import inline


@inline
def get3(array, at):
    """Return the vector stored in an array from index `at` on."""
    return (array[at], array[at + 1], array[at + 2])


@inline
def get6(array, at):
    """Return the symmetric matrix or six-vector stored in an array from index `at` on."""
    return (array[at], array[at + 1], array[at + 2], array[at + 3], array[at + 4], array[at + 5])


@inline
def get9(array, at):
    """Return the 3x3 matrix stored in an array from index `at` on."""
    return (
        array[at],
        array[at + 1],
        array[at + 2],
        array[at + 3],
        array[at + 4],
        array[at + 5],
        array[at + 6],
        array[at + 7],
        array[at + 8],
    )


@inline
def put3(array, at, a):
    """Store a vector in an array from index `at` on."""
    array[at] = a[0]
    array[at + 1] = a[1]
    array[at + 2] = a[2]


@inline
def put6(array, at, a):
    """Store a symmetric matrix or six-vector in an array from index `at` on."""
    array[at] = a[0]
    array[at + 1] = a[1]
    array[at + 2] = a[2]
    array[at + 3] = a[3]
    array[at + 4] = a[4]
    array[at + 5] = a[5]


@inline
def put9(array, at, a):
    """Store a 3x3 matrix in an array from index `at` on."""
    put3(array, at, a)
    put6(array, at + 3, (a[3], a[4], a[5], a[6], a[7], a[8]))


@inline
def add_to3(array, at, a):
    """Add a to the vector stored in an array from index `at` on."""
    array[at] += a[0]
    array[at + 1] += a[1]
    array[at + 2] += a[2]


@inline
def add_to6(array, at, a):
    """Add a to the symmetric matrix or six-vector stored in an array from index `at` on."""
    array[at] += a[0]
    array[at + 1] += a[1]
    array[at + 2] += a[2]
    array[at + 3] += a[3]
    array[at + 4] += a[4]
    array[at + 5] += a[5]


@inline
def add_to9(array, at, a):
    """Add a to the 3x3 matrix stored in an array from index `at` on."""
    add_to3(array, at, a)
    add_to6(array, at + 3, (a[3], a[4], a[5], a[6], a[7], a[8]))


@inline
def add3(a, b):
    """Return the sum a + b of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inline
def sub3(a, b):
    """Return the difference a - b of two vectors."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inline
def neg3(a):
    """Return the negative of a vector."""
    return (-a[0], -a[1], -a[2])


@inline
def scale(s, a):
    """Return a vector times a number."""
    return (s * a[0], s * a[1], s * a[2])


@inline
def axpy3(s, a, b):
    """Return s a + b for vectors a and b."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@inline
def dot3(a, b):
    """Return the scalar product of two three-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a, b):
    """Return the vector product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inline
def mv(m, a):
    """Return a 3 x 3 matrix times a vector."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inline
def mtv(m, a):
    """Return the transposed 3 x 3 matrix times a vector."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inline
def sv(s, a):
    """Return a symmetric matrix (6 elements) times a vector."""
    return (
        s[0] * a[0] + s[1] * a[1] + s[2] * a[2],
        s[1] * a[0] + s[3] * a[1] + s[4] * a[2],
        s[2] * a[0] + s[4] * a[1] + s[5] * a[2],
    )


@inline
def mm(a, b):
    """Return the product of two 3 x 3 matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@inline
def transpose(m):
    """Return the transposed 3 x 3 matrix."""
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@inline
def full(s):
    """Return a symmetric matrix (6 elements) as a full 3 x 3 matrix (9 elements)."""
    return (s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5])


@inline
def rotate_symmetric(r, s):
    """Return R S Rᵀ (6 elements) for a symmetric matrix S."""
    t = mm(r, full(s))
    return (
        t[0] * r[0] + t[1] * r[1] + t[2] * r[2],
        t[0] * r[3] + t[1] * r[4] + t[2] * r[5],
        t[0] * r[6] + t[1] * r[7] + t[2] * r[8],
        t[3] * r[3] + t[4] * r[4] + t[5] * r[5],
        t[3] * r[6] + t[4] * r[7] + t[5] * r[8],
        t[6] * r[6] + t[7] * r[7] + t[8] * r[8],
    )


@inline
def add6(a, b):
    """Return the sum of two symmetric matrices (6 elements each)."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@inline
def sub6(a, b):
    """Return the difference a - b of two symmetric matrices (6 elements each)."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@inline
def add9(a, b):
    """Return the sum of two 3 x 3 matrices."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


@inline
def sub9(a, b):
    """Return the difference a - b of two 3 x 3 matrices."""
    return (
        a[0] - b[0],
        a[1] - b[1],
        a[2] - b[2],
        a[3] - b[3],
        a[4] - b[4],
        a[5] - b[5],
        a[6] - b[6],
        a[7] - b[7],
        a[8] - b[8],
    )


@inline
def scale6(s, a):
    """Return a symmetric matrix times a number."""
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@inline
def outer(a, b):
    """Return the outer product a bᵀ of two vectors."""
    return (
        a[0] * b[0],
        a[0] * b[1],
        a[0] * b[2],
        a[1] * b[0],
        a[1] * b[1],
        a[1] * b[2],
        a[2] * b[0],
        a[2] * b[1],
        a[2] * b[2],
    )


@inline
def outer_symmetric(a, b):
    """Return the product a bᵀ of two parallel vectors, which is symmetric (6 elements)."""
    return (a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[1], a[1] * b[2], a[2] * b[2])


@inline
def skew(a):
    """Return the matrix ã of the cross product: ã b = a × b."""
    return (0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0)


@inline
def skew_mm(a, m):
    """Return ã m: the cross-product matrix of a vector times a 3 x 3 matrix."""
    return (
        a[1] * m[6] - a[2] * m[3],
        a[1] * m[7] - a[2] * m[4],
        a[1] * m[8] - a[2] * m[5],
        a[2] * m[0] - a[0] * m[6],
        a[2] * m[1] - a[0] * m[7],
        a[2] * m[2] - a[0] * m[8],
        a[0] * m[3] - a[1] * m[0],
        a[0] * m[4] - a[1] * m[1],
        a[0] * m[5] - a[1] * m[2],
    )


@inline
def inverse_symmetric(s):
    """Return the inverse of a symmetric positive definite 3 x 3 matrix, by cofactors."""
    c0 = s[3] * s[5] - s[4] * s[4]
    c1 = s[2] * s[4] - s[1] * s[5]
    c2 = s[1] * s[4] - s[2] * s[3]
    d = 1.0 / (s[0] * c0 + s[1] * c1 + s[2] * c2)
    return (
        d * c0,
        d * c1,
        d * c2,
        d * (s[0] * s[5] - s[2] * s[2]),
        d * (s[1] * s[2] - s[0] * s[4]),
        d * (s[0] * s[3] - s[1] * s[1]),
    )
