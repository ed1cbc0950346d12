"""Summary tables of a staged run: values at the start and at the end of its stages and the largest
deviations, with statistics over the stages.

One definition for all: a stage begins and ends at the instants of its events, with the values just
after and just before them. Deviations are from the values at the start of the run. Mean, standard
deviation (of all stages, divisor n), root mean square of the deviations from the start and spread
(largest minus smallest) are over the stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

KINDS = ("start", "end", "max_deviation")


@dataclass(frozen=True)
class Summary:
    """A summary table: rows are stages, columns quantities; statistics over the stages have one
    value per column.
    """

    values: np.ndarray
    mean: np.ndarray
    standard_deviation: np.ndarray
    deviation: np.ndarray  # root mean square of the deviations from the start of the run
    spread: np.ndarray


def summarise(parts: Sequence[np.ndarray], first: np.ndarray, kind: str) -> Summary:
    """Return a summary table of every stage from its samples and the values at the start of the
    run.
    """
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
    return Summary(
        values,
        values.mean(axis=0),
        values.std(axis=0),
        np.sqrt((away**2).mean(axis=0)),
        np.ptp(values, axis=0),
    )


def stage_samples(result: Any, names: Sequence[str]) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return number, instants and rows in SI of every stage: just after the stage began, the
    recorded rows inside, just before it ended.
    """
    rows, stage = (
        result.array(names),
        result["stage"].astype(int) if "stage" in result else np.zeros(result.time.size, dtype=int),
    )
    begins: dict[int, tuple[float, np.ndarray]] = {}
    ends: dict[int, tuple[float, np.ndarray]] = {}
    for change in getattr(result, "stage_changes", ()):
        ends[change.stage] = change.time, result.picked(change.before, names)
        begins[change.stage + 1] = change.time, result.picked(change.after, names)
    parts = []
    for number in (
        dict.fromkeys([*stage.tolist(), *ends, *begins]) if ends else dict.fromkeys(stage.tolist())
    ):
        inside = stage == number
        edges = (
            [begins[number]] if number in begins else [],
            [ends[number]] if number in ends else [],
        )
        time = [[at for at, _ in edges[0]], result.time[inside], [at for at, _ in edges[1]]]
        parts.append(
            (
                number,
                np.concatenate(time),
                np.vstack(
                    [*(row for _, row in edges[0]), *rows[inside], *(row for _, row in edges[1])]
                ),
            )
        )
    return sorted(parts, key=lambda part: part[0])


def phases_in(stages: Sequence[Any]) -> list[str]:
    """Return the phase of every stage of a description, with sequences unrolled."""
    return [
        phase
        for stage in stages
        for phase in (phases_in(stage.sequence) if stage.sequence else [stage.phase])
    ]


def phases_of(result: Any) -> list[str]:
    """Return the phase of every stage by its index; empty if it has none."""
    found = list(getattr(result, "phases", ()))[: len(result.stage_names)]
    return [*found, *[""] * (len(result.stage_names) - len(found))]


def phase_samples(result: Any, names: Sequence[str]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return name, instants and rows in SI of every phase; stages without a phase are left out."""
    phases, parts = phases_of(result), list[tuple[str, np.ndarray, np.ndarray]]()
    last = -2
    for number, time, rows in stage_samples(result, names):
        phase = phases[number] if number < len(phases) else ""
        if phase and parts and parts[-1][0] == phase and last == number - 1:
            _, before, above = parts.pop()
            time, rows = np.concatenate([before, time]), np.vstack([above, rows])
        if phase:
            parts.append((phase, time, rows))
            last = number
    return parts


def samples(result: Any, names: Sequence[str]) -> tuple[list[int], list[np.ndarray]]:
    """Return the stages of a run and their samples in display units."""
    parts = stage_samples(result, names)
    return [number for number, _, _ in parts], [
        result.as_shown(names, rows) for _, _, rows in parts
    ]


def lasting(result: Any, coordinates: Sequence[str]) -> list[str]:
    """Return the coordinates that move in the last stage; those of released joints have constant
    values there.
    """
    last = (
        result["stage"] == result["stage"][-1]
        if "stage" in result
        else np.ones(result.time.size, dtype=bool)
    )
    return [name for name in coordinates if last.sum() > 1 and np.ptp(result[name][last]) > 0.0]


class StageTable(dict[str, Any]):
    """A summary per stage, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        from kinetree.models.result.number_format import written
        from kinetree.models.scene.notebook import table as html

        units = [f" [{unit}]" if unit not in ("", "1") else "" for unit in self["units"]]
        head = [self["kind"], *(f"{a}{b}" for a, b in zip(self["columns"], units, strict=True))]
        sums = {key: self[key] for key in ("mean", "standard_deviation", "deviation", "spread")}
        rows = [*zip(self["stages"], self["values"], strict=True), *sums.items()]
        return html(
            head,
            (
                [name.replace("_", " "), *(written(float(x), 5) for x in values)]
                for name, values in rows
            ),
        )


def table(result: Result, kind: str) -> dict:
    """Return rows per stage and column, and the statistics over the stages."""
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
