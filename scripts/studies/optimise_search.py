"""Evaluations of an optimisation: all scenarios of a point and their derivatives, cached in a file
if wanted.

Variables are scaled to 0..1 by their bounds. Derivatives are central differences, whose runs are
simulated together (System.simulate_many: in SIMD lanes where the mechanism allows). The alternative
is the exact adjoint of a run (Result.gradient), which costs a few runs whatever the number of
variables; it is used on request, or where it is cheaper and available. The state file has a line
per evaluation: a restarted search reads known evaluations from it and continues.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.result.atomic_file import write_text
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.measures.run_measures import AtRest, columns_of, measured, parsed
from kinetree.scripts.measures.run_parts import RunParts, speak_of_parts
from kinetree.scripts.studies.optimise_file import Task, orders_of
from kinetree.scripts.studies.portable_description import mark, marks
from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    from kinetree.models.run.system_cache import SystemCache
    from kinetree.models.system.mechanism import Mechanism
    from kinetree.models.system.system import System

REMEMBERED = 64  # orders whose mechanisms stay compiled
STEP = 1e-4  # of the scaled variables
BAD = 1e12  # measure of a run that failed
STAGES = "number of the stage"  # of every row, among the histories of a point
KEPT = 1e-6  # by which a constraint may be exceeded, part of its bound


class Search:
    """Counted and cached evaluations of a task."""

    failed = 0  # points without measures
    failure = ""  # why the first of them has none

    def __init__(self, task: Task, told: Callable[[float, float], None], state: Path | None = None):
        from kinetree.models import load
        from kinetree.models.language.errors import suggestion

        self.task, self.told = task, told
        begin = {
            name: [int(task.variables[place].start) for place in places]
            for name, places in orders_of(task).items()
        }
        try:
            mechanism = load(task.source, **{**task.settings, **begin})
        except ValueError as error:
            raise BadInput(f"optimize.variables: {error}") if begin else error from None
        self.of_place = {
            place: name for name, places in orders_of(task).items() for place in places
        }
        given = [
            ("optimize.variables", name) for name in task.variables if name not in self.of_place
        ]
        for key, name in [
            *given,
            *(("scenarios", name) for each in task.scenarios for name in each),
        ]:
            if name not in mechanism.description.parameters:
                raise BadInput(
                    f"{key}: no parameter '{name}'; {suggestion(name, tuple(mechanism.description.parameters))}"
                )
        self.mechanism = mechanism
        c = mechanism.compile().compiled
        if speak_of_parts(task.texts):
            self.task = task = by_part(task, self.parts)
        columns = (*(column.name for column in c.outputs), *c.coordinates, *c.speeds, *c.states)
        for name in columns_of(task.texts):
            if name not in columns:
                raise BadInput(f"no column '{name}'; {suggestion(name, columns)}")
        self.systems = [mechanism.compile(**each) for each in task.scenarios]
        self.ordered = {
            tuple(tuple(each) for each in begin.values()): (self.trials(mechanism), self.systems)
        }
        self.backwards = task.gradient == "adjoint" or (
            task.gradient == "auto" and len(task.variables) > worth(self.systems[0])
        )
        self.low = np.array([each.low for each in task.variables.values()])
        self.width = np.array([each.high for each in task.variables.values()]) - self.low
        self.known: dict[bytes, np.ndarray] = {}
        self.kept: dict[bytes, list[tuple[dict[str, np.ndarray], np.ndarray]]] | None = (
            {} if task.method == "minimax" else None
        )
        self.count, self.history, self.best = 0, [], (math.inf, math.inf, np.zeros(0))
        self.began = time.perf_counter()
        self.state, self.stored = state, stored(state, task)

    @cached_property
    def parts(self) -> RunParts:
        """Return the stages and phases of the mechanism."""
        return RunParts.of(self.mechanism.compile())

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def snapped(self, points: np.ndarray) -> np.ndarray:
        """Return points with integers rounded and permutations made valid by ranks."""
        names, out = list(self.task.variables), np.array(points, dtype=float)
        whole = [k for k, each in enumerate(self.task.variables.values()) if each.whole]
        out[:, whole] = (
            np.round(self.low[whole] + out[:, whole] * self.width[whole]) - self.low[whole]
        ) / self.width[whole]
        for places in orders_of(self.task).values():
            at = [names.index(place) for place in places]
            out[:, at] = np.argsort(np.argsort(points[:, at], axis=1, kind="stable"), axis=1) / (
                len(at) - 1.0
            )
        return out

    def trials(self, mechanism: Mechanism) -> list[SystemCache]:
        """Return one cache of compiled systems per scenario, for measures of equilibria."""
        from kinetree.models.run.system_cache import SystemCache

        free = {
            name: each for name, each in self.task.variables.items() if name not in self.of_place
        }
        ends = [
            {name: getattr(each, side) for name, each in free.items()} for side in ("low", "high")
        ]
        return [SystemCache(mechanism, each, ends) for each in self.task.scenarios]

    def of_order(self, key: tuple[tuple[int, ...], ...]) -> tuple[list[SystemCache], list[System]]:
        """Return the caches and compiled systems of all scenarios for a permutation."""
        if key not in self.ordered:
            from kinetree.models import load

            orders = {name: list(order) for name, order in zip(self.task.orders, key, strict=True)}
            mechanism = load(self.task.source, **{**self.task.settings, **orders})
            if len(self.ordered) >= REMEMBERED:
                del self.ordered[next(iter(self.ordered))]
            self.ordered[key] = (
                self.trials(mechanism),
                [mechanism.compile(**each) for each in self.task.scenarios],
            )
        return self.ordered[key]

    def values(self, s: np.ndarray) -> dict[str, float]:
        return dict(zip(self.task.variables, map(float, self.low + s * self.width), strict=True))

    def measures(self, points: np.ndarray) -> np.ndarray:
        """Return all measures (points, measures), combined over the scenarios."""
        if any(each.whole for each in self.task.variables.values()):
            points = self.snapped(points)
        for p in points:
            if p.tobytes() in self.stored and p.tobytes() not in self.known:
                self.known[p.tobytes()] = self.stored[p.tobytes()]
                self.note(p)
        new = list({p.tobytes(): p for p in points if p.tobytes() not in self.known}.values())
        if new:
            found = self.run(new)
            for row, p in enumerate(new):
                self.known[p.tobytes()] = self.together(found[:, row])[0]
                self.note(p)
                self.keep(p)
        return np.array([self.known[p.tobytes()] for p in points])

    def run(self, points: list[np.ndarray]) -> np.ndarray:
        """Run all scenarios at some points; return their measures (scenarios, points, measures)."""
        where: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for k, point in enumerate(points):
            values = self.values(point)
            key = tuple(
                tuple(round(values[place]) for place in places)
                for places in orders_of(self.task).values()
            )
            where.setdefault(key, []).append(k)
        found = np.empty((len(self.task.scenarios), len(points), len(self.task.texts)))
        for key, rows in where.items():
            for which, each in enumerate(zip(*self.of_order(key), strict=True)):
                found[which, rows] = self.scenario(*each, which, np.array(points)[rows])
        return found

    def histories(self, p: np.ndarray) -> list[dict[str, np.ndarray]]:
        """Return the recorded columns of the runs at a point, one dictionary per scenario."""
        assert self.kept is not None
        if p.tobytes() not in self.kept:
            self.run([p])
        return [columns for columns, _ in self.kept[p.tobytes()]]

    def apart(self, p: np.ndarray) -> np.ndarray:
        """Return the measures at a point, one row per scenario."""
        self.histories(p)
        assert self.kept is not None
        return np.array([values for _, values in self.kept[p.tobytes()]])

    def keep(self, p: np.ndarray) -> None:
        """Append the evaluation at a point to the state file."""
        if self.state is not None:
            with self.state.open("a", encoding="utf-8") as stream:
                stream.write(
                    json.dumps({"at": p.tolist(), "measures": self.known[p.tobytes()].tolist()})
                    + "\n"
                )

    def together(
        self, found: np.ndarray, slopes: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Combine the measures of scenarios, and their derivatives if given: objectives by `over`,
        constraints by the scenario nearest to its bound.
        """
        count = len(self.task.measures)
        objective = found[:, :count] @ np.array(list(self.task.measures.values()))
        worst = int(objective.argmax())
        out = (found[worst] if self.task.over == "worst" else found.mean(axis=0)).copy()
        ways = (
            None
            if slopes is None
            else (slopes[worst] if self.task.over == "worst" else slopes.mean(axis=0)).copy()
        )
        for k, (low, high) in enumerate(self.task.constraints.values(), count):
            column = found[:, k]
            near = int(
                column.argmin() if column.min() - low < high - column.max() else column.argmax()
            )
            out[k] = column[near]
            if ways is not None and slopes is not None:
                ways[k] = slopes[near, k]
        return out, ways

    def scenario(
        self, trials: SystemCache, system: System, which: int, points: np.ndarray
    ) -> np.ndarray:
        """Run one scenario at some points; return its measures (points, measures)."""
        rows = self.low + points * self.width
        texts = self.task.texts
        columns, spoken = columns_of(texts), speak_of_parts(texts)
        given = {
            name: rows[:, k]
            for k, name in enumerate(self.task.variables)
            if name not in self.of_place
        }
        options = dict(self.task.run)
        inputs = options.pop("inputs", None)
        runs = (
            system.simulate_many(given, inputs=inputs, outputs=columns, **options)
            if columns
            else None
        )  # one for all where nothing is given
        found = np.full((len(points), len(self.task.texts)), BAD)
        time_of = runs.time if runs else np.zeros(0)
        for k in range(len(points)):
            which_run = min(k, len(runs) - 1) if runs else 0
            held = {name: runs[name][which_run] for name in columns} if runs else {}
            stages = runs.stages[which_run] if runs and spoken else None
            inside = None if stages is None else self.parts.inside(stages)
            numbers = {name: float(column[k]) for name, column in given.items()}
            at_rest = cache(lambda numbers=numbers: AtRest(trials.at(numbers), inputs))
            reason = runs.failures.get(which_run, "") if runs else ""
            try:
                values = [measured(text, time_of, held, at_rest, inside) for text in texts]
            except ArithmeticError as error:
                values, reason = [math.nan], reason or str(error)
            if np.isfinite(values).all():
                found[k] = values
            else:
                self.failure = self.failure or reason or not_finite(texts, values)
            if self.kept is not None:
                past = self.kept.setdefault(points[k].tobytes(), [])
                del past[which:]
                kept = held if stages is None else held | {STAGES: stages}
                past.append(({name: column.copy() for name, column in kept.items()}, found[k]))
        return found

    def note(self, p: np.ndarray) -> None:
        """Record an evaluation, and store the best feasible point or else the least infeasible one."""
        values = self.known[p.tobytes()]
        worth = (self.broken(values), self.objective(values))
        worth = (0.0 if worth[0] <= KEPT else worth[0], worth[1])
        self.count += 1
        self.failed += self.without_measures(values)
        if worth < self.best[:2]:
            self.best = (*worth, p.copy())
        self.history.append(self.best[1])
        self.told(float(self.count), self.best[1])

    def without_measures(self, values: np.ndarray) -> bool:
        """Return whether a run failed in one of the scenarios, whose measures may be averaged."""
        return bool(values.max() >= BAD / len(self.task.scenarios))

    def objective(self, values: np.ndarray) -> float:
        return float(
            values[: len(self.task.measures)] @ np.array(list(self.task.measures.values()))
        )

    def limits(self, values: np.ndarray) -> np.ndarray:
        """Return the distances of constraints to their bounds, relative to the size of the bounds;
        negative where violated.
        """
        count, found = len(self.task.measures), []
        for value, (low, high) in zip(
            values[count:], self.task.constraints.values(), strict=False
        ):  # watched ones follow
            found += [(value - low) / max(abs(low), 1e-9)] if low > -math.inf else []
            found += [(high - value) / max(abs(high), 1e-9)] if high < math.inf else []
        return np.array(found)

    def broken(self, values: np.ndarray) -> float:
        return float(np.maximum(-self.limits(values), 0.0).max(initial=0.0))

    def around(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of the difference quotients about s, central except where a bound is
        nearer than the step, and the distances between them.
        """
        ahead, behind = np.minimum(STEP, 1.0 - s), np.minimum(STEP, s)
        axes = np.eye(s.size)
        points = [
            s,
            *(s + h * axis for h, axis in zip(ahead, axes, strict=True)),
            *(s - h * axis for h, axis in zip(behind, axes, strict=True)),
        ]
        return np.array(points), ahead + behind

    def jacobian(self, s: np.ndarray) -> np.ndarray:
        """Return the derivatives of all measures by the scaled variables, (measures, variables)."""
        if self.backwards:
            try:
                return self.adjoint(s)
            except ValueError:
                if self.task.gradient == "adjoint":
                    raise
                self.backwards = False
        points, distances = self.around(s)
        values = self.measures(points)
        n = s.size
        return ((values[1 : 1 + n] - values[1 + n :]) / distances[:, None]).T

    def adjoint(self, s: np.ndarray) -> np.ndarray:
        """Return measures and gradients from one adjoint run per scenario."""
        self.measures(s[None])  # the point counts as an evaluation
        options, names = dict(self.task.run), list(self.task.variables)
        inputs = options.pop("inputs", None)
        found, slopes = [], []
        for which in self.task.scenarios:
            system = self.mechanism.compile(**{**which, **self.values(s)})
            result = raise_if_interrupted(system.simulate(inputs=inputs, **options))
            columns = [parsed(text)[1] for text in self.task.texts]
            found.append([float(result[column][-1]) for column in columns])
            slopes.append(result.gradient(columns, names) * self.width)
        ways = self.together(np.array(found), np.array(slopes))[1]
        assert ways is not None
        return ways

    def slope(self, s: np.ndarray) -> np.ndarray:
        """Return the gradient of the objective by the scaled variables."""
        return (
            np.array(list(self.task.measures.values()))
            @ self.jacobian(s)[: len(self.task.measures)]
        )

    def limit_slopes(self, s: np.ndarray) -> np.ndarray:
        """Return the gradients of the distances of constraints to their bounds."""
        rows, found = self.jacobian(s)[len(self.task.measures) :], []
        for row, (low, high) in zip(rows, self.task.constraints.values(), strict=False):
            found += [row / max(abs(low), 1e-9)] if low > -math.inf else []
            found += [-row / max(abs(high), 1e-9)] if high < math.inf else []
        return np.array(found).reshape(-1, s.size)


def not_finite(texts: Sequence[str], values: Sequence[float]) -> str:
    """Return which measure is not a finite number."""
    named = (text for text, value in zip(texts, values, strict=False) if not math.isfinite(value))
    return f"{next(named)} is not a finite number"


def by_part(task: Task, parts: RunParts) -> Task:
    """Return a task in which `each` is replaced by one measure per phase or stage; the order is
    kept, and unknown names raise an error.
    """
    return replace(
        task,
        measures=parts.spread(task.measures),
        constraints=parts.spread(task.constraints),
        watched=tuple(parts.expanded(task.watched)),
    )


def worth(system: System) -> int:
    """Return the number of variables from which an adjoint run is cheaper than differences."""
    c = system.compiled
    happens = c.counts["ng"] > c.counts["nj"]
    return 2 if c.loops or happens or c.contacts or len(system.stages) > 1 else 20


def stored(path: Path | None, task: Task) -> dict[bytes, np.ndarray]:
    """Return the evaluations in a state file; a file of another task raises an error, an incomplete
    last line is ignored.
    """
    if path is None:
        return {}
    head = json.dumps({"kinetree optimize": mark([task.mark, marks(task.source)])})
    if not path.exists() or not path.read_text(encoding="utf-8"):
        path.write_text(head + "\n", encoding="utf-8")
        return {}
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    if first != head:
        raise BadInput(
            f"--state {path}: it belongs to another task, or the file of the task or its mechanism has changed since"
        )
    found = {}
    for line in lines:
        try:
            row = json.loads(line)
            found[np.array(row["at"]).tobytes()] = np.array(row["measures"])
        except (ValueError, KeyError, TypeError):
            continue
    whole = (
        json.dumps({"at": np.frombuffer(at).tolist(), "measures": row.tolist()})
        for at, row in found.items()
    )
    write_text(path, "\n".join([first, *whole]) + "\n")
    return found
