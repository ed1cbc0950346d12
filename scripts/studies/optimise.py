"""Optimisation of parameters: minimises measures of runs under bounds and constraints (its file:
optimise_file.py).

A whole generation of differential evolution is run together. The result is the best of all
evaluations that satisfy the constraints. With `pareto` the first measure is minimised under bounds
on the second, which range from the minimum of the second to its value at the minimum of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.scripts.studies.optimise_file import Task
from kinetree.scripts.studies.optimise_search import BAD, KEPT, Search
from kinetree.scripts.terminal.error_messages import BadInput

Told = Callable[[float, float], None]


@dataclass
class Found:
    """The best point with its measures and history."""

    values: dict[str, float]
    objective: float
    measures: dict[str, float]
    feasible: bool
    evaluations: int
    seconds: float
    history: list[float]  # best objective so far, evaluation by evaluation
    message: str
    starts: list[tuple[dict[str, float], float]]  # where every search ended
    interrupted: bool = False
    front: list[dict[str, Any]] = field(default_factory=list)  # of a Pareto front: values, measures
    begin: dict[str, float] = field(default_factory=dict)  # measures where the search began
    failed: int = 0  # evaluations without measures
    failure: str = ""  # why the first of them has none


def optimise(task: Task, told: Told = lambda done, best: None, state: Path | None = None) -> Found:
    """Run the search from all starts and return the best point; an interrupt keeps the best so far,
    `state` stores evaluations.
    """
    if task.pareto:
        return front(task, told, state)
    search, ends, message, interrupted = Search(task, told, state), [], "", False
    task = search.task
    starts = [(np.array([v.start for v in task.variables.values()]) - search.low) / search.width]
    if task.multistart:
        from kinetree.scripts.studies.samplers import cube

        starts += list(cube("sobol", len(task.variables), task.multistart, task.seed))
    try:
        for start in starts if task.method != "differential-evolution" else starts[:1]:
            result = (
                locally(search, start)
                if task.method != "differential-evolution"
                else globally(search, start)
            )
            message = str(result.message)
            end = search.snapped(np.clip(result.x, 0, 1)[None])
            ends.append((search.values(end[0]), search.objective(search.measures(end)[0])))
    except KeyboardInterrupt:
        interrupted, message = True, "interrupted: the best so far"
    if not search.best[2].size:
        raise ArithmeticError("no run of the search could be measured")
    values = search.known[search.best[2].tobytes()]
    if search.without_measures(values):
        raise ArithmeticError(
            f"none of the {search.count} evaluations gave all measures; the first: {search.failure}"
        )
    measures = dict(zip(task.texts, map(float, values), strict=True))
    first = search.known.get(search.snapped(starts[0][None])[0].tobytes())
    begin = {} if first is None else dict(zip(task.texts, map(float, first), strict=True))
    seconds, feasible = search.seconds, search.broken(values) <= KEPT
    point, objective = search.values(search.best[2]), search.objective(values)
    return Found(
        point,
        objective,
        measures,
        feasible,
        search.count,
        seconds,
        search.history,
        message,
        ends,
        interrupted,
        begin=begin,
        failed=search.failed,
        failure=search.failure,
    )


def locally(search: Search, start: np.ndarray) -> Any:
    """Run one gradient-based search from a start."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    def at(s: np.ndarray) -> np.ndarray:
        return search.measures(np.clip(s, 0.0, 1.0)[None])[0]

    task = search.task
    scale = max(abs(search.objective(at(start))), 1e-12)
    if task.method == "ipopt":
        from kinetree.scripts.studies.ipopt import ipopt

        return ipopt(search, start, scale)
    if task.method == "minimax":
        from kinetree.scripts.studies.minimax import minimax

        return minimax(search, start)
    options: dict[str, Any] = {"maxiter": task.iterations} | (
        {"ftol": 1e-12} if task.method == "slsqp" else {"xtol": 1e-9, "gtol": 1e-9}
    )
    limits = NonlinearConstraint(
        lambda s: search.limits(at(s)),
        0.0,
        np.inf,
        jac=lambda s: search.limit_slopes(np.clip(s, 0, 1)),  # type: ignore[arg-type]
    )
    return minimize(
        lambda s: search.objective(at(s)) / scale, start, method="SLSQP" if task.method == "slsqp" else "trust-constr",
        jac=lambda s: search.slope(np.clip(s, 0, 1)) / scale, bounds=Bounds(0.0, 1.0),  # type: ignore[arg-type]
        constraints=[limits] if task.constraints else [], options=options,
    )  # fmt: skip


