"""`kinetree statics`: where a mechanism rests."""

from typing import Annotated

import typer

from kinetree.scripts.arguments import Inputs, Settings, Source, held, numbers


def statics(
    file: Source,
    settings: Settings = None,
    inputs: Inputs = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Find the equilibrium nearest to the start and say whether it is stable."""
    from kinetree.models import load

    system = load(file, **numbers(settings)).compile()
    found = system.equilibrium(inputs=held(inputs, system.compiled.inputs))
    typer.echo(found.to_json() if json else str(found))
