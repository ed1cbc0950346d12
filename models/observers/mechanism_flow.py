"""State transition of a mechanism over one step as a function of its whole state, which filters
evaluate at many neighbouring states.

A state is the memory of the engine (coordinates, speeds, first-order states, stage, contacts)
together with values of estimated quantities: parameters, unknown inputs, sensor biases. A deviation
is a vector with one entry per free variable: local coordinates y of the positions (rotation vectors
for quaternions, independent coordinates for closed loops), independent speeds v, first-order states
x except the memory of sampled controllers, then the estimated quantities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.description.schema import Description
from kinetree.models.engine.instance import Instance
from kinetree.models.run.simulation import Options, raise_on_failure, write_integrator_options
from kinetree.models.run.simulation_unit import Run, Unit, make_unit
from kinetree.models.system.local_coordinates import Chart
from kinetree.models.system.system import System
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS, WORK_AT
from kinetree.solvers.integrate.kinds import FIXED

DIFFERENCE = 1e-6  # step of differences, relative to the size of a quantity
SHARE_OF_DEVIATION = 1e-2  # step of differences, relative to the standard deviation


@dataclass(frozen=True)
class Quantity:
    """An estimated quantity besides the state: a parameter, an unknown input, or a sensor bias."""

    name: str
    kind: str  # parameter, input, bias
    least: float = -np.inf
    most: float = np.inf


@dataclass
class FlowState:
    """A whole state: memory of the engine, and values of the estimated quantities."""

    work: np.ndarray
    values: np.ndarray
    stage: int
    time: float
    _chart: Chart | None = field(default=None, repr=False)


class StageLayout:
    """Memory indices of coordinates, speeds and states of one stage."""

    def __init__(self, unit: Unit, stage: int):
        self.compiled = compiled = unit.compiled[stage]
        record = U.STAGE.of(unit.ints[U.UNIT.size + U.STAGE.size * stage :])
        self.workspace = int(unit.header.at_workspace)

        def place(name: str, size: int) -> slice:
            at = self.workspace + int(unit.ints[int(record.ints) + WORK_AT[name]])
            return slice(at, at + size)

        self.q = place("q", len(compiled.coordinates))
        self.u = place("u", len(compiled.speeds))
        self.x = place("x", len(compiled.states))
        held = held_states(unit.description)
        self.moving = np.flatnonzero([name not in held for name in compiled.states])
        self.states = tuple(compiled.states[k] for k in self.moving)
        self.registers = slice(
            self.workspace + REGISTERS,
            self.workspace + REGISTERS + int(unit.floats.size and compiled.counts["nr"]),
        )
        self.instance = Instance(compiled) if compiled.loops else None
        self.system: Any = SimpleNamespace(
            compiled=compiled,
            coordinates=compiled.coordinates,
            speeds=compiled.speeds,
            n=len(compiled.speeds),
        )
        self.chart: Chart | None = None


def held_states(description: Description) -> set[str]:
    """Return the states that change only at samples of controllers and observers: their memory,
    sample counts, noise seeds.
    """
    sampled = {key for key, each in description.written.controllers.items() if each.period is not None}  # fmt: skip
    sampled |= description.written.observers.keys()
    return {name for (section, name), owner in description._made.items() if section == "states" and owner in sampled}  # fmt: skip


class MechanismFlow:
    """Computes state transitions and deviations of states for one mechanism."""

    def __init__(
        self,
        system: System,
        step: float,
        quantities: Sequence[Quantity] = (),
        integrator: str | None = None,
        tolerance: float | None = None,
    ):
        self.system, self.quantities = system, tuple(quantities)
        given = system.description.run.integrator
        integrator = integrator or (given if given in FIXED or given == "radau" else "rk4")
        self.options = Options.of(
            system, None, None, None, integrator, "auto", tolerance, step, None
        )
        self.unit = make_unit(system, self.options.integrator)
        self.run = Run(self.unit)
        raise_on_failure(self.run, self.run.call("unit_reset"))
        write_integrator_options(self.run, self.options, True)
        self.stages = [StageLayout(self.unit, k) for k in range(len(self.unit.compiled))]
        first = int(self.unit.header.at_columns)
        self.columns = {column.name: first + k for k, column in enumerate(self.unit.columns)}
        self.inputs = {name: self.unit.register(name) for name in self.unit.compiled[0].inputs}
        self._placed = [
            (k, self.unit.register(each.name))
            for k, each in enumerate(self.quantities)
            if each.kind != "bias"
        ]
        self._parameters = any(each.kind == "parameter" for each in self.quantities)
        self._least = np.array([each.least for each in self.quantities])
        self._most = np.array([each.most for each in self.quantities])

    # -- states ------------------------------------------------------------------------------------
    def start(
        self,
        time: float,
        start: Mapping[str, float] | None = None,
        inputs: Mapping[str, float] | None = None,
        values: np.ndarray | None = None,
    ) -> FlowState:
        """Return the initial state, optionally with other start values and inputs."""
        run, first = self.run, self.unit.compiled[0]
        raise_on_failure(run, run.call("unit_reset"))
        write_integrator_options(run, self.options, True)
        for name, value in (start or {}).items():
            key = f"given({name})"
            run.work[self.unit.register(key if key in first.registers else f"start({name})")] = (
                value
            )
        values = np.zeros(len(self.quantities)) if values is None else values
        self._write(values, prepare=False)
        raise_on_failure(run, run.begin(time, inputs or {}))
        self._write(values)
        raise_on_failure(run, run.call("unit_refresh", 0, time))
        return self._kept(values)

    def advance(
        self, state: FlowState, until: float, deviation: np.ndarray | None = None
    ) -> FlowState:
        """Return the state reached at an instant from a deviated state, with held inputs."""
        values = self._load(state, deviation)
        self.run.head.started = 0.0
        raise_on_failure(self.run, self.run.call("unit_advance", 0, until))
        return self._kept(values)

    def with_inputs(self, state: FlowState, inputs: Mapping[str, float]) -> FlowState:
        """Return the state with other inputs."""
        work = state.work.copy()
        for name, value in inputs.items():
            work[self.inputs[name]] = value
        return FlowState(work, state.values, state.stage, state.time, state._chart)

    def moved(self, state: FlowState, deviation: np.ndarray) -> FlowState:
        """Return the state changed by a deviation."""
        values = self._load(state, deviation)
        raise_on_failure(self.run, self.run.call("unit_refresh", 0, state.time))
        return self._kept(values)

    def read(
        self, state: FlowState, names: Sequence[str], deviation: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the values of columns at a deviated state."""
        self._load(state, deviation)
        raise_on_failure(self.run, self.run.call("unit_refresh", 0, state.time))
        return self.run.work[[self.columns[name] for name in names]]

    def difference(self, origin: FlowState, other: FlowState) -> np.ndarray:
        """Return the deviation that leads from one state to another of the same stage."""
        if other.stage != origin.stage:
            raise ValueError("states of different stages have no difference")
        layout, chart = self.stages[origin.stage], self.chart(origin)
        a, b = origin.work, other.work
        return np.concatenate(
            (
                chart.local(b[layout.q])[chart.independent],
                (b[layout.u] - a[layout.u])[chart.independent],
                (b[layout.x] - a[layout.x])[layout.moving],
                other.values - origin.values,
            )
        )

    # -- deviations --------------------------------------------------------------------------------
    def names(self, state: FlowState) -> tuple[str, ...]:
        """Return the names of the entries of a deviation."""
        layout, chart = self.stages[state.stage], self.chart(state)
        places, speeds = chart.names, layout.compiled.speeds
        return (
            *(places[k] for k in chart.independent),
            *(speeds[k] for k in chart.independent),
            *layout.states,
            *(each.name for each in self.quantities),
        )

    def degrees(self, state: FlowState) -> int:
        """Return the number of independent speeds at a state."""
        return self.chart(state).independent.size

    def size(self, state: FlowState) -> int:
        """Return the length of a deviation."""
        states = len(self.stages[state.stage].states)
        return 2 * self.degrees(state) + states + len(self.quantities)

    def chart(self, state: FlowState) -> Chart:
        """Return local coordinates about a state, with unchanged independent speeds if possible."""
        if state._chart is None:
            layout = self.stages[state.stage]
            q = state.work[layout.q].copy()
            if layout.chart is None:
                layout.chart = Chart(layout.system, state.time, q, self._projection(state))
            else:
                layout.chart = layout.chart.about(q, state.time, self._projection(state))
            state._chart = layout.chart
        return state._chart

    def difference_steps(self, state: FlowState, deviations: np.ndarray) -> np.ndarray:
        """Return difference steps suited to the sizes and standard deviations of a deviation's
        entries.
        """
        layout, n = self.stages[state.stage], self.degrees(state)
        sizes = np.concatenate(
            (
                np.ones(2 * n),
                np.maximum(1e-3, np.abs(state.work[layout.x][layout.moving])),
                np.maximum(np.abs(state.values), deviations[deviations.size - state.values.size :]),
            )
        )
        sizes = np.where(sizes > 0.0, sizes, 1.0)
        return np.clip(
            SHARE_OF_DEVIATION * deviations, DIFFERENCE * sizes, 100.0 * DIFFERENCE * sizes
        )

    def _projection(self, state: FlowState) -> Any:
        """Return the function that projects onto closed loops for the parameters and inputs of a
        state.
        """
        layout = self.stages[state.stage]
        instance = layout.instance
        if instance is None:
            return lambda q, u: (q, u)
        work, time = state.work, state.time

        def project(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            ws = instance.ws
            ws.val[:] = work[layout.registers]
            ws.q[:], ws.u[:], ws.x[:] = q, u, work[layout.x]
            instance.call("project", 0, time)
            return ws.q.copy(), ws.u.copy()

        return project

    def _load(self, state: FlowState, deviation: np.ndarray | None) -> np.ndarray:
        """Write a deviated state to the run and return its estimated quantities."""
        work = self.run.work
        work[:] = state.work
        if deviation is None:
            self._write(state.values)
            return state.values
        layout, chart = self.stages[state.stage], self.chart(state)
        n, nx = chart.independent.size, layout.moving.size
        q = chart.moved(chart.q, chart.T @ deviation[:n])
        u = work[layout.u] + chart.T @ deviation[n : 2 * n]
        if layout.instance is not None:
            q, u = chart.project(q, u)
        work[layout.q], work[layout.u] = q, u
        work[layout.x.start + layout.moving] += deviation[2 * n : 2 * n + nx]
        values = np.clip(state.values + deviation[2 * n + nx :], self._least, self._most)
        self._write(values)
        return values

    def _write(self, values: np.ndarray, prepare: bool = True) -> None:
        """Write parameters and unknown inputs to the run; `prepare` recomputes derived constants."""
        for k, place in self._placed:
            self.run.work[place] = values[k]
        if self._parameters and prepare:
            raise_on_failure(self.run, self.run.call("unit_prepare", 0, float(self.run.head.time)))

    def _kept(self, values: np.ndarray) -> FlowState:
        """Return the current state of the run with given values of the estimated quantities."""
        head = self.run.head
        return FlowState(self.run.work.copy(), values.copy(), int(head.stage), float(head.time))
