"""Numbers that sum up a run: of one of its columns, written `measure(column)`, or of the small motions about its state of rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

BAND = 0.02  # of the whole change: a column that stays within it has settled

Column = Callable[[np.ndarray, np.ndarray], Any]


def settling(time: np.ndarray, column: np.ndarray) -> float:
    """Time from which on a column stays within 2 % of its whole change about its last value."""
    band = BAND * np.ptp(column)
    outside = np.flatnonzero(np.abs(column - column[-1]) > band)
    return float(time[min(outside[-1] + 1, time.size - 1)] - time[0]) if outside.size else 0.0


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
REST: dict[str, Callable[[Any], float]] = {
    "growth": lambda linear: float(linear.eigenvalues.real.max(initial=-np.inf)),
    "damping": lambda linear: min((mode.damping for mode in linear.modes() if mode.oscillates), default=1.0),
    "frequency": lambda linear: min((mode.frequency for mode in linear.modes() if mode.oscillates), default=0.0),
}
TEXTS = {
    "growth": "largest real part of the eigenvalues at rest [1/s]",
    "damping": "smallest damping ratio at rest",
    "frequency": "lowest natural frequency at rest [Hz]",
}


def parsed(text: str) -> tuple[str, str]:
    """Measure and column of `measure(column)`; a measure at rest has no column."""
    if text in REST:
        return text, ""
    match = re.fullmatch(r"\s*(\w+)\s*\((.+)\)\s*", text)
    if match is None or match[1] not in MEASURES:
        raise ValueError(f"'{text}': expected measure(column) with one of {', '.join(MEASURES)}, or one of {', '.join(REST)}")
    return match[1], match[2].strip()


def measured(text: str, time: np.ndarray, columns: Mapping[str, np.ndarray] | Any, at_rest: Callable[[], Any]) -> float:
    """The number of a measure; `at_rest` gives the linearised system when it is wanted."""
    name, column = parsed(text)
    return float(REST[name](at_rest())) if not column else float(MEASURES[name](time, np.asarray(columns[column])))


def columns_of(texts: Sequence[str]) -> list[str]:
    """Columns that measures need, each once."""
    return list(dict.fromkeys(column for _, column in map(parsed, texts) if column))
