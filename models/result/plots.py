"""Plots of a result, page by page: several columns per figure, stages marked, absolute values or deviations from the start."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.result.readable import DUST, as_read

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

STILL = 1e-9  # of the largest value: what changes less is constant
DEFAULT_COLUMNS = 8  # drawn when nothing is asked for


def plot(
    result: Result, path: str | Path | None = None, names: Iterable[str] | None = None, *, per_page: int = 4, deviation: bool = False, title: str = ""
):
    """Draw columns over time. One file per page when there are several: FILE.png, FILE-2.png, ...; returns the figures."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("plots need matplotlib: pip install kinetree[plots]") from None
    wanted = tuple(names) if names else default_columns(result)
    pages = [wanted[k : k + per_page] for k in range(0, len(wanted), per_page)] or [()]
    figures = []
    for page in pages:
        figure = Figure(figsize=(9.0, 0.8 + 1.9 * max(len(page), 1)), layout="constrained")
        axes = np.atleast_1d(np.array(figure.subplots(max(len(page), 1), 1, sharex=True)))
        for axis, name in zip(axes, page, strict=False):
            draw(axis, result, name, deviation)
        axes[-1].set_xlabel("time [s]")
        figure.suptitle(title or result.name or "")
        figures.append(figure)
    if path is not None:
        target = Path(path)
        for k, figure in enumerate(figures):
            figure.savefig(target if k == 0 else target.with_name(f"{target.stem}-{k + 1}{target.suffix}"), dpi=130)
    return figures


def default_columns(result: Result) -> tuple[str, ...]:
    """What moves: outputs first, then coordinates; speeds and what stays constant but for rounding only where there is nothing else."""
    moving = [name for name in result.names if name not in result.EXTRA and moves(result, name)]
    replay = getattr(result, "replay", None)
    outputs = replay.unit.description.outputs if replay is not None else ()
    asked = [name for name in moving if name.partition("[")[0] in outputs]
    plain = [*asked, *(name for name in moving if name not in asked and not name.startswith("der("))]
    return tuple((plain or moving or list(result.names))[:DEFAULT_COLUMNS])


def moves(result: Result, name: str) -> bool:
    """Whether a column changes by more than rounding."""
    values = result[name][np.isfinite(result[name])]
    return bool(values.size) and float(np.ptp(values)) > max(STILL * float(np.abs(values).max()), DUST.get(result.unit(name), 0.0))


def draw(axis, result: Result, name: str, deviation: bool) -> None:
    """One column, with the stages shaded in turn."""
    values = result[name] - (result[name][0] if deviation else 0.0)
    values, unit = as_read(result, name, values, difference=deviation)
    axis.plot(result.time, values, linewidth=1.2, color="#1f5f8b")
    axis.set_ylabel(f"{'Δ ' if deviation else ''}{name}" + (f"\n[{unit}]" if unit not in ("", "1") else ""))
    axis.grid(True, linewidth=0.4, alpha=0.6)
    axis.margins(x=0.0)
    for event in result.events:
        if event.kind == "stage":
            axis.axvline(event.time, color="#b03030", linewidth=0.8, linestyle="--")
            axis.annotate(event.stage, (event.time, 1.0), xycoords=("data", "axes fraction"), fontsize=7, color="#b03030", va="top", rotation=90)
