"""Fourth-order finite differences whose step is shortened until they agree with second-order ones,
for functions without exact derivatives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

DIFFERENCE_STEP = 1e-3  # m, rad, m/s, rad/s: fifth root of the unit roundoff
FINER = (1.0, 0.1, 1e-2, 1e-3)  # factors of the step that are tried in turn
AGREE = (
    1e-5  # relative difference of the orders at which the fourth order is good to about its square
)


def automatic_differences(
    function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, steps: np.ndarray
) -> np.ndarray:
    """Return the Jacobian of a function by differences with automatic step sizes (orders two and
    four compared).
    """
    columns = [difference_column(function, z, k, steps[k]) for k in range(z.size)]
    return np.column_stack(columns) if columns else np.zeros((function(z).size, 0))


def difference_column(
    function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, k: int, step: float
) -> np.ndarray:
    """Return the derivatives of a function by entry k of z."""
    best, least = np.zeros(0), np.inf
    for factor in FINER:
        h = (z[k] + step * factor) - z[k]  # exactly representable
        near, far = (
            0.5 * (changed_value(function, z, k, r * h) - changed_value(function, z, k, -r * h)) / h
            for r in (1, 2)
        )
        fourth = (4.0 * near - 0.5 * far) / 3.0
        top = np.abs(fourth).max(initial=0.0)
        apart = np.abs(fourth - near).max(initial=0.0) / top if top > 0.0 else 0.0
        if apart < least:
            best, least = fourth, apart
        if least <= AGREE:
            break
    return best


def changed_value(
    function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, k: int, change: float
) -> np.ndarray:
    """Return the value of a function with entry k of z changed."""
    moved = z.copy()
    moved[k] += change
    return function(moved)


def bounded_differences(
    function: Callable[[np.ndarray], np.ndarray],
    z: np.ndarray,
    steps: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Return the Jacobian by central differences, two runs per column; at a bound the difference is
    one-sided towards the inside.
    """
    columns = []
    for k in range(z.size):
        ends = [z.copy(), z.copy()]
        ends[0][k], ends[1][k] = max(z[k] - steps[k], low[k]), min(z[k] + steps[k], high[k])
        columns.append((function(ends[1]) - function(ends[0])) / (ends[1][k] - ends[0][k]))
    return np.column_stack(columns)
