"""`kinetree equations`: the equations of a mechanism as code or text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Quiet, Settings, Source, loaded, one_of
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from kinetree.models import Mechanism

QUANTITIES = (
    "accelerations",
    "rates",
    "hamilton",
    "mass_matrix",
    "outputs",
    "reactions",
    "energy",
    "momenta",
    "guards",
    "matrices",
    "controllers",
)
LANGUAGES = ("text", "latex", "c", "python", "modelica", "casadi")


def equations(
    file: Source,
    to: Annotated[
        str, typer.Option("--to", help="text, latex, c, python, modelica or casadi.")
    ] = "text",
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="accelerations, rates, hamilton, mass_matrix, outputs, reactions, energy, momenta, guards, matrices, controllers (C).",
        ),
    ] = "accelerations",
    parameters: Annotated[
        str, typer.Option("--parameters", help="numbers (built in) or symbols (an argument).")
    ] = "numbers",
    form: Annotated[
        str,
        typer.Option(
            "--form", help="auto (fewest operations), DEC, CBM, ABM, LGR, DRT or a Hamiltonian one."
        ),
    ] = "auto",
    by: Annotated[
        str | None,
        typer.Option(
            "--gradient", help="Slopes by these numbers (or `all`) instead of the quantity."
        ),
    ] = None,
    stage: Annotated[
        str | None,
        typer.Option("--stage", help="Name or number (from 0) of a stage (default: the first)."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Name in the function's name (default: the mechanism's).")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write (default: the screen).")
    ] = None,
    settings: Settings = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the equations of a mechanism: text, LaTeX, C, Python, Modelica, CasADi."""
    from kinetree.models.trace.mechanism_traces import PARAMETERS
    from kinetree.scripts.terminal.error_messages import BadInput

    language = one_of(to, LANGUAGES, "--to")
    of = one_of(of, QUANTITIES, "--of")
    parameters = one_of(parameters, PARAMETERS, "--parameters")
    if of == "controllers":
        return controllers(loaded(file, settings), language, output, quiet)
    system = loaded(file, settings).compile()
    try:
        trace = system.trace(
            of,
            parameters,
            form.upper() if form != "auto" else form,
            int(stage) if stage is not None and stage.isdigit() else stage,
        )
        if by is not None:
            trace = trace.gradient(
                None if by == "all" else [each.strip() for each in by.split(",")]
            )
    except (ValueError, KeyError) as error:
        raise BadInput(str(error.args[0])) from None
    if language == "modelica":
        from kinetree.models.equations.modelica import MOST_OPERATIONS

        text = trace.modelica(name, trace.operations > MOST_OPERATIONS)
    else:
        text = getattr(trace, language)(*([name] if language not in ("text", "latex") else []))
    if output is not None:
        write_text(output, text)
    if json:
        told = {
            "of": trace.of,
            "name": trace.name,
            "form": trace.form,
            "operations": trace.operations,
            "language": language,
        }
        show_json(told | ({"text": text} if output is None else {"file": output}))
    elif output is None:
        typer.echo(text, nl=False)
    elif not quiet:
        typer.echo(f"{output}: {trace.heading}")


def controllers(mechanism: "Mechanism", language: str, output: Path | None, quiet: bool) -> None:
    """Print the controllers as C."""
    from kinetree.models.equations.controllers_c import controllers_in_c
    from kinetree.scripts.terminal.error_messages import BadInput

    if language != "c":
        raise BadInput(f"--of controllers is written as C: --to c, not {language}")
    try:
        text = controllers_in_c(mechanism.description)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        if not quiet:
            typer.echo(f"{output}: controllers of {mechanism.description.name}")


COMMAND = Command("equations", equations, place=90)
