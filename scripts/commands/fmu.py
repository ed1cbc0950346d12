"""`kinetree fmu`: pack a mechanism as a co-simulation unit."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.arguments import Settings, Source, numbers, one_of, writable
from kinetree.scripts.failure import BadInput


def fmu(
    file: Source,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Archive to write (default: the file's name with .fmu).")] = None,
    backend: Annotated[str, typer.Option("--backend", help="python (pythonfmu slave) or native (no Python on the target).")] = "python",
    fmi: Annotated[int, typer.Option("--fmi", help="FMI version: 2, or 3 with the native back end.")] = 2,
    integrator: Annotated[str | None, typer.Option("--integrator", help="auto, adams, stormer, radau, rk45, rk4, semi-implicit.")] = None,
    step_size: Annotated[float | None, typer.Option("--step-size", help="Step of a fixed-step integrator in s.")] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", "--relative-tolerance", help="Relative error of a step.")] = None,
    settings: Settings = None,
) -> None:
    """Pack a mechanism as an FMU."""
    from kinetree.models.description.schema import INTEGRATORS

    backend = one_of(backend, ("python", "native"), "--backend")
    integrator = one_of(integrator, INTEGRATORS, "--integrator") if integrator else "auto"
    if fmi not in (2, 3) or (fmi == 3 and backend == "python"):
        raise BadInput(f"--fmi {fmi}: expected 2, or 3 with --backend native")
    path = output or Path(Path(file.removeprefix("lib:")).stem + ".fmu")
    writable(path, (".fmu",), "--output")
    overrides = numbers(settings)

    from kinetree.fmu.build import build_fmu
    from kinetree.models import load

    build_fmu(load(file, **overrides), path, backend=backend, fmi=fmi, integrator=integrator, step=step_size, tolerance=tolerance)
    typer.echo(f"{path} written ({path.stat().st_size / 1e6:.2f} MB, FMI {fmi}, {backend}). Next: kinetree verify {path}")
