"""JSON output of commands (`--json`); NaN and infinity become null."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kinetree.models.result.atomic_file import write_text

Json = Annotated[bool, typer.Option("--json", help="Print all output as JSON.")]


def plain(value: Any) -> Any:
    """Return a value as dicts, lists, texts and finite numbers, ready for JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    return str(value) if isinstance(value, Path) else value


def text(content: Any) -> str:
    return json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)


def show_json(content: Any) -> None:
    """Print content as JSON."""
    typer.echo(text(content))


def keep_json(content: Any, path: Path | None) -> None:
    """Write content as JSON to a file, if a path is given."""
    if path is not None:
        write_text(path, text(content) + "\n")
