"""`kinetree study`: the same mechanism with many parameter values."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.terminal.arguments import Quiet, Settings, numbers, writable
from kinetree.scripts.terminal.failure import BadInput
from kinetree.scripts.terminal.progress import progress

STABILISATION = "stabilisation"
PICTURES = (".png", ".pdf", ".svg")
SHOWN = 20  # rows on the terminal; the file has all


def study(
    file: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="What to vary, run and report; or the word stabilisation: drives of lib:carrier compared.")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write all rows to this .csv file.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture, with stabilisation only: .png, .pdf or .svg.")] = None,
    settings: Settings = None,
    quiet: Quiet = False,
) -> None:
    """Run a mechanism over many parameter values and report a row of numbers per run.

    \b
    A study file:
      mechanism = "lib:regulator"    # or a file beside it
      combine = "grid"               # or pairs; random, with samples and seed
      \\[vary]
      m2 = [1.0, 1.5, 2.0]
      k = { from = 20, to = 60, count = 5 }
      \\[run]
      stop_time = 5.0
      \\[report]
      height = ["max", "end"]        # start end min max mean std span
    """
    writable(plot, PICTURES, "--plot")
    if str(file) == STABILISATION:
        stabilisation(numbers(settings), output, plot, quiet)
        return
    if plot or settings:
        raise BadInput(f"--plot and --set belong to '{STABILISATION}'; a study file says itself what it varies")
    from kinetree.scripts.studies.study import read_study, run_study

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
        if output:
            typer.echo(f"written: {output}")


def stabilisation(settings: dict[str, float], output: Path | None, plot: Path | None, quiet: bool) -> None:
    """Drives of the carrier: valves shut, proportional, with advance compensation."""
    from kinetree.scripts.reports.stage_tables import show
    from kinetree.scripts.studies import stabilisation as study

    writable(output, (".csv",), "--output")
    with progress(STABILISATION, len(study.WAYS), quiet, "runs") as told:
        runs = study.compare(told, **settings)  # type: ignore[arg-type]
    rows = study.table(runs)
    if output:
        with open(output, "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(rows)
    if plot:
        study.draw(runs, plot)
    if not quiet:
        show({"Deviations of the angles in mrad": rows})
        for path in filter(None, (output, plot)):
            typer.echo(f"written: {path}")


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
