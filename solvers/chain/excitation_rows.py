"""Rows of D_1..D_p at the coordinates where forces act ([GG11] truncated matrices), in any
coordinates (e, v).

Of each D_k only the rows (Y_k, U_k) of the given forces are carried; T_k = U_k - unit/k avoids
cancellation for small steps. With binomial sums S = sum C(k-1,l-1) Y_l, R = sum C(k-1,l-1) T_l:
(Y_k, T_k) <- 2^-k [(Y_k, T_k) + (S, R) + (S, R + unit (2^k-1)/k)(D_0 - E)], k = p..1 (12). Z_k is
the corresponding row for the free coordinates z, z. = v unit_freeT, whose column of D_0 is dt(-Y_1,
U_1)T of the free rows (S of [GG11] is J-symmetric).
"""

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain.band_matrices import rows_product
from kinetree.solvers.chain.coefficients import Coefficients

Advance = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Rows(NamedTuple):
    unit: np.ndarray  # (rows, n): the forces; the last ones belong to the free coordinates
    Y: np.ndarray  # (p, rows, n)
    T: np.ndarray  # (p, rows, n)
    Z: np.ndarray  # (p, rows, free)


def start(chain: Coefficients, unit: np.ndarray, free: int, p: int, step: float, r: int) -> Rows:
    """Return the rows of D_1..D_p at the substep by the series (9) of order r."""
    Y, T, Z = np.zeros((p, *unit.shape)), np.zeros((p, *unit.shape)), np.zeros((p, len(unit), free))
    pick = unit[len(unit) - free :].T
    y, s, z = np.zeros_like(unit), unit, np.zeros((len(unit), free))
    for k in range(1, r + 1):
        h = step / k
        friction = rows_product(s, chain.Fh) if chain.damped else 0.0
        y, s, z = (
            h * rows_product(s, chain.Bh),
            -h * (rows_product(y, chain.BhT) + friction),
            h * (s @ pick),
        )
        for i in range(p):
            Y[i] += y / (k + i + 1)
            T[i] += s / (k + i + 1)
            Z[i] += z / (k + i + 1)
    return Rows(unit, Y, T, Z)


def columns(rows: Rows, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns c_e, c_v of D_0 for the free coordinates: z <- z + e c_e + v c_v over the
    step of the rows.
    """
    free = rows.Z.shape[2]
    last = slice(len(rows.unit) - free, None)
    return -step * rows.Y[0, last].T, step * (rows.T[0, last] + rows.unit[last]).T


def double(rows: Rows, step: float, advance: Advance) -> Rows:
    """Return the rows of D_1..D_p for twice the step; `step` and `advance` belong to the single
    step.
    """
    p, count, n = rows.Y.shape
    orders = np.arange(1, p + 1)
    binomial = np.array(
        [[comb(k - 1, i) if i < k else 0 for i in range(p)] for k in orders], dtype=float
    )
    S, R, z = (np.matmul(binomial, a.reshape(p, -1)).reshape(a.shape) for a in rows[1:])
    full = R + ((2.0**orders - 1) / orders)[:, None, None] * rows.unit
    de, dv = advance(S.reshape(p * count, n), full.reshape(p * count, n))
    c_e, c_v = columns(rows, step)
    scale = (0.5**orders)[:, None, None]
    return Rows(
        rows.unit,
        scale * (rows.Y + S + de.reshape(S.shape)),
        scale * (rows.T + R + dv.reshape(S.shape)),
        scale * (rows.Z + z + S @ c_e + full @ c_v),
    )
