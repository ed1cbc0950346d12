"""Many simulations of one system, advanced together; values are read and written as arrays with one
element per simulation.

The simulations are independent: each has its own time, inputs, parameters, events and stage, and
can be reset.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kinetree.models.engine.entry_points import bind, kind
from kinetree.models.engine.fastcall_shim import machine_code
from kinetree.models.engine.instance import aligned
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.failure_messages import failure_message
from kinetree.models.run.simulation import write_integrator_options
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.models.run.stepper import Places, Written, options_of, positive, start_place
from kinetree.models.run.stepper import start_places as starts_of
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

if TYPE_CHECKING:
    from kinetree.models.system.system import System

LOOP = """
define void @each(ptr %entry, i64 %ints, i64 %floats, i64 %works, i64 %stride, i64 %n, i64 %option, ptr %times, ptr %codes) {
start:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %end
body:
  %k = phi i64 [ 0, %start ], [ %next, %body ]
  %offset = mul i64 %k, %stride
  %work = add i64 %works, %offset
  %time_at = getelementptr double, ptr %times, i64 %k
  %t = load double, ptr %time_at
  %status = call i32 %entry(i64 %ints, i64 %floats, i64 %work, i64 %option, double %t)
  %code_at = getelementptr i32, ptr %codes, i64 %k
  store i32 %status, ptr %code_at
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}
"""
SHARE = 8  # motions on a thread below which another thread does not pay
Each = Callable[[str, int, slice, np.ndarray, np.ndarray], None]


@lru_cache(maxsize=1)
def loop():
    """Return the loop over simulations as machine code, which releases the GIL; None if it cannot
    be compiled.
    """
    made = machine_code(LOOP, "each")
    if made is None:
        return None
    pointer, whole = ctypes.c_void_p, ctypes.c_int64
    call = ctypes.CFUNCTYPE(None, pointer, *[whole] * 6, pointer, pointer)(made[1])
    return call, made[0]


class Steppers:
    """Many simulations of a system; `steppers["name"]` reads and sets an array with one element per
    simulation.
    """

    def __init__(
        self,
        system: System,
        count: int,
        step: float = 1e-3,
        threads: int | None = None,
        inputs: Mapping[str, float] | None = None,
        integrator: str = "auto",
        method: str = "auto",
        tolerance: float | None = None,
        start_time: float | None = None,
    ):
        if count < 1:
            raise ValueError(f"count is {count}, expected at least one motion")
        self.system, self.count, self.step = system, count, positive(step)
        self.options = options_of(system, step, integrator, method, tolerance, start_time)
        self.unit = unit = make_unit(system, self.options.integrator, self.options.method)
        self._places = Places(unit)
        self._written = Written(self._places)
        self._starts = starts_of(unit)
        size = -(-unit.work_size // 8) * 8
        self._works = aligned(count * size).reshape(count, size)
        self._threads = min(threads or os.cpu_count() or 1, max(1, count // SHARE))
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._inputs = dict(inputs or {})
        self._counts = np.zeros(count)
        self._origins = np.zeros(count)
        self._codes = np.zeros(count, dtype=np.int32)
        self.failed = np.zeros(count, dtype=bool)
        self.reset()

    # -- going on -------------------------------------------------------------------------------------------------------------------------
    def advance(self, strict: bool = True) -> None:
        """Advance all simulations by one step. A simulation that fails raises an error.

        If `strict` is false it is marked in `failed` instead, and stays where it is until it is
        reset.
        """
        self._counts += 1.0
        times = self._origins + self._counts * self.step
        rows = slice(None) if not self.failed.any() else np.flatnonzero(~self.failed)
        self._run_all("unit_advance", U.STOP_BEFORE_FULL, rows, times)
        self._stale = False
        if self._codes.any():
            self._settle(times, strict)

    def _settle(self, times: np.ndarray, strict: bool) -> None:
        """Continue simulations whose event log is full; mark or report those that failed."""
        for row in np.flatnonzero(self._codes).tolist():
            run = self._of(row)
            while (status := int(self._codes[row])) == Status.EVENT:
                run.head.told = run.head.events
                self._codes[row] = run.call("unit_advance", U.STOP_BEFORE_FULL, float(times[row]))
            if status:
                self.failed[row] = True
                if strict:
                    text = failure_message(run, Status(status))
                    raise EvaluationError(
                        f"motion {row} at t = {run.head.time:.9g}: {text}", Status(status)
                    )

    def _of(self, row: int) -> Run:
        """Return the run object of one simulation."""
        return Run(self.unit, self._works[row])

    def _run_all(self, entry: str, option: int, rows, times: np.ndarray) -> None:
        """Call an entry point for several simulations, in threads if that pays."""
        unit, self._codes[:] = self.unit, 0
        plain = isinstance(rows, slice) and kind() == "library" and loop() is not None
        if not plain:
            for row in np.arange(self.count)[rows].tolist():
                call = bind(entry, unit.ints, unit.floats, self._works[row])
                self._codes[row] = call(option, float(times[row]))
            return
        from kinetree.solvers.library.load import function

        address = ctypes.cast(function(entry), ctypes.c_void_p).value
        each, stride = loop()[0], self._works.strides[0]  # type: ignore[index]

        def part(first: int, last: int) -> None:
            each(
                address, unit.ints.ctypes.data, unit.floats.ctypes.data,
                self._works.ctypes.data + first * stride, stride, last - first, option,
                times.ctypes.data + 8 * first, self._codes.ctypes.data + 4 * first,
            )  # fmt: skip

        if self._pool is None:
            part(0, self.count)
            return
        bounds = np.linspace(0, self.count, self._threads + 1).astype(int).tolist()
        list(self._pool.map(part, bounds[:-1], bounds[1:]))

    def reset(
        self,
        where: ArrayLike | None = None,
        start: Mapping[str, ArrayLike] | None = None,
        inputs: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Reset simulations to their start: all, or those that `where` selects.

        `start` and `inputs` have one value for each of these simulations, or one for all of them.
        """
        rows = np.arange(self.count) if where is None else np.arange(self.count)[np.asarray(where)]
        starts = {
            start_place(self._starts, name): np.broadcast_to(np.asarray(values, float), rows.shape)
            for name, values in (start or {}).items()
        }
        given = {
            name: np.broadcast_to(np.asarray(values, float), rows.shape)
            for name, values in {**self._inputs, **(inputs or {})}.items()
        }
        for name in given:
            self._written[name]
        begin = self.options.start_time
        for k, row in enumerate(rows.tolist()):
            run = self._of(row)
            run.call("unit_reset")
            write_integrator_options(run, self.options, True)
            for place, values in starts.items():
                run.work[place] = values[k]
            status = run.begin(begin, {name: float(values[k]) for name, values in given.items()})
            if status:
                raise EvaluationError(
                    f"motion {row} at its start: {failure_message(run, Status(status))}",
                    Status(status),
                )
        self._origins[rows], self._counts[rows], self.failed[rows] = begin, 0.0, False
        self._stale = False

    # -- reading and writing --------------------------------------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> np.ndarray:
        if self._stale:
            self._refresh()
        return self._works[:, self._places[name]].copy()

    def __setitem__(self, name: str, values: ArrayLike) -> None:
        tunable = name in self._written.tunable
        place = self._written.tunable[name] if tunable else self._written[name]
        self._works[:, place] = values
        self._stale = True
        if tunable:
            self._run_all("unit_prepare", 0, slice(None), self.time)

    def read(self, names: Sequence[str]) -> np.ndarray:
        """Return the current values of several names: one row per simulation, one column per name."""
        if self._stale:
            self._refresh()
        return self._works[:, self._places.many(names)]

    def _refresh(self) -> None:
        """Recompute the outputs for inputs set since the last step."""
        self._stale = False
        self._run_all("unit_refresh", 0, slice(None), self.time)

    @property
    def time(self) -> np.ndarray:
        """Return the current time of every simulation [s]."""
        return self._works[:, U.UNIT_HEAD.at("time")].copy()

    @property
    def stage(self) -> np.ndarray:
        """Return the index of the current stage of every simulation, from 0."""
        return self._works[:, U.UNIT_HEAD.at("stage")].astype(int)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of coordinates, speeds, first-order states and outputs."""
        return self._places.columns

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of the inputs."""
        return self._places.inputs

    def __len__(self) -> int:
        return self.count

    # -- the whole state ------------------------------------------------------------------------------------------------------------------
    def save(self) -> np.ndarray:
        """Return the complete state of every simulation, one row each."""
        if self._stale:
            self._refresh()
        return self._works.copy()

    def restore(self, saved: np.ndarray) -> None:
        """Return to a saved state."""
        if saved.shape != self._works.shape:
            raise ValueError(
                f"the state has the shape {saved.shape}, expected {self._works.shape} as save() gave it"
            )
        self._works[:] = saved
        self._origins, self._counts = self.time, np.zeros(self.count)
        self.failed[:] = False
        self._stale = False

    def __repr__(self) -> str:
        return f"Steppers({self.system.name!r}, {self.count} motions, step = {self.step:g})"
