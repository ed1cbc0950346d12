"""Report of a comparison of drive variants: deviations, modes, margins, spread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models import Result
from kinetree.models.analysis.control_loops import stage_loops
from kinetree.models.engine.status import EvaluationError
from kinetree.models.result.atomic_file import whole_file
from kinetree.scripts.measures.run_measures import AtRest, growth, swings
from kinetree.scripts.reports.linear_pictures import COLOURS, figure_of
from kinetree.scripts.reports.linear_text import STAGE_HEAD, stage_rows, worst_of
from kinetree.scripts.reports.study_page import Section, write_page
from kinetree.scripts.studies.stabilisation import (
    Comparison,
    row,
    shown_unit,
    spans,
    system_of,
    table,
)
from kinetree.scripts.studies.stabilisation_drives import drive_section

SHARES = (5, 50, 95)


def drawing(wanted: Comparison, runs: dict[str, Result]) -> Any:
    """Return a plot of all deviations with marked disturbances."""
    figure, axes = figure_of(len(wanted.hold), 1, 9.0, 0.5 + 2.5 * len(wanted.hold))
    first = next(iter(runs.values()))
    for place, name in zip(axes[:, 0], wanted.hold, strict=True):
        factor, unit = shown_unit(first, name)
        place.axhspan(-factor * wanted.band, factor * wanted.band, color="0.9")
        for number, (way, result) in enumerate(runs.items()):
            place.plot(
                result.time,
                factor * (result[name] - result[name][0]),
                color=COLOURS[number % len(COLOURS)],
                linewidth=1.1,
                label=way,
            )
        for begin, _ in spans(wanted, first) if wanted.disturbed else ():
            place.axvline(begin, color="#b03030", linewidth=0.7, linestyle="--")
        place.set_ylabel(f"{name}, deviation [{unit or '1'}]")
        place.grid(alpha=0.4)
        place.margins(x=0.0)
    axes[0, 0].legend(fontsize="small", ncols=3)
    axes[0, 0].set_title(
        "Dashed: disturbances; grey: settled" if wanted.disturbed else "Grey: settled",
        fontsize="medium",
    )
    axes[-1, 0].set_xlabel("time [s]")
    return figure


def draw(wanted: Comparison, runs: dict[str, Result], path: Path) -> None:
    """Write the plot of all variants to a file."""
    with whole_file(path) as draft:
        drawing(wanted, runs).savefig(draft, dpi=120)


def write_report(
    wanted: Comparison,
    runs: dict[str, Result],
    spreads: dict[str, dict[str, np.ndarray]],
    path: Path,
) -> Path:
    """Write the report page of a comparison."""
    head, *rows = table(wanted, runs)
    best = {
        name: min(runs, key=lambda way: row(wanted, way, runs[way]).largest[name])
        for name in wanted.hold
    }
    held = (
        Section("How well it holds")
        .picture(drawing(wanted, runs), "Deviations from the start")
        .table(head, rows)
    )
    held.say(
        f"Settled: within {wanted.band:g} until the next disturbance; what stays outside is marked not. Rms: root of the mean square over the run.",
        *(f"{name}: least by {way}." for name, way in best.items()),
    )
    sections = [held, *filter(None, (drive_section(wanted, runs),)), at_rest(wanted)]
    if staged := [way for way, run in runs.items() if getattr(run, "stage_changes", ())]:
        sections.append(by_stage(wanted, staged))
    if spreads:
        sections.append(robustness(wanted, runs, spreads))
    ways = {way: values or "as described" for way, values in wanted.ways.items()}
    more = {
        "file": wanted.path.name,
        "mechanism": wanted.mechanism,
        "settings": wanted.settings,
        **{f"way {way}": text for way, text in ways.items()},
    }
    return write_page(path, f"Stabilisation of {wanted.mechanism}", sections, more=more)


def at_rest(wanted: Comparison) -> Section:
    """Return the report section with modes and loop margins of every variant at equilibrium."""
    section, rows, loops = Section("Small motions at rest"), [], []
    for way in wanted.ways:
        try:
            rest = AtRest(system_of(wanted, way), wanted.options().get("inputs"))
            found = swings(rest.linear)
        except EvaluationError as error:
            section.say(f"{way}: {error}")
            continue
        slow = min(found, key=lambda mode: mode.frequency, default=None)
        least = min((mode.damping for mode in found), default=float("nan"))
        rows.append((way, growth(rest.linear), slow.frequency if slow else float("nan"), least))
        for loop in rest.loops:
            m = loop.margins
            loops.append(
                (
                    way,
                    loop.name,
                    "stable" if m.stable else "unstable",
                    m.gain,
                    m.phase,
                    1e3 * m.delay,
                    m.modulus,
                )
            )
    section.table(
        ("way", "largest growth [1/s]", "lowest frequency [Hz]", "smallest damping ratio"), rows
    )
    if loops:
        section.table(
            (
                "way",
                "controller",
                "",
                "gain margin",
                "phase margin [°]",
                "delay margin [ms]",
                "modulus margin",
            ),
            loops,
        )
    return section


def by_stage(wanted: Comparison, ways: list[str]) -> Section:
    """Return the report section with the loop margins of some variants at the start of each stage,
    and the smallest of them.
    """
    section, rows = Section("Margins by stage"), []
    for way in ways:
        if system_of(wanted, way).description.written.observers:
            section.say(
                f"{way}: margins know what observers estimate, so that they are those without."
            )
            continue
        try:
            stages = stage_loops(system_of(wanted, way), wanted.options().get("inputs"))
        except EvaluationError as error:
            section.say(f"{way}: {error}")
            continue
        rows += [(way, *row) for row in stage_rows(stages)]
        if worst := worst_of(stages):
            section.say(f"{way}, {worst}")
    if rows:
        head = (*(each.replace("\n", " ") for each in STAGE_HEAD), "modulus margin")
        section.table(("way", *head), rows)
    return section


def robustness(
    wanted: Comparison, runs: dict[str, Result], spreads: dict[str, dict[str, np.ndarray]]
) -> Section:
    """Return the report section with percentiles of the largest deviations over sampled parameters."""
    section = Section("With other numbers").say(
        f"Largest deviations over {wanted.samples} runs per variant, parameters from a Latin hypercube:",
        *(f"{name}: {each}" for name, each in wanted.spreads().items()),
    )
    first = next(iter(runs.values()))
    rows, figure, axes = [], *figure_of(1, len(wanted.hold), 1.0 + 4.0 * len(wanted.hold), 3.2)
    for place, name in zip(axes[0], wanted.hold, strict=True):
        factor, unit = shown_unit(first, name)
        for number, (way, found) in enumerate(spreads.items()):
            values = factor * found[name]
            good = values[np.isfinite(values)]
            shares = (
                map(float, np.percentile(good, SHARES))
                if good.size
                else (float("nan"),) * len(SHARES)
            )
            rows.append(
                (name, way, *shares, float(good.max(initial=0.0)), int(values.size - good.size))
            )
            place.plot(
                np.sort(good),
                (np.arange(good.size) + 1) / max(good.size, 1),
                color=COLOURS[number % len(COLOURS)],
                label=way,
            )
        place.set(xlabel=f"{name}, largest deviation [{unit or '1'}]", ylabel="share of the runs")
        place.grid(alpha=0.4)
    axes[0, 0].legend(fontsize="small")
    section.table(("", "way", *(f"{share} %" for share in SHARES), "largest", "failed"), rows)
    return section.picture(figure, "How many runs stay below a deviation")
