"""Dense transition matrices D_0..D_p of the literature, [GG11] (7)-(8): row vectors, coordinates (x
M^1/2, x. M^1/2).

From the rows (Y_k, U_k) for unit velocities follow W_0 = dt U_1, W_k = (dt/k)(U_1 - U_{k+1}) (14),
error epsilon*dt, or W_k = Y_k Bh^-1, error epsilon/omega_min, whichever is less, and D_k = [[U_k +
Fh W_k, -Bh Y_kT], [W_k, U_k]]. The general form takes the upper blocks from A D_k dt = D_0 - (k-1)
D_{k-1}.
"""

import numpy as np

from kinetree.solvers.chain import extended_precision, series_order
from kinetree.solvers.chain.band_matrices import dense
from kinetree.solvers.chain.coefficients import (
    ChainError,
    Coefficients,
    check_accuracy,
    scale,
    unscaled,
)
from kinetree.solvers.chain.doubling import Generated, generate

Lower = list[tuple[np.ndarray, np.ndarray]]  # (Y_k, U_k), k = 0..p+1


def matrices(
    mass, damping, stiffness, dt: float, p: int = 3, accuracy: float = 1e-13, full: bool = True
) -> tuple[np.ndarray, ...]:
    """Return the transition matrices D_0..D_p (2n x 2n); unless `full`, only their lower rows [W_k,
    U_k] (n x 2n).
    """
    check_accuracy(accuracy)
    if not dt > 0.0 or p < 0:
        raise ChainError(f"dt, p: expected dt > 0 and p >= 0, got {dt}, {p}")
    chain = scale(mass, damping, stiffness)
    n, total = chain.n, chain.omega * dt
    if chain.B and chain.mass.ndim == 1 and extended_precision.pays(n, total, accuracy):
        pick = series_order.choose(total, extended_precision.EPSILON)
        C, F, M = (unscaled(value, n) for value in (stiffness, damping, mass))
        lower, Bh = extended_precision.lower_rows(
            C, F, M.diagonal(), chain.free, dt, p, pick.r, pick.m
        )
    else:
        lower, Bh = (
            lower_rows(chain, generate(chain, dt, np.arange(n), p + 1, accuracy)),
            dense(chain.Bh, n) if chain.B else None,
        )
    result = assemble(chain, lower, Bh, dt)
    return result if full else tuple(d[n:] for d in result)


def lower_rows(chain: Coefficients, made: Generated) -> Lower:
    """Return the lower rows (Y_k, U_k) of D_k for unit scaled velocities."""
    n, unit, R = chain.n, np.eye(chain.n), made.rows
    back = np.diag(chain.mass) if chain.mass.ndim == 1 else chain.mass.T
    first = (dense(made.step.Y, n), unit + dense(made.step.u, n))
    return [first] + [
        (back @ Y[:n], back @ T[:n] + unit / k) for k, (Y, T) in enumerate(zip(R.Y, R.T), start=1)
    ]


def assemble(
    chain: Coefficients, lower: Lower, Bh: np.ndarray | None, dt: float
) -> tuple[np.ndarray, ...]:
    """Return D_0..D_p assembled from their lower rows; Bh None selects the general form."""
    n, Fh, first = chain.n, dense(chain.Fh, chain.n), lower[1][1]
    unit, result = np.eye(n), []
    by_strains = (
        Bh is not None
        and not len(chain.free)
        and float(np.linalg.norm(np.linalg.inv(Bh.astype(float)))) < dt
    )
    for k, (Y, U) in enumerate(lower[:-1]):
        W = (
            solved(Bh, Y)
            if by_strains
            else dt * first
            if k == 0
            else (dt / k) * (first - lower[k + 1][1])
        )
        row = np.hstack((W, U))
        if Bh is not None:
            upper = np.hstack((U + Fh @ W, -Bh @ Y.T))
        elif k == 0:
            upper = np.eye(n, 2 * n) - dt * dense(chain.BhT, n) @ np.hstack(
                (dt * (first - lower[2][1]), first)
            )
        else:
            before = np.hstack((0 * unit, unit)) if k == 1 else (k - 1) * result[-1][n:]
            upper = (result[0][n:] - before) / dt + Fh @ row
        result.append(np.vstack((upper, row)).astype(float))
    return tuple(result)


def solved(Bh: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return Y Bh^-1 by back substitution (Bh lower triangular, in the precision of Bh)."""
    W = np.zeros_like(Y)
    for k in range(len(Bh) - 1, -1, -1):
        W[:, k] = (Y[:, k] - W[:, k + 1 :] @ Bh[k + 1 :, k]) / Bh[k, k]
    return W
