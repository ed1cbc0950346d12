"""Step responses of tuned controllers in the mechanism, and variants with less overshoot.

A response is a run of the nonlinear mechanism with limits, sampling and delay, from its start to
the constant setpoint of every loop. Where a response overshoots by more than LARGE_OVERSHOOT,
larger phase margins and a smooth setpoint are tried in further runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from kinetree.models import load
from kinetree.models.description.schema import Description
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.hil.scenario import Scenario
from kinetree.scripts.reports.linear_pictures import COLOURS, figure_of
from kinetree.scripts.reports.study_page import Section
from kinetree.scripts.studies.controller_design import Design, design, name_of, place_of
from kinetree.scripts.studies.controller_tables import with_blocks
from kinetree.scripts.terminal.error_messages import BadInput

LARGE_OVERSHOOT = 0.25  # overshoot, part of the step, beyond which better ways are tried
PHASES = (60.0, 70.0)  # margins that are tried then [degrees]
TIMES = (0.25, 0.5, 1.0, 2.0)  # lengths of a smooth setpoint that are tried [s]
BAND = 0.05  # of the step, within which it has settled
LEAST_STEP = 1e-9  # relative: a smaller step is none
MAX_ROWS = 2000  # of a run, at most


@dataclass(frozen=True)
class Response:
    """The run of one loop: time [s], measure and command in SI."""

    name: str
    measure: str
    goal: float | None  # the constant setpoint; None where it follows a law
    time: np.ndarray
    values: np.ndarray
    error: np.ndarray  # setpoint - measure
    command: np.ndarray
    low: float
    high: float
    units: tuple[str, str] = ("", "")  # of measure and command

    @property
    def step(self) -> float:
        """Return the difference between setpoint and start; 0 where there is none."""
        way = 0.0 if self.goal is None else self.goal - float(self.values[0])
        return way if abs(way) > LEAST_STEP * max(abs(self.goal or 0.0), 1e-6) else 0.0

    @property
    def overshoot(self) -> float:
        """Return the overshoot beyond the setpoint, as a fraction of the step."""
        if not self.step:
            return float("nan")
        beyond = (self.values - float(self.goal or 0.0)) / self.step
        return max(0.0, float(beyond.max()))

    @property
    def rise(self) -> float:
        """Return the time from 10 % to 90 % of the step [s]."""
        if not self.step:
            return float("nan")
        part = (self.values - self.values[0]) / self.step
        first, last = (np.flatnonzero(part >= share) for share in (0.1, 0.9))
        return float(self.time[last[0]] - self.time[first[0]]) if last.size else float("nan")

    @property
    def settled(self) -> float:
        """Return the time from which the measure stays within 5 % of the step about the setpoint
        [s]; NaN if never.
        """
        if not self.step:
            return float("nan")
        outside = np.flatnonzero(np.abs(self.error) > BAND * abs(self.step))
        last = int(outside[-1]) + 1 if outside.size else 0
        return float(self.time[last]) if last < self.time.size else float("nan")

    @property
    def limited(self) -> float:
        """Return the fraction of the time in which the command is at a limit."""
        at = (self.command <= self.low) | (self.command >= self.high)
        span = float(self.time[-1] - self.time[0])
        return float(np.diff(self.time)[at[:-1]].sum()) / span if span > 0.0 else 0.0

    def sentence(self) -> str:
        """Return a sentence on rise time, overshoot, settling and limits for an engineer."""
        at = (
            f", command at a limit for {100 * self.limited:.3g} % of the time"
            if self.limited
            else ""
        )
        unit = f" {self.units[0]}" if self.units[0] not in ("", "1") else ""
        if not self.step:
            most = float(np.abs(self.error).max())
            return f"{self.name}: at most {most:.4g}{unit} from its setpoint{at}"
        settled = "not settled" if np.isnan(self.settled) else f"settled after {self.settled:.3g} s"
        return (
            f"{self.name}: step from {self.values[0]:.4g} to {self.goal:.4g}{unit}: overshoot "
            f"{100 * self.overshoot:.3g} %, rises in {self.rise:.3g} s, {settled}{at}"
        )


def responses(found: Design, way: str = "pid") -> list[Response]:
    """Run the mechanism with its tuned controllers; return the response of every loop."""
    s = found.scenario
    if way not in found.blocks or not found.loops:
        return []
    described = load(s.described())
    numbers = {k: v for k, v in s.values.items() if k in described.description.parameters}
    system = load(with_blocks(s.described(), found.blocks[way], numbers)).compile()
    result = system.simulate(
        stop_time=s.stop_time, output_step=max(s.step, s.stop_time / MAX_ROWS), tolerance=1e-6
    )
    d, made = described.description, []
    for table, _, _ in found.loops:
        label = place_of(table["command"], d.actuators, d.inputs)[0]
        law = s.setpoints.get(table["measure"])
        goal = None if law is not None else float(table.get("setpoint", 0.0))
        values = result[table["measure"]]
        error = result[f"{label}.error"] if goal is None else goal - values
        low, high = float(table.get("low", -np.inf)), float(table.get("high", np.inf))
        units = result.unit(table["measure"]), unit_of_command(d, table["command"])
        made.append(
            Response(
                name_of(table), table["measure"], goal, result.time, values, error, result[label], low, high, units
            )
        )  # fmt: skip
    return made


def unit_of_command(description: Description, command: str) -> str:
    """Return the unit of an input, or of the force of an actuator between two points."""
    actuator = description.actuators.get(command.rpartition(".")[0])
    if actuator is not None:
        return "N" if actuator.between else ""
    return description.inputs[command].unit if command in description.inputs else ""


def smooth(response: Response, length: float) -> str:
    """Return a law of time from the start to the setpoint with a continuous first derivative."""
    return f"{response.values[0]:.10g} + {response.step:.10g}*(1 - cos(pi*min(t/{length:g}, 1)))/2"


def attempts(found: Design, worst: Response) -> Iterable[tuple[str, Scenario]]:
    """Yield variants that may overshoot less: larger phase margins, then smooth setpoints."""
    s = found.scenario
    for phase in PHASES:
        if phase > s.tune.get("phase", 0.0):
            yield f"[tune] phase = {phase:g}", replace(s, tune={**s.tune, "phase": phase})
    for length in TIMES:
        if length < s.stop_time:
            law = smooth(worst, length)
            wanted = replace(s, setpoints={**s.setpoints, worst.measure: law})
            yield f'[tune.setpoints] {worst.measure} = "{law}"', wanted


def better(found: Design, made: list[Response]) -> list[str]:
    """Return sentences on variants with less overshoot, each from a design and a run of its own."""
    large = [each for each in made if each.step and each.overshoot > LARGE_OVERSHOOT]
    if not large:
        return []
    worst = max(large, key=lambda each: each.overshoot)
    lines, kinds = [], set[str]()
    for text, scenario in attempts(found, worst):
        kind = text.partition(" ")[0]
        if kind in kinds:
            continue
        try:
            tried = next(
                each for each in responses(design(scenario)) if each.measure == worst.measure
            )
        except (EvaluationError, BadInput, StopIteration):
            continue
        beyond = float((tried.values - (worst.goal or 0.0)).max() if worst.step > 0 else
                       ((worst.goal or 0.0) - tried.values).max()) / abs(worst.step)  # fmt: skip
        if beyond <= LARGE_OVERSHOOT:
            kinds.add(kind)
            at = f", command at a limit for {100 * tried.limited:.3g} % of the time"
            lines.append(
                f"better with {text}: overshoot {100 * max(0.0, beyond):.3g} %{at if tried.limited else ', within the limits'}"
            )
    return [
        f"{worst.name} overshoots by {100 * worst.overshoot:.3g} % of its step"
        + (", because its command is at a limit meanwhile" if worst.limited else ""),
        *(lines or ["no larger phase margin and no smooth setpoint that was tried overshoots by less than 25 %"]),
    ]  # fmt: skip


def response_section(made: list[Response], more: list[str]) -> Section:
    """Return the report section with plots and table of the runs."""
    figure, axes = figure_of(2 * len(made), 1, 8.0, 0.8 + 4.0 * len(made))
    for k, each in enumerate(made):
        above, below = axes[2 * k, 0], axes[2 * k + 1, 0]
        above.plot(each.time, each.values, color=COLOURS[0], label=each.measure)
        above.plot(
            each.time, each.values + each.error, color="0.5", linestyle="--", label="setpoint"
        )
        below.plot(each.time, each.command, color=COLOURS[1])
        for limit in (each.low, each.high):
            if np.isfinite(limit) and np.ptp(each.command) > 0.0:
                below.axhline(limit, color="0.5", linestyle=":")
        above.set_ylabel(labelled(each.measure, each.units[0]))
        below.set_ylabel(labelled("command", each.units[1]))
        above.legend(fontsize="small")
        for place in (above, below):
            place.grid(alpha=0.3)
            place.margins(x=0.0)
    axes[-1, 0].set_xlabel("time [s]")
    section = Section("Run to the setpoint").say(
        "The whole mechanism with these controllers, from its start: limits, sampling and delay included.",
        *more,
    )
    head = ("loop", "overshoot [% of the step]", "rise 10-90 % [s]", "settled (5 %) after [s]", "at a limit [% of the time]")  # fmt: skip
    rows = [
        (each.name, 100 * each.overshoot, each.rise, each.settled, 100 * each.limited)
        for each in made
    ]
    return section.picture(figure, "Measure with its setpoint; command with its limits (dotted)").table(head, rows)  # fmt: skip


def labelled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit not in ("", "1") else name
