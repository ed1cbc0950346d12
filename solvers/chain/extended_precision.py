"""D_0..D_p in extended precision (numpy longdouble: 64-bit mantissa on x86), for accuracies that
double cannot reach.

A relative rounding error epsilon of one spring shifts the phase of a mode by omega*dt*epsilon/2,
and every doubling doubles earlier errors: in double precision the error is about 20
epsilon*omega*dt, 5e-11 at omega*dt = 1e4. With eleven more bits the result is exact to double
rounding. Work: 4(p + 2) products without BLAS per doubling, so it pays for small n only; on
platforms where longdouble is double nothing is gained.
"""

from math import comb

import numpy as np

LONG = np.longdouble
EPSILON = 0.1 * float(np.finfo(LONG).eps)  # aim of the series
ROUNDING = 20.0 * float(np.finfo(float).eps)  # measured error of the double path per omega*dt
LARGEST = 80  # n beyond which products in extended precision take too long


def pays(n: int, total: float, accuracy: float) -> bool:
    """Return whether double precision would miss the accuracy for omega*dt = total, so that
    extended precision pays.
    """
    return (
        n <= LARGEST
        and ROUNDING * max(1.0, total) > accuracy
        and np.finfo(LONG).eps < np.finfo(float).eps
    )


def lower_rows(
    C: np.ndarray,
    F: np.ndarray,
    masses: np.ndarray,
    free: np.ndarray,
    dt: float,
    p: int,
    r: int,
    m: int,
) -> tuple[list, np.ndarray]:
    """Return the rows (Y_k, U_k), k = 0..p+1, for unit velocities, and Bh, in extended precision
    (see `dense_matrices`).
    """
    n = len(C)
    root = np.sqrt(masses.astype(LONG))
    Bh = factor(C.astype(LONG), free) / root[:, None]
    A = np.zeros((2 * n, 2 * n), dtype=LONG)
    A[n:, :n], A[:n, n:], A[n:, n:] = Bh, -Bh.T, -F.astype(LONG) / root / root[:, None]
    D = doubled(A, LONG(dt), p + 1, r, m)
    return [(d[n:, :n], d[n:, n:] + np.eye(n, dtype=LONG) / max(k, 1)) for k, d in enumerate(D)], Bh


def factor(C: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the lower factor of the stiffness: from off-diagonals and row sums if it is a spring
    matrix, else by Cholesky.
    """
    n = len(C)
    off = C - np.diag(np.diagonal(C))
    g, springs = C.sum(axis=1), bool((off <= 0).all())
    B = np.zeros((n, n), dtype=LONG)
    for k in range(n):
        if k in free:
            continue
        row = off[k, k + 1 :].copy()
        d = g[k] - row.sum() if springs else C[k, k]
        B[k, k], B[k + 1 :, k] = np.sqrt(d), row / np.sqrt(d)
        off[k + 1 :, k + 1 :] -= np.outer(row, row / d)
        C[k + 1 :, k + 1 :] -= np.outer(row, row / d)
        g[k + 1 :] -= row * (g[k] / d)
    return B


def doubled(A: np.ndarray, dt: np.longdouble, p: int, r: int, m: int) -> list[np.ndarray]:
    """Return N = D_0 - E and T_k = D_k - E/k by series (9) and doublings (12)."""
    step = dt / 2**m
    term, N, T = step * A, 0.0, [0.0] * p
    for j in range(1, r + 1):
        N = N + term
        T = [T[k - 1] + term / LONG(j + k) for k in range(1, p + 1)]
        term = (step / LONG(j + 1)) * (term @ A)
    unit = np.eye(len(A), dtype=LONG)
    for _ in range(m):
        new = []
        for k in range(1, p + 1):
            R = sum(comb(k - 1, i) * T[i] for i in range(k))
            new.append((T[k - 1] + R + (R + unit * (LONG(2**k - 1) / k)) @ N) / 2**k)
        N, T = 2 * N + N @ N, new
    return [N, *T]
