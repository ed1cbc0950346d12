"""Conversion to SI of numbers that are given with a unit.

A text without names is a number too: "250/2" with unit = "mm" is 0.125 m. An expression over names
is computed from SI values and is itself in SI; its unit is used for display only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, names, parse
from kinetree.models.language.units.unit_of_measure import Unit, UnitError, coherent, parse_unit


class Measured(float):
    """A number in SI that was given with another unit."""

    unit: str

    def __new__(cls, value: float, unit: str) -> Measured:
        made = super().__new__(cls, value)
        made.unit = unit
        return made


def converted(value: Any, unit: Unit) -> Any:
    """Return a number or a list of numbers in SI; expressions and other values are unchanged."""
    if isinstance(value, (list, tuple)):
        return [converted(each, unit) for each in value]
    if isinstance(value, bool) or unit.coherent:
        return value
    if isinstance(value, str):
        try:
            if names(parse(value)):
                return value
            value = evaluate_constant(value, {})
        except ExpressionError:
            return value
    if not isinstance(value, (int, float)):
        return value
    try:
        return unit.to_si(float(value))
    except OverflowError:
        return value


def in_si(table: Any, keys: Iterable[str]) -> Any:
    """Return a table with its numbers in SI; its given unit becomes `display_unit`."""
    text = table.get("unit") if isinstance(table, dict) else None
    if not isinstance(text, str):
        return table
    try:
        unit = parse_unit(text)
    except UnitError:
        return table
    if unit.coherent:
        return table
    changed = {key: converted(table[key], unit) for key in keys if key in table}
    return {"display_unit": text} | table | changed | {"unit": coherent(text)}
