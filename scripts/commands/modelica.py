"""`kinetree modelica`: the Modelica model around an imported FMU."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, Settings, Source, numbers
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json


def modelica(
    file: Source,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Modelica file to write; the model has the file's name."
        ),
    ],
    block: Annotated[
        str,
        typer.Option(
            "--block",
            help="Class that the import of the FMU made (default: the model's identifier and _me_FMU, as OpenModelica names it).",
        ),
    ] = "",
    settings: Settings = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a Modelica model around an imported FMU, with signal connectors and mechanical flanges."""
    from kinetree.fmu.archive.build import identifier_of
    from kinetree.fmu.modelica import RESERVED, SUFFIX, wrapper_text
    from kinetree.fmu.unit import fmu_unit
    from kinetree.models import load
    from kinetree.scripts.fmi.in_process import InProcess

    if output.suffix != ".mo":
        raise BadInput(f"{output}: expected a name that ends in .mo")
    if not output.stem.isidentifier() or not output.stem.isascii() or output.stem in RESERVED:
        raise BadInput(
            f"{output}: the model has the name of the file, which must be an identifier of Modelica"
        )
    mechanism = load(file, **numbers(settings))
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


COMMAND = Command("modelica", modelica, place=110)
