"""A state of rest as an engineer reads it: every number in the unit that fits it, rounding left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.result.number_format import DUST, as_read, written

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Mode
    from kinetree.models.result.result import Result

Row = tuple[str, str, str]
MOVES = 0.05  # of the largest component of a shape: what is named
NAMED = 3  # components of a shape


def rest_rows(rest: Equilibrium, digits: int = 6) -> dict[str, list[Row]]:
    """Name, number and unit of every value, by what they are; what a mechanism has none of is left out."""
    from kinetree.models.run.simulation import blank
    from kinetree.models.run.unit import make_unit

    empty = blank(make_unit(rest.system), None, np.zeros(0))
    tables = {
        "Coordinates": rest.coordinates,
        "States": rest.states,
        "Outputs": rest.outputs,
        "Force elements": rest.forces,
    }
    found = {}
    for heading, values in tables.items():
        columns = {name: f"force('{name}')" if values is rest.forces else name for name in values}
        if values:
            found[heading] = [
                (name, *read(empty, columns[name], value, digits)) for name, value in values.items()
            ]
    return found


def read(empty: Result, name: str, value: float, digits: int) -> tuple[str, str]:
    """A value and its unit."""
    unit = empty.unit(name) if name in empty else ""
    value = 0.0 if abs(value) < DUST.get(unit, 0.0) else value
    number, shown = as_read(empty, name, np.array(value)) if name in empty else (value, "")
    return written(float(number), digits), "" if shown == "1" else shown


def shape_of(rest: Equilibrium, mode: Mode) -> list[tuple[str, float]]:
    """What moves most in a small motion and how far beside the largest; a state, where no coordinate moves."""
    moving = sorted(
        ((name, abs(mode.shape[name])) for name in rest.linear.local), key=lambda item: -item[1]
    )[:NAMED]
    moving = [(name, size) for name, size in moving if size > MOVES]
    states = {name: abs(mode.shape[name]) for name in rest.states}
    return moving or [
        (name, size) for name, size in states.items() if size > MOVES * max(states.values())
    ]
