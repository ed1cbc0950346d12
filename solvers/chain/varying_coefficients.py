"""Chains with slowly varying or state-dependent coefficients: M, F, C are taken at the middle of
the step; the matrices D_k are recomputed when a tolerance is exceeded.

The state at the middle is predicted by x + v dt/2, so the error of a step is that of the midpoint
rule in the coefficients plus the tolerance. Every recomputation costs a generation of D_k: see
`costs.cheaper_than_runge_kutta`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import chain_motion
from kinetree.solvers.chain.coefficients import check_accuracy, scale
from kinetree.solvers.chain.doubling import generate


class Varied(NamedTuple):
    x: np.ndarray
    v: np.ndarray
    renewals: int


def simulate_varying(
    coefficients: Callable,
    x0,
    v0,
    dt: float,
    steps: int,
    tolerance: float = 1e-3,
    force=None,
    channels=None,
    shape: str | None = None,
    start_time: float = 0.0,
    accuracy: float = 1e-10,
) -> Varied:
    """Return x and v (steps + 1 rows each) of a chain with coefficients(t, x, v) -> (mass, damping,
    stiffness).

    tolerance: largest change of a matrix element, relative to the largest element of its matrix,
    that does not yet lead to new matrices; 0 recomputes them on every change.
    """
    check_accuracy(accuracy)
    x, v = np.array(x0, dtype=float), np.array(v0, dtype=float)
    inputs = (
        [chain_motion.sampled(force, channels, len(x), dt, steps, shape, start_time)]
        if force is not None
        else []
    )
    used, beta = chain_motion.merge(inputs, steps)
    X, V = [x], [v]
    held, renewals = None, 0
    for j in range(steps):
        wanted = coefficients(start_time + (j + 0.5) * dt, x + 0.5 * dt * v, v)
        if held is None or change(held, wanted) > tolerance:
            held, renewals = (
                tuple(None if a is None else np.array(a, dtype=float) for a in wanted),
                renewals + 1,
            )
            chain = scale(*held)
            made = generate(chain, dt, used, beta.shape[1], accuracy)
        x, v = chain_motion.single(chain, made, x, v, beta[j])
        X.append(x)
        V.append(v)
    return Varied(np.array(X), np.array(V), renewals)


def change(held: tuple, wanted: tuple) -> float:
    """Return the largest relative change of the three matrices between those held and those wanted."""
    pairs = [(a, np.asarray(b)) for a, b in zip(held, wanted) if a is not None]
    return max(float(np.abs(b - a).max()) / (float(np.abs(a).max()) or 1.0) for a, b in pairs)
