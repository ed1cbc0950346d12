"""`kinetree run`: simulates a mechanism."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import Exit

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import (
    Origin,
    Quiet,
    Settings,
    Source,
    Starts,
    begun,
    held,
    loaded,
    one_of,
    writable,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_signals import Driven, Maps, given
from kinetree.scripts.terminal.json_output import Json, show_json
from kinetree.scripts.terminal.progress import progress
from kinetree.solvers.integrate.kinds import NAMES

if TYPE_CHECKING:
    from kinetree.models import Result, System
    from kinetree.models.chain.system import ChainSystem
    from kinetree.models.specialised.specialised_rates import Motion

TABLES = (".csv", ".parquet", ".h5", ".mat")
PICTURES = (".png", ".pdf", ".svg")


def run(
    file: Source,
    stop_time: Annotated[
        float | None, typer.Option("--stop-time", help="End of the run in s.")
    ] = None,
    output_interval: Annotated[
        float | None,
        typer.Option("--output-interval", help="Time between rows of the result in s."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="Formulation of the equations: auto (DEC), DEC, ABM, CBM, LGR, ITR-M, ITR-G, DRT, or a Hamiltonian one such as DEC-H.",
        ),
    ] = None,
    integrator: Annotated[
        str | None, typer.Option("--integrator", help=", ".join(NAMES) + ".")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            "--relative-tolerance",
            help="Relative error tolerance of the integrator.",
        ),
    ] = None,
    step_size: Annotated[
        float | None, typer.Option("--step-size", help="Step size of a fixed-step integrator in s.")
    ] = None,
    step_limit: Annotated[
        float | None,
        typer.Option(
            "--step-limit", help="Largest number of integrator steps per output interval."
        ),
    ] = None,
    itr_tolerance: Annotated[
        float | None,
        typer.Option(
            "--itr-tolerance",
            help="Relative residual at which the iterative methods ITR-M, ITR-G and ITR-H stop.",
        ),
    ] = None,
    settings: Settings = None,
    starts: Starts = None,
    origin: Origin = None,
    inputs: Driven = None,
    maps: Maps = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Result file: .csv, .parquet, .h5 or .mat."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="Columns of the result file: all, or NAME,NAME,... (* matches any text).",
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Write rows to --output FILE.parquet during the run; memory use stays constant.",
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Picture of the outputs: .png, .pdf or .svg.")
    ] = None,
    specialised: Annotated[
        bool | None,
        typer.Option(
            "--specialised/--generic",
            help="Always or never generate machine code for this mechanism (default: only if the run is long enough).",
        ),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option("--plots", help="Folder for the pictures NAME.png defined by [report.plots]."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="ROWS:COLUMNS:STAGES:REFERENCE",
            help="Table with a row per stage, such as end:slew,luff:swing*:stage; may be repeated.",
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables",
            help="Write the tables of --table, else of [report.tables]: .html, .csv or .tex.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a mechanism; print a summary, write tables and plots."""
    from kinetree.models.description.schema import METHODS
    from kinetree.models.specialised.engine_choice import Choice
    from kinetree.scripts.reports import stage_report

    options: dict[str, Any] = {
        "stop_time": stop_time,
        "output_step": output_interval,
        "method": one_of(method, METHODS, "--method") if method else None,
        "integrator": one_of(integrator, NAMES, "--integrator") if integrator else None,
        "tolerance": tolerance,
        "step": step_size,
        "step_limit": step_limit,
        "itr_tolerance": itr_tolerance,
    }
    writable(output, TABLES, "--output")
    writable(plot, PICTURES, "--plot")
    writable(tables, stage_report.ENDINGS, "--tables")
    wanted = (
        None
        if columns is None
        else "all"
        if columns == "all"
        else tuple(stage_report.listed(columns))
    )
    mechanism = begun(loaded(file, settings), starts, origin)
    if mechanism.description.chain is not None:
        chain = mechanism.chain()
        return run_chain(
            chain,
            stop_time,
            output_interval,
            tolerance,
            held(inputs, chain.compiled.inputs),
            output,
            plot,
            wanted,
            quiet,
            json,
        )
    system = mechanism.compile()
    if stream:
        options["stream"] = streamed_to(output, wanted)
        output = None
    options["inputs"] = given(inputs, maps, system)
    asked = stage_report.wanted_tables(system.description, table or ())
    if tables and not asked:
        raise BadInput(
            f"--tables {tables}: the description has no [report.tables], and there is no --table"
        )
    check_columns(system, wanted, asked, plots)
    for warning in system.warnings:
        typer.echo(f"warning: {warning}", err=True)
    fast = system.specialise() if specialised else None
    chosen = Choice() if specialised is None else None
    if chosen is not None:
        options["choice"] = chosen.consider
    try:
        with progress(system.name, end_of(system, stop_time), quiet or json) as told:
            result = (fast or system).simulate(
                progress=told, **{key: value for key, value in options.items() if value is not None}
            )
    except ArithmeticError as error:  # what was computed until then is kept
        if getattr(error, "result", None) is not None:
            write(error.result, output, plot, wanted)  # type: ignore[attr-defined]
        raise
    written = [options["stream"]] if stream else []
    written += pictures_and_table(system, result, output, plot, wanted) + saved_plots(
        system, result, plots
    )
    made = stage_report.made_tables(result, asked, system.own_coordinates)
    for warning in result.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if tables:
        written.append(stage_report.write_tables(tables, made, system.name))
    if json:
        engine = (
            said_of(fast.motions) if fast else chosen.why if chosen else "the engine: asked for"
        )
        show_json({**told_of(system, result, written, made), "engine": engine})
    elif not quiet:
        show(
            system, result, written, made, () if wanted in (None, "all") else result.select(wanted)
        )
        if fast is not None:
            typer.echo(said_of(fast.motions))
        elif chosen is not None and chosen.motions:
            typer.echo(chosen.why)
    if result.interrupted:
        raise Exit(130)
    return None


