"""Triangular algebra on small blocks inside flat arrays: A = LᵀL taken from the last row up, [Sh24] (2.7)-(2.9).

A block is given by its array, the position of its first element, its order n and the stride between rows.
"""

import math

from kinetree.solvers.kernel import kernel

PIVOT = 1e-14  # a pivot below this part of the diagonal it came from is rounding noise: 45 eps


@kernel
def factor_rows(L, at, stride, n, col):
    """Overwrite n rows of width col + n by the factor L of the last n columns, and the first `col`
    columns by L⁻ᵀ times them; return False if a pivot is not positive.
    """
    for r in range(n - 1, -1, -1):
        row = at + r * stride
        d = L[row + col + r]
        if not d > 0.0:
            return False
        d = math.sqrt(d)
        L[row + col + r] = d
        for c in range(col + r):
            L[row + c] /= d
        for k in range(r):
            x = L[row + col + k]
            for c in range(col + k + 1):
                L[at + k * stride + c] -= x * L[row + c]
    return True


@kernel
def diagonal_ok(L, at, stride, n, col, diagonal, first):
    """Return whether every squared pivot of a small factor is above the rounding noise of its
    original diagonal element.
    """
    for r in range(n):
        d = L[at + r * stride + col + r]
        if not d * d > PIVOT * diagonal[first + r]:
            return False
    return True


@kernel
def solve_upper(L, at, stride, n, y, iy):
    """Overwrite y by L⁻ᵀ y (back substitution with a small factor)."""
    for r in range(n - 1, -1, -1):
        y[iy + r] /= L[at + r * stride + r]
        for c in range(r):
            y[iy + c] -= L[at + r * stride + c] * y[iy + r]


@kernel
def solve_lower(L, at, stride, n, x, ix):
    """Overwrite x by L⁻¹ x (forward substitution with a small factor)."""
    for r in range(n):
        for c in range(r):
            x[ix + r] -= L[at + r * stride + c] * x[ix + c]
        x[ix + r] /= L[at + r * stride + r]


@kernel
def downdate(L, source, stride, rows, col, start, target, width, n, first):
    """Subtract the product L_kiᵀ L_kj of two blocks of factor rows from n target rows; target row r
    has first + r + 1 columns.
    """
    for r in range(n):
        to = target + r * width
        for a in range(rows):
            x = L[source + a * stride + col + r]
            for c in range(first + r + 1):
                L[to + c] -= x * L[source + a * stride + start + c]


@kernel
def scatter(L, at, stride, rows, y, iy, b, ib, n):
    """Subtract Lᵀ y from b for a block L of `rows` rows and n columns."""
    for a in range(rows):
        x = y[iy + a]
        for c in range(n):
            b[ib + c] -= L[at + a * stride + c] * x


@kernel
def gather(L, at, stride, rows, x, ix, y, iy, n):
    """Subtract L x from y for a block L of `rows` rows and n columns."""
    for a in range(rows):
        for c in range(n):
            y[iy + a] -= L[at + a * stride + c] * x[ix + c]
