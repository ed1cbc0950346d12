"""Minimises the largest values of runs: time histories are linearised by difference quotients, and
each step solves a linear program.

A measure deviation(c) or peak(c) is the largest of |r(t)| over the rows of a run, r = c - c(start)
or c; as a function of the variables it has a kink wherever another row becomes the largest, where
methods for smooth functions converge slowly. Here every row is a constraint: with r + J d about the
present point

    minimise z   subject to   ±(r(t) + J(t) d) ≤ s,   |d| ≤ radius,   constraints,
                              Σ weight s + Σ weight (other measures + derivatives d) ≤ z

over all scenarios (z the worst, or the mean). A step that makes the measures of the runs smaller is
accepted, and the trust radius follows the ratio of actual and predicted gain (K. Madsen, "An
algorithm for minimax solution of overdetermined systems of non-linear equations", J. Inst. Maths
Applics 16 (1975) 321). The multipliers of the last program name the active rows of both signs,
bounds and constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import linprog

from kinetree.scripts.measures.run_measures import parsed, part_in
from kinetree.scripts.studies.optimise_search import BAD, KEPT, STAGES, Search

SHIFT = 0.01  # of the scaled variables, for the differences of the histories
RADIUS, LEAST, GROW, SHRINK = 0.25, 1e-4, 2.0, 0.35
GOOD, FAIR = 0.7, 0.05  # gained of what was promised
PRICE = 50.0  # of a broken constraint, in units of the objective
DONE = 1e-4  # relative gain of a step from which on the search goes on
PEAKS = {"deviation": lambda column: column - column[0], "peak": lambda column: column}


@dataclass
class Local:
    """A point with the histories of its runs, its measures and their derivatives, scenario by
    scenario.
    """

    rows: list[list[np.ndarray]]  # by scenario and peak measure
    values: np.ndarray  # (scenarios, texts)

    def known(self) -> bool:
        """Return whether all runs at the point could be measured."""
        return bool((self.values < BAD).all()) and all(
            np.isfinite(row).all() for rows in self.rows for row in rows
        )


def local(search: Search, point: np.ndarray, about: np.ndarray | None = None) -> Local:
    """Return histories and measures of the runs at a point; a measure of a stage or phase uses the
    rows that the run at `about` has in it.
    """
    texts = [text for text in search.task.texts if parsed(text)[0] in PEAKS]
    framed = search.histories(point if about is None else about)
    rows = [
        [history(search, text, kept, frame) for text in texts]
        for kept, frame in zip(search.histories(point), framed, strict=True)
    ]
    return Local(rows, search.apart(point))


def history(
    search: Search, text: str, kept: dict[str, np.ndarray], frame: dict[str, np.ndarray]
) -> np.ndarray:
    """Return the time history whose largest magnitude is the measure; 0 outside its stage or phase."""
    name, column = parsed(text)
    rows, part = np.asarray(PEAKS[name](kept[column])), part_in(text)
    return np.where(search.parts.inside(frame[STAGES])(part), rows, 0.0) if part else rows


def minimax(search: Search, start: np.ndarray) -> Any:
    """Minimise the largest values from a start; return a result with scipy's attributes x and
    message.
    """
    point, radius, message = start.copy(), RADIUS, f"{search.task.iterations} iterations"
    for _ in range(search.task.iterations):
        shifts = np.where(point <= 1.0 - SHIFT, SHIFT, -SHIFT)
        search.measures(
            np.array(
                [
                    point,
                    *(
                        point + shift * axis
                        for shift, axis in zip(shifts, np.eye(point.size), strict=True)
                    ),
                ]
            )
        )
        here = local(search, point)
        near = [
            local(search, point + shift * axis, point)
            for shift, axis in zip(shifts, np.eye(point.size), strict=True)
        ]
        if not all(each.known() for each in (here, *near)):
            return SimpleNamespace(
                x=point,
                message="runs at or near this point fail: no descent direction is known",
            )
        while True:
            step, promised = program(search, here, near, shifts, point, radius)
            new = np.clip(point + step, 0.0, 1.0)
            if (
                search.broken(search.measures(new[None])[0]) > KEPT
            ):  # once more with what the slopes did not foresee
                off = search.apart(new) - foreseen(here, near, shifts, new - point)
                new = np.clip(
                    point + program(search, here, near, shifts, point, radius, off)[0], 0.0, 1.0
                )
            before, after = (price(search, search.measures(at[None])[0]) for at in (point, new))
            gained = before - after
            if promised > 0.0 and gained > FAIR * promised:
                break
            radius *= SHRINK
            if radius < LEAST or promised <= DONE * DONE * abs(before):
                return SimpleNamespace(x=point, message="no step of any size makes it smaller")
        radius = min(radius * (GROW if gained > GOOD * promised else 1.0), 1.0)
        point = new
        if gained < DONE * abs(before):
            message = "further steps give no improvement"
            break
    return SimpleNamespace(x=point, message=message)


def price(search: Search, values: np.ndarray) -> float:
    """Return the objective with penalties for violated constraints."""
    objective = search.objective(values)
    return objective + PRICE * abs(objective) * search.broken(values)


def foreseen(here: Local, near: list[Local], shifts: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return the measures predicted for a step by their difference quotients, (scenarios, texts)."""
    return here.values + sum(
        part * (each.values - here.values) / shift
        for part, each, shift in zip(step, near, shifts, strict=True)
    )


