"""The result of a run: columns by name, events with their balances, files, tables and plots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.language.units.unit_of_measure import parse_unit
from kinetree.models.result.events import Event as Event
from kinetree.models.result.events import Events
from kinetree.models.result.orientations import quaternion_columns, turn_continuously
from kinetree.models.result.stage_summary import phases_in
from kinetree.solvers import unit_layout as U
from kinetree.solvers.model_records import HEAD

if TYPE_CHECKING:
    from kinetree.models.gradients.gradient import RecordedRun
    from kinetree.models.result.parquet_stream import Stream
    from kinetree.models.run.derived_columns import DerivedColumns
    from kinetree.models.run.simulation import Options
    from kinetree.models.run.simulation_unit import Run, Unit
    from kinetree.models.scene.make_scenes import Animation


CHUNK = 10_000  # rows that a stream passes on at once


@dataclass(frozen=True)
class StageChange:
    """The instant at which a stage ended: the stage's index, and all recorded columns just before
    and just after.
    """

    time: float
    stage: int
    before: np.ndarray
    after: np.ndarray


def shape_of(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the regular expression of a pattern in which * stands for any text and ? for any
    character.
    """
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), flags)


class Result:
    """The results of a run: `result["name"]` and `result.time` are numpy arrays.

    Every coordinate, speed, first-order state and output is recorded (`names`). Accelerations
    `der(SPEED)`, rates of states, `reaction('JOINT')` and `force('FORCE')` are evaluated from the
    recorded states when they are first requested (`derived`).
    """

    RECORDED = (
        "stage",
        "events",
        "energy",
        "energy_residual",
        "constraint_residual",
        "solver_steps",
    )
    PLACES = [U.UNIT_HEAD.at(name) for name in (*RECORDED[:-1], "steps")]
    ITERATIONS = "itr_iterations"  # of the evaluation at the row, where a run is by a form of ITR
    EXTRA = (*RECORDED, ITERATIONS)  # columns that tell of the run, not of the mechanism
    UNITS = {"energy": "J", "energy_residual": "J", "time": "s"}

    def __init__(
        self,
        unit: Unit,
        time: np.ndarray,
        table: np.ndarray,
        options: Options | None,
        replay: DerivedColumns | None = None,
    ):
        self.name, self.time, self.options = unit.description.name, time, options
        self.inputs: dict[
            str, float | Callable[[float], float]
        ] = {}  # as they were given to the run
        self.feedback = False  # whether inputs followed from what was measured
        self.way: tuple[tuple[str, ...], RecordedRun] | None = None  # of the last gradient
        self.events = Events()
        self.stage_changes: list[StageChange] = []
        self.stage_names = unit.stage_names
        self.phases = phases_in(unit.description.stages)
        self.interrupted = ""
        self.statistics: dict[str, float] = {}
        self.shown_names = dict(unit.description.report.names)
        self._table = table
        self._recorded = 0
        self._before: np.ndarray | None = None
        self._replay = replay
        self._stream: Stream | None = None
        self._derived: dict[str, np.ndarray] = {}
        names = [column.name for column in unit.columns]
        self._quaternions = quaternion_columns(unit, names)
        self._units = {column.name: column.unit for column in unit.columns} | self.UNITS
        extra = self.EXTRA if unit.iterated else self.RECORDED
        self.width = len(names) + len(extra)  # columns of the table
        self._iterated = unit.iterated
        self._shown = {
            column.name: column.display_unit for column in unit.columns if column.display_unit
        }
        self._index = {name: k for k, name in enumerate((*names, *extra))} | {
            name: k for k, name in enumerate(names)
        }

    def record(self, run: Run, row: int) -> None:
        """Write one row from the current state of a run."""
        if self._stream is not None:
            self._stream.reserve(row + 1)
        self._table[row] = self._present(run)
        self._recorded = row + 1
        if self._replay is not None:
            self._replay.keep(run, row)
        if self._stream is not None and self._recorded - self._stream.passed == CHUNK:
            self._stream.pass_on(self.time, self._recorded)

    def begin_table(self, rows: int, path: Path | None = None) -> None:
        """Allocate the table; with a path its rows are stored in that file."""
        if path is None:
            self._table = np.empty((rows, self.width))
        else:
            self.begin_stream(path, (rows, self.width))

    def begin_stream(self, path: Path, shape: tuple[int, int]) -> None:
        """Write the rows to a file while they are recorded."""
        from kinetree.models.result.parquet_stream import Stream

        stream = Stream(
            path, shape, self._index, [self.unit(name) for name in self._index], self._quaternions
        )
        self._stream, self._table = stream, stream.table

    def _present(self, run: Run) -> np.ndarray:
        """Return all recorded columns of the current state."""
        present = [run.columns, run.work[self.PLACES]]
        if self._iterated:
            head = HEAD.of(run.work, int(run.unit.header.at_workspace))
            present.append(np.array([head.iterations]))
        return np.concatenate(present)

    def note(self, run: Run) -> None:
        """Store the columns before and after an event; those at stage changes are kept."""
        here = self._present(run)
        if run.head.pending == U.PENDING_EVENT:
            self._before = here
        elif (
            self._before is not None
            and (stage := int(self._before[self._index["stage"]])) != run.head.stage
        ):
            self.stage_changes.append(
                StageChange(float(run.head.event_time), stage, self._before, here)
            )

    def picked(self, row: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Return some columns of a row of `stage_changes`."""
        return row[[self._index[name] for name in names]]

    @property
    def unreached(self) -> tuple[str, ...]:
        """Return the names of stages that the run did not reach."""
        return tuple(self.stage_names[int(self["stage"][-1]) + 1 :])

    def truncate(self) -> None:
        """Keep only the rows that were recorded, as after an interrupt."""
        count = self._recorded
        self.time, self._table, self._derived = self.time[:count], self._table[:count], {}

    def finish(self, run: Run, seconds: float) -> None:
        """Store the cost of the run and make orientations continuous."""
        if self._stream is not None:
            self._stream.close(self.time, self._recorded)
        else:
            for columns in self._quaternions:
                turn_continuously(self._table, columns)
        self.statistics = {
            "seconds": seconds,
            "steps": float(run.head.steps),
            "events": float(run.head.events),
        }

    # -- access ---------------------------------------------------------------------------------------------------------------------------
    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all recorded columns except the time."""
        return tuple(self._index)

    @property
    def derived(self) -> tuple[str, ...]:
        """Return the names of the columns that are evaluated on demand."""
        return tuple(self._replay.units) if self._replay else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return sentences about doubtful results, such as an open energy balance."""
        from kinetree.models.beams.linear_range import beyond_linear_range
        from kinetree.models.result.energy_check import energy_warning, step_warning

        description = None if self._replay is None else self._replay.unit.description
        bent = (
            beyond_linear_range(description, self.columns(), self.time)
            if description is not None and description.reduced
            else ()
        )
        return tuple(filter(None, (step_warning(self), energy_warning(self), *bent)))

    @property
    def replay(self) -> DerivedColumns | None:
        """Return the evaluator of derived columns; None for chains."""
        return self._replay

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self.time
        if name in self._index:
            return self._table[:, self._index[name]]
        found = self._known(name)
        if self._replay is not None and not self._derived:
            self._derived = self._replay.evaluate(self.time, self.columns())
        return self._derived[found]

    def columns(self) -> dict[str, np.ndarray]:
        """Return all recorded columns by name, as views."""
        return {each: self._table[:, k] for each, k in self._index.items()}

    def _known(self, name: str) -> str:
        """Return the name of a derived column; force('JOINT') is the force that a joint transmits."""
        known = self._replay.units if self._replay else {}
        for each in (name, name.replace("force(", "reaction(", 1)):
            if each in known:
                return each
        from kinetree.models.language.errors import suggestion

        raise KeyError(f"no column '{name}'; {suggestion(name, (*self.names, *self.derived))}")

    def __contains__(self, name: str) -> bool:
        return name in self._index or name == "time" or name in self.derived

    def select(self, wanted: str | Iterable[str] | None) -> tuple[str, ...]:
        """Return column names: None for recorded ones, "all", or names with * for any text and ?
        for one character.
        """
        if wanted is None:
            return self.names
        every = (*self.names, *self.derived)
        if wanted == "all":
            return every
        found: dict[str, None] = {}
        for pattern in (wanted,) if isinstance(wanted, str) else wanted:
            if "*" in pattern or "?" in pattern:
                shape = shape_of(pattern)
                matches = [name for name in every if shape.fullmatch(name)]
                if not matches:
                    raise KeyError(f"no column matches '{pattern}'")
                found |= dict.fromkeys(matches)
            else:
                found[pattern if pattern in self._index else self._known(pattern)] = None
        return tuple(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return self.time.size

    def unit(self, name: str) -> str:
        """Return the SI unit of a column, or an empty text."""
        return (
            self._units[name]
            if name in self._units
            else self._replay.units.get(name, "")
            if self._replay
            else ""
        )

    def display_unit(self, name: str) -> str:
        """Return the unit in which the description wants a column to be displayed; empty if it
        leaves the choice.
        """
        return self._shown.get(name, "")

    def shown(self, name: str) -> tuple[np.ndarray, str]:
        """Return a column in its display unit, and that unit."""
        text = self._shown.get(name, "")
        return (
            (parse_unit(text).from_si(self[name]), text) if text else (self[name], self.unit(name))
        )

    def shown_units(self, names: Iterable[str]) -> list[str]:
        """Return the display units of columns."""
        return [self._shown.get(name) or self.unit(name) for name in names]

    def as_shown(self, names: Iterable[str], rows: np.ndarray) -> np.ndarray:
        """Return the values of columns (the last axis) in their display units."""
        found = np.array(rows, dtype=float)
        for k, name in enumerate(names):
            if text := self._shown.get(name):
                found[..., k] = parse_unit(text).from_si(found[..., k])
        return found

    def array(self, names: Iterable[str]) -> np.ndarray:
        """Return the selected columns as a two-dimensional array."""
        return np.column_stack([self[name] for name in names])

    # -- files ----------------------------------------------------------------------------------------------------------------------------
    def to_csv(
        self, path: str | Path, names: str | Iterable[str] | None = None, units: bool = False
    ) -> None:
        """Write time and the columns of `select(names)` as CSV; `units` adds a second row with
        units.
        """
        from kinetree.models.result.atomic_file import whole_file
        from kinetree.models.result.files import write_csv

        with whole_file(path) as draft:
            write_csv(self, draft, self.select(names), units)

    def save(self, path: str | Path, names: str | Iterable[str] | None = None) -> None:
        """Write a file in the format its ending names: .csv, .parquet, .h5, .mat (version 4, as Modelica tools write it)."""
        from kinetree.models.result.files import write

        write(self, Path(path), self.select(names))

    def plot(
        self, path: str | Path | None = None, names: str | Iterable[str] | None = None, **options
    ):
        """Draw columns over time with stages marked; return the figures, which notebooks display.
        Options: `result.plots.plot`.
        """
        from kinetree.models.result.plots import plot

        return plot(self, path, None if names is None else self.select(names), **options)

    def animate(self, path: str | Path | None = None) -> Animation:
        """Return a 3-D animation of the mechanism with its plots: shown in notebooks, and written
        to `path` (.html, .mp4, .gif) if one is given.
        """
        from kinetree.models.scene.make_scenes import Animation, run_data

        made = Animation(run_data(self))
        if path is not None:
            made.save(path)
        return made

    def __repr__(self) -> str:
        from kinetree.models.language.word_lists import counted, listed
        from kinetree.models.result.number_format import written

        span = (
            f"{written(float(self.time[0]))} to {written(float(self.time[-1]))} s"
            if len(self)
            else "no time"
        )
        names = [name for name in self.names if name not in self.EXTRA]
        parts = [span, counted(len(self), "row"), listed(names), counted(len(self.events), "event")]
        if self.interrupted:
            parts.append(f"ended early: {self.interrupted}")
        return f"Result({self.name!r}: {'; '.join(parts)})"

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import result_html

        return result_html(self)

    def gradient(
        self, output: str | Sequence[str], parameters: Sequence[str] | None = None
    ) -> np.ndarray:
        """Return the derivatives of outputs at the end of a fixed-step run by parameters (default:
        all), computed by the adjoint method; one row per output if there are several.
        """
        from kinetree.models.gradients.gradient import run_gradient

        return run_gradient(self, output, parameters)

    def to_dataframe(self, names: str | Iterable[str] | None = None):
        """Return the columns of `select(names)` as a pandas DataFrame over time, with units in
        `attrs`.
        """
        from kinetree.models.result.data_frames import to_dataframe

        return to_dataframe(self, self.select(names))

    def to_xarray(self, names: str | Iterable[str] | None = None):
        """Return the columns of `select(names)` as an xarray Dataset over time, with units in
        `attrs["units"]`.
        """
        from kinetree.models.result.data_frames import to_xarray

        return to_xarray(self, self.select(names))

    def table(self, kind: str = "max_deviation") -> dict:
        """Return a summary per stage: values at its "start", at its "end", or the largest
        deviations from the start of the run ("max_deviation").

        Notebooks show it as a table.
        """
        from kinetree.models.result.stage_summary import StageTable, table

        return StageTable(table(self, kind))
