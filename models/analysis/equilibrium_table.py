"""An equilibrium as a table for engineers: every value in a suitable unit, rounding noise removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.beams.beam_reports import hinge_coordinates, motion_of
from kinetree.models.result.number_format import DUST, as_read, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Mode
    from kinetree.models.result.result import Result

Row = tuple[str, str, str]
MOVES = 0.05  # of the largest component of a shape: what is named
NAMED = 3  # components of a shape
SHOWN = 0.01  # of the largest component of a neutral combination: what is named
FORCES = "Force elements"
TABLES = ("Coordinates", "States", "Outputs", FORCES)


def tables_of(rest: Equilibrium, hinges: bool = False) -> dict[str, dict[str, float]]:
    """Return the values of an equilibrium by kind; coordinates of beam hinges only if `hinges` is
    set.
    """
    left_out = frozenset() if hinges else hinge_coordinates(rest.system.description)
    own = {name: value for name, value in rest.coordinates.items() if name not in left_out}
    values = (own, rest.states, rest.outputs, rest.forces)
    return dict(zip(TABLES, values, strict=True))


def rest_rows(rest: Equilibrium, digits: int = 6) -> dict[str, list[Row]]:
    """Return name, value and unit of every quantity of an equilibrium, grouped by kind."""
    from kinetree.models.run.simulation import empty_result
    from kinetree.models.run.simulation_unit import make_unit

    empty = empty_result(make_unit(rest.system), None, np.zeros(0))
    found = {}
    for heading, values in tables_of(rest).items():
        columns = {name: f"force('{name}')" if heading == FORCES else name for name in values}
        if values:
            found[heading] = [
                (name, *scaled_value(empty, columns[name], value, digits))
                for name, value in values.items()
            ]
    return found


def compared_rows(rests: Mapping[str, Equilibrium], digits: int = 6) -> dict[str, list[list[str]]]:
    """Return rows of a name, its value in every equilibrium, and the unit, grouped by kind.

    A quantity that an equilibrium lacks is an empty text. All values of a row have one unit.
    """
    from kinetree.models.run.simulation import empty_result
    from kinetree.models.run.simulation_unit import make_unit

    found: dict[str, list[list[str]]] = {}
    empty = empty_result(make_unit(next(iter(rests.values())).system), None, np.zeros(0))
    for heading in TABLES:
        tables = [tables_of(rest)[heading] for rest in rests.values()]
        rows = []
        for name in dict.fromkeys(name for values in tables for name in values):
            column = f"force('{name}')" if heading == FORCES else name
            values = np.array([each.get(name, np.nan) for each in tables])
            unit = empty.unit(column) if column in empty else ""
            values = np.where(np.abs(values) < DUST.get(unit, 0.0), 0.0, values)
            shown, unit = as_read(empty, column, values) if column in empty else (values, "")
            texts = ["" if np.isnan(x) else written(float(x), digits) for x in shown]
            rows.append([name, *texts, "" if unit == "1" else unit])
        if rows:
            found[heading] = rows
    return found


def plain_rows(rests: Mapping[str, Equilibrium]) -> Iterator[tuple[str, str, str, float, str]]:
    """Yield state, kind, name, value and unit (SI) of all quantities of the equilibria."""
    from kinetree.models.run.simulation import empty_result
    from kinetree.models.run.simulation_unit import make_unit

    for state, rest in rests.items():
        empty = empty_result(make_unit(rest.system), None, np.zeros(0))
        for heading, values in tables_of(rest, hinges=True).items():
            for name, value in values.items():
                column = f"force('{name}')" if heading == FORCES else name
                unit = empty.unit(column) if column in empty else ""
                yield state, heading.lower(), name, value, unit
        for joint, wrench in rest.reactions.items():
            for k, value in enumerate(wrench):
                yield state, "joint reactions", f"{joint}[{k + 1}]", value, "N" if k < 3 else "N.m"
        for k, mode in enumerate(rest.modes, 1):
            yield state, "small motions", f"mode {k} frequency", mode.frequency, "Hz"
            yield state, "small motions", f"mode {k} damping ratio", mode.damping, ""


def neutral_combination(direction: Mapping[str, float]) -> str:
    """Return a neutral direction as a sum, such as 'x + 0.5 turn'."""
    largest = max(map(abs, direction.values()), default=0.0)
    parts = [(name, x) for name, x in direction.items() if abs(x) > SHOWN * largest]
    text = ""
    for name, x in sorted(parts, key=lambda part: -abs(part[1])):
        size = "" if round(abs(x), 3) == 1.0 else f"{abs(x):.3g} "
        text += f"{' - ' if x < 0 else ' + '}{size}{name}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text[:3] == " - " else text[3:]


def scaled_value(empty: Result, name: str, value: float, digits: int) -> tuple[str, str]:
    """Return a value and its unit as text, in the display unit of the result `empty`; rounding
    noise becomes 0.
    """
    unit = empty.unit(name) if name in empty else ""
    value = 0.0 if abs(value) < DUST.get(unit, 0.0) else value
    number, shown = as_read(empty, name, np.array(value)) if name in empty else (value, "")
    return written(float(number), digits), "" if shown == "1" else shown


def shape_of(rest: Equilibrium, mode: Mode) -> list[tuple[str, float]]:
    """Return the dominant coordinates of a mode with their relative amplitudes."""
    sizes: dict[str, float] = {}
    for name in rest.linear.local:  # a beam counts once for each way in which it bends
        moved = motion_of(rest.system.description, name)
        sizes[moved] = max(sizes.get(moved, 0.0), abs(mode.shape[name]))
    moving = sorted(sizes.items(), key=lambda item: -item[1])[:NAMED]
    moving = [(name, size) for name, size in moving if size > MOVES]
    states = {name: abs(mode.shape[name]) for name in rest.states}
    return moving or [
        (name, size) for name, size in states.items() if size > MOVES * max(states.values())
    ]
