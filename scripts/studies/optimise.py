"""Optimisation of parameters: measures of runs made small under bounds and constraints (the file: optimise_file.py).

Variables are scaled to 0..1 by their bounds. Gradients are central differences whose runs go together (System.simulate_many: in vector lanes where
the mechanism allows); a whole generation of differential evolution does too. What is found is the best of all evaluations that keeps the constraints.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.scripts.studies.measures import columns_of, measured
from kinetree.scripts.studies.optimise_file import Task
from kinetree.scripts.terminal.failure import BadInput

STEP = 1e-4  # of the scaled variables
BAD = 1e12  # measure of a run that failed
KEPT = 1e-6  # by which a constraint may be exceeded, part of its bound


@dataclass
class Found:
    """The best point, what it measures, and the way there."""

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


class Search:
    """Evaluations of a task, counted and remembered."""

    def __init__(self, task: Task, told: Callable[[float, float], None]):
        from kinetree.models import load

        self.task, self.told = task, told
        mechanism = load(task.source)
        for name in (*task.variables, *(name for each in task.scenarios for name in each)):
            if name not in mechanism.description.parameters:
                from kinetree.models.description.errors import suggestion

                raise BadInput(f"no parameter '{name}'; {suggestion(name, tuple(mechanism.description.parameters))}")
        self.mechanism = mechanism
        c = mechanism.compile().compiled
        columns = (*(column.name for column in c.outputs), *c.coordinates, *c.speeds, *c.states)
        for name in columns_of(task.texts):
            if name not in columns:
                from kinetree.models.description.errors import suggestion

                raise BadInput(f"no column '{name}'; {suggestion(name, columns)}")
        self.systems = [mechanism.compile(**each) for each in task.scenarios]
        self.low = np.array([each.low for each in task.variables.values()])
        self.width = np.array([each.high for each in task.variables.values()]) - self.low
        self.known: dict[bytes, np.ndarray] = {}
        self.count, self.history, self.best = 0, [], (math.inf, math.inf, np.zeros(0))
        self.began = time.perf_counter()

    def values(self, s: np.ndarray) -> dict[str, float]:
        return dict(zip(self.task.variables, map(float, self.low + s * self.width), strict=True))

    def measures(self, points: np.ndarray) -> np.ndarray:
        """All measures at points of the unit cube, (points, measures), over the scenarios as asked for."""
        new = [p for p in points if p.tobytes() not in self.known]
        if new:
            found = np.array([self.scenario(system, k, np.array(new)) for k, system in enumerate(self.systems)])
            for row, p in enumerate(new):
                self.known[p.tobytes()] = self.together(found[:, row])
                self.note(p)
        return np.array([self.known[p.tobytes()] for p in points])

    def together(self, found: np.ndarray) -> np.ndarray:
        """Of all scenarios: measures by `over`; of constraints the value that is nearest to its bound or beyond it."""
        count = len(self.task.measures)
        objective = found[:, :count] @ np.array(list(self.task.measures.values()))
        pick = found[int(objective.argmax())] if self.task.over == "worst" else found.mean(axis=0)
        out = pick.copy()
        for k, (low, high) in enumerate(self.task.constraints.values(), count):
            column = found[:, k]
            out[k] = column.min() if low > -1e300 and column.min() - low < high - column.max() else column.max()
        return out

    def scenario(self, system: Any, which: int, points: np.ndarray) -> np.ndarray:
        """Measures of one scenario."""
        from kinetree.models.analysis.moment import linear_at_rest

        rows = self.low + points * self.width
        columns = columns_of(self.task.texts)
        given = {name: rows[:, k] for k, name in enumerate(self.task.variables)}
        options = dict(self.task.run)
        inputs = options.pop("inputs", None)
        runs = system.simulate_many(given, inputs=inputs, outputs=columns, **options) if columns else None
        found = np.full((len(points), len(self.task.texts)), BAD)
        for k in range(len(points)):
            try:
                held = {name: runs[name][k] for name in columns} if runs is not None else {}
                parameters = {**self.task.scenarios[which], **{name: float(column[k]) for name, column in given.items()}}

                def at_rest(parameters: dict = parameters) -> Any:
                    return linear_at_rest(self.mechanism.compile(**parameters), inputs)

                time_of = runs.time if runs is not None else np.zeros(1)
                values = [measured(text, time_of, held, at_rest) for text in self.task.texts]
            except ArithmeticError:
                continue
            if np.isfinite(values).all():
                found[k] = values
        return found

    def note(self, p: np.ndarray) -> None:
        """Remember the best point that keeps the constraints, or else breaks them least."""
        values = self.known[p.tobytes()]
        worth = (self.broken(values), self.objective(values))
        worth = (0.0 if worth[0] <= KEPT else worth[0], worth[1])
        self.count += 1
        if worth < self.best[:2]:
            self.best = (*worth, p.copy())
        self.history.append(self.best[1])
        self.told(float(self.count), self.best[1])

    def objective(self, values: np.ndarray) -> float:
        return float(values[: len(self.task.measures)] @ np.array(list(self.task.measures.values())))

    def limits(self, values: np.ndarray) -> np.ndarray:
        """Distances to the bounds of the constraints, relative to their sizes; negative where broken."""
        count, found = len(self.task.measures), []
        for value, (low, high) in zip(values[count:], self.task.constraints.values(), strict=True):
            found += [(value - low) / max(abs(low), 1e-9)] if low > -1e300 else []
            found += [(high - value) / max(abs(high), 1e-9)] if high < 1e300 else []
        return np.array(found)

    def broken(self, values: np.ndarray) -> float:
        return float(np.maximum(-self.limits(values), 0.0).max(initial=0.0))

    def around(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points of the central differences about s, and their distances."""
        steps = np.minimum(STEP, np.maximum(np.minimum(s, 1.0 - s), 0.0))
        ahead = np.where(steps > 0.0, steps, np.where(s < 0.5, STEP, 0.0))
        behind = np.where(steps > 0.0, steps, np.where(s < 0.5, 0.0, STEP))
        axes = np.eye(s.size)
        points = [s, *(s + h * axis for h, axis in zip(ahead, axes, strict=True)), *(s - h * axis for h, axis in zip(behind, axes, strict=True))]
        return np.array(points), ahead + behind

    def gradient(self, s: np.ndarray, function: Callable[[np.ndarray], Any]) -> np.ndarray:
        """Of a function of the measures; all runs together."""
        points, distances = self.around(s)
        values = [np.atleast_1d(function(row)) for row in self.measures(points)]
        n = s.size
        return np.array([(values[1 + k] - values[1 + n + k]) / distances[k] for k in range(n)]).T


