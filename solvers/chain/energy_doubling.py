"""Series and doubling of D_0 - E in energy coordinates.

D_0 = E + [[p, -YT], [Y, u]] (rows e, v), p and u symmetric. One step from two halves, (15) in these
coordinates: u <- 2u + u u - Y YT, p <- 2p + p p - YT Y, Y <- 2Y + Y p + u Y. This takes four n x n
products instead of eight for the square of D_0 - E. Diagonals whose contribution is below `drop`
are discarded, so the band follows the wave front.
"""

from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import band_kernels
from kinetree.solvers.chain.band_matrices import (
    Band,
    add,
    dense,
    from_dense,
    identity,
    needed,
    product,
    profile,
    resized,
    retain,
    square_width,
    transposed,
    used,
    zeros,
)
from kinetree.solvers.chain.coefficients import Coefficients

PANELS = 4  # panels of a product whose result is known to be symmetric
FILL = 0.66  # half-width, as part of n, from which dense products are the faster ones (measured: 0.66 to 0.8 for a doubling, 0.52 to 0.8 for steps)


class Step(NamedTuple):
    u: Band
    p: Band
    Y: Band
    YT: Band  # all four in the same layout


def step_of(u: Band, p: Band, Y: Band, n: int, drop: float) -> Step:
    """Return the matrices of a step from its blocks u, p, Y, without diagonals that contribute less
    than `drop`.
    """
    if any(a.is_dense for a in (u, p, Y)):
        return dense_step(dense(u, n), dense(p, n), dense(Y, n))
    width = max(needed(profile(a, n), drop) for a in (u, p, Y))
    Y = resized(Y, n, width)
    return Step(resized(u, n, width), resized(p, n, width), Y, transposed(Y, n))


def dense_step(u: np.ndarray, p: np.ndarray, Y: np.ndarray) -> Step:
    """Return the matrices of a step with dense blocks u, p, Y."""
    return Step(from_dense(u), from_dense(p), from_dense(Y), from_dense(Y.T))


def start(chain: Coefficients, step: float, r: int, drop: float) -> Step:
    """Return the blocks of D_0 - E for the substep by the series of order r: rows (y, s) <-
    (h/(k+1)) (s Bh, -y BhT - s Fh), upper left block p_{k+1} = -(h/(k+1)) y_kT Bh.
    """
    n = chain.n
    s, y, yT = identity(n), zeros(n, 0), zeros(n, 0)
    u, p, Y = [], [], []
    reach = max(chain.Ch.width, chain.Fh.width, chain.Bh.width)
    retain(3 * n * r * min(n, 2 * reach + r * chain.pitch))
    for k in range(1, r + 1):
        h, width = step / k, reach + (k - 1) * chain.pitch
        p.append(product(-h, yT, chain.Bh, n, width))
        friction = [product(-h, s, chain.Fh, n, width)] if chain.damped else []
        s, y = (
            combine([product(-h, y, chain.BhT, n, width), *friction], n),
            product(h, s, chain.Bh, n, width),
        )
        yT = transposed(y, n)
        u.append(s)
        Y.append(y)
    return step_of(combine(u, n), combine(p, n), combine(Y, n), n, drop)


def combine(terms: list[Band], n: int) -> Band:
    """Return the sum of the bands, added from the last (smallest) to the first."""
    if any(a.is_dense for a in terms):
        return from_dense(sum(dense(a, n) for a in reversed(terms)))
    out = zeros(n, max(a.width for a in terms))
    for a in reversed(terms):
        add(out, 1.0, a, n)
    return out


def double(step: Step, n: int, drop: float) -> Step:
    """Return the matrices of twice the step by squaring, in band storage until the bands fill."""
    if step.u.is_dense:
        return double_dense(step, n)
    peak = peaks(step, n)
    width = max(square_width(peak, drop), step.u.width)
    if width > FILL * n:
        return double_dense(Step(*(from_dense(dense(a, n)) for a in step)), n)
    out = Step(*(zeros(n, width) for _ in range(4)))
    band_kernels.square(*(a.data for a in out), *out.u[1:], *(a.data for a in step), *step.u[1:], n)
    return trimmed(out, n, drop)


def peaks(step: Step, n: int) -> np.ndarray:
    """Return the largest |element| of all blocks of a step on the diagonals d and -d."""
    peak = np.zeros(step.u.width + 1)
    band_kernels.profile_three(peak, *(a.data for a in step[:3]), *step.u[1:], n)
    return peak


def trimmed(step: Step, n: int, drop: float) -> Step:
    """Return a step with narrower bands, without diagonals whose elements are below `drop` in all
    blocks.
    """
    width = needed(peaks(step, n), drop)
    return Step(*(resized(a, n, width) for a in step)) if width < step.u.width else step


def double_dense(step: Step, n: int) -> Step:
    """Return the matrices of twice the step by dense products."""
    u, p, Y = (dense(a, n) for a in step[:3])
    new_u = 2.0 * u + upper_product(np.hstack((u, -Y)), np.vstack((u, Y.T)))
    new_p = 2.0 * p + upper_product(np.hstack((p, -Y.T)), np.vstack((p, Y)))
    return dense_step(new_u, new_p, 2.0 * Y + Y @ p + u @ Y)


def upper_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a@b for a product known to be symmetric: only its block panels on and above the
    diagonal are computed.
    """
    n = a.shape[0]
    out = np.empty((n, n))
    edges = [n * i // PANELS for i in range(PANELS + 1)] if n >= 64 else [0, n]
    for i, j in zip(edges, edges[1:]):
        np.matmul(a[i:j], b[:, i:], out=out[i:j, i:])
    for i, j in zip(edges, edges[1:]):
        out[i:j, i:j] = 0.5 * (out[i:j, i:j] + out[i:j, i:j].T)
        out[j:, i:j] = out[i:j, j:].T
    return out


def advance(step: Step, e: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the increments of rows (e, v) over the step: (e, v)(D_0 - E)."""
    count, n = e.shape
    if step.u.is_dense:
        u, p, Y, YT = (dense(a, n) for a in step)
        return e @ p + v @ Y, v @ u - e @ YT
    de, dv = np.zeros((count, n)), np.zeros((count, n))
    first, last = used(e, v)
    band_kernels.advance_rows(
        de.reshape(-1),
        dv.reshape(-1),
        e.reshape(-1),
        v.reshape(-1),
        first,
        last,
        count,
        *(a.data for a in step),
        *step.u[1:],
        n,
    )
    return de, dv
