"""Generated straight-line code that the gradient of a run needs for one structure: rates, products
with transposed Jacobians, the projection onto loops.

All functions are int32 (t, pair, given, out), see `forward_steps.py`; `given` holds inputs, the
requested parameters, and held values.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.specialised.llvm_compiler import POINTER, REAL, Machine, compiled
from kinetree.models.specialised.specialised_rates import (
    MAX_STRAIGHT_LINE_OPERATIONS,
    Motion,
    Place,
    llvm_text,
)
from kinetree.models.system.system import System
from kinetree.models.trace.adjoint import sweep
from kinetree.models.trace.live_nodes import alive, finished
from kinetree.models.trace.mechanism_traces import MOTION, cheapest_recorded, held_registers
from kinetree.models.trace.symbol import MATH
from kinetree.models.trace.symbolic_kernels import KERNELS
from kinetree.solvers.layout import POSITIONS
from kinetree.solvers.model_records import HEADER, INSTRUCTION

OWN = ctypes.CFUNCTYPE(ctypes.c_int32, REAL, POINTER, POINTER, POINTER)
MAX_OPERATIONS = 5 * MAX_STRAIGHT_LINE_OPERATIONS  # operations of all functions together
MOST_KEPT = 64  # structures


@dataclass
class AdjointCode:
    """The compiled functions of one structure and the assumptions under which they are valid."""

    system: System
    parameters: tuple[str, ...]
    machine: Machine
    places: dict[str, int]  # function -> its number in the machine code
    n: int
    given: int
    sides: int  # conditions of laws
    operations: int

    def address(self, name: str) -> int:
        """Return the address of a function; 0 if the structure needs none."""
        return self.machine.address(f"own_{self.places[name]}") if name in self.places else 0

    @cached_property
    def functions(self) -> dict[str, ctypes._FuncPointer]:
        return {name: OWN(self.address(name)) for name in self.places}

    def call(self, name: str, t: float, pair: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Evaluate a function once and return its result."""
        out = np.zeros(max(self.n + 1 + self.given, self.sides))
        whole = np.concatenate([pair, np.zeros(3 * self.n + self.sides - pair.size)])
        if self.functions[name](t, whole.ctypes.data, given.ctypes.data, out.ctypes.data) != 0:
            raise ValueError(
                f"at t = {t:g} the straight-line equations do not hold: an angle beyond their range, or a loop near a singular position"
            )
        return out


ENVELOPE = KERNELS.original("loops.envelope_cholesky")
ALL, PLACING = ENVELOPE.ALL, ENVELOPE.PLACING  # rows that a projection answers
KEPT: dict[tuple, AdjointCode] = {}


