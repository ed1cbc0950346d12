"""`kinetree list`: the mechanisms that ship."""

import typer


def library() -> None:
    """List the mechanisms of the library; use them as lib:NAME."""
    from kinetree.models.library import catalogue

    entries = catalogue()
    width = max(map(len, entries), default=0)
    for name, text in sorted(entries.items()):
        typer.echo(f"lib:{name:<{width}}  {text}")
