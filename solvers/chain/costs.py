"""Floating-point operations of the matrix method and of explicit Runge-Kutta for the same accuracy.

[GG11] (20): renewing D_0 for every step pays when 2n < 2^m/m (dense matrices, both of order r).
`operations` counts the operations carried out: those with bands that follow the wave front, as
estimated for the choice of r and m, and 8n(2w + 2) per step; classical Runge-Kutta with the substep
that its stability and its error require. The unit is an operation of a band product; the rest is
converted by the weights below, measured on the chains of the library from 30 to 1000 masses, 0.2 <=
omega*dt <= 50, 3 to 100 steps.
"""

import math
from typing import NamedTuple

from kinetree.solvers.chain import band_kernels
from kinetree.solvers.chain.band_matrices import Band
from kinetree.solvers.chain.coefficients import Coefficients
from kinetree.solvers.chain.doubling import choose, filled

STREAM = 3.0  # an operation of a step, whose matrices stream past, takes so many times that of a product of bands
SCALAR = 4.3  # an operation of a right-hand side; half of it in the first cache (n = 30), up to three times as much where numbers underflow
START, READ = (
    1.1e7,
    190.0,
)  # operations that pass while a run is checked, scaled and packed, and per element of a dense matrix given
START_SCALAR, READ_SCALAR = 1.5e6, 46.0  # the same for Runge-Kutta
STABLE = 2.8  # omega*h of classical Runge-Kutta on the imaginary axis


class Operations(NamedTuple):
    generation: float  # making the matrices once
    step: float  # one step with them
    start: float  # before the first step of Runge-Kutta
    runge_kutta: float  # one step of dt by classical Runge-Kutta

    def matrix(self, steps: int, renewals: int = 1) -> float:
        """Return the operations of all steps by the matrix method."""
        return renewals * self.generation + steps * self.step

    def explicit(self, steps: int) -> float:
        """Return the operations of all steps by classical Runge-Kutta."""
        return self.start + steps * self.runge_kutta

    def pays(self, steps: int, renewals: int = 1) -> bool:
        """Return whether the matrix method needs fewer operations than Runge-Kutta."""
        return self.matrix(steps, renewals) < self.explicit(steps)


def cheaper_than_runge_kutta(n: int, m: int) -> bool:
    """Return whether the matrix method with new matrices in every step costs less than Runge-Kutta
    of equal order, [GG11] (20).
    """
    return m > 0 and 2 * n < 2**m / m


def reach(a: Band, n: int) -> int:
    """Return the number of non-zero diagonals on either side of the main diagonal."""
    return int(band_kernels.reach(a.data, n)) if a.is_dense else a.width


def operations(chain: Coefficients, dt: float, accuracy: float = 1e-8) -> Operations:
    """Return the operations of the matrix method and of Runge-Kutta for one step dt at a relative
    accuracy per step.
    """
    n, angle = chain.n, chain.omega * dt
    generation = START + READ * n * n + choose(chain, dt, accuracy).work
    step = STREAM * 8.0 * n * min(n, filled(chain, angle) + 1)
    substeps = max(
        1, math.ceil(angle / min(STABLE, (120.0 * accuracy / max(angle, 1e-300)) ** 0.25))
    )
    evaluation = 2.0 * n * (2 * reach(chain.Ch, n) + 1) + (
        2.0 * n * (2 * reach(chain.Fh, n) + 1) if chain.damped else 0.0
    )
    return Operations(
        generation,
        step,
        START_SCALAR + READ_SCALAR * n * n,
        SCALAR * substeps * 4 * (evaluation + 8.0 * n),
    )
