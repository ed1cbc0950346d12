"""Report section on the drives of every variant: pressures, flows, openings and other columns over
time, with their extremes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.models import Result
from kinetree.models.language.errors import suggestion
from kinetree.scripts.reports.linear_pictures import COLOURS, figure_of
from kinetree.scripts.reports.study_page import Section
from kinetree.scripts.studies.stabilisation import Comparison
from kinetree.scripts.terminal.error_messages import BadInput

SHOWN = {
    "Pa": (1e-5, "bar"),
    "m3/s": (6e4, "l/min"),
    "N": (1e-3, "kN"),
    "N.m": (1e-3, "kN.m"),
    "1": (100.0, "%"),
}
TITLES = {"Pa": "Pressures", "m3/s": "Flows", "1": "Openings"}  # by unit
MAX_COLUMNS = 24  # columns that are drawn
DUST = 1e-9  # of the largest number of a column: what is smaller is rounding


def shown_columns(wanted: Comparison, run: Result) -> list[str]:
    """Return the columns that the patterns in `show` match. A pattern may match nothing, since
    drives differ between variants; a plain name that no run has raises an error.
    """
    found: dict[str, None] = {}
    for pattern in wanted.show:
        try:
            found |= dict.fromkeys(run.select([pattern]))
        except KeyError:
            if set(pattern) & set("*?"):
                continue
            near = suggestion(pattern, tuple(run.names))
            raise BadInput(f"{wanted.path}: show: no column '{pattern}'; {near}") from None
    return list(found)[:MAX_COLUMNS]


def drive_section(wanted: Comparison, runs: dict[str, Result]) -> Section | None:
    """Return one plot per unit of the shown columns of all variants, and a table of their extremes."""
    first = next(iter(runs.values()))
    columns = shown_columns(wanted, first)
    if not columns:
        return None
    section = Section("Pressures, flows, openings", beside=True)
    table = []
    for unit in dict.fromkeys(map(first.unit, columns)):
        names = [name for name in columns if first.unit(name) == unit]
        figure, extremes = drawing(names, unit or "1", runs)
        section.picture(figure, TITLES.get(unit or "1", unit))
        table += extremes
    return section.table(("from least to largest", *runs), table)


def drawing(names: list[str], unit: str, runs: dict[str, Result]) -> tuple[Any, list[list[str]]]:
    """Return the plot of columns of one unit, and table rows with their extremes by variant."""
    factor, shown = SHOWN.get(unit, (1.0, unit))
    figure, axes = figure_of(len(names), 1, 5.2, 0.9 + 1.7 * len(names))
    table = []
    for place, name in zip(axes[:, 0], names, strict=True):
        cells = [f"{name} [{shown}]"]
        every = {way: factor * np.asarray(run[name]) for way, run in runs.items()}
        dust = DUST * max(float(np.abs(values).max()) for values in every.values())
        for number, (way, values) in enumerate(every.items()):
            colour = COLOURS[number % len(COLOURS)]
            place.plot(runs[way].time, values, color=colour, linewidth=0.9, label=way)
            low, high = (
                0.0 if abs(value) <= dust else value for value in (values.min(), values.max())
            )
            cells.append(f"{low:.4g} to {high:.4g}")
        place.set_ylabel(shown)
        place.set_title(name, fontsize="small")
        place.grid(alpha=0.3)
        place.margins(x=0.0)
        table.append(cells)
    axes[-1, 0].set_xlabel("time [s]")
    axes[0, 0].legend(fontsize="x-small", ncols=2)
    return figure, table
