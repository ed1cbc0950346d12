"""Measures (scalar results) of runs and equilibria.

`rest(column)` is a value at equilibrium; stability margins at equilibrium are the smallest over all
controller loops (models/analysis/control_loops.py). `deviation(column, phase)` is the measure of
the rows in a stage or phase, or in all that match a pattern (run_parts.py); deviations are relative
to the start of the run there too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import number

STILL = 1e-7  # of the fastest eigenvalue: a pair of zeros comes out of the eigenvalue problem as the root of the roundoff
BAND = 0.02  # of the whole change: a column that stays within it has settled

VALUE = "rest"  # of a column in the state of rest

Column = Callable[[np.ndarray, np.ndarray], Any]
Inside = Callable[[str], np.ndarray]  # from the name of a stage or phase to its rows


def settling(time: np.ndarray, column: np.ndarray) -> float:
    """Return the time from which on a column stays within 2 % of its range about its last value."""
    band = BAND * np.ptp(column)
    outside = np.flatnonzero(np.abs(column - column[-1]) > band)
    return (
        float(time[outside[-1] + 1] - time[0]) if outside.size else 0.0
    )  # the last row is never outside


MEASURES: dict[str, Column] = {
    "start": lambda time, column: column[0],
    "end": lambda time, column: column[-1],
    "min": lambda time, column: column.min(),
    "max": lambda time, column: column.max(),
    "mean": lambda time, column: column.mean(),
    "std": lambda time, column: column.std(),
    "span": lambda time, column: np.ptp(column),
    "peak": lambda time, column: np.abs(column).max(),
    "rms": lambda time, column: np.sqrt(np.mean(column**2)),
    "integral": lambda time, column: np.trapezoid(column, time),
    "deviation": lambda time, column: np.abs(column - column[0]).max(),
    "settling": settling,
}


class AtRest:
    """Equilibrium data for measures, computed when first needed."""

    def __init__(self, system: Any, inputs: Mapping[str, float] | None):
        from kinetree.models.system.controller_variants import resting

        self.system, self.inputs = resting(system), inputs

    @cached_property
    def equilibrium(self) -> Any:
        return self.system.equilibrium(inputs=self.inputs)

    @property
    def linear(self) -> Any:
        return self.equilibrium.linear

    @cached_property
    def loops(self) -> list[Any]:
        from kinetree.models.analysis.control_loops import control_loops

        return control_loops(self.system, self.inputs)

    def value(self, name: str) -> float:
        """Return an output, coordinate or state at equilibrium."""
        rest = self.equilibrium
        known = rest.outputs | rest.coordinates | rest.states
        if name not in known:
            raise ValueError(
                f"rest({name}): no such value at rest; there are {', '.join(list(known)[:20])}"
            )
        return known[name]

    def margin(self, key: str, unstable: float) -> float:
        """Return the smallest margin over all control loops; an unstable loop counts as `unstable`."""
        return min(
            (
                abs(getattr(loop.margins, key)) if loop.margins.stable else unstable
                for loop in self.loops
            ),
            default=np.inf,
        )


def growth(linear: Any) -> float:
    """Return the largest real part of the eigenvalues; rounding errors of neutral modes count as 0."""
    values = linear.eigenvalues
    largest = float(values.real.max(initial=-np.inf))
    return 0.0 if 0.0 < largest <= STILL * np.abs(values).max() else largest


def swings(linear: Any) -> list[Any]:
    """Return the oscillating modes, without eigenvalues that are zero except for rounding."""
    fastest = float(np.abs(linear.eigenvalues).max(initial=0.0))
    return [
        mode
        for mode in linear.modes()
        if mode.oscillates and abs(mode.eigenvalue) > STILL * fastest
    ]


REST: dict[str, Callable[[AtRest], float]] = {
    "growth": lambda at: growth(at.linear),
    "damping": lambda at: min((mode.damping for mode in swings(at.linear)), default=1.0),
    "frequency": lambda at: min((mode.frequency for mode in swings(at.linear)), default=0.0),
    "gain_margin": lambda at: at.margin("gain", 0.0),
    "phase_margin": lambda at: at.margin("phase", 0.0),
    "delay_margin": lambda at: at.margin("delay", 0.0),
    "modulus_margin": lambda at: at.margin("modulus", 0.0),
}
TEXTS = {
    "growth": "largest real part of the eigenvalues at equilibrium [1/s]",
    "damping": "smallest damping ratio at equilibrium",
    "frequency": "lowest natural frequency at equilibrium [Hz]",
    "gain_margin": "smallest gain margin of the controllers' loops",
    "phase_margin": "smallest phase margin [degrees]",
    "delay_margin": "smallest delay margin [s]",
    "modulus_margin": "smallest modulus margin",
}


def parsed(text: str) -> tuple[str, str]:
    """Return the measure and the column in `measure(column)` or `measure(column, stage or phase)`."""
    name, column, _ = pieces(text)
    return name, column


def part_in(text: str) -> str:
    """Return the stage or phase in the text of a measure; empty for the whole run."""
    return pieces(text)[2]


def with_part(text: str, part: str) -> str:
    """Return the text of a measure with another stage or phase."""
    name, column, _ = pieces(text)
    return f"{name}({column}, {part})"


def pieces(text: str) -> tuple[str, str, str]:
    """Return measure, column, and stage or phase in the text of a measure; empty where it has none."""
    if text in REST:
        return text, "", ""
    match = re.fullmatch(r"\s*(\w+)\s*\((.+)\)\s*", text)
    if match is None or match[1] not in (*MEASURES, VALUE):
        raise ValueError(
            f"'{text}': expected measure(column) or measure(column, stage or phase) with one of "
            f"{', '.join((*MEASURES, VALUE))}, or one of {', '.join(REST)}"
        )
    column, part = split_column(match[2])
    if part and match[1] == VALUE:
        raise ValueError(f"'{text}': a value at rest belongs to no stage; leave out '{part}'")
    return match[1], column, part


def split_column(text: str) -> tuple[str, str]:
    """Return column and stage or phase in `column, phase`; commas inside brackets do not separate."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            return text[:at].strip(), text[at + 1 :].strip()
    return text.strip(), ""


