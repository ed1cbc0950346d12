"""`kinetree new`: writes a commented starter file."""

import re
from pathlib import Path
from typing import Annotated

import typer

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import one_of
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json

STARTER = Path(__file__).parent.parent / "templates" / "starter.toml"
TEMPLATES = {
    "pendulum": ("", "two links on a spring, a motor, outputs"),
    "loop": ("four_bar", "a closed loop: crank, coupler and rocker"),
    "hydraulic": ("boom_drive", "a boom with pump, valve, hoses and cylinder"),
    "stages": ("", "a load that is swung and released"),
    "vehicle": ("mobile_robot", "a robot on six driven wheels"),
    "cosim": ("boom", "a boom whose cylinder is driven from outside"),
}  # file of the library, or of templates/ where none is named

DEFAULT = "pendulum"


def new(
    name: Annotated[str, typer.Argument(help="Name of the mechanism.")],
    template: Annotated[
        str, typer.Option("--template", "-t", help=f"What to start from: {', '.join(TEMPLATES)}.")
    ] = DEFAULT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write (default NAME.toml).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    json: Json = False,
) -> None:
    """Write a small mechanism file with comments, to start from."""
    chosen = one_of(template, tuple(TEMPLATES), "--template")
    plain = re.sub(r"[^\w.-]+", "-", Path(name).name.removesuffix(".toml"))
    path = output or Path(name).parent / f"{plain}.toml"
    if path.exists() and not force:
        raise BadInput(f"{path} exists already; --force overwrites it")
    title = Path(name).name.removesuffix(".toml").replace("\\", "\\\\").replace('"', '\\"')
    write_text(path, content(chosen, title))
    if json:
        return show_json({"file": path, "template": chosen})
    drive = f", kinetree cosim with {path} as a unit" if chosen == "cosim" else ""
    typer.echo(
        f"{path} written. Next: kinetree info {path}, kinetree run {path} --plot {path.stem}.png, kinetree view {path}{drive}"
    )
    if chosen == DEFAULT:
        typer.echo(
            f"It is a {DEFAULT} to change; --template starts from another model (kinetree new --help)"
        )
    return None


def content(template: str, title: str) -> str:
    """Return the text of a template with another title."""
    from kinetree.models.description.reading.read_source import LIBRARY

    source, _ = TEMPLATES[template]
    path = (
        LIBRARY / f"{source}.toml"
        if source
        else STARTER.with_name("starter.toml" if template == "pendulum" else f"{template}.toml")
    )
    text = path.read_text(encoding="utf-8")
    return re.sub(r'^name = ".*"$', lambda _: f'name = "{title}"', text, count=1, flags=re.M)


COMMAND = Command("new", new, place=180)
