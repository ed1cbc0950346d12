"""Tables, plots and the report page of a study of supports."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.scripts.reports.linear_pictures import COLOURS, figure_of
from kinetree.scripts.reports.study_page import Section, write_page
from kinetree.scripts.studies.support_study import MODES, UNITS, Case
from kinetree.scripts.studies.supports_file import Supports

TEXTS = {
    "bedding": "bedding of the ground",
    "damping": "damping of the ground",
    "footprint": "footprint of a support",
    "bearing": "bearing pressure",
    "hardening": "growth of the bearing pressure with the settlement",
    "spread": "distances of the supports from their middle, over those described",
    "slope": "rise of the site along x",
    "cross_slope": "rise of the site along y",
    "soft": "bedding of one corner divided by that of the others",
    "preload": "share of the weight on the others",
}
Curve = tuple[str, list[float], str, str]
WIDE = 20.0  # ratio of values from which their axis is logarithmic


def milli(value: float) -> str:
    return f"{1e3 * value:z.3f}"


def number(value: float) -> str:
    """Return a number as text with a short exponent: 1e6, not 1e+06."""
    return re.sub(r"e([+-])0*", lambda sign: "e" + sign[1].strip("+"), f"{value:.4g}")


def thousandth(names: list[str], cases: list[Case]) -> str:
    """Return a thousandth of the units of columns, as text: mrad, mm, or both."""
    units = {case.units[name] for case in cases if not case.failed for name in names}
    return (
        ", ".join(f"m{unit}" for unit in sorted(units, reverse=True))
        if units and units <= {"rad", "m"}
        else "1e-3"
    )


def name_of(case: Case) -> str:
    return (
        " ".join(filter(None, (case.aspect, number(case.value), case.unit)))
        if case.aspect
        else "as described"
    )


def title_of(aspect: str, cases: list[Case]) -> str:
    """Return the name of the varied quantity with its unit."""
    unit = next((case.unit for case in cases if case.aspect == aspect), "")
    return TEXTS.get(aspect, aspect) + (f" [{unit}]" if unit else "")


def overview(wanted: Supports, cases: list[Case]) -> list[list[str]]:
    """Return the table of modes, equilibrium values, margins and deviations of all cases."""
    heads = [
        "case",
        *(f"mode {k + 1} [Hz] (ratio)" for k in range(MODES)),
        *(f"{name} at rest [{thousandth([name], cases)}]" for name in wanted.angles),
    ]
    heads += [
        "least load over mean",
        "kept in the run",
        *(
            f"{name}: {word} [{thousandth([name], cases)}]"
            for name in wanted.hold
            for word in ("largest", "left")
        ),
    ]
    rows = [heads]
    for case in cases:
        if case.failed:
            rows.append([name_of(case), "not possible", *[""] * (len(heads) - 2)])
            continue
        modes = [f"{frequency:.3f} ({ratio:.3f})" for frequency, ratio in case.modes]
        cells = [
            name_of(case),
            *modes,
            *[""] * (MODES - len(modes)),
            *(milli(case.angles[name]) for name in wanted.angles),
        ]
        cells += [f"{case.margin_at_rest:z.3f}", f"{case.margin:z.3f}"]
        for name in wanted.hold:
            cells += [milli(max(each[name] for each in case.largest)), milli(case.left[-1][name])]
        rows.append(cells)
    return rows


def disturbances(wanted: Supports, cases: list[Case]) -> list[list[str]]:
    """Return the table of every disturbance of every case: largest and remaining deviation,
    settling time.
    """
    heads = [(name, thousandth([name], cases)) for name in wanted.hold]
    words = [
        word
        for name, unit in heads
        for word in (
            f"{name}: largest [{unit}]",
            f"{name}: left [{unit}]",
            f"{name}: settled after [s]",
        )
    ]
    rows = [["case", "disturbance", *words]]
    for case in cases:
        for k, (largest, left, settled) in enumerate(
            zip(case.largest, case.left, case.settled, strict=True), 1
        ):
            times = {name: f"{time:.2f}" if time else "–" for name, time in settled.items()}
            cells = [
                text
                for name in wanted.hold
                for text in (milli(largest[name]), milli(left[name]), times[name])
            ]
            rows.append([name_of(case), str(k), *cells])
    return rows


def loads(cases: list[Case]) -> list[list[str]]:
    """Return the table of support loads at equilibrium [kN]."""
    good = [case for case in cases if not case.failed]
    rows = [["case", *(good[0].loads if good else ())]]
    return rows + [
        [name_of(case), *(f"{1e-3 * load:.2f}" for load in case.loads.values())] for case in good
    ]


def axis_of(aspect: str, cases: list[Case]) -> str:
    """Return the axis label of a quantity."""
    return title_of(aspect, cases).replace(TEXTS.get(aspect, aspect), aspect.replace("_", " "))


def points(cases: list[Case], aspect: str) -> tuple[list[float], list[Case]]:
    """Return the values of a varied quantity and their cases in ascending order, with the nominal
    case.
    """
    good = [(case.value, case) for case in cases if case.aspect == aspect and not case.failed]
    described = next((case.described for case in cases if case.aspect == aspect), math.nan)
    if (
        not math.isnan(described)
        and not cases[0].failed
        and all(value != described for value, _ in good)
    ):
        good.append((described, cases[0]))
    good.sort(key=lambda pair: pair[0])
    return [value for value, _ in good], [case for _, case in good]


def curves(
    wanted: Supports, cases: list[Case], good: list[Case]
) -> tuple[tuple[str, list[Curve]], ...]:
    """Return three groups of axis label and curves over a varied quantity: modes, loads,
    deviations.
    """
    modes = [
        (
            f"mode {k + 1}",
            [case.modes[k][0] if k < len(case.modes) else np.nan for case in good],
            COLOURS[k % len(COLOURS)],
            "o-",
        )
        for k in range(MODES)
    ]
    words = (
        ("margin_at_rest", "least load divided by mean, at equilibrium"),
        ("margin", "least load in the run divided by that at equilibrium"),
    )
    margins = [
        (label, [getattr(case, key) for case in good], COLOURS[k], "o-")
        for k, (key, label) in enumerate(words)
    ]
    moved: list[Curve] = []
    for k, name in enumerate(wanted.hold):
        colour = COLOURS[k % len(COLOURS)]
        moved.append(
            (
                f"{name}, largest",
                [1e3 * max(each[name] for each in case.largest) for case in good],
                colour,
                "o-",
            )
        )
        moved.append(
            (
                f"{name}, left at the end",
                [1e3 * abs(case.left[-1][name]) for case in good],
                colour,
                "o--",
            )
        )
    return (
        ("frequency [Hz]", modes),
        ("share of the load", margins),
        (f"deviation [{thousandth(wanted.hold, cases)}]", moved),
    )


def plot(place: Any, title: str, x: list[float], label: str, lines: list[Curve]) -> None:
    """Draw one plot over a quantity."""
    for text, y, colour, style in lines:
        thin = 0.9 if "--" in style else 1.1
        place.plot(
            x,
            y,
            style,
            color=colour,
            linewidth=thin,
            markersize=2.5 + 5.0 * (thin - 0.9),
            label=text,
        )
    place.set_xlabel(title, fontsize="small")
    place.set_ylabel(label)
    place.grid(alpha=0.4)
    place.set_ylim(
        0.0, (1.2 + 0.13 * len(place.lines)) * max(place.dataLim.y1, 1e-12)
    )  # room for the legend
    if x and min(x) > 0.0 and max(x) / min(x) >= WIDE:
        place.set_xscale("log")


def drawing(wanted: Supports, cases: list[Case], aspects: list[str]) -> Any:
    """Return one row of plots per varied quantity: modes, margins, deviations over its values."""
    figure, axes = figure_of(len(aspects), 3, 11.0, 0.4 + 2.5 * len(aspects))
    for places, aspect in zip(axes, aspects, strict=True):
        x, good = points(cases, aspect)
        for place, (label, lines) in zip(places, curves(wanted, cases, good), strict=True):
            plot(place, axis_of(aspect, cases), x, label, lines)
    for place in axes[0]:
        place.legend(fontsize="x-small")
    return figure


def pictures(section: Section, wanted: Supports, cases: list[Case], aspect: str) -> None:
    """Add the plots of a varied quantity to the report section."""
    x, good = points(cases, aspect)
    captions = ("The slowest modes", "Loads of the supports", "Deviations while it is disturbed")
    for caption, (label, lines) in zip(captions, curves(wanted, cases, good), strict=True):
        figure, axes = figure_of(1, 1, 4.2, 3.0)
        plot(axes[0][0], axis_of(aspect, cases), x, label, lines)
        axes[0][0].legend(fontsize="x-small")
        section.picture(figure, caption)
    section.beside = True


def draw(wanted: Supports, cases: list[Case], path: Path) -> None:
    """Draw the plots of all varied quantities into one picture."""
    drawing(wanted, cases, list(wanted.vary)).savefig(path, dpi=110)


def write_report(wanted: Supports, cases: list[Case], path: Path) -> Path:
    """Write the report page: an overview, then each varied quantity."""
    described = cases[0]
    head, *rows = overview(wanted, cases)
    first = Section("All cases").table(head, rows)
    first.say(
        "One quantity is changed at a time. Modes: the slowest oscillations about the equilibrium, with their damping ratios.",
        "Least load over mean: the least load of a support at equilibrium divided by the mean of all. Kept in the run: the least load of a support"
        " in the run divided by its load at equilibrium; 0 means that it lifts off.",
        "Largest, left: the largest deviation from the start of the run, and the remaining one before the next disturbance or at the end.",
        f"Settled after: the time until a deviation stays within {1e3 * wanted.band:g} {thousandth(wanted.hold, cases)} of what is left;"
        " – means that it never went beyond.",
    )
    sections = [first]
    for aspect in wanted.vary:
        mine = [case for case in cases if case.aspect == aspect]
        title = title_of(aspect, cases)
        section = Section(title[0].upper() + title[1:])
        pictures(section, wanted, cases, aspect)
        section.say(*(f"{name_of(case)}: {case.failed}" for case in mine if case.failed))
        if aspect == "preload":
            section.say(
                *(
                    f"preload {case.value:g}: {wanted.extension} = {case.extension:.4g}"
                    for case in mine
                    if not case.failed
                )
            )
        head, *rows = loads([described, *mine])
        section.table(head, rows, "Loads at rest [kN]")
        head, *rows = disturbances(wanted, [described, *mine])
        sections.append(
            section.table(head, rows, "Every disturbance, deviations from the start of the run")
        )
    ground = (
        wanted.ground.model_dump(exclude_none=True) if wanted.ground.bedding is not None else {}
    )
    more = {"file": wanted.path.name, "mechanism": wanted.mechanism}
    more |= {
        "ground": ", ".join(f"{key} {number(value)} {UNITS[key]}" for key, value in ground.items())
        or "as the mechanism has it"
    }
    more |= (
        {"settings": ", ".join(f"{key} = {value}" for key, value in wanted.settings.items())}
        if wanted.settings
        else {}
    )
    return write_page(path, f"Supports of {wanted.mechanism}", sections, more=more)