def measured(
    text: str,
    time: np.ndarray,
    columns: Mapping[str, np.ndarray] | Any,
    at_rest: Callable[[], AtRest],
    inside: Inside | None = None,
) -> float:
    """Return the value of a measure of a run or equilibrium; NaN for a stage or phase that the run
    has not reached.
    """
    name, column, part = pieces(text)
    if name == VALUE:
        return float(at_rest().value(column))
    if not column:
        return float(REST[name](at_rest()))
    values = np.asarray(columns[column])
    if not part:
        return float(MEASURES[name](time, values))
    if inside is None:
        raise ValueError(f"'{text}': the stages of these rows are not known")
    return of_part(name, time, values, inside(part))


def of_part(name: str, time: np.ndarray, values: np.ndarray, inside: np.ndarray) -> float:
    """Return a measure over the rows in `inside`. Over stretches of consecutive rows, integrals are
    added, and the largest settling time is taken.
    """
    rows = np.flatnonzero(inside)
    if not rows.size:
        return math.nan
    if name == "deviation":
        return float(np.abs(values[rows] - values[0]).max())
    if name in ("integral", "settling"):
        stretches = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
        found = [float(MEASURES[name](time[each], values[each])) for each in stretches]
        return sum(found) if name == "integral" else max(found)
    return float(MEASURES[name](time[rows], values[rows]))


def columns_of(texts: Sequence[str]) -> list[str]:
    """Return the columns that measures refer to, without duplicates."""
    return list(
        dict.fromkeys(column for name, column in map(parsed, texts) if column and name != VALUE)
    )


def bounds(table: Any, place: str) -> tuple[float, float]:
    """Return the lower and upper bound of a measure in a table with min, max or both."""
    if not isinstance(table, dict) or not table or not set(table) <= {"min", "max"}:
        raise BadInput(f"{place}: expected {{ min = a, max = b }}, one of them or both")
    low, high = (
        number(table[key], place) if key in table else free
        for key, free in (("min", -math.inf), ("max", math.inf))
    )
    return low, high
