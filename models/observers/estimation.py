"""Estimation from a record: sensors with noise, bias, delay and sampling; estimated parameters,
unknown forces and biases; results over time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.models.language.errors import suggestion
from kinetree.models.observers.consistency import Band, Knowledge, alike, band, innovation_band
from kinetree.models.observers.estimation_setup import METHODS, SPEED_NOISE, Recorded, Sensor, Setup
from kinetree.models.observers.kalman_filters import FILTERS, Filter, Innovation, Measured
from kinetree.models.observers.mechanism_flow import FlowState, MechanismFlow, Quantity
from kinetree.models.observers.moving_horizon import MovingHorizonEstimator
from kinetree.models.system.system import System

SAME_TIME = 1e-9  # s: readings so near to each other are of one instant
START_DEVIATION = 1e-2  # of coordinates [m or rad], speeds and other states, where none is given


@dataclass
class Estimate:
    """Estimates over time with their standard deviations and measures of consistency."""

    method: str
    time: np.ndarray
    names: tuple[str, ...]
    values: np.ndarray  # rows: instants
    deviations: np.ndarray
    units: dict[str, str]
    innovations: list[Innovation]
    knowledge: list[Knowledge]
    alike: list[tuple[str, str, float]]
    errors: dict[str, np.ndarray]  # normalised, of names with a known truth
    stage_notes: list[tuple[float, str, float]]
    readings: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]  # time, residual, expected size
    filter: Filter

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the estimates of a name over time."""
        return self.values[:, self._place(name)]

    def deviation(self, name: str) -> np.ndarray:
        """Return the standard deviations of a name over time."""
        return self.deviations[:, self._place(name)]

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(f"'{name}' is not estimated; {suggestion(name, self.names)}")
        return self.names.index(name)

    @property
    def innovation_band(self) -> Band:
        """Return the mean normalised innovation squared with its 95 % confidence band."""
        return innovation_band(self.innovations)

    @property
    def error_bands(self) -> dict[str, Band]:
        """Return the mean normalised squared errors of quantities with known truth, with their 95 %
        bands.
        """
        return {name: band(list(each**2), 1.0) for name, each in self.errors.items()}

    @property
    def log_likelihood(self) -> float:
        """Return the log-likelihood of all measurements."""
        return sum(each.log_likelihood for each in self.innovations)


