"""`kinetree studio`: opens a browser page on this machine to edit, run and view a mechanism."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import FILE_MARK, Settings, numbers
from kinetree.scripts.terminal.error_messages import BadInput


def studio(
    model: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]", help="Description (.toml, .json, .urdf, .xml), or lib:NAME."
        ),
    ] = "lib:pendulum",
    port: Annotated[
        int,
        typer.Option("--port", help="Port of the server; 0 takes a free one.", min=0, max=65535),
    ] = 0,
    settings: Settings = None,
    parameters: Annotated[
        Path | None,
        typer.Option(
            "--parameters", help="Values of parameters and settings: rows name,value,unit, or JSON."
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open a mechanism in the browser: edit, check, run, compare and view it, and export FMUs.

    The page can be opened on this machine only, by the address with its token.
    """
    try:
        from kinetree.scripts.studio.app import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("nicegui", "fastapi"):
            raise
        raise BadInput("the studio needs NiceGUI: pip install kinetree[studio]") from None
    from kinetree.scripts.studio.server import free_port, new_token

    chosen = numbers([*([f"{FILE_MARK}{parameters}"] if parameters else ()), *(settings or ())])

    serve(
        model,
        port or free_port(),
        new_token(),
        show,
        lambda address: print(f"studio: {address}", flush=True),
        chosen,
    )


COMMAND = Command("studio", studio, place=170)
