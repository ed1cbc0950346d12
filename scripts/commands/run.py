"""`kinetree run`: motion in time."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.arguments import Inputs, Quiet, Settings, Source, held, numbers, one_of, writable
from kinetree.scripts.progress import progress

TABLES = (".csv", ".parquet", ".h5", ".mat")
PICTURES = (".png", ".pdf", ".svg")


def run(
    file: Source,
    stop_time: Annotated[float | None, typer.Option("--stop-time", help="End of the run in s.")] = None,
    output_interval: Annotated[float | None, typer.Option("--output-interval", help="Time between rows of the result in s.")] = None,
    method: Annotated[str | None, typer.Option("--method", help="Formulation: auto, DEC, ABM, CBM, LGR, ITR-M, ITR-G, DRT or a -H twin.")] = None,
    integrator: Annotated[str | None, typer.Option("--integrator", help="auto, adams, stormer, radau, rk45, rk4, semi-implicit.")] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", "--relative-tolerance", help="Relative error of a step.")] = None,
    settings: Settings = None,
    inputs: Inputs = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Result file: .csv, .parquet, .h5 or .mat.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of the outputs: .png, .pdf or .svg.")] = None,
    quiet: Quiet = False,
) -> None:
    """Simulate a mechanism; print a summary, write a table and a picture."""
    from kinetree.models import load
    from kinetree.models.description.schema import INTEGRATORS, METHODS

    run_options = {
        "stop_time": stop_time,
        "output_step": output_interval,
        "method": one_of(method, METHODS, "--method") if method else None,
        "integrator": one_of(integrator, INTEGRATORS, "--integrator") if integrator else None,
        "tolerance": tolerance,
    }
    writable(output, TABLES, "--output")
    writable(plot, PICTURES, "--plot")
    overrides = numbers(settings)
    mechanism = load(file)
    system = mechanism.compile(**overrides)
    run_options["inputs"] = held(inputs, system.compiled.inputs)
    end = stop_time if stop_time is not None else mechanism.description.run.stop_time
    with progress(system.name, float(end or 10.0), quiet) as told:
        result = system.simulate(progress=told, **{key: value for key, value in run_options.items() if value is not None})
    if output:
        result.save(output)
    if plot:
        result.plot(plot)
    if not quiet:
        from kinetree.scripts.summary import summary

        summary(system, result, [path for path in (output, plot) if path])
