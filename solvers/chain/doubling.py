"""Matrices of one step, D_0 - E and the rows of D_1..D_p, by series and doubling; order r and
number of doublings m are chosen for the accuracy.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import energy_doubling, unsymmetric_doubling
from kinetree.solvers.chain import excitation_rows as rows
from kinetree.solvers.chain import series_order as choice
from kinetree.solvers.chain.coefficients import Coefficients, force_rows

CALL = 3e5  # flops that pass during the overhead of one product of small bands
FRESH = 60  # flops that pass while one element of a new term is fetched from the system, cleared and summed up; half of it in a doubling (measured)
TAIL = 5.0  # elements by which the band leads the wave front (measured at accuracies of 1e-8)
PRODUCTS = 4  # products per term and per doubling


class Generated(NamedTuple):
    dt: float
    step: energy_doubling.Step
    rows: rows.Rows
    choice: choice.Choice


def generate(
    chain: Coefficients,
    dt: float,
    channels: np.ndarray,
    p: int,
    accuracy: float,
    fixed: choice.Choice | None = None,
) -> Generated:
    """Return the matrices of a step: the series at the substep, then m doublings. `channels` are
    the coordinates where forces act.
    """
    return ladder(chain, dt, channels, p, accuracy, fixed or choose(chain, dt, accuracy), 0)[-1]


def ladder(
    chain: Coefficients,
    dt: float,
    channels: np.ndarray,
    p: int,
    accuracy: float,
    pick: choice.Choice,
    levels: int,
    widest: float | None = None,
) -> list[Generated]:
    """Return the transition matrices of the steps dt/2^levels, ..., dt/2, dt; an empty list if a
    band becomes dense or wider than `widest`.
    """
    h = dt / 2**pick.m
    unit = force_rows(chain, np.concatenate((channels, chain.free)).astype(int))
    R = rows.start(chain, unit, len(chain.free), max(p, 1), h, pick.r)
    drop = 0.1 * accuracy
    now = (
        energy_doubling.start(chain, h, pick.r, drop / 2**pick.m)
        if chain.B
        else unsymmetric_doubling.start(chain, h, pick.r)
    )
    kept = []
    for i in range(pick.m):
        if widest is not None and (now.u.is_dense or now.u.width > widest):
            return []
        if pick.m - i <= levels:
            kept.append(Generated(h * 2**i, now, R, pick))
        R = rows.double(R, h * 2**i, partial(energy_doubling.advance, now))
        now = (
            energy_doubling.double(now, chain.n, drop / 2 ** (pick.m - i - 1))
            if chain.B
            else unsymmetric_doubling.double(now, chain.n)
        )
    return [*kept, Generated(dt, now, R, pick)]


def half_width(chain: Coefficients) -> int:
    """Return the half-width of the first term of the series of D_0 - E."""
    return min(chain.n, max(chain.Bh.width, chain.Fh.width))


def filled(chain: Coefficients, angle: float) -> float:
    """Return the number of diagonals that are not negligible after omega*t = angle: the wave passes
    at most angle/2 elements, with a decaying tail ahead of it.
    """
    return min(chain.n, 2.0 * (half_width(chain) + chain.pitch * (0.5 * angle + TAIL - 1.0)) + 1.0)


def choose(chain: Coefficients, dt: float, accuracy: float) -> choice.Choice:
    """Return the series order r and number of doublings m of least work; the band widens by its
    pitch with every term and with the wave front in the doublings.
    """
    n, width = chain.n, half_width(chain)

    def term(k: int) -> float:
        elements = n * min(n, 2 * (width + (k - 1) * chain.pitch) + 1)
        return PRODUCTS * (CALL + 2.0 * elements * (min(n, 2 * width + 1) + FRESH))

    def doubling(x: float) -> float:
        elements = filled(chain, x)
        return PRODUCTS * (2.0 * CALL + 2.0 * n * elements * (elements + 0.5 * FRESH))

    return choice.choose(chain.omega * dt, 0.1 * accuracy, term, doubling)
