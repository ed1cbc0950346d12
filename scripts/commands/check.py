"""`kinetree check`: is this description a mechanism?"""

import typer

from kinetree.scripts.terminal.arguments import Settings, Source, numbers


def check(file: Source, settings: Settings = None) -> None:
    """Read a description and report everything that is wrong with it, and what may be a slip: unused parameters, angles in degrees, ..."""
    from kinetree.models import load
    from kinetree.models.run.unit import later

    mechanism = load(file, **numbers(settings))
    for warning in mechanism.description.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if mechanism.description.chain is not None:
        masses = mechanism.chain().n
        typer.echo(f"{file}: good. A chain of {masses} {'mass' if masses == 1 else 'masses'}")
        return
    system = mechanism.compile()
    later(system)  # mistakes of later stages show here, not in the middle of a run
    bodies, freedoms = len(system.bodies), system.freedoms
    parts = [f"{bodies} {'body' if bodies == 1 else 'bodies'}", f"{freedoms} {'freedom' if freedoms == 1 else 'freedoms'}"]
    controllers = mechanism.description.controllers
    parts += [f"controllers {', '.join(f'{name} ({each.kind})' for name, each in controllers.items())}"] if controllers else []
    typer.echo(f"{file}: good. {', '.join(parts)}")
    for warning in system.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for each in mechanism.description.left_out:
        typer.echo(f"left out: {each}")
