"""The panel of parameter maps: parameters with their ranges, a measure, one run per point, a curve
or a map.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from nicegui import ui

from kinetree.models.result.number_format import written
from kinetree.scripts.measures.run_measures import MEASURES, REST, TEXTS, VALUE
from kinetree.scripts.studio.maps import Axis, Map, run_map, spread, suggested
from kinetree.scripts.studio.panels import number
from kinetree.scripts.studio.session import Session
from kinetree.scripts.studio.values import inside, shown, unit_of

NONE = "–"
COUNT = {0: 15, 1: 9}  # points along the first and the second parameter at first
Work = Callable[..., Awaitable[Any]]


class Study:
    """The settings and result of a parameter map."""

    def __init__(
        self, session: Session, work: Work, dark: Callable[[], bool], end: Callable[[], Any]
    ):
        self.session, self.work, self.dark, self.end = session, work, dark, end
        self.found: Map | None = None
        self.axes: list[tuple[Any, Any, Any, Any]] = []
        with ui.column().classes("w-full gap-2"):
            ui.label(
                "One number of a run, or of the state of rest, over one parameter or over two."
            ).classes("text-sm opacity-70")
            for k in range(2):
                with ui.row().classes("w-full items-center gap-2"):
                    name = (
                        ui.select(
                            [],
                            label=("along", "and along")[k],
                            on_change=lambda _, n=k: self.named(n),
                        )
                        .classes("w-48")
                        .mark(f"map-{k}")
                    )
                    low, high = (
                        ui.input(text).classes("w-28").mark(f"map-{text}-{k}")
                        for text in ("from", "to")
                    )
                    count = ui.number(
                        "points", value=COUNT[k], min=2, max=200, precision=0
                    ).classes("w-20")
                    self.axes.append((name, low, high, count))
            with ui.row().classes("w-full items-center gap-2"):
                measures = {**dict.fromkeys(MEASURES), VALUE: None, **TEXTS}
                shown_measures = {
                    name: f"{name}: {text}"
                    if text
                    else (f"{name} of" if name != VALUE else "at rest:")
                    for name, text in measures.items()
                }
                self.measure = (
                    ui.select(shown_measures, value="max", label="measure", on_change=self.measured)
                    .classes("w-48")
                    .mark("map-measure")
                )
                self.column = (
                    ui.select([], with_input=True, label="of").classes("w-48").mark("map-column")
                )
                ui.button("Compute", icon="grid_on", on_click=self.start).props(
                    "unelevated no-caps dense"
                ).classes("px-3").mark("map-go")
                ui.button(icon="download", on_click=self.download).props(
                    "flat dense round"
                ).tooltip("the numbers as CSV")
            for each in (
                *(field for axis in self.axes for field in axis),
                self.measure,
                self.column,
            ):
                each.props("dense outlined options-dense")
            self.box = ui.column().classes("w-full")
        self.refresh()

    def refresh(self) -> None:
        """Update parameters and columns after another description."""
        names = list(self.session.parameters())
        for k, (choice, *_) in enumerate(self.axes):
            offered = [NONE, *names] if k else names
            choice.set_options(
                offered,
                value=choice.value
                if choice.value in offered
                else (NONE if k else next(iter(names), None)),
            )
        mechanism = self.session.mechanism
        if mechanism is None or mechanism.description.chain is not None:
            return
        from kinetree.models.run.simulation_unit import make_unit

        system = mechanism.compile()
        columns = [column.name for column in make_unit(system).columns]
        outputs = [
            name for name in columns if name.partition("[")[0] in mechanism.description.outputs
        ]
        self.column.set_options(
            columns,
            value=self.column.value
            if self.column.value in columns
            else next(iter(outputs or columns), None),
        )

    def named(self, k: int) -> None:
        """Suggest the range of the chosen parameter."""
        name, low, high, _ = self.axes[k]
        if name.value not in self.session.parameters():
            return
        parameter, _value = self.session.parameters()[name.value]
        for field, value in zip((low, high), suggested(self.session, name.value), strict=True):
            field.set_value(written(shown(parameter, value), 6))
            field.props(f'suffix="{unit_of(parameter)}"')

    def measured(self) -> None:
        self.column.set_visibility(self.measure.value not in REST)

    def axis(self, k: int) -> Axis | None:
        """Return the settings of axis k."""
        name, low, high, count = self.axes[k]
        if not name.value or name.value == NONE:
            return None
        parameter = self.session.parameters()[name.value][0]
        begin, end = number(low.value), number(high.value)
        if begin is None or end is None or begin == end:
            raise ValueError(f"{name.value}: a range needs two different ends")
        return spread(
            name.value,
            inside(parameter, begin),
            inside(parameter, end),
            int(count.value or 2),
            parameter.unit,
        )

    async def start(self) -> None:
        if self.session.running:
            return
        try:
            axes = tuple(axis for axis in map(self.axis, range(2)) if axis is not None)
            if not axes or len({axis.name for axis in axes}) < len(axes):
                raise ValueError("choose one parameter, or two different ones")
            end = number(self.end())
        except ValueError as error:
            ui.notify(str(error), type="negative")
            return
        measure = (
            self.measure.value
            if self.measure.value in REST
            else f"{self.measure.value}({self.column.value})"
        )
        found = await self.work(run_map, self.session, axes, measure, end)
        if found is not None:
            self.found = found
            self.draw()

    def draw(self) -> None:
        """Draw the map or curve with its extremes and failed points."""
        found = self.found
        self.box.clear()
        if found is None:
            return
        with self.box:
            ui.echart(options(found, "#c9d1d9" if self.dark() else "#333", self.read)).classes(
                "w-full"
            ).style("height: 420px").mark("map")
            for word, largest in (("largest", True), ("smallest", False)):
                case, value = found.place(largest)
                there = ", ".join(
                    f"{name} = {written(self.read(name, each), 5)} {unit_of(self.session.parameters()[name][0])}"
                    for name, each in case.items()
                )
                ui.label(f"{word}: {written(value, 5)} {found.unit} at {there}").classes("text-sm")
            done = int(np.isfinite(found.numbers).sum())
            ui.label(
                f"{done} points in {found.seconds:.2g} s" + (", stopped" if found.stopped else "")
            ).classes("text-xs opacity-60")
            for text in found.failed[:5]:
                ui.label(text).classes("text-xs text-negative")
            if len(found.failed) > 5:
                ui.label(f"{len(found.failed) - 5} more could not be run").classes(
                    "text-xs text-negative"
                )

    def read(self, name: str, value: float) -> float:
        """Convert a parameter's value from SI to its display unit."""
        known = self.session.parameters()
        return shown(known[name][0], value) if name in known else value

    def download(self) -> None:
        if self.found is not None:
            ui.download(self.found.csv().encode(), "map.csv")


