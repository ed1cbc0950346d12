"""Gradient of an output at the end of a run by parameters: the discrete adjoint of the steps,
events and stage changes of the run.

Over the steps λ_n = (∂Φ/∂y)ᵀ λ_(n+1); the derivatives by all parameters at once are ∂g/∂p + Σ
(∂Φ/∂p)ᵀ λ + (∂y_0/∂p)ᵀ λ_0. At an event, s(t_e, y, p) = 0 on the dense output H of a step and y⁺ =
R(y⁻, t_e, p): with T the derivative by t_e of all that follows and of R along H, λ⁻ = R_yᵀ λ⁺ - T
s_y / (s_y H' + s_t), and the grid of the following steps starts at t_e. The cost does not depend on
the number of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.checks.structural_parameters import COPIES, frozen
from kinetree.models.gradients.adjoint_code import AdjointCode, adjoint_code
from kinetree.models.gradients.event_derivatives import (
    DIFFERENCE_STEP,
    EventSlopes,
    event_differences,
    event_slopes,
)
from kinetree.models.gradients.initial_sensitivity import (
    changed_unit,
    dependent_parameters,
    equilibrium_slopes,
    unit_with_numbers,
)
from kinetree.models.gradients.step_blocks import SavedStart, StepBlocks
from kinetree.models.gradients.trajectory import (
    GradientStages,
    LocatedEvent,
    Piece,
    Recorder,
    started_run,
    unit_and_options,
)
from kinetree.models.trace.adjoint import sweep
from kinetree.models.trace.mechanism_traces import MOTION, WORLD, latched, record, results
from kinetree.models.trace.trace import Trace

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

REPEATED = 1e-6  # relative deviation of a repeated piece at its end
HELD = "the run depends on what actuators hold from one output to the next (stiffness, damping, means), which has no adjoint here"
METHODS = ("rk4", "semi-implicit")
ANY_NOISE = 1e9  # what starts are found to is no jump
REST = 1e-3  # relative step of differences between states of rest, which are found to some digits less than they are kept
NEGLIGIBLE_SLOPE = 1e-8  # part of the largest slope that differences through events, rounding over step, make of nothing
GRAZING = 1e-9  # rate of a condition, beside its slopes times the rates of the state, below which it touches without crossing


def gradient_refusal(result: Result) -> str:
    """Return why the gradient of a run cannot be computed; empty if it can."""
    unit, options = unit_and_options(result)
    if options.integrator not in METHODS:
        return f"the run was made by '{options.integrator}', adjoints are there for {' and '.join(METHODS)}: simulate(integrator='rk4', step=...)"
    if unit.header.blocks:
        return "a predictive controller plans anew at every sample, through which no adjoint is computed"
    if unit.method not in ("auto", "DEC"):
        return f"the run was made by the form '{unit.method}', adjoints are those of the default engine"
    if result.feedback:
        return "inputs followed from what was measured, through which no adjoint is computed"
    return "the run was interrupted" if result.interrupted else ""


def run_gradient(
    result: Result, output: str | Sequence[str], parameters: Sequence[str] | None
) -> np.ndarray:
    """Return ∂(outputs at the end)/∂parameters, one row per output."""
    problem = (
        gradient_refusal(result)
        if result.replay and result.options
        else "the result was read from a file"
    )
    if problem:
        raise ValueError(f"no gradient of '{output}': {problem}")
    unit = unit_and_options(result)[0]
    known, follow = unit.compiled[0].parameters, dependent_parameters(unit)
    chosen = list(known if parameters is None else parameters)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise KeyError(f"unknown parameters: {', '.join(unknown)}; there are {', '.join(known)}")
    deciding = frozen(unit.description)
    for name in chosen:
        if name in deciding and (parameters is not None or deciding[name] != COPIES):
            raise ValueError(
                f"'{name}' decides {deciding[name]}: runs with other numbers of it tell its slope; name the parameters that are wanted"
            )
    for name in () if parameters is None else chosen:
        if name in follow:
            raise ValueError(
                f"'{name}' follows from {', '.join(follow[name])}: ask for slopes by these"
            )
    try:
        way = recorded_run(
            result, tuple(name for name in dict.fromkeys(chosen) if name not in follow)
        )
        outputs = [output] if isinstance(output, str) else list(output)
        rows = way.gradients(outputs)
        found = np.zeros((len(outputs), len(chosen)))
        for k, name in enumerate(chosen):
            found[:, k] = 0.0 if name in follow else rows[:, way.chosen.index(name)]
    except ValueError as error:
        raise ValueError(f"no gradient of '{output}': {error}") from None
    return found[0] if isinstance(output, str) else found


def recorded_run(result: Result, chosen: tuple[str, ...]) -> RecordedRun:
    """Return the recorded run, which is cached with the result."""
    if result.way is None or result.way[0] != chosen:
        result.way = chosen, RecordedRun(result, chosen)
    return result.way[1]


@dataclass
class Slopes:
    """Derivatives of the result during the backward pass: by the state, by given values, by the
    start time of the current step grid.
    """

    state: np.ndarray
    given: np.ndarray
    shift: float = 0.0


class RecordedRun:
    """A recorded run with its forward and backward passes."""

    def __init__(self, result: Result, chosen: Sequence[str]):
        self.result = result
        self.chosen = list(dict.fromkeys(chosen))
        own, self.options = unit_and_options(result)
        self.unit = unit = unit_with_numbers(own, self.chosen)
        self.stages = GradientStages(unit, self.chosen)
        recorder = Recorder(result, self.stages)
        self.pieces = recorder.whole()
        more = [name for name in sorted(recorder.changed) if name not in self.chosen]
        if more:  # what events set is followed, too
            self.chosen += more
            self.stages = GradientStages(unit, self.chosen)
            self.pieces = Recorder(result, self.stages).whole()
        self.codes: dict[int, AdjointCode] = {}
        implicit = self.options.integrator != "rk4"
        for stage in {piece.stage for piece in self.pieces}:
            try:
                self.codes[stage] = adjoint_code(self.stages.systems[stage], self.chosen, implicit)
            except (ValueError, ArithmeticError) as error:
                raise ValueError(
                    f"{unit.stage_names[stage] + ': ' if len(unit.stages) > 1 else ''}{error}"
                ) from None
        self.jumps: dict[int, EventSlopes] = {}
        self.blocks = {stage: StepBlocks(code, self.options) for stage, code in self.codes.items()}

    def gradients(self, outputs: Sequence[str]) -> np.ndarray:
        """Return the derivatives of outputs by the followed parameters, one row per output."""
        kept, inputs = self.forwards(), len(self.unit.compiled[0].inputs)
        ends = [self.of_end(output) for output in outputs]
        rows = []
        for slopes in ends:
            for piece, blocks in zip(reversed(self.pieces), reversed(kept), strict=True):
                self.backwards(piece, blocks, slopes)
            direct = slopes.given[inputs : inputs + len(self.chosen)]
            rows.append(direct + self.start_slopes @ np.concatenate([slopes.state, slopes.given]))
        return np.array(rows)

    # -- forwards -------------------------------------------------------------------------------------------------------------------------
    def forwards(self) -> list[list[SavedStart]]:
        """Repeat the run piece by piece, compare it with the recorded one, and return the saved
        starts of blocks.
        """
        found = []
        for number, piece in enumerate(self.pieces):
            blocks = self.blocks[piece.stage]
            blocks.enter(
                piece,
                self.blocks[self.pieces[number - 1].stage] if number and not piece.fresh else None,
            )
            found.append(blocks.forwards())
            end = blocks.state_at(piece.happening.time) if piece.happening else blocks.end
            if piece.after is not None and np.abs(end - piece.after).max(
                initial=0.0
            ) > REPEATED * max(1.0, np.abs(piece.after).max(initial=0.0)):
                until = piece.happening.time if piece.happening else piece.targets[-1]
                if latched(self.stages.systems[piece.stage]):
                    raise ValueError(HELD)
                raise ValueError(
                    f"the run from t = {piece.time:.9g} to {until:.9g} cannot be repeated step by step; is it unstable?"
                )
        return found

    # -- backwards ------------------------------------------------------------------------------------------------------------------------
    def of_end(self, output: str) -> Slopes:
        """Return the derivatives of the output by the last state, and those directly by given
        values.
        """
        piece = self.pieces[-1]
        c, code = self.stages.systems[piece.stage].compiled, self.codes[piece.stage]
        names = (*c.coordinates, *c.speeds, *c.states)
        given = np.zeros(code.given)
        if output in names:
            return Slopes(np.eye(len(names))[names.index(output)], given)
        labels = [column.name for column in c.outputs]
        if output not in labels:
            raise KeyError(
                f"'{output}' is no coordinate, speed, state or output; there are {', '.join((*names, *labels))}"
            )
        system = self.stages.systems[piece.stage]
        recording = record(system, MOTION, self.chosen, "DEC", WORLD)
        nodes, _, _ = results(system, recording, "outputs", "DEC", WORLD)
        tape = recording.tape
        groups = (
            ("q", range(len(c.coordinates))),
            ("u", range(len(c.speeds))),
            ("x", range(len(c.states))),
            ("inputs", range(len(c.inputs))),
        )
        own = ("parameters", [c.parameters.index(name) for name in self.chosen])
        held = ("held", range(code.given - len(c.inputs) - len(self.chosen)))
        wanted = [
            tape.symbol(group, k, 0.0) for group, numbers in (*groups, own, held) for k in numbers
        ]
        slopes = sweep(tape, {nodes[labels.index(output)]: tape.constant(1.0)}, wanted)
        trace = Trace(
            system.name, "slopes", "", tape, [slopes[i] for i in wanted], [], (len(wanted),), "", {}
        )
        ends = np.cumsum([len(c.inputs), len(self.chosen)])
        inputs, parameters, rest = np.split(self.blocks[piece.stage].given_at_end(), ends)
        everything = np.zeros(len(c.parameters))
        everything[[c.parameters.index(name) for name in self.chosen]] = parameters
        q, u, x = np.split(
            self.blocks[piece.stage].end, np.cumsum([len(c.coordinates), len(c.speeds)])
        )
        found = trace.evaluate(
            self.result.time[-1], q, u, x, inputs, parameters=everything, held=rest
        )
        return Slopes(found[: len(names)], found[len(names) :])

    def backwards(self, piece: Piece, kept: list[SavedStart], slopes: Slopes) -> None:
        """Propagate adjoints backwards over one piece."""
        blocks = self.blocks[piece.stage]
        if piece.happening is not None:
            self.through(piece, piece.happening, kept, slopes)
        for number in range(len(kept) - 1, -1, -1):
            blocks.load(piece, kept[number])
            blocks.backwards(slopes, piece.happening if number == len(kept) - 1 else None)
        held = latched(self.stages.systems[piece.stage])
        if held and np.abs(slopes.given[-held:]).max() > NEGLIGIBLE_SLOPE * max(
            np.abs(slopes.state).max(initial=0.0), np.abs(slopes.given).max()
        ):
            raise ValueError(HELD)
        slopes.given[slopes.given.size - held :] = 0.0

    def through(
        self, piece: Piece, happening: LocatedEvent, kept: list[SavedStart], slopes: Slopes
    ) -> None:
        """Replace adjoints after an event by those before it."""
        found = self.jumps.get(id(happening))
        if found is None:
            found = self.jumps[id(happening)] = event_slopes(self.stages, happening)
        n = piece.state.size
        after = np.concatenate([slopes.state, slopes.given])
        before = found.states.T @ after
        by_instant = float(found.by_time @ after) + slopes.shift
        slopes.shift = 0.0
        blocks = self.blocks[piece.stage]
        if happening.time <= piece.time:  # it was due at the very beginning of the piece
            slopes.shift = by_instant if piece.moves else 0.0
        else:
            blocks.load(piece, kept[-1])
            rate = blocks.rate_at(happening.time)
            by_instant += float(before[:n] @ rate)
            speed = float(found.guard[:n] @ rate) + found.guard_by_time
            if by_instant != 0.0:
                if abs(speed) <= GRAZING * float(
                    np.abs(found.guard[:n]) @ np.abs(rate) + abs(found.guard_by_time)
                ):
                    raise ValueError(
                        f"{found.cause} only touches its bound at t = {happening.time:.9g}"
                    )
                before -= by_instant / speed * found.guard
        slopes.state, slopes.given = before[:n], before[n:]

    # -- beginning ------------------------------------------------------------------------------------------------------------------------
    @cached_property
    def start_slopes(self) -> np.ndarray:
        """Return ∂(state, given values)/∂parameters at the start, except for parameters among the
        given values; rows are parameters.
        """
        unit, rows = self.unit, []
        rest = bool(unit.description.run.prepare)
        first = self.pieces[0].state.size + len(unit.compiled[0].inputs)

        if rest:
            exact = equilibrium_slopes(
                self.codes[self.pieces[0].stage], unit, self.pieces[0], self.chosen
            )
            if exact is not None:
                return exact

        def begun(name: str, value: float) -> np.ndarray:
            run = started_run(
                self.result,
                *((None, changed_unit(unit, {name: value})) if rest else ({name: value}, unit)),
            )
            stages = GradientStages(run.unit, self.chosen) if rest else self.stages
            return np.concatenate(stages.numbers(run.work)[1:])

        for k, name in enumerate(self.chosen):
            value = float(self.pieces[0].given[len(unit.compiled[0].inputs) + k])
            row = event_differences(
                lambda shift, name=name, value=value: begun(name, value + shift),
                abs(value) or 1.0,
                REST if rest else DIFFERENCE_STEP,
                ANY_NOISE,
            )
            row[first : first + len(self.chosen)] = 0.0
            rows.append(row)
        return np.array(rows).reshape(len(self.chosen), -1)
