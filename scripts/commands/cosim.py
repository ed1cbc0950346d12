"""`kinetree cosim`: couple a mechanism with a drive outside, or any FMUs with each other."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import Exit

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, one_of, writable
from kinetree.scripts.terminal.child_process import OwnProcess
from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    from kinetree.scripts.cosim.scenario import Scenario


def cosim(
    file: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario (.toml), structure (.ssp), or lib:boom, lib:slewing, lib:staged, lib:carrier, ...",
        ),
    ],
    scheme: Annotated[
        str | None,
        typer.Option("--scheme", help="Coupling scheme (default: that of the scenario)."),
    ] = None,
    step_size: Annotated[
        float | None,
        typer.Option(
            "--step-size", help="Communication step in s (default: that of the scenario)."
        ),
    ] = None,
    stop_time: Annotated[
        float | None,
        typer.Option("--stop-time", help="End of the run in s (default: that of the scenario)."),
    ] = None,
    units: Annotated[
        str,
        typer.Option(
            "--units",
            help="native or python: run FMUs of that back end; process: run without FMUs.",
        ),
    ] = "native",
    extrapolation: Annotated[
        int | None,
        typer.Option("--extrapolation", help="Polynomial order of input extrapolation: 0, 1 or 2."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            help="Control the step size by this relative energy error of the coupling (ECCO).",
        ),
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write the report: stability, errors, energies (.json)."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the values at the communication points: .csv."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Plot the results with the reference: .png, .pdf or .svg."),
    ] = None,
    ssp: Annotated[
        Path | None,
        typer.Option(
            "--ssp",
            help="Write the system with its FMUs as .ssp for other hosts, instead of running it.",
        ),
    ] = None,
    ssp_version: Annotated[
        str, typer.Option("--ssp-version", help="SSP version: 1.0 or 2.0.")
    ] = "1.0",
    fmus: Annotated[
        Path | None,
        typer.Option(
            "--fmus", help="Write the FMUs of the units into this folder, instead of running them."
        ),
    ] = None,
    own_process: OwnProcess = False,
    quiet: Quiet = False,
) -> None:
    """Co-simulate a mechanism with a drive, or coupled FMUs; report stability and accuracy.

    Errors are differences from a monolithic simulation, in which one solver integrates all parts.

    Warning: this executes the binaries inside FMUs with your rights. With `--own-process` the
    command survives their crashes, but it is no sandbox.

    \b
    Schemes:
      held        inputs are constant during a communication step (jacobi)
      slope       inputs are extrapolated linearly by time derivatives of the outputs
      sequential  one unit steps after the other, with new values (gauss-seidel)
      repeat      every step is made twice, with rollback
      told        the drive sends force and stiffness dF/ds: stable with long steps (linear-implicit)
      chambers    the oil volumes are states of the mechanism: stable in any host
      jacobian    Newton's method on the interface equations, with rollback
    """
    from kinetree.scripts.cosim.cosim_report import show, write_csv, write_plot
    from kinetree.scripts.cosim.import_ssp import scenario_of_ssp
    from kinetree.scripts.cosim.masters import ORDERS
    from kinetree.scripts.cosim.scenario import positive, read_scenario, spanned
    from kinetree.scripts.cosim.scenario_units import UNITS
    from kinetree.scripts.cosim.scenario_verdict import run_coupled, write_json
    from kinetree.scripts.cosim.schemes import SCHEMES, scheme_name
    from kinetree.scripts.cosim.step_size_control import ControlSpec
    from kinetree.scripts.cosim.wired_scenario import run_wired
    from kinetree.scripts.terminal.progress import progress

    writable(json_file, (".json",), "--json")
    writable(output, (".csv",), "--output")
    writable(plot, (".png", ".pdf", ".svg"), "--plot")
    kind = one_of(units, UNITS, "--units")
    with TemporaryDirectory(prefix="kinetree-ssp-") as folder:
        scenario = (
            scenario_of_ssp(Path(file), Path(folder))
            if file.endswith(".ssp")
            else read_scenario(file)
        )
        if extrapolation is not None:
            scenario = replace(
                scenario,
                extrapolation=int(
                    one_of(str(extrapolation), tuple(map(str, ORDERS)), "--extrapolation")
                ),
            )
        if tolerance is not None:
            scenario = replace(
                scenario,
                control=replace(
                    scenario.control or ControlSpec(), tolerance=positive(tolerance, "--tolerance")
                ),
            )
        chosen = one_of(scheme_name(scheme), tuple(SCHEMES), "--scheme") if scheme else ""
        step = positive(scenario.step_size if step_size is None else step_size, "--step-size")
        end = positive(scenario.stop_time if stop_time is None else stop_time, "--stop-time")
        spanned(step, end)
        if ssp is not None or fmus is not None:
            export(scenario, chosen, step, end, ssp, fmus, kind, ssp_version, quiet)
            return
        chosen = chosen or scenario.scheme
        with progress(scenario.name, end, quiet) as told:
            outcome = (run_coupled if scenario.coupling else run_wired)(
                scenario, chosen, step, end, kind, told
            )
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


def export(
    scenario: "Scenario",
    scheme: str,
    step: float,
    end: float,
    ssp: Path | None,
    fmus: Path | None,
    units: str,
    ssp_version: str,
    quiet: bool,
) -> None:
    """Write the FMUs or the system structure; the latter, without a choice, by the scheme that suits every host."""
    from kinetree.scripts.cosim.export_ssp import FOR_HOSTS, export_ssp
    from kinetree.scripts.cosim.scenario_units import pack_scenario
    from kinetree.scripts.ssp.structure import VERSIONS

    if units == "process":
        raise BadInput("--units process has no FMUs to write: take native or python")
    said = []
    if fmus is not None:
        fmus.mkdir(parents=True, exist_ok=True)
        made = pack_scenario(
            replace(scenario, step_size=step), scheme or scenario.scheme, units, fmus
        )
        said += [
            f"wrote {unit.path}, to start with {unit.start}" if unit.start else f"wrote {unit.path}"
            for unit in made
        ]
    if ssp is not None:
        writable(ssp, (".ssp",), "--ssp")
        chosen = scheme or (FOR_HOSTS if scenario.coupling else scenario.scheme)
        notes = export_ssp(
            scenario, chosen, step, end, ssp, units, one_of(ssp_version, VERSIONS, "--ssp-version")
        )
        said += [
            f"wrote {ssp}: {scenario.name}, scheme {chosen}, step {step:g} s, SSP {ssp_version}",
            *notes,
        ]
    if not quiet:
        for line in said:
            typer.echo(line)


COMMAND = Command("cosim", cosim, place=130)
