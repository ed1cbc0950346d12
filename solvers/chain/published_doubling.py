"""Symmetric doubling of [GG11] (13)-(15) as printed, for comparison with the energy form in work
and accuracy.

D_k = [[U_k + Fh W_k, -Ch W_k], [W_k, U_k]], U and W symmetric; with only_u, U_k alone is carried
and W_k follows at the end from W_k = (dt/k)(U_1 - U_{k+1}) (14). Rounding errors that couple a fast
with a slow mode grow by sqrt(omega_fast/omega_slow) instead of 2 per doubling as soon as omega_slow
times the step is no longer small: (15) assumes that U, W and Ch commute, which rounded matrices do
not. For wide spectra use the energy form.
"""

from math import comb, factorial

import numpy as np

from kinetree.solvers.chain.band_matrices import dense
from kinetree.solvers.chain.coefficients import Coefficients


def matrices(
    chain: Coefficients, dt: float, p: int, r: int, m: int, only_u: bool = False
) -> tuple[np.ndarray, ...]:
    """Return D_0..D_p (2n x 2n, scaled coordinates) for given series order r and number of
    doublings m.
    """
    n, step = chain.n, dt / 2**m
    C, F, unit = dense(chain.Ch, n), dense(chain.Fh, n), np.eye(chain.n)
    A = powers(C, F, r)
    orders = range(1, p + 2 if only_u else p + 1)
    u = sum(A[j] * (step**j / factorial(j)) for j in range(r, 0, -1))
    W = sum(A[j] * (step ** (j + 1) / factorial(j + 1)) for j in range(r - 1, -1, -1))
    T = [sum(A[j] * (step**j / (factorial(j) * (j + k))) for j in range(r, 0, -1)) for k in orders]
    V = [
        sum(A[j - 1] * (step**j / (factorial(j) * (j + k))) for j in range(r, 0, -1))
        for k in range(1, p + 1)
    ]
    for level in range(m):
        T, V = doubled(T, V, u, W, C, F, unit, step * 2**level if only_u else None)
        G = (u + 0.5 * F @ W).T @ W
        u, W = 2 * u + u @ u - W @ C @ W, 2 * W + G + G.T
    if only_u:
        V = [(dt / k) * (T[0] - T[k] + unit * (1.0 - 1.0 / (k + 1))) for k in range(1, p + 1)]
    full = [np.block([[unit + u + F @ W, -C @ W], [W, unit + u]])]
    return tuple(
        full
        + [
            np.block([[t + unit / k + F @ w, -C @ w], [w, t + unit / k]])
            for k, (t, w) in enumerate(zip(T, V), start=1)
        ]
    )


def powers(C: np.ndarray, F: np.ndarray, r: int) -> list[np.ndarray]:
    """Return the coefficients A_0..A_r of the powers of A by formula (13) of [GG11], with A_1 =
    -Fh.
    """
    A = [np.eye(len(C)), -F]
    for _ in range(r - 1):
        A.append(-F @ A[-1] - C @ A[-2])
    return A


def doubled(
    T: list,
    V: list,
    u: np.ndarray,
    W: np.ndarray,
    C: np.ndarray,
    F: np.ndarray,
    unit: np.ndarray,
    step: float | None,
) -> tuple[list, list]:
    """Return the lower blocks of D_1, D_2, ... for twice the step (12). If `step` is given only U
    is carried and W_k C follows from A D_k dt = D_0 - (k-1) D_{k-1}.
    """
    new_T, new_V = [], []
    for k in range(1, len(T) + 1):
        R = sum(comb(k - 1, i) * T[i] for i in range(k))
        full = R + ((2**k - 1) / k) * unit
        if step is None:
            S = sum(comb(k - 1, i) * V[i] for i in range(k))
            SC = S @ C
            new_V.append((V[k - 1] + S + S @ u + (S @ F + full) @ W) / 2**k)
        else:
            SC = -sum(
                comb(k - 1, i) * ((u - i * T[i - 1]) / step + (T[i] + unit / (i + 1)) @ F)
                for i in range(k)
            )
        new_T.append((T[k - 1] + R + full @ u - SC @ W) / 2**k)
    return new_T, new_V
