"""`kinetree new`: a commented starter file."""

import re
from pathlib import Path
from typing import Annotated

import typer

from kinetree.scripts.terminal.failure import BadInput

STARTER = Path(__file__).parent.parent / "templates" / "starter.toml"


def new(
    name: Annotated[str, typer.Argument(help="Name of the mechanism.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write (default NAME.toml).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a small commented mechanism to start from."""
    path = output or Path(re.sub(r"[^\w.-]+", "-", name.removesuffix(".toml")) + ".toml")
    if path.exists() and not force:
        raise BadInput(f"{path} exists already; --force overwrites it")
    title = name.removesuffix(".toml").replace("\\", "\\\\").replace('"', '\\"')
    path.write_text(STARTER.read_text(encoding="utf-8").replace("@NAME@", title), encoding="utf-8")
    typer.echo(f"{path} written. Next: kinetree info {path}, kinetree run {path} --plot {path.stem}.png")
