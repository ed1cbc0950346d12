"""The result of a run: columns by name, events with their books, files, tables and plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.simulation import Options
    from kinetree.models.unit import Run, Unit


@dataclass(frozen=True)
class Event:
    """Something that happened: when, what, the stage after it, and mass, momentum (3) and energy before and after."""

    time: float
    kind: str
    stage: str
    stage_number: int
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def energy_loss(self) -> float:
        """Energy that the event took away."""
        return self.before[4] - self.after[4]


class Result:
    """Numbers of a run: `result["name"]` and `result.time` are numpy arrays."""

    EXTRA = ("stage", "events", "energy", "energy_residual", "constraint_residual", "solver_steps")
    UNITS = {"energy": "J", "energy_residual": "J", "time": "s"}

    def __init__(self, unit: Unit, time: np.ndarray, table: np.ndarray, options: Options):
        self.name = unit.description.name
        self.time = time
        self.options = options
        self.events: list[Event] = []
        self.stage_names = unit.stage_names
        self.interrupted = ""
        self.statistics: dict[str, float] = {}
        self._table = table
        names = [column.name for column in unit.columns]
        self._units = {column.name: column.unit for column in unit.columns} | self.UNITS
        self._index = {name: k for k, name in enumerate((*names, *self.EXTRA))} | {name: k for k, name in enumerate(names)}

    def truncate(self, count: int) -> None:
        """Keep the first `count` rows, as after an interrupt."""
        self.time, self._table = self.time[:count], self._table[:count]

    def finish(self, run: Run, seconds: float) -> None:
        """Note the cost of the run."""
        from kinetree.solvers import unit_layout as U

        self.statistics = {"seconds": seconds, "steps": float(run.work[U.V_STEPS]), "events": float(run.work[U.V_EVENTS])}

    # -- access ---------------------------------------------------------------------------------------------------------------------------
    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns but the time."""
        return tuple(self._index)

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self.time
        if name not in self._index:
            from kinetree.models.description.errors import suggestion

            raise KeyError(f"no column '{name}'; {suggestion(name, self.names)}")
        return self._table[:, self._index[name]]

    def __contains__(self, name: str) -> bool:
        return name in self._index or name == "time"

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return self.time.size

    def unit(self, name: str) -> str:
        """Unit of a column, empty where none is known."""
        return self._units.get(name, "")

    def array(self, names: Iterable[str]) -> np.ndarray:
        """Chosen columns side by side."""
        return np.column_stack([self[name] for name in names])

    # -- files ----------------------------------------------------------------------------------------------------------------------------
    def to_csv(self, path: str | Path, names: Iterable[str] | None = None, units: bool = False) -> None:
        """Write time and columns; `units` adds a second row with units."""
        from kinetree.models.result_files import write_csv

        write_csv(self, Path(path), tuple(names or self.names), units)

    def save(self, path: str | Path, names: Iterable[str] | None = None) -> None:
        """Write a file in the format its ending names: .csv, .parquet, .h5, .mat (version 4, as Modelica tools write it)."""
        from kinetree.models.result_files import write

        write(self, Path(path), tuple(names or self.names))

    def plot(self, path: str | Path | None = None, names: Iterable[str] | None = None, **options):
        """Draw columns over time, stages marked; see `result_plots.plot`."""
        from kinetree.models.result_plots import plot

        return plot(self, path, names, **options)

    def table(self, kind: str = "max_deviation") -> dict:
        """Summary per stage: values at its "start", at its "end", or the largest deviations ("max_deviation")."""
        from kinetree.models.result_tables import table

        return table(self, kind)
