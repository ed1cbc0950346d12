"""Inputs given on a command line: constants, and columns of files over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.scripts.terminal.arguments import one_of
from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    from kinetree.models import Signal, System

Driven = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=VALUE|FILE",
        help="Hold an input at a value, or drive inputs by the columns of a file; may be repeated.",
    ),
]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="COLUMN=NAME[:UNIT]",
        help="Column of an --input file that drives an input, and its unit; may be repeated.",
    ),
]


def given(
    inputs: list[str] | None, maps: list[str] | None, system: System
) -> dict[str, float | Signal] | None:
    """Return constants and functions of time by input; constants on the command line override
    files.
    """
    from kinetree.models.language.read_files import READERS
    from kinetree.scripts.terminal.arguments import held

    names = system.compiled.inputs
    files = [
        text for text in inputs or [] if "=" not in text and Path(text).suffix.lower() in READERS
    ]
    if maps and not files:
        raise BadInput("--map: there is no --input file whose columns it could name")
    found: dict[str, float | Signal] = {}
    for path in files:
        found |= driven(Path(path), wanted(maps, names), system)
    return found | (held([text for text in inputs or [] if text not in files], names) or {}) or None


def wanted(maps: list[str] | None, names: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Parse --map options: input and unit by column."""
    found = {}
    for text in maps or []:
        column, separator, target = text.partition("=")
        name, _, unit = target.partition(":")
        if not separator or not column.strip():
            raise BadInput(f"--map {text}: expected COLUMN=NAME, or COLUMN=NAME:UNIT")
        found[column.strip()] = one_of(name.strip(), names, "--map"), unit.strip()
    return found


def driven(path: Path, maps: dict[str, tuple[str, str]], system: System) -> dict[str, Signal]:
    """Return functions of time by input, linear between the rows of a file; columns named like
    inputs need no --map.
    """
    import numpy as np

    from kinetree.models.analysis.identification import interpolated_input as linear
    from kinetree.models.compilation.element_states import inputs_of
    from kinetree.models.language.errors import suggestion
    from kinetree.models.language.read_files import read_columns
    from kinetree.models.language.units.unit_of_measure import parse_unit
    from kinetree.models.run.input_functions import Signal

    columns = read_columns(path)
    first = next((name for name in columns if name.lower() == "time"), next(iter(columns)))
    time, unit = columns.pop(first)
    time = parse_unit(unit).to_si(time) if unit else time
    if (np.diff(time) <= 0.0).any():
        raise BadInput(f"{path}: the times in '{first}' do not ascend")
    for column in maps:
        if column not in columns:
            raise BadInput(
                f"--map {column}: no such column in {path}; {suggestion(column, tuple(columns))}"
            )
    units = {name: each.unit for name, each in inputs_of(system.description).items()}
    found = {}
    for column, (values, own) in columns.items():
        name, said = maps.get(column, (column, ""))
        if name in system.compiled.inputs:
            unit = said or own
            if (
                unit
                and units.get(name)
                and parse_unit(unit).exponents != parse_unit(units[name]).exponents
            ):
                raise BadInput(
                    f"{path}: '{column}' in {unit} drives '{name}', which is in {units[name]}"
                )
            known = np.isfinite(values)
            values = parse_unit(unit).to_si(values) if unit else values
            found[name] = Signal(linear(time[known], values[known]), time[known])
    if not found:
        known = ", ".join(system.compiled.inputs) or "there are none"
        raise BadInput(
            f"{path}: none of its columns {', '.join(columns)} is an input ({known}); --map COLUMN=NAME"
        )
    return found
