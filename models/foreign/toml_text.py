"""A description as readable TOML text: one table per item, short lines, names in quotes only if
needed.
"""

from __future__ import annotations

import json
import re
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def key(name: str) -> str:
    return name if BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def value(given: Any) -> str:
    """Return one value as TOML on one line."""
    if isinstance(given, dict):
        return (
            "{ "
            + ", ".join(f"{key(name)} = {value(inner)}" for name, inner in given.items())
            + " }"
        )
    if isinstance(given, (list, tuple)):
        return "[" + ", ".join(value(inner) for inner in given) + "]"
    return json.dumps(given, ensure_ascii=False)


def toml_text(description: dict[str, Any], remarks: list[str]) -> str:
    """Return a description as TOML text with remarks at its head."""
    lines = [*(f"# {remark}" for remark in remarks), *([""] if remarks else [])]
    lines += [
        f"{key(name)} = {value(given)}"
        for name, given in description.items()
        if not isinstance(given, dict)
    ]
    for section, tables in description.items():
        if not isinstance(tables, dict):
            continue
        if section == "inputs" or not all(isinstance(table, dict) for table in tables.values()):
            lines += [
                "",
                f"[{section}]",
                *(f"{key(name)} = {value(table)}" for name, table in tables.items()),
            ]
            continue
        for name, table in tables.items():
            lines += ["", f"[{section}.{key(name)}]"]
            for each, given in table.items():
                if each in ("transforms", "shapes"):
                    lines += [
                        f"{each} = [",
                        *(f"  {value(transform)}," for transform in given),
                        "]",
                    ]
                else:
                    lines.append(f"{key(each)} = {value(given)}")
    return "\n".join(lines) + "\n"
