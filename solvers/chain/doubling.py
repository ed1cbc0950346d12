"""Build what a step needs: D_0 and the rows of D_1..D_p, by series and doubling."""

from functools import partial
from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import choice, energy, rows
from kinetree.solvers.chain.band import dense, from_dense
from kinetree.solvers.chain.coefficients import Coefficients, force_rows, scale


class Generated(NamedTuple):
    dt: float
    step: energy.Step
    rows: rows.Rows
    choice: choice.Choice


def generate(chain: Coefficients, dt: float, channels: np.ndarray, p: int, accuracy: float) -> Generated:
    """Series at the substep, then m doublings."""
    pick = choice.choose(chain.omega * dt, 0.1 * accuracy)
    h = dt / 2**pick.m
    unit = force_rows(chain, np.concatenate((channels, chain.free)).astype(int))
    R = rows.start(chain, unit, len(chain.free), p, h, pick.r)
    drop = 0.1 * accuracy
    now = energy.start(chain, h, pick.r, drop / 2**pick.m)
    for i in range(pick.m):
        R = rows.double(R, h * 2**i, partial(energy.advance, now))
        now = energy.double(now, chain.n, drop / 2 ** (pick.m - i - 1))
    return Generated(dt, now, R, pick)


def matrices(mass, damping, stiffness, dt: float, p: int = 3, accuracy: float = 1e-13, full: bool = True) -> tuple[np.ndarray, ...]:
    """D_0..D_p (2n x 2n each, row vectors, scaled coordinates)."""
    chain = scale(mass, damping, stiffness)
    n = chain.n
    made = generate(chain, dt, np.arange(n), p, accuracy)
    return assemble(chain, made)


def assemble(chain: Coefficients, made: Generated) -> tuple[np.ndarray, ...]:
    """Dense D_0..D_p in the coordinates x M^1/2, x. M^1/2."""
    n, dt = chain.n, made.dt
    u, p, Y, YT = (dense(a, n) for a in made.step)
    Bh, Fh = dense(chain.Bh, n), dense(chain.Fh, n)
    unit = np.eye(n)
    R = made.rows
    result = []
    back = chain.mass[:, None] * unit if chain.mass.ndim == 1 else chain.mass.T
    c_e, c_v = rows.columns(R, dt)
    for k in range(len(R.Y) + 1):
        if k == 0:
            W, U, V = to_coordinates(chain, Y, c_v), unit + u, -Bh @ YT
        else:
            rows_Y, rows_T, rows_Z = back @ R.Y[k - 1, :n], back @ R.T[k - 1, :n], back @ R.Z[k - 1, :n]
            W, U, V = to_coordinates(chain, rows_Y, rows_Z), rows_T + unit / k, -Bh @ rows_Y.T
        result.append(np.block([[U + Fh @ W, V], [W, U]]))
    return tuple(result)


def to_coordinates(chain: Coefficients, e: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Rows x M^1/2 from strains e = x B and the free coordinates z, from the last coordinate to the first."""
    B = dense(chain.B, chain.n)
    x = np.zeros_like(e)
    x[:, chain.free] = z
    free = set(chain.free.tolist())
    for k in range(chain.n - 1, -1, -1):
        if k not in free:
            x[:, k] = (e[:, k] - x[:, k + 1 :] @ B[k + 1 :, k]) / B[k, k]
    return x * chain.mass if chain.mass.ndim == 1 else x @ chain.mass
