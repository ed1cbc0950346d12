"""The JSON Schema of the format, by which editors complete and check description files; `python -m` this module renews the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kinetree.models.description.schema import Description
from kinetree.models.language.numbers_and_expressions import WITH_UNIT

FILE = Path(__file__).parent.parent / "schema" / "kinetree-1.schema.json"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Description`."""
    schema = relaxed(Description.model_json_schema())
    schema["$defs"]["NumberWithUnit"] = {
        "description": "A number with its unit, converted to SI on reading",
        **WITH_UNIT,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Kinetree mechanism, format kinetree/1",
    } | schema


def relaxed(node: Any) -> Any:
    """Return a schema node with alternatives for kinds that keys select, without redundant titles."""
    if node == WITH_UNIT:
        return {"$ref": "#/$defs/NumberWithUnit"}
    if isinstance(node, dict):
        made = {}
        for key, value in node.items():
            if key == "title" and isinstance(value, str):
                continue
            made["anyOf" if key == "oneOf" else key] = relaxed(value)
        return made
    return [relaxed(value) for value in node] if isinstance(node, list) else node


def schema_text() -> str:
    """Return the content of the published JSON Schema file."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
