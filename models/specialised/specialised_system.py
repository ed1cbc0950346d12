"""A system whose accelerations are computed by specialised machine code; everything else uses the
generic engine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.analysis.batch_evaluation import rows_of
from kinetree.models.engine.instance import Numbers, shaped
from kinetree.models.run.simulation import Options, simulate
from kinetree.models.specialised.llvm_compiler import Machine, compiled
from kinetree.models.specialised.llvm_functions import lanes_text, llvm_text
from kinetree.models.specialised.specialised_rates import (
    FOLDED,
    MAX_STRAIGHT_LINE_OPERATIONS,
    Motion,
    attach,
    machine_of,
    motions,
)
from kinetree.models.system.forms import HAMILTON, LAGRANGE, known

if TYPE_CHECKING:
    from kinetree.models.result.result import Result
    from kinetree.models.run.simulation import Inputs
    from kinetree.models.run.simulation_unit import Unit
    from kinetree.models.system.system import System
    from kinetree.models.trace.trace import Trace

LANES = 8  # states that stand side by side
WORTH = 4_000_000  # operations of blocks that pay a thread
REPEATS = 500  # evaluations of one measurement
TIMING_ROUNDS = 7


class Specialised:
    """The interface of `System` with specialised code. `engine` is "specialised", or "generic"
    where faster; `why` gives the reason.
    """

    def __init__(self, system: System):
        self.generic = system
        self.trace: Trace | None = None
        self.machine: Machine | None = None
        self.engine, self.why = "generic", ""
        self.times: dict[str, float] = {}  # s per evaluation
        self.motions: list[
            Motion | str
        ] = []  # of all structures, once something has run: operations, or why the engine runs
        self._moving: Machine | None = None
        self._lanes: Machine | None = None
        estimate = min(system.costs().values()) if system.bodies else 0.0
        if estimate > FOLDED * MAX_STRAIGHT_LINE_OPERATIONS:
            self.why = f"about {estimate:.0f} operations, too many for straight-line code"
            return
        try:
            trace = system.trace()
        except ValueError as error:  # a solution that iterates
            self.why = str(error)
            return
        if trace.operations > MAX_STRAIGHT_LINE_OPERATIONS:
            self.why = f"{trace.operations} operations, too many for straight-line code"
            return
        self.trace, self.machine = trace, compiled(llvm_text(trace))
        self._blocks()
        self.times = {
            "specialised": self._timed(self._repeat()),
            "generic": self._timed(self._repeat_generic()),
        }
        self.engine = min(self.times, key=self.times.__getitem__)
        self.why = "measured: " + ", ".join(
            f"{name} {value * 1e6:.3f} µs" for name, value in self.times.items()
        )

    @classmethod
    def of(
        cls, system: System, trace: Trace | None = None, machine: Machine | None = None
    ) -> Specialised:
        """Return a specialised system with existing code, which uses the faster of code and generic
        engine.
        """
        found = cls.__new__(cls)
        found.generic, found.trace, found.machine, found.why, found.times = (
            system,
            trace,
            machine,
            "given",
            {},
        )
        found.engine = "generic" if machine is None else "specialised"
        found.motions, found._moving, found._lanes = [], None, None
        found._blocks()
        return found

    def __getattr__(self, name: str) -> Any:
        if name == "generic":
            raise AttributeError(name)
        return getattr(self.generic, name)

    def __repr__(self) -> str:
        return f"Specialised({self.generic.name!r}, {self.engine}: {self.why})"

    def _blocks(self) -> None:
        """Allocate the arrays of arguments, whose addresses are built into the code."""
        c = self.generic.compiled
        sizes = {
            "q": len(c.coordinates),
            "u": len(c.speeds),
            "x": len(c.states),
            "inputs": len(c.inputs),
            "parameters": 0,
        }
        self._arguments = {name: np.zeros(max(1, size)) for name, size in sizes.items()}
        self._out = np.zeros(max(1, self.generic.n))
        self._pointers = [each.ctypes.data for each in (*self._arguments.values(), self._out)]
        q, u = self.generic.start()
        self._fill(q, u, None)

    def _fill(self, q: Numbers, u: Numbers, inputs: Mapping[str, float] | None) -> None:
        instance, c, a = self.generic._fast, self.generic.compiled, self._arguments
        a["q"][: len(c.coordinates)] = shaped(q, len(c.coordinates), "q")
        a["u"][: self.generic.n] = shaped(u, self.generic.n, "u")
        if c.states:
            a["x"][:] = instance.ws.val[c.start_x : c.start_x + len(c.states)]
        if c.inputs or inputs:
            instance.set_inputs(inputs)
            first = c.registers[c.inputs[0]] if c.inputs else 0
            a["inputs"][: len(c.inputs)] = instance.ws.val[first : first + len(c.inputs)]

    def accelerations(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None = None,
        method: str = "auto",
        loads: Any = None,
        tau: Numbers | None = None,
    ) -> np.ndarray:
        """Return u̇; additional loads, other forms and failing elimination orders use the generic
        engine.
        """
        if self.engine == "specialised" and method == "auto" and loads is None and tau is None:
            assert self.machine is not None
            self._fill(q, u, inputs)
            if (
                self.machine.evaluate(float(t), *self._pointers) == 0
                and np.isfinite(self._out).all()
            ):
                return self._out[: self.generic.n].copy()
        return self.generic.accelerations(t, q, u, inputs, method, loads, tau)

    def simulate(
        self,
        stop_time: float | None = None,
        method: str = "auto",
        integrator: str = "auto",
        inputs: Inputs | None = None,
        output_step: float | None = None,
        tolerance: float | None = None,
        *,
        step: float | None = None,
        start_time: float | None = None,
        largest_step: float | None = None,
        step_limit: float | None = None,
        progress: Callable[[float], None] | None = None,
        stream: str | Path | None = None,
    ) -> Result:
        """Simulate like `System.simulate` with specialised right-hand sides; `motions` tells which
        structures have none, and why.
        """
        system = self.generic
        known(method, LAGRANGE | HAMILTON, "DEC")
        options = Options.of(
            system,
            stop_time,
            start_time,
            output_step,
            integrator,
            method,
            tolerance,
            step,
            largest_step,
            step_limit,
        )
        return simulate(
            system,
            options,
            inputs or {},
            progress,
            self._attach,
            None if stream is None else Path(stream),
        )

    def _attach(self, unit: Unit) -> None:
        if not self.motions:
            self.motions = motions(unit)
            self._moving = machine_of(self.motions)
        attach(unit, self.motions, self._moving)

    def accelerations_many(
        self, t: Any, q: Any, u: Any, inputs: Mapping[str, Any] | None = None, **rest: Any
    ) -> Any:
        """Return u̇ of many states in SIMD lanes; with forces, loads, states or for failing rows
        the generic engine is used.
        """
        threads = rest.pop("threads", None)
        if self.engine != "specialised" or any(
            value is not None and len(np.atleast_1d(value)) for value in rest.values()
        ):
            return self.generic.accelerations_many(t, q, u, inputs, threads=threads, **rest)
        c, count = self.generic.compiled, len(np.atleast_2d(np.asarray(q, dtype=float)))
        stride = count + -count % LANES
        names = (
            np.reshape(np.asarray(t, dtype=float), (-1, 1)),
            q,
            u,
            self._states(),
            self._given(inputs),
        )
        sizes = (1, len(c.coordinates), len(c.speeds), len(c.states), len(c.inputs))
        rows = np.empty((sum(sizes), stride))
        at = 0
        for name, part, size in zip(("t", "q", "u", "x", "inputs"), names, sizes, strict=True):
            rows[at : at + size, :count] = rows_of(part, count, size, name).T
            at += size
        rows[:, count:] = rows[:, count - 1 : count]
        out = np.empty((self.generic.n, stride))
        if count and not self._in_lanes(rows, out, threads):
            return self.generic.accelerations_many(t, q, u, inputs, threads=threads)
        return np.ascontiguousarray(out[:, :count].T)

    def _states(self) -> np.ndarray:
        c = self.generic.compiled
        return self.generic._fast.ws.val[c.start_x : c.start_x + len(c.states)]

    def _given(self, inputs: Mapping[str, Any] | None) -> np.ndarray:
        """Return the inputs in order, one value for all or one per state."""
        c, starts = self.generic.compiled, self.generic._fast.input_starts()
        unknown = set(inputs or {}) - set(c.inputs)
        if unknown:
            raise KeyError(
                f"'{sorted(unknown)[0]}' is not an input; inputs: {', '.join(c.inputs) or 'none'}"
            )
        columns = [
            np.asarray((inputs or {}).get(name, start), dtype=float)
            for name, start in zip(c.inputs, starts, strict=True)
        ]
        return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)

    def _in_lanes(self, rows: np.ndarray, out: np.ndarray, threads: int | None) -> bool:
        """Evaluate all states in vector lanes; return False if a result is not finite."""
        assert self.trace is not None
        if self._lanes is None:
            self._lanes = compiled(lanes_text(self.trace, LANES))
        lanes, stride, none = self._lanes.lanes, rows.shape[1], np.zeros(1)
        blocks = stride // LANES
        if threads is None:
            threads = max(1, min(os.cpu_count() or 1, blocks * self.trace.operations // WORTH))
        size = -(-blocks // threads)

        def evaluate(first: int) -> bool:
            count, at = min(size, blocks - first), 8 * LANES * first
            return (
                lanes(count, stride, rows.ctypes.data + at, none.ctypes.data, out.ctypes.data + at)
                == count
            )

        firsts = range(0, blocks, size)
        if len(firsts) < 2:
            good = all(map(evaluate, firsts))
        else:
            with ThreadPoolExecutor(len(firsts)) as pool:
                good = all(list(pool.map(evaluate, firsts)))
        return good and bool(np.isfinite(out).all())

    # -- measurement ------------------------------------------------------------------------------------------------------------------------
    def _repeat(self) -> Callable[[], object]:
        """Return a function that evaluates the start state many times, for timing."""
        assert self.machine is not None
        rows = [np.repeat(self._arguments[name][None, :], REPEATS, axis=0) for name in ("q", "u")]
        out = np.empty((REPEATS, self._out.size))
        rest = [self._arguments[name].ctypes.data for name in ("x", "inputs", "parameters")]
        many, pointers, held = (
            self.machine.many,
            [rows[0].ctypes.data, rows[1].ctypes.data, *rest, out.ctypes.data],
            (rows, out, self),
        )
        return lambda: many(REPEATS, 0.0, *pointers) if held else None

    def _repeat_generic(self) -> Callable[[], object]:
        entry = self.generic._fast.entry("repeat")
        return lambda: entry(REPEATS, 0.0)

    def _timed(self, run: Callable[[], object]) -> float:
        """Return the best time of a few rounds [s per evaluation]."""
        self.generic._fast.set_state(*self.generic.start())
        run()
        best = np.inf
        for _ in range(TIMING_ROUNDS):
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        return best / REPEATS
