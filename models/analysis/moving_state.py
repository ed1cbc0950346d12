"""Description of an operating point that is not an equilibrium: largest speeds and rates of change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.nominal_values import state_sizes

if TYPE_CHECKING:
    from kinetree.models.system.local_coordinates import Evaluation

TOLD = 3  # names that a sentence lists
STEADY = 1e-6  # m/s², rad/s² or part of a state per second: below, nothing changes
SLOPE_ROUNDING = 1e-13  # part of the largest slope of a row


def state_rates(
    evaluation: Evaluation, independent: np.ndarray, x: np.ndarray, speeds: Sequence[str]
) -> dict[str, float]:
    """Return accelerations and state rates at the operating point."""
    ws, system = evaluation.instance.ws, evaluation.system
    rates = np.concatenate((ws.udot[independent], ws.xdot))
    sizes = np.concatenate((np.ones(independent.size), state_sizes(system, x)))
    found = zip((*speeds, *system.compiled.states), rates, sizes, strict=True)
    return {name: float(rate) for name, rate, size in found if abs(rate) > STEADY * size}


def largest_rates(values: Mapping[str, float], before: str = "") -> str:
    """Return the largest values with their names as text."""
    largest = max(map(abs, values.values()))
    top = sorted(
        ((name, value) for name, value in values.items() if abs(value) > SLOPE_ROUNDING * largest),
        key=lambda item: -abs(item[1]),
    )
    return ", ".join(f"{before}{name} = {value:.4g}" for name, value in top[:TOLD]) + ", ..." * (
        len(top) > TOLD
    )
