"""Plots of a result, page by page: several columns per figure, stages marked, absolute values or deviations from the start."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.beams.beam_reports import hinge_coordinates
from kinetree.models.result.atomic_file import whole_file
from kinetree.models.result.number_format import DUST, as_read
from kinetree.models.result.shown_names import shown_name

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

STILL = 1e-9  # of the largest value: what changes less is constant
PAGE = 4  # columns on a page
DEFAULT_COLUMNS = 8  # drawn when nothing is asked for


class Pictures(list[Any]):
    """A list of figures, one per page, which notebooks display."""

    def _repr_html_(self) -> str:
        return "<br>".join(map(image, self))

    def __repr__(self) -> str:
        return f"{len(self)} {'figure' if len(self) == 1 else 'figures'}: plot(path) writes them"


def image(figure: Any, dpi: int = 90) -> str:
    """Return a figure as an image embedded in a page."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=dpi)
    return f'<img alt="" src="data:image/png;base64,{b64encode(stream.getvalue()).decode()}">'


def plot(
    result: Result,
    path: str | Path | None = None,
    names: Iterable[str] | None = None,
    *,
    per_page: int = PAGE,
    deviation: bool = False,
    title: str = "",
    window: Sequence[float] | None = None,
    stages: Sequence[str] = (),
):
    """Draw columns over time and return the figures, which notebooks display. With several pages
    the files are FILE.png, FILE-2.png, ....

    `window` (from, to) and `stages` (names, * for any text) select the part of the run to draw.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("plots need matplotlib: pip install kinetree[plots]") from None
    wanted = tuple(names) if names else default_columns(result)
    rows = drawn_rows(result, window, stages)
    pages = [wanted[k : k + per_page] for k in range(0, len(wanted), per_page)] or [()]
    figures = Pictures()
    for page in pages:
        figure = Figure(figsize=(9.0, 0.8 + 1.9 * max(len(page), 1)), layout="constrained")
        axes = np.atleast_1d(np.array(figure.subplots(max(len(page), 1), 1, sharex=True)))
        for axis, name in zip(axes, page, strict=False):
            draw(axis, result, name, deviation, rows)
        axes[-1].set_xlabel("time [s]")
        figure.suptitle(title or result.name or "")
        figures.append(figure)
    if path is not None:
        target = Path(path) if Path(path).suffix else Path(f"{path}.png")
        for place, figure in zip(page_paths(target, len(figures)), figures, strict=True):
            with whole_file(place) as draft:
                figure.savefig(draft, dpi=130)
    return figures


def page_paths(path: Path, pages: int) -> list[Path]:
    """Return the file names FILE.png, FILE-2.png, ... of the pages."""
    return [
        path if k == 0 else path.with_name(f"{path.stem}-{k + 1}{path.suffix}")
        for k in range(pages)
    ]


def drawn_rows(result: Result, window: Sequence[float] | None, stages: Sequence[str]) -> np.ndarray:
    """Return a mask of the rows to be drawn."""
    found = np.ones(result.time.size, dtype=bool)
    if window is not None:
        found &= (result.time >= window[0]) & (result.time <= window[1])
    if stages:
        from kinetree.models.result.stage_tables import label, matching

        number = result["stage"].astype(int)
        names = {k: label(result, k) for k in dict.fromkeys(number.tolist())}
        chosen = set(matching(stages, list(names.values()), "stage"))
        found &= np.isin(number, [k for k, name in names.items() if name in chosen])
    if not found.any():
        raise ValueError("nothing to draw: the run has no rows in this window and these stages")
    return found


def default_columns(result: Result) -> tuple[str, ...]:
    """Return the default columns of a plot: moving outputs, then coordinates; speeds only if
    nothing else moves.
    """
    replay = getattr(result, "replay", None)
    outputs = replay.unit.description.outputs if replay is not None else ()
    left_out = {*result.EXTRA}
    if replay is not None:
        left_out |= hinge_coordinates(replay.unit.description)
    moving = [name for name in result.names if name not in left_out and moves(result, name)]
    asked = [name for name in moving if name.partition("[")[0] in outputs]
    plain = [
        *asked,
        *(name for name in moving if name not in asked and not name.startswith("der(")),
    ]
    return tuple((plain or moving or list(result.names))[:DEFAULT_COLUMNS])


def moves(result: Result, name: str) -> bool:
    """Return whether a column changes by more than rounding."""
    values = result[name][np.isfinite(result[name])]
    return bool(values.size) and float(np.ptp(values)) > max(
        STILL * float(np.abs(values).max()), DUST.get(result.unit(name), 0.0)
    )


def draw(axis, result: Result, name: str, deviation: bool, rows: np.ndarray) -> None:
    """Draw one column with marks of stages; omitted rows leave a gap."""
    time = result.time
    values = np.where(rows, result[name] - (result[name][rows][0] if deviation else 0.0), np.nan)
    values, unit = as_read(result, name, values, difference=deviation)
    axis.plot(time, values, linewidth=1.2, color="#1f5f8b")
    axis.set_ylabel(
        f"{'Δ ' if deviation else ''}{shown_name(result, name)}"
        + (f"\n[{unit}]" if unit not in ("", "1") else "")
    )
    axis.grid(True, linewidth=0.4, alpha=0.6)
    axis.margins(x=0.0)
    axis.set_xlim(time[rows][0], time[rows][-1] if rows.sum() > 1 else None)
    for event in result.events:
        if event.kind == "stage" and time[rows][0] <= event.time <= time[rows][-1]:
            axis.axvline(event.time, color="#b03030", linewidth=0.8, linestyle="--")
            axis.annotate(
                event.stage,
                (event.time, 1.0),
                xycoords=("data", "axes fraction"),
                fontsize=7,
                color="#b03030",
                va="top",
                rotation=90,
            )
