"""Controllers as states, events, outputs and forces of their mechanism.

A sampled controller NAME becomes events at S + (k + FIRST) period, with S the start time of the run
or instance and k the number of samples so far. Each reads the measurements, updates the memory and
holds the command in NAME.command. With a delay the command waits in NAME.due (whole periods of it
in NAME.wait1, ...) and an event of its own releases it at NAME.release. Noise: two streams of the
minimal standard generator (Park and Miller, Comm. ACM 31 (1988) 1192; the second with the factor
48271 of 1993), exact in doubles, converted to normal variates by Box and Muller; the seed is part
of the state.

The variant "rest" has the same equilibria but no events: a sampled controller becomes d(entry)/dt =
(next - entry)/period, without noise, quantisation and delays. If a loop is `broken`, the command of
that controller is an input of its name, and the command it would give is the output NAME.wants.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from kinetree.models.beams.beam_expansion import with_beams
from kinetree.models.beams.reduced_bodies import with_reduced_bodies
from kinetree.models.controllers.laws import Law, Limit, brace, error_of, law_of
from kinetree.models.controllers.observers import add_observer, sensors_of
from kinetree.models.description.dependent_motions import with_dependent_motions
from kinetree.models.description.joint_units import joint_units
from kinetree.models.description.motor_rotors import with_rotors
from kinetree.models.description.names import RUN_START
from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Description, Event
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.forces.kinds import KINDS
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.models.language.parts.controller_parts import (
    Controlled,
    ObserverController,
    Tracking,
)
from kinetree.models.language.parts.observer_parts import Observer
from kinetree.models.language.parts.predictive_parts import PredictiveController
from kinetree.models.language.parts.value_parts import Input, State

MODULUS, FACTORS = 2147483647, (16807, 48271)
FORCE_KINDS = {"between": KINDS["line"].table, "coordinate": KINDS["coordinate"].table}
PERIOD_TOLERANCE = 1e-9  # of a period: less is a whole number of them
FIRST = 1e-6  # of a period: the first sample is so late that every host sees its condition come true, and none falls together with corners at kT
SOON = 1e-6  # s after the start: when the memory of a continuous controller begins
NEVER = -1e30  # s: when a late command was released before there was one
SINCE = f"'{RUN_START}'"  # the start of the run, in a text


@dataclass
class Made:
    """Tables generated for controllers, with the controller that each belongs to."""

    states: dict[str, State] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    outputs: dict[str, Output] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    forces: dict[str, Any] = field(default_factory=dict)
    owner: dict[tuple[str, str], str] = field(default_factory=dict)
    by: str = ""

    def add(self, section: str, name: str, table: Any) -> None:
        getattr(self, section)[name] = table
        self.owner[section, name] = self.by

    def state(self, name: str, start: float | str = 0.0, rate: str = "0", unit: str = "") -> None:
        self.add("states", name, State.model_validate({"rate": rate, "start": start, "unit": unit}))

    def output(self, name: str, value: str, unit: str = "", text: str = "") -> None:
        self.add(
            "outputs", name, Output.model_validate({"value": value, "unit": unit, "text": text})
        )

    def event(self, name: str, when: str, new: Mapping[str, str]) -> None:
        if new:
            self.add("events", name, Event.model_validate({"when": when, "set": dict(new)}))


def values_of(description: Description) -> dict[str, float]:
    """Return the numeric values of parameters."""
    return evaluate_parameters(
        {name: parameter.value for name, parameter in description.parameters.items()}
    )[0]


def expanded(
    description: Description,
    rest: bool = False,
    broken: str | Collection[str] = "",
    begin: bool = False,
) -> Description:
    """Return the description with beams, observers and controllers replaced by generated tables.

    The commands of `broken` controllers, one or several, and the values of such observers are
    inputs. `begin` adds an output `state.begin` for every state with an initial value from a
    controller.
    """
    written, bent = description, with_reduced_bodies(with_beams(description))
    description = with_rotors(with_dependent_motions(bent))
    if not (description.controllers or description.observers):
        if description is not written:
            description._written = written
        return description
    made, values = Made(), values_of(description)
    opened = {broken} if isinstance(broken, str) else set(broken)
    for name, controller in in_order(description):
        made.by = name
        if isinstance(controller, Observer):
            add_observer(made, name, controller, description, rest, name in opened)
            continue
        expansion = Expansion(made, name, controller, values, description, rest, name in opened)
        expansion.make()
        for key, text in expansion.law.begin.items() if begin else ():
            made.output(f"{name}.{key}.begin", text)
    fresh = {
        section: {**getattr(description, section), **getattr(made, section)}
        for section in ("states", "events", "outputs", "inputs", "forces")
    }
    result = description.model_copy(update=fresh)
    result._made, result._written, result._rests = made.owner, written, rest
    result._beginning = description._beginning
    return result


def in_order(description: Description) -> list[tuple[str, Controlled | Observer]]:
    """Return all in sampling order: the observers' sensors, the observers, the other controllers."""
    read = sensors_of(description.observers, description.controllers)
    controllers = description.controllers.items()
    return [
        *(each for each in controllers if each[0] in read),
        *description.observers.items(),
        *(each for each in controllers if each[0] not in read),
    ]


