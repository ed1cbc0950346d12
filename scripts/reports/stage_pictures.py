"""Plot of a staged run: coordinates as deviations from the start, outputs of one kind together,
stage changes marked.

Of hydraulic circuits and actuators, whose quantities are named PART.QUANTITY, pressures and spools
are plotted; of other states, those in J.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.result.atomic_file import whole_file
from kinetree.models.result.number_format import as_read
from kinetree.models.result.stage_summary import lasting

PANELS = 16  # at most
NAMED = 8  # lines of a panel that a legend names
LABELS = 26  # stages named above the first panel
PRESSURE, SPOOL = "pressure", "spool"
FLAT = 0.05  # part of a panel's height below which no line would show its motion


def kind(name: str) -> str:
    """Return the first word of a name, by which outputs are grouped: jack_load_front_left and
    jack_load_rear_right are of one kind, and so are module1_height and module2_height.
    """
    return re.split(r"[^A-Za-z]", name, maxsplit=1)[0]


def drawn(system: Any, result: Any) -> list[str]:
    """Return the outputs and states to plot: those that vary during the run and are pressures,
    spools, energies or named outputs.
    """
    found = []
    for name in (*(column.name for column in system.compiled.outputs), *system.compiled.states):
        part, _, quantity = name.partition(".")
        wanted = (
            quantity.startswith((PRESSURE, SPOOL))
            if quantity
            else name not in system.compiled.states or result.unit(part) == "J"
        )
        if wanted and np.ptp(result[name]) > 0.0:
            found.append(name)
    return found


def panels(
    result: Any, coordinates: Iterable[str], outputs: Iterable[str]
) -> list[tuple[str, str, list[str]]]:
    """Return the groups of variables that share a panel: ("deviation" or "value", unit, names)."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in lasting(result, list(coordinates)):
        found.setdefault(("deviation", result.unit(name), ""), []).append(name)
    for name in outputs:
        quantity = name.partition(".")[2]
        found.setdefault(
            ("value", result.unit(name), quantity.partition("_")[0] or kind(name)), []
        ).append(name)
    return [(what, unit, names) for (what, unit, _), names in found.items()][:PANELS]


def draw_stages(system: Any, result: Any, path: str | Path) -> None:
    """Draw all panels into one file."""
    from matplotlib.figure import Figure

    wanted = panels(result, system.own_coordinates, drawn(system, result))
    figure = Figure(figsize=(10.0, 1.2 + 1.9 * max(len(wanted), 1)), layout="constrained")
    rows = figure.subplots(max(len(wanted), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (what, _, names) in zip(rows, wanted):
        draw_panel(axes, result, what, names)
        for event in result.events:
            if event.kind == "stage":
                axes.axvline(event.time, color="#b03030", linewidth=0.6, linestyle="--")
        axes.grid(alpha=0.4)
        axes.margins(x=0.0)
    marks = [event for event in result.events if event.kind == "stage"]
    for event in marks[:: 1 + len(marks) // LABELS]:
        rows[0].annotate(
            event.stage,
            (event.time, 1.02),
            xycoords=("data", "axes fraction"),
            fontsize=7,
            color="#b03030",
            rotation=90,
            ha="center",
        )
    rows[-1].set_xlabel("time [s]")
    figure.suptitle(result.name or "")
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=110)


def draw_panel(axes: Any, result: Any, what: str, names: list[str]) -> None:
    """Draw the lines of one panel in a unit that fits the values."""
    height = max(result[name].max() for name in names) - min(result[name].min() for name in names)
    if len(names) > 1 and max(np.ptp(result[name]) for name in names) < FLAT * height:
        what = "deviation"
    columns = {
        name: result[name] - (result[name][0] if what == "deviation" else 0.0) for name in names
    }
    shown, unit = as_read(
        result, names[0], np.stack(list(columns.values())), difference=what == "deviation"
    )
    for name, values in zip(names, shown, strict=True):
        axes.plot(result.time, values, linewidth=1.0, label=name)
    together = names[0].partition(".")[2].partition("_")[0] or kind(names[0])
    label = (
        "deviation"
        if what == "deviation"
        else names[0].replace("_", " ")
        if len(names) == 1
        else together
    )
    axes.set_ylabel(f"{label}\n[{unit}]" if unit and unit != "1" else label)
    if 1 < len(names) <= NAMED or what == "deviation":
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    elif len(names) > NAMED:
        axes.legend(
            axes.lines[:1],
            [f"{names[0]}\nto {names[-1]}"],
            fontsize=7,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
        )
