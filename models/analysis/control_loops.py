"""The loops that the controllers of a mechanism close about its state of rest: each opened at its command, with the margins that are left.

A continuous controller is linearised with the mechanism. A sampled one is taken from sample to sample: its law as it stands, differenced about rest
(exact, since it is linear within its limits), behind the plant under a held command with the controller's delay and its largest jitter. The other
controllers stay closed; sampled ones stand there as they rest (models/controllers/expansion.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.frequency import Margins, StateSpace, margins
from kinetree.models.analysis.sampled import Sampled, held
from kinetree.models.controllers.expansion import commands_of, values_of
from kinetree.models.controllers.laws import Law, law_of
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.language.parts.controller_parts import Controlled

if TYPE_CHECKING:
    from kinetree.models.system.system import System

STEP = 1e-3  # of the differences of a law, relative


@dataclass(frozen=True)
class ControlLoop:
    """One control loop, opened at the command; it is closed by u = -L u."""

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
    values = values_of(written)
    found = []
    for name, controller in written.controllers.items():
        if commands_of(name, controller) != [name]:
            continue
        broken = opened(system, name)
        numbers = {
            key: evaluated(getattr(controller, key), values)
            for key in ("period", "delay", "jitter")
        }
        low, high = (
            evaluated(getattr(controller, key), values, bound)
            for key, bound in (("low", -np.inf), ("high", np.inf))
        )
        stuck = not low < rest.outputs[name] < high
        # between its limits a law is linear; differences of one that is clipped would reach the limits where gains are large
        law = law_of(name, controller, [clip(controller) if stuck else unlimited], "0")
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
            plant = held(plant, numbers["period"], numbers["delay"] + numbers["jitter"]).then(
                law_of_samples(name, law, known, numbers["period"])
            )
        loop = negative(plant if numbers["period"] else plant.seen())
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


def unlimited(text: str) -> str:
    """Return a command expression without its limits."""
    return text


def clip(controller: Controlled):
    """Return the command limits of a controller as an expression, without rate limits."""
    from kinetree.models.controllers.laws import brace

    def limited(text: str) -> str:
        text = text if controller.low is None else f"max({text}, {brace(controller.low)})"
        return text if controller.high is None else f"min({text}, {brace(controller.high)})"

    return limited


def evaluated(
    value: float | str | None, values: Mapping[str, float], nothing: float = 0.0
) -> float:
    return nothing if value is None else evaluate_constant(value, dict(values))


def negative(loop: StateSpace) -> StateSpace:
    """Return the loop with opposite sign, to be closed by negative feedback."""
    if isinstance(loop, Sampled):
        return Sampled(loop.A, loop.B, -loop.C, -loop.D, loop.period)
    return StateSpace(loop.A, loop.B, -loop.C, -loop.D)


def law_of_samples(name: str, law: Law, known: Mapping[str, float], period: float) -> Sampled:
    """Return the discrete state-space law of a sampled controller about equilibrium."""
    memory, samples = ([f"{name}.{key}" for key in keys] for keys in (law.memory, law.samples))
    texts = [*law.memory.values(), *law.commands]

    def at(key: str, move: float) -> np.ndarray:
        return np.array(
            [evaluate_constant(text, {**known, key: known[key] + move}) for text in texts]
        )

    columns = []
    for key in (*memory, *samples):
        step = STEP * max(abs(known[key]), 1.0)
        columns.append((at(key, step) - at(key, -step)) / (2.0 * step))
    J, n = np.array(columns).T.reshape(len(texts), -1), len(memory)
    return Sampled(J[:n, :n], J[:n, n:], J[n:, :n], J[n:, n:], period)
