"""`kinetree modelica`: writes the Modelica model around an imported FMU."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, Settings, Source, loaded
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json


def modelica(
    file: Source,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Modelica file to write; the model has the file's name. With --external: the folder of the package, whose name it has.",
        ),
    ],
    block: Annotated[
        str,
        typer.Option(
            "--block",
            help="Class that the import of the FMU made (default: the model's identifier and _me_FMU, as OpenModelica names it).",
        ),
    ] = "",
    external: Annotated[
        bool,
        typer.Option(
            "--external",
            help="A package that calls the compiled mechanism itself, without an imported FMU: classes Exchange and Steps.",
        ),
    ] = False,
    platforms: Annotated[
        str | None,
        typer.Option(
            "--platforms",
            help="With --external: libraries to include (default: this machine's): linux64, win64, aarch64-linux, "
            "darwin64, aarch64-darwin; with commas, or all.",
        ),
    ] = None,
    derivatives: Annotated[
        bool,
        typer.Option(
            "--derivatives",
            help="With --external: give the tool directional derivatives of the state derivatives (annotation derivative).",
        ),
    ] = False,
    settings: Settings = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a Modelica model around an imported FMU, with signal connectors and mechanical flanges."""
    from kinetree.fmu.archive.build import identifier_of
    from kinetree.fmu.modelica import RESERVED, SUFFIX, wrapper_text
    from kinetree.fmu.unit import fmu_unit
    from kinetree.scripts.fmi.in_process_reference import InProcess

    if external:
        mechanism = loaded(file, settings)
        write_external(mechanism, output, block, json, quiet, platforms, derivatives)
        return
    if platforms or derivatives:
        raise BadInput("--platforms and --derivatives are for packages: take --external")
    if output.suffix != ".mo":
        raise BadInput(f"{output}: expected a name that ends in .mo")
    if not output.stem.isidentifier() or not output.stem.isascii() or output.stem in RESERVED:
        raise BadInput(
            f"{output}: the model has the name of the file, which must be an identifier of Modelica"
        )
    mechanism = loaded(file, settings)
    unit = fmu_unit(mechanism)
    labels = [
        label
        for label in unit.description.actuators
        if any(column.name == f"{label}.length" for column in unit.columns)
    ]
    lengths = (
        dict(
            zip(
                labels,
                InProcess(unit).start().get(f"{label}.length" for label in labels),
                strict=True,
            )
        )
        if labels
        else {}
    )
    made = block or f"{identifier_of(unit.description.name)}{SUFFIX}"
    if output.stem == made:
        raise BadInput(f"{output}: the imported block has this name; take another one")
    write_text(output, wrapper_text(unit, output.stem, made, lengths))
    if json:
        show_json({"file": output, "model": output.stem, "block": made, "actuators": labels})
    elif not quiet:
        typer.echo(
            f"{output}: model {output.stem} around {made}, {len(labels)} actuators; it uses the package Kinetree of models/modelica"
        )


def write_external(
    mechanism,
    folder: Path,
    block: str,
    json: bool,
    quiet: bool,
    platforms: str | None,
    derivatives: bool,
) -> None:
    """Write the Modelica package whose external object calls the engine."""
    from kinetree.fmu.external.package import write_package
    from kinetree.fmu.modelica import RESERVED
    from kinetree.fmu.unit import fmu_unit

    name = folder.name
    if block:
        raise BadInput("--block names the block of an imported FMU: --external needs none")
    if not name.isidentifier() or not name.isascii() or name in RESERVED:
        raise BadInput(
            f"{folder}: the package has the name of the folder, which must be an identifier of Modelica"
        )
    if folder.exists() and not (folder / "package.mo").exists() and any(folder.iterdir()):
        raise BadInput(f"{folder}: holds other files than those of a package; take another folder")
    say = (lambda text: None) if quiet or json else (lambda text: typer.echo(text, err=True))
    write_package(fmu_unit(mechanism), folder, say, platforms, derivatives)
    if json:
        show_json({"folder": folder, "package": name, "classes": ["Exchange", "Steps"]})
    elif not quiet:
        typer.echo(
            f"{folder}: package {name} with {name}.Exchange and {name}.Steps; load {folder / 'package.mo'}"
        )


COMMAND = Command("modelica", modelica, place=110)
