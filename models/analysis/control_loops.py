"""Control loops about an equilibrium: each opened at its command, with its stability margins.

A continuous controller is linearised with the mechanism. A sampled one is analysed from sample to
sample, together with all sampled controllers whose samples fall on its own: unlimited laws,
differentiated about the equilibrium (exact, since they are linear within their limits), and the
plant under held commands with their delays and largest jitters
(models/analysis/sampled_controllers.py). Other sampled controllers stand as continuous laws: the
loop says so, and its stability is that of all controllers together over their common period.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.models.analysis.frequency_response import Margins, StateSpace, margins
from kinetree.models.analysis.sampled_controllers import SampledLaw, Steps, stable_together
from kinetree.models.analysis.sampled_loops import SampledLoop
from kinetree.models.controllers.expansion import (
    PERIOD_TOLERANCE,
    actuators_of,
    commands_of,
    in_order,
    values_of,
)
from kinetree.models.controllers.laws import Law, law_of
from kinetree.models.controllers.observers import sensors_of
from kinetree.models.description.names import expressions
from kinetree.models.description.schema import Description
from kinetree.models.expressions.parse import evaluate_constant, names, parse
from kinetree.models.language.parts.controller_parts import Controlled

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.operating_point import RunInstant
    from kinetree.models.system.system import System

LAW_STEP = 1e-3  # of the differences of a law, relative
DRIFT = 1e-9  # part of the fastest pole up to which a pole does not swing
BEGUN = 1e-6  # part of the time (of 1 s before it) after which a stage counts as begun


@dataclass(frozen=True)
class ControlLoop:
    """One control loop L, opened at its command; it is closed by u = -L u."""

    name: str
    period: float  # s, 0: continuous
    delay: float  # s, with the largest jitter
    loop: StateSpace
    margins: Margins
    limited: bool  # its command rests at one of its limits
    said: str = ""  # what is not exact
    known: bool = True  # whether its stability is; if not, it is not called stable


def control_loops(
    system: System, inputs: Mapping[str, float] | None = None, delay: float = 0.0
) -> list[ControlLoop]:
    """Return the loops of all single-command controllers whose measurement depends on the command,
    with a further dead time [s].
    """
    from kinetree.models.system.controller_variants import resting

    written = system.description.written
    if not written.controllers:
        return []
    present = resting(system)
    about = AboutRest(system, present.equilibrium(inputs=inputs), dict(inputs or {}), delay)
    unread = sensors_of_observers(written)
    found = []
    for name, controller in written.controllers.items():
        if commands_of(name, controller) != [name] or name in unread:
            continue
        number = about.numbers(name)
        loop, said = about.sampled_loop(name) if number.period else about.continuous_loop(name)
        if not (np.any(loop.C) and np.any(loop.B)):
            continue
        late = number.delay + delay
        each = margins(loop, delay=0.0 if number.period else delay)
        whole = about.together(name) if said else each.stable
        each = replace(each, stable=whole is True)
        found.append(
            ControlLoop(
                name,
                number.period,
                late,
                loop,
                each,
                about.stuck(name, name),
                said,
                whole is not None,
            )
        )
    return found


class Sampling(NamedTuple):
    """How a controller samples."""

    period: float  # s, 0: continuous
    delay: float  # s, with the largest jitter


class AboutRest:
    """A mechanism at rest, whose controllers are taken one by one or together."""

    def __init__(
        self, system: System, rest: Equilibrium, inputs: dict[str, float], delay: float
    ) -> None:
        self.system, self.rest, self.inputs, self.delay = system, rest, inputs, delay
        self.controllers = system.description.written.controllers
        self.values = values_of(system.description.written)
        self.periods = {
            name: self.numbers(name).period
            for name, _ in in_order(system.description.written)
            if name in self.controllers and self.numbers(name).period
        }
        self.opened: dict[frozenset[str], tuple[StateSpace, list[SampledLaw]]] = {}

    def numbers(self, name: str) -> Sampling:
        """Return period and delay of a controller [s]."""
        period, delay, jitter = (
            evaluate_or_default(getattr(self.controllers[name], key), self.values)
            for key in ("period", "delay", "jitter")
        )
        return Sampling(period, delay + jitter)

    def stuck(self, name: str, command: str) -> bool:
        """Return whether a command rests at one of the limits of its controller."""
        low, high = (
            evaluate_or_default(getattr(self.controllers[name], key), self.values, bound)
            for key, bound in (("low", -np.inf), ("high", np.inf))
        )
        return not low < self.rest.outputs[command] < high

    def law(self, name: str) -> Law:
        """Return the law of a controller, with the limits at which its commands rest.

        Between its limits a law is linear; differences of one that is clipped would reach the
        limits where gains are large.
        """
        controller = self.controllers[name]
        limits = [
            command_limits(controller) if self.stuck(name, command) else without_limits
            for command in commands_of(name, controller)
        ]
        return law_of(name, controller, limits, "0")

    def linear(self, names: Collection[str], wanted: Sequence[str]) -> StateSpace:
        """Return the mechanism from the commands of opened controllers to what is wanted."""
        from kinetree.models.analysis.linearization import linearize
        from kinetree.models.system.controller_variants import opened

        broken, rest = opened(self.system, names), self.rest
        known = broken.compiled
        states = {state: rest.states[state] for state in rest.states if state in known.states}
        commands = [
            command for name in names for command in commands_of(name, self.controllers[name])
        ]
        given = {key: value for key, value in self.inputs.items() if key in known.inputs}
        given |= {command: rest.outputs[command] for command in commands}
        linear = linearize(broken, rest.t, rest.q, None, given, wanted, states)
        return linear.part(commands, wanted).moving()

    def between(self, names: Sequence[str]) -> tuple[StateSpace, list[SampledLaw]]:
        """Return the plant between sampled controllers, which are all opened, and their laws."""
        key = frozenset(names)
        if key not in self.opened:
            laws = {name: self.law(name) for name in names}
            wanted = [
                f"{name}.{entry}"
                for name, law in laws.items()
                for entry in (*law.samples, *law.given)
            ]
            plant = self.linear(names, wanted).leading_to_outputs()
            found, command, read = [], 0, 0
            for name, law in laws.items():
                own = commands_of(name, self.controllers[name])
                count = len(law.samples) + len(law.given)
                number = self.numbers(name)
                found.append(
                    SampledLaw(
                        name,
                        number.period,
                        number.delay,
                        range(command, command + len(own)),
                        range(read, read + count),
                        law_of_samples(
                            name, law, self.known(name), number.period, (*law.samples, *law.given)
                        ),
                    )
                )
                command, read = command + len(own), read + count
            self.opened[key] = plant, found
        return self.opened[key]

    def known(self, name: str) -> dict[str, float]:
        """Return the numbers that a law of a controller takes, at rest."""
        every = self.rest.outputs | self.rest.states
        own = {key: value for key, value in every.items() if key.startswith(f"{name}.")}
        return self.values | own

    def sampled_loop(self, name: str) -> tuple[StateSpace, str]:
        """Return the loop of a sampled controller, opened at its command, and what is not exact."""
        period = self.periods[name]
        within = [
            other
            for other, its in self.periods.items()
            if abs(round(period / its) * its - period) <= PERIOD_TOLERANCE * period
        ]
        plant, laws = self.between(within)
        loop = Steps(plant, self.delayed(laws, name)).whole(period, name)
        return negated_loop(loop), self.not_exact(name, set(self.periods) - set(within))

    def delayed(self, laws: Sequence[SampledLaw], name: str) -> list[SampledLaw]:
        """Return laws of which one has the further dead time."""
        return [
            replace(law, delay=law.delay + self.delay) if law.name == name else law for law in laws
        ]

    def continuous_loop(self, name: str) -> tuple[StateSpace, str]:
        """Return the loop of a continuous controller, opened at its command, and what is not exact."""
        loop = negated_loop(self.linear([name], [f"{name}.wants"]).leading_to_outputs())
        return loop, self.not_exact(name, self.periods)

    def not_exact(self, name: str, names: Collection[str]) -> str:
        """Return which sampled controllers a loop has as continuous ones, as a text."""
        if not names:
            return ""
        listed = ", ".join(f"'{name}' ({self.periods[name]:g} s)" for name in sorted(names))
        said = f"margins approximate: {listed} stand as continuous laws in this loop"
        exact = "stability exact from sample to sample of all"
        if self.together(name) is not None:
            return f"{said}; {exact}"
        if name not in self.periods and self.delay:
            return f"{said}; stability with a dead time is not known"
        return f"{said}; stability is not known, as the periods have no common multiple"

    def together(self, name: str) -> bool | None:
        """Return whether the mechanism with all controllers is stable, one of them with the further
        dead time; None where the periods have no common multiple or that controller is continuous.
        """
        if self.delay and name not in self.periods:
            return None
        plant, laws = self.between(list(self.periods))
        return stable_together(plant, self.delayed(laws, name))


@dataclass(frozen=True)
class StageLoops:
    """The control loops at the beginning of one stage of a run."""

    stage: str
    time: float  # s
    loops: list[ControlLoop]


def sensors_of_observers(written: Description) -> set[str]:
    """Return the controllers that only observers read and no actuator uses: they close no loop,
    since margins are computed with the estimated quantities.
    """
    read: set[str] = set()
    for path, text in expressions(written):
        if path[0] != "observers" and isinstance(text, str):
            read |= {name.partition(".")[0] for name in names(parse(text))}
    return {
        name
        for name in sensors_of(written.observers, written.controllers)
        if not any(actuators_of(written.controllers[name])) and name not in read
    }


def stage_loops(
    system: System, inputs: Mapping[str, float] | None = None, delay: float = 0.0
) -> list[StageLoops]:
    """Return the loops of continuous single-command controllers at the beginning of every stage.

    Each loop is opened at the state that the run has there, the others are closed; sampled
    controllers are left out. The state is frozen: a non-oscillating drift counts as unstable only
    if it grows faster than 1/duration of the stage.
    """
    from kinetree.models.analysis.operating_point import instant_of

    run = system.simulate(inputs=inputs)
    times = [run.time[0], *(change.time for change in run.stage_changes)]
    found = []
    for time, end in zip(times, [*times[1:], run.time[-1]], strict=True):
        instant = instant_of(system, time + BEGUN * max(1.0, abs(time)), inputs)
        loops = [within_stage(each, end - time) for each in loops_at(system, instant, delay)]
        found.append(StageLoops(system.stages[instant.stage].name, float(time), loops))
    return found


def within_stage(each: ControlLoop, duration: float) -> ControlLoop:
    """Return a loop, marked as stable if everything that grows is a drift too slow to matter within
    its stage.
    """
    values = np.linalg.eigvals(each.loop.closed())
    growing = values[values.real > 0.0]
    drifts = np.abs(growing.imag) <= DRIFT * np.abs(values).max(initial=0.0)
    slow = drifts & (growing.real * duration < 1.0)
    soon = each.delay == 0.0 or each.delay < margins(each.loop).delay
    stable = each.margins.stable or (bool(slow.all()) and soon)
    return replace(each, margins=replace(each.margins, stable=stable))


def worst_loop(stages: list[StageLoops]) -> tuple[StageLoops, ControlLoop] | None:
    """Return the stage and the loop with the smallest modulus margin; unstable loops come first."""
    pairs = [(stage, loop) for stage in stages for loop in stage.loops]

    def rank(pair: tuple[StageLoops, ControlLoop]) -> tuple[bool, float]:
        return pair[1].margins.stable, pair[1].margins.modulus

    return min(pairs, key=rank, default=None)


def loops_at(system: System, instant: RunInstant, delay: float = 0.0) -> list[ControlLoop]:
    """Return the loops of continuous single-command controllers at an instant of a run."""
    from kinetree.models.analysis.linearization import linearize
    from kinetree.models.analysis.operating_point import controller_memory, system_at_instant
    from kinetree.models.system.controller_variants import opened

    written, found = system.description.written, []
    values = values_of(written)
    for name, controller in written.controllers.items():
        if commands_of(name, controller) != [name] or evaluate_or_default(
            controller.period, values
        ):
            continue
        here = system_at_instant(system, opened(system, name), instant)
        given = instant.inputs | {name: instant.columns[name]}
        time, q, u = instant.time, instant.q, instant.u
        states = controller_memory(here, time, q, u, instant.inputs, instant.states, {})
        wanted = [f"{name}.wants"]
        linear = linearize(here, time, q, u, given, wanted, states)
        loop = negated_loop(linear.part([name], wanted).moving().leading_to_outputs())
        low, high = (
            evaluate_or_default(getattr(controller, key), values, bound)
            for key, bound in (("low", -np.inf), ("high", np.inf))
        )
        if np.any(loop.C) and np.any(loop.B):
            limited = not low < given[name] < high
            late = margins(loop, delay=delay)
            found.append(ControlLoop(name, 0.0, delay, loop, late, limited))
    return found


def without_limits(text: str) -> str:
    """Return a command expression without its limits."""
    return text


def command_limits(controller: Controlled):
    """Return the command limits of a controller as an expression, without rate limits."""
    from kinetree.models.controllers.laws import brace

    def limited(text: str) -> str:
        text = text if controller.low is None else f"max({text}, {brace(controller.low)})"
        return text if controller.high is None else f"min({text}, {brace(controller.high)})"

    return limited


def evaluate_or_default(
    value: float | str | None, values: Mapping[str, float], nothing: float = 0.0
) -> float:
    return nothing if value is None else evaluate_constant(value, dict(values))


def negated_loop(loop: StateSpace) -> StateSpace:
    """Return the loop with opposite sign, so that it is closed by negative feedback."""
    if isinstance(loop, SampledLoop):
        return SampledLoop(loop.A, loop.B, -loop.C, -loop.D, loop.period)
    return StateSpace(loop.A, loop.B, -loop.C, -loop.D)


def law_of_samples(
    name: str,
    law: Law,
    known: Mapping[str, float],
    period: float,
    reads: Sequence[str] | None = None,
) -> SampledLoop:
    """Return the discrete state-space law of a sampled controller about equilibrium, from what it
    reads (by default what it measures).
    """
    entries = list(law.samples) if reads is None else reads
    memory, samples = ([f"{name}.{key}" for key in keys] for keys in (law.memory, entries))
    texts = [*law.memory.values(), *law.commands]

    def at(key: str, move: float) -> np.ndarray:
        return np.array(
            [evaluate_constant(text, {**known, key: known[key] + move}) for text in texts]
        )

    columns = []
    for key in (*memory, *samples):
        step = LAW_STEP * max(abs(known[key]), 1.0)
        columns.append((at(key, step) - at(key, -step)) / (2.0 * step))
    J, n = np.array(columns).T.reshape(len(texts), -1), len(memory)
    return SampledLoop(J[:n, :n], J[:n, n:], J[n:, :n], J[n:, n:], period)
