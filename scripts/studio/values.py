"""Values of parameters: shown in the units in which they were described, written to files and read from them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.value_parts import Parameter
from kinetree.models.language.units.unit_of_measure import fits, parse_unit

HEAD = ("name", "value", "unit", "text")
DIGITS = 12
Parameters = Mapping[str, tuple[Parameter, float]]


def unit_of(parameter: Parameter) -> str:
    """Return the unit in which a parameter is shown."""
    return parameter.display_unit or parameter.unit


def shown(parameter: Parameter, value: float) -> float:
    """Return a value in its display unit without conversion residues."""
    unit = unit_of(parameter)
    return float(f"{float(parse_unit(unit).from_si(value)):.{DIGITS}g}") if unit else value


def inside(parameter: Parameter, value: float) -> float:
    """Return a shown value in SI."""
    unit = unit_of(parameter)
    return float(parse_unit(unit).to_si(value)) if unit else value


def as_csv(parameters: Parameters) -> str:
    """Return a row per parameter, for spreadsheets."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    for name, (parameter, value) in parameters.items():
        writer.writerow((name, repr(shown(parameter, value)), unit_of(parameter), parameter.text))
    return stream.getvalue()


def read_values(text: str, parameters: Parameters) -> dict[str, float]:
    """Return SI values from rows name,value,unit or JSON; raise ValueError for invalid ones."""
    found = {}
    for name, value, unit in (
        json_rows(text) if text.lstrip().startswith(("{", "[")) else csv_rows(text)
    ):
        if name not in parameters:
            raise ValueError(f"there is no parameter '{name}'; {suggestion(name, parameters)}")
        found[name] = converted(
            name, value, unit or unit_of(parameters[name][0]), parameters[name][0].unit
        )
    if not found:
        raise ValueError(
            "no values found: expected rows name,value,unit or a JSON object of names and numbers"
        )
    return found


def converted(name: str, value: Any, unit: str, own: str) -> float:
    """Return a number in SI from the unit that the file gives, else from the one in which it is
    shown.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected a number, found {value!r}") from None
    if not unit:
        return number
    if not fits(unit, own or "1"):
        raise ValueError(f"{name}: '{unit}' is no unit of the kind of '{own or '1'}'")
    return float(parse_unit(unit).to_si(number))


def json_rows(text: str) -> list[tuple[str, Any, str]]:
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


def csv_rows(text: str) -> list[tuple[str, Any, str]]:
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
