"""`kinetree study`: the same mechanism with many parameter values."""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.scripts.terminal.arguments import Quiet, Settings, numbers, writable
from kinetree.scripts.terminal.as_json import Json, show_json
from kinetree.scripts.terminal.failure import BadInput
from kinetree.scripts.terminal.progress import progress

if TYPE_CHECKING:
    from kinetree.scripts.studies.study import Study

STABILISATION = "stabilisation"
PICTURES = (".png", ".pdf", ".svg")
SHOWN = 20  # rows on the terminal; the file has all


def study(
    file: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="What to vary, run and report; or the word stabilisation: drives of lib:carrier compared.")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write all rows to this .csv file.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture, with stabilisation only: .png, .pdf or .svg.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=256, help="Processes that share the runs.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the --output file of a study that was interrupted.")] = False,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report: .html.")] = None,
    settings: Settings = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a mechanism over many parameter values and report a row of numbers per run.

    \b
    A study file:
      mechanism = "lib:regulator"    # or a file beside it
      combine = "grid"               # or pairs; random, latin, sobol, with samples and seed
      rest = ["growth"]              # damping, frequency: of the small motions about rest
      \\[vary]
      m2 = [1.0, 1.5, 2.0]
      k = { from = 20, to = 60, count = 5 }
      \\[run]
      stop_time = 5.0
      \\[report]
      height = ["max", "end"]        # start end min max mean std span peak rms integral deviation settling
    """
    writable(plot, PICTURES, "--plot")
    if str(file) == STABILISATION:
        stabilisation(numbers(settings), output, plot, quiet)
        return
    if plot or settings:
        raise BadInput(f"--plot and --set belong to '{STABILISATION}'; a study file says itself what it varies")
    from kinetree.scripts.studies.rows import rows_of
    from kinetree.scripts.studies.study import read_study

    wanted = read_study(file)
    writable(output, (".csv",), "--output")
    writable(report, (".html",), "--report")
    if resume and not output:
        raise BadInput("--resume needs the --output file to go on with")
    rows = kept_rows(output, wanted) if resume and output else []
    with progress(file.stem, wanted.count(), quiet, "runs") as told, rows_file(output, wanted.columns(), rows) as write:
        left = remaining(wanted, rows)
        for _, row in rows_of(wanted.source(), left, wanted.run, wanted.texts(), workers, lambda done: told(len(rows) + done)):
            rows.append(row)
            write(row)
    rows = in_order(wanted, rows)
    with rows_file(output, wanted.columns(), rows):
        pass
    if report:
        from kinetree.scripts.studies.study_report import write_report

        write_report(wanted, rows, report)
    if json:
        show_json([dict(zip(wanted.columns(), row, strict=True)) for row in rows])
    elif not quiet:
        show(wanted.columns(), rows)
        if output:
            typer.echo(f"written: {output}")


@contextmanager
def rows_file(path: Path | None, columns: list[str], rows: list[list[float]]) -> Iterator[Callable[[list[float]], None]]:
    """A CSV file with head and rows so far; what is given to the function is written at once, so that an interrupt keeps it."""
    if path is None:
        yield lambda row: None
        return
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerows([columns, *rows])

        def write(row: list[float]) -> None:
            writer.writerow(row)
            stream.flush()

        yield write


def kept_rows(path: Path, wanted: "Study") -> list[list[float]]:
    """Rows of an interrupted study that belong to this one; a line that was cut off is run again."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        head, *lines = [*csv.reader(stream)] or [[]]
    if head != wanted.columns():
        raise BadInput(f"--resume {path}: its columns are not those of this study")
    found, known = [], {tuple(case.values()) for case in wanted.cases()}
    for line in lines:
        try:
            row = [float(cell) for cell in line]
        except ValueError:
            continue
        if len(row) == len(head) and tuple(row[: len(wanted.vary)]) in known:
            found.append(row)
    return found


def remaining(wanted: "Study", rows: list[list[float]]) -> list[dict[str, float]]:
    """Cases without a row."""
    done = {tuple(row[: len(wanted.vary)]) for row in rows}
    return [case for case in wanted.cases() if tuple(case.values()) not in done]


def in_order(wanted: "Study", rows: list[list[float]]) -> list[list[float]]:
    """Rows in the order of the cases, whichever worker was first."""
    place = {tuple(case.values()): k for k, case in enumerate(wanted.cases())}
    return sorted(rows, key=lambda row: place[tuple(row[: len(wanted.vary)])])


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
