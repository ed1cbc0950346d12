"""The mechanism of a study as one table with the content of its files: for other machines, and to
recognise a study by its hash.
"""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kinetree.models import ModelError
from kinetree.models.description.reading.read_source import Source, read
from kinetree.models.description.reading.table_files import fill_tables
from kinetree.scripts.terminal.error_messages import BadInput

FILES = ("mesh", "file")  # keys whose texts are names of files


def whole(source: Source) -> dict[str, Any]:
    """Return the raw description of a mechanism, with tables from files filled in."""
    raw, origin = read(source)
    if problems := fill_tables(raw, origin):
        raise ModelError(problems)
    return raw


def alone(source: Source) -> dict[str, Any]:
    """Return the description for another machine, without meshes for display; meshes that define a
    mass are refused.
    """
    raw = whole(source)
    for name, body in raw.get("bodies", {}).items():
        shapes = [*body.get("shapes", []), *([body["shape"]] if "shape" in body else [])]
        files = [shape["mesh"] for shape in shapes if isinstance(shape, dict) and "mesh" in shape]
        if files and {"density", "material"} & set(body):
            raise BadInput(
                f"--cluster: the mass of body '{name}' comes from '{files[0]}', which stays on this machine; give mass, com and inertia"
            )
        if files:
            body.pop("shape", None)
            body.pop("shapes", None)
    return raw


def marks(source: Source, **more: Any) -> dict[str, str]:
    """Return hashes of everything that the results depend on: the mechanism with its files, the
    version of Kinetree, and further things given.
    """
    try:
        used = version("kinetree")
    except PackageNotFoundError:
        used = ""
    raw, origin = whole(source), read(source)[1]
    things = {
        "mechanism": [raw, digests(raw, Path(origin.file).parent)],
        "version of Kinetree": used,
        **more,
    }
    return {name: mark(thing) for name, thing in things.items()}


def digests(raw: Any, beside: Path) -> list[str]:
    """Return the hashes of the files that a description names, sorted by path."""
    found: set[Path] = set()
    waiting = [raw]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            named = [each[key] for key in FILES if isinstance(each.get(key), str)]
            found |= {path for path in (beside / name for name in named) if path.is_file()}
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return [sha256(path.read_bytes()).hexdigest() for path in sorted(found)]


def mark(thing: Any) -> str:
    """Return a hash of 16 digits, independent of the order of keys."""
    return sha256(json.dumps(thing, sort_keys=True, default=repr).encode()).hexdigest()[:16]
