"""Blocks of two rows, the size of a plane loop that closes at a point: everything in registers, as `block3_factor` does with three."""

import math

from kinetree.solvers.kernel import inline, kernel
from kinetree.solvers.loops.block3_factor import EVEN


@kernel
def square_of_two(ws, at, first, columns):
    """Lower half of the block at `at` of ws.loop_g: Xᵀ Z over the columns that begin at `first`."""
    a, b, c = 0.0, 0.0, 0.0
    for k in range(first, first + 2 * columns, 2):
        x, y = ws.loop_x[k], ws.loop_x[k + 1]
        p, q = ws.loop_z[k], ws.loop_z[k + 1]
        a += p * x
        b += q * x
        c += q * y
    ws.loop_g[at] = a
    ws.loop_g[at + 2] = b
    ws.loop_g[at + 3] = c


@kernel
def add_products_of_twos(ws, at, a, b, speeds):
    """Add Zᵀ X of two groups of two rows to the block at `at`."""
    for k in range(0, 2 * speeds, 2):
        x, y = ws.loop_x[b + k], ws.loop_x[b + k + 1]
        p, q = ws.loop_z[a + k], ws.loop_z[a + k + 1]
        ws.loop_g[at] += p * x
        ws.loop_g[at + 1] += p * y
        ws.loop_g[at + 2] += q * x
        ws.loop_g[at + 3] += q * y


@inline
def four(ws, at):
    """Return the block of two rows."""
    return (ws.loop_g[at], ws.loop_g[at + 1], ws.loop_g[at + 2], ws.loop_g[at + 3])


@kernel
def subtract_twos(ws, at, a, b):
    """Subtract block a times block b transposed from the block at `at`."""
    A, B = four(ws, a), four(ws, b)
    ws.loop_g[at] -= A[0] * B[0] + A[1] * B[1]
    ws.loop_g[at + 1] -= A[0] * B[2] + A[1] * B[3]
    ws.loop_g[at + 2] -= A[2] * B[0] + A[3] * B[1]
    ws.loop_g[at + 3] -= A[2] * B[2] + A[3] * B[3]


@kernel
def divide_two(ws, at, factor):
    """Multiply the block at `at` by the inverse transposed factor."""
    F, A = four(ws, factor), four(ws, at)
    p, q = A[0] * F[0], A[2] * F[0]
    ws.loop_g[at] = p
    ws.loop_g[at + 1] = (A[1] - p * F[2]) * F[3]
    ws.loop_g[at + 2] = q
    ws.loop_g[at + 3] = (A[3] - q * F[2]) * F[3]


@kernel
def factor_two(ws, at, s, t):
    """Overwrite a 2 x 2 diagonal block, rows of scales s and t, by its factor; return the smallest
    relative pivot, or 0 if left unchanged.
    """
    a = ws.loop_g[at]
    if not a > EVEN * s:
        return 0.0
    i = 1.0 / math.sqrt(a)
    p = ws.loop_g[at + 2] * i
    b = ws.loop_g[at + 3] - p * p
    if not b > EVEN * t:
        return 0.0
    ws.loop_g[at] = i
    ws.loop_g[at + 1] = 0.0
    ws.loop_g[at + 2] = p
    ws.loop_g[at + 3] = 1.0 / math.sqrt(b)
    return min(a / s, b / t)


@kernel
def pass_two(ws, x, at, block, b):
    """Take a block times two solved numbers off the right-hand side."""
    A, p, q = four(ws, block), ws.loop_b[b], ws.loop_b[b + 1]
    x[at] -= A[0] * p + A[1] * q
    x[at + 1] -= A[2] * p + A[3] * q


@kernel
def lower_two(ws, x, at, factor):
    """ws.loop_b = L⁻¹ x of one group."""
    F = four(ws, factor)
    a = x[at] * F[0]
    ws.loop_b[at] = a
    ws.loop_b[at + 1] = (x[at + 1] - a * F[2]) * F[3]


@kernel
def upper_two(ws, x, at, factor):
    """x = L⁻ᵀ ws.loop_b of one group."""
    F = four(ws, factor)
    b = ws.loop_b[at + 1] * F[3]
    x[at] = (ws.loop_b[at] - F[2] * b) * F[0]
    x[at + 1] = b


@kernel
def back_two(ws, x, at, block, b):
    """Subtract the transposed block times two solution components from the right side of an earlier
    group.
    """
    A, p, q = four(ws, block), x[at], x[at + 1]
    ws.loop_b[b] -= A[0] * p + A[2] * q
    ws.loop_b[b + 1] -= A[1] * p + A[3] * q