class EstimationProblem:
    """A mechanism with sensors and unknowns, ready to process records."""

    def __init__(self, system: System, setup: Setup):
        self.system, self.setup = system, setup
        biased = [sensor for sensor in setup.sensors if sensor.bias > 0.0]
        self.quantities = (
            *(Quantity(each.name, "parameter", each.least, each.most) for each in setup.parameters),
            *(Quantity(each.name, "input", each.least, each.most) for each in setup.forces),
            *(Quantity(f"bias({sensor.name})", "bias") for sensor in biased),
        )
        self._bias = {
            sensor.name: len(setup.parameters) + len(setup.forces) + k
            for k, sensor in enumerate(biased)
        }
        self._walks = np.array(
            [each.walk for each in (*setup.parameters, *setup.forces)]
            + [sensor.bias_walk for sensor in biased]
        )
        self._start_deviations = np.array(
            [each.deviation for each in (*setup.parameters, *setup.forces)]
            + [sensor.bias for sensor in biased]
        )
        self._check()

    def _check(self) -> None:
        """Raise for sensors and unknowns that the mechanism does not have."""
        setup, compiled = self.setup, self.system.compiled
        if setup.method not in METHODS:
            raise ValueError(f"method is '{setup.method}', expected one of {', '.join(METHODS)}")
        if not setup.sensors:
            raise ValueError("[measurements] is empty: an estimator needs at least one reading")
        parameters = self.system.description.parameters
        for each in setup.parameters:
            if each.name not in compiled.parameters:
                raise ValueError(
                    f"parameters.{each.name}: the mechanism has no such parameter; "
                    f"{suggestion(each.name, compiled.parameters)}"
                )
            if isinstance(parameters[each.name].value, str):
                raise ValueError(f"parameters.{each.name} is computed from others: estimate those")
        for each in setup.forces:
            if each.name not in compiled.inputs:
                raise ValueError(
                    f"unknowns.{each.name}: the mechanism has no such input; "
                    f"{suggestion(each.name, compiled.inputs)}"
                )

    # -- running -----------------------------------------------------------------------------------
    def run(
        self,
        record: Recorded,
        truth: Mapping[str, Any] | None = None,
        progress: Callable[[float], None] = lambda time: None,
    ) -> Estimate:
        """Return the estimate over a record; `truth` gives columns or values to compare with."""
        times = record.time
        begin, end = float(times[0]), float(times[-1])
        flow = self._prepared(self._step(times))
        inputs = {name: record.columns[name] for name in flow.inputs if name in record.columns}
        unknown = {each.name for each in self.setup.forces}
        inputs = {name: column for name, column in inputs.items() if name not in unknown}
        estimator = self._begin(begin, {name: float(column[0]) for name, column in inputs.items()})
        rows = {name: [] for name in ("time", "values", "deviations")}  # type: ignore[var-annotated]
        names = self.reported(estimator.state)
        first = self._spread(estimator, names)
        self._note(rows, estimator, names)
        for instant, measured in self._readings(record, begin, end):
            self._go_to(estimator, instant, times, inputs)
            estimator.correct(measured)
            self._note(rows, estimator, names)
            progress(instant)
        return self._result(estimator, rows, names, first, truth or {}, record)

    def begin(self, time: float, step: float, inputs: Mapping[str, float] | None = None) -> Filter:
        """Return the estimator at its start, for measurements that are given one by one."""
        self._prepared(self.setup.step or step)
        return self._begin(time, inputs or {})

    def reading_of(self, values: Mapping[str, float]) -> Measured:
        """Return the measurements of one instant from values by sensor name."""
        return self._together(
            [(values[each.name], each) for each in self.setup.sensors if each.name in values]
        )

    def reported(self, state: FlowState) -> tuple[str, ...]:
        """Return the names of the estimated quantities at a state."""
        return self._flow.names(state)

    def _prepared(self, step: float) -> MechanismFlow:
        """Return the state transition of the mechanism with a given longest step."""
        self._flow = MechanismFlow(self.system, step, self.quantities, self.setup.integrator)
        for sensor in self.setup.sensors:
            if sensor.name not in self._flow.columns:
                raise ValueError(
                    f"measurements.{sensor.name}: the mechanism has no such column; "
                    f"{suggestion(sensor.name, tuple(self._flow.columns))}"
                )
        return self._flow

    def _step(self, times: np.ndarray) -> float:
        """Return the longest step of prediction [s] that suits the sampling times."""
        if self.setup.step > 0.0:
            return self.setup.step
        gaps = np.diff(times)
        return float(np.median(gaps)) if gaps.size else 1e-3

    def _begin(self, time: float, inputs: Mapping[str, float]) -> Filter:
        """Return the estimator with the initial state and covariance."""
        setup, flow = self.setup, self._flow
        values = np.array(
            [each.start for each in (*setup.parameters, *setup.forces)]
            + [0.0] * (len(self.quantities) - len(setup.parameters) - len(setup.forces))
        )
        state = flow.start(time, setup.start, inputs, values)
        names = flow.names(state)
        given = dict(setup.start_deviations)
        deviations = np.array([given.pop(name, START_DEVIATION) for name in names])
        if given:
            name = next(iter(given))
            raise ValueError(
                f"initial.{name}: no independent coordinate, speed or state; "
                f"{suggestion(name, names)}"
            )
        if values.size:
            deviations[-values.size :] = self._start_deviations
        known = {*names, "speeds"}
        for name in setup.process:
            if name not in known:
                raise ValueError(
                    f"process.{name}: no independent speed or state; {suggestion(name, names)}"
                )
        covariance = np.diag(deviations**2)
        if setup.method == "moving-horizon":
            return MovingHorizonEstimator(
                flow, state, covariance, self._noise, setup.horizon, setup.iterations
            )
        return FILTERS[setup.method](flow, state, covariance, self._noise)

    def _noise(self, state: FlowState, seconds: float) -> np.ndarray:
        """Return the covariance that process noise adds during `seconds`: white noise on
        accelerations and rates, random walks of estimated quantities.
        """
        flow, process = self._flow, self.setup.process
        names, n = flow.names(state), flow.degrees(state)
        count = len(names) - len(self.quantities)
        general = process.get("speeds", SPEED_NOISE)
        densities = np.array([process.get(name, general) for name in names[n : 2 * n]]) ** 2
        Q = np.zeros((len(names), len(names)))
        places, speeds = np.arange(n), np.arange(n, 2 * n)
        Q[places, places] = densities * seconds**3 / 3.0
        Q[places, speeds] = Q[speeds, places] = densities * seconds**2 / 2.0
        Q[speeds, speeds] = densities * seconds
        for k, name in enumerate(names[2 * n : count], 2 * n):
            Q[k, k] = process.get(name, 0.0) ** 2 * seconds
        rest = np.arange(count, len(names))
        Q[rest, rest] = self._walks**2 * seconds
        return Q

    def _readings(self, record: Recorded, begin: float, end: float) -> list[tuple[float, Measured]]:
        """Return all measurements in the order of the instants at which they were valid."""
        single: list[tuple[float, float, Sensor]] = []
        for sensor in self.setup.sensors:
            if sensor.name not in record.columns:
                raise ValueError(
                    f"measurements.{sensor.name}: the record has no such column; "
                    f"{suggestion(sensor.name, tuple(record.columns))}"
                )
            column, due = record.columns[sensor.name], begin
            for time, value in zip(record.time, column, strict=True):
                if sensor.period and time < due - 1e-6 * sensor.period:
                    continue
                due = due + sensor.period * max(1, math.floor((time - due) / sensor.period + 1e-6) + 1) if sensor.period else due  # fmt: skip
                if math.isfinite(value) and time - sensor.delay > begin - SAME_TIME:
                    single.append((float(time) - sensor.delay, float(value), sensor))
        single.sort(key=lambda each: each[0])
        found: list[tuple[float, list[tuple[float, Sensor]]]] = []
        for time, value, sensor in single:
            if found and time - found[-1][0] <= SAME_TIME:
                found[-1][1].append((value, sensor))
            else:
                found.append((time, [(value, sensor)]))
        return [(time, self._together(those)) for time, those in found]

    def _together(self, those: Sequence[tuple[float, Sensor]]) -> Measured:
        """Return the measurements of one instant combined."""
        return Measured(
            tuple(sensor.name for _, sensor in those),
            np.array([value for value, _ in those]),
            np.array([sensor.noise for _, sensor in those]),
            tuple(self._bias.get(sensor.name, -1) for _, sensor in those),
        )

    def _go_to(
        self,
        estimator: Filter,
        instant: float,
        times: np.ndarray,
        inputs: Mapping[str, np.ndarray],
    ) -> None:
        """Predict up to an instant in steps that end at input changes."""
        longest = self._flow.options.step
        while estimator.state.time < instant - SAME_TIME:
            now = estimator.state.time
            row = int(np.searchsorted(times, now + SAME_TIME, side="right")) - 1
            until = min(instant, now + longest * (1.0 + 1e-9))
            if inputs and row + 1 < times.size:
                until = min(until, max(float(times[row + 1]), now + SAME_TIME))
            held = {name: float(column[max(row, 0)]) for name, column in inputs.items()}
            estimator.predict(until, {n: v for n, v in held.items() if math.isfinite(v)})

    # -- results -----------------------------------------------------------------------------------
    def present(self, state: FlowState) -> dict[str, float]:
        """Return the values of all estimated quantities by name."""
        flow, layout = self._flow, self._flow.stages[state.stage]
        columns = {name: float(state.work[place]) for name, place in flow.columns.items()}
        names = flow.names(state)
        found = {name: columns.get(name, math.nan) for name in names}
        for k, name in enumerate(layout.compiled.states):
            found[name] = float(state.work[layout.x][k])
        for quantity, value in zip(self.quantities, state.values, strict=True):
            found[quantity.name] = float(value)
        return found

    def _spread(self, estimator: Filter, names: Sequence[str]) -> dict[str, float]:
        """Return the standard deviations by name."""
        known = zip(self._flow.names(estimator.state), estimator.deviations, strict=True)
        return dict.fromkeys(names, math.nan) | dict(known)

    def _note(self, rows: dict[str, list], estimator: Filter, names: Sequence[str]) -> None:
        """Store the current estimate as a row."""
        values, spread = self.present(estimator.state), self._spread(estimator, names)
        rows["time"].append(estimator.state.time)
        rows["values"].append([values.get(name, math.nan) for name in names])
        rows["deviations"].append([spread[name] for name in names])

    def _result(
        self,
        estimator: Filter,
        rows: dict[str, list],
        names: tuple[str, ...],
        first: Mapping[str, float],
        truth: Mapping[str, Any],
        record: Recorded,
    ) -> Estimate:
        """Return the estimate with everything that was computed."""
        time, values, deviations = (np.array(rows[key]) for key in ("time", "values", "deviations"))
        errors = {}
        for name, right in truth.items():
            if name not in names:
                raise ValueError(f"truth.{name}: it is not estimated; {suggestion(name, names)}")
            column = names.index(name)
            known = (
                np.full(time.size, float(right))
                if np.ndim(right) == 0
                else np.interp(time, record.time, right)
            )
            size = np.maximum(deviations[:, column], 1e-300)
            errors[name] = (values[:, column] - known) / size
        stages = self._flow.unit.stage_names
        last = self._spread(estimator, names)
        units = {column.name: column.unit for column in self._flow.unit.columns}
        units |= {
            each.name: self.system.description.parameters[each.name].unit
            for each in self.setup.parameters
        }
        return Estimate(
            self.setup.method,
            time,
            names,
            values,
            deviations,
            units,
            estimator.innovations,
            [Knowledge(name, first[name], last[name]) for name in names],
            alike(self._flow.names(estimator.state), estimator.covariance),
            errors,
            [(at, stages[stage], change) for at, stage, change in estimator.stage_notes],
            residuals(estimator.innovations),
            estimator,
        )


def residuals(
    innovations: Sequence[Innovation],
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return by sensor: times, residuals, and the expected standard deviations of the residuals."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for each in innovations:
        sizes = np.sqrt(np.diag(each.covariance))
        for name, residual, size in zip(each.names, each.residual, sizes, strict=True):
            found.setdefault(name, []).append((each.time, float(residual), float(size)))
    return {
        name: tuple(np.array(column) for column in zip(*those, strict=True))  # type: ignore[misc]
        for name, those in found.items()
    }