def optimise(task: Task, told: Callable[[float, float], None] = lambda done, best: None) -> Found:
    """Search from the start and from further ones; an interrupt keeps the best so far."""
    search, ends, message, interrupted = Search(task, told), [], "", False
    starts = [(np.array([v.start for v in task.variables.values()]) - search.low) / search.width]
    if task.multistart:
        from kinetree.scripts.studies.samplers import cube

        starts += list(cube("sobol", len(task.variables), task.multistart, task.seed))
    try:
        for start in starts if task.method != "differential-evolution" else starts[:1]:
            result = locally(search, start) if task.method != "differential-evolution" else globally(search)
            message = str(result.message)
            ends.append((search.values(result.x), search.objective(search.measures(np.clip(result.x, 0, 1)[None])[0])))
    except KeyboardInterrupt:
        interrupted, message = True, "interrupted: the best so far"
    if not search.best[2].size:
        raise ArithmeticError("no run of the search could be measured")
    values = search.known[search.best[2].tobytes()]
    measures = dict(zip(task.texts, map(float, values), strict=True))
    seconds, feasible = time.perf_counter() - search.began, search.broken(values) <= KEPT
    point, objective = search.values(search.best[2]), search.objective(values)
    return Found(point, objective, measures, feasible, search.count, seconds, search.history, message, ends, interrupted)


def locally(search: Search, start: np.ndarray) -> Any:
    """One search with gradients."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    def at(s: np.ndarray) -> np.ndarray:
        return search.measures(np.clip(s, 0.0, 1.0)[None])[0]

    task = search.task
    scale = max(abs(search.objective(at(start))), 1e-12)
    options: dict[str, Any] = {"maxiter": task.iterations} | ({"ftol": 1e-12} if task.method == "slsqp" else {"xtol": 1e-9, "gtol": 1e-9})
    limits = NonlinearConstraint(
        lambda s: search.limits(at(s)),
        0.0,
        np.inf,
        jac=lambda s: search.gradient(np.clip(s, 0, 1), search.limits),  # type: ignore[arg-type]
    )
    return minimize(
        lambda s: search.objective(at(s)) / scale, start, method="SLSQP" if task.method == "slsqp" else "trust-constr",
        jac=lambda s: search.gradient(np.clip(s, 0, 1), search.objective)[0] / scale, bounds=Bounds(0.0, 1.0),  # type: ignore[arg-type]
        constraints=[limits] if task.constraints else [], options=options,
    )  # fmt: skip


def globally(search: Search) -> Any:
    """Differential evolution, a generation at a time; broken constraints are paid for."""
    from scipy.optimize import differential_evolution

    def price(points: np.ndarray) -> np.ndarray:
        values = search.measures(np.clip(points.T, 0.0, 1.0))
        return np.array([search.objective(row) + BAD * min(search.broken(row), 1.0) for row in values])

    how: dict[str, Any] = {"maxiter": search.task.iterations, "rng": search.task.seed, "polish": False, "tol": 1e-6}
    return differential_evolution(price, [(0.0, 1.0)] * search.low.size, vectorized=True, updating="deferred", **how)
