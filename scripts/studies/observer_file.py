"""The file of `kinetree observe`: a mechanism, its sensors, what is estimated, and the record to run on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from kinetree.models import load
from kinetree.models.checks.loader import generated, is_generated, read
from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit
from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Recorded, Sensor, Setup, Unknown
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import FileTable, Real, checked, read_toml


class WithUnit(FileTable):
    """A number with its own unit of measure."""

    value: Real
    unit: str

    def in_si(self) -> float:
        """Return the number in SI units; offsets of units do not count, since the number is a
        difference.
        """
        try:
            return self.value * parse_unit(self.unit).factor
        except UnitError as error:
            raise BadInput(str(error)) from None


Size = Real | WithUnit


def si(value: Size) -> float:
    """Return a number, with or without its own unit, in SI units."""
    return value.in_si() if isinstance(value, WithUnit) else float(value)


class Measurement(FileTable):
    """A sensor: a coordinate, speed or output of the mechanism that the record contains."""

    noise: Size = Field(description="Standard deviation of the noise")
    column: str = Field(default="", description="Name in the record; left out: the same")
    delay: float = Field(
        default=0.0, ge=0.0, description="Age of a reading when it is recorded [s]"
    )
    period: float = Field(
        default=0.0, ge=0.0, description="Time between readings [s]; 0: every row"
    )
    bias: Size = Field(default=0.0, description="Standard deviation of an unknown offset")
    bias_walk: Size = Field(default=0.0, description="Drift of the offset, per root of a second")


class Estimated(FileTable):
    """A parameter to estimate."""

    start: Size | None = Field(default=None, description="First guess; left out: the description's")
    std: Size = Field(description="Standard deviation of the first guess")
    walk: Size = Field(default=0.0, description="Density of its random walk, per root of a second")
    min: Size | None = None
    max: Size | None = None


class UnknownForce(Estimated):
    """An external force or moment that is not measured: along a coordinate, or on a body."""

    coordinate: str | None = None
    body: str | None = None
    point: tuple[Real, Real, Real] = (0.0, 0.0, 0.0)
    direction: tuple[Real, Real, Real] | None = None
    frame: Literal["ground", "body"] = "ground"

    @model_validator(mode="after")
    def one_place(self) -> UnknownForce:
        """Require a coordinate, or a body with a direction; neither is allowed for an existing
        input.
        """
        if self.coordinate is not None and self.body is not None:
            raise ValueError("coordinate and body exclude each other")
        if (self.body is None) != (self.direction is None):
            raise ValueError("body and direction go together")
        return self


class ObserverFile(FileTable):
    """The schema of the whole file."""

    mechanism: str
    record: str | None = None
    method: Literal["ekf", "ukf", "moving-horizon"] = "ekf"
    step: float = Field(default=0.0, ge=0.0)
    integrator: str | None = None
    horizon: int = Field(default=20, ge=1, le=10000)
    iterations: int = Field(default=2, ge=1, le=100)
    set: dict[str, Real] = {}
    measurements: dict[str, Measurement] = Field(min_length=1)
    parameters: dict[str, Estimated] = {}
    unknowns: dict[str, UnknownForce] = {}
    start: dict[str, Size] = {}
    initial: dict[str, Size] = {}
    process: dict[str, Size] = {}
    inputs: dict[str, str] = {}
    truth: dict[str, str | Real] = {}


class Task:
    """A checked file: the estimation problem and the path of its record."""

    def __init__(self, path: Path, given: ObserverFile):
        self.path, self.file = path, given
        self.source = self._source()
        self.mechanism = load(self.source)
        self.system = self.mechanism.compile()
        self.problem = EstimationProblem(self.system, self.setup())

    def _source(self) -> dict[str, Any]:
        """Return the description with the set parameters, and with an input and a force element for
        every unknown force.
        """
        name, overrides = self.file.mechanism, dict(self.file.set)
        source: str | Path = name
        if not name.startswith("lib:") and not Path(name).is_absolute():
            source = self.path.parent / name
        if is_generated(source):
            raw, _, overrides, _ = generated(source, overrides)
        else:
            raw, _ = read(source)
        raw = copy.deepcopy(dict(raw))
        parameters = raw.setdefault("parameters", {})
        for key, value in overrides.items():
            if key not in parameters:
                raise BadInput(f"{self.path}: set.{key}: the mechanism has no such parameter")
            table = parameters[key]
            parameters[key] = {**table, "value": value} if isinstance(table, dict) else value
        for key, force in self.file.unknowns.items():
            if force.coordinate is None and force.body is None:
                continue  # an input of the mechanism
            if key in raw.get("inputs", {}):
                raise BadInput(
                    f"{self.path}: unknowns.{key}: the mechanism has an input of this name"
                )
            raw.setdefault("inputs", {})[key] = {"start": 0.0}
            raw.setdefault("forces", {})[f"unknown_{key}"] = (
                {"coordinate": force.coordinate, "value": key}
                if force.coordinate is not None
                else {
                    "kind": "wrench",
                    "body": force.body,
                    "point": list(force.point),
                    "force": [f"{each!r}*{key}" for each in self._unit(force)],
                    "frame": force.frame,
                }
            )
        return raw

    def _unit(self, force: UnknownForce) -> list[float]:
        """Return the direction of a force as a unit vector."""
        direction = np.array(force.direction, dtype=float)
        length = float(np.linalg.norm(direction))
        if not length:
            raise BadInput(f"{self.path}: direction of an unknown force is zero")
        return (direction / length).tolist()

    def setup(self) -> Setup:
        """Return the estimator's settings in SI units."""
        file = self.file
        values = self.system.compiled
        given = {
            name: float(self.system._fast.ws.val[values.registers[name]]) for name in file.parameters
            if name in values.registers
        }  # fmt: skip
        return Setup(
            sensors=tuple(
                Sensor(name, si(m.noise), m.delay, m.period, si(m.bias), si(m.bias_walk))
                for name, m in file.measurements.items()
            ),
            parameters=tuple(
                unknown(name, each, given.get(name, 0.0)) for name, each in file.parameters.items()
            ),
            forces=tuple(unknown(name, each, 0.0) for name, each in file.unknowns.items()),
            method=file.method,
            step=file.step,
            integrator=file.integrator,
            horizon=file.horizon,
            iterations=file.iterations,
            start={name: si(value) for name, value in file.start.items()},
            start_deviations={name: si(value) for name, value in file.initial.items()},
            process={name: si(value) for name, value in file.process.items()},
        )

    def record(self, other: Path | None = None) -> tuple[Recorded, dict[str, Any]]:
        """Return the record with columns renamed to names of the mechanism, and the known true
        values.
        """
        from kinetree.scripts.terminal.measured_files import single

        if other is None and self.file.record is None:
            raise BadInput(f"{self.path}: record is missing: name it in the file, or by --record")
        path = other or self.path.parent / str(self.file.record)
        renamed = {m.column: name for name, m in self.file.measurements.items() if m.column}
        renamed |= {column: name for name, column in self.file.inputs.items()}
        data = single(
            str(path), [f"{column}={name}" for column, name in renamed.items()], self.mechanism
        )
        truth: dict[str, Any] = {}
        for name, column in self.file.truth.items():
            if isinstance(column, str):
                if column not in data.columns:
                    raise BadInput(f"{self.path}: truth.{name}: {path} has no column '{column}'")
                truth[name] = data.columns[column]
            else:
                truth[name] = float(column)
        return Recorded(data.time, data.columns), truth


def unknown(name: str, given: Estimated, otherwise: float) -> Unknown:
    """Return the settings of an estimated quantity in SI units; `otherwise` is its default start."""
    return Unknown(
        name,
        otherwise if given.start is None else si(given.start),
        si(given.std),
        si(given.walk),
        -np.inf if given.min is None else si(given.min),
        np.inf if given.max is None else si(given.max),
    )


def read_task(path: Path, changes: Mapping[str, Any] | None = None) -> Task:
    """Read a file; `changes` replace keys of it."""
    raw = read_toml(path) | dict(changes or {})
    return Task(path, checked(ObserverFile, raw, str(path)))
