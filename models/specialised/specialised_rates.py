"""Straight-line code for the right-hand side of runs: rates of coordinates, speeds and states, and
the power of the loads, of every structure.

    int32 own(double t, const double *y, const double *val, double *ydot)           (`solvers/instance/derivatives.py` calls it)

The code is valid only for the parameters built into it, which it checks; inputs, locked joints and
actuator values are read from the registers `val`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinetree.models.compilation.stage_structures import Structure
from kinetree.models.engine.compiled import Compiled
from kinetree.models.specialised.llvm_compiler import Machine, compiled
from kinetree.models.specialised.llvm_functions import function
from kinetree.models.specialised.llvm_operations import Code, real
from kinetree.models.system.system import System
from kinetree.models.trace.mechanism_traces import MOTION, cheapest, held_registers
from kinetree.models.trace.trace import Trace
from kinetree.solvers import unit_layout as U
from kinetree.solvers.model_records import HEADER

if TYPE_CHECKING:
    from kinetree.models.run.simulation_unit import Unit

# above this number of operations straight-line code leaves the caches, and the generic engine is faster
MAX_STRAIGHT_LINE_OPERATIONS = 100_000
FOLDED = 3  # how many operations of the formulas become one: beyond MAX_STRAIGHT_LINE_OPERATIONS of these nothing is traced to see


@dataclass(frozen=True)
class Place:
    """The array and index where generated code finds an argument."""

    array: str  # y or val
    at: int


@dataclass
class Motion:
    """The right-hand side of one structure as operations, with the places of their arguments."""

    trace: Trace
    places: dict[str, list[Place]]
    parameters: list[tuple[int, float]]  # registers and the values that are built in


def motion(system: System) -> Motion:
    """Return the operations of a structure's right-hand side; raises ValueError with the reason if
    there are none.
    """
    c = system.compiled
    if c.counts["nc"]:
        raise ValueError("contacts that open and close are switched by the engine")
    if c.counts["nfi"]:
        raise ValueError(
            "couplings follow the rates of inputs, which straight-line code does not know"
        )
    estimate = system.costs()["DEC"] if system.bodies else 0.0
    if estimate > FOLDED * MAX_STRAIGHT_LINE_OPERATIONS:
        raise ValueError(f"about {estimate:.0f} operations are too many for straight-line code")
    trace = cheapest(system, MOTION)
    if trace.operations > MAX_STRAIGHT_LINE_OPERATIONS:
        raise ValueError(f"{trace.operations} operations are too many for straight-line code")
    nq, nu, nx = len(c.coordinates), len(c.speeds), len(c.states)
    places = {
        "q": [Place("y", k) for k in range(nq)],
        "u": [Place("y", nq + k) for k in range(nu)],
        "x": [Place("y", nq + nu + k) for k in range(nx)],
        "inputs": [Place("val", c.registers[name]) for name in c.inputs],
        "held": [Place("val", register) for register in held_registers(system)],
    }
    return Motion(
        trace, places, [(c.registers[name], value) for name, value in trace.values.items()]
    )


def motions(unit: Unit) -> list[Motion | str]:
    """Return the operations of every structure, or the reason why it has none."""
    found: list[Motion | str] = []
    for stage, structure in zip(unit.stages, unit.compiled, strict=True):
        try:
            found.append(motion(of_stage(unit, stage, structure)))
        except (ValueError, ArithmeticError) as error:
            found.append(str(error))
    return found


def of_stage(unit: Unit, stage: Structure, structure: Compiled) -> System:
    """Return a structure as a system of its own."""
    return (
        unit.system
        if structure is unit.system.compiled
        else System(stage.description, structure, (stage,))
    )


def machine_of(found: Sequence[Motion | str]) -> Machine | None:
    """Return the compiled machine code; None if no structure has operations."""
    return compiled(llvm_text(found)) if any(isinstance(each, Motion) for each in found) else None


class CodeOwner(Protocol):
    """A unit that keeps alive the code whose addresses are in its ints."""

    own: Any
    ints: np.ndarray


def own_place(ints: np.ndarray, stage: int) -> int:
    """Return the index in a unit's ints of a structure's code address."""
    return int(U.STAGE.of(ints, U.UNIT.size + U.STAGE.size * stage).ints) + HEADER.at("own")


def attach(unit: CodeOwner, found: Sequence[Motion | str], machine: Machine | None) -> None:
    """Connect the structures of a unit with their compiled code; others use the engine."""
    unit.own = machine
    for k, each in enumerate(found):
        if machine is not None and isinstance(each, Motion):
            unit.ints[own_place(unit.ints, k)] = machine.address(f"own_{k}")


class MotionCode(Code):
    """LLVM code of one structure's right-hand side."""

    def __init__(self, motion: Motion):
        super().__init__(motion.trace)
        self.motion = motion

    def symbol(self, group: str, k: int) -> str:
        """Return the LLVM operand of an argument."""
        return "%t" if group == "t" else self.number(self.motion.places[group][k])

    def number(self, place: Place) -> str:
        pointer = self.new(f"getelementptr double, ptr %{place.array}, i64 {place.at}")
        return self.new(f"load double, ptr {pointer}")

    def further_conditions(self, results: Sequence[int], first: bool) -> list[str]:
        """Return additional conditions: parameters equal those built in, and rates are finite."""
        known = self.motion.parameters if first else []
        found = [
            self.compare("oeq", self.number(Place("val", register)), real(value))
            for register, value in known
            if value == value
        ]
        total = real(0.0)
        for i in results:
            total = self.exact("fadd", total, self.exact("fmul", self.value[i], real(0.0)))
        return [*found, self.compare("oeq", total, real(0.0))]


def llvm_text(motions: Sequence[Motion | str], suffix: str = "", table: bool = False) -> str:
    """Return a module with `own_K` for every structure with operations, and their addresses in
    `kt_own_table`.
    """
    called: set[str] = set()
    functions = []
    for k, each in enumerate(motions):
        if isinstance(each, Motion):
            code = MotionCode(each)
            parameters = [
                "double %t",
                "ptr noalias readonly %y",
                "ptr noalias readonly %val",
                "ptr noalias %out",
            ]
            functions.append(function(code, f"own_{k}", parameters, "internal " if table else ""))
            called |= code.called
    entries = ", ".join(
        f"ptr @own_{k}" if isinstance(each, Motion) else "ptr null"
        for k, each in enumerate(motions)
    )
    tables = (
        [f"@kt_own_table{suffix} = constant [{len(motions)} x ptr] [{entries}]"] if table else []
    )
    return "\n".join([*sorted(called), *tables, *functions])
