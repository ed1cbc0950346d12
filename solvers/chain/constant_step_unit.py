"""A linear chain advanced by steps of constant size, as an FMU or a co-simulation master drives it.

It takes the matrices of any linearised system, M x.. + F x. + C x = f about its operating point;
full M, unsymmetric F and C are allowed. The state is x, v.
"""

from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import chain_motion
from kinetree.solvers.chain.coefficients import Coefficients, check_accuracy, scale
from kinetree.solvers.chain.doubling import Generated, generate


class Unit(NamedTuple):
    chain: Coefficients
    made: Generated
    channels: np.ndarray


def linear_chain(
    mass, damping, stiffness, dt: float, channels=None, accuracy: float = 1e-10, supports=None
) -> Unit:
    """Return a chain prepared for steps of dt with forces at the channels (default: all
    coordinates) that are linear in time within a step.
    """
    check_accuracy(accuracy)
    chain = scale(mass, damping, stiffness, supports)
    every = np.arange(chain.n) if channels is None else np.asarray(channels, dtype=int)
    return Unit(chain, generate(chain, dt, every, 2, accuracy), every)


def advance(
    unit: Unit, x: np.ndarray, v: np.ndarray, begin, end=None
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and v after one step; forces of the channels vary linearly from `begin` to `end`
    (default: constant).
    """
    first = np.broadcast_to(np.asarray(begin, dtype=float), unit.channels.shape)
    last = (
        first if end is None else np.broadcast_to(np.asarray(end, dtype=float), unit.channels.shape)
    )
    return chain_motion.single(unit.chain, unit.made, x, v, np.stack((last, first - last)))
