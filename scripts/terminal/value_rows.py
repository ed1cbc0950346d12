"""Files of values: rows name, value, unit of a spreadsheet, or a JSON object."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

HEAD = ("name", "value", "unit", "text")
Row = tuple[str, Any, str]


def value_rows(text: str) -> list[Row]:
    """Return name, value and unit of every row; raise ValueError where there are none."""
    json_text = text.lstrip().startswith(("{", "["))
    rows = json_rows(text) if json_text else csv_rows(text)
    if not rows:
        raise ValueError(
            "no values found: expected rows name,value,unit or a JSON object of names and numbers"
        )
    return rows


def json_rows(text: str) -> list[Row]:
    """Return the rows of an object of names with numbers, or with tables of value and unit."""
    try:
        items = json.loads(text).items()
    except (ValueError, AttributeError):
        raise ValueError("expected a JSON object of names and numbers") from None
    return [
        (str(name), each.get("value"), str(each.get("unit", "")))
        if isinstance(each, dict)
        else (str(name), each, "")
        for name, each in items
    ]


def csv_rows(text: str) -> list[Row]:
    """Return the rows of a spreadsheet, by comma, semicolon or tab; the head may be left out, and
    the columns after the value.
    """
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    cut = next((sign for sign in ("\t", ";") if sign in first), ",")
    lines = [
        [cell.strip() for cell in line]
        for line in csv.reader(io.StringIO(text), delimiter=cut)
        if any(cell.strip() for cell in line)
    ]
    if lines and lines[0][0].lower() == HEAD[0]:
        lines = lines[1:]
    if any(len(line) < 2 for line in lines):
        raise ValueError("expected rows name,value,unit")
    return [
        (line[0], line[1].replace(",", "."), line[2] if len(line) > 2 else "") for line in lines
    ]
