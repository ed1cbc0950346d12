"""Series and doubling of D_0 - E in energy coordinates.

D_0 = E + [[p, -YT], [Y, u]] (rows e, v), p and u symmetric. One step from two halves, (15) in these coordinates:
    u <- 2u + u u - Y YT,   p <- 2p + p p - YT Y,   Y <- 2Y + Y p + u Y.
Four products of n x n against eight for the square of D_0 - E; diagonals that matter less than `drop` are not kept, so the band follows the wave front.
"""

from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain.band import (
    Band,
    add,
    add_product,
    dense,
    from_dense,
    identity,
    mirror,
    product,
    product_width,
    profile,
    resized,
    rows_product,
    transposed,
    trimmed,
    zeros,
)
from kinetree.solvers.chain.coefficients import Coefficients

PANELS = 4  # panels of a product whose result is known to be symmetric
FILL = 0.4  # half-width, as part of n, from which dense products are the faster ones


class Step(NamedTuple):
    u: Band
    p: Band
    Y: Band
    YT: Band


def start(chain: Coefficients, step: float, r: int, drop: float) -> Step:
    """Series of order r for the substep: rows (y, s) <- (h/(k+1)) (s Bh, -y BhT - s Fh), upper left block p_{k+1} = -(h/(k+1)) y_kT Bh."""
    n = chain.n
    s, y = identity(n), zeros(n, 0)
    u, p, Y = [], [], []
    for k in range(1, r + 1):
        h = step / k
        p.append(trimmed(product(-h, transposed(y, n), chain.Bh, n), n))
        s, y = combine([product(-h, y, chain.BhT, n)] + ([product(-h, s, chain.Fh, n)] if chain.damped else []), n), product(h, s, chain.Bh, n)
        s, y = trimmed(s, n), trimmed(y, n)
        u.append(s)
        Y.append(y)
    Y = trimmed(combine(Y, n), n, drop)
    return Step(trimmed(combine(u, n), n, drop), trimmed(combine(p, n), n, drop), Y, transposed(Y, n))


def combine(terms: list[Band], n: int) -> Band:
    """Sum of bands, the last (smallest) first."""
    if any(a.is_dense for a in terms):
        return from_dense(sum(dense(a, n) for a in reversed(terms)))
    out = zeros(n, max(a.width for a in terms))
    for a in reversed(terms):
        add(out, 1.0, a, n)
    return out


def double(step: Step, n: int, drop: float) -> Step:
    """Twice the step, in bands until they fill."""
    if step.u.is_dense:
        return double_dense(step, n)
    u, p, Y = profile(step.u, n), profile(step.p, n), profile(step.Y, n)
    both = longer(longer(u, p), Y)
    square = product_width(both, both, drop)
    width_u, width_p, width_Y = (max(square, a.width) for a in step[:3])
    if max(width_u, width_p, width_Y) > FILL * n:
        return double_dense(Step(*(from_dense(dense(a, n)) for a in step)), n)
    out_u, out_p, out_Y = resized(step.u, n, width_u, 2.0), resized(step.p, n, width_p, 2.0), resized(step.Y, n, width_Y, 2.0)
    add_product(out_u, 1.0, step.u, step.u, n, True)
    add_product(out_u, -1.0, step.Y, step.YT, n, True)
    add_product(out_p, 1.0, step.p, step.p, n, True)
    add_product(out_p, -1.0, step.YT, step.Y, n, True)
    add_product(out_Y, 1.0, step.Y, step.p, n)
    add_product(out_Y, 1.0, step.u, step.Y, n)
    mirror(out_u, n)
    mirror(out_p, n)
    out_Y = trimmed(out_Y, n, drop)
    return Step(trimmed(out_u, n, drop), trimmed(out_p, n, drop), out_Y, transposed(out_Y, n))


def longer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elementwise maximum of two profiles."""
    size = max(len(a), len(b))
    return np.maximum(np.pad(a, (0, size - len(a))), np.pad(b, (0, size - len(b))))


def double_dense(step: Step, n: int) -> Step:
    """Twice the step by dense products."""
    u, p, Y = (dense(a, n) for a in step[:3])
    new_u = 2.0 * u + upper_product(np.hstack((u, -Y)), np.vstack((u, Y.T)))
    new_p = 2.0 * p + upper_product(np.hstack((p, -Y.T)), np.vstack((p, Y)))
    new_Y = 2.0 * Y + np.hstack((Y, u)) @ np.vstack((p, Y))
    return Step(*(from_dense(a) for a in (new_u, new_p, new_Y, new_Y.T)))


def upper_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a@b where the result is symmetric: panels on and above the diagonal only."""
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
    """Increments of rows (e, v) over the step: (e, v)(D_0 - E)."""
    return rows_product(e, step.p) + rows_product(v, step.Y), rows_product(v, step.u) - rows_product(e, step.YT)
