"""A compiled structure with a workspace of its own: arguments in, entry points called, results read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

import numpy as np

from kinetree.models.compilation.blocks import allocate, with_groups
from kinetree.models.compilation.compiled import Compiled
from kinetree.models.run.engine import Call, bind, quick
from kinetree.models.run.status import check_status

FINITE = 1  # option of `accelerations`: refuse states that are not finite

Numbers = Sequence[float] | np.ndarray


class Instance:
    """Blocks of a structure and the entry points bound to them."""

    def __init__(self, compiled: Compiled, groups: Set[str] = frozenset()):
        self.compiled = compiled
        self.groups = groups
        self.ints = with_groups(compiled.ints, compiled.counts, groups) if groups else compiled.ints
        self.work, self.ws = allocate(self.ints, compiled.floats)
        self._calls: dict[str, Call] = {}
        self._wide: dict[int, list[np.ndarray]] = {}
        self.ws.added[:] = 0.0
        self._quick: Callable[[float], int] | None = None
        self.call("prepare")
        self.set_inputs(None)

    def entry(self, name: str) -> Call:
        """An entry point bound to the blocks."""
        if name not in self._calls:
            self._calls[name] = bind(name, self.ints, self.compiled.floats, self.work)
        return self._calls[name]

    def call(self, name: str, option: int = 0, t: float = 0.0) -> None:
        """Call an entry point; raises EvaluationError for anything but success."""
        status = self.entry(name)(option, t)
        if status != 0:
            check_status(status, self.ws.head, self.compiled)

    def solve(self, t: float, q: Numbers, u: Numbers) -> np.ndarray:
        """u̇ of a state without inputs and extra loads; the result is the workspace's own array. The engine itself looks for what is not finite."""
        ws = self.ws
        if self._quick is None:
            self._quick = quick("accelerations", self.ints, self.compiled.floats, self.work, FINITE)
        try:
            fits = len(q) == ws.q.size and len(u) == ws.u.size
            ws.q[:] = q
            ws.u[:] = u
        except (ValueError, TypeError):
            fits = False
        if not fits:
            ws.q[:], ws.u[:] = shaped(q, ws.q.size, "q"), shaped(u, ws.u.size, "u")
        ws.added[:] = 0.0
        ws.head.extra = 0.0
        if ws.x.size:
            ws.x[:] = ws.val[self.compiled.start_x : self.compiled.start_x + ws.x.size]
        status = self._quick(t)
        if status != 0:
            shaped(q, ws.q.size, "q"), shaped(u, ws.u.size, "u")
            check_status(status, ws.head, self.compiled)
        return ws.udot

    def evaluator(self) -> Callable[[float, np.ndarray, np.ndarray, np.ndarray], None]:
        """evaluate(t, q, u, udot) on this workspace, whose inputs, states and loads stay as they are."""
        ws, compiled = self.ws, self.compiled
        own_q, own_u, result, head = ws.q, ws.u, ws.udot, ws.head
        call = quick("accelerations", self.ints, compiled.floats, self.work, FINITE)

        def evaluate(t: float, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> None:
            own_q[:] = q
            own_u[:] = u
            status = call(t)
            if status != 0:
                shaped(q, own_q.size, "q"), shaped(u, own_u.size, "u")
                check_status(status, head, compiled)
            udot[:] = result

        return evaluate

    def wide(self, stride: int) -> np.ndarray:
        """A workspace for numbers of `stride` floats, aligned to 64 bytes; `keep` takes it back for the next one who asks."""
        kept = self._wide.setdefault(stride, [])
        if kept:
            return kept.pop()
        block = np.empty(stride * self.work.size + 8)
        first = -(block.ctypes.data // 8) % 8
        return block[first : first + stride * self.work.size]

    def keep(self, stride: int, block: np.ndarray) -> None:
        """Take back a workspace of wide numbers."""
        self._wide[stride].append(block)

    def input_starts(self) -> np.ndarray:
        """Start values of the inputs: given ones, else those of the description."""
        c, val, count = self.compiled, self.ws.val, len(self.compiled.inputs)
        given, preset = (val[first : first + count] for first in (c.start_inputs, c.preset_inputs))
        return np.where(np.isnan(given), preset, given)

    def set_inputs(self, inputs: Mapping[str, float] | None) -> None:
        """Write inputs to their registers; those not given keep their start value."""
        c, val = self.compiled, self.ws.val
        for name, start in zip(c.inputs, self.input_starts(), strict=True):
            val[c.registers[name]] = start
        for name, value in (inputs or {}).items():
            if name not in c.inputs:
                raise KeyError(f"'{name}' is not an input; inputs: {', '.join(c.inputs) or 'none'}")
            val[c.registers[name]] = value

    def set_state(self, q: Numbers, u: Numbers | None, inputs: Mapping[str, float] | None = None, loads=None, tau: Numbers | None = None) -> None:
        """Write a state, inputs, extra loads and extra forces along the speeds."""
        ws, c = self.ws, self.compiled
        ws.q[:] = shaped(q, ws.q.size, "q")
        ws.u[:] = 0.0 if u is None else shaped(u, ws.u.size, "u")
        ws.x[:] = ws.val[c.start_x : c.start_x + ws.x.size]
        if c.inputs or inputs:
            self.set_inputs(inputs)
        ws.added[:] = 0.0 if tau is None else shaped(tau, ws.u.size, "tau")
        if loads is None:
            ws.head.extra = 0.0
        else:
            ws.extra[6 : 6 * len(c.bodies) + 6] = shaped(np.reshape(np.asarray(loads, dtype=float), -1), 6 * len(c.bodies), "loads")
            ws.head.extra = 1.0


def shaped(values: Numbers, size: int, name: str) -> np.ndarray:
    """An argument as an array of the right length."""
    array = np.asarray(values, dtype=float)
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({size},)")
    if not np.isfinite(array).all():
        k = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{k}] is {array[k]}, expected a finite number")
    return array
