"""The recorded trajectory of a run, in pieces without events, and the memory at events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.description.names import RUN_START
from kinetree.models.engine.flat_blocks import AT_WORK, fields_of
from kinetree.models.gradients.counted_states import counted_states
from kinetree.models.run.input_functions import Sampled, input_pieces
from kinetree.models.run.simulation import (
    Options,
    raise_on_failure,
    write_input_polynomial,
    write_integrator_options,
)
from kinetree.models.run.simulation_unit import Run, Unit
from kinetree.models.specialised.specialised_rates import of_stage
from kinetree.models.system.system import System
from kinetree.models.trace.mechanism_traces import held_registers
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U

if TYPE_CHECKING:
    from kinetree.models.result.result import Result


@dataclass
class LocatedEvent:
    """An event or stage change that has been located but not yet executed."""

    time: float
    work: np.ndarray  # of the whole unit
    option: int
    until: float


@dataclass
class Piece:
    """The solution in one structure from an instant to the next event or target."""

    stage: int
    time: float
    state: np.ndarray
    given: np.ndarray
    fresh: bool  # the grid of steps begins here
    moves: bool  # at the instant of an event
    targets: list[float] = field(default_factory=list)
    curves: np.ndarray | None = (
        None  # inputs as polynomials of the time since the beginning of the piece
    )
    happening: LocatedEvent | None = None
    after: np.ndarray | None = None  # state at the end, as the engine had it


class GradientStages:
    """Parameters and held values of all structures that a gradient uses."""

    def __init__(self, unit: Unit, parameters: Sequence[str]):
        self.unit, self.parameters = unit, tuple(parameters)

    @cached_property
    def systems(self) -> list[System]:
        return [
            of_stage(self.unit, stage, compiled)
            for stage, compiled in zip(self.unit.stages, self.unit.compiled, strict=True)
        ]

    @cached_property
    def registers(self) -> list[np.ndarray]:
        """Return the registers of inputs, followed parameters and held values of every structure."""
        found = []
        for system in self.systems:
            c = system.compiled
            own = [c.registers[name] for name in (*c.inputs, *self.parameters)]
            found.append(np.array([*own, *held_registers(system)], dtype=np.int64))
        return found

    @cached_property
    def untouched(self) -> list[frozenset[int]]:
        """Return, per structure, the entries of (state, given) that do not depend on followed
        parameters: inputs, the start of the run, and counting states.
        """
        counted = counted_states(self.unit.description, self.parameters)
        found = []
        for system, registers in zip(self.systems, self.registers, strict=True):
            c = system.compiled
            n = len(c.coordinates) + len(c.speeds) + len(c.states)
            first = n - len(c.states)
            starts = np.flatnonzero(registers == c.registers[RUN_START]) + n
            states = (first + k for k, name in enumerate(c.states) if name in counted)
            found.append(frozenset((*range(n, n + len(c.inputs)), *starts.tolist(), *states)))
        return found

    def workspace(self, work: np.ndarray):
        """Return the fields of the current structure in the work block of a unit."""
        stage = int(U.UNIT_HEAD.of(work).stage)
        return stage, fields_of(
            work[int(self.unit.header.at_workspace) :],
            self.unit.compiled[stage].ints,
            L.WORK,
            AT_WORK,
        )

    def numbers(self, work: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """Return stage, state, and given values."""
        stage, ws = self.workspace(work)
        return stage, np.concatenate([ws.q, ws.u, ws.x]), ws.val[self.registers[stage]]


def unit_and_options(result: Result) -> tuple[Unit, Options]:
    """Return the unit and the options of a run."""
    if result.replay is None or result.options is None:
        raise ValueError("the result was read from a file")
    return result.replay.unit, result.options


def started_run(
    result: Result, parameters: dict[str, float] | None = None, unit: Unit | None = None
) -> Run:
    """Return a new instance at the start of the run, optionally with other parameters or another
    unit.
    """
    own, options = unit_and_options(result)
    run = Run(unit or own)
    write_integrator_options(run, options, any(callable(value) for value in result.inputs.values()))
    for name, value in (parameters or {}).items():
        run.work[run.unit.register(name)] = value
    given = {
        name: float(value if isinstance(value, float | int) else value(options.start_time))
        for name, value in result.inputs.items()
    }
    raise_on_failure(run, run.begin(options.start_time, given))
    return run


class Recorder:
    """Records a run piece by piece between events."""

    def __init__(self, result: Result, stages: GradientStages):
        self.run, self.result, self.stages = started_run(result, None, stages.unit), result, stages
        self.pieces: list[Piece] = []
        self.moving = {
            name: Sampled(name, value, unit_and_options(result)[1].relative)
            for name, value in result.inputs.items()
            if callable(value)
        }
        self.changed: set[str] = set()  # parameters that events have set
        self.begin(True, False)

    def begin(self, fresh: bool, moves: bool) -> None:
        """Start a new piece at the current state."""
        stage, state, given = self.stages.numbers(self.run.work)
        self.pieces.append(
            Piece(stage, float(self.run.head.time), state, given.copy(), fresh, moves)
        )

    def whole(self) -> list[Piece]:
        """Repeat the run up to its last row and return the recorded pieces."""
        times = self.result.time
        for begin, end in zip(times[:-1], times[1:], strict=True):
            if not self.moving:
                self.go(0, float(end), None)
                continue
            option = 0
            for until, polynomials in input_pieces(self.moving, float(begin), float(end)):
                for name, coefficients in polynomials.items():
                    write_input_polynomial(self.run, name, coefficients)
                self.go(option, until, polynomials)
                option = U.CONTINUED
        return self.pieces

    def go(self, option: int, until: float, polynomials: dict[str, np.ndarray] | None) -> None:
        """Advance the run up to a time, stopping at events."""
        option |= U.STOP_AROUND_EVENT
        if polynomials is not None and self.pieces[-1].targets:
            self.begin(False, False)
        start = float(self.run.head.time)
        while True:
            piece = self.pieces[-1]
            piece.targets.append(until)
            if polynomials is not None:
                piece.curves = self.curves(polynomials, piece.time - start)
            before = self.parameters()
            status = self.run.call("unit_advance", option, until)
            piece.after = self.stages.numbers(self.run.work)[1]
            if status != L.Status.EVENT:
                return raise_on_failure(self.run, status)
            if self.run.head.pending != U.PENDING_EVENT:
                raise ValueError("a piece of the run begins in the middle of an event")
            piece.happening = LocatedEvent(
                float(self.run.head.time), self.run.work.copy(), option, until
            )
            status = self.run.call("unit_advance", option, until)
            if status != L.Status.EVENT:
                raise_on_failure(self.run, status)
            self.changed |= {
                name
                for name, a, b in zip(self.names, before, self.parameters(), strict=True)
                if a != b
            }
            self.begin(True, True)

    @property
    def names(self) -> tuple[str, ...]:
        return self.stages.unit.compiled[0].parameters

    def parameters(self) -> np.ndarray:
        """Return the current values of all parameters."""
        stage, ws = self.stages.workspace(self.run.work)
        registers = self.stages.unit.compiled[stage].registers
        return ws.val[[registers[name] for name in self.names]]

    def curves(self, polynomials: dict[str, np.ndarray], since: float) -> np.ndarray:
        """Return the six polynomial coefficients of every input about the instant `since` after the
        origin of the polynomials.
        """
        c = self.stages.unit.compiled[0]
        found = np.zeros((len(c.inputs), 6))
        found[:, 0] = self.pieces[-1].given[: len(c.inputs)]
        for name, coefficients in polynomials.items():
            shifted = np.polynomial.Polynomial(coefficients)(
                np.polynomial.Polynomial([since, 1.0])
            ).coef
            found[c.inputs.index(name)] = np.pad(shifted, (0, 6 - shifted.size))
        return found
