"""`kinetree studio`: opens a browser page on this machine to edit, run and view a mechanism."""

from typing import Annotated

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Settings, numbers
from kinetree.scripts.terminal.error_messages import BadInput


def studio(
    model: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]", help="Description (.toml, .json, .urdf, .xml), or lib:NAME."
        ),
    ] = "lib:pendulum",
    port: Annotated[int, typer.Option("--port", help="Port; 0: a free one.", min=0, max=65535)] = 0,
    settings: Settings = None,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open a mechanism in the browser: edit, check, run, compare and view it, and export FMUs.

    The page is served to this machine only, and only to who has the address with its token.
    """
    try:
        from kinetree.scripts.studio.app import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("nicegui", "fastapi"):
            raise
        raise BadInput("the studio needs NiceGUI: pip install kinetree[studio]") from None
    from kinetree.scripts.studio.server import free_port, new_token

    serve(
        model,
        port or free_port(),
        new_token(),
        show,
        lambda address: print(f"studio: {address}", flush=True),
        numbers(settings),
    )


COMMAND = Command("studio", studio, place=170)
