"""Values of parameters: converted to display units, written to files and read from them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.value_parts import Parameter
from kinetree.models.language.units.unit_of_measure import fits, parse_unit
from kinetree.models.library.argument_checks import Argument
from kinetree.scripts.terminal.value_rows import HEAD, Row

DIGITS = 12
Parameters = Mapping[str, tuple[Parameter, float]]


def unit_of(parameter: Parameter) -> str:
    """Return the display unit of a parameter."""
    return parameter.display_unit or parameter.unit


def shown(parameter: Parameter, value: float) -> float:
    """Return a value in its display unit, without rounding residues of the conversion."""
    unit = unit_of(parameter)
    return float(f"{float(parse_unit(unit).from_si(value)):.{DIGITS}g}") if unit else value


def inside(parameter: Parameter, value: float) -> float:
    """Return a displayed value in SI units."""
    unit = unit_of(parameter)
    return float(parse_unit(unit).to_si(value)) if unit else value


def as_csv(parameters: Parameters, settings: Mapping[str, tuple[Argument, float]]) -> str:
    """Return settings and parameters as CSV for spreadsheets and `--set @FILE`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    for name, (argument, value) in settings.items():
        writer.writerow((name, f"{value:.{DIGITS}g}", argument.unit, argument.text))
    for name, (parameter, value) in parameters.items():
        writer.writerow((name, repr(shown(parameter, value)), unit_of(parameter), parameter.text))
    return stream.getvalue()


def read_values(rows: Iterable[Row], parameters: Parameters) -> dict[str, float]:
    """Return SI values from rows of name, value and unit; raise ValueError for invalid rows."""
    found = {}
    for name, value, unit in rows:
        if name not in parameters:
            raise ValueError(f"there is no parameter '{name}'; {suggestion(name, parameters)}")
        found[name] = converted(
            name, value, unit or unit_of(parameters[name][0]), parameters[name][0].unit
        )
    return found


def as_number(name: str, value: Any) -> float:
    """Return a value in a file as a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected a number, found {value!r}") from None


def converted(name: str, value: Any, unit: str, own: str) -> float:
    """Return a number in SI units, converted from the unit in the file or else from the display
    unit.
    """
    number = as_number(name, value)
    if not unit:
        return number
    if not fits(unit, own or "1"):
        raise ValueError(f"{name}: '{unit}' is no unit of the kind of '{own or '1'}'")
    return float(parse_unit(unit).to_si(number))
