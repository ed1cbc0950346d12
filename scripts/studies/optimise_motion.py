"""Report sections of an optimisation: runs before and after it, and numbered variables as curves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.measures.run_measures import columns_of, parsed
from kinetree.scripts.reports.linear_pictures import COLOURS, figure_of
from kinetree.scripts.reports.study_page import Section
from kinetree.scripts.studies.optimise import Found
from kinetree.scripts.studies.optimise_file import Task, orders_of

MOST_COLUMNS = 6  # that are drawn
FEWEST = 4  # numbered variables that make a curve
FROM_START = ("deviation",)  # measures of the way from the start


def motion_section(task: Task, found: Found) -> Section:
    """Return the section with the columns of the measures over time, at the start and at the
    result.
    """
    section = Section("Motion before and after")
    begin = {name: each.start for name, each in task.variables.items()}
    try:
        runs = {"at the start": run_at(task, begin), "as found": run_at(task, found.values)}
    except (EvaluationError, ModelError) as error:
        return section.say(f"A run of these two fails: {error}")
    first = runs["at the start"]
    columns = columns_of(task.texts)[:MOST_COLUMNS]
    if not columns:
        return section.say("The measures concern the equilibrium only.")
    away = {column for name, column in map(parsed, task.texts) if name in FROM_START}
    figure, axes = figure_of(len(columns), 1, 9.0, 0.8 + 2.2 * len(columns))
    for place, name in zip(axes[:, 0], columns, strict=True):
        unit = first.unit(name)
        scale, shown = (1e3, f"m{unit}") if name in away and unit in ("rad", "m") else (1.0, unit)
        for number, (label, run) in enumerate(runs.items()):
            values = run[name] - (run[name][0] if name in away else 0.0)
            place.plot(
                run.time,
                scale * values,
                color=("0.55", COLOURS[0])[number],
                linewidth=(1.0, 1.4)[number],
                label=label,
            )
        what = f"{name}, deviation" if name in away else name
        place.set_ylabel(f"{what} [{shown}]" if shown not in ("", "1") else what)
        place.grid(alpha=0.3)
        place.margins(x=0.0)
    axes[0, 0].legend(fontsize="small", ncols=2)
    axes[-1, 0].set_xlabel("time [s]")
    if len(task.scenarios) > 1:
        section.say("Of the first scenario.")
    return section.picture(figure, "Runs with the variables at the start and as found")


def run_at(task: Task, values: dict[str, float]) -> Any:
    """Return the run of the first scenario with given values of the variables."""
    orders = {
        name: [round(values[place]) for place in places] for name, places in orders_of(task).items()
    }
    places = {place for each in orders_of(task).values() for place in each}
    numbers = {name: value for name, value in values.items() if name not in places}
    mechanism = load(task.source, **{**task.settings, **orders})
    system = mechanism.compile(**{**task.scenarios[0], **numbers})
    return raise_if_interrupted(system.simulate(**task.run))


def curves(names: list[str]) -> dict[str, list[tuple[int, str]]]:
    """Return groups of numbered variables by the text around their number, in the order of the
    numbers.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        if match := re.fullmatch(r"(.*?)(\d+)(\D*)", name):
            found.setdefault(f"{match[1]}*{match[3]}", []).append((int(match[2]), name))
    return {name: sorted(each) for name, each in found.items() if len(each) >= FEWEST}


def curve_section(task: Task, found: Found) -> Section | None:
    """Return the section with numbered variables over their numbers, at the start and at the
    result, with their bounds.
    """
    places = {place for each in orders_of(task).values() for place in each}
    drawn = curves([name for name in task.variables if name not in places])
    if not drawn:
        return None
    figure, axes = figure_of(len(drawn), 1, 9.0, 0.8 + 2.4 * len(drawn))
    for place, (name, members) in zip(axes[:, 0], drawn.items(), strict=True):
        numbers = [number for number, _ in members]
        given = [task.variables[each] for _, each in members]
        place.plot(numbers, [each.start for each in given], color="0.55", label="at the start")
        values = [found.values[each] for _, each in members]
        place.plot(numbers, values, "o-", color=COLOURS[0], markersize=4, label="as found")
        for bound in ([each.low for each in given], [each.high for each in given]):
            near = np.ptp([*values, *(each.start for each in given)]) or 1.0
            if min(abs(a - b) for a, b in zip(bound, values, strict=True)) < near:
                place.plot(numbers, bound, color="0.6", linestyle=":", linewidth=0.9)
        place.set_ylabel(name)
        place.grid(alpha=0.3)
    axes[0, 0].legend(fontsize="small", ncols=2)
    axes[-1, 0].set_xlabel("number of the variable")
    return Section("Curves").picture(figure, "Numbered variables over their numbers; dotted: bounds near them")  # fmt: skip
