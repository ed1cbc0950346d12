"""Simulation advanced step by step by the caller's program: inputs are set, a step is made, outputs
are read.

    stepper = system.stepper(step=0.001)
    while stepper.time < 5.0:
        stepper["lift.force"] = 4000.0 - 800.0 * stepper["der(luff)"]
        stepper.advance()

Inputs are held over a step. Events and stage changes inside a step are located and executed as in
any run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.compilation.element_states import held_inputs
from kinetree.models.engine.entry_points import quick
from kinetree.models.language.errors import suggestion
from kinetree.models.result.result import Event, Result
from kinetree.models.run.simulation import (
    Options,
    collect_events,
    raise_on_failure,
    write_integrator_options,
)
from kinetree.models.run.simulation_unit import Run, Unit, make_unit
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

if TYPE_CHECKING:
    from kinetree.models.system.system import System

TIME = U.UNIT_HEAD.at("time")


class Places(dict[str, int]):
    """Positions of named values in the work block of a unit: columns, values common to all runs,
    inputs and parameters.
    """

    def __init__(self, unit: Unit):
        first = int(unit.header.at_columns)
        compiled = unit.compiled[0]
        hidden = set(held_inputs(unit.description))
        self.inputs = tuple(name for name in compiled.inputs if name not in hidden)
        self.tunable = tuple(
            name
            for name in compiled.parameters
            if (known := unit.description.parameters.get(name)) and known.tunable
        )
        self.parameters = compiled.parameters
        self.columns = tuple(column.name for column in unit.columns)
        told = dict(zip(Result.RECORDED, Result.PLACES, strict=True)) | {"time": TIME}
        registers = {name: unit.register(name) for name in (*self.inputs, *self.parameters)}
        columns = {name: first + k for k, name in enumerate(self.columns)}
        super().__init__(told | registers | columns)

    def __missing__(self, name: str) -> int:
        raise KeyError(f"nothing is called '{name}'; {suggestion(name, tuple(self))}")

    def many(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self[name] for name in names], dtype=np.int64)


class Written(dict[str, int]):
    """Positions of values that may be written at any time: inputs, and tunable parameters (which
    require recomputed constants).
    """

    def __init__(self, places: Places):
        super().__init__({name: places[name] for name in places.inputs})
        self.places = places
        self.tunable = {name: places[name] for name in places.tunable}

    def __missing__(self, name: str) -> int:
        places = self.places
        if name in places.parameters:
            raise KeyError(
                f"parameter '{name}' is fixed while a motion goes on: give it to compile(), "
                "or declare it with tunable = true"
            )
        if name in places:
            raise KeyError(
                f"'{name}' is a result of the motion and not an input; "
                f"inputs: {', '.join(places.inputs) or 'none'}; a start is given to reset()"
            )
        raise KeyError(f"'{name}' is not an input; {suggestion(name, places.inputs)}")


def start_places(unit: Unit) -> dict[str, int]:
    """Return the positions of the start values of coordinates, speeds and first-order states."""
    c = unit.compiled[0]
    return {
        name: unit.register(key if (key := f"given({name})") in c.registers else f"start({name})")
        for name in (*c.coordinates, *c.speeds, *c.states)
    }


def start_place(places: Mapping[str, int], name: str) -> int:
    """Return the position of one start value; raise KeyError for unknown names."""
    if name not in places:
        raise KeyError(f"'{name}' has no start value; {suggestion(name, tuple(places))}")
    return places[name]


class Saved:
    """A saved state of a stepper: its complete memory, and the events so far."""

    __slots__ = ("events", "unit", "work")

    def __init__(self, unit: Unit, work: np.ndarray, events: tuple[Event, ...]):
        self.unit, self.work, self.events = unit, work, events

    def __repr__(self) -> str:
        return f"Saved({self.unit.description.name!r} at t = {self.work[TIME]:g})"


class Stepper:
    """A simulation of a system that the calling program advances in steps of `step` seconds.

    `stepper["name"]` reads an output, coordinate, speed, state, input or parameter, and sets inputs
    and tunable parameters. `inputs` are the initial values of inputs.
    """

    def __init__(
        self,
        system: System,
        step: float = 1e-3,
        inputs: Mapping[str, float] | None = None,
        integrator: str = "auto",
        method: str = "auto",
        tolerance: float | None = None,
        start_time: float | None = None,
    ):
        self.system = system
        self._step = positive(step)
        self.options = options_of(system, self._step, integrator, method, tolerance, start_time)
        self.unit = unit = make_unit(system, self.options.integrator, self.options.method)
        self._run = Run(unit)
        self._places = Places(unit)
        self._written = Written(self._places)
        self._starts = start_places(unit)
        self._tunable = self._written.tunable
        self._cells: Any = memoryview(self._run.work.data)
        self._call = quick(
            "unit_advance", unit.ints, unit.floats, self._run.work, U.STOP_BEFORE_FULL
        )
        self._inputs = dict(inputs or {})
        self.events_so_far: list[Event] = []
        self.reset()

    # -- going on -------------------------------------------------------------------------------------------------------------------------
    def advance(self, steps: int = 1) -> None:
        """Advance by one step, or by several as one, with constant inputs."""
        self._count = count = self._count + steps
        status = self._call(self._origin + count * self._step)
        self._stale = False
        if status:
            self._go_on(status, self._origin + count * self._step)

    def advance_to(self, time: float) -> None:
        """Advance to a time; later steps count from there."""
        if time < self.time:
            raise ValueError(f"time {time:g} lies before the present one, {self.time:g}")
        status = self._call(float(time))
        self._stale, self._origin, self._count = False, float(time), 0
        if status:
            self._go_on(status, float(time))

    def _go_on(self, status: int, until: float) -> None:
        """Continue after the event log was full; any other status raises an error with its reason."""
        run = self._run
        while status == Status.EVENT:
            self._collect()
            status = self._call(until)
        if status:
            self._origin, self._count = self.time, 0
            raise_on_failure(run, status)

    def reset(
        self, start: Mapping[str, float] | None = None, inputs: Mapping[str, float] | None = None
    ) -> None:
        """Reset to the start, optionally with other start values and inputs; parameters are reset."""
        run = self._run
        raise_on_failure(run, run.call("unit_reset"))
        write_integrator_options(run, self.options, True)
        for name, value in (start or {}).items():
            self._cells[start_place(self._starts, name)] = finite(name, value)
        given = {**self._inputs, **(inputs or {})}
        for name, value in given.items():
            self._written[name]  # refuses what is no input
            finite(name, value)
        self._origin, self._count = self.options.start_time, 0
        self.events_so_far.clear()
        self._stale = False
        raise_on_failure(run, run.begin(self._origin, given))

    # -- reading and writing --------------------------------------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> float:
        if self._stale:
            self._refresh()
        return self._cells[self._places[name]]

    def __setitem__(self, name: str, value: float) -> None:
        if name in self._tunable:
            self.tune(**{name: value})
        else:
            self._cells[self._written[name]] = value
            self._stale = True

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def read(self, names: Sequence[str]) -> np.ndarray:
        """Return the current values of several names as an array."""
        if self._stale:
            self._refresh()
        return self._run.work[self._places.many(names)]

    def tune(self, **values: float) -> None:
        """Change tunable parameters; the state is kept."""
        for name, value in values.items():
            if name not in self._written.tunable:
                self._written[name] if name not in self.inputs else None
                raise KeyError(f"'{name}' is an input: stepper['{name}'] = ... sets it")
            self._cells[self._written.tunable[name]] = finite(name, value)
        raise_on_failure(self._run, self._run.call("unit_prepare", 0, self.time))
        self._stale = False

    def _refresh(self) -> None:
        """Recompute the outputs for inputs set since the last step."""
        self._stale = False
        raise_on_failure(self._run, self._run.call("unit_refresh", 0, self.time))

    @property
    def time(self) -> float:
        """Return the current time [s]."""
        return self._cells[TIME]

    @property
    def step(self) -> float:
        """Return the step length [s]; it may be changed between steps."""
        return self._step

    @step.setter
    def step(self, value: float) -> None:
        self._origin, self._count, self._step = self.time, 0, positive(value)
        self._run.head.step = self._step

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of coordinates, speeds, first-order states and outputs, in the order of
        `values`.
        """
        return self._places.columns

    @property
    def values(self) -> np.ndarray:
        """Return the current values of all names in `names`."""
        if self._stale:
            self._refresh()
        return self._run.columns.copy()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of the inputs."""
        return self._places.inputs

    @property
    def tunable(self) -> tuple[str, ...]:
        """Return the names of parameters that may be changed during the simulation."""
        return self._places.tunable

    # -- stages and events ----------------------------------------------------------------------------------------------------------------
    @property
    def stage(self) -> int:
        """Return the index of the current stage, from 0."""
        return int(self._run.head.stage)

    @property
    def stage_name(self) -> str:
        """Return the name of the current stage."""
        return self.unit.stage_names[self.stage]

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the events since the start: time, name, cause and changed values."""
        self._collect()
        return tuple(self.events_so_far)

    def _collect(self) -> None:
        """Append the events that were logged since the last call."""
        collect_events(self._run, self.events_so_far)

    # -- the whole state ------------------------------------------------------------------------------------------------------------------
    def save(self) -> Saved:
        """Return the complete state: coordinates, speeds, stage, contacts, integrator, inputs and
        parameters.
        """
        self._collect()
        if self._stale:
            self._refresh()
        return Saved(self.unit, self._run.work.copy(), tuple(self.events_so_far))

    def restore(self, saved: Saved) -> None:
        """Return to a saved state; the continuation is identical to the last bit."""
        if saved.unit is not self.unit and not alike(saved.unit, self.unit):
            raise ValueError(
                f"{saved!r} is not a state of this stepper: it belongs to another mechanism, "
                "integrator or number of a parameter"
            )
        self._run.work[:] = saved.work
        self.events_so_far[:] = saved.events
        self._origin, self._count, self._stale = self.time, 0, False

    def __repr__(self) -> str:
        stage = f", stage '{self.stage_name}'" if len(self.unit.stages) > 1 else ""
        return f"Stepper({self.system.name!r}, t = {self.time:g}, step = {self._step:g}{stage})"


def options_of(
    system: System,
    step: float,
    integrator: str,
    method: str,
    tolerance: float | None,
    start_time: float | None,
) -> Options:
    """Return the options of a simulation without an end time."""
    begin = system.compiled.start_time if start_time is None else start_time
    return Options.of(
        system, begin + step, begin, step, integrator, method, tolerance, step, None, None
    )


def positive(step: float) -> float:
    if not 0.0 < step < float("inf"):
        raise ValueError(f"step is {step:g}, expected a positive number of seconds")
    return float(step)


def finite(name: str, value: Any) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"'{name}' is {number}, expected a finite number")
    return number


def alike(a: Unit, b: Unit) -> bool:
    """Return whether two units have identical blocks, so that saved states can be exchanged."""
    return np.array_equal(a.ints, b.ints) and np.array_equal(a.floats, b.floats, equal_nan=True)
