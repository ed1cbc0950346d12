"""When explicit Runge-Kutta is cheaper: floating-point operations of both ways for the same accuracy.

[GG11] (20): renewing D_0 for every step pays when 2n < 2^m/m (dense matrices, both of order r). `operations` counts what is
really done: bands that follow the wave front, 8n^3 per dense doubling, 8n(2w + 2) per step; classical Runge-Kutta with the
substep that its stability and its error demand. The unit is an operation of a band product; calls and scalar code are converted.
"""

import math
from typing import NamedTuple

from kinetree.solvers.chain.coefficients import Coefficients
from kinetree.solvers.chain.doubling import CALL, choose

SCALAR = 0.7  # an operation of a right-hand side takes so many times that of a product of bands; up to 3 where numbers underflow
START, READ = 8e6, 40.0  # operations that pass while a run is checked, scaled and packed, and per element of a dense matrix given
STABLE = 2.8  # omega*h of classical Runge-Kutta on the imaginary axis


class Operations(NamedTuple):
    generation: float  # making the matrices once
    step: float  # one step with them
    runge_kutta: float  # one step of dt by classical Runge-Kutta

    def matrix(self, steps: int, renewals: int = 1) -> float:
        """All steps by the matrix method."""
        return renewals * self.generation + steps * self.step

    def pays(self, steps: int, renewals: int = 1) -> bool:
        """The matrix method is the cheaper way."""
        return self.matrix(steps, renewals) < steps * self.runge_kutta


def cheaper_than_runge_kutta(n: int, m: int) -> bool:
    """[GG11] (20) as printed: matrices renewed for every step still cost less than Runge-Kutta of the same order through 2^m substeps."""
    return m > 0 and 2 * n < 2**m / m


def front(chain: Coefficients, dt: float) -> int:
    """Half-width that matters after dt: the wave passes at most omega*dt/2 elements and leads by a tail of some ten."""
    width = max(chain.Bh.width, 1)
    return min(chain.n - 1, int(width * (0.5 * chain.omega * dt + 10.0)))


def operations(chain: Coefficients, dt: float, accuracy: float = 1e-8) -> Operations:
    """Operations of both ways for one step of dt at the accuracy (relative, per step)."""
    n, pick = chain.n, choose(chain, dt, accuracy)
    width = max(chain.Bh.width, chain.Fh.width, 1)
    generation = (
        START
        + READ * n * n
        + CALL * (4 * pick.r + 6 * pick.m)
        + sum(8.0 * n * min(n, 2 * k * width + 1) * min(n, 2 * width + 1) for k in range(1, pick.r + 1))
    )
    for level in range(pick.m):
        filled = min(n, 2 * front(chain, dt / 2 ** (pick.m - level)) + 1)
        generation += 8.0 * n * filled * filled
    x = min(STABLE, (120.0 * accuracy / max(chain.omega * dt, 1e-300)) ** 0.25)
    substeps = max(1, math.ceil(chain.omega * dt / x))
    evaluation = 2.0 * n * (2 * chain.Bh.width + 1) * 2 + (2.0 * n * (2 * chain.Fh.width + 1) if chain.damped else 0.0)
    return Operations(generation, 8.0 * n * min(n, 2 * front(chain, dt) + 2), SCALAR * substeps * 4 * (evaluation + 8.0 * n))
