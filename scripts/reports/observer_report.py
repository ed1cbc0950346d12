"""Report page of an observer: estimates with confidence bands, innovations, errors relative to
known true values.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.observers.estimation import Estimate
from kinetree.models.observers.estimation_setup import Recorded
from kinetree.scripts.reports.html_report import heading, paragraph, picture, table, write_report
from kinetree.scripts.reports.linear_pictures import figure_of, save

BAND = 1.96  # standard deviations of a 95 % band
MAX_PANELS = 12
BLUE, RED, SHADE = "#1f6fb5", "#c9512b", "#1f6fb533"


def write_observer_report(
    path: Path,
    title: str,
    mechanism: str,
    found: Estimate,
    content: Mapping[str, Any],
    truth: Mapping[str, Any],
    record: Recorded,
) -> Path:
    """Write the report page of an observer."""
    rows = [["", "value", "± std", "± at the start", "unit"]]
    for name, each in content["estimates"].items():
        cells = [f"{each['value']:.6g}", f"{each['std']:.3g}", f"{each['std_at_start']:.3g}"]
        rows.append([name, *cells, each["unit"]])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        parts = [
            paragraph(
                f"Mechanism {mechanism}; method {found.method}; {content['readings']} readings "
                f"from {found.time[0]:.6g} s to {found.time[-1]:.6g} s."
            ),
            table(rows, "Estimates at the end"),
            heading("How far to trust them"),
            *(paragraph(line) for line in sentences(content)),
            heading("Estimates over time"),
            picture(
                draw_estimates(found, truth, record, folder / "estimates.png"),
                "Estimates with their 95 % bands; red: known truth",
            ),
            heading("Innovations"),
            picture(
                draw_innovations(found, folder / "innovations.png"),
                "Readings minus predictions, with the 95 % band that the filter expects",
            ),
        ]
    return write_report(path, f"Observer: {title}", parts)


def sentences(content: Mapping[str, Any]) -> list[str]:
    """Return sentences on estimates and consistency for an engineer."""
    nis = content["normalised_innovation_squared"]
    found = [
        f"Normalised innovation squared: mean {nis['mean']:.3g}, 95 % band {nis['low']:.3g} to "
        f"{nis['high']:.3g}: the filter is {nis['verdict']}."
    ]
    if nis["verdict"] == "overconfident":
        found.append(
            "Its standard deviations are too small: give the sensors or [process] more noise, or use --fit."
        )
    correlation = content["autocorrelation"]
    if abs(correlation["value"]) > correlation["bound"]:
        found.append(
            f"Successive innovations correlate by {correlation['value']:.2g} (bound {correlation['bound']:.2g}): "
            "the model or the noise of the process does not fit the record."
        )
    for name, each in content["normalised_error_squared"].items():
        found.append(f"Normalised error squared of {name}: mean {each['mean']:.3g}, 1 expected.")
    unknown = [name for name, each in content["estimates"].items() if not each["known"]]
    if unknown:
        found.append(f"The readings tell nothing of {', '.join(unknown)}.")
    for a, b, correlation_of in content["indistinguishable"]:
        found.append(
            f"Only a combination of {a} and {b} is known (correlation {correlation_of:.5f}): "
            "another sensor or another motion would separate them."
        )
    for each in content["stages"]:
        found.append(
            f"Stage '{each['stage']}' from {each['time']:.6g} s: information changed by {-each['entropy_change']:.3g} nats."
        )
    for name, factor in content["fitted_factors"].items():
        found.append(f"Fitted: {name} times {factor:.3g}.")
    return found


def label(name: str, unit: str) -> str:
    """Return a name with its unit for an axis."""
    return f"{name} [{unit}]" if unit and unit != "1" else name


def draw_estimates(found: Estimate, truth: Mapping[str, Any], record: Recorded, path: Path) -> Path:
    """Plot every estimate with its confidence band."""
    names = found.names[-MAX_PANELS:]
    figure, axes = figure_of(len(names), 1, height=1.9 * len(names) + 0.6)
    for place, name in zip(np.atleast_1d(axes).ravel(), names, strict=True):
        value, spread = found[name], BAND * found.deviation(name)
        place.fill_between(found.time, value - spread, value + spread, color=SHADE, linewidth=0)
        place.plot(found.time, value, color=BLUE, linewidth=1.2)
        if name in truth:
            right = truth[name]
            flat = np.ndim(right) == 0
            place.plot(
                found.time[[0, -1]] if flat else record.time,
                [right, right] if flat else right,
                color=RED,
                linewidth=1.0,
            )
        late = slice(len(value) // 10, None)
        low, high = np.nanmin((value - spread)[late]), np.nanmax((value + spread)[late])
        if np.isfinite(low) and high > low:
            place.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
        place.set_ylabel(label(name, found.units.get(name, "")), fontsize=8)
        place.grid(alpha=0.3)
    np.atleast_1d(axes).ravel()[-1].set_xlabel("time [s]")
    return save(figure, path)


def draw_innovations(found: Estimate, path: Path) -> Path:
    """Plot the innovations of every sensor."""
    names = list(found.readings)[:MAX_PANELS]
    figure, axes = figure_of(len(names), 1, height=1.9 * len(names) + 0.6)
    for place, name in zip(np.atleast_1d(axes).ravel(), names, strict=True):
        time, residual, size = found.readings[name]
        place.fill_between(time, -BAND * size, BAND * size, color=SHADE, linewidth=0)
        place.plot(time, residual, ".", color=BLUE, markersize=2)
        late = size[len(size) // 20 :]
        place.set_ylim(-4 * late.max(), 4 * late.max())
        place.set_ylabel(label(name, found.units.get(name, "")), fontsize=8)
        place.grid(alpha=0.3)
    np.atleast_1d(axes).ravel()[-1].set_xlabel("time [s]")
    return save(figure, path)