class Builder:
    """Builds the functions of one structure as nodes of one trace."""

    def __init__(self, system: System, parameters: Sequence[str]):
        c = system.compiled
        self.system, self.parameters = system, tuple(parameters)
        self.held = held_registers(system)
        self.sizes = {"q": len(c.coordinates), "u": len(c.speeds), "x": len(c.states)}
        self.n = sum(self.sizes.values())
        self.trace, self.recording = cheapest_recorded(system, MOTION, self.parameters, "auto")
        self.tape = self.trace.tape

    def group(self, name: str, count: int) -> list[int]:
        """Return new symbols of a group."""
        return [self.tape.symbol(name, k, 0.5) for k in range(count)]

    @property
    def state(self) -> list[int]:
        return [i for name, count in self.sizes.items() for i in self.group(name, count)]

    @property
    def wanted(self) -> list[int]:
        """Return the variables of differentiation, state, time and given values, in the order of
        `out`.
        """
        c = self.system.compiled
        own = [
            self.tape.symbol("parameters", c.parameters.index(name), 0.5)
            for name in self.parameters
        ]
        return [
            *self.state,
            self.tape.symbol("t", 0, 0.37),
            *self.group("inputs", len(c.inputs)),
            *own,
            *self.group("held", len(self.held)),
        ]

    def slopes(self, seeds: dict[int, int], wanted: list[int]) -> list[int]:
        found = sweep(self.tape, seeds, wanted)
        return [found[i] for i in wanted]

    def seeded(self, nodes: Sequence[int], factors: Sequence[int]) -> dict[int, int]:
        """Return the factors by node, summed if a node occurs several times."""
        found: dict[int, int] = {}
        for node, factor in zip(nodes, factors, strict=True):
            found[node] = self.tape.add(found[node], factor) if node in found else factor
        return found

    def transposed(self, nodes: Sequence[int]) -> list[int]:
        """Return the products of factors w with the Jacobian of nodes by all variables."""
        return self.slopes(self.seeded(nodes, self.group("w", len(nodes))), self.wanted)

    def bend(self, products: Sequence[int]) -> list[int]:
        """Return the derivatives of wᵀ J v, from the products wᵀ J."""
        total = self.tape.constant(0.0)
        for product, v in zip(products[: self.n], self.group("v", self.n), strict=True):
            total = self.tape.add(total, self.tape.mul(product, v))
        return self.slopes({total: self.tape.constant(1.0)}, self.wanted)

    # -- conditions of laws ---------------------------------------------------------------------
    def conditions(self, rates: Sequence[int]) -> list[tuple[int, int]]:
        """Return pairs of nodes for the conditions in the rates: one that changes with the
        condition, and one that is zero where it changes.
        """
        tape, found = self.tape, []
        one, zero = tape.constant(1.0), tape.constant(0.0)
        for i in alive(tape, rates):
            operation, *args = tape.nodes[i]
            if operation in ("lt", "le"):
                found.append((tape.select(i, one, zero), tape.sub(*args)))
            elif operation in ("floor", "ceil", "mod"):
                x = tape.div(*args) if operation == "mod" else args[0]
                nearest = tape.fold("floor", tape.add(x, tape.constant(0.5)))
                found.append((tape.fold("floor", x), tape.sub(x, nearest)))
        return found

    # -- loops ----------------------------------------------------------------------------------------------------------------------------
    def closed(self) -> list[int]:
        """Return the state projected onto the loops by one Newton step, which is exact if the gap
        is a step's error.
        """
        ws, recording = self.recording.ws, self.recording
        nq, nu = self.sizes["q"], self.sizes["u"]
        change = self.answer("position_residual", PLACING)
        speeds, ws.u[:] = list(ws.u), change
        moved = recording.coordinate_rates()
        for k in range(nq):
            ws.q[k] = ws.q[k] + recording.value(moved[k])
        for k in self.system.compiled.quaternions:
            length = MATH.sqrt(sum((ws.q[k + m] * ws.q[k + m] for m in range(4)), 0.0))
            ws.q[k : k + 4] = [ws.q[k + m] / length for m in range(4)]
        ws.u[:] = speeds
        recording.run("loops.minimum_norm_change", "place_loops", recording.t)
        gains = self.answer("velocity_residual", ALL)
        coordinates = recording.nodes(ws.q)
        new = recording.nodes([ws.u[k] + gains[k] for k in range(nu)])
        return [*coordinates, *new, *self.group("x", self.sizes["x"])]

    def answer(self, kind: str, rows: int) -> list:
        """Return the minimum-norm change that removes the constraint residuals of the last
        evaluated state.
        """
        recording = self.recording
        if not self.familiar:
            recording.run("loops.minimum_norm_change", "place_loops", recording.t)
        else:  # accelerations alone need no places where nothing reads them
            recording.run_plainly("engine.kinematics", "velocities")
        recording.run_plainly("loops.constraint_residuals", kind)
        if self.familiar:
            recording.run_plainly("loops.minimum_norm_change", "answer_residual")
        else:
            recording.run("loops.minimum_norm_change", "least_change", 0.0, True, rows)
        return list(recording.ws.udot)

    @property
    def familiar(self) -> bool:
        """Return whether the factor computed for the accelerations can be used for projections too."""
        model = self.recording.model
        return model.header.own_tangents == 0 and all(level == POSITIONS for level in model.l_level)


