"""Identification of parameters from measured columns by weighted least squares over simulated runs.

    min Σ_j Σ_k ((y_j(t_k; θ) - ŷ_j(t_k))/σ_j)²     covariance s² (JᵀJ)⁻¹, s² = sum of squares/(rows - parameters)
σ_j, the noise of a column, is at first the standard deviation of the column and then the root mean
square of the residual. Parameters are scaled by their start values; J is computed by central
differences, 2 runs per parameter. Trust region with bounds (scipy). Columns named like inputs of
the mechanism are its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from kinetree.models.analysis.finite_differences import bounded_differences
from kinetree.models.analysis.identifiability import (
    PARAMETER_STEP,
    IdentificationError,
    refuse_vague_parameters,
    suspected_parameters,
)
from kinetree.models.analysis.identification_result import Estimate, Fit, Identification
from kinetree.models.chain.system import ChainSystem
from kinetree.models.compilation.element_states import held_inputs
from kinetree.models.language.errors import suggestion
from kinetree.models.result.result import Result
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.models.run.system_cache import SystemCache
from kinetree.models.system.mechanism import Mechanism, load
from kinetree.models.system.system import System

TOLERANCE = 1e-10  # of the runs
WEIGHTING_ROUNDS = 3  # fits with better and better weights
AROUND = 0.5  # of the scaled parameters about their start: within it nothing is compiled again where numbers alone change
BAD = 1e3  # weighted residual of a trial whose run fails
FINER = (
    8  # rows of a run per measured row where the times are uneven; cubic interpolation between them
)
FINEST = 1e-7  # least noise of a column, part of its spread


@dataclass(frozen=True)
class Data:
    """Measured columns at ascending times; non-finite values are left out of the fit."""

    time: np.ndarray
    columns: dict[str, np.ndarray]
    drives: dict[str, np.ndarray]

    @property
    def spreads(self) -> dict[str, float]:
        return {
            name: float(np.nanstd(values)) or max(float(np.nanmax(np.abs(values))), 1.0)
            for name, values in self.columns.items()
        }


def identify(
    source: Mechanism | str | Path | dict[str, Any],
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    parameters: Sequence[str],
    *,
    settings: Sequence[Mapping[str, float]] | None = None,
    time: Sequence[float] | np.ndarray | None = None,
    columns: Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    inputs: Mapping[str, float] | None = None,
    loss: str = "linear",
    progress: Callable[[float], None] | None = None,
    suspects: bool = False,
    **run: Any,
) -> Identification:
    """Return values and standard deviations of `parameters` from measured columns.

    `data`: columns by name (a dict of arrays, a Result), the times as `time` or as the column
    "time"; or a list of such records, each with its own times. `settings` gives, per record, values
    of other parameters that apply to it (starts, loads). `columns`: those to fit (default: all).
    `loss`: "linear", or "soft_l1" for data with outliers. `run`: further arguments of
    `System.simulate` such as method or integrator. `suspects`: also report which other mass,
    stiffness or damping would best explain the residual.
    """
    mechanism = source if isinstance(source, Mechanism) else load(source)
    names = checked_parameters(mechanism, parameters)
    records = [data] if isinstance(data, (Mapping, Result)) else list(data)
    others = [dict(each) for each in settings] if settings is not None else [{} for _ in records]
    if not records or len(others) != len(records):
        raise IdentificationError(
            f"{len(records)} records with settings for {len(others)}; expected as many"
        )
    for name in (name for each in others for name in each):
        if name not in mechanism.description.parameters or name in names:
            raise IdentificationError(
                f"settings of '{name}': expected another parameter than those that are identified"
            )
    measured = [
        checked_data(mechanism, each, time if len(records) == 1 else None, columns)
        for each in records
    ]
    count = sum(
        int(np.isfinite(values).sum()) for each in measured for values in each.columns.values()
    )
    if count <= len(names):
        raise IdentificationError(
            f"{count} measured values are too few for {len(names)} parameters; expected more of them than parameters"
        )
    limits = checked_bounds(mechanism, names, bounds or {})
    fitting = Fitting(mechanism, names, measured, others, limits, inputs or {}, run, progress)
    return fitting.solve(loss, suspects)


def checked_parameters(mechanism: Mechanism, parameters: Sequence[str]) -> dict[str, float]:
    """Return the parameters with their start values."""
    from kinetree.models.language.parameters import evaluate_parameters

    known = mechanism.description.parameters
    if not parameters:
        raise IdentificationError(
            f"no parameters to identify; the mechanism has {', '.join(known) or 'none'}"
        )
    for k, name in enumerate(parameters):
        if name not in known:
            raise IdentificationError(f"no parameter '{name}'; {suggestion(name, known)}")
        if name in list(parameters)[:k]:
            raise IdentificationError(f"parameter '{name}' is given twice")
    values, _ = evaluate_parameters({name: parameter.value for name, parameter in known.items()})
    return {name: float(values[name]) for name in parameters}


def checked_data(
    mechanism: Mechanism, data: Mapping[str, Any], time: Any, columns: Sequence[str] | None
) -> Data:
    """Return the times and measured columns, which must be results or inputs of the mechanism;
    unknown names are errors.
    """
    system = compiled_mechanism(mechanism)
    given = data.names if isinstance(data, Result) else [name for name in data if name != "time"]
    times = np.asarray(data["time"] if time is None else time, dtype=float)
    if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all():
        raise IdentificationError(f"time: {times.size} values; expected at least 2 finite ones")
    if (np.diff(times) <= 0.0).any():
        row = int(np.argmax(np.diff(times) <= 0.0)) + 1
        raise IdentificationError(
            f"time: {times[row]:g} after {times[row - 1]:g} in row {row + 1}; expected ascending times"
        )
    hidden = held_inputs(mechanism.description)
    drives = {
        name: np.asarray(data[name], dtype=float)
        for name in given
        if name in system.compiled.inputs and name not in hidden
    }
    probe = system.simulate(stop_time=times[0] + 1e-9, start_time=float(times[0]), output_step=1e-9)
    wanted = (
        [name for name in given if name not in drives and name not in Result.EXTRA]
        if columns is None
        else list(columns)
    )
    for name in wanted:
        if name not in given:
            raise IdentificationError(
                f"the data have no column '{name}'; {suggestion(name, given)}"
            )
        if name not in probe:
            known = (*probe.names, *probe.derived)
            raise IdentificationError(
                f"column '{name}' is not one of the mechanism (columns chooses those that count); {suggestion(name, known)}"
            )
    found = {name: np.asarray(data[name], dtype=float) for name in wanted}
    if not found:
        raise IdentificationError("the data have no column to compare with")
    for name, values in (found | drives).items():
        if values.shape != times.shape:
            raise IdentificationError(
                f"column '{name}' has {values.size} values, the time has {times.size}"
            )
        if not np.isfinite(values).any() or (name in drives and not np.isfinite(values).all()):
            raise IdentificationError(
                f"column '{name}' holds {'no' if name in found else 'values that are not finite'} numbers"
            )
    return Data(times, found, drives)


def checked_bounds(
    mechanism: Mechanism, names: Mapping[str, float], given: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return the given bounds; for other parameters min and max of the description."""
    from kinetree.models.compilation.compile import parameter_values
    from kinetree.models.expressions.parse import evaluate_constant

    for name in given:
        if name not in names:
            raise IdentificationError(
                f"bounds of '{name}', which is not identified; {suggestion(name, names)}"
            )
    values, found = parameter_values(mechanism.description), {}
    for name, start in names.items():
        parameter = mechanism.description.parameters[name]
        limits = (parameter.min, parameter.max)
        low, high = (
            d if limit is None else evaluate_constant(limit, values)
            for limit, d in zip(limits, (-np.inf, np.inf), strict=True)
        )
        low, high = given.get(name, (low, high))
        if not low < high or not low <= start <= high:
            raise IdentificationError(
                f"'{name}' starts at {start:g}, outside of its bounds {low:g} to {high:g}"
            )
        found[name] = (float(low), float(high))
    return found


