"""`kinetree list`: the mechanisms that ship."""

import ast
import tomllib

import typer


def library() -> None:
    """List the mechanisms of the library; use them as lib:NAME."""
    from kinetree.models.description.source import library_names

    names = library_names()
    width = max(map(len, names), default=0)
    for name in names:
        typer.echo(f"lib:{name:<{width}}  {title(name)}")


def title(name: str) -> str:
    """What a library entry is, without making it: text or name of a file, first line of the docstring of a generator."""
    from kinetree.models.description.source import LIBRARY

    paths = (LIBRARY / f"{stem}{suffix}" for stem in (name, name.replace("-", "_")) for suffix in (".toml", ".py"))
    path = next(path for path in paths if path.exists())
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    content = tomllib.loads(text)
    return content.get("text") or content.get("name", "")
