"""A compiled structure with a workspace of its own: sets arguments, calls entry points, reads
results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.entry_points import Call, bind, held_address, quick
from kinetree.models.engine.fastcall_shim import ALL_BUT_FORCES, EVERYTHING, NOTHING, Direct, direct
from kinetree.models.engine.flat_blocks import allocate, model_fields, with_groups
from kinetree.models.engine.not_finite import finite
from kinetree.models.engine.status import check_status
from kinetree.models.expressions.internal_names import told_inputs
from kinetree.solvers.layout import Contact, Impact, Status
from kinetree.solvers.model_records import HEAD, HEADER, LATCH, PROBE

if TYPE_CHECKING:
    from kinetree.models.analysis.exact_derivatives import SlopeCall

FINITE = 1  # option of `accelerations`: refuse states that are not finite
OFTEN = 16  # calls after which the direct way, which takes a tenth of a second to make, is wanted

Numbers = Sequence[float] | np.ndarray


class Instance:
    """The blocks of one structure and the entry points bound to them."""

    def __init__(self, compiled: Compiled, groups: Set[str] = frozenset()):
        self.compiled = compiled
        self.groups = groups
        self.ints = with_groups(compiled.ints, compiled.counts, groups) if groups else compiled.ints
        self.work, self.ws = allocate(self.ints, compiled.floats)
        self._calls: dict[str, Call] = {}
        self._wide: dict[int, list[np.ndarray]] = {}
        self.slope_call: SlopeCall | None = None  # made when slopes are first asked for
        self.ws.added[:] = 0.0
        self._direct: Direct | None = None
        self._pushed: Direct | None = None
        self._solved = 0
        self.ws.c_out[:] = 0.0  # no contact has been struck
        self.ws.c_mode[:], self.ws.c_impact[:] = Contact.OPEN, Impact.NONE
        c, val = compiled, self.ws.val
        first = int(HEADER.of(self.ints).r_inputs)
        self._inputs = val[first : first + len(c.inputs)]
        self._x_start = val[c.start_x : c.start_x + self.ws.x.size]
        self._place = {name: k for k, name in enumerate(c.inputs)}
        self._told = told_inputs(c.inputs)
        self._starts = np.empty(len(c.inputs))
        self._given = np.empty(len(c.inputs))
        self._nu = self.ws.u.size
        self.call("prepare")
        self.set_inputs(None)

    def entry(self, name: str) -> Call:
        """Return an entry point bound to the blocks."""
        if name not in self._calls:
            self._calls[name] = bind(name, self.ints, self.compiled.floats, self.work)
        return self._calls[name]

    def _gap(self, status: int, t: float) -> float:
        """Return the residual [m or rad] of the constraint row that cannot be closed; 0 for other
        failures.
        """
        row, count = int(self.ws.head.item), self.ws.loop_r.size
        if status != Status.INCONSISTENT or not 0 <= row < count:
            return 0.0
        self.entry("constraints")(0, t)
        self.ws.head.item = row
        return float(self.ws.loop_r[row])

    def call(self, name: str, option: int = 0, t: float = 0.0) -> None:
        """Call an entry point; raises EvaluationError unless it succeeds."""
        status = self.entry(name)(option, t)
        if status != 0:
            check_status(status, self.ws.head, self.compiled, self._gap(status, t))
        if name == "prepare":
            c, count = self.compiled, len(self.compiled.inputs)
            given, preset = (
                self.ws.val[first : first + count] for first in (c.start_inputs, c.preset_inputs)
            )
            self._starts[:] = np.where(np.isnan(given), preset, given)
            self._given[:] = self._starts

    def outputs(self, t: float) -> None:
        """Compute all outputs of a state, with actuators as at the start of a communication step."""
        self.call("outputs", 0, t)
        if not self._told:
            return
        fields = model_fields(self.ints, self.compiled.floats)
        latches, probes = list(LATCH.rows(fields.latches)), list(PROBE.rows(fields.probes))
        val = self.ws.val
        for latch in latches:
            val[int(latch.kept)] = val[int(latch.source)]
        pushed = []
        for probe in probes:
            val[int(probe.force)] = 1.0
            self.call("outputs", 0, t)
            pushed.append(float(val[int(probe.acceleration)]))
            val[int(probe.force)] = 0.0
        self.call("outputs", 0, t)
        with np.errstate(divide="ignore"):
            for probe, with_one in zip(probes, pushed, strict=True):
                val[int(probe.mass)] = 1.0 / np.float64(with_one - val[int(probe.acceleration)])
        self.call("outputs", 0, t)

    def solve(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float] | None = None,
        tau: Numbers | None = None,
    ) -> np.ndarray:
        """Return u̇ of a state; plain arrays take a fast path, and non-finite results raise an
        error.
        """
        self.refuse_told(inputs)
        if self._direct is not None:
            udot = np.empty(self._nu)
            done = (
                self._direct(t, q, u, udot)
                if not inputs and tau is None
                else self._solve_given(t, q, u, inputs or {}, tau, udot)
            )
            if done is None:
                return udot
        else:
            self._solved += 1
            if self._solved == OFTEN:
                self._direct, self._pushed = self.direct(EVERYTHING), self.direct(ALL_BUT_FORCES)
        self.set_state(q, u, inputs, None, tau)
        self.call("accelerations", 0, t)
        return self.finite(t, "accelerations", self.ws.udot.copy(), self.compiled.speeds)

    def _solve_given(
        self,
        t: float,
        q: Numbers,
        u: Numbers,
        inputs: Mapping[str, float],
        tau: Numbers | None,
        udot: np.ndarray,
    ) -> bool | int | None:
        """Compute u̇ with given inputs and forces along the speeds, by the direct call; return its
        result, or None if it cannot be used.
        """
        self.ws.added[:] = 0.0 if tau is None else shaped(tau, self._nu, "tau")
        try:
            self.place_inputs(self._given, inputs)
            return self._pushed(t, q, u, udot) if self._pushed is not None else False
        finally:
            self._given[:] = self._starts

    def direct(self, resets: int) -> Direct | None:
        """Return a direct call for accelerations, which either resets inputs, states and loads to
        their start or keeps them.
        """
        entry = held_address("accelerations", self.ints)
        if entry is None:
            return None
        ws = self.ws
        memory = {
            "ints": self.ints,
            "floats": self.compiled.floats,
            "work": self.work,
            "q": ws.q,
            "u": ws.u,
            "udot": ws.udot,
            "added": ws.added,
        }
        memory |= {
            "loaded": ws.head.block[HEAD.at("extra") :],
            "x": ws.x,
            "x_start": self._x_start,
            "inputs": self._inputs,
            "given": self._given,
        }
        sizes = {"nq": ws.q.size, "nu": ws.u.size, "nx": ws.x.size, "ni": self._starts.size}
        return direct(
            entry=entry,
            resets=resets,
            **sizes,
            **{name: field.ctypes.data for name, field in memory.items()},
        )

    def evaluator(self) -> Callable[[float, np.ndarray, np.ndarray, np.ndarray], None]:
        """Return a function evaluate(t, q, u, udot) on this workspace that leaves inputs, states
        and loads unchanged.
        """
        ws, compiled = self.ws, self.compiled
        own_q, own_u, result, head = ws.q, ws.u, ws.udot, ws.head
        call = quick("accelerations", self.ints, compiled.floats, self.work, FINITE)
        at_once = self.direct(NOTHING) or (lambda t, q, u, udot: False)

        def evaluate(t: float, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> None:
            if at_once(t, q, u, udot) is None:
                return
            own_q[:] = q
            own_u[:] = u
            status = call(t)
            if status != 0:
                shaped(q, own_q.size, "q"), shaped(u, own_u.size, "u")
                check_status(status, head, compiled)
            udot[:] = self.finite(t, "accelerations", result, compiled.speeds)

        return evaluate

    def finite(
        self, t: float, what: str, values: np.ndarray, names: Sequence[str] = ()
    ) -> np.ndarray:
        """Return the values, or raise an error that names the first non-finite one and its cause."""
        return finite(self, t, what, values, names)

    def wide(self, stride: int) -> np.ndarray:
        """Return a workspace for wide numbers (lanes or duals) of `stride` floats each, aligned to
        64 bytes; `keep` returns it for reuse.
        """
        kept = self._wide.setdefault(stride, [])
        if kept:
            return kept.pop()
        return aligned(
            stride * self.work.size
        )  # zeros: what is not spread over it, as the planes of loops, must not be chance

    def keep(self, stride: int, block: np.ndarray) -> None:
        """Keep a workspace of wide numbers (lanes or duals) for reuse."""
        self._wide[stride].append(block)

    def input_starts(self) -> np.ndarray:
        """Return the start values of the inputs."""
        return self._starts.copy()

    def set_inputs(self, inputs: Mapping[str, float] | None) -> None:
        """Write inputs to their registers; missing ones take their start values."""
        self._inputs[:] = self._starts
        self.place_inputs(self._inputs, inputs or {})

    def place_inputs(self, values: np.ndarray, inputs: Mapping[str, float]) -> None:
        """Write inputs to their entries of `values`."""
        for name, value in inputs.items():
            if name not in self._place:
                raise KeyError(
                    f"'{name}' is not an input; inputs: {', '.join(self._place) or 'none'}"
                )
            values[self._place[name]] = value

    def refuse_told(self, inputs: Mapping[str, float] | None) -> None:
        """Raise for inputs of actuator stiffness, which have no meaning in a single state."""
        if inputs and self._told:
            given = next(
                (name for name in inputs if name in self._told and inputs[name] != 0.0), None
            )
            if given is not None:
                raise ValueError(
                    f"'{given}' acts on the way since a communication step began, which a single state does not tell: leave it out"
                )

    def set_state(
        self,
        q: Numbers,
        u: Numbers | None,
        inputs: Mapping[str, float] | None = None,
        loads=None,
        tau: Numbers | None = None,
    ) -> None:
        """Write a state, inputs, additional loads and additional forces along the speeds to the
        workspace.
        """
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
            ws.extra[6 : 6 * len(c.bodies) + 6] = shaped(
                np.reshape(np.asarray(loads, dtype=float), -1), 6 * len(c.bodies), "loads"
            )
            ws.head.extra = 1.0


def shaped(values: Numbers, size: int, name: str) -> np.ndarray:
    """Return an argument as a float array; raises ValueError if its length is wrong."""
    array = np.asarray(values, dtype=float)
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({size},)")
    if not np.isfinite(array).all():
        k = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{k}] is {array[k]}, expected a finite number")
    return array


def aligned(size: int) -> np.ndarray:
    """Return an array of zeros aligned to 64 bytes."""
    block = np.zeros(size + 8)
    first = -(block.ctypes.data // 8) % 8
    return block[first : first + size]
