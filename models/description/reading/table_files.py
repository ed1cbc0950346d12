"""Tables of a description whose points are in a file: `[tables.NAME] file = "push.csv"`, by column
and unit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree.models.description.reading.source_location import Origin
from kinetree.models.language.errors import Problem, shown, suggestion
from kinetree.models.language.units.unit_of_measure import parse_unit

MOST_ROWS = 200_000
KEYS = ("file", "columns", "units")


def names_files(raw: dict[str, Any]) -> bool:
    """Return whether any table of a raw description reads its points from a file."""
    given = raw.get("tables")
    return isinstance(given, dict) and any(
        isinstance(table, dict) and "file" in table for table in given.values()
    )


def fill_tables(raw: dict[str, Any], origin: Origin) -> list[Problem]:
    """Replace file names in tables by the points of the files; unreadable files become problems of
    the table.
    """
    problems = []
    given = raw.get("tables")
    tables: dict[str, Any] = given if isinstance(given, dict) else {}
    for name, table in list(tables.items()):
        if isinstance(table, dict) and "file" in table:
            try:
                x, y = points(table, Path(origin.file).parent)
            except ValueError as error:
                problems.append(
                    Problem(
                        key=f"tables.{name}",
                        file=origin.file,
                        line=origin.line(("tables", name)),
                        found=shown(table["file"]),
                        hint=str(error),
                    )
                )
                x, y = [0.0, 1.0], [0.0, 0.0]
            tables[name] = {key: value for key, value in table.items() if key not in KEYS} | {
                "x": x,
                "y": y,
            }
    return problems


def points(table: dict[str, Any], beside: Path) -> tuple[list[float], list[float]]:
    """Return both columns of a table file in SI units; rows that are not numbers are left out."""
    import numpy as np

    from kinetree.models.language.read_files import read_columns

    if "x" in table or "y" in table or "z" in table:
        raise ValueError("a table has either a file or its points")
    given = read_columns(beside / str(table["file"]))
    columns = table.get("columns", list(given)[:2])
    units = table.get("units", ["", ""])
    if not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        for pair in (columns, units)
    ):
        raise ValueError("columns and units are two texts each: of x and of y")
    found = []
    for column, unit in zip(columns, units, strict=True):
        if column not in given:
            raise ValueError(f"no column '{column}'; {suggestion(column, tuple(given))}")
        values, own = given[column]
        try:
            found.append(
                np.asarray(
                    parse_unit(unit or own).to_si(values) if unit or own else values, dtype=float
                )
            )
        except ValueError as error:
            raise ValueError(f"column '{column}': {error}") from None
    kept = np.isfinite(found[0]) & np.isfinite(found[1])
    if kept.sum() > MOST_ROWS:
        raise ValueError(f"{kept.sum()} rows, expected at most {MOST_ROWS}")
    if kept.sum() < 2:
        raise ValueError("fewer than two rows of numbers")
    return found[0][kept].tolist(), found[1][kept].tolist()
