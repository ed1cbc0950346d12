"""Tables of a run: extremes of all columns, and stage tables from the description or composed by
the user.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from nicegui import ui

from kinetree.models.language.parts.report_parts import REPORT_ROWS, SUMS, ReportTable
from kinetree.models.result.plots import default_columns
from kinetree.models.result.stage_tables import StageTable, stage_table
from kinetree.scripts.studio.panels import HEADING, plain_table, table_of
from kinetree.scripts.studio.session import Finished, Session

REFERENCES = {
    "": "values",
    "start": "deviations from the start",
    "stage": "deviations from the start of the stage",
}
OWN = "put together below"


class Numbers:
    """The tables of the run that is shown."""

    def __init__(self, session: Session):
        self.session = session
        self.finished: Finished | None = None
        self.made: StageTable | None = None
        self.box = ui.column().classes("w-full gap-2")
        self.refresh(None)

    def refresh(self, finished: Finished | None) -> None:
        self.finished = finished
        self.box.clear()
        with self.box:
            if finished is None:
                ui.label("Run the mechanism to see its numbers.").classes("text-sm opacity-70")
                return
            ui.label(finished.label).classes("text-sm font-medium").mark("run-label")
            if len(getattr(finished.result, "stage_names", ())) > 1:
                self._stages(finished.result)
                ui.label("Everything recorded").classes(HEADING)
            table_of(finished)

    def _stages(self, result: Any) -> None:
        """Show the choices of a stage table and the table."""
        stages = list(dict.fromkeys(name for name in result.stage_names if name))
        groups = list(
            dict.fromkeys(
                f"{name.rstrip('0123456789').rstrip(' _-')}*"
                for name in stages
                if name[-1:].isdigit()
            )
        )
        report = self.session.mechanism.description.report if self.session.mechanism else None
        names = [name for name in result.names if name not in result.EXTRA]
        ui.label("Over the stages").classes(HEADING)
        with ui.row().classes("w-full items-center gap-2"):
            self.known = ui.select(
                [OWN, *(report.tables if report else ())],
                value=OWN,
                label="table",
                on_change=self.show,
            )
            self.rows = ui.select(list(REPORT_ROWS), value="end", label="rows", on_change=self.show)
            self.columns = ui.select(
                names,
                value=list(default_columns(result)[:4]),
                multiple=True,
                with_input=True,
                label="columns",
                on_change=self.show,
            )
            self.stages = ui.select(
                [*groups, *stages],
                value=[],
                multiple=True,
                label="stages (all)",
                on_change=self.show,
            )
            self.reference = ui.select(REFERENCES, value="", label="show", on_change=self.show)
            self.sums = ui.select(
                list(SUMS),
                value=["mean", "std", "range"],
                multiple=True,
                label="below",
                on_change=self.show,
            )
            for choice in (
                self.known,
                self.rows,
                self.columns,
                self.stages,
                self.reference,
                self.sums,
            ):
                choice.props("dense outlined options-dense").classes("min-w-32")
            self.columns.props("use-chips")
            ui.button(icon="download", on_click=self.download).props("flat dense round").tooltip(
                "this table as CSV, in SI with all digits"
            )
        self.table = ui.column().classes("w-full")
        self.show()

    def show(self) -> None:
        """Update all tables of the run."""
        assert self.finished is not None
        result = self.finished.result
        report = self.session.mechanism.description.report if self.session.mechanism else None
        self.table.clear()
        try:
            if report is not None and self.known.value in report.tables:
                wanted, name = report.tables[self.known.value], str(self.known.value)
            else:
                wanted, name = ReportTable(
                    columns=tuple(self.columns.value), rows=self.rows.value, stages=tuple(self.stages.value),
                    reference=self.reference.value or None, sums=tuple(self.sums.value),
                ), ""  # fmt: skip
            self.made = made = stage_table(result, wanted, name)
        except KeyError as error:
            self.made = None
            with self.table:
                ui.label(str(error.args[0])).classes("text-sm text-negative")
            return
        head, *rows = made.rows()
        with self.table:
            plain_table(head, rows, made.title)

    def download(self) -> None:
        if self.made is None:
            return
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(self.made.plain_rows())
        ui.download(stream.getvalue().encode(), "stages.csv")
