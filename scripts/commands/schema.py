"""`kinetree schema`: the JSON Schema of descriptions, for editors."""

from pathlib import Path
from typing import Annotated

import typer

from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import writable
from kinetree.scripts.terminal.error_messages import BadInput

TAPLO = """include = ["*.toml"]

[[rule]]
include = ["*.toml"]

[rule.schema]
path = "{name}"
enabled = true
"""


def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write (default: print it): .json."),
    ] = None,
    taplo: Annotated[
        bool,
        typer.Option("--taplo", help="Write it here with a .taplo.toml by which editors find it."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing .taplo.toml.")
    ] = False,
) -> None:
    """Print or write the JSON Schema by which editors complete and check descriptions."""
    from kinetree.models.description.json_schema import FILE

    text = FILE.read_text(encoding="utf-8")
    writable(output, (".json",), "--output")
    if not taplo:
        if output is None:
            typer.echo(text, nl=False)
        else:
            write_text(output, text)
            typer.echo(f"written: {output}")
        return
    target = output or Path(FILE.name)
    settings = target.parent / ".taplo.toml"
    if settings.exists() and not force:
        raise BadInput(f"{settings} exists already; --force overwrites it")
    write_text(target, text)
    write_text(settings, TAPLO.format(name=target.name))
    typer.echo(f"written: {target}, {settings}")


COMMAND = Command("schema", schema, place=210)
