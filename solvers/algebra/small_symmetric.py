"""Cholesky factor of a symmetric positive matrix of order three, as tuples."""

import math

from kinetree.solvers.kernel import kernel


@kernel
def cholesky3(s):
    """Lower factor L of S = L Lᵀ: (xx, yx, yy, zx, zy, zz)."""
    a = math.sqrt(s[0])
    b = s[1] / a
    c = math.sqrt(s[3] - b * b)
    d = s[2] / a
    e = (s[4] - d * b) / c
    return (a, b, c, d, e, math.sqrt(s[5] - d * d - e * e))


@kernel
def lower_transposed(c, a):
    """Lᵀ a."""
    return (c[0] * a[0] + c[1] * a[1] + c[3] * a[2], c[2] * a[1] + c[4] * a[2], c[5] * a[2])
