"""`kinetree cosim`: couple a mechanism with a drive outside."""

from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Exit

from kinetree.scripts.arguments import Quiet, one_of, writable


def cosim(
    file: Annotated[str, typer.Argument(metavar="SCENARIO", help="Scenario (.toml), or lib:boom.")],
    scheme: Annotated[str | None, typer.Option("--scheme", help="held, sequential, slope, told, chambers, repeat or jacobian.")] = None,
    step_size: Annotated[float | None, typer.Option("--step-size", help="Communication step in s.")] = None,
    stop_time: Annotated[float | None, typer.Option("--stop-time", help="End of the run in s.")] = None,
    units: Annotated[str, typer.Option("--units", help="native, python: FMUs of that back end; process: without FMUs.")] = "native",
    json_file: Annotated[Path | None, typer.Option("--json", help="Report: stable, peak_pressure_error_bar and more.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Values at the communication points: .csv.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture beside the reference: .png, .pdf or .svg.")] = None,
    quiet: Quiet = False,
) -> None:
    """Run a scenario by one scheme, compare it with one system that holds both sides, and say whether the coupling is stable."""
    from kinetree.scripts.cosim.report import show, write_csv, write_plot
    from kinetree.scripts.cosim.scenario import positive, read_scenario
    from kinetree.scripts.cosim.schemes import SCHEMES
    from kinetree.scripts.cosim.study import run_coupled, write_json
    from kinetree.scripts.cosim.units import UNITS
    from kinetree.scripts.cosim.wired import run_wired
    from kinetree.scripts.progress import progress

    writable(json_file, (".json",), "--json")
    writable(output, (".csv",), "--output")
    writable(plot, (".png", ".pdf", ".svg"), "--plot")
    kind = one_of(units, UNITS, "--units")
    scenario = read_scenario(file)
    chosen = one_of(scheme, SCHEMES, "--scheme") if scheme else scenario.scheme
    step = positive(scenario.step_size if step_size is None else step_size, "--step-size")
    end = positive(scenario.stop_time if stop_time is None else stop_time, "--stop-time")
    with progress(scenario.name, end, quiet) as told:
        outcome = (run_coupled if scenario.coupling else run_wired)(scenario, chosen, step, end, kind, told)
    if json_file:
        write_json(outcome, json_file)
    if output:
        write_csv(outcome, output)
    if plot:
        write_plot(outcome, plot)
    if not quiet:
        show(outcome, [path for path in (json_file, output, plot) if path])
    if outcome.trace.message.startswith("stopped"):
        raise Exit(1)
