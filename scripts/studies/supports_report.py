"""Tables, pictures and the page of a study of supports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinetree.scripts.reports.linear_pictures import COLOURS, figure_of
from kinetree.scripts.reports.page import Section, write_page
from kinetree.scripts.studies.supports import MODES, Case
from kinetree.scripts.studies.supports_file import Supports

TEXTS = {
    "bedding": "bedding of the ground [N/m3]",
    "damping": "damping of the ground [N.s/m3]",
    "footprint": "footprint of a support [m2]",
    "bearing": "bearing pressure [Pa]",
    "hardening": "growth of the bearing pressure [Pa/m]",
    "spread": "distances of the supports over those described",
    "slope": "rise of the site along x",
    "cross_slope": "rise of the site along y",
    "soft": "bedding of one corner over that of the others",
    "preload": "share of the weight on the others",
}
WIDE = 20.0  # ratio of values from which their axis is logarithmic


def milli(value: float) -> str:
    return f"{1e3 * value:.4f}"


def thousandth(names: list[str], cases: list[Case]) -> str:
    """A thousandth of the unit of columns, mrad or mm, as far as they have one in common."""
    units = {case.units[name] for case in cases if not case.failed for name in names}
    return f"m{units.pop()}" if units in ({"rad"}, {"m"}) else "1e-3"


def name_of(case: Case) -> str:
    return f"{case.aspect} {case.value:g}" if case.aspect else "as described"


def overview(wanted: Supports, cases: list[Case]) -> list[list[str]]:
    """Head and rows: modes, values at rest, margins, deviations over all disturbances."""
    heads = [
        "case",
        *(f"mode {k + 1} [Hz] (ratio)" for k in range(MODES)),
        *(f"{name} at rest [{thousandth([name], cases)}]" for name in wanted.angles),
    ]
    heads += [
        "least load over mean",
        "kept in the run",
        *(f"{name}: {word} [{thousandth([name], cases)}]" for name in wanted.hold for word in ("largest", "left")),
    ]
    rows = [heads]
    for case in cases:
        if case.failed:
            rows.append([name_of(case), "not possible", *[""] * (len(heads) - 2)])
            continue
        modes = [f"{frequency:.3f} ({ratio:.3f})" for frequency, ratio in case.modes]
        cells = [name_of(case), *modes, *[""] * (MODES - len(modes)), *(milli(case.angles[name]) for name in wanted.angles)]
        cells += [f"{case.margin_at_rest:z.3f}", f"{case.margin:z.3f}"]
        for name in wanted.hold:
            cells += [milli(max(each[name] for each in case.largest)), milli(case.left[-1][name])]
        rows.append(cells)
    return rows


def disturbances(wanted: Supports, cases: list[Case]) -> list[list[str]]:
    """Head and rows: every disturbance of every case."""
    heads = [(name, thousandth([name], cases)) for name in wanted.hold]
    words = [word for name, unit in heads for word in (f"{name}: largest [{unit}]", f"{name}: left [{unit}]", f"{name}: settled after [s]")]
    rows = [["case", "disturbance", *words]]
    for case in cases:
        for k, (largest, left, settled) in enumerate(zip(case.largest, case.left, case.settled, strict=True), 1):
            cells = [text for name in wanted.hold for text in (milli(largest[name]), milli(left[name]), f"{settled[name]:.2f}")]
            rows.append([name_of(case), str(k), *cells])
    return rows


def loads(cases: list[Case]) -> list[list[str]]:
    """Loads at rest, in kN."""
    good = [case for case in cases if not case.failed]
    rows = [["case", *(good[0].loads if good else ())]]
    return rows + [[name_of(case), *(f"{1e-3 * load:.2f}" for load in case.loads.values())] for case in good]


def drawing(wanted: Supports, cases: list[Case], aspects: list[str]) -> Any:
    """A row for every aspect: modes, margins, deviations over its values."""
    figure, axes = figure_of(len(aspects), 3, 11.0, 0.4 + 2.5 * len(aspects))
    for places, aspect in zip(axes, aspects, strict=True):
        good = sorted((case for case in cases if case.aspect == aspect and not case.failed), key=lambda case: case.value)
        x = [case.value for case in good]
        for k in range(MODES):
            y = [case.modes[k][0] if k < len(case.modes) else np.nan for case in good]
            places[0].plot(x, y, "o-", color=COLOURS[k % len(COLOURS)], linewidth=1.1, markersize=3.5, label=f"mode {k + 1}")
        for k, (key, label) in enumerate((("margin_at_rest", "least load over mean, at rest"), ("margin", "least part kept in the run"))):
            places[1].plot(x, [getattr(case, key) for case in good], "o-", color=COLOURS[k], linewidth=1.1, markersize=3.5, label=label)
        for k, name in enumerate(wanted.hold):
            colour = COLOURS[k % len(COLOURS)]
            y = [1e3 * max(each[name] for each in case.largest) for case in good]
            places[2].plot(x, y, "o-", color=colour, linewidth=1.1, markersize=3.5, label=f"{name}, largest")
            left = [1e3 * abs(case.left[-1][name]) for case in good]
            places[2].plot(x, left, "o--", color=colour, linewidth=0.9, markersize=2.5, label=f"{name}, left at the end")
        for place, text in zip(places, ("frequency [Hz]", "share of the load", f"deviation [{thousandth(wanted.hold, cases)}]"), strict=True):
            place.set_xlabel(TEXTS.get(aspect, aspect), fontsize="small")
            place.set_ylabel(text)
            place.grid(alpha=0.4)
            place.set_ylim(0.0, (1.2 + 0.13 * len(place.lines)) * max(place.dataLim.y1, 1e-12))  # room for the legend
            if x and min(x) > 0.0 and max(x) / min(x) >= WIDE:
                place.set_xscale("log")
    for place in axes[0]:
        place.legend(fontsize="x-small")
    return figure


def draw(wanted: Supports, cases: list[Case], path: Path) -> None:
    """All aspects as one picture."""
    drawing(wanted, cases, list(wanted.vary)).savefig(path, dpi=110)


def write_report(wanted: Supports, cases: list[Case], path: Path) -> Path:
    """The page: an overview, then aspect by aspect."""
    described = cases[0]
    head, *rows = overview(wanted, cases)
    first = Section("All cases").table(head, rows)
    first.say(
        "One thing is changed at a time. Modes: the slowest oscillations about rest, with their damping ratios.",
        "Least load over mean: of a support at rest.",
        "Kept in the run: the least part of its load at rest that a support keeps; 0 means that it lifts off. Left: the deviation before the next"
        " disturbance, or at the end.",
    )
    sections = [first]
    for aspect in wanted.vary:
        mine = [case for case in cases if case.aspect == aspect]
        section = Section(TEXTS.get(aspect, aspect)).picture(drawing(wanted, cases, [aspect]), f"Over the {TEXTS.get(aspect, aspect)}")
        section.say(*(f"{name_of(case)}: {case.failed}" for case in mine if case.failed))
        if aspect == "preload":
            section.say(*(f"preload {case.value:g}: {wanted.extension} = {case.extension:.4g}" for case in mine if not case.failed))
        head, *rows = loads([described, *mine])
        section.table(head, rows, "Loads at rest [kN]")
        head, *rows = disturbances(wanted, [described, *mine])
        sections.append(section.table(head, rows, "Every disturbance, deviations from the start of the run"))
    more = {"file": wanted.path.name, "mechanism": wanted.mechanism, "ground": wanted.ground.model_dump(), "settings": wanted.settings}
    return write_page(path, f"Supports of {wanted.mechanism}", sections, more=more)