def program(
    search: Search,
    here: Local,
    near: list[Local],
    shifts: np.ndarray,
    point: np.ndarray,
    radius: float,
    off: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, float]:
    """Solve the linear program about a point; return its step and its predicted gain."""
    known_off = np.broadcast_to(off, here.values.shape)
    task, n = search.task, point.size
    kinds = [parsed(text)[0] in PEAKS for text in task.texts]
    peaks = [k for k, is_peak in enumerate(kinds) if is_peak]
    weights, scenarios = list(task.measures.values()), len(here.values)
    objective = search.objective(search.measures(point[None])[0])
    size = abs(objective) or 1.0
    scale = [
        max(float(np.abs(here.rows[c][j]).max()) for c in range(scenarios)) or 1.0
        for j in range(len(peaks))
    ]
    first = (
        n + 1 + scenarios
    )  # d, slack of the constraints, z by scenario, s by scenario and peak measure
    width = first + scenarios * len(peaks)
    A, b = [], []
    for c in range(scenarios):
        slopes = np.array(
            [
                (each.values[c] - here.values[c]) / shift
                for each, shift in zip(near, shifts, strict=True)
            ]
        )  # (variables, texts)
        goal, known = np.zeros(width), 0.0
        goal[n + 1 + c] = -1.0
        for j, k in enumerate(peaks):
            J = (
                np.array(
                    [
                        (each.rows[c][j] - here.rows[c][j]) / shift
                        for each, shift in zip(near, shifts, strict=True)
                    ]
                ).T
                / scale[j]
            )
            at = first + c * len(peaks) + j
            for sign in (1.0, -1.0):
                block = np.zeros((len(J), width))
                block[:, :n], block[:, at] = sign * J, -1.0
                A.append(block)
                b.append(-sign * here.rows[c][j] / scale[j])
            if k < len(weights):
                goal[at] += weights[k] * scale[j] / size
        for k in range(len(weights)):
            if not kinds[k]:
                goal[:n] += weights[k] * slopes[:, k] / size
                known += weights[k] * here.values[c, k] / size
        A.append(goal[None])
        b.append(np.array([-known]))
        for k, (low, high) in enumerate(task.constraints.values(), len(weights)):
            for sign, bound in ((1.0, high), (-1.0, low)):
                if math.isfinite(bound):
                    line, unit = np.zeros(width), max(abs(bound), 1e-9)
                    line[:n] = sign * slopes[:, k] / unit
                    line[n] = -1.0
                    A.append(line[None])
                    b.append(
                        np.array([sign * (bound - here.values[c, k] - known_off[c, k]) / unit])
                    )
    worst = task.over == "worst"
    cost = np.zeros(width + 1)
    cost[n], cost[-1] = PRICE, 1.0
    lines = np.zeros(
        (scenarios if worst else 1, width + 1)
    )  # the last variable: the worst or the mean of z
    for c in range(scenarios):
        lines[c if worst else 0, n + 1 + c] = 1.0 if worst else 1.0 / scenarios
    lines[:, -1] = -1.0
    matrix = np.vstack(
        (np.hstack((np.vstack(A), np.zeros((sum(len(each) for each in A), 1)))), lines)
    )
    limits = (
        [(max(-radius, -p), min(radius, 1.0 - p)) for p in point]
        + [(0.0, None)]
        + [(None, None)] * (width - n)
    )
    found = linprog(
        cost, matrix, np.concatenate((*b, np.zeros(len(lines)))), bounds=limits, method="highs"
    )
    if found.x is None:
        return np.zeros(n), 0.0
    now = search.broken(search.measures(point[None])[0])
    return found.x[:n], objective + size * (PRICE * now - float(found.fun))
