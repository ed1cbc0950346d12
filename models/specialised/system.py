"""A system whose accelerations come from machine code of its own; everything else is that of the generic engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.run.instance import Numbers, shaped
from kinetree.models.specialised.code import llvm_text
from kinetree.models.specialised.compiler import Machine, compiled

if TYPE_CHECKING:
    from kinetree.models.system.system import System
    from kinetree.models.trace.trace import Trace

LARGEST = 60_000  # operations up to which straight-line code is compiled: above, it leaves the caches and the compiler takes minutes
REPEATS = 500  # evaluations of one measurement
ROUNDS = 7


class Specialised:
    """The same interface as `System`. `engine` says which code answers: "specialised", or "generic" where that is faster; `why` says why."""

    def __init__(self, system: System):
        self.generic = system
        self.trace: Trace | None = None
        self.machine: Machine | None = None
        self.engine, self.why = "generic", ""
        self.times: dict[str, float] = {}  # s per evaluation
        estimate = min(system.costs().values()) if system.bodies else 0.0
        if estimate > LARGEST:
            self.why = f"about {estimate:.0f} operations, too many for straight-line code"
            return
        trace = system.trace()
        if trace.operations > LARGEST:
            self.why = f"{trace.operations} operations, too many for straight-line code"
            return
        self.trace, self.machine = trace, compiled(llvm_text(trace))
        self._blocks()
        self.times = {"specialised": self._timed(self._repeat()), "generic": self._timed(self._repeat_generic())}
        self.engine = min(self.times, key=self.times.__getitem__)
        self.why = "measured: " + ", ".join(f"{name} {value * 1e6:.3f} µs" for name, value in self.times.items())

    def __getattr__(self, name: str) -> Any:
        if name == "generic":
            raise AttributeError(name)
        return getattr(self.generic, name)

    def __repr__(self) -> str:
        return f"Specialised({self.generic.name!r}, {self.engine}: {self.why})"

    def _blocks(self) -> None:
        """Memory for the arguments; the code knows its addresses."""
        c = self.generic.compiled
        sizes = {"q": len(c.coordinates), "u": len(c.speeds), "x": len(c.states), "inputs": len(c.inputs), "parameters": 0}
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
        """Rates of the speeds, u̇. Extra loads, another method, and states at which the order of elimination fails, take the generic engine."""
        if self.engine == "specialised" and method == "auto" and loads is None and tau is None:
            assert self.machine is not None
            self._fill(q, u, inputs)
            if self.machine.evaluate(float(t), *self._pointers) == 0 and np.isfinite(self._out).all():
                return self._out[: self.generic.n].copy()
        return self.generic.accelerations(t, q, u, inputs, method, loads, tau)

    # -- measurement ------------------------------------------------------------------------------------------------------------------------
    def _repeat(self) -> Callable[[], object]:
        """Many evaluations of the start state."""
        assert self.machine is not None
        rows = [np.repeat(self._arguments[name][None, :], REPEATS, axis=0) for name in ("q", "u")]
        out = np.empty((REPEATS, self._out.size))
        rest = [self._arguments[name].ctypes.data for name in ("x", "inputs", "parameters")]
        many, pointers, held = self.machine.many, [rows[0].ctypes.data, rows[1].ctypes.data, *rest, out.ctypes.data], (rows, out)
        return lambda: many(REPEATS, 0.0, *pointers) if held else None

    def _repeat_generic(self) -> Callable[[], object]:
        entry = self.generic._fast.entry("repeat")
        return lambda: entry(REPEATS, 0.0)

    def _timed(self, run: Callable[[], object]) -> float:
        """Best of a few rounds, s per evaluation."""
        self.generic._fast.set_state(*self.generic.start())
        run()
        best = np.inf
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        return best / REPEATS