def compiled_mechanism(mechanism: Mechanism, **values: float) -> System | ChainSystem:
    """Return the compiled system or linear chain of a mechanism."""
    return (
        mechanism.compile(**values)
        if mechanism.description.chain is None
        else mechanism.chain(**values)
    )


class Fitting:
    """Residuals of an identification, their derivatives and the fit; x are parameters divided by
    their start values.
    """

    def __init__(
        self, mechanism: Mechanism, start: dict[str, float], data: list[Data], settings: list[dict[str, float]], bounds: dict, inputs: Mapping,
        run: dict, progress: Any,
    ):  # fmt: skip
        self.mechanism, self.start, self.data = mechanism, start, data
        self.inputs, self.run, self.progress = inputs, run, progress
        self.unit = np.array(
            [abs(value) or self.size(bounds[name]) for name, value in start.items()]
        )
        self.x0 = np.array(list(start.values())) / self.unit
        self.low, self.high = (
            np.array([bounds[name][side] for name in start]) / self.unit for side in (0, 1)
        )
        spreads = [each.spreads for each in data]
        self.spreads = {
            name: max(each.get(name, 0.0) for each in spreads) for each in spreads for name in each
        }
        self.sigma = dict(self.spreads)
        ends = [
            self.values(np.clip(self.x0 + side * AROUND, self.low, self.high))
            for side in (-1.0, 1.0)
        ]
        self.trials = [SystemCache(mechanism, each, ends) for each in settings]
        self.runs = 0
        self.other: dict[str, float] = {}  # a parameter beside those of the fit, and its number
        self.units: dict[str, str] = {}  # of the columns

    @staticmethod
    def size(bounds: tuple[float, float]) -> float:
        """Return the scale of a parameter with start value 0."""
        finite = [abs(limit) for limit in bounds if np.isfinite(limit) and limit]
        return min(finite, default=1.0)

    def values(self, x: np.ndarray) -> dict[str, float]:
        return {name: float(value) for name, value in zip(self.start, x * self.unit, strict=True)}

    def simulated(self, x: np.ndarray) -> list[dict[str, np.ndarray]]:
        """Return the simulated columns at the measured times, one dictionary per record."""
        return [
            self.run_of(x, data, trials)
            for data, trials in zip(self.data, self.trials, strict=True)
        ]

    def run_of(self, x: np.ndarray, data: Data, trials: SystemCache) -> dict[str, np.ndarray]:
        """Return the simulated columns of one record for parameters x."""
        self.runs += 1
        if self.progress:
            self.progress(self.runs)
        t = data.time
        step = float(np.diff(t).min())
        even = bool(np.ptp(np.diff(t)) <= 1e-6 * step)
        count = (
            t.size - 1
            if even
            else int(np.clip(2.0 * (t[-1] - t[0]) / step, 4 * t.size, FINER * t.size))
        )
        step = float(t[-1] - t[0]) / count
        given = {name: interpolated_input(t, values) for name, values in data.drives.items()}
        span: dict[str, Any] = {
            "stop_time": float(t[-1]),
            "start_time": float(t[0]),
            "output_step": step,
        }
        options: dict[str, Any] = {
            "tolerance": TOLERANCE,
            "inputs": {**self.inputs, **given},
            **self.run,
        }
        if self.mechanism.description.chain is not None:
            result = self.mechanism.chain(**trials.settings, **self.values(x)).simulate(**span)
        elif self.other:
            values = {**trials.settings, **self.values(x), **self.other}
            result = self.mechanism.compile(**values).simulate(**span, **options)
        else:
            result = trials.at(self.values(x)).simulate(**span, **options)
        if result.interrupted:
            raise KeyboardInterrupt
            result = raise_if_interrupted(trials.at(self.values(x)).simulate(**span, **options))
        self.units = {name: result.unit(name) for name in data.columns}
        if even and result.time.size == t.size:
            return {name: result[name] for name in data.columns}
        from scipy.interpolate import CubicSpline

        return {name: CubicSpline(result.time, result[name])(t) for name in data.columns}

    def residuals(self, x: np.ndarray, trial: bool = True) -> np.ndarray:
        """Return the weighted residuals; a trial whose run fails gets large ones."""
        try:
            found = self.simulated(x)
        except ArithmeticError:
            if not trial:
                raise
            return np.full(
                sum(
                    int(np.isfinite(values).sum())
                    for each in self.data
                    for values in each.columns.values()
                ),
                BAD,
            )
        parts = []
        for data, columns in zip(self.data, found, strict=True):
            for name, values in data.columns.items():
                there = np.isfinite(values)
                parts.append((columns[name][there] - values[there]) / self.sigma[name])
        together = np.concatenate(parts)
        return np.where(np.isfinite(together), together, BAD)

    def jacobian(self, x: np.ndarray, step: float = PARAMETER_STEP) -> np.ndarray:
        """Return the Jacobian by central differences; at a bound one-sided towards the inside."""
        return bounded_differences(
            self.residuals, x, step * np.maximum(np.abs(x), 1.0), self.low, self.high
        )

    def check_influence(self) -> None:
        """Raise if a parameter has no effect, or two have the same effect."""
        self.residuals(self.x0, trial=False)  # raises where the start itself cannot be run
        refuse_vague_parameters(self, self.x0, self.jacobian(self.x0))

    def solve(self, loss: str, suspects: bool = False) -> Identification:
        """Fit the parameters, weight the columns by their residuals, and fit again."""
        from scipy.optimize import least_squares

        self.check_influence()
        x = np.clip(self.x0, self.low, self.high)
        bounds = (self.low, self.high)
        for _ in range(
            WEIGHTING_ROUNDS if len(self.sigma) > 1 or loss != "linear" else 1
        ):  # one column: its weight changes nothing
            found = least_squares(
                self.residuals,
                x,
                jac=cast(Any, self.jacobian),
                bounds=bounds,
                loss=loss,
                xtol=1e-10,
                ftol=1e-12,
                gtol=1e-12,
                max_nfev=100,
            )
            x = found.x
            fitted = self.simulated(x)
            self.sigma = {name: self.noise(name, fitted) for name in self.sigma}
        J, r = self.jacobian(x), self.residuals(x)
        refuse_vague_parameters(self, x, J)
        freedom = r.size - x.size
        covariance = (
            np.linalg.inv(J.T @ J) * float(r @ r) / freedom * np.outer(self.unit, self.unit)
        )
        estimates = []
        for k, (name, start) in enumerate(self.start.items()):
            bound = (
                "at its lower bound"
                if x[k] <= self.low[k] + 1e-9
                else "at its upper bound"
                if x[k] >= self.high[k] - 1e-9
                else ""
            )
            unit = self.mechanism.description.parameters[name].unit
            estimates.append(
                Estimate(
                    name,
                    start,
                    float(x[k] * self.unit[k]),
                    float(np.sqrt(covariance[k, k])),
                    unit,
                    bound,
                )
            )
        several = len(self.data) > 1
        fits = [
            Fit.of(name + f" (record {k})" * several, values, columns[name])
            for k, (data, columns) in enumerate(zip(self.data, fitted, strict=True), 1)
            for name, values in data.columns.items()
        ]
        name, d = self.mechanism.description.name, self.data[0]
        return Identification(
            name,
            tuple(estimates),
            covariance,
            tuple(fits),
            d.time,
            d.columns,
            fitted[0],
            self.runs,
            found.status > 0,
            self.units,
            suspected_parameters(self, x, J, r) if suspects else (),
        )

    def noise(self, name: str, fitted: list[dict[str, np.ndarray]]) -> float:
        """Return the root mean square residual of a column in all records."""
        left = [
            data.columns[name] - columns[name]
            for data, columns in zip(self.data, fitted, strict=True)
            if name in data.columns
        ]
        return max(
            float(np.sqrt(np.nanmean(np.concatenate(left) ** 2))), FINEST * self.spreads[name]
        )


def interpolated_input(t: np.ndarray, values: np.ndarray) -> Callable[[float], float]:
    """Return a measured input as a function of time, interpolated linearly."""
    return lambda now: float(np.interp(now, t, values))
