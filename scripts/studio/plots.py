"""Plots of all runs: search and drag of variables, selection of a time range or stage, saved sets
of plots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from nicegui import ui

from kinetree.models.result.number_format import as_read
from kinetree.models.result.plots import default_columns
from kinetree.models.result.shown_names import shown_name
from kinetree.scripts.studio.session import Finished, Session
from kinetree.scripts.studio.texts import with_plots
from kinetree.scripts.studio.timeline import spans

POINTS = 1500  # of a curve
LISTED = 120  # names of the list; a search finds the others
BANDS = 60  # stages that are marked
WHOLE = "whole run"
COLOURS = ("#1f6fb5", "#c9712b", "#3c9a55", "#a35fb8", "#b5473c", "#2a9d9a", "#8a8d3a", "#7a6a5c")
DASHES = ("solid", "dashed", "dotted")


def read_together(runs: Sequence[Finished], name: str) -> tuple[list[np.ndarray], str]:
    """Return the values of a variable in several runs, in one unit that fits all of them."""
    columns = [np.asarray(run.result[name], dtype=float) for run in runs]
    numbers, unit = as_read(runs[-1].result, name, np.concatenate(columns))
    return np.split(
        numbers, np.cumsum([column.size for column in columns])[:-1]
    ), "" if unit == "1" else unit


def chart(
    runs: Sequence[Finished], names: Sequence[str], window: tuple[float, float] | None, ink: str
) -> dict[str, Any]:
    """Return a chart as options for ECharts: one curve per variable and run, one axis per unit, the
    stages of the last run as bands.
    """
    series: list[dict[str, Any]] = []
    units: list[str] = []
    for k, name in enumerate(names):
        having = [run for run in runs if name in run.result]
        if not having:
            continue
        columns, unit = read_together(having, name)
        if unit not in units:
            units.append(unit)
        for n, (run, values) in enumerate(zip(having, columns, strict=True)):
            rows = np.unique(
                np.linspace(0, len(run.result) - 1, min(len(run.result), POINTS)).astype(int)
            )
            points = [
                [float(t), float(v) if np.isfinite(v) else None]
                for t, v in zip(run.result.time[rows], values[rows], strict=True)
            ]
            title = (
                shown_name(run.result, name)
                + (f" [{unit}]" if unit else "")
                + (f", {run.label}" if len(runs) > 1 else "")
            )
            shade = COLOURS[(k if len(names) > 1 else n) % len(COLOURS)]
            dash = DASHES[(len(having) - 1 - n) % len(DASHES)] if len(names) > 1 else "solid"
            series.append({
                "type": "line", "name": title, "data": points, "showSymbol": False, "yAxisIndex": min(units.index(unit), 1),
                "lineStyle": {"width": 1.6, "type": dash}, "itemStyle": {"color": shade}, "color": shade,
            })  # fmt: skip
    if series and runs:
        series[0]["markArea"] = bands(runs[-1].result)
    text = {"color": ink}
    axes = [
        {"type": "value", "scale": True, "name": unit, "nameTextStyle": text, "axisLabel": text, "position": side,
         "splitLine": {"show": side == "left", "lineStyle": {"color": "#8884"}}}
        for unit, side in zip(units[:2] or [""], ("left", "right"), strict=False)
    ]  # fmt: skip
    span = {"startValue": window[0], "endValue": window[1]} if window else {"start": 0, "end": 100}
    return {
        "animation": False, "tooltip": {"trigger": "axis", "confine": True}, "legend": {"type": "scroll", "top": 0, "textStyle": text},
        "grid": {"left": 60, "right": 60 if len(axes) > 1 else 24, "top": 44, "bottom": 58},
        "xAxis": {"type": "value", "name": "s", "min": "dataMin", "max": "dataMax", "axisLabel": text, "nameTextStyle": text,
                  "splitLine": {"lineStyle": {"color": "#8884"}}},
        "yAxis": axes, "series": series,
        "dataZoom": [{"type": "inside", "filterMode": "none", **span}, {"type": "slider", "height": 16, "bottom": 6, "filterMode": "none", **span}],
    }  # fmt: skip


def bands(result: Any) -> dict[str, Any]:
    """Return shaded bands over every second stage."""
    found = spans(result)
    if not 1 < len(found) <= BANDS:
        return {"data": []}
    named = len(found) <= 10
    areas = [
        [
            {
                "xAxis": span.begin,
                "name": span.name if named else "",
                "itemStyle": {"color": "#8882" if k % 2 else "#8880"},
            },
            {"xAxis": span.end},
        ]
        for k, span in enumerate(found)
    ]
    return {"silent": True, "label": {"fontSize": 10, "color": "#888"}, "data": areas}


class Plots:
    """The list of variables and the charts."""

    def __init__(
        self,
        session: Session,
        dark: Callable[[], bool],
        seek: Callable[[float], Any],
        rewritten: Callable[[], Any],
    ):
        self.session, self.dark, self.seek, self.rewritten = session, dark, seek, rewritten
        self.charts: list[list[str]] = []
        self.dragged = ""
        self.asked = False  # whether somebody chose what is drawn
        with ui.element("div").classes("plots w-full"):
            with ui.column().classes("names gap-1"):
                self.search = (
                    ui.input(placeholder="Find a variable", on_change=self.list_names)
                    .props("dense outlined clearable")
                    .classes("w-full")
                )
                self.search.mark("plot-search")
                self.names = ui.column().classes("w-full gap-0 list")
            with ui.column().classes("w-full gap-2 min-w-0"):
                with ui.row().classes("w-full items-center gap-2"):
                    self.every = ui.switch("all runs", value=True, on_change=self.draw).props(
                        "dense"
                    )
                    self.stage = (
                        ui.select([WHOLE], value=WHOLE, label="window", on_change=self.draw)
                        .props("dense outlined")
                        .classes("w-40")
                    )
                    self.sets = (
                        ui.select([], label="saved sets", on_change=self.take_set)
                        .props("dense outlined")
                        .classes("w-40")
                    )
                    self.title = (
                        ui.input("save plot set as").props("dense outlined").classes("w-32")
                    )
                    ui.button(icon="bookmark_add", on_click=self.keep).props(
                        "flat dense round"
                    ).mark("keep-plots").tooltip(
                        "keep the charts as a set of [report.plots] in the description"
                    )
                self.area = ui.column().classes("w-full gap-2")
        self.refresh()

    def seek_point(self, event: Any) -> Any:
        """Show the instant of a clicked point in the scene."""
        return self.seek(float(event.data[0]))

    def shown_runs(self) -> list[Finished]:
        return self.session.runs if self.every.value else self.session.runs[-1:]

    def refresh(self) -> None:
        """Update names and curves after a run or another description."""
        runs = self.session.runs
        self.list_names()
        report = self.session.mechanism.description.report if self.session.mechanism else None
        self.sets.set_options(list(report.plots) if report else [])
        if runs:
            result = runs[-1].result
            named = [span.name for span in spans(result) if span.name]
            self.stage.set_options(
                [WHOLE, *named], value=self.stage.value if self.stage.value in named else WHOLE
            )
            self.charts = (
                [
                    kept
                    for names in self.charts
                    if (kept := [name for name in names if name in result])
                ]
                if self.asked
                else []
            )
            self.charts = self.charts or [[name] for name in default_columns(result)[:3]]
        self.draw()

    def list_names(self) -> None:
        """Update the list of variables that match the search, outputs first."""
        self.names.clear()
        if not self.session.runs:
            return
        result = self.session.runs[-1].result
        words = str(self.search.value or "").lower().split()
        every = [
            *(name for name in result.names if name not in result.EXTRA or name == "energy"),
            *result.derived,
        ]
        found = [
            name
            for name in every
            if all(word in f"{name} {shown_name(result, name)}".lower() for word in words)
        ]
        with self.names:
            for name in found[:LISTED]:
                row = (
                    ui.element("div")
                    .classes("variable")
                    .props(
                        f'draggable=true title="click: a new chart; drag: onto a chart" data-variable="{name}"'
                    )
                )
                with row:
                    ui.label(shown_name(result, name)).classes("ellipsis")
                    ui.label(
                        result.unit(name).replace("1", "")
                        if result.unit(name) == "1"
                        else result.unit(name)
                    ).classes("opacity-60")
                row.on("dragstart", lambda _, n=name: setattr(self, "dragged", n))
                row.on("click", lambda _, n=name: self.add(n))
            if len(found) > LISTED:
                ui.label(f"{len(found) - LISTED} more: search").classes("text-xs opacity-60 px-2")

    def add(self, name: str, k: int | None = None) -> None:
        """Add a variable to chart number k, or to a new chart."""
        self.asked = True
        if k is None:
            self.charts.append([name])
        elif name and name not in self.charts[k]:
            self.charts[k].append(name)
        self.draw()

    def drop(self, k: int) -> None:
        name, self.dragged = self.dragged, ""
        if name:
            self.add(name, k)

    def remove(self, k: int, name: str) -> None:
        self.asked = True
        self.charts[k].remove(name)
        self.charts = [names for names in self.charts if names]
        self.draw()

    def window(self) -> tuple[float, float] | None:
        """Return start and end time of the selected stage."""
        for span in spans(self.session.runs[-1].result):
            if span.name and span.name == self.stage.value:
                return span.begin, span.end
        return None

    def draw(self) -> None:
        self.area.clear()
        with self.area:
            if not self.session.runs:
                ui.label(
                    "Run the mechanism; then choose variables here, or drag them onto a chart."
                ).classes("text-sm opacity-70")
                return
            ink, window = ("#c9d1d9" if self.dark() else "#333"), self.window()
            for k, names in enumerate(self.charts):
                box = ui.element("div").classes("chart w-full").props(f'data-chart="{k}"')
                box.on("dragover.prevent", js_handler="() => {}").on(
                    "drop.prevent", lambda _, n=k: self.drop(n)
                )
                with box:
                    with ui.row().classes("gap-1 items-center"):
                        for name in names:
                            chip = ui.chip(
                                shown_name(self.session.runs[-1].result, name),
                                removable=True,
                                on_click=lambda _, each=name: self.ask_name(each),
                            ).props("dense square outline size=sm")
                            chip.tooltip(f"{name}: click to give it another name")
                            chip.on("remove", lambda _, n=k, each=name: self.remove(n, each))
                    made = ui.echart(
                        chart(self.shown_runs(), names, window, ink), on_point_click=self.seek_point
                    )
                    made.classes("w-full").style("height: 250px")

    def ask_name(self, name: str) -> None:
        """Open a dialog for the display name of a variable."""
        with ui.dialog(value=True) as dialog, ui.card().classes("w-80"):
            ui.label(f"Name shown for {name}").classes("text-sm font-medium")
            field = ui.input(value=shown_name(self.session.runs[-1].result, name))
            field.props("dense outlined autofocus").classes("w-full").mark("shown-name")
            field.props('aria-label="name shown"')

            def take() -> None:
                dialog.close()
                self.rename(name, str(field.value or ""))

            field.on("keydown.enter", take)
            with ui.row().classes("w-full justify-end"):
                ui.button("Rename", on_click=take).props("dense no-caps unelevated").classes(
                    "px-3"
                ).mark("rename")

    def rename(self, name: str, shown: str) -> None:
        """Set the display name of a variable in [report.names] of the description."""
        problems = self.session.rename(name, shown)
        if problems:
            ui.notify("; ".join(problems), type="negative", multi_line=True)
            return
        self.rewritten()
        self.list_names()
        self.draw()

    def take_set(self, event: Any) -> None:
        """Show the charts of a set in [report.plots]."""
        report = self.session.mechanism.description.report if self.session.mechanism else None
        if (
            not event.value
            or report is None
            or event.value not in report.plots
            or not self.session.runs
        ):
            return
        wanted = report.plots[event.value]
        try:
            names = self.session.runs[-1].result.select(wanted.columns or None)
        except KeyError as error:
            ui.notify(str(error.args[0]), type="negative")
            return
        self.asked, self.charts = True, [[name] for name in names[:12]]
        self.draw()

    def keep(self) -> None:
        """Save the charts as a set in [report.plots]."""
        name = str(self.title.value or "").strip()
        if not name or not self.charts:
            ui.notify("a set needs a name and a chart", type="warning")
            return
        try:
            self.session.text = with_plots(
                self.session.text,
                name,
                list(dict.fromkeys(each for names in self.charts for each in names)),
            )
        except ValueError as error:
            ui.notify(str(error), type="negative")
            return
        self.session.check()
        self.rewritten()
        ui.notify(f"[report.plots.{name}] is in the description: save it to keep it")
