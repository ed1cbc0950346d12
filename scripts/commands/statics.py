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
    """Find the state of rest downhill from the start, its small motions and the joint reactions."""
    from kinetree.models import load

    system = load(file, **numbers(settings)).compile()
    found = system.equilibrium(held(inputs, system.compiled.inputs))
    if json:
        from json import dumps

        typer.echo(dumps(found.to_dict(), indent=2))
        return

    from rich.console import Console
    from rich.markup import escape

    from kinetree.scripts.commands.info import grid

    console = Console(highlight=False, soft_wrap=True)
    kind = "stable" if found.stable else "unstable"
    console.print(f"[bold]{escape(system.name)}[/bold]: {kind} rest after {found.iterations} iterations, residual {found.residual:.1e}")
    console.print(grid("Coordinates", [(name, f"{value:.9g}") for name, value in found.coordinates.items()]))
    if found.outputs:
        console.print(grid("Outputs", [(name, f"{value:.9g}") for name, value in found.outputs.items()]))
    if found.modes:
        rows = [(f"{frequency:.6g} Hz", f"damping ratio {round(damping, 4) + 0.0:.4f}") for frequency, damping in found.modes]
        console.print(grid("Small motions", rows))
    if found.undetermined:
        console.print(f"nothing holds the mechanism along {escape(', '.join(found.undetermined))}")
    console.print(grid("Joint reactions (force, moment; body axes)", [(name, *(f"{x:.6g}" for x in row)) for name, row in found.reactions.items()]))
