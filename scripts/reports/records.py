"""Writes the page docs/records.md from the declarations of memory records and fields: `python -m
kinetree.scripts.reports.records`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kinetree.fmu.native import matrix_steps
from kinetree.models.description.reference import plain
from kinetree.models.gradients import adjoint_layout
from kinetree.solvers import fields, model_records, unit_layout
from kinetree.solvers.fields import Field
from kinetree.solvers.records import Record
from kinetree.solvers.sampled.block_layout import OBSERVER_PARTS, PREDICTIVE_PARTS

PAGE = Path(__file__).parents[2] / "docs" / "records.md"
INTRODUCTION = """# Records and fields

This page lists every number of a compiled mechanism and of its workspace, for developers of the engine. The declarations are in
`solvers/model_records.py`, `solvers/fields.py`, `solvers/unit_layout.py` and `solvers/sampled/block_layout.py` ([architecture](architecture.md)).
The page is generated from them by `python -m kinetree.scripts.reports.records`; a test compares both.

A record is a group of numbers at fixed positions of an array. Kernels read `ws.head.item`, `sensor_at(model.sensors, k).register`, `unit.time`;
Python reads `Record.of(block).name`; the C code of FMUs reads the constants `U_NAME` (ints of a unit), `V_NAME` (head of its work), `S_NAME`
(a stage), `M_NAME` (the matrices of a linear chain). A field is a part of a block whose size depends on the mechanism; directories in the ints
block contain its offset.
"""


def record_table(record: Record) -> str:
    """Return one memory record as a Markdown table."""
    rows = [
        f"| {record.at(entry.name)} | `{entry.name}` | {entry.count if entry.count > 1 else ''} | {escaped(entry.text)} |"
        for entry in record.entries
    ]
    return "\n".join(
        [
            f"### {record.name}",
            "",
            f"{escaped(record.text)}; {record.size} numbers.",
            "",
            "| at | name | count | meaning |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def field_table(title: str, table: Iterable[Field]) -> str:
    """Return the fields of one memory block as a Markdown table."""
    rows = [
        f"| `{field.name}` | {escaped(field.size)} | {escaped(field.text)} |" for field in table
    ]
    return "\n".join([f"### {title}", "", "| name | size | meaning |", "|---|---|---|", *rows])


def escaped(text: str) -> str:
    return plain(text, "|*_")


def page() -> str:
    """Return docs/records.md as Markdown."""
    model = [
        field_table("ints of a model, after the header and the directories", fields.MODEL_INTS),
        field_table("floats of a model", fields.MODEL_FLOATS),
        field_table("work of a model", fields.WORK),
        field_table("work of a unit, after its head", unit_layout.PARTS),
        field_table("memory of a predictive controller, after its first number", PREDICTIVE_PARTS),
        field_table("memory of an observer, after its first number", OBSERVER_PARTS),
        field_table("work of a gradient, after its head", adjoint_layout.PARTS),
    ]
    groups = {
        "Records of a model": model_records.RECORDS,
        "Records of a unit": unit_layout.RECORDS,
        "Records of a gradient": adjoint_layout.RECORDS,
        "Records of a linear chain in an FMU": (matrix_steps.RECORD, matrix_steps.LEVEL),
    }
    parts = [
        f"## {title}\n\n" + "\n\n".join(record_table(record) for record in records)
        for title, records in groups.items()
    ]
    return "\n\n".join([INTRODUCTION.rstrip(), "## Fields", *model, *parts]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
