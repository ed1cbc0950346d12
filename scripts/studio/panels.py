"""Parts of the studio's page: parameters, structure, table and comparison of runs, statics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from kinetree.models.result.plots import default_columns
from kinetree.models.result.readable import as_read, written
from kinetree.scripts.reports.summary import extremes
from kinetree.scripts.studio.session import Finished, Session

POINTS = 1500  # of a curve
COLUMN = "w-full gap-1"


def parameter_rows(session: Session, changed: Callable[[str, float | None], Any]) -> None:
    """A row per parameter: name and text, value in its unit, bounds, back to the description's value."""
    rows = session.parameters()
    if not rows:
        ui.label("The description has no parameters.").classes("text-sm opacity-70")
    for name, (parameter, value) in rows.items():
        with ui.row().classes("w-full items-center no-wrap gap-2"):
            with ui.column().classes("grow gap-0 min-w-0"):
                ui.label(name).classes("text-sm font-medium")
                text = [
                    parameter.text,
                    bounds(parameter),
                    "an expression" if isinstance(parameter.value, str) and name not in session.overrides else "",
                ]
                ui.label(" · ".join(filter(None, text))).classes("text-xs opacity-60")
            field = ui.input(value=written(value, 8)).props(f'dense outlined input-class="text-right" suffix="{parameter.unit}"').classes("w-40")
            field.mark(f"parameter-{name}").props(f'aria-label="{name}" data-parameter="{name}"')
            field.on("keydown.enter", lambda _, f=field, n=name: changed(n, number(f.value)))
            field.on("blur", lambda _, f=field, n=name, v=value: changed(n, number(f.value)) if f.value != written(v, 8) else None)
            back = ui.button(icon="restart_alt", on_click=lambda _, n=name: changed(n, None)).props(
                'flat dense round size=sm title="back to the value of the description"'
            )
            back.set_visibility(name in session.overrides)


def bounds(parameter: Any) -> str:
    """Limits as a text."""
    low, high = (written(each) if isinstance(each, float) else each for each in (parameter.min, parameter.max))
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""


def number(text: Any) -> float | None:
    """What was typed as a number; None for nothing."""
    cleaned = str(text or "").strip().replace(",", ".")
    return float(cleaned) if cleaned else None


def structure(session: Session) -> None:
    """The tree of bodies, each with the joint that carries it."""
    mechanism = session.mechanism
    if mechanism is None or mechanism.description.chain is not None:
        ui.label("A linear chain." if mechanism else "").classes("text-sm")
        return
    from kinetree.scripts.commands.info import count
    from kinetree.scripts.terminal.anatomy import anatomy

    content = anatomy(mechanism.compile())
    joints = {joint["name"]: joint for joint in content["joints"]}
    nodes: dict[str, dict[str, Any]] = {"ground": {"id": "ground", "label": "ground", "children": []}}
    for body in content["bodies"]:
        joint = joints[body["joint"]]
        kind = joint["type"] if joint["type"] != "transforms" else ", ".join(joint["coordinates"]) or "fixed"
        nodes[body["name"]] = {"id": body["name"], "label": f"{body['name']}  ({joint['name']}: {kind})", "children": []}
        nodes[body["parent"]]["children"].append(nodes[body["name"]])
    cuts = f", closed by {', '.join(content['cut_joints'])}" if content["cut_joints"] else ""
    counted = f"{count(content['bodies'], 'body', 'bodies')}, {count(content['freedoms'], 'freedom', 'freedoms')}"
    ui.label(f"{counted}{cuts}; form {content['method']}").classes("text-sm")
    ui.tree([nodes["ground"]], label_key="label").props("dense").expand()
    if content["stages"]:
        ui.label("Stages: " + ", ".join(content["stages"])).classes("text-sm")


