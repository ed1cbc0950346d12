"""Timeline of stages: begin, end and cause of each stage, one bar per run, and a click that shows
the instant in the scene.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from kinetree.models.result.number_format import written
from kinetree.scripts.studio.session import Finished, Session

COLOURS = (
    "#7aa7d6",
    "#dc9c52",
    "#79b98a",
    "#d98881",
    "#a998d0",
    "#6bb8c1",
    "#c39d7e",
    "#dc8bb5",
)  # light enough for black letters
EVENTS = 200


@dataclass(frozen=True)
class Span:
    """One stage of a run with its begin, end and cause."""

    name: str
    begin: float
    end: float
    cause: str  # why it ended


def spans(result: Any) -> list[Span]:
    """Return the stages of a run in order."""
    changes = [event for event in result.events if event.kind == "stage"]
    names = list(getattr(result, "stage_names", ())) or [""]
    first = (
        names[int(result["stage"][0])]
        if "stage" in result and len(names) > int(result["stage"][0])
        else names[0]
    )
    begins = [(first, float(result.time[0])), *((event.stage, event.time) for event in changes)]
    ends = [
        *((event.time, event.cause or "its condition came true") for event in changes),
        (float(result.time[-1]), "end of the run"),
    ]
    return [
        Span(name, begin, end, cause)
        for (name, begin), (end, cause) in zip(begins, ends, strict=True)
    ]


def colour(name: str, groups: dict[str, str]) -> str:
    """Return one colour for stages whose names differ only by a number."""
    group = re.sub(r"[\s_-]*\d+$", "", name)
    return groups.setdefault(group, COLOURS[len(groups) % len(COLOURS)])


class Timeline:
    """Bars of all runs and a table of the selected run."""

    def __init__(self, session: Session, seek: Callable[[float], Any]):
        self.session, self.seek = session, seek
        self.box = ui.column().classes("w-full gap-3")
        self.refresh(None)

    def refresh(self, shown: Finished | None) -> None:
        self.box.clear()
        with self.box:
            if shown is None:
                ui.label("Run the mechanism to see its stages and events over time.").classes(
                    "text-sm opacity-70"
                )
                return
            begin = min(float(each.result.time[0]) for each in self.session.runs)
            end = max(float(each.result.time[-1]) for each in self.session.runs)
            groups: dict[str, str] = {}
            for finished in self.session.runs:
                self._bar(finished, begin, end, groups, finished is shown)
            with ui.row().classes("w-full justify-between text-xs opacity-60"):
                ui.label(f"{written(begin)} s")
                ui.label(f"{written(end)} s")
            self._table(shown)

    def _bar(
        self, finished: Finished, begin: float, end: float, groups: dict[str, str], shown: bool
    ) -> None:
        """Draw the bar of a run: stages by duration, events as ticks."""
        whole = end - begin or 1.0
        ui.label(finished.label).classes("text-xs " + ("font-medium" if shown else "opacity-70"))
        with ui.element("div").classes("w-full relative").style("height: 34px").mark("timeline"):
            for span in spans(finished.result):
                left, width = (
                    100 * (span.begin - begin) / whole,
                    100 * (span.end - span.begin) / whole,
                )
                with ui.element("div").classes(
                    "absolute overflow-hidden whitespace-nowrap text-black text-xs px-1 cursor-pointer rounded"
                ) as bar:
                    ui.label(span.name or "run").classes("ellipsis")
                    ui.tooltip(
                        f"{span.name or 'run'}: {written(span.begin, 6)} to {written(span.end, 6)} s"
                    )
                style = f"left: {left:.4f}%; width: calc({width:.4f}% - 1px); top: 0; height: 24px; line-height: 24px"
                bar.style(
                    f"{style}; background: {colour(span.name, groups)}; filter: saturate({1.0 if shown else 0.45})"
                )
                bar.on("click", lambda _, t=span.begin: self.seek(t))
            for event in [event for event in finished.result.events if event.kind != "stage"][
                :EVENTS
            ]:
                tick = (
                    ui.element("div")
                    .classes("absolute")
                    .style(
                        f"left: {100 * (event.time - begin) / whole:.4f}%; top: 26px; width: 2px; height: 8px; background: #b5615a"
                    )
                )
                tick.on("click", lambda _, t=event.time: self.seek(t))

    def _table(self, finished: Finished) -> None:
        """Show a table with begin, end, length and cause of every stage, then the events."""
        result = finished.result
        rows = [
            {"name": span.name or "run", "begin": written(span.begin, 6), "end": written(span.end, 6), "length": written(span.end - span.begin, 4),
             "cause": span.cause, "key": k, "time": span.begin}
            for k, span in enumerate(spans(result))
        ]  # fmt: skip
        others = [event for event in result.events if event.kind != "stage"]
        for event in others[:EVENTS]:
            told = {
                "name": event.kind,
                "begin": written(event.time, 6),
                "cause": event.cause,
                "time": event.time,
            }
            rows.append({**told, "end": "", "length": "", "key": len(rows)})
        heads = {
            "name": "stage or event",
            "begin": "begin [s]",
            "end": "end [s]",
            "length": "length [s]",
            "cause": "ended by",
        }
        columns = [
            {
                "name": key,
                "label": label,
                "field": key,
                "align": "left" if key in ("name", "cause") else "right",
            }
            for key, label in heads.items()
        ]
        table = (
            ui.table(rows=rows, columns=columns, row_key="key")
            .props("dense flat")
            .classes("w-full")
            .mark("stages")
        )
        table.on("rowClick", lambda event: self.seek(float(event.args[1]["time"])))
        if len(others) > EVENTS:
            ui.label(f"{len(others) - EVENTS} more events").classes("text-xs opacity-70")
        for name in getattr(result, "unreached", ()):
            ui.label(f"stage '{name}' was not reached").classes("text-sm text-warning")
