"""What a run takes otherwise than it is written: said as a warning."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kinetree.solvers.integrate.kinds import FIXED

if TYPE_CHECKING:
    from kinetree.models.description.checks.checker import Checker

UNIT = 1e-3  # how far a quaternion of few digits may be from length 1
LEAST_TOLERANCE = 1e-14  # what integrators take for less, as roundings would decide about their steps


def check_run(checker: Checker) -> None:
    """All of it."""
    warn_quaternions(checker)
    warn_tolerance(checker)
    warn_step(checker)


def warn_quaternions(checker: Checker) -> None:
    """Rotations at the start whose length is not 1: only their direction counts."""
    for name, joint in checker.description.joints.items():
        form = checker.forms.get(name)
        if form is None or not form.quaternion or not isinstance(joint.start, (list, tuple)) or len(joint.start) < 4:
            continue
        parts = [checker.number(part) for part in joint.start[-4:]]
        length = math.hypot(*(part for part in parts if part is not None))
        if None not in parts and abs(length - 1.0) > UNIT:
            checker.warn(("joints", name, "start"), f"a quaternion of length {length:g}", "1", "the run takes the rotation of its direction")


def warn_tolerance(checker: Checker) -> None:
    """Tolerances below rounding."""
    given = checker.description.run.tolerances
    relative = checker.number(given.relative) if given is not None else None
    if relative is not None and 0.0 < relative < LEAST_TOLERANCE:
        checker.warn(
            ("run", "tolerances"), f"{relative:g}", f"at least {LEAST_TOLERANCE:g}", f"below that rounding decides: {LEAST_TOLERANCE:g} is taken"
        )


def warn_step(checker: Checker) -> None:
    """A fixed step that does not fit between two rows."""
    run = checker.description.run
    step, row = checker.number(run.step), checker.number(run.output_step)
    if run.integrator in FIXED and step is not None and row is not None and step > row * (1.0 + 1e-9):
        checker.warn(("run", "step"), f"{step:g}", f"at most output_step, {row:g}", f"steps end at rows: they are {row:g}")
