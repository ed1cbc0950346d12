"""Factorisation C = B BT of a symmetric positive semidefinite band matrix, B lower triangular,
accurate for the softest modes.

The stiffness matrix of springs (off-diagonal elements <= 0, row sums g >= 0) is eliminated through
its off-diagonals a and row sums: d_k = g_k + sum_j a_kj, a_ij += a_ki a_kj/d_k, g_j += a_kj
g_k/d_k. These formulas contain no subtraction, so every element of B has full relative accuracy and
a free chain gives an exact zero pivot. The springs g to the ground may be given as a separate
vector, because the diagonal of the matrix has rounded them. Other matrices get their Cholesky
factor; pivots within rounding of zero count as zero. Cost O(n width^2).
"""

import numpy as np

from kinetree.solvers.chain import band_kernels
from kinetree.solvers.chain.band_matrices import Band, diagonals, zeros

EPSILON = float(np.finfo(float).eps)


def factor(C: Band, n: int, ground: np.ndarray | None = None) -> tuple[Band, np.ndarray] | None:
    """Return B as a lower band and the coordinates with zero pivot (free directions); None if C is
    indefinite.
    """
    w = C.width
    elements = diagonals(C, n)
    below = np.zeros((n, w + 1))
    for d in range(w + 1):
        below[: n - d, d] = 0.5 * (elements[: n - d, w + d] + elements[d:, w - d])
    sums = np.empty(n)
    if ground is None:
        band_kernels.row_sums(sums, C.data, C.base, C.stride, w, n)
    else:
        sums[:] = ground
    lower, free = np.zeros(n * (w + 1)), np.zeros(n, dtype=np.bool_)
    if (below[:, 1:] <= 0).all() and (sums >= -4 * EPSILON * np.abs(below[:, 0])).all():
        springs = -below
        band_kernels.eliminate_springs(
            lower, free, springs.reshape(-1), np.maximum(sums, 0.0), w, n
        )
    elif not band_kernels.eliminate(
        lower, free, below.reshape(-1), 8 * n * EPSILON * np.abs(below[:, 0]), w, n
    ):
        return None
    B = zeros(n, w)
    target, lower = diagonals(B, n), lower.reshape(n, w + 1)
    for d in range(w + 1):
        target[d:, w - d] = lower[: n - d, d]
    return B, np.flatnonzero(free)
