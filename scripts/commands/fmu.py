"""`kinetree fmu`: pack a mechanism as an FMU."""

import time
from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import (
    Origin,
    Quiet,
    Settings,
    Source,
    Starts,
    begun,
    loaded,
    one_of,
    writable,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json
from kinetree.solvers.integrate.kinds import NAMES


def fmu(
    file: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="FMU to write (default NAME.fmu).")
    ] = None,
    backend: Annotated[
        str,
        typer.Option(
            "--backend",
            help="python (pythonfmu; the target needs Python), native (compiled engine) or source (C99 source code).",
        ),
    ] = "python",
    fmi: Annotated[
        str,
        typer.Option(
            "--fmi",
            help="FMI version: 2 or 3. The python back end with 2 has no model exchange.",
        ),
    ] = "2",
    integrator: Annotated[str, typer.Option("--integrator", help=", ".join(NAMES) + ".")] = "auto",
    step: Annotated[
        float | None,
        typer.Option(
            "--step-size", "--step", help="Step size in s, for fixed-step integrators only."
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            "--relative-tolerance",
            help="Relative error tolerance of the integrator.",
        ),
    ] = None,
    platforms: Annotated[
        str | None,
        typer.Option(
            "--platforms",
            help="Platforms of the binaries: linux64, win64, aarch64-linux, darwin64, "
            "aarch64-darwin, wasm32-wasip2; separated by commas, or all.",
        ),
    ] = None,
    plain_names: Annotated[
        bool,
        typer.Option(
            "--plain-names",
            help="Avoid commas in variable names (some hosts write CSV files without quotes).",
        ),
    ] = False,
    python: Annotated[
        str,
        typer.Option(
            "--python",
            help="Python interpreter for the python back end (default: the one found on the target).",
        ),
    ] = "",
    specialised: Annotated[
        bool | None,
        typer.Option(
            "--specialised/--generic",
            help="Always or never add machine code generated for this mechanism (native back end; default: if it is faster).",
        ),
    ] = None,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference",
            help="Add test inputs, reference results and tolerances (draft FMI-LS-REF) to the FMU.",
        ),
    ] = False,
    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="Export the model linearised about its equilibrium; it allows large steps (matrix method).",
        ),
    ] = False,
    settings: Settings = None,
    starts: Starts = None,
    origin: Origin = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite an existing NAME.fmu if no --output is given."),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Export a mechanism as an FMU (Functional Mock-up Unit)."""
    from kinetree.fmu.archive.build import ALIASES, BACKENDS, backend_of, build_fmu, identifier_of
    from kinetree.models.checks.structural_parameters import kept_by_fmus

    backend = backend_of(one_of(backend, (*BACKENDS, *ALIASES), "--backend"))
    version = one_of(fmi, ("2", "2.0", "3", "3.0"), "--fmi")
    integrator = one_of(integrator, NAMES, "--integrator")
    writable(output, (".fmu",), "--output")
    mechanism = begun(loaded(file, settings), starts, origin)
    if linear:
        mechanism = mechanism.linear()
    path = output or Path(f"{identifier_of(mechanism.description.name)}.fmu")
    replaced = path.exists()
    if replaced and output is None and not force:
        raise BadInput(f"{path} is there already: -o names another file, --force replaces it")
    begin = time.perf_counter()
    say = (lambda text: None) if quiet else (lambda text: typer.echo(f"  {text}", err=True))
    build_fmu(
        mechanism,
        path,
        backend,
        version,
        integrator,
        step,
        tolerance,
        platforms,
        say,
        python,
        plain_names,
        specialised,
    )
    if reference:
        from kinetree.scripts.fmi.reference_results import add_reference

        say(f"{add_reference(path)} rows of reference results")
    component = backend == "native" and version[0] == "3"
    if json:
        there, absent = platforms_in(path, component)
        told = {
            "file": path,
            "backend": backend,
            "fmi": version[0],
            "platforms": there,
            "not_built": absent,
            "bytes": path.stat().st_size,
        }
        return show_json(told | {"seconds": time.perf_counter() - begin})
    if quiet:
        return None
    typer.echo(
        carried(path, component)
        if backend != "source"
        else f"C99 sources, {build_note(mechanism, integrator)}"
    )
    for each in kept_by_fmus(mechanism.description):
        typer.echo(f"In it {each}")
    done = f"{path} {'replaced' if replaced else 'written'} in {time.perf_counter() - begin:.2f} s"
    typer.echo(f"{done}, {path.stat().st_size / 1e6:.2f} MB. Next: kinetree verify {path}")
    return None


def build_note(mechanism, integrator: str) -> str:
    """Return a line on the integrator and the step size of a source FMU."""
    from kinetree.fmu.archive.build import fixed_integrator

    return f"steps by {fixed_integrator(mechanism) if integrator == 'auto' else integrator}"


def platforms_in(path: Path, component: bool) -> tuple[list[str], list[str]]:
    """Return the platforms for which an archive has binaries, and those for which it could have
    more.

    `component`: whether an archive of this kind can contain the WebAssembly component.
    """
    from zipfile import ZipFile

    from kinetree.solvers.library.platforms import NATIVE, PLATFORMS

    with ZipFile(path) as archive:
        folders = {
            name.split("/")[1]
            for name in archive.namelist()
            if name.startswith("binaries/") and name.count("/") == 2
        }
    there = [name for name, each in PLATFORMS.items() if {name, each.tuple} & folders]
    possible = PLATFORMS if component else NATIVE
    absent = [name for name in possible if name not in there]
    return there, absent


def carried(path: Path, component: bool) -> str:
    """Return a line on the platforms of an archive's binaries and on how to add the others."""
    there, absent = platforms_in(path, component)
    more = (
        f"; without {', '.join(absent)} (--platforms all adds them; the first time takes minutes)"
        if absent
        else ""
    )
    return f"for {', '.join(there)}{more}"


COMMAND = Command("fmu", fmu, place=100)
