"""3 x 3 blocks of constraint rows, the size of a planar loop: computed in registers, without a
pivot search if all pivots are clearly nonzero.
"""

import math

from kinetree.solvers.algebra.vectors import axpy3, get3, put3
from kinetree.solvers.kernel import inline, kernel

EVEN = 1e-4  # squared sine above which rows are taken in their own order: far from what is redundant or let go


@kernel
def square_of_three(ws, at, first, columns):
    """Compute the lower half of the block at index `at` of ws.loop_g: Xᵀ Z over the columns that
    begin at `first`.
    """
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first, first + 3 * columns, 3):
        x, y, z = get3(ws.loop_x, k)
        p, q, r = get3(ws.loop_z, k)
        a += p * x
        b += q * x
        c += q * y
        d += r * x
        e += r * y
        f += r * z
    ws.loop_g[at] = a
    ws.loop_g[at + 3] = b
    ws.loop_g[at + 4] = c
    put3(ws.loop_g, at + 6, (d, e, f))


@kernel
def add_products_of_threes(ws, at, a, rows, b, cols, speeds):
    """Add Zᵀ X of two groups of 3 or 6 rows to the block at index `at`, three rows and columns at a
    time.
    """
    for i in range(0, rows, 3):
        for j in range(0, cols, 3):
            add_products(ws, at + i * cols + j, a + i, rows, b + j, cols, speeds)


@kernel
def add_products(ws, at, a, rows, b, cols, speeds):
    """Add Zᵀ X of three rows and three columns to part of a block with `cols` columns."""
    A, B, C = get3(ws.loop_g, at), get3(ws.loop_g, at + cols), get3(ws.loop_g, at + 2 * cols)
    for k in range(speeds):
        x = get3(ws.loop_x, b + k * cols)
        p, q, r = get3(ws.loop_z, a + k * rows)
        A, B, C = axpy3(p, x, A), axpy3(q, x, B), axpy3(r, x, C)
    put3(ws.loop_g, at, A)
    put3(ws.loop_g, at + cols, B)
    put3(ws.loop_g, at + 2 * cols, C)


@inline
def row_by_three(p, b):
    """Return the three products of the vector p with the columns of a 3 x 3 block given by its rows
    b.
    """
    return (
        p[0] * b[0][0] + p[1] * b[0][1] + p[2] * b[0][2],
        p[0] * b[1][0] + p[1] * b[1][1] + p[2] * b[1][2],
        p[0] * b[2][0] + p[1] * b[2][1] + p[2] * b[2][2],
    )


@inline
def rows_of(ws, at):
    """Return the three rows of the block at index `at`."""
    return (get3(ws.loop_g, at), get3(ws.loop_g, at + 3), get3(ws.loop_g, at + 6))


@inline
def less(ws, at, p):
    """Subtract three numbers from a row of a block."""
    a = get3(ws.loop_g, at)
    put3(ws.loop_g, at, (a[0] - p[0], a[1] - p[1], a[2] - p[2]))


@kernel
def subtract_threes(ws, at, a, b):
    """Subtract a bᵀ of two 3 x 3 blocks from the block at index `at`."""
    A, B = rows_of(ws, a), rows_of(ws, b)
    less(ws, at, row_by_three(A[0], B))
    less(ws, at + 3, row_by_three(A[1], B))
    less(ws, at + 6, row_by_three(A[2], B))


@inline
def solved_row(p, F):
    """Return p F⁻ᵀ for a row p and a 3 x 3 triangular factor F whose diagonal holds reciprocals."""
    a = p[0] * F[0][0]
    b = (p[1] - a * F[1][0]) * F[1][1]
    return (a, b, (p[2] - a * F[2][0] - b * F[2][1]) * F[2][2])


@kernel
def divide_three(ws, at, factor):
    """Multiply the block at index `at` by the inverse transposed factor."""
    F, A = rows_of(ws, factor), rows_of(ws, at)
    put3(ws.loop_g, at, solved_row(A[0], F))
    put3(ws.loop_g, at + 3, solved_row(A[1], F))
    put3(ws.loop_g, at + 6, solved_row(A[2], F))


@kernel
def factor_three(ws, at, s):
    """Overwrite a 3 x 3 diagonal block by its factor; return the smallest relative pivot, or 0 if
    left unchanged.
    """
    a = ws.loop_g[at]
    if not a > EVEN * s[0]:
        return 0.0
    i = 1.0 / math.sqrt(a)
    p, q = ws.loop_g[at + 3] * i, ws.loop_g[at + 6] * i
    b = ws.loop_g[at + 4] - p * p
    if not b > EVEN * s[1]:
        return 0.0
    j = 1.0 / math.sqrt(b)
    r = (ws.loop_g[at + 7] - q * p) * j
    c = ws.loop_g[at + 8] - q * q - r * r
    if not c > EVEN * s[2]:
        return 0.0
    put3(ws.loop_g, at, (i, 0.0, 0.0))
    put3(ws.loop_g, at + 3, (p, j, 0.0))
    put3(ws.loop_g, at + 6, (q, r, 1.0 / math.sqrt(c)))
    return min(a / s[0], min(b / s[1], c / s[2]))


@kernel
def pass_three(ws, x, at, block, b):
    """Subtract a block times three solved values from the right-hand side."""
    p, q = row_by_three(get3(ws.loop_b, b), rows_of(ws, block)), get3(x, at)
    put3(x, at, (q[0] - p[0], q[1] - p[1], q[2] - p[2]))


@kernel
def lower_three(ws, x, at, factor):
    """Compute ws.loop_b = L⁻¹ x for one group of three rows."""
    put3(ws.loop_b, at, solved_row(get3(x, at), rows_of(ws, factor)))


@kernel
def upper_three(ws, x, at, factor):
    """Compute x = L⁻ᵀ ws.loop_b for one group of three rows."""
    F, p = rows_of(ws, factor), get3(ws.loop_b, at)
    c = p[2] * F[2][2]
    b = (p[1] - F[2][1] * c) * F[1][1]
    put3(x, at, ((p[0] - F[1][0] * b - F[2][0] * c) * F[0][0], b, c))


@kernel
def back_three(ws, x, at, block, b):
    """Subtract the transposed block times three solution components from the right-hand side of an
    earlier group.
    """
    A, p, q = rows_of(ws, block), get3(x, at), get3(ws.loop_b, b)
    one = q[0] - (A[0][0] * p[0] + A[1][0] * p[1] + A[2][0] * p[2])
    two = q[1] - (A[0][1] * p[0] + A[1][1] * p[1] + A[2][1] * p[2])
    put3(ws.loop_b, b, (one, two, q[2] - (A[0][2] * p[0] + A[1][2] * p[1] + A[2][2] * p[2])))
