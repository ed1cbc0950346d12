"""`kinetree run`: motion in time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import Exit

from kinetree.scripts.terminal.arguments import Inputs, Quiet, Settings, Source, held, numbers, one_of, writable
from kinetree.scripts.terminal.failure import BadInput
from kinetree.scripts.terminal.progress import progress
from kinetree.solvers.integrate.kinds import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetree.models import Result, System
    from kinetree.models.chain.system import ChainSystem
    from kinetree.models.specialised.motion import Motion

TABLES = (".csv", ".parquet", ".h5", ".mat")
PICTURES = (".png", ".pdf", ".svg")


def run(
    file: Source,
    stop_time: Annotated[float | None, typer.Option("--stop-time", help="End of the run in s.")] = None,
    output_interval: Annotated[float | None, typer.Option("--output-interval", help="Time between rows of the result in s.")] = None,
    method: Annotated[str | None, typer.Option("--method", help="Formulation: auto, DEC, ABM, CBM, LGR, ITR-M, ITR-G, DRT or a -H twin.")] = None,
    integrator: Annotated[str | None, typer.Option("--integrator", help=", ".join(NAMES) + ".")] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", "--relative-tolerance", help="Relative error of a step.")] = None,
    step_size: Annotated[float | None, typer.Option("--step-size", help="Step of a fixed-step integrator in s.")] = None,
    step_limit: Annotated[float | None, typer.Option("--step-limit", help="Steps of the integrator that one output interval may take.")] = None,
    settings: Settings = None,
    inputs: Inputs = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Result file: .csv, .parquet, .h5 or .mat.")] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Columns of the result file: all, or NAME,NAME,... in which * stands for any text.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of the outputs: .png, .pdf or .svg.")] = None,
    specialised: Annotated[bool, typer.Option("--specialised", help="Step by straight-line code of this mechanism, compiled once.")] = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a mechanism; print a summary, write a table and a picture."""
    from kinetree.models import load
    from kinetree.models.description.schema import METHODS

    options: dict[str, Any] = {
        "stop_time": stop_time,
        "output_step": output_interval,
        "method": one_of(method, METHODS, "--method") if method else None,
        "integrator": one_of(integrator, NAMES, "--integrator") if integrator else None,
        "tolerance": tolerance,
        "step": step_size,
        "step_limit": step_limit,
    }
    writable(output, TABLES, "--output")
    writable(plot, PICTURES, "--plot")
    wanted = None if columns is None else "all" if columns == "all" else tuple(name.strip() for name in columns.split(","))
    mechanism = load(file, **numbers(settings))
    if mechanism.description.chain is not None:
        chain = mechanism.chain()
        return run_chain(chain, stop_time, output_interval, tolerance, held(inputs, chain.compiled.inputs), output, plot, wanted, quiet)
    system = mechanism.compile()
    options["inputs"] = held(inputs, system.compiled.inputs)
    check_columns(system, wanted)
    for warning in system.warnings:
        typer.echo(f"warning: {warning}", err=True)
    fast = system.specialise() if specialised else None
    try:
        with progress(system.name, end_of(system, stop_time), quiet) as told:
            result = (fast or system).simulate(progress=told, **{key: value for key, value in options.items() if value is not None})
    except ArithmeticError as error:  # what was computed until then is kept
        if getattr(error, "result", None) is not None:
            write(error.result, output, plot, wanted)  # type: ignore[attr-defined]
        raise
    from kinetree.scripts.reports import stage_tables

    if plot and wanted is None and stage_tables.staged(result):
        from kinetree.scripts.reports.stage_pictures import draw_stages

        written = write(result, output, None, wanted)
        draw_stages(system, result, plot)
        written.append(plot)
    else:
        written = write(result, output, plot, wanted)
    if not quiet:
        from kinetree.scripts.reports.summary import summary

        summary(system, result, written)
        if fast is not None:
            typer.echo(said_of(fast.motions))
        if stage_tables.staged(result):
            stage_tables.show(stage_tables.tables(result, system.coordinates) | {stage_tables.BOOKS: stage_tables.books(result)})
    if result.interrupted:
        raise Exit(130)


def said_of(motions: "Sequence[Motion | str]") -> str:
    """Which structures ran by straight-line code."""
    sizes = [each.trace.operations for each in motions if not isinstance(each, str)]
    why = "; ".join(sorted({each for each in motions if isinstance(each, str)}))
    least, most = (min(sizes), max(sizes)) if sizes else (0, 0)
    size = f" of {least} operations" if least == most else f" of {least} to {most} operations"
    ran = f"straight-line code{size} for {len(sizes)} of {len(motions)} structures" if sizes else "no straight-line code"
    return f"{ran}; the engine for the others: {why}" if why else ran


def end_of(system: "System", stop_time: float | None) -> float:
    """When the run will end, 0 where the description does not say; it may be an expression over parameters."""
    from kinetree.models.compilation.compile import parameter_values
    from kinetree.models.expressions.text import evaluate_constant

    given = system.description.run.stop_time
    return stop_time if stop_time is not None else evaluate_constant(given, parameter_values(system.description)) if given is not None else 0.0


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
) -> None:
    """A linear chain steps by the matrix method, whatever integrator is asked for."""
    result = system.simulate(stop_time, None, output_interval, tolerance, inputs=inputs)
    written = write(result, output, plot, wanted)
    if not quiet:
        from kinetree.scripts.reports.summary import summary

        summary(system, result, written)


def check_columns(system: "System", wanted: "str | tuple[str, ...] | None") -> None:
    """Refuse names of columns before the run instead of after it."""
    if wanted is not None:
        import numpy as np

        from kinetree.models.run.simulation import blank
        from kinetree.models.run.unit import make_unit

        try:
            blank(make_unit(system), None, np.zeros(0)).select(wanted)
        except KeyError as error:
            raise BadInput(f"--columns: {error.args[0]}") from None


def write(result: "Result", output: Path | None, plot: Path | None, wanted: "str | tuple[str, ...] | None") -> list[Path]:
    """Table and picture; a picture of many columns has several pages: FILE.png, FILE-2.png, ..."""
    written = [output] if output else []
    if output:
        result.save(output, wanted)
    if plot:
        pages = result.plot(plot, wanted)
        written += [plot if k == 0 else plot.with_name(f"{plot.stem}-{k + 1}{plot.suffix}") for k in range(len(pages))]
    return written
