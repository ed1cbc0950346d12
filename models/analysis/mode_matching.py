"""Parameters from modes: a mechanism's small motions about its state of rest get the frequencies and decay rates that were identified.

min Σ_i (ln f_i(θ)/f̂_i)² + ((s_i(θ) - ŝ_i)/(2π f̂_i))²      every identified mode beside the nearest one of the mechanism
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.analysis.decay import DecayMode
from kinetree.models.analysis.identification import (
    LEAST_INFLUENCE,
    IdentificationError,
    checked_bounds,
    checked_parameters,
)
from kinetree.models.analysis.identified import Estimate
from kinetree.models.analysis.linearization import Mode
from kinetree.models.system.mechanism import Mechanism, load

STEP = 1e-5  # of the scaled parameters; modes are good to about 1e-11
AT = 1e-3  # relative distance to a bound: trust regions stay inside
APART = 0.02  # relative difference of modes from which a match is none
WORST = 10.0  # residual where a mechanism has too few modes


def match_modes(
    source: Mechanism | str | Path | dict[str, Any],
    modes: Sequence[DecayMode],
    parameters: Sequence[str],
    *,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    inputs: Mapping[str, float] | None = None,
    damping: bool = True,
) -> Matched:
    """Values of `parameters` with which the oscillations of the mechanism match; `damping = False` leaves the decay rates aside.

    Modes that carry a note are left out. Deviations come from those of the modes, or from what the match leaves where that is more.
    """
    from scipy.optimize import least_squares

    mechanism = source if isinstance(source, Mechanism) else load(source)
    start = checked_parameters(mechanism, parameters)
    limits = checked_bounds(mechanism, start, bounds or {})
    wanted = [mode for mode in modes if mode.frequency > 0.0 and not mode.note]
    count = len(wanted) * (2 if damping else 1)
    if count < len(start):
        raise IdentificationError(
            f"{len(wanted)} oscillations give {count} numbers, too few for {len(start)} parameters"
        )
    unit = np.array([abs(value) or 1.0 for value in start.values()])

    def residuals(x: np.ndarray) -> np.ndarray:
        values = dict(zip(start, map(float, x * unit), strict=True))
        linear = mechanism.compile(**values).equilibrium(inputs=inputs).linear
        return differences(wanted, [mode for mode in linear.modes() if mode.oscillates], damping)

    x0 = np.array(list(start.values())) / unit
    low, high = (np.array([limits[name][side] for name in start]) / unit for side in (0, 1))
    found = least_squares(
        residuals, x0, "3-point", (low, high), diff_step=STEP, xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    for name, change in zip(start, np.abs(found.jac).max(axis=0), strict=True):
        if change < LEAST_INFLUENCE:
            raise IdentificationError(f"parameter '{name}' has no influence on the modes")
    free = found.fun.size - found.x.size
    J, spread = found.jac, scatter(wanted, damping)
    inverse = np.linalg.pinv(J)
    covariance = inverse @ np.diag(spread**2) @ inverse.T
    if free > 0:
        covariance = np.maximum(
            covariance, np.linalg.pinv(J.T @ J) * float(found.fun @ found.fun) / free
        )
    units, estimates = mechanism.description.parameters, []
    for k, (name, value) in enumerate(start.items()):
        near = AT * max(abs(float(found.x[k])), 1e-300)
        bound = (
            "at its lower bound"
            if found.x[k] <= low[k] + near
            else "at its upper bound"
            if found.x[k] >= high[k] - near
            else ""
        )
        deviation = float(np.sqrt(max(covariance[k, k], 0.0)) * unit[k])
        estimates.append(
            Estimate(name, value, float(found.x[k] * unit[k]), deviation, units[name].unit, bound)
        )
    return Matched(estimates, float(np.sqrt(np.mean(found.fun**2))))


class Matched(dict[str, float]):
    """Values by name; `estimates` with deviations and notes, `left`: relative difference of the modes that remains, root mean square."""

    def __init__(self, estimates: Sequence[Estimate], left: float):
        super().__init__({each.name: each.value for each in estimates})
        self.estimates, self.left = tuple(estimates), left

    @property
    def notes(self) -> tuple[str, ...]:
        """What should not be overlooked."""
        bounds = tuple(
            f"{each.name} is {each.note}: it says where the bound is, not what the parameter is"
            for each in self.estimates
            if each.note
        )
        vague = tuple(
            f"{each.name} is hardly known from these modes"
            for each in self.estimates
            if each.deviation > abs(each.value) > 0.0
        )
        apart = (
            (
                f"the modes are missed by {100 * self.left:.2g} %: other parameters, or another mechanism?",
            )
            if self.left > APART
            else ()
        )
        return bounds + vague + apart


def scatter(wanted: Sequence[DecayMode], damping: bool) -> np.ndarray:
    """Deviations of the residuals by those of the modes."""
    frequencies = [mode.frequency_deviation / mode.frequency for mode in wanted]
    return np.array(
        frequencies
        + (
            [mode.decay_deviation / (2.0 * np.pi * mode.frequency) for mode in wanted]
            if damping
            else []
        )
    )


def differences(wanted: Sequence[DecayMode], present: Sequence[Mode], damping: bool) -> np.ndarray:
    """Residuals of the best pairs."""
    from scipy.optimize import linear_sum_assignment

    if len(present) < len(wanted):
        return np.full(len(wanted) * (2 if damping else 1), WORST)
    ours = np.array([abs(mode.eigenvalue.imag) / (2.0 * np.pi) for mode in present])
    theirs = np.array([mode.frequency for mode in wanted])
    rows, columns = linear_sum_assignment(np.abs(np.log(ours[None, :] / theirs[:, None])))
    pairs = [(wanted[i], present[j], ours[j]) for i, j in zip(rows, columns, strict=True)]
    frequencies = [np.log(f / mode.frequency) for mode, _, f in pairs]
    rates = [
        (-each.eigenvalue.real - mode.decay) / (2.0 * np.pi * mode.frequency)
        for mode, each, _ in pairs
    ]
    return np.array(frequencies + (rates if damping else []))
