"""Control loops about an equilibrium: each opened at its command, with its stability margins.

A continuous controller is linearised with the mechanism. A sampled one is analysed in discrete
time: its unlimited law is differentiated about the equilibrium (exact, since it is linear within
its limits) and combined with the plant under a held command, the controller's delay and its largest
jitter. All other controllers stay closed; sampled ones then act as in equilibrium
(models/controllers/expansion.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.frequency_response import Margins, StateSpace, margins
from kinetree.models.analysis.sampled_loops import SampledLoop, held_plant
from kinetree.models.controllers.expansion import actuators_of, commands_of, values_of
from kinetree.models.controllers.laws import Law, law_of
from kinetree.models.controllers.observers import sensors_of
from kinetree.models.description.names import expressions
from kinetree.models.description.schema import Description
from kinetree.models.expressions.parse import evaluate_constant, names, parse
from kinetree.models.language.parts.controller_parts import Controlled

if TYPE_CHECKING:
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


def control_loops(system: System, inputs: Mapping[str, float] | None = None) -> list[ControlLoop]:
    """Return the loops of all single-command controllers whose measurement depends on the command."""
    from kinetree.models.analysis.linearization import linearize
    from kinetree.models.system.controller_variants import opened, resting

    written = system.description.written
    if not written.controllers:
        return []
    present = resting(system)
    rest = present.equilibrium(inputs=inputs)
    values, unread = values_of(written), sensors_of_observers(written)
    found = []
    for name, controller in written.controllers.items():
        if commands_of(name, controller) != [name] or name in unread:
            continue
        broken = opened(system, name)
        numbers = {
            key: evaluate_or_default(getattr(controller, key), values)
            for key in ("period", "delay", "jitter")
        }
        low, high = (
            evaluate_or_default(getattr(controller, key), values, bound)
            for key, bound in (("low", -np.inf), ("high", np.inf))
        )
        stuck = not low < rest.outputs[name] < high
        # between its limits a law is linear; differences of one that is clipped would reach the limits where gains are large
        law = law_of(
            name, controller, [command_limits(controller) if stuck else without_limits], "0"
        )
        wanted = (
            [f"{name}.{key}" for key in law.samples] if numbers["period"] else [f"{name}.wants"]
        )
        states = {
            state: value for state, value in rest.states.items() if state in broken.compiled.states
        }
        given = {
            key: value for key, value in (inputs or {}).items() if key in broken.compiled.inputs
        } | {name: rest.outputs[name]}
        linear = linearize(broken, rest.t, rest.q, None, given, wanted, states)
        plant = linear.part([name], wanted).moving()
        if numbers["period"]:
            known = dict(values) | {
                key: value
                for key, value in (rest.outputs | rest.states).items()
                if key.startswith(f"{name}.")
            }
            plant = held_plant(plant, numbers["period"], numbers["delay"] + numbers["jitter"]).then(
                law_of_samples(name, law, known, numbers["period"])
            )
        loop = negated_loop(plant if numbers["period"] else plant.seen())
        if np.any(loop.C) and np.any(loop.B):
            found.append(
                ControlLoop(
                    name,
                    numbers["period"],
                    numbers["delay"] + numbers["jitter"],
                    loop,
                    margins(loop),
                    stuck,
                )
            )
    return found


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


def stage_loops(system: System, inputs: Mapping[str, float] | None = None) -> list[StageLoops]:
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
        loops = [within_stage(each, end - time) for each in loops_at(system, instant)]
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
    stable = each.margins.stable or bool(slow.all())
    return replace(each, margins=replace(each.margins, stable=stable))


def worst_loop(stages: list[StageLoops]) -> tuple[StageLoops, ControlLoop] | None:
    """Return the stage and the loop with the smallest modulus margin; unstable loops come first."""
    pairs = [(stage, loop) for stage in stages for loop in stage.loops]

    def rank(pair: tuple[StageLoops, ControlLoop]) -> tuple[bool, float]:
        return pair[1].margins.stable, pair[1].margins.modulus

    return min(pairs, key=rank, default=None)


def loops_at(system: System, instant: RunInstant) -> list[ControlLoop]:
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
            found.append(ControlLoop(name, 0.0, 0.0, loop, margins(loop), limited))
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


def law_of_samples(name: str, law: Law, known: Mapping[str, float], period: float) -> SampledLoop:
    """Return the law of a sampled controller, linearised about equilibrium, as a discrete
    state-space system.
    """
    memory, samples = ([f"{name}.{key}" for key in keys] for keys in (law.memory, law.samples))
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
