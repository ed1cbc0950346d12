"""`kinetree study`: runs a mechanism with many parameter values."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.models.result.atomic_file import opened
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, Settings, numbers, told_slips, writable
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json
from kinetree.scripts.terminal.progress import progress

if TYPE_CHECKING:
    from kinetree.scripts.studies.stabilisation import Comparison
    from kinetree.scripts.studies.study import Study
    from kinetree.scripts.studies.supports_file import Supports

STABILISATION = "stabilisation"
SUPPORTS = "supports"
PICTURES = (".png", ".pdf", ".svg")
SHOWN = 20  # rows on the terminal; the file has all


def study(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY.toml",
            help="Study file, or a built-in study of lib:carrier: stabilisation or supports.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all rows to this file: .csv or .parquet."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Plot the variants compared by [ways]: .png, .pdf or .svg."),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=256, help="Number of parallel processes.")
    ] = 1,
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="tcp://HOST:PORT",
            help="Dask scheduler for the runs. Unsafe in open networks: its clients can execute any code.",
        ),
    ] = "",
    worst: Annotated[
        str,
        typer.Option(
            "--worst",
            metavar="MEASURE",
            help="Find the largest value of a measure in the ranges of [vary].",
        ),
    ] = "",
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted study from the rows in --output."),
    ] = False,
    specialised: Annotated[
        bool | None,
        typer.Option(
            "--specialised/--generic",
            help="Always or never generate machine code for the mechanism (default: only if the runs are long enough).",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report: .html.")] = None,
    settings: Settings = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a mechanism with many parameter values; report one row of results per run.

    \b
    Example of a study file:
      mechanism = "lib:regulator"    # built-in mechanism, or a file beside this one
      combine = "grid"               # or pairs; or random, latin, sobol with samples and seed
      rest = ["growth"]              # largest growth rate about the equilibrium; damping, frequency
      [vary]                         # parameters and their values
      m2 = [1.0, 1.5, 2.0]
      k = { from = 20, to = 60, count = 5 }
      [run]
      stop_time = 5.0
      [report]                       # outputs and what to compute of each, one column per measure
      height = ["max", "end"]        # start end min mean std span peak rms integral deviation settling
    """
    writable(plot, PICTURES, "--plot")
    alone_here = {
        "--workers": workers > 1,
        "--cluster": cluster,
        "--worst": worst,
        "--resume": resume,
        "--json": json,
        "--specialised": specialised is not None,
    }
    standing = standing_on(file)
    if standing is not None:
        without(file, "a study of supports", alone_here)
        return supports(standing.with_settings(numbers(settings)), output, plot, report, quiet)
    compared = comparison(file)
    if compared is not None:
        without(file, "a comparison of [ways]", alone_here)
        return stabilisation(compared.with_settings(numbers(settings)), output, plot, report, quiet)
    if plot or settings:
        raise BadInput(
            f"--plot and --set belong to '{STABILISATION}', '{SUPPORTS}' and files like theirs; a study file says itself what it varies"
        )
    from kinetree.scripts.studies.study import read_study
    from kinetree.scripts.studies.study_row_file import (
        ENDINGS,
        alone,
        finish,
        in_order,
        kept_rows,
        remaining,
        rows_file,
        sign,
    )
    from kinetree.scripts.studies.study_rows import rows_of

    wanted = read_study(file)
    writable(output, ENDINGS, "--output")
    writable(report, (".html",), "--report")
    if resume and not output:
        raise BadInput("--resume needs the --output file to go on with")
    if worst:
        without(
            file,
            "the search for --worst",
            {
                "--output": output,
                "--report": report,
                "--cluster": cluster,
                "--workers": workers > 1,
                "--json": json,
                "--specialised": specialised is not None,
            },
        )
    told_varied_slips(wanted)
    if worst:
        return tell_worst(wanted, worst, quiet)
    with alone(output):
        rows = kept_rows(output, wanted) if resume and output else []
        sign(output, wanted)
        with (
            progress(file.stem, wanted.count(), quiet, "runs") as told,
            rows_file(output, wanted.columns(), rows) as write,
        ):
            left = remaining(wanted, rows)
            before = len(rows)
            for _, row in rows_of(
                wanted.source(),
                left,
                wanted.run if specialised is None else wanted.run | {"specialised": specialised},
                wanted.texts(),
                workers,
                lambda done: told(before + done),
                cluster,
            ):
                rows.append(row)
                write(row)
        rows = in_order(wanted, rows)
        finish(output, wanted.columns(), rows)
    tell_failures(wanted, rows, workers > 1 or resume or bool(cluster))
    if report:
        from kinetree.scripts.studies.study_report import write_report

        write_report(wanted, rows, report)
    if json:
        show_json([dict(zip(wanted.columns(), row, strict=True)) for row in rows])
    elif not quiet:
        show(wanted.columns(), rows)
        if output:
            typer.echo(f"written: {output}")


def told_varied_slips(wanted: "Study") -> None:
    """Print likely slips of units in the values of a study, one for each parameter."""
    from kinetree.models import ModelError, load

    try:
        description = load(wanted.source()).description
    except ModelError:
        return  # the runs tell what is wrong, which the values of the study may mend
    extremes: dict[str, float] = {}
    for case in wanted.cases():
        for name, value in case.items():
            extremes[name] = max(value, extremes.get(name, 0.0), key=abs)
    told_slips(description, extremes)