def globally(search: Search, start: np.ndarray) -> Any:
    """Run differential evolution, one generation at a time, with the start in the first one;
    violated constraints are penalised.
    """
    from scipy.optimize import differential_evolution

    def price(points: np.ndarray) -> np.ndarray:
        try:
            values = search.measures(np.clip(points.T, 0.0, 1.0))
        except ValueError as error:  # scipy takes it for one of its own and hides what it says
            raise BadInput(str(error)) from error
        return np.array(
            [search.objective(row) + BAD * min(search.broken(row), 1.0) for row in values]
        )

    how: dict[str, Any] = {
        "maxiter": search.task.iterations,
        "rng": search.task.seed,
        "polish": False,
        "tol": 1e-6,
        "x0": np.clip(start, 0.0, 1.0),
    }
    return differential_evolution(
        price, [(0.0, 1.0)] * search.low.size, vectorized=True, updating="deferred", **how
    )


def front(task: Task, told: Told, state: Path | None) -> Found:
    """Return the points of the Pareto front of two measures; each search starts from the point
    before, and dominated points are left out.
    """
    first, second = task.measures
    pairs = ((first, second), (second, first))
    ends = [
        optimise(part_of(task, text, task.constraints, (other,)), told, state_of(state, k))
        for k, (text, other) in enumerate(pairs)
    ]
    points = [
        (found.values, {text: found.measures[text] for text in (first, second)}) for found in ends
    ]
    least, most = ends[1].measures[second], ends[0].measures[second]
    begin = ends[0].values
    for bound in () if ends[1].interrupted else np.linspace(most, least, task.pareto)[1:-1]:
        held = {
            **task.constraints,
            second: (task.constraints.get(second, (-math.inf, math.inf))[0], float(bound)),
        }
        starts = {
            name: replace(variable, start=begin[name]) for name, variable in task.variables.items()
        }
        part = replace(part_of(task, first, held), variables=starts, multistart=0)
        found = optimise(part, told, state_of(state, len(ends)))
        ends.append(found)
        if found.feasible:
            begin = found.values
            points.append((found.values, {text: found.measures[text] for text in (first, second)}))
        if found.interrupted:
            break
    evaluations = sum(found.evaluations for found in ends)
    better = lambda a, b: all(a[k] <= b[k] for k in a) and any(a[k] < b[k] for k in a)  # noqa: E731
    kept = [point for point in points if not any(better(other[1], point[1]) for other in points)]
    kept.sort(key=lambda point: point[1][second])
    best, whole = ends[0], sum(found.seconds for found in ends)
    rows = [{"values": values, "measures": measures} for values, measures in kept]
    return replace(
        best,
        evaluations=evaluations,
        seconds=whole,
        front=rows,
        interrupted=any(found.interrupted for found in ends),
    )


def part_of(
    task: Task,
    measure: str,
    constraints: dict[str, tuple[float, float]],
    watched: tuple[str, ...] = (),
) -> Task:
    """Return the task with a single objective."""
    return replace(
        task, pareto=0, measures={measure: 1.0}, constraints=constraints, watched=watched
    )


def state_of(state: Path | None, number: int) -> Path | None:
    """Return the state file of one of several searches."""
    return None if state is None else state.with_name(f"{state.stem}-{number}{state.suffix}")