def key_of(system: System, parameters: Sequence[str], implicit: bool) -> tuple:
    """Return a key of everything that the functions depend on, except the values of the requested
    parameters.
    """
    c = system.compiled
    floats = c.floats.copy()
    fields = model_fields(c.ints, floats)
    header = HEADER.of(c.ints)
    for instruction in list(INSTRUCTION.rows(fields.code))[
        int(header.phase[0]) : int(header.phase[1])
    ]:
        fields.val0[int(instruction.dst)] = 0.0
    for first, count in (
        (c.start_q, len(c.coordinates)),
        (c.start_u, len(c.speeds)),
        (c.start_x, len(c.states)),
    ):
        fields.val0[first : first + count] = 0.0
    fields.val0[[c.registers[name] for name in parameters]] = 0.0
    return c.ints.tobytes(), floats.tobytes(), tuple(parameters), implicit


def adjoint_code(system: System, parameters: Sequence[str], implicit: bool) -> AdjointCode:
    """Return the functions of a structure, from a cache of recently used ones."""
    key = key_of(system, parameters, implicit)
    if key not in KEPT:
        while len(KEPT) >= MOST_KEPT:
            del KEPT[next(iter(KEPT))]
        KEPT[key] = traced_code(system, parameters, implicit)
    return KEPT[key]


def traced_code(system: System, parameters: Sequence[str], implicit: bool) -> AdjointCode:
    """Trace and compile the functions of a structure; raises ValueError with the reason if that is
    impossible.
    """
    c = system.compiled
    if c.counts["nc"]:
        raise ValueError("contacts that open and close have no straight line")
    if c.counts["nfi"]:
        raise ValueError("couplings follow the rates of inputs")
    builder = Builder(system, parameters)
    rates = builder.trace.results[: builder.n]
    products = builder.transposed(rates)
    nodes = {"rates": rates, "back": products} | (
        {"bend": builder.bend(products)} if implicit else {}
    )
    conditions = builder.conditions(rates)
    if conditions:
        stand, surfaces = zip(*conditions, strict=True)
        nodes["stand"], nodes["distances"] = list(stand), list(surfaces)
        seeds = builder.seeded(surfaces, builder.group("s", len(surfaces)))
        nodes["surfaces"] = builder.slopes(seeds, builder.wanted)
    if c.loops:
        nodes["close"] = builder.closed()
        nodes["open"] = builder.transposed(nodes["close"])
    traces = [
        replace(builder.trace, results=finished(builder.tape, each)) for each in nodes.values()
    ]
    operations = sum(each.operations for each in traces)
    if operations > MAX_OPERATIONS:
        raise ValueError(f"{operations} operations are too many for straight-line code")
    places = places_of(builder, len(conditions))
    machine = compiled(llvm_text([Motion(each, places, []) for each in traces]))
    given = len(c.inputs) + len(builder.parameters) + len(builder.held)
    return AdjointCode(
        system,
        builder.parameters,
        machine,
        {name: k for k, name in enumerate(nodes)},
        builder.n,
        given,
        len(conditions),
        operations,
    )


def places_of(builder: Builder, conditions: int) -> dict[str, list[Place]]:
    """Return where each function finds its arguments in the arrays `pair` and `given`."""
    c, n, at = builder.system.compiled, builder.n, 0
    places = {}
    for name, count in builder.sizes.items():
        places[name] = [Place("y", at + k) for k in range(count)]
        at += count
    inputs, own = len(c.inputs), {name: k for k, name in enumerate(builder.parameters)}
    places |= {
        "w": [Place("y", n + k) for k in range(n)],
        "v": [Place("y", 2 * n + k) for k in range(n)],
        "s": [Place("y", n + k) for k in range(conditions)],
    }
    places["inputs"] = [Place("val", k) for k in range(inputs)]
    places["parameters"] = [Place("val", inputs + own.get(name, 0)) for name in c.parameters]
    places["held"] = [Place("val", inputs + len(own) + k) for k in range(len(builder.held))]
    return places
