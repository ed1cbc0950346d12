"""Summary tables of a staged run: values at the start and at the end of its stages and the largest deviations, with sums over the stages.

One definition for all: a stage begins and ends at the instants of its events, with the values just after and just before them. Deviations are from
the values at the start of the run. Mean, standard deviation (of all stages, divisor n), root mean square of the deviations from the start and spread
(largest minus smallest) are over the stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

KINDS = ("start", "end", "max_deviation")


@dataclass(frozen=True)
class Summary:
    """Rows are stages, columns quantities; sums over the stages have one number per column."""

    values: np.ndarray
    mean: np.ndarray
    standard_deviation: np.ndarray
    deviation: np.ndarray  # root mean square of the deviations from the start of the run
    spread: np.ndarray


def summarise(parts: Sequence[np.ndarray], first: np.ndarray, kind: str) -> Summary:
    """From the samples (rows) of every stage, its first and last instant among them, and the values at the start of the run."""
    if kind not in KINDS:
        raise ValueError(f"unknown table '{kind}', expected one of {', '.join(KINDS)}")
    rows = []
    for part in parts:
        if kind == "max_deviation":
            away = part - first
            rows.append(away[np.abs(away).argmax(axis=0), np.arange(first.size)])
        else:
            rows.append(part[0 if kind == "start" else -1])
    values = np.array(rows)
    away = values if kind == "max_deviation" else values - first
    return Summary(values, values.mean(axis=0), values.std(axis=0), np.sqrt((away**2).mean(axis=0)), np.ptp(values, axis=0))


def samples(result: Result, names: Sequence[str]) -> tuple[list[int], list[np.ndarray]]:
    """The stages of a run and their samples, as they are shown: just after the stage began, the recorded rows inside, just before it ended."""
    rows, stage = result.as_shown(names, result.array(names)), result["stage"].astype(int)
    found: dict[int, list[np.ndarray]] = {int(stage[0]): []}
    for change in result.stage_changes:
        found.setdefault(change.stage, []).append(result.as_shown(names, result.picked(change.before, names)))
        found[change.stage + 1] = [result.as_shown(names, result.picked(change.after, names))]
    parts = []
    for number, edges in found.items():
        inside = rows[stage == number]
        begins, ends = [] if number == stage[0] else edges[:1], edges[-1:] if number in {c.stage for c in result.stage_changes} else []
        parts.append(np.vstack([*begins, *inside, *ends]))
    return list(found), parts


def table(result: Result, kind: str) -> dict:
    """Rows per stage and column, and the sums over the stages."""
    names = [name for name in result.names if name not in result.EXTRA]
    stages, parts = samples(result, names)
    first = result.as_shown(names, result.array(names)[0])
    found = summarise(parts, first, kind)
    return {
        "kind": kind,
        "columns": names,
        "units": result.shown_units(names),
        "stages": [result.stage_names[stage] for stage in stages],
        "first": first,
        "values": found.values,
        "mean": found.mean,
        "standard_deviation": found.standard_deviation,
        "deviation": found.deviation,
        "spread": found.spread,
    }
