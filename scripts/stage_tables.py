"""The three summary tables of a staged run: values at the start and at the end of its stages, largest deviations within them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

TITLES = {"start": "At the start of each stage", "end": "At the end of each stage", "max_deviation": "Largest deviation within each stage"}
MOST = 6  # columns on the terminal
FEWEST = 3  # stages from which the tables say something


def lasting(result: Any, coordinates: Sequence[str]) -> list[str]:
    """Coordinates that move in the last stage too, the first ones: those of joints that let go keep their last values."""
    last = result["stage"] == result["stage"][-1]
    return [name for name in coordinates if last.sum() > 1 and np.ptp(result[name][last]) > 0.0][:MOST]


def stage_table(
    stages: np.ndarray, names: Sequence[str], columns: dict[str, np.ndarray], kind: str, start: dict[str, float] | None = None
) -> list[list[str]]:
    """Head, the start, a row per stage, then mean, standard deviation, deviation from the start and, for deviations, spread over the stages.

    Deviations are from the start of the run.
    """
    rows = [["", *columns]]
    first = start or {name: float(values[0]) for name, values in columns.items()}
    rows.append(["start of the run", *(f"{first[name]:.6g}" for name in columns)])
    data = []
    for stage in np.unique(stages.astype(int)):
        inside = stages == stage
        picked = []
        for name, values in columns.items():
            part = values[inside]
            from_start = part - first[name]
            picked.append({"start": part[0], "end": part[-1], "max_deviation": from_start[np.abs(from_start).argmax()]}[kind])
        data.append(picked)
        rows.append([names[stage], *(f"{value:.6g}" for value in picked)])
    table = np.array(data)
    about = table if kind == "max_deviation" else table - np.array([first[name] for name in columns])
    sums = {"mean": table.mean(axis=0), "standard deviation": table.std(axis=0), "deviation from the start": np.sqrt((about**2).mean(axis=0))}
    if kind == "max_deviation":
        sums["spread"] = np.ptp(table, axis=0)
    return [*rows, *([name, *(f"{value:.6g}" for value in values)] for name, values in sums.items())]


def tables(result: Any, coordinates: Sequence[str]) -> dict[str, list[list[str]]]:
    """The three tables of a result by title."""
    columns = {f"{name} [{result.unit(name)}]" if result.unit(name) else name: result[name] for name in lasting(result, coordinates)}
    return {title: stage_table(result["stage"], result.stage_names, columns, kind) for kind, title in TITLES.items()} if columns else {}


def show(found: dict[str, list[list[str]]]) -> None:
    """Print tables."""
    for title, rows in found.items():
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        print(title)
        for row in rows:
            print("  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])))


def staged(result: Any) -> bool:
    """Whether a run went through stages worth a table."""
    return np.unique(result["stage"]).size >= FEWEST
