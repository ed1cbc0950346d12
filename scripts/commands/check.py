"""`kinetree check`: is this description a mechanism?"""

import typer

from kinetree.scripts.arguments import Settings, Source, numbers


def check(file: Source, settings: Settings = None) -> None:
    """Read a description and report everything that is wrong with it."""
    from kinetree.models import load

    system = load(file, **numbers(settings)).compile()
    bodies = len(system.bodies)
    typer.echo(f"{file}: good. {bodies} {'body' if bodies == 1 else 'bodies'}, {system.n} {'freedom' if system.n == 1 else 'freedoms'}")