def streamed_to(output: Path | None, wanted: Any) -> Path:
    """Return the Parquet file to which rows are streamed during the run, if any."""
    if output is None or output.suffix.lower() != ".parquet":
        raise BadInput(f"--stream: --output is {output or 'not given'}, expected FILE.parquet")
    if wanted is not None:
        raise BadInput(
            "--stream writes every recorded column, and --columns is for what is written at the end: leave one of them out"
        )
    return output


def show(
    system: "System", result: "Result", written: list[Path], made: list[Any], chosen: Sequence[str]
) -> None:
    """Print the summary and tables of a run; staged runs without tables of their own get the three
    standard ones and the balances.
    """
    from kinetree.scripts.reports import stage_tables
    from kinetree.scripts.reports.summary import summary

    summary(system, result, written, chosen)
    if made:
        stage_tables.show({each.title: each.rows() for each in made})
    elif stage_tables.staged(result):
        stage_tables.show(stage_tables.tables(result, system.own_coordinates))
    if stage_tables.staged(result):
        stage_tables.show({stage_tables.BOOKS: stage_tables.books(result)})


def told_of(
    system: "System", result: "Result", written: list[Path], made: list[Any]
) -> dict[str, Any]:
    """Return the summary of a run as plain data in SI units."""
    from dataclasses import asdict

    from kinetree.scripts.reports.summary import extremes

    names = (*(column.name for column in system.compiled.outputs), *system.own_coordinates)
    return {
        "name": system.name,
        "start_time": float(result.time[0]),
        "stop_time": float(result.time[-1]),
        "interrupted": result.interrupted,
        "variables": {name: extremes(result, name) for name in names},
        "events": [asdict(event) for event in result.events],
        "unreached": list(result.unreached),
        "warnings": list(result.warnings),
        "tables": [
            {
                "title": each.title,
                "columns": each.names,
                "units": each.units,
                "rows": each.labels,
                "values": each.values,
                "sums": each.sums,
            }
            for each in made
        ],
        "statistics": result.statistics,
        "written": written,
    }


def pictures_and_table(
    system: "System",
    result: "Result",
    output: Path | None,
    plot: Path | None,
    wanted: "str | tuple[str, ...] | None",
) -> list[Path]:
    """Write the result file and the plot of a run and return their paths; a staged run without
    chosen columns gets the plot of stages.
    """
    from kinetree.scripts.reports import stage_tables

    if plot and wanted is None and stage_tables.staged(result):
        from kinetree.scripts.reports.stage_pictures import draw_stages

        written = write(result, output, None, wanted)
        draw_stages(system, result, plot)
        return [*written, plot]
    return write(result, output, plot, wanted)


