"""Series and doubling of D_0 - E for matrices without a factor (unsymmetric, indefinite): the full
form of [GG11] (9), (12), rows (x M^1/2, x. M^1/2).

D_0 = E + [[p, -K], [Y, u]] in the layout of `energy.Step`, with four independent blocks; doubled by
N <- 2N + N N (eight n x n products).
"""

import numpy as np

from kinetree.solvers.chain.band_matrices import dense, from_dense
from kinetree.solvers.chain.coefficients import Coefficients
from kinetree.solvers.chain.energy_doubling import Step


def start(chain: Coefficients, step: float, r: int) -> Step:
    """Return the matrices of the substep by the series of order r."""
    n = chain.n
    A = np.block(
        [[np.zeros((n, n)), -dense(chain.BhT, n)], [dense(chain.Bh, n), -dense(chain.Fh, n)]]
    )
    N = term = step * A
    for k in range(2, r + 1):
        term = (step / k) * (term @ A)
        N = N + term
    return blocks(N)


def double(step: Step, n: int) -> Step:
    """Return the matrices of twice the step by N <- 2N + N N."""
    u, p, Y, K = (dense(a, n) for a in step)
    N = np.block([[p, -K], [Y, u]])
    return blocks(2.0 * N + N @ N)


def blocks(N: np.ndarray) -> Step:
    """Return the four blocks of D_0 - E as matrices of a step."""
    n = len(N) // 2
    return Step(
        from_dense(N[n:, n:]), from_dense(N[:n, :n]), from_dense(N[n:, :n]), from_dense(-N[:n, n:])
    )
