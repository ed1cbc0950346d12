"""A small mechanism that has one of each, what it says of a change, and tables without some of their keys."""

import copy
from typing import Any

from kinetree.models import ModelError
from kinetree.models.checks.loader import describe

BODY = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
PLANT: dict[str, Any] = {
    "format": "kinetree/1",
    "bodies": {"a": BODY, "b": BODY, "c": BODY},
    "joints": {
        "ja": {"child": "a", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
        "jb": {"parent": "a", "child": "b", "type": "revolute", "axis": "z", "coordinates": ["q"]},
        "jc": {"child": "c", "type": "spherical"},
    },
    "tables": {
        "T": {"x": [0, 1], "y": [0, 1]},
        "flat": {"x": [0, 1], "y": [0, 1], "z": [[0, 1], [1, 2]]},
    },
    "parameters": {"p": 1.0},
    "inputs": {"pull": {}, "push": {}, "third": {}},
}
UNUSED = ("nothing uses", "nothing looks")


def changed(path: str, value: Any, base: dict[str, Any] = PLANT) -> dict[str, Any]:
    """The description with another value at a place, as in joints/jb/start; without a place, with other sections."""
    found = copy.deepcopy(base)
    if not path:
        return found | value
    *before, last = (int(part) if part.isdigit() else part for part in path.split("/"))
    table: Any = found
    for part in before:
        table = table[part] if isinstance(table, list) else table.setdefault(part, {})
    table[last] = value
    return found


def said(description: dict[str, Any], within: str = "") -> list[str]:
    """Problems, or else warnings but those of what nothing uses; without the key `within` at their beginnings."""
    try:
        found = [
            str(each) for each in describe(description).warnings if not each.hint.startswith(UNUSED)
        ]
    except ModelError as error:
        found = [str(each) for each in error.problems]
    return [each.removeprefix(within) for each in found]


def without(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def within(path: str) -> str:
    """The beginning of the keys of what is said of a place: of a table of a section, or of a section."""
    section, _, name = path.partition("/")
    name = name.partition("/")[0]
    return f"{section}.{name}" if name and not name.isdigit() else section