def doubles(description: Description) -> list[tuple[str, str, str]]:
    """Return the names that a controller generates although the description defines them."""
    made = expanded(description)._made
    return [
        (section, name, owner)
        for (section, name), owner in made.items()
        if name in getattr(description, section)
    ]


def commands_of(name: str, controller: Controlled) -> list[str]:
    """Return the names of the command values of a controller."""
    if isinstance(controller, PredictiveController) and len(controller.commands) > 1:
        return [f"{name}.{key}" for key in controller.commands]
    count = len(controller.K) if isinstance(controller, ObserverController) else 1
    return [name] if count == 1 else [f"{name}.u{k}" for k in range(1, count + 1)]


def actuators_of(controller: Controlled) -> list[str | None]:
    """Return the actuators that the commands of a controller drive, in their order."""
    if isinstance(controller, PredictiveController):
        return [command.drives for command in controller.commands.values()]
    return list(
        getattr(controller, "commands", ()) or ((controller.drives,) if controller.drives else ())
    )


class Expansion:
    """The expansion of one controller to states, events and forces."""

    def __init__(
        self,
        made: Made,
        name: str,
        controller: Controlled,
        values: Mapping[str, float],
        description: Description,
        rest: bool,
        broken: bool,
    ):
        self.made, self.name, self.c, self.values = made, name, controller, values
        self.description, self.rest, self.broken = description, rest, broken
        self.sampled = controller.period is not None
        self.commands = commands_of(name, controller)
        planned = (
            controller.commands.values() if isinstance(controller, PredictiveController) else ()
        )
        self.units = [each.unit for each in planned] or [controller.unit] * len(self.commands)
        self.starts = [each.start for each in planned] or [controller.start] * len(self.commands)
        self.suffixes = (
            [""] if len(self.commands) == 1 else [str(k) for k in range(1, len(self.commands) + 1)]
        )
        self.first = f"{name}.samples < 0.5" if self.sampled and not rest else "0"
        self.law: Law = law_of(
            name, controller, [self.limit(suffix) for suffix in self.suffixes], self.first
        )

    def number(self, key: str) -> float:
        """Return the current value of a key; 0 if it is invalid, which is reported elsewhere."""
        value = getattr(self.c, key)
        try:
            return 0.0 if value is None else evaluate_constant(value, dict(self.values))
        except ExpressionError:
            return 0.0

    def limit(self, suffix: str) -> Limit:
        """Return a command expression within its limits and, if sampled, its rate limit."""

        def limited(text: str) -> str:
            text = text if self.c.low is None else f"max({text}, {brace(self.c.low)})"
            text = text if self.c.high is None else f"min({text}, {brace(self.c.high)})"
            if self.c.rate is not None and self.sampled and not self.rest:
                old, most = (
                    f"{self.name}.limited{suffix}",
                    f"{brace(self.c.rate)}*{brace(self.c.period)}",
                )
                text = f"min(max({text}, {old} - {most}), {old} + {most})"
            return text

        return limited

    def make(self) -> None:
        """Generate all tables of the controller."""
        self.drive()
        if isinstance(self.c, PredictiveController) and not self.broken:
            self.plan()
        if isinstance(self.c, Tracking):
            text = "Setpoint less measure, as the controller reads them"
            self.made.output(
                f"{self.name}.error", error_of(self.law, self.name), self.measured_unit(), text
            )
        held = self.sampled and not self.rest
        if held:
            self.hold()
        else:
            self.flow()

    def plan(self) -> None:
        """Add the states for the first planned commands and the number of factorisations
        (solvers/sampled).
        """
        for command, start, unit in zip(self.commands, self.starts, self.units, strict=True):
            self.made.state(f"{command}.plan", start, unit=unit)
        if not self.rest:
            self.made.state(f"{self.name}.work")
            for key, text in self.c.parameters.items():  # type: ignore[attr-defined]
                self.made.output(f"{self.name}.model.{key}", brace(text))

    def measured_unit(self) -> str:
        """Return the unit of a single measured variable, if it has one."""
        name, d = str(getattr(self.c, "measure", "")), self.description
        for tables in (d.outputs, d.states, d.inputs):
            if name in tables:
                return tables[name].unit
        return joint_units(d.joints).get(name, ("", ""))[0]

    def drive(self) -> None:
        """Add forces for commands that no actuator receives."""
        for label, command in zip(actuators_of(self.c), self.commands, strict=False):
            actuator = self.description.actuators.get(label or "")
            place = (
                None
                if actuator is None
                else "between"
                if actuator.between is not None
                else "coordinate"
            )
            if actuator is not None and place is not None and getattr(actuator, place) is not None:
                given = {
                    place: getattr(actuator, place),
                    "value": f"'{command}'"
                    if not command.replace(".", "_").isidentifier()
                    else command,
                }
                self.made.add(
                    "forces", f"{self.name}.{label}", FORCE_KINDS[place].model_validate(given)
                )

    # -- without events -----------------------------------------------------------------------------------------------------------------
    def flow(self) -> None:
        """Add the states of a continuous controller, or of a sampled one in steady state."""
        name, law, made = self.name, self.law, self.made
        for key, text in (law.samples | law.given).items():
            made.output(
                f"{name}.{key}", text, self.measured_unit() if key in ("measured", "wanted") else ""
            )
        for command, limited, unit in zip(self.commands, self.commanded(), self.units, strict=True):
            limited = self.from_start(limited)
            if not self.broken:
                made.output(command, limited, unit, self.c.text)
                continue
            made.add("inputs", command, Input(unit=unit))
            if not self.sampled:
                made.output(f"{command}.wants", limited, unit)
        if self.broken and self.sampled:
            return
        for key, text in law.memory.items():
            made.state(
                f"{name}.{key}",
                0.0,
                f"(({text}) - {name}.{key})/{brace(self.c.period)}"
                if self.sampled
                else self.begun(text),
            )
        if law.begin and not self.rest:
            starts = {f"{name}.{key}": self.from_start(text) for key, text in law.begin.items()} | {
                f"{name}.begun": "1"
            }
            made.state(f"{name}.begun")
            made.event(f"{name}.begin", f"{name}.begun < 0.5 and t > {SINCE} + {SOON}", starts)

    def commanded(self) -> list[str]:
        """Return the limited command expressions; a rate limit is one more entry of the memory."""
        found = []
        for suffix, text in zip(self.suffixes, self.law.commands, strict=True):
            limited, slow = self.limit(suffix)(text), f"{self.name}.limited{suffix}"
            if self.c.rate is not None and not self.sampled:
                most = brace(self.c.rate)
                self.law.memory[f"limited{suffix}"] = (
                    f"min(max(({limited} - {slow})/{brace(self.c.lag)}, -{most}), {most})"
                )
                self.law.begin[f"limited{suffix}"], limited = limited, slow
            found.append(limited)
        return found

    def begun(self, text: str) -> str:
        """Return a rate expression that is zero until the controller has started."""
        return (
            text
            if self.rest or not self.law.begin
            else f"if({self.name}.begun < 0.5, 0, {self.from_start(text)})"
        )

    def from_start(self, text: str) -> str:
        """Return an expression that is zero until the controller is initialised."""
        for key, begin in () if self.rest else self.law.begin.items():
            entry = f"{self.name}.{key}"
            text = re.sub(
                rf"(?<![\w.]){re.escape(entry)}(?![\w.])",
                lambda _, e=entry, b=begin: f"if({self.name}.begun < 0.5, {b}, {e})",
                text,
            )
        return text

    # -- sampled ------------------------------------------------------------------------------------------------------------------------
    def hold(self) -> None:
        """Add the states for held values and the sample events of a sampled controller."""
        name, law, made, c = self.name, self.law, self.made, self.c
        k = f"{name}.samples"
        made.state(k)
        for key in (*law.samples, *law.given, *law.memory):
            made.state(
                f"{name}.{key}", unit=self.measured_unit() if key in ("measured", "wanted") else ""
            )
        new, late = self.chain()
        when = f"t >= {self.instant()}"
        if late:
            made.state(f"{name}.release", NEVER)
            made.event(
                f"{name}.let",
                f"t >= {name}.release",
                {f"{command}.command": f"{command}.due" for command in self.commands},
            )
        seeds = self.seeds(late)
        read = {
            f"{name}.{key}": self.sensed(text, number)
            for number, (key, text) in enumerate(law.samples.items(), 1)
        }
        made.event(
            f"{name}.sample",
            when,
            read | {f"{name}.{key}": text for key, text in law.given.items()} | late | seeds,
        )
        memory = {f"{name}.{key}": text for key, text in law.memory.items()}
        made.event(f"{name}.update", when, memory | new | {k: f"{k} + 1"})
        for command, unit in zip(self.commands, self.units, strict=True):
            made.output(command, f"{command}.command", unit, c.text)

    def instant(self) -> str:
        """Return the expression of the next sampling instant, as number of samples times period."""
        return f"{SINCE} + ({self.name}.samples + {FIRST})*{brace(self.c.period)}"

    def chain(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return what a sample event and the event that releases a delayed command set."""
        name, c = self.name, self.c
        period, delay, jitter = (self.number(key) for key in ("period", "delay", "jitter"))
        whole, part = delay_parts(delay, period)
        late = part > PERIOD_TOLERANCE * period or jitter > 0.0
        new: dict[str, str] = {}
        for command, suffix, text, start, unit in zip(
            self.commands, self.suffixes, self.law.commands, self.starts, self.units, strict=True
        ):
            limited = self.limit(suffix)(text)
            if c.rate is not None:
                self.made.state(f"{name}.limited{suffix}", start, unit=unit)
                new[f"{name}.limited{suffix}"] = limited
            ways = (
                [f"{command}.wait{j}" for j in range(1, whole + 1)]
                + [f"{command}.due"] * late
                + [f"{command}.command"]
            )
            for way in ways:
                self.made.state(way, start, unit=unit)
            new |= {ways[0]: limited} | {ways[j]: ways[j - 1] for j in range(1, whole + 1)}
        if not late:
            return new, {}
        moment = f"{self.instant()} + ({brace(c.delay)} - {whole}*{brace(c.period)})"
        chance = f" + {brace(c.jitter)}*{self.uniform(0, self.draws + 1)}" if jitter > 0.0 else ""
        return new, {f"{name}.release": moment + chance}

    # -- what is wrong with a sensor ----------------------------------------------------------------------------------------------------
    @property
    def draws(self) -> int:
        """Return how many random numbers one sample takes from each stream."""
        return len(self.law.samples) if self.number("noise") > 0.0 else 0

    def seeds(self, late: Mapping[str, str]) -> dict[str, str]:
        """Add states of random seeds and return their updates at every sample."""
        jitter = bool(late) and self.number("jitter") > 0.0
        seed = crc32(self.name.encode()) if self.c.seed is None else self.c.seed
        found = {}
        for stream, count in enumerate((self.draws + jitter, self.draws)):
            if count:
                self.made.state(f"{self.name}.seed{stream + 1}", float(first_seed(seed, stream)))
                found[f"{self.name}.seed{stream + 1}"] = self.drawn(stream, count)
        return found

    def drawn(self, stream: int, count: int) -> str:
        """Return the expression of a stream's seed after `count` steps."""
        text = f"{self.name}.seed{stream + 1}"
        for _ in range(count):
            text = f"({FACTORS[stream]}*{text} % {MODULUS})"
        return text

    def uniform(self, stream: int, count: int) -> str:
        return f"({self.drawn(stream, count)}/{MODULUS})"

    def sensed(self, text: str, number: int) -> str:
        """Return a measured value with noise and quantisation, as an expression."""
        if self.draws:
            normal = f"sqrt(-2*log({self.uniform(0, number)}))*cos(2*pi*{self.uniform(1, number)})"
            text = f"({text} + {brace(self.c.noise)}/sqrt(2*{brace(self.c.period)})*{normal})"
        if self.number("resolution") > 0.0:
            text = f"{brace(self.c.resolution)}*floor({text}/{brace(self.c.resolution)} + 0.5)"
        return text


def delay_parts(delay: float, period: float) -> tuple[int, float]:
    """Return the whole periods of a delay, to PERIOD_TOLERANCE, and the remainder [s]."""
    whole = math.floor(delay / period + PERIOD_TOLERANCE) if period > 0.0 else 0
    return whole, delay - whole * period


def first_seed(seed: int, stream: int) -> int:
    """Return the initial state of a random stream for a seed."""
    state = 1 + (seed * 40014 + stream * 1013904223 + 12345) % (MODULUS - 1)
    for _ in range(8):
        state = state * FACTORS[stream] % MODULUS
    return state
