"""Measured records: files whose columns get the names and units of the mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.language.errors import suggestion
from kinetree.models.language.units.unit_of_measure import UnitError, fits, parse_unit
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.result_columns import Recorded

if TYPE_CHECKING:
    from kinetree.models.system.mechanism import Mechanism


@dataclass
class Record:
    """Measured times, columns in SI units, and the parameters that apply to this record."""

    time: np.ndarray
    columns: dict[str, np.ndarray]
    settings: dict[str, float]


def single(text: str, maps: list[str] | None = None, mechanism: Mechanism | None = None) -> Record:
    """Read a record given as FILE or FILE@NAME=VALUE,...; units are checked and converted to SI."""
    name, _, given = text.partition("@")
    path = Path(name)
    data = Recorded(path)
    units = units_of(mechanism) if mechanism is not None else {}
    wanted = names_of(maps, data, path)
    columns = {}
    for column in data.names:
        target, unit = wanted.get(column, (column, ""))
        unit = unit or data.unit(column)
        if target in columns:
            raise BadInput(f"{path}: two columns for '{target}'")
        columns[target] = converted(
            data[column], unit, units.get(target, ""), f"{path}: column '{column}'"
        )
    return Record(data.time, columns, settings_of(given, text))


def names_of(maps: list[str] | None, data: Recorded, path: Path) -> dict[str, tuple[str, str]]:
    """Parse --map options for a record: name and unit by column."""
    found = {}
    for text in maps or []:
        column, separator, target = text.partition("=")
        name, _, unit = target.partition(":")
        if not separator or not column.strip() or not name.strip():
            raise BadInput(f"--map {text}: expected COLUMN=NAME, or COLUMN=NAME:UNIT")
        if column.strip() not in data.names:
            raise BadInput(
                f"--map {text}: no such column in {path}; {suggestion(column.strip(), data.names)}"
            )
        found[column.strip()] = name.strip(), unit.strip()
    return found


def units_of(mechanism: Mechanism) -> dict[str, str]:
    """Return the units of a mechanism's result columns and inputs by name."""
    from kinetree.models.compilation.element_states import inputs_of
    from kinetree.models.run.simulation_unit import make_unit

    if mechanism.description.chain is not None:
        return {}
    columns = {column.name: column.unit for column in make_unit(mechanism.compile()).columns}
    return columns | {name: each.unit for name, each in inputs_of(mechanism.description).items()}


def converted(values: np.ndarray, unit: str, expected: str, place: str) -> np.ndarray:
    """Return values in SI units."""
    if not unit:
        return values
    try:
        if expected and not fits(unit, expected):
            raise BadInput(f"{place} is in {unit}, expected a unit of {expected}")
        return parse_unit(unit).to_si(values)
    except UnitError as error:
        raise BadInput(f"{place}: {error}") from None


def settings_of(given: str, text: str) -> dict[str, float]:
    found = {}
    for part in filter(None, given.split(",")):
        name, separator, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            separator = ""
        if not separator:
            raise BadInput(f"{text}: expected FILE@NAME=VALUE,...")
    return found
