"""Comparison of planned experiments by the information they give about parameters.

A run with noise of σ_j on its columns gives the Fisher information F = Σ_j Σ_k
(∂y_j(t_k)/∂θ)(∂y_j(t_k)/∂θ)ᵀ/σ_j². No unbiased estimate from it has a smaller covariance than F⁻¹
(Cramér-Rao bound), and least squares reaches it for small noise: the roots of its diagonal are the
expected standard deviations. Of experiments of equal length the one with the largest det F has the
smallest ellipsoid of uncertainty (A. C. Atkinson, A. N. Donev, Optimum Experimental Designs, 1992,
ch. 9). For experiments performed together F is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.models.analysis.finite_differences import bounded_differences
from kinetree.models.analysis.identification import (
    PARAMETER_STEP,
    TOLERANCE,
    IdentificationError,
    checked_parameters,
    compiled_mechanism,
)
from kinetree.models.language.errors import suggestion
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.models.system.mechanism import Mechanism


@dataclass(frozen=True)
class Experiment:
    """A planned experiment: inputs over time and parameter values."""

    inputs: Mapping[str, float | Callable[[float], float]]
    settings: Mapping[str, float]


@dataclass(frozen=True)
class Information:
    """The Fisher information matrix of parameters, in the parameters' units."""

    parameters: tuple[str, ...]
    information: np.ndarray

    @property
    def deviations(self) -> dict[str, float]:
        """Return the smallest attainable standard deviations; infinite for indistinguishable
        parameters.
        """
        size = np.sqrt(np.maximum(np.diag(self.information), 0.0))
        if not size.all() or np.linalg.cond(self.information / np.outer(size, size)) > 1e13:
            return dict.fromkeys(self.parameters, float("inf"))
        return dict(
            zip(
                self.parameters,
                map(float, np.sqrt(np.diag(np.linalg.inv(self.information)))),
                strict=True,
            )
        )

    def score(self, values: Sequence[float]) -> float:
        """Return the mean of log10 of the information per parameter, relative to the parameters'
        sizes: 4 means a standard deviation of 1 % each, uncorrelated.
        """
        sizes = np.array([abs(value) or 1.0 for value in values])
        sign, log = np.linalg.slogdet(self.information * np.outer(sizes, sizes))
        return float(log / np.log(10.0) / len(sizes)) if sign > 0.0 else -np.inf


def experiment_information(
    mechanism: Mechanism,
    parameters: Sequence[str],
    experiments: Mapping[str, Experiment],
    noise: Mapping[str, float],
    stop_time: float,
    output_step: float,
    progress: Callable[[float], None] | None = None,
    **run: Any,
) -> dict[str, Information]:
    """Return the Fisher information of every experiment; `noise` is the standard deviation per
    column.
    """
    start = checked_parameters(mechanism, parameters)
    unit = np.array([abs(value) or 1.0 for value in start.values()])
    if not noise or not all(value > 0.0 for value in noise.values()):
        raise IdentificationError(
            "noise: expected a positive standard deviation of at least one column"
        )
    found = {}
    for k, (label, each) in enumerate(experiments.items(), 1):

        def columns(x: np.ndarray, each: Experiment = each) -> np.ndarray:
            system = compiled_mechanism(
                mechanism, **each.settings, **dict(zip(start, map(float, x * unit), strict=True))
            )
            options: dict[str, Any] = {"tolerance": TOLERANCE, "inputs": dict(each.inputs), **run}
            result = raise_if_interrupted(
                system.simulate(stop_time=stop_time, output_step=output_step, **options)
            )
            for name in noise:
                if name not in result:
                    raise IdentificationError(
                        f"noise: no column '{name}'; {suggestion(name, result.names)}"
                    )
            return np.concatenate([result[name] / sigma for name, sigma in noise.items()])

        x = np.array(list(start.values())) / unit
        open_ends = np.full(x.size, np.inf)
        J = (
            bounded_differences(
                columns, x, PARAMETER_STEP * np.maximum(np.abs(x), 1.0), -open_ends, open_ends
            )
            / unit
        )
        found[label] = Information(tuple(start), J.T @ J)
        if progress is not None:
            progress(float(k))
    return found


def combined_information(told: Mapping[str, Information]) -> Information:
    """Return the combined Fisher information of all experiments."""
    every = list(told.values())
    return Information(every[0].parameters, np.sum([each.information for each in every], axis=0))
