"""Summary tables of a staged run: values at stage starts and ends, largest deviations, balances at
stage changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shutil import get_terminal_size
from typing import Any

import numpy as np

from kinetree.models.result.number_format import DUST, fitting, written
from kinetree.models.result.stage_summary import (
    Summary,
    lasting,
    phase_samples,
    samples,
    summarise,
)
from kinetree.models.result.stage_tables import WORDS
from kinetree.models.result.stage_tables import whole as over_time

TITLES = {
    "start": "At the start of each stage",
    "end": "At the end of each stage",
    "max_deviation": "Largest deviation within each stage",
}
BOOKS = "Balances after each stage change: mass, momentum and energy, and what the removed bodies took along"
BESIDE = 160  # characters of a line where the terminal does not say
ROUNDING = 1e-12  # of what moves: smaller differences are rounding
DIGITS, FINE, MOST = 6, 3, 12  # of a number; of its deviation; at most
FEWEST = 3  # stages from which the tables say something


def rows_of(
    head: Sequence[str],
    labels: Sequence[Any],
    first: np.ndarray,
    found: Summary,
    kind: str,
    scale: np.ndarray | float = 1.0,
    whole: Mapping[str, np.ndarray] | None = None,
) -> list[list[str]]:
    """Return the table rows: head, start of the run, a row per stage, then mean, standard
    deviation, deviation from the start and, for deviations, spread.
    """
    sums = {
        "mean": found.mean,
        "standard deviation": found.standard_deviation,
        "deviation from the start": found.deviation,
    }
    if kind == "max_deviation" and not whole:
        sums["spread"] = found.spread
    sums |= whole or {}
    begin = "value at the start" if kind == "max_deviation" else "start of the run"
    lines = [(begin, first), *zip(labels, found.values, strict=True), *sums.items()]
    return [
        ["", *head],
        *(
            [
                label,
                *(
                    written(float(value), places)
                    for value, places in zip(values * scale, digits(first, found.values, kind))
                ),
            ]
            for label, values in lines
        ),
    ]


def digits(first: np.ndarray, values: np.ndarray, kind: str) -> list[int]:
    """Return for each column the number of digits that resolves the deviations from the start to a
    thousandth.
    """
    if kind == "max_deviation":
        return [DIGITS] * first.size
    moved, size = np.abs(values - first).max(axis=0), np.abs(np.vstack([values, first])).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.ceil(np.log10(size / moved)) + FINE
    return [int(min(max(each, DIGITS), MOST)) if np.isfinite(each) else DIGITS for each in needed]


def stage_table(
    stages: np.ndarray,
    names: Sequence[str],
    columns: dict[str, np.ndarray],
    kind: str,
    units: Sequence[str] | None = None,
) -> list[list[str]]:
    """Return a stage table of data without recorded events, such as a co-simulation; stages begin
    and end at rows.

    With `units`, every column is shown in a unit that fits its changes, and rounding errors are
    shown as 0.
    """
    data, numbers = np.column_stack(list(columns.values())), np.unique(stages.astype(int))
    known = units or [""] * len(columns)
    data = np.where(np.abs(data) < [DUST.get(unit, 0.0) for unit in known], 0.0, data)
    found = summarise([data[stages == number] for number in numbers], data[0], kind)
    moved = found.values - (0.0 if kind == "max_deviation" else data[0])
    sizes = np.maximum(
        np.abs(moved).max(axis=0), (kind != "max_deviation") * 1e-3 * np.abs(data).max(axis=0)
    )  # a thousandth is fine enough
    fits = [fitting(unit, size) for unit, size in zip(known, sizes, strict=True)]
    head = [
        f"{name} [{unit}]" if unit else name for name, (_, unit) in zip(columns, fits, strict=True)
    ]
    return rows_of(
        head,
        [names[number] for number in numbers],
        data[0],
        found,
        kind,
        np.array([factor for factor, _ in fits]),
    )


def tables(result: Any, coordinates: Sequence[str]) -> dict[str, list[list[str]]]:
    """Return the three summary tables of a result by title, with columns in fitting units."""
    names = lasting(result, coordinates)
    if not names:
        return {}
    stages, parts = samples(result, names)
    labels, word, whole = [result.stage_names[stage] for stage in stages], "stage", {}
    if found := phase_samples(result, names):
        labels, word = [phase for phase, _, _ in found], "phase"
        parts = [result.as_shown(names, rows) for _, _, rows in found]
        over = [(phase, time, part) for (phase, time, _), part in zip(found, parts, strict=True)]
        sums = over_time(over, ("whole_mean", "whole_std", "whole_range"), None, parts[0][0])
        whole = {WORDS[key]: value for key, value in sums.items()}
    parts = [np.where(np.abs(part) < dust_of(result, names), 0.0, part) for part in parts]
    first = result.as_shown(names, result.array(names)[0])
    made = {}
    for kind, title in TITLES.items():
        found = summarise(parts, first, kind)
        fits = [fitted(result, name, found.values[:, k]) for k, name in enumerate(names)]
        head = [
            f"{name} [{unit}]" if unit else name
            for name, (_, unit) in zip(names, fits, strict=True)
        ]
        scale = np.array([factor for factor, _ in fits])
        more = whole if kind == "max_deviation" else None
        made[title.replace("stage", word)] = rows_of(head, labels, first, found, kind, scale, more)
    return made


def fitted(result: Any, name: str, values: np.ndarray) -> tuple[float, str]:
    """Return the factor and unit in which a column is shown: its display unit, else one that fits
    its values.
    """
    asked = result.display_unit(name)
    return (1.0, asked) if asked else fitting(result.unit(name), values)


def dust_of(result: Any, names: Sequence[str]) -> np.ndarray:
    """Return the rounding level of columns in their displayed units."""
    units = result.shown_units(names)
    return np.array([DUST.get(unit, 0.0) for unit in units])


def books(result: Any) -> list[list[str]]:
    """Return the balance table, one row per stage change: totals after it, losses, and the
    cumulative energy balance error.
    """
    totals = ("mass [kg]", "momentum x [N.s]", "momentum y [N.s]", "momentum z [N.s]", "energy [J]")
    rows = [
        [
            "",
            "time [s]",
            *totals,
            "mass removed [kg]",
            "momentum removed [N.s]",
            "energy removed [J]",
            "energy balance [J]",
        ]
    ]
    for event in result.events:
        if event.kind == "stage":
            before, after = np.array(event.before[:5]), np.array(event.after[:5])
            moved = float(np.linalg.norm(before[1:4]))
            size = np.array([before[0], moved, moved, moved, abs(before[4])])
            gone = np.where(np.abs(before - after) < ROUNDING * size, 0.0, before - after)
            after = np.where(np.abs(after) < ROUNDING * size, 0.0, after)
            row = (
                min(int(np.searchsorted(result.time, event.time, side="right")), result.time.size)
                - 1
            )
            sums = (
                gone[0],
                float(np.linalg.norm(gone[1:4])),
                gone[4],
                result["energy_residual"][row],
            )
            rows.append(
                [event.stage, *(written(float(value), 6) for value in (event.time, *after, *sums))]
            )
    return rows


def show(found: dict[str, list[list[str]]], width: int = 0) -> None:
    """Print a table; one wider than the terminal is wrapped."""
    width = width or get_terminal_size((BESIDE, 24)).columns
    for title, rows in found.items():
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        print(title)
        first = 1
        while first < len(widths):
            last = first + 1
            while (
                last < len(widths)
                and 2 + widths[0] + sum(2 + each for each in widths[first : last + 1]) <= width
            ):
                last += 1
            if first > 1:
                print()
            for row in rows:
                print(
                    "  "
                    + row[0].ljust(widths[0])
                    + "".join(
                        "  " + cell.rjust(each)
                        for cell, each in zip(row[first:last], widths[first:last])
                    )
                )
            first = last


def staged(result: Any) -> bool:
    """Return whether a run has enough stages for a stage table."""
    return np.unique(result["stage"]).size >= FEWEST