def options(found: Map, ink: str, read: Callable[[str, float], float]) -> dict[str, Any]:
    """Return options for ECharts: a curve over one parameter, a colour map over two."""
    text = {"color": ink}
    title = found.measure + (f" [{found.unit}]" if found.unit not in ("", "1") else "")
    values = [[read(axis.name, value) for value in axis.values] for axis in found.axes]
    base = {
        "animation": False,
        "grid": {"left": 76, "right": 90, "top": 40, "bottom": 46},
        "title": {"text": title, "textStyle": {**text, "fontSize": 13}},
    }
    if len(values) == 1:
        points = [
            [x, float(y) if np.isfinite(y) else None]
            for x, y in zip(values[0], found.numbers, strict=True)
        ]
        line = {
            "splitLine": {"lineStyle": {"color": "#8884"}},
            "axisLabel": text,
            "nameTextStyle": text,
            "scale": True,
        }
        return base | {
            "tooltip": {"trigger": "axis"}, "xAxis": {"type": "value", "name": found.axes[0].name, **line}, "yAxis": {"type": "value", **line},
            "series": [{"type": "line", "data": points, "symbolSize": 6, "color": "#1f6fb5"}],
        }  # fmt: skip
    cells = [
        [i, j, float(found.numbers[i, j])]
        for i in range(len(values[0]))
        for j in range(len(values[1]))
        if np.isfinite(found.numbers[i, j])
    ]
    lists = [[written(value, 4) for value in each] for each in values]
    numbers = [cell[2] for cell in cells]
    shades = ["#2d3f73", "#2f7f8f", "#7fbf7b", "#f2d16b", "#d2452f"]
    return base | {
        "tooltip": {},
        "xAxis": {"type": "category", "data": lists[0], "name": found.axes[0].name, "axisLabel": text, "nameTextStyle": text},
        "yAxis": {"type": "category", "data": lists[1], "name": found.axes[1].name, "axisLabel": text, "nameTextStyle": text},
        "visualMap": {"min": min(numbers), "max": max(numbers), "calculable": True, "right": 0, "top": "middle", "textStyle": text, "precision": 4,
                      "inRange": {"color": shades}},
        "series": [{"type": "heatmap", "data": cells, "name": title}],
    }  # fmt: skip
