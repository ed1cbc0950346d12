"""Plots of a linearised mechanism: Bode, Nyquist, poles, root locus, with units on every axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.analysis.frequency_response import Margins, StateSpace
from kinetree.models.analysis.linearization import Linear
from kinetree.models.result.atomic_file import whole_file

COLOURS = ("#1f5fa8", "#c0562b", "#2e7d4f", "#7a4ea3", "#8c6d1f", "#3a8f9c", "#c2428a", "#5f6b76")


def figure_of(rows: int, columns: int, width: float = 8.0, height: float = 5.0) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def save(figure: Any, path: Path) -> Path:
    with whole_file(path) as draft:
        figure.savefig(draft, dpi=120)
    return path


def per(top: str, bottom: str) -> str:
    """Return the unit of a quotient as an axis label."""
    bottom = f"({bottom})" if any(sign in bottom for sign in "./") else bottom
    return "" if not top and not bottom else f" [{top or '1'}/{bottom}]" if bottom else f" [{top}]"


def draw_bode(
    linear: Linear,
    units: Mapping[str, str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    found: Mapping,
    path: Path,
    sweep: Any = None,
) -> Path:
    """Plot gain and phase over frequency in Hz, with marked crossover frequencies and measured
    responses as dots.
    """
    figure, axes = figure_of(2, len(inputs), 1.0 + 5.5 * len(inputs), 6.0)
    for column, given in enumerate(inputs):
        above, below = axes[:, column]
        for number, output in enumerate(outputs):
            part = linear.part([given], [output])
            omega = part.frequencies()
            values = part.response(omega)[:, 0, 0]
            colour, hertz = COLOURS[number % len(COLOURS)], omega / (2 * np.pi)
            label = f"{output}{per(units.get(output, ''), units.get(given, ''))}"
            above.loglog(hertz, np.maximum(np.abs(values), 1e-300), color=colour, label=label)
            below.semilogx(hertz, np.degrees(np.unwrap(np.angle(values))), color=colour)
            if sweep is not None:
                dots = sweep.measured[:, sweep.outputs.index(output)]
                above.loglog(
                    sweep.frequencies,
                    np.abs(dots),
                    "o",
                    color=colour,
                    markersize=4,
                    label=f"{output}, measured",
                )
                near = np.interp(sweep.frequencies, hertz, np.degrees(np.unwrap(np.angle(values))))
                angles = np.degrees(np.angle(dots))
                below.semilogx(
                    sweep.frequencies,
                    angles + 360.0 * np.round((near - angles) / 360.0),
                    "o",
                    color=colour,
                    markersize=4,
                )
            margin = found.get((given, output))
            if margin is not None:
                mark(above, below, margin, colour)
        above.set_title(f"from {given}")
        above.legend(fontsize=8)
        below.set_xlabel("frequency [Hz]")
        for each in (above, below):
            each.grid(which="both", alpha=0.3)
    axes[0, 0].set_ylabel("gain")
    axes[1, 0].set_ylabel("phase [°]")
    return save(figure, path)


def mark(above: Any, below: Any, margin: Margins, colour: str) -> None:
    """Mark the crossover frequencies at gain 1 and at phase -180° in the axes of gain and phase."""
    if np.isfinite(margin.phase):
        below.axvline(margin.phase_at / (2 * np.pi), color=colour, linestyle=":", linewidth=0.8)
    if np.isfinite(margin.gain):
        above.axvline(margin.gain_at / (2 * np.pi), color=colour, linestyle="--", linewidth=0.8)


def draw_nyquist(linear: Linear, inputs: Sequence[str], outputs: Sequence[str], path: Path) -> Path:
    """Plot the Nyquist curve L(jω) for ω > 0 with the point -1."""
    figure, axes = figure_of(1, 1, 6.0, 6.0)
    place = axes[0, 0]
    for number, (given, output) in enumerate((a, b) for a in inputs for b in outputs):
        values = response_of(linear.part([given], [output]))
        near = values[np.abs(values) < 20.0]
        place.plot(
            np.real(near),
            np.imag(near),
            color=COLOURS[number % len(COLOURS)],
            label=f"{given} to {output}",
        )
    angle = np.linspace(0, 2 * np.pi, 200)
    place.plot(np.cos(angle), np.sin(angle), color="#999", linewidth=0.6)
    place.plot([-1], [0], "+", color="#b03030", markersize=12)
    place.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
    low, high = place.get_xlim()
    place.set_xlim(max(low, -6.0), min(high, 6.0))
    low, high = place.get_ylim()
    place.set_ylim(max(low, -6.0), min(high, 6.0))
    place.grid(alpha=0.3)
    place.legend(fontsize=8)
    return save(figure, path)


def response_of(part: StateSpace) -> np.ndarray:
    return part.response(part.frequencies())[:, 0, 0]


def draw_poles(linear: Linear, zeros: np.ndarray, path: Path) -> Path:
    """Plot eigenvalues and zeros in the complex plane."""
    figure, axes = figure_of(1, 1, 6.5, 5.0)
    place = axes[0, 0]
    place.plot(
        np.real(linear.eigenvalues),
        np.imag(linear.eigenvalues),
        "x",
        color=COLOURS[0],
        label="poles",
    )
    if zeros.size:
        place.plot(
            np.real(zeros), np.imag(zeros), "o", color=COLOURS[1], fillstyle="none", label="zeros"
        )
    decorate(place)
    return save(figure, path)


def decorate(place: Any) -> None:
    """Draw the axes of the complex plane."""
    place.axvline(0.0, color="#666", linewidth=0.7)
    place.set(xlabel="real part [1/s]", ylabel="imaginary part [rad/s]")
    place.grid(alpha=0.3)
    if place.get_legend_handles_labels()[1]:
        place.legend(fontsize=8)


def draw_locus(
    name: str, unit: str, values: np.ndarray, found: Sequence[np.ndarray], path: Path
) -> Path:
    """Plot the root locus over a parameter."""
    figure, axes = figure_of(1, 1, 7.0, 5.0)
    place = axes[0, 0]
    pairs = zip(values, found, strict=True)
    points = np.concatenate(
        [
            np.column_stack((np.real(each), np.imag(each), np.full(each.size, value)))
            for value, each in pairs
        ]
    )
    shown = place.scatter(points[:, 0], points[:, 1], c=points[:, 2], s=9, cmap="viridis")
    figure.colorbar(shown, label=f"{name}{f' [{unit}]' if unit else ''}")
    decorate(place)
    return save(figure, path)
