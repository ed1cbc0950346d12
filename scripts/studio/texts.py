"""Texts of descriptions: read from any source, parsed, and edited with values of parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinetree.models.checks.loader import generated, is_generated
from kinetree.models.description.reading.read_source import (
    library_entry,
    parse_json,
    parse_toml,
)

LIBRARY = "lib:"
NEW = "new:"
EMPTY = "empty"  # what is built from bodies and joints
NOTHING_YET = """format = "kinetree/1"
name = "My mechanism"
gravity = [0, 0, -9.81]
"""


def text_of(source: str, settings: Mapping[str, float] | None = None) -> str:
    """Return the text of a description; `settings` are those of its generator.

    Library generators and files of other formats become JSON, `new:TEMPLATE` becomes a template.
    """
    if source.startswith(NEW):
        from kinetree.scripts.commands.new import content

        name = source.removeprefix(NEW)
        if name == EMPTY:
            return NOTHING_YET
        return content(name, f"My {name}")
    if is_generated(source) and (source.startswith(LIBRARY) or Path(source).exists()):
        return json.dumps(generated(source, settings or {})[0], indent=1)
    if source.startswith(LIBRARY):
        entry = library_entry(source)
        assert isinstance(entry, Path)
        return entry.read_text(encoding="utf-8")
    path = Path(source)
    if not path.exists():
        raise ValueError(f"no such file: {source}")
    return path.read_text(encoding="utf-8-sig")


def is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def plain(text: str) -> dict[str, Any]:
    """Parse the text of a description and return it as a dict."""
    return parse_json(text) if is_json(text) else parse_toml(text)


def with_values(text: str, values: Mapping[str, float]) -> str:
    """Return the text with changed parameter values; raise ValueError if one is not found."""
    for name, value in values.items():
        text = in_json(text, name, value) if is_json(text) else in_toml(text, name, value)
    return text


def in_json(text: str, name: str, value: float) -> str:
    content = plain(text)
    table = content.get("parameters", {})
    if name not in table:
        raise ValueError(f"the text has no parameter '{name}'")
    table[name] = {**table[name], "value": value} if isinstance(table[name], dict) else value
    return json.dumps(content, indent=1, ensure_ascii=False)


def in_toml(text: str, name: str, value: float) -> str:
    """Return the TOML text with one changed value, verified by parsing."""
    from kinetree.models.language.units.unit_of_measure import parse_unit

    given = plain(text).get("parameters", {}).get(name)
    if given is None:
        raise ValueError(f"the text has no parameter '{name}'")
    unit = given.get("unit", "") if isinstance(given, dict) else ""
    written = repr(float(f"{float(parse_unit(unit).from_si(value)) if unit else value:.12g}"))
    name_there = rf"(?:{re.escape(name)}|'{re.escape(name)}'|\"{re.escape(name)}\")"
    old = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s,}#]+)"
    ways = (
        rf"(^\[parameters\]\s*$(?:\n(?!\[).*)*?\n{name_there}\s*=\s*\{{[^}}\n]*?\bvalue\s*=\s*){old}",
        rf"(^\[parameters\]\s*$(?:\n(?!\[).*)*?\n{name_there}\s*=\s*)(?!\{{){old}",
        rf"(^\[parameters\.{name_there}\]\s*$(?:\n(?!\[).*)*?\nvalue\s*=\s*){old}",
        rf"(^parameters\.{name_there}\.value\s*=\s*){old}",
    )
    for way in ways:
        made = re.sub(way, lambda found: found[1] + written, text, count=1, flags=re.M)
        if made != text and reads(made, name) == float(written):
            return made
    if reads(text, name) == float(written):
        return text
    raise ValueError(
        f"the value of '{name}' was not found in the text: write {written} there by hand"
    )


def reads(text: str, name: str) -> Any:
    """Return the value of a parameter in a text."""
    try:
        found = plain(text)["parameters"][name]
    except (ValueError, KeyError):
        return None
    return found.get("value") if isinstance(found, dict) else found


def with_plots(text: str, name: str, columns: list[str]) -> str:
    """Return the text with a set of plots in [report.plots]; an existing set of the name is
    replaced in JSON and raises an error in TOML.
    """
    content = plain(text)
    known = content.get("report", {}).get("plots", {})
    if is_json(text):
        content.setdefault("report", {}).setdefault("plots", {})[name] = {"columns": columns}
        return json.dumps(content, indent=1, ensure_ascii=False)
    if name in known:
        raise ValueError(f"there is a set '{name}' already")
    key = name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)
    return f"{text.rstrip()}\n\n[report.plots.{key}]\ncolumns = {json.dumps(columns, ensure_ascii=False)}\n"


def with_shown_name(text: str, name: str, shown: str) -> str:
    """Return the text with the display name of a variable; an empty name removes it."""
    content = plain(text)
    names = content.setdefault("report", {}).setdefault("names", {})
    names.pop(name, None)
    if shown:
        names[name] = shown
    if is_json(text):
        return json.dumps(content, indent=1, ensure_ascii=False)
    key = re.escape(json.dumps(name, ensure_ascii=False))
    own = rf"(?:{key}|{re.escape(name)}|'{re.escape(name)}')"
    made = re.sub(
        rf"(^\[report\.names\]\s*$(?:\n(?!\[).*)*?\n){own}\s*=.*\n?", r"\1", text, flags=re.M
    )
    if shown:
        line = f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(shown, ensure_ascii=False)}\n"
        header = re.search(r"^\[report\.names\][^\n]*(?:\n|\Z)", made, flags=re.M)
        if header:
            end = header.end()
            made = made[:end].rstrip("\n") + "\n" + line + made[end:]
        else:
            made = f"{made.rstrip()}\n\n[report.names]\n{line}"
    if shown_names_in(made) != names:
        raise ValueError(
            f"report.names of '{name}' was not found in the text: write it there by hand"
        )
    return made


def shown_names_in(text: str) -> Any:
    """Return the display names of variables in a text; empty if it cannot be read."""
    try:
        return plain(text).get("report", {}).get("names", {})
    except ValueError:
        return None