def saved_plots(system: "System", result: "Result", folder: Path | None) -> list[Path]:
    """Draw the sets of plots of the description and return their paths."""
    if folder is None:
        return []
    from kinetree.models.result.plots import page_paths, plot

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, each in system.description.report.plots.items():
        path = folder / f"{name}.png"
        chosen = result.select(each.columns) if each.columns else None
        options = {
            "window": each.window,
            "stages": each.stages,
            "deviation": each.deviation,
            "per_page": each.per_page,
        }
        written += page_paths(path, len(plot(result, path, chosen, title=each.title, **options)))  # pyright: ignore[reportArgumentType]
    return written


def said_of(motions: "Sequence[Motion | str]") -> str:
    """Return a line on which structures ran by straight-line code, and why others did not."""
    sizes = [each.trace.operations for each in motions if not isinstance(each, str)]
    why = "; ".join(sorted({each for each in motions if isinstance(each, str)}))
    least, most = (min(sizes), max(sizes)) if sizes else (0, 0)
    size = f" of {least} operations" if least == most else f" of {least} to {most} operations"
    ran = (
        f"straight-line code{size} for {len(sizes)} of {len(motions)} structures"
        if sizes
        else "no straight-line code"
    )
    return f"{ran}; the engine for the others: {why}" if why else ran


def end_of(system: "System", stop_time: float | None) -> float:
    """Return the stop time, or 0 if the description gives none; it may be an expression over
    parameters.
    """
    from kinetree.models.compilation.compile import parameter_values
    from kinetree.models.expressions.parse import evaluate_constant

    given = system.description.run.stop_time
    return (
        stop_time
        if stop_time is not None
        else evaluate_constant(given, parameter_values(system.description))
        if given is not None
        else 0.0
    )


def run_chain(
    system: "ChainSystem",
    stop_time: float | None,
    output_interval: float | None,
    tolerance: float | None,
    inputs: dict[str, float] | None,
    output: Path | None,
    plot: Path | None,
    wanted: "str | tuple[str, ...] | None",
    quiet: bool,
    json: bool,
) -> None:
    """Run a linear chain by the matrix method, whichever integrator is given."""
    result = system.simulate(stop_time, None, output_interval, tolerance, inputs=inputs)
    written = write(result, output, plot, wanted)
    if json:
        show_json(told_of(system, result, written, []))  # pyright: ignore[reportArgumentType]
    elif not quiet:
        from kinetree.scripts.reports.summary import summary

        summary(system, result, written)


def check_columns(
    system: "System",
    wanted: "str | Iterable[str] | None",
    asked: dict[str, Any],
    plots: Path | None,
) -> None:
    """Raise an error for unknown columns and stages before the run instead of after it."""
    sets = system.description.report.plots if plots is not None else {}
    if plots is not None and not sets:
        raise BadInput(f"--plots {plots}: the description has no [report.plots]")
    if wanted is None and not asked and not sets:
        return
    import numpy as np

    from kinetree.models.result.stage_tables import not_there
    from kinetree.models.run.simulation import empty_result
    from kinetree.models.run.simulation_unit import make_unit
    from kinetree.scripts.reports.stage_report import check_tables

    empty = empty_result(make_unit(system), None, np.zeros(0))
    check_tables(empty, asked, system.own_coordinates)
    try:
        empty.select(wanted)
    except KeyError as error:
        raise BadInput(f"--columns: {error.args[0]}") from None
    for name, objection in not_there(empty, sets).items():
        raise BadInput(f"report.plots.{name}: {objection}")


def write(
    result: "Result", output: Path | None, plot: Path | None, wanted: "str | tuple[str, ...] | None"
) -> list[Path]:
    """Write the result file and the plot and return their paths; a plot of many columns has several
    pages: FILE.png, FILE-2.png, ...
    """
    from kinetree.models.result.plots import page_paths

    written = [output] if output else []
    if output:
        result.save(output, wanted)
    if plot:
        written += page_paths(plot, len(result.plot(plot, wanted)))
    return written


COMMAND = Command("run", run, place=30)
