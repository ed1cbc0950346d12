"""`kinetree observe`: estimates states, parameters and unknown forces of a mechanism from a record
of its sensors.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, one_of, writable
from kinetree.scripts.terminal.json_output import Json, keep_json, show_json

if TYPE_CHECKING:
    from kinetree.models.observers.estimation import Estimate
    from kinetree.scripts.studies.observer_file import Task

RESULTS = (".csv", ".json", ".fmu")


def observe(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.toml",
            help="Observer file: mechanism, sensors, estimated quantities, measured file.",
        ),
    ],
    record: Annotated[
        Path | None,
        typer.Option("--record", help="Measured file to use instead of the one named in FILE."),
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", help="ekf, ukf or moving-horizon.")
    ] = None,
    fit: Annotated[
        bool,
        typer.Option("--fit", help="First fit the noise levels by maximum likelihood."),
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Estimates and standard deviations (.csv), findings (.json), or the observer "
            "as an FMU (.fmu); may be repeated.",
        ),
    ] = None,
    backend: Annotated[
        str,
        typer.Option(
            "--backend",
            help="Back end of an observer FMU. python: every method, needs Python on the host; native: extended Kalman filter only.",
        ),
    ] = "python",
    period: Annotated[
        float, typer.Option("--period", help="Sampling period of a native observer FMU [s].")
    ] = 0.01,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report: .html.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate states and parameters from measurements: Kalman filters, moving-horizon estimation.

    \b
    Example of an observer file:
      mechanism = "lib:boom"
      record = "measured.csv"             # time, sensors, inputs
      method = "ekf"                      # ukf, moving-horizon
      [measurements]
      luff = { noise = 0.0005 }           # column, delay, period, bias, bias_walk
      [parameters]
      load_mass = { start = 70, std = 50, min = 0 }     # walk, max
      [unknowns]
      gust = { coordinate = "luff", std = 100, walk = 50 }    # or body, point, direction
      [process]
      speeds = 0.001                      # noise on all speeds, or by name
    """
    from kinetree.models.observers.noise_fitting import fit_densities
    from kinetree.scripts.studies.observer_file import read_task
    from kinetree.scripts.terminal.progress import progress

    for path in output or []:
        writable(path, RESULTS, "--output")
    writable(report, (".html",), "--report")
    task = read_task(file, {"method": method} if method else None)
    units = [path for path in output or [] if path.suffix == ".fmu"]
    one_of(backend, ("python", "native"), "--backend")
    for path in units:
        pack(task, path, backend, period)
        if not (quiet or json):
            typer.echo(f"written: {path}")
    if units and record is None and task.file.record is None:
        return
    data, truth = task.record(record)
    problem, factors = task.problem, {}
    with progress(f"observe {file.stem}", float(data.time[-1]), quiet or json) as told:
        if fit:
            problem, factors = fit_densities(problem, data, progress=told)
        found = problem.run(data, truth, told)
    content = summary(found, factors)
    for path in output or []:
        if path.suffix == ".csv":
            write_estimates(found, path)
        elif path.suffix == ".json":
            keep_json(content, path)
        if path.suffix != ".fmu" and not (quiet or json):
            typer.echo(f"written: {path}")
    if report:
        from kinetree.scripts.reports.observer_report import write_observer_report

        write_observer_report(report, file.stem, task.file.mechanism, found, content, truth, data)
        if not (quiet or json):
            typer.echo(f"written: {report}")
    if json:
        show_json(content)
    elif not quiet:
        show(file.stem, found, content)


def pack(task: "Task", path: Path, backend: str, period: float) -> None:
    """Write the observer of a file as an FMU."""
    if backend == "python":
        from kinetree.fmu.slave.observer_unit import pack_observer
        from kinetree.models.observers.packed_observer import packed

        pack_observer(packed(task.source, task.problem.setup), path)
        return
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.models import load
    from kinetree.models.observers.embedded_observer import watched_mechanism

    step = task.problem.setup.step or period
    mechanism = load(watched_mechanism(task.source, task.problem, step))
    build_fmu(mechanism, path, "native", step=step)


def summary(found: "Estimate", factors: dict[str, float]) -> dict[str, Any]:
    """Return the results of an observer as plain data."""
    from kinetree.models.observers.consistency import autocorrelation

    band, (correlation, bound) = found.innovation_band, autocorrelation(found.innovations)
    return {
        "method": found.method,
        "readings": sum(len(each.names) for each in found.innovations),
        "estimates": {
            each.name: {
                "value": float(found[each.name][-1]),
                "std": each.after,
                "std_at_start": each.before,
                "known": each.known,
                "unit": found.units.get(each.name, ""),
            }
            for each in found.knowledge
        },
        "normalised_innovation_squared": {
            "mean": band.mean,
            "low": band.low,
            "high": band.high,
            "verdict": band.verdict,
        },
        "autocorrelation": {"value": correlation, "bound": bound},
        "normalised_error_squared": {
            name: {"mean": each.mean, "low": each.low, "high": each.high}
            for name, each in found.error_bands.items()
        },
        "indistinguishable": [list(each) for each in found.alike],
        "stages": [
            {"time": time, "stage": stage, "entropy_change": change}
            for time, stage, change in found.stage_notes
        ],
        "log_likelihood": found.log_likelihood,
        "fitted_factors": factors,
    }


def write_estimates(found: "Estimate", path: Path) -> None:
    """Write time, estimates and standard deviations (NAME.std) as a table."""
    from kinetree.models.result.atomic_file import write_text

    names = ["time", *found.names, *(f"{name}.std" for name in found.names)]
    lines = [",".join(f'"{name}"' if "," in name else name for name in names)]
    lines += [
        ",".join(f"{value:.10g}" for value in (time, *values, *deviations))
        for time, values, deviations in zip(found.time, found.values, found.deviations, strict=True)
    ]
    write_text(path, "\n".join(lines) + "\n")


def show(title: str, found: "Estimate", content: dict[str, Any]) -> None:
    """Print the last estimates and the consistency of the filter."""
    from rich.console import Console

    from kinetree.scripts.reports.observer_report import sentences
    from kinetree.scripts.reports.summary import show_table, text_table

    console = Console()
    rows = [
        (
            name,
            f"{each['value']:.6g}",
            f"{each['std']:.3g}",
            f"{each['std_at_start']:.3g}",
            each["unit"],
        )
        for name, each in content["estimates"].items()
    ]
    title = f"{title}: estimates at {found.time[-1]:.6g} s ({found.method}, {content['readings']} readings)"
    shown = text_table(title, ("", "value", "± std", "± at the start", ""), rows)
    show_table(shown)
    for line in sentences(content):
        console.print(line, markup=False, highlight=False)


COMMAND = Command("observe", observe, place=255)
