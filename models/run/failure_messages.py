"""Error messages of runs: the value that causes the failure and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinetree.models.description.names import expressions
from kinetree.models.description.reading.source_location import key_path
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.not_finite import without_value
from kinetree.models.engine.status import message
from kinetree.models.expressions.nodes import Node, Operation, names, postorder
from kinetree.models.expressions.parse import parse
from kinetree.models.language.errors import shown
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS
from kinetree.solvers.integrate.kinds import FIXED
from kinetree.solvers.layout import INSTRUCTION, Op, Status
from kinetree.solvers.model_records import HEAD
from kinetree.solvers.records import Named

if TYPE_CHECKING:
    from kinetree.models.run.simulation_unit import Unit

SWITCHES = {Op.SIGN, Op.IF, Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE, Op.FLOOR, Op.CEIL}
MOST_LAWS = 3  # that a message lists
EXPLICIT_FIXED = {U.KINDS[name] for name in FIXED if name != "semi-implicit"}


class Running(Protocol):
    """A unit with its current values."""

    unit: Unit
    work: np.ndarray
    head: Any


def failure_message(run: Running, status: Status) -> str:
    """Return the message for the status of a failed advance."""
    w, compiled = run.head, run.unit.compiled[int(run.head.stage)]
    if status == Status.NOT_A_NUMBER:
        return not_finite_message(run, int(w.item), compiled) + fixed_step_advice(w)
    if status == Status.TOO_MANY_STEPS:
        return step_limit_message(w) + switching_laws(run.unit.description)
    if status == Status.SLIDING:
        name = register_name(int(w.item), compiled)
        jumps = f"the rate of '{name}' jumps back and forth, so that no step is small enough"
        return jumps + switching_laws(run.unit.description)
    head = HEAD.of(np.zeros(HEAD.size))
    head.item = w.item
    told = message(status, head, compiled)
    if status in (Status.SINGULAR_JOINT, Status.SINGULAR_BODY, Status.INCONSISTENT):
        told += fixed_step_advice(w)
    return told + (switching_laws(run.unit.description) if status == Status.STEP_TOO_SMALL else "")


def fixed_step_advice(w: Named) -> str:
    """Return the most likely cause to check when a run with an explicit fixed-step method fails."""
    if int(w.kind) not in EXPLICIT_FIXED:
        return ""
    return (
        f". With fixed steps of {w.step:.3g} s look first whether they are too long for the fastest motion "
        "(`kinetree linearize` lists all): a shorter step, or an integrator that chooses its steps"
    )


def switching_laws(description: Description) -> str:
    """Return advice about laws that jump with the state, or an empty text."""
    found = [
        f"{key_path(path)} = {shown(text)}"
        for path, text in expressions(description.written)
        if path[0] in ("forces", "controllers", "states", "actuators")
        and switches_with_state(parse(text))
    ]
    if not found:
        return ""
    more = f" and {len(found) - MOST_LAWS} more" if len(found) > MOST_LAWS else ""
    return (
        f". Laws that switch with the state: {', '.join(found[:MOST_LAWS])}{more}; for dry friction take a force "
        "element of kind 'friction', for a relay a sampled controller (`period`) or events with a hysteresis, or make "
        "the law continuous, as tanh(x/width) in the place of sign(x)"
    )


def switches_with_state(law: Node) -> bool:
    """Return whether the conditions of a law depend on more than time and parameters."""
    return any(
        isinstance(part, Operation) and part.op in SWITCHES and names(part) - {"t"}
        for part in postorder((law,))
    )


def not_finite_message(run: Running, register: int, compiled: Compiled) -> str:
    """Return the message about a register that is not finite or has diverged."""
    if register < 0:
        told = "an acceleration or a rate is not a finite number: look for masses, lengths or laws that vanish or grow without bound here"
        name = without_value(run.work[int(run.unit.header.at_workspace) + REGISTERS :], compiled)
        return f"{told}; '{name}' has no finite value" if name else told
    name, value = (
        register_name(register, compiled),
        run.work[int(run.unit.header.at_workspace) + REGISTERS + register],
    )
    if name in (*compiled.coordinates, *compiled.speeds, *compiled.states):
        grown = f"has grown to {value:.3g}" if np.isfinite(value) else "is not a finite number"
        return (
            f"'{name}' {grown}: the motion is unstable, or a force feeds it; check signs of "
            "stiffness and damping, or try a smaller step or tolerance"
        )
    return f"'{name}' is not a finite number: its law has no value here (a division by zero, the root or logarithm of a negative number)"


def register_name(register: int, compiled: Compiled) -> str:
    """Return the name of a register, or of the quantity computed from it."""
    names = {number: name for name, number in reversed(compiled.registers.items())}
    code = model_fields(compiled.ints, compiled.floats).code.reshape(-1, INSTRUCTION)
    seen = {register}
    pending = [register]
    while pending:
        each = pending.pop(0)
        if each in names:
            return names[each]
        users = {int(row[1]) for row in code if each in row[2:5]} - seen
        seen |= users
        pending += sorted(users)
    return "an expression"


def step_limit_message(w: Named) -> str:
    """Return the message about step size and fastest motion for a run that reached its step limit."""
    step, rate, kind = w.last_step, w.fastest, int(w.kind)
    speed = f", the fastest motion has a rate of about {rate:.1e} 1/s" if rate > 0.0 else ""
    implicit = (
        "" if kind == U.KINDS["radau"] else ", integrator radau where stiff forces make it fast"
    )
    taken = f"{w.used:.0f} steps do not reach the next output: the step size fell to {step:.1e} s{speed}"
    return f"{taken}. Try a smaller output step, a larger step_limit{implicit}"
