"""Sensitivity of a run to small changes of its start, which bounds the deviations between
integrations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.fmu.variables import Access
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.solvers.integrate.kinds import FIXED
from kinetree.solvers.loops.constraint_projection import CLOSED

SAME = 1e-12  # same code on the same numbers: nothing but the compiler's rounding may differ
HOST_SOLVER = (
    1e-4  # the host's own integrator at its tolerance 1e-6, errors growing along the motion
)
STEPS_ADD_UP = 10.0  # error after many steps over that of one
ROUNDINGS = 16.0  # of one step, in units of the last place
OPEN = 10.0 * CLOSED  # of a loop after a step
GROWTH = 100.0  # of a small change of the start
DRAWS = 8  # starts that differ by one rounding
TAIL = 8.0  # the largest of all possible roundings over the largest of those drawn


def sizes_of_columns(table: np.ndarray) -> np.ndarray:
    """Return the largest magnitude in each column, at least 1."""
    return np.maximum(1.0, np.max(np.abs(table), axis=0))


def deviations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the largest difference of each column of two tables, or of each number of two rows,
    relative to its size where that exceeds 1.
    """
    if a.size == 0:
        return np.zeros(a.shape[-1] if a.ndim else 0)
    scale = sizes_of_columns(b) if b.ndim > 1 else np.maximum(1.0, np.abs(b))
    found = np.abs(a - b) / scale
    return found.max(axis=0) if b.ndim > 1 else found


def deviation(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two tables or rows, relative to the size of a column where
    that exceeds 1.
    """
    return float(np.max(deviations(a, b), initial=0.0))


def end_deviation(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of a row from the last row of a table, relative to the size of
    a column where that exceeds 1.
    """
    scale = sizes_of_columns(expected)
    return float(np.max(np.abs(found - expected[-1]) / scale, initial=0.0))


def run(instance: Any, grid: Sequence[float], names: Sequence[str]) -> np.ndarray:
    """Return the values of variables at the times of a grid, one row each."""
    rows = [instance.get(names)]
    for t in grid[1:]:
        instance.step(t)
        rows.append(instance.get(names))
    return np.array(rows)


def starts(twin: InProcess) -> dict[str, float]:
    """Return the start values that a host may set."""
    return {
        v.name: v.start
        for v in twin.table.variables
        if v.access == Access.START and v.start is not None
    }


def horizon(
    twin: InProcess, grid: Sequence[float], names: Sequence[str], expected: np.ndarray
) -> tuple[int, np.ndarray]:
    """Return the index of the last grid point before small changes of the start values have grown
    too much.

    The immediate response, for example that of accelerations to stiff springs in the first step, is
    the reference of this growth and not part of it. The second result is the largest response of
    each column to a unit change until then: it scales a host's error within its tolerance.
    """
    given = starts(twin)
    if not given:
        return len(grid) - 1, np.ones(len(names))
    twin.reset()
    change = 1e-9
    twin.start({name: start + change * (1.0 + abs(start)) for name, start in given.items()})
    scale = sizes_of_columns(expected)
    columns = np.abs(run(twin, grid, names) - expected) / scale
    moved = np.max(columns, axis=1)
    first = max(change, float(moved[:2].max()))
    grown = moved > GROWTH * first
    last = max(2, int(np.argmax(grown)) - 1) if grown.any() else len(grid) - 1
    return last, np.maximum(change, columns[: last + 1].max(axis=0)) / change


def own_bound(
    twin: InProcess, end: float, response: float, motion: Callable[[InProcess], np.ndarray]
) -> float:
    """Return the deviation that differences in floating-point rounding or in the choice of steps
    may cause.
    """
    run = twin.unit.run
    if run.integrator in FIXED:
        loops = any(compiled.loops for compiled in twin.unit.compiled)
        of_step = OPEN if loops else ROUNDINGS * np.finfo(float).eps
        return max(SAME, of_step * response * end / run.step, TAIL * rounded(twin, motion))
    return max(HOST_SOLVER, STEPS_ADD_UP * run.relative * response)


def rounded(twin: InProcess, motion: Callable[[InProcess], np.ndarray]) -> float:
    """Return the largest deviation between runs whose start values differ by one rounding.

    It may be far above the linear response to a small change: near a singular position of a loop a
    rounding decides whether the loop is projected once more, and the remaining residual moves the
    loop by the residual over the sine of the angle.
    """
    given, draw = starts(twin), np.random.default_rng(1)
    found = []
    for _ in range(DRAWS + 1 if given else 0):
        signs: Mapping[str, float] = dict(
            zip(
                given,
                draw.choice((-1.0, 1.0), len(given)) if found else np.zeros(len(given)),
                strict=True,
            )
        )
        twin.reset()
        found.append(
            motion(
                twin.start(
                    {
                        name: start + signs[name] * np.spacing(1.0 + abs(start))
                        for name, start in given.items()
                    }
                )
            )
        )
    return max((deviation(each, found[0]) for each in found[1:]), default=0.0)


def step_error(
    twin: InProcess, grid: Sequence[float], names: Sequence[str], expected: np.ndarray
) -> np.ndarray:
    """Return an error bound of a fixed step for each column, from a run with half the step."""
    if twin.unit.run.integrator not in FIXED:
        return np.zeros(len(names))
    twin.reset()
    twin.head.step *= 0.5
    return 2.0 * deviations(run(twin.start(), grid, names), expected)
