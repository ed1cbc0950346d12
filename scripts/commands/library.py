"""`kinetree list`: lists the built-in mechanisms or the kinds of force elements."""

import ast
import tomllib
from typing import Annotated, Literal

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.json_output import Json, show_json


def library(
    what: Annotated[
        Literal["library", "forces"],
        typer.Argument(help="What to list: mechanisms (built in) or kinds of force elements."),
    ] = "library",
    json: Json = False,
) -> None:
    """List the built-in mechanisms, which commands accept as lib:NAME, or the kinds of force elements."""
    if what == "forces":
        from kinetree.models.forces.kinds import KINDS
        from kinetree.scripts.commands.explain import first_paragraph

        rows = {name: first_paragraph(kind.table) for name, kind in KINDS.items()}
    else:
        from kinetree.models.description.reading.read_source import library_names

        rows = {f"lib:{name}": title(name) for name in library_names()}
    if json:
        return show_json(rows)
    for name, text in rows.items():
        typer.echo(f"{name:<{max(map(len, rows))}}  {text}")
    return None


def title(name: str) -> str:
    """Return the title of a library mechanism without loading it."""
    from kinetree.models.description.reading.read_source import LIBRARY

    paths = (
        LIBRARY / f"{stem}{suffix}"
        for stem in (name, name.replace("-", "_"))
        for suffix in (".toml", ".py")
    )
    path = next(path for path in paths if path.exists())
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        summary = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
        return " ".join(summary.split())
    content = tomllib.loads(text)
    return content.get("text") or content.get("name", "")


COMMAND = Command("list", library, place=220)
