"""Warnings for [run] settings that the solver will round, clip or ignore."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kinetree.solvers.integrate.kinds import FIXED

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

UNIT = 1e-3  # how far a quaternion of few digits may be from length 1
STEP_OF_FMUS = (
    1e-3  # [s] of fixed-step methods where nothing gives one: hosts take larger steps than that
)
DEFAULT_ROWS = 500  # of a run that does not say how many it has
LEAST_TOLERANCE = (
    1e-14  # what integrators take for less, as roundings would decide about their steps
)


def check_run(checker: Checker) -> None:
    """Add all warnings about the table [run]."""
    warn_quaternions(checker)
    warn_tolerance(checker)
    warn_step(checker)
    warn_iteration(checker)


def warn_iteration(checker: Checker) -> None:
    """Warn about a tolerance of the variable-metric iteration if another form is used."""
    run = checker.description.run
    if run.itr_tolerance is not None and not run.method.startswith("ITR"):
        checker.warn(
            ("run", "itr_tolerance"),
            f"a tolerance of ITR, and method '{run.method}'",
            "method = 'ITR-G' or another ITR",
            "other methods do not iterate: it takes effect where a run asks for ITR",
        )


def warn_quaternions(checker: Checker) -> None:
    """Warn about start quaternions whose norm is not 1; only their direction is used."""
    for name, joint in checker.description.joints.items():
        form = checker.forms.get(name)
        if (
            form is None
            or not form.quaternion
            or not isinstance(joint.start, (list, tuple))
            or len(joint.start) < 4
        ):
            continue
        parts = [checker.number(part) for part in joint.start[-4:]]
        length = math.hypot(*(part for part in parts if part is not None))
        if None not in parts and abs(length - 1.0) > UNIT:
            checker.warn(
                ("joints", name, "start"),
                f"a quaternion of length {length:g}",
                "1",
                "the run takes the rotation of its direction",
            )


def warn_tolerance(checker: Checker) -> None:
    """Warn about tolerances below rounding, and about tolerances for methods without error control."""
    run = checker.description.run
    given = run.tolerances
    relative = checker.number(given.relative) if given is not None else None
    if relative is not None and 0.0 < relative < LEAST_TOLERANCE:
        checker.warn(
            ("run", "tolerances"),
            f"{relative:g}",
            f"at least {LEAST_TOLERANCE:g}",
            f"below that rounding decides: {LEAST_TOLERANCE:g} is taken",
        )
    if given is not None and run.integrator in FIXED:
        checker.warn(
            ("run", "tolerances"),
            f"a tolerance of '{run.integrator}'",
            "step",
            "its steps are fixed, and so is its error",
        )


def warn_step(checker: Checker) -> None:
    """Warn about a fixed step that does not divide the output step, or that the method ignores."""
    run = checker.description.run
    step, row = checker.number(run.step), checker.number(run.output_step)
    if run.integrator not in FIXED:
        if step is not None and run.integrator != "auto":
            checker.warn(
                ("run", "step"),
                f"a step of '{run.integrator}'",
                "tolerances or largest_step",
                "it finds its own steps",
            )
    elif step is None:
        hint = f"runs use output_step, FMUs {STEP_OF_FMUS:g} s"
        checker.warn(
            ("run", "integrator"), f"'{run.integrator}' without a step", "[run] step", hint
        )
    elif row is None:
        begin, end = checker.number(run.start_time) or 0.0, checker.number(run.stop_time)
        if end is not None and 0.0 < (end - begin) / DEFAULT_ROWS < step * (1.0 - 1e-9):
            hint = f"runs without output_step have {DEFAULT_ROWS} rows, and steps end at rows"
            checker.warn(
                ("run", "step"), f"{step:g}", f"at most {(end - begin) / DEFAULT_ROWS:g}", hint
            )
    elif abs(row / step - round(row / step)) > 1e-6 * row / step:
        hint = (
            f"steps end at rows: they are {row:g}"
            if step > row
            else "steps end at rows: the last one before each is shorter"
        )
        checker.warn(
            ("run", "step"), f"{step:g}", f"output_step, {row:g}, or a whole part of it", hint
        )
