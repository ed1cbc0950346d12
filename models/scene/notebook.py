"""Notebook displays of mechanisms, results and equilibria: a picture and a table; missing extras do
not cause errors.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.result.number_format import DUST, as_read, written

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Linear, Mode
    from kinetree.models.result.result import Result
    from kinetree.models.system.system import System

NOTEBOOK_ROWS = 16
SIZE = (560, 320)
MODES = 8
MOVING = 3  # names that stand for the shape of a mode


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table; the first column is left-aligned, the others right-aligned."""

    def line(cells: Sequence[str], tag: str) -> str:
        aligned = (
            f'<{tag} style="text-align:{"right" if k else "left"}">{escape(cell)}</{tag}>'
            for k, cell in enumerate(cells)
        )
        return f"<tr>{''.join(aligned)}</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def picture(data: dict[str, Any], part: float = 0.0) -> str:
    """Return one instant of a scene as an image, or None if the drawing packages are missing."""
    from kinetree.models.scene.overlays import tools
    from kinetree.models.scene.video import Painter

    try:
        Image = tools()
    except ValueError:
        return ""
    bare = {**data, "clips": [{**data["clips"][0], "plots": []}]}
    painter = Painter(bare, SIZE)
    stream = io.BytesIO()
    Image.fromarray(painter.frame(int(round(part * (painter.time.size - 1))))).save(stream, "PNG")
    return f'<img alt="" width="{SIZE[0]}" src="data:image/png;base64,{b64encode(stream.getvalue()).decode()}">'


def system_html(system: System) -> str:
    """Return name, counts, a picture of the start, coordinates, inputs and outputs of a system as
    HTML.
    """
    from kinetree.models.scene.make_scenes import start_scene

    d = system.description
    bodies, freedoms, stages = len(system.bodies), system.freedoms, len(system.stages)
    counts = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {freedoms} {'degree' if freedoms == 1 else 'degrees'} of freedom"
    counts += f", {stages} stages" if stages > 1 else ""
    rows = {
        "coordinates": system.coordinates,
        "inputs": d.inputs,
        "outputs": d.outputs,
        "parameters": d.parameters,
        "forces": d.forces,
    }
    listed = [
        (
            name,
            ", ".join(list(names)[:NOTEBOOK_ROWS]) + (" ..." if len(names) > NOTEBOOK_ROWS else ""),
        )
        for name, names in rows.items()
        if names
    ]
    shown = picture(start_scene(system).data()) if system.bodies else ""
    return (
        f"<b>{escape(d.name)}</b> {escape(d.text)}<br>{counts}<br>{shown}{table(('', ''), listed)}"
    )


def result_html(result: Result) -> str:
    """Return HTML with a plot; start, end and extremes of the first columns in suitable units; and
    the events.
    """
    names = [name for name in result.names if name not in result.EXTRA]
    rows = []
    for name in names[:NOTEBOOK_ROWS]:
        values = result[name][np.isfinite(result[name])]
        numbers = (
            np.array([values[0], values[-1], values.min(), values.max()])
            if values.size
            else np.full(4, np.nan)
        )
        numbers, unit = as_read(
            result, name, np.where(np.abs(numbers) < DUST.get(result.unit(name), 0.0), 0.0, numbers)
        )
        rows.append((name, *(written(float(x), 5) for x in numbers), unit))
    more = f"<br>{len(names) - NOTEBOOK_ROWS} more columns" if len(names) > NOTEBOOK_ROWS else ""
    events = "".join(
        f"<br>{written(e.time, 6)} s: {escape(e.kind)} {escape(e.stage)}"
        for e in result.events[:NOTEBOOK_ROWS]
    )
    span = f"{written(float(result.time[0]))} to {written(float(result.time[-1]))} s, {len(result)} rows"
    head = ("", "start", "end", "smallest", "largest", "")
    return (
        f"<b>{escape(result.name)}</b> {span}<br>{drawn(result)}"
        f"{table(head, rows)}{more}{events}<br>result.animate() shows it move"
    )


def drawn(result: Result) -> str:
    """Return the first page of plots as HTML, or an empty text if matplotlib is missing."""
    from kinetree.models.result.plots import PAGE, default_columns, image, plot

    if len(result) < 2:
        return ""
    try:
        return image(plot(result, None, default_columns(result)[:PAGE])[0]) + "<br>"
    except ValueError:
        return ""


def rest_html(rest: Equilibrium) -> str:
    """Return HTML with coordinates, states, outputs, forces and vibration modes of an equilibrium,
    each in a suitable unit.
    """
    from kinetree.models.analysis.equilibrium_table import rest_rows, shape_of

    shown = ""
    for heading, rows in rest_rows(rest).items():
        more = f"{len(rows) - NOTEBOOK_ROWS} more" if len(rows) > NOTEBOOK_ROWS else ""
        shown += table(
            (heading, "", ""), [*rows[:NOTEBOOK_ROWS], *([(more, "", "")] if more else [])]
        )
    small = (
        modes_html(rest.modes, lambda mode: ", ".join(name for name, _ in shape_of(rest, mode)))
        if rest.modes
        else ""
    )
    return f"<b>{escape(rest.stability)} rest</b>{shown}{small}"


def modes_html(modes: Sequence[Mode], shape: Callable[[Mode], str] | None = None) -> str:
    """Return an HTML table of frequencies, damping ratios and dominant coordinates."""

    def moving(mode: Mode) -> str:
        return ", ".join(sorted(mode.shape, key=lambda name: -abs(mode.shape[name]))[:MOVING])

    rows = [
        (f"{written(mode.frequency, 5)} Hz", written(mode.damping, 3), (shape or moving)(mode))
        for mode in modes[:MODES]
    ]
    more = f"<br>{len(modes) - MODES} more" if len(modes) > MODES else ""
    return table(("small motions", "damping ratio", ""), rows) + more


def linear_html(linear: Linear) -> str:
    """Return states, inputs, outputs and modes of a linear system as HTML."""
    names = {"states": linear.states, "inputs": linear.inputs, "outputs": linear.outputs}
    listed = [
        (
            name,
            str(len(own)),
            ", ".join(own[:NOTEBOOK_ROWS]) + (" ..." if len(own) > NOTEBOOK_ROWS else ""),
        )
        for name, own in names.items()
    ]
    return table(("linearised", "", ""), listed) + modes_html(linear.modes())