def table_of(finished: Finished) -> None:
    """Start, end and extremes of what a run recorded, in units that fit; its events."""
    result = finished.result
    rows = []
    for name in result.names:
        if name in result.EXTRA and name != "energy":
            continue
        values = {key: value for key, value in extremes(result, name).items() if key != "unit"}
        numbers, shown = as_read(result, name, np.array(list(values.values()), dtype=float))
        rows.append({"name": name, "unit": shown, **{key: written(float(value), 5) for key, value in zip(values, numbers, strict=True)}})
    heads = {"name": "", "start": "start", "end": "end", "smallest": "smallest", "largest": "largest", "unit": ""}
    columns = [
        {"name": key, "label": label, "field": key, "align": "left" if key in ("name", "unit") else "right", "sortable": key == "name"}
        for key, label in heads.items()
    ]
    ui.table(rows=rows, columns=columns, row_key="name").props("dense flat").classes("w-full").mark("numbers")
    for event in result.events[:30]:
        ui.label(f"{written(event.time, 6)} s: {event.kind} {event.stage}").classes("text-xs")


def statics_table(rest: dict[str, Any]) -> None:
    """Coordinates, outputs and small motions of a state of rest."""
    ui.label(f"{rest['stability']} rest").classes("text-base font-medium").mark("stability")
    for title, values in (("Coordinates", rest["coordinates"]), ("Outputs", rest["outputs"]), ("Forces", rest["forces"])):
        if values:
            ui.label(title).classes("text-xs uppercase opacity-60 mt-2")
            for name, value in values.items():
                with ui.row().classes("w-full justify-between text-sm no-wrap"):
                    ui.label(name)
                    ui.label(written(value, 6))
    if rest["modes"]:
        ui.label("Small motions").classes("text-xs uppercase opacity-60 mt-2")
        for mode in rest["modes"][:12]:
            leading = max(mode["shape"], key=lambda name, shape=mode["shape"]: shape[name])
            ui.label(f"{written(mode['frequency'], 5)} Hz, damping ratio {written(mode['damping'], 3)}, mostly {leading}").classes("text-sm")


class Comparison:
    """Variables over time, all kept runs in one chart."""

    def __init__(self, session: Session):
        self.session = session
        self.names: list[str] = []
        with ui.column().classes(COLUMN):
            self.choice = ui.select([], multiple=True, with_input=True, label="Variables", on_change=self.choose).props("use-chips dense outlined")
            self.choice.classes("w-full")
            self.chart = ui.echart({"series": []}).classes("w-full").style("height: 420px")
        self.refresh()

    def choose(self, event: Any) -> None:
        self.names = list(event.value or [])
        self.draw()

    def refresh(self) -> None:
        """After a run: names to choose from, curves anew."""
        if not self.session.runs:
            return
        result = self.session.runs[-1].result
        self.names = [name for name in self.names if name in result] or list(default_columns(result))[:1]  # type: ignore[arg-type]
        self.choice.set_options(list(result.names), value=self.names)
        self.draw()

    def draw(self) -> None:
        series = []
        for name in self.names:
            for finished in self.session.runs:
                if name not in finished.result:
                    continue
                result = finished.result
                rows = np.unique(np.linspace(0, len(result) - 1, min(len(result), POINTS)).astype(int))
                points = [[float(t), float(v) if np.isfinite(v) else None] for t, v in zip(result.time[rows], result[name][rows], strict=True)]
                unit = f" [{result.unit(name)}]" if result.unit(name) not in ("", "1") else ""
                series.append(
                    {"type": "line", "name": f"{name}{unit}, {finished.label}", "data": points, "showSymbol": False, "lineStyle": {"width": 1.6}}
                )
        self.chart.options.clear()
        self.chart.options.update({
            "animation": False, "tooltip": {"trigger": "axis"}, "legend": {"type": "scroll", "top": 0},
            "grid": {"left": 64, "right": 16, "top": 40, "bottom": 64},
            "xAxis": {"type": "value", "name": "s", "min": "dataMin", "max": "dataMax"}, "yAxis": {"type": "value", "scale": True},
            "dataZoom": [{"type": "inside"}, {"type": "slider", "height": 18, "bottom": 8}], "series": series,
        })  # fmt: skip
        self.chart.update()
