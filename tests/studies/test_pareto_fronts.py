"""Searches by hand from their starts on: what a front is made of, how constraints are paid for, where starts end, what an interrupt keeps."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_optimizer_search import measured_by, search, task

from kinetree.scripts.studies import optimise as searching
from kinetree.scripts.studies.optimise import Found, front, locally, part_of, state_of
from kinetree.scripts.studies.optimise_file import Task, Variable
from kinetree.scripts.studies.optimise_search import Search
from kinetree.scripts.terminal.error_messages import BadInput


def found_of(wanted: Task, values: float, measures: dict[str, float], **more: Any) -> Found:
    return Found(
        {"a": values},
        0.0,
        measures,
        **{
            "feasible": True,
            "evaluations": 10,
            "seconds": 0.5,
            "history": [],
            "message": "",
            "starts": [],
            **more,
        },
    )


def test_pareto_front_uses_bounded_searches(
    monkeypatch: pytest.MonkeyPatch,
):
    """The ends, then even steps between them, each from where the last good one ended; a bound of the task from below stays."""
    measures = {"end(x)": 3.0, "end(y)": 5.0}
    wanted = task(
        measures=measures,
        pareto=5,
        multistart=4,
        constraints={"end(y)": (1.0, 99.0)},
        variables={"a": Variable(0.0, 1.0, 0.5)},
    )
    answers = iter([
        (0.1, {"end(x)": 0.0, "end(y)": 8.0}, {}), (0.2, {"end(x)": 8.0, "end(y)": 4.0}, {}),
        (0.3, {"end(x)": 1.0, "end(y)": 7.0}, {}), (0.4, {"end(x)": 2.0, "end(y)": 6.0}, {"feasible": False}),
        (0.5, {"end(x)": 1.0, "end(y)": 7.5}, {}),
    ])  # fmt: skip
    asked: list[tuple[Task, Path | None]] = []

    def search(part: Task, told: Any, state: Path | None) -> Found:
        asked.append((part, state))
        values, measures, more = next(answers)
        return found_of(part, values, measures, **more)

    monkeypatch.setattr(searching, "optimise", search)
    found = front(wanted, lambda done, best: None, Path("s.jsonl"))
    assert [(part.measures, part.watched, part.pareto) for part, _ in asked[:2]] == [
        ({"end(x)": 1.0}, ("end(y)",), 0),
        ({"end(y)": 1.0}, ("end(x)",), 0),
    ]
    assert [part.constraints for part, _ in asked] == [{"end(y)": (1.0, 99.0)}] * 2 + [
        {"end(y)": (1.0, high)} for high in (7.0, 6.0, 5.0)
    ]
    assert [part.multistart for part, _ in asked] == [4, 4, 0, 0, 0] and [
        part.watched for part, _ in asked[2:]
    ] == [()] * 3
    assert [part.variables["a"].start for part, _ in asked] == [0.5, 0.5, 0.1, 0.3, 0.3] and [
        str(state) for _, state in asked
    ] == [f"s-{k}.jsonl" for k in range(5)]
    assert [each["values"]["a"] for each in found.front] == [0.2, 0.3, 0.1], (
        "what broke its bound and what another is better than are no points"
    )
    assert (found.evaluations, found.seconds, found.interrupted, found.values) == (
        50,
        2.5,
        False,
        {"a": 0.1},
    )
    free = iter(
        [
            (0.1, {"end(x)": 0.0, "end(y)": 8.0}, {}),
            (0.2, {"end(x)": 8.0, "end(y)": 4.0}, {}),
            (0.3, {"end(x)": 1.0, "end(y)": 7.0}, {"interrupted": True}),
        ]
    )
    answers, wanted.constraints = free, {}
    asked.clear()
    found = front(wanted, lambda done, best: None, None)
    assert (
        asked[2] == (asked[2][0], None)
        and asked[2][0].constraints == {"end(y)": (-math.inf, 7.0)}
        and len(asked) == 3
        and found.interrupted
    )
    answers = iter(
        [
            (0.1, {"end(x)": 0.0, "end(y)": 8.0}, {}),
            (0.2, {"end(x)": 8.0, "end(y)": 4.0}, {"interrupted": True}),
        ]
    )
    assert len(front(wanted, lambda done, best: None, None).front) == 2


def test_single_objective_has_weight_one():
    part = part_of(task(pareto=7), "max(y)", {"end(x)": (0.0, 1.0)}, ("end(z)",))
    assert (part.pareto, part.measures, part.constraints, part.texts) == (
        0,
        {"max(y)": 1.0},
        {"end(x)": (0.0, 1.0)},
        ["max(y)", "end(x)", "end(z)"],
    )
    assert state_of(None, 1) is None and state_of(Path("/a/b.c.jsonl"), 2) == Path("/a/b.c-2.jsonl")


BAD = 1e12  # of a run that failed


class Bowl:
    """(s - 0.25)² a thousand-millionth high, perhaps kept at or above 0.5; every point that was asked for."""

    def __init__(self, method: str, constrained: bool):
        self.task = task(
            method=method,
            constraints={"end(z)": (1.0, math.inf)} if constrained else {},
            iterations=50,
        )
        self.asked: list[float] = []

    def measures(self, points: np.ndarray) -> np.ndarray:
        self.asked += [float(p[0]) for p in points]
        return points

    def objective(self, values: np.ndarray) -> float:
        return 1e-9 * float((values[0] - 0.25) ** 2)

    def slope(self, s: np.ndarray) -> np.ndarray:
        return np.array([2e-9 * (s[0] - 0.25)])

    def limits(self, values: np.ndarray) -> np.ndarray:
        return values[:1] - 0.5 if self.task.constraints else np.zeros(0)

    def limit_slopes(self, s: np.ndarray) -> np.ndarray:
        return np.ones((len(self.task.constraints), 1))


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")  # of a constraint that is linear
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("method", ["slsqp", "trust-constr", "ipopt"])
def test_gradient_search_scales_objectives(method: str, constrained: bool):
    """An objective of 1e-9 is found as exactly as one of 1; only points within the bounds are asked for, and constraints hold it up."""
    if method == "ipopt":
        pytest.importorskip("casadi")
    bowl = Bowl(method, constrained)
    found = locally(bowl, np.array([1.0]))  # type: ignore[arg-type]
    assert found.x[0] == pytest.approx(
        0.5 if constrained else 0.25, abs=1e-6 if method == "slsqp" else 1e-3
    )
    assert min(bowl.asked) >= 0.0 and max(bowl.asked) <= 1.0 and len(bowl.asked) > 2


@pytest.mark.parametrize("at", [1, 4])
def test_interrupt_passes_through_ipopt(at: int):
    """Whatever it calls then: no further run is begun."""
    pytest.importorskip("casadi")
    bowl, plain = Bowl("ipopt", True), Bowl.measures

    def measures(points: np.ndarray) -> np.ndarray:
        if len(bowl.asked) >= at + 2:
            raise KeyboardInterrupt
        return plain(bowl, points)

    bowl.measures = measures  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        locally(bowl, np.array([1.0]))  # type: ignore[arg-type]
    assert len(bowl.asked) == at + 2


def test_differential_evolution_penalises_violated_constraints(monkeypatch: pytest.MonkeyPatch):
    """By no more than that of a run that failed; a generation at a time, within the bounds, the start among the first."""
    import scipy.optimize

    made = search(
        task(
            measures={"end(x)": 1.0}, constraints={"end(z)": (-math.inf, 1.0)}, iterations=7, seed=3
        )
    )
    given: list[Any] = []
    monkeypatch.setattr(
        scipy.optimize,
        "differential_evolution",
        lambda price, limits, **how: given.append((price, limits, how)) or "found",
    )
    assert searching.globally(made, np.array([-0.5, 1.5])) == "found"
    price, limits, how = given[0]
    assert limits == [(0.0, 1.0)] * 2 and how["x0"].tolist() == [0.0, 1.0]
    assert (how["maxiter"], how["rng"], how["polish"], how["vectorized"], how["updating"]) == (
        7,
        3,
        False,
        True,
        "deferred",
    )
    seen: list[Any] = []

    def measures(points: np.ndarray) -> np.ndarray:
        seen.append(points.tolist())
        return np.array([[2.0, 1.0], [2.0, 1.25], [2.0, 4.0]])

    made.measures = measures  # type: ignore[method-assign]
    assert price(np.array([[-1.0, 0.5, 2.0], [0.0, 0.25, 1.0]])).tolist() == [
        2.0,
        2.0 + 0.25 * BAD,
        2.0 + BAD,
    ]
    assert seen == [[[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]]

    def refuse(points: np.ndarray) -> np.ndarray:
        raise ValueError("no such column")

    made.measures = refuse  # type: ignore[method-assign]
    with pytest.raises(BadInput, match="no such column"):
        price(np.zeros((2, 1)))


@pytest.mark.parametrize(("method", "starts"), [("slsqp", 4), ("differential-evolution", 1)])
def test_search_returns_best_start(monkeypatch: pytest.MonkeyPatch, method: str, starts: int):
    """Where every start ended, in the units of the variables, what the first point measured, and the best of all that was ever seen."""
    made = search(
        task(
            method=method,
            multistart=3,
            measures={"end(x)": 2.0},
            constraints={},
            variables={"a": Variable(1.0, 5.0, 2.0)},
        )
    )
    made.run = lambda points: np.array([[[(4.0 * p[0] - 2.0) ** 2] for p in points]])  # type: ignore[method-assign]
    made.began = 0.0
    monkeypatch.setattr(searching, "Search", lambda task, told, state: made)
    seen: list[float] = []

    def ends(search: Search, start: np.ndarray) -> Any:
        seen.append(float(start[0]))
        search.measures(np.array([start, [0.5]]))
        return SimpleNamespace(
            x=start + (2.0 if len(seen) == 1 else 0.0), message=f"end {len(seen)}"
        )

    monkeypatch.setattr(searching, "locally" if method == "slsqp" else "globally", ends)
    found = searching.optimise(made.task)
    assert seen[0] == 0.25 and len(seen) == len(found.starts) == starts and len(set(seen)) == starts
    assert found.starts[0] == ({"a": 5.0}, 8.0), "beyond the bound: at it"
    assert (found.values, found.objective, found.measures, found.begin) == (
        {"a": 3.0},
        0.0,
        {"end(x)": 0.0},
        {"end(x)": 1.0},
    )
    assert (
        found.feasible
        and not found.interrupted
        and found.message == f"end {starts}"
        and found.evaluations == len(made.known) == starts + 2
    )


def test_interrupt_keeps_best_result(
    monkeypatch: pytest.MonkeyPatch,
):
    made = search(
        task(
            measures={"end(x)": 1.0},
            constraints={"end(z)": (-math.inf, 1.0)},
            variables={"a": Variable(1.0, 5.0, 2.0)},
        )
    )
    measured_by(made, {0.5: [7.0, 1.5]})
    made.began = 0.0
    monkeypatch.setattr(searching, "Search", lambda task, told, state: made)

    def stops(search: Search, start: np.ndarray) -> Any:
        search.measures(np.array([[0.5]]))
        raise KeyboardInterrupt

    monkeypatch.setattr(searching, "locally", stops)
    found = searching.optimise(made.task)
    assert (
        found.interrupted
        and found.values == {"a": 3.0}
        and not found.feasible
        and found.starts == []
        and found.begin == {}
    )
    made = search(made.task)
    with pytest.raises(ArithmeticError, match="could be measured"):
        monkeypatch.setattr(
            searching, "locally", lambda search, start: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        searching.optimise(made.task)
