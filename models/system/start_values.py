"""Initial states of runs: start values given in addition to the description, or the state of a
result at some time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.element_states import states_of
from kinetree.models.compilation.stage_structures import Structure, structures
from kinetree.models.controllers.expansion import expanded
from kinetree.models.description.joint_units import joint_units
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description
from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.value_parts import PARAMETER_NUMBERS
from kinetree.models.language.units.si_conversion import in_si
from kinetree.models.language.units.unit_of_measure import fits, parse_unit

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

CLOCKS = ("first", "samples", "release")  # states of a sampled controller that count its periods
Given = float | Mapping[str, float | str]


@dataclass(frozen=True)
class Beginning:
    """Start values by name, in SI; the stage in which the run starts; whether the values are a
    complete state.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    stage: int = 0
    whole: bool = False


@dataclass(frozen=True)
class Row:
    """One row of a result: its time, its stage, and its values in SI by name."""

    source: str
    time: float
    values: Mapping[str, float]

    @property
    def stage(self) -> int:
        return int(self.values.get("stage", 0.0))


def row_at(source: Result | str | Path, time: float | None = None) -> Row:
    """Return the row of a result, or of a file written by a run, that is nearest to a time; the
    last one by default.
    """
    if isinstance(source, (str, Path)):
        from kinetree.models.language.read_files import read_columns

        columns = {
            name: parse_unit(unit).to_si(values) if unit else values
            for name, (values, unit) in read_columns(Path(source)).items()
        }
        times = columns.get("time", columns.get("Time"))
        if times is None:
            raise ValueError(f"{source}: no column 'time', expected the result of a run")
        name = str(source)
    else:
        columns, times, name = source.columns(), source.time, f"the result of '{source.name}'"
    k = len(times) - 1
    if time is not None:
        if not times[0] - 1e-9 <= time <= times[-1] + 1e-9:
            raise ValueError(
                f"{name} has no time {time:g}: it goes from {times[0]:g} to {times[-1]:g}"
            )
        k = int(np.abs(times - time).argmin())
    return Row(name, float(times[k]), {key: float(values[k]) for key, values in columns.items()})


def beginning(
    description: Description,
    start: Mapping[str, Given] | None = None,
    result: Result | str | Path | None = None,
    time: float | None = None,
) -> Beginning:
    """Return start values for a mechanism: the state of a result, if one is given, overridden by
    single values; unknown names are errors.
    """
    row = None if result is None else row_at(result, time)
    stages = structures(expanded(description.written))
    number = row.stage if row else 0
    if number >= len(stages):
        raise ValueError(f"{row.source} is in stage {number}, the mechanism has {len(stages)}")  # type: ignore[union-attr]
    present = stages[number]
    values = continued(present, row, description) if row else {}
    known = units_of(present)
    for name, given in (start or {}).items():
        if name not in known:
            raise KeyError(
                f"'{name}' has no start value; {suggestion(name, tuple(known)) or 'expected a coordinate, a speed or a state'}"
            )
        values[name] = number_of(name, given, known[name])
    return Beginning(values, number, row is not None)


def number_of(name: str, given: Given, unit: str) -> float:
    """Return a start value in SI; {"value": 24, "unit": "deg"} is converted from its own unit."""
    if isinstance(given, Mapping):
        own = str(given.get("unit", ""))
        if own and unit and not fits(own, unit):
            raise ValueError(f"start of '{name}' is in {own}, expected a unit such as {unit}")
        given = in_si(dict(given), PARAMETER_NUMBERS)["value"]
    value = float(given)  # type: ignore[arg-type]
    if not np.isfinite(value):
        raise ValueError(f"start of '{name}' is {value}, expected a finite number")
    return value


def units_of(present: Structure) -> dict[str, str]:
    """Return the units of everything with a start value in a structure."""
    d = present.description
    found = {name: unit for name, (unit, _) in joint_units(d.joints).items()}
    return found | {name: state.unit for name, state in states_of(d).items()}


def continued(present: Structure, row: Row, description: Description) -> dict[str, float]:
    """Return the state of a row; sampled controllers start counting their periods anew. A missing
    coordinate or speed is an error.
    """
    values = {}
    for label, joint in present.description.joints.items():
        form = joint_elements(joint, label)
        for name in (*form.coordinates, *form.speeds):
            value = row.values.get(name, 0.0 if label in present.locked else float("nan"))
            if not np.isfinite(value):
                raise ValueError(
                    f"{row.source} has no number for '{name}' at t = {row.time:g}: "
                    "it is the result of another mechanism, or lacks columns"
                )
            values[name] = value
    clocks = {f"{name}.{key}" for name in description.written.controllers for key in CLOCKS}
    for name in states_of(present.description):
        if np.isfinite(row.values.get(name, np.nan)) and name not in clocks:
            values[name] = row.values[name]
    return values
