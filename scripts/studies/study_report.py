"""The report of a parameter study: distributions of measures, rank correlations with parameters,
maps over two parameters.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinetree.scripts.reports.study_page import Section, write_page
from kinetree.scripts.studies.sobol_indices import indices
from kinetree.scripts.studies.study import Study
from kinetree.scripts.studies.study_rows import failed

MAX_DRAWN_MEASURES = 12  # measures that are drawn
STANDS = 1e-3  # modulus margin of a loop that hardly stands; 0 where it does not
DIGITS = 9  # of the largest value: what differs less is equal, whatever its rounding
SHARES = (1, 5, 50, 95, 99)


def rank_correlations(values: np.ndarray, inputs: int) -> np.ndarray:
    """Return Spearman's rank correlation of every measure (rows) with every parameter; 0 where one
    of them is constant.
    """
    from scipy.stats import rankdata

    sizes = np.abs(values).max(axis=0, initial=1e-300)
    ranks = np.array(
        [
            rankdata(np.round(column, DIGITS))
            if np.isfinite(column).all()
            else np.zeros(column.size)
            for column in (values / sizes).T
        ]
    )
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1)
    unit = centred / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    return np.round(unit[inputs:] @ unit[:inputs].T, DIGITS) + 0.0


def write_report(study: Study, rows: list[list[float]], path: Path) -> Path:
    """Write the report page of a study."""
    every, names, count = np.array(rows), study.columns(), len(study.vary)
    lost = failed(rows, count)
    values = np.delete(every, lost, axis=0)
    sections = [summary(study, values, names, count)]
    if lost:
        sections[0].say(
            f"{len(lost)} of {len(rows)} runs failed, found no equilibrium or ended early: they have no values and are not counted."
        )
    if len(values) > 2:
        head = ("measure", *names[:count])
        ties = rank_correlations(values, count)
        follow = Section("Rank correlation").say(
            "Spearman correlation of every measure with every parameter: ±1 monotonic, 0 no relation."
        )
        sections.append(
            follow.table(
                head,
                [(name, *map(float, row)) for name, row in zip(names[count:], ties, strict=True)],
            )
        )
    if study.combine == "indices" and len(values) == study.count():
        sections.append(shares(values, names, count))
    if (
        study.combine == "grid"
        and count == 2
        and min(len(v) for v in study.vary.values() if isinstance(v, list)) > 1
    ):
        sections.append(maps(study, every, names))
    elif len(values) > 9:
        sections.append(histograms(values, names, count))
    sections.append(Section("All runs").table(names, rows))
    more = {
        "study": study.path,
        "mechanism": study.mechanism,
        "combine": study.combine,
        "samples": len(rows),
        "seed": study.seed,
    }
    return write_page(path, f"Study {study.path.stem}", sections, more=more)


def summary(study: Study, values: np.ndarray, names: list[str], count: int) -> Section:
    """Return the section with percentiles, and the number of unstable runs where growth rates were
    computed.
    """
    section = Section("Results").table(
        ("measure", *(f"{share} %" for share in SHARES), "smallest", "largest"),
        [(name, *map(float, np.nanpercentile(values[:, k], SHARES)), float(np.nanmin(values[:, k])), float(np.nanmax(values[:, k])))
         for k, name in enumerate(names) if k >= count],
    )  # fmt: skip
    if "growth" in names:
        share = float((values[:, names.index("growth")] > 0.0).mean())
        section.say(f"{100 * share:.3g} % of {len(values)} runs have an unstable equilibrium.")
    spreads = {
        name: str(values) for name, values in study.vary.items() if not isinstance(values, list)
    }
    return section.say(*(f"{name}: {text}" for name, text in spreads.items()))


def shares(values: np.ndarray, names: list[str], count: int) -> Section:
    """Return the section with the Sobol indices of every measure."""
    from kinetree.scripts.reports.linear_pictures import figure_of

    section = Section("Sobol indices").say(
        "Share of the variance that comes from a parameter alone (first order) and with all others (total); ± 95 %."
    )
    figure, axes = figure_of(1, min(3, len(names) - count), 10.0, 3.0)
    for k, measure in enumerate(names[count : count + MAX_DRAWN_MEASURES], count):
        found = indices(values[:, k], names[:count])
        rows = [
            (name, *(float(found[key][j]) for key in ("S1", "S1_conf", "ST", "ST_conf")))
            for j, name in enumerate(names[:count])
        ]
        section.table(("parameter", "first order", "±", "total", "±"), rows, measure)
        if k - count < axes.size:
            place = axes.ravel()[k - count]
            for shift, key, label in ((-0.2, "S1", "first order"), (0.2, "ST", "total")):
                place.bar(
                    np.arange(count) + shift,
                    found[key],
                    0.4,
                    yerr=found[f"{key}_conf"],
                    label=label,
                )
            place.set(title=measure, xticks=range(count), xticklabels=names[:count])
            place.legend(fontsize=8)
    return section.picture(figure, "Sobol indices")


def histograms(values: np.ndarray, names: list[str], count: int) -> Section:
    """Return the section with one histogram per measure."""
    from kinetree.scripts.reports.linear_pictures import figure_of

    shown = names[count : count + MAX_DRAWN_MEASURES]
    figure, axes = figure_of(-(-len(shown) // 3), 3, 10.0, 0.6 + 2.4 * -(-len(shown) // 3))
    for k, place in enumerate(axes.ravel()):
        if k < len(shown):
            place.hist(values[:, count + k][np.isfinite(values[:, count + k])], bins=40)
            place.set(xlabel=shown[k], ylabel="runs")
        else:
            place.axis("off")
    return Section("Distributions").picture(figure, "Measures over all runs")


def maps(study: Study, values: np.ndarray, names: list[str]) -> Section:
    """Return the section with maps of measures over a grid of two parameters, with the stability
    boundary where growth rates were computed.
    """
    from kinetree.scripts.reports.linear_pictures import figure_of

    first, second = (np.array(v) for v in study.vary.values())
    shown = names[2 : 2 + MAX_DRAWN_MEASURES]
    figure, axes = figure_of(-(-len(shown) // 2), 2, 10.0, 0.6 + 3.4 * -(-len(shown) // 2))
    for k, place in enumerate(axes.ravel()):
        if k >= len(shown):
            place.axis("off")
            continue
        drawn: Any = place.pcolormesh(
            second, first, values[:, 2 + k].reshape(first.size, second.size), shading="nearest"
        )
        figure.colorbar(drawn, ax=place, label=shown[k])
        place.set(xlabel=names[1], ylabel=names[0])
        if "modulus_margin" in names:  # of sampled loops, too
            margin = values[:, names.index("modulus_margin")].reshape(first.size, second.size)
            if np.nanmin(margin) <= STANDS < np.nanmax(margin):
                place.contour(second, first, margin, [STANDS], colors="#b03030")
        elif "growth" in names and min(first.size, second.size) > 1:
            growth = values[:, names.index("growth")].reshape(first.size, second.size)
            if np.nanmin(growth) < 0.0 < np.nanmax(growth):
                place.contour(second, first, growth, [0.0], colors="#b03030")
    return Section("Maps").picture(figure, "Measures over two parameters; red: border of stability")
