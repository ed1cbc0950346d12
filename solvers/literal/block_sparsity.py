"""Sparsity of M and H: positions of their non-zero blocks, row by row ([Sh24] theorems 2.5 and
2.6).

Row i of M and B has the eta_i columns of the joints on the path 0 -> i. Row i of H has blocks for
kappa_i, the siblings before i, and i itself (for kappa_i = 0 only i, because the ground is
immovable). A row of blocks is a dense strip whose last columns are the diagonal block.
"""

import numpy as np


def pattern(parent: np.ndarray, u_at: np.ndarray) -> dict[str, np.ndarray]:
    """Return the integer fields eta, m_at, b_at, h_at, h_col of the model; the last entry of each
    `*_at` is the length of its storage.
    """
    count = len(parent)
    eta = np.zeros(count, np.int64)
    h_col = np.zeros(count, np.int64)
    m_at, b_at, h_at = (np.zeros(count + 1, np.int64) for _ in range(3))
    taken = np.zeros(count, np.int64)  # columns that the children of a body seen so far use
    for i in range(count):
        n = int(u_at[i + 1] - u_at[i]) if i else 0
        m = 6 - n if i else 0
        kappa = int(parent[i])
        if kappa >= 0:
            eta[i] = eta[kappa] + n
        if kappa > 0:
            h_col[i] = 6 - (u_at[kappa + 1] - u_at[kappa]) + taken[kappa]
            taken[kappa] += m
        m_at[i + 1] = m_at[i] + n * eta[i]
        b_at[i + 1] = b_at[i] + 6 * eta[i]
        h_at[i + 1] = h_at[i] + m * (h_col[i] + m)
    return {"eta": eta, "m_at": m_at, "b_at": b_at, "h_at": h_at, "h_col": h_col}
