"""`kinetree study`: the same mechanism with many parameter values."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.arguments import Quiet, writable
from kinetree.scripts.progress import progress

SHOWN = 20  # rows on the terminal; the file has all


def study(
    file: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="What to vary, run and report.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write all rows to this .csv file.")] = None,
    quiet: Quiet = False,
) -> None:
    """Run a mechanism over many parameter values and report a row of numbers per run."""
    from kinetree.scripts.study import read_study, run_study

    wanted = read_study(file)
    writable(output, (".csv",), "--output")
    rows: list[list[float]] = []
    try:
        with progress(file.stem, wanted.count(), quiet, "runs") as told:
            for row in run_study(wanted, told):
                rows.append(row)
    finally:  # an interrupt or a failing run keeps what was computed
        if output:
            with open(output, "w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([wanted.columns(), *rows])
    if not quiet:
        show(wanted.columns(), rows)


def show(columns: list[str], rows: list[list[float]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2))
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows[:SHOWN]:
        table.add_row(*(f"{value:.6g}" for value in row))
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    if len(rows) > SHOWN:
        console.print(f"... {len(rows) - SHOWN} more rows (--output writes all)")
