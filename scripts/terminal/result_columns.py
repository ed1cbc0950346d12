"""Reads result files as written by `Result.save`, fmpy and Modelica tools (CSV, Parquet, HDF5, MAT
version 4).
"""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kinetree.models.language.read_files import READERS, read_columns
from kinetree.models.result.result import Event, Result, shape_of
from kinetree.scripts.terminal.arguments import one_of
from kinetree.scripts.terminal.error_messages import BadInput

__all__ = ["READERS", "Recorded"]


class Recorded:
    """Columns of a result file, with the interface of a Result."""

    EXTRA = Result.EXTRA

    def __init__(self, path: Path):
        try:
            columns = read_columns(path)
        except ValueError as error:
            raise BadInput(str(error)) from None
        self.name = path.stem
        times = [name for name in columns if name.lower() == "time"] or [next(iter(columns))]
        self.time = columns.pop(times[0])[0]
        self.events: list[Event] = []
        self._columns = columns

        self.stage_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name][0]

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def unit(self, name: str) -> str:
        return self._columns[name][1]

    def select(self, patterns: Iterable[str] | None) -> tuple[str, ...]:
        """Return the names that match patterns, ignoring case, with * for any text; all names
        without patterns.
        """
        found: dict[str, None] = {}
        for pattern in patterns or ("*",):
            shape = shape_of(pattern, re.IGNORECASE)
            matches = [name for name in self.names if name == pattern] or [
                name for name in self.names if shape.fullmatch(name)
            ]
            if not matches:
                one_of(pattern, self.names, "variable")
            found |= dict.fromkeys(matches)
        return tuple(found)