def without(file: Path, what: str, given: dict[str, object]) -> None:
    """Raise an error for options that have no effect for this kind of study."""
    if idle := [name for name, value in given.items() if value]:
        raise BadInput(
            f"{file}: {what} knows no {', '.join(idle)}: leave {'it' if len(idle) == 1 else 'them'} out"
        )


def tell_failures(wanted: "Study", rows: list[list[float]], apart: bool = False) -> None:
    """Print how many runs have no values, and why the first one has none; raise an error if all
    runs failed. `apart`: repeat the failed case in another process, since it may crash its process.
    """
    from kinetree.scripts.studies.study_rows import failed, failure_of
    from kinetree.scripts.studies.worker_processes import aside

    numbers = failed(rows, len(wanted.vary))
    if not numbers:
        return
    case = dict(zip(wanted.vary, rows[numbers[0]], strict=False))
    given = wanted.source(), case, wanted.run, wanted.texts()
    try:
        error = aside(failure_of, *given) if apart else failure_of(*given)
    except ChildProcessError as died:
        error = died
    if error is not None and len(numbers) == len(rows):
        raise error
    values = ", ".join(f"{name} = {value:g}" for name, value in case.items())
    runs = "1 run has" if len(numbers) == 1 else f"{len(numbers)} runs have"
    typer.echo(
        f"warning: {runs} no numbers, of {len(rows)}; {'the first, ' * (len(numbers) > 1)}{values}: {error or 'it runs by itself'}",
        err=True,
    )


def comparison(file: Path) -> "Comparison | None":
    """Return the comparison in a file with a table [ways], or the built-in one; None for other
    studies.
    """
    from kinetree.scripts.studies.stabilisation import read_comparison
    from kinetree.scripts.terminal.input_files import read_toml

    if str(file) == STABILISATION:
        return read_comparison()
    return read_comparison(file) if "ways" in read_toml(file) else None


def standing_on(file: Path) -> "Supports | None":
    """Return the support study of a file with the key `supports`, or the built-in one; None for
    other studies.
    """
    from kinetree.scripts.studies.supports_file import read_supports
    from kinetree.scripts.terminal.input_files import read_toml

    if str(file) == SUPPORTS:
        return read_supports()
    return (
        read_supports(file)
        if str(file) != STABILISATION and "supports" in read_toml(file)
        else None
    )


def supports(
    wanted: "Supports", output: Path | None, plot: Path | None, report: Path | None, quiet: bool
) -> None:
    """Run a study of ground and supports, which varies one quantity at a time."""
    from kinetree.scripts.reports.stage_tables import show
    from kinetree.scripts.studies import support_study as study
    from kinetree.scripts.studies import supports_report as pages

    writable(output, (".csv",), "--output")
    writable(report, (".html",), "--report")
    with progress(SUPPORTS, len(wanted.cases()), quiet, "cases") as told:
        cases = study.study(wanted, told)
    rows = pages.overview(wanted, cases)
    if output:
        with open(output, "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(rows)
    if plot:
        pages.draw(wanted, cases, plot)
    if report:
        pages.write_report(wanted, cases, report)
    if not quiet:
        show({"Supports": rows, "Every disturbance": pages.disturbances(wanted, cases)})
        for case in filter(lambda case: case.failed, cases):
            typer.echo(f"{pages.name_of(case)} is not possible: {case.failed}")
        for path in filter(None, (output, plot, report)):
            typer.echo(f"written: {path}")


def tell_worst(wanted: "Study", measure: str, quiet: bool) -> None:
    """Search the worst case by differential evolution and print it."""
    from kinetree.scripts.studies.worst_case import sign_of, worst_case

    with progress(f"worst {measure}", 0.0, quiet, "evaluations") as told:
        found = worst_case(wanted, measure, lambda done, best: told(done))
    sign = sign_of(measure)
    word = "smallest" if sign > 0.0 else "largest"
    typer.echo(f"{word} {measure}: {sign * found.objective:.8g} after {found.evaluations} runs, at")
    for name, value in found.values.items():
        typer.echo(f"  {name} = {value:.8g}")


def stabilisation(
    wanted: "Comparison", output: Path | None, plot: Path | None, report: Path | None, quiet: bool
) -> None:
    """Run and report a comparison of drive variants that hold values under disturbances."""
    from kinetree.scripts.reports.stage_tables import show
    from kinetree.scripts.studies import stabilisation as study
    from kinetree.scripts.studies import stabilisation_report as pages

    writable(output, (".csv",), "--output")
    writable(report, (".html",), "--report")
    with progress(
        STABILISATION, len(wanted.ways) * (2 if wanted.vary else 1), quiet, "runs"
    ) as told:
        runs = study.compare(wanted, told)
        spreads = (
            study.spread(wanted, lambda done: told(len(wanted.ways) + done)) if wanted.vary else {}
        )
    rows = study.table(wanted, runs)
    if output:
        with opened(output) as stream:
            csv.writer(stream).writerows(rows)
    if plot:
        pages.draw(wanted, runs, plot)
    if report:
        pages.write_report(wanted, runs, spreads, report)
    if not quiet:
        show({"Deviations from the start": rows})
        for path in filter(None, (output, plot, report)):
            typer.echo(f"written: {path}")


def show(columns: list[str], rows: list[list[float]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2))
    for column in columns:
        table.add_column(escape(column), justify="right")
    for row in rows[:SHOWN]:
        table.add_row(*("–" if value != value else f"{value:.6g}" for value in row))
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    if len(rows) > SHOWN:
        console.print(f"... {len(rows) - SHOWN} more rows (--output writes all)")


COMMAND = Command("study", study, place=60)
