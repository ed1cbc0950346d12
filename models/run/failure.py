"""Why a run cannot go on, in one sentence that names the number to blame and says what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.blocks import model_fields
from kinetree.models.compilation.compiled import Compiled
from kinetree.models.run.status import message
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import INSTRUCTION, Status

if TYPE_CHECKING:
    from kinetree.models.run.unit import Run

WORK_HEAD = 64  # registers follow the head of a structure's workspace


def failure(run: Run, status: Status) -> str:
    """The message for a status of the present advance."""
    w, compiled = run.work, run.unit.compiled[int(run.work[U.V_STAGE])]
    if status == Status.NOT_A_NUMBER:
        return not_a_number(run, int(w[U.V_ITEM]), compiled)
    if status == Status.TOO_MANY_STEPS:
        return too_many_steps(w)
    head = np.zeros(4)
    head[0] = w[U.V_ITEM]
    return message(status, head, compiled)


def not_a_number(run: Run, register: int, compiled: Compiled) -> str:
    """Which number is none, or has grown out of all proportion."""
    if register < 0:
        return "an acceleration or a rate is not a finite number: look for masses, lengths or laws that vanish or grow without bound here"
    name, value = register_name(register, compiled), run.work[int(run.unit.ints[U.U_BASE]) + WORK_HEAD + register]
    if name in (*compiled.coordinates, *compiled.speeds, *compiled.states):
        grown = f"has grown to {value:.3g}" if np.isfinite(value) else "is not a finite number"
        return (
            f"'{name}' {grown}: the motion is unstable, or a force feeds it; check signs of stiffness and damping, or try a smaller step or tolerance"
        )
    return f"'{name}' is not a finite number: its law has no value here (a division by zero, the root or logarithm of a negative number)"


def register_name(register: int, compiled: Compiled) -> str:
    """Name of a register; of a part of an expression, that of what is computed from it."""
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


def too_many_steps(w: np.ndarray) -> str:
    """How fast the motion is beside the interval that was asked for."""
    step, rate, kind = w[U.V_LAST_STEP], w[U.V_FASTEST], int(w[U.V_KIND])
    speed = f", the fastest motion has a rate of about {rate:.1e} 1/s" if rate > 0.0 else ""
    implicit = "" if kind == U.KINDS["radau"] else ", integrator radau where stiff forces make it fast"
    taken = f"{w[U.V_USED]:.0f} steps do not reach the next output: they are {step:.1e} s long{speed}"
    return f"{taken}. Try a smaller output step, a larger step_limit{implicit}"
