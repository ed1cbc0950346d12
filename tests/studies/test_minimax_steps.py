"""Steps of the minimax search: the linear program's step is the best of all within its radius, and what it promises is what the slopes say."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.studies import minimax
from kinetree.scripts.studies.minimax import Local

TEXTS = ("peak(x)", "end(y)", "deviation(z)")


class Linear:
    """Histories and measures that are linear in two variables, in two scenarios: what the program assumes is so."""

    def __init__(
        self, over: str, weights: tuple[float, float], limits: tuple[float, float], seed: int
    ):
        draw = np.random.default_rng(seed)
        self.at, self.along = (
            draw.normal(size=(2, 2, 30)),
            draw.normal(size=(2, 2, 30, 2)),
        )  # scenario, peak measure, row (, variable)
        self.end, self.slope = draw.normal(size=2), draw.normal(size=(2, 2))
        measures = dict(zip(TEXTS[:2], weights, strict=True))
        self.task: Any = SimpleNamespace(
            texts=TEXTS, measures=measures, constraints={TEXTS[2]: limits}, over=over
        )
        self.weights = np.array(weights)

    def rows(self, point: np.ndarray) -> np.ndarray:
        rows = self.at + self.along @ point
        return np.stack([rows[:, 0], rows[:, 1] - rows[:, 1, :1]], axis=1)

    def apart(self, point: np.ndarray) -> np.ndarray:
        largest = np.abs(self.rows(point)).max(axis=2)
        return np.column_stack((largest[:, 0], self.end + self.slope @ point, largest[:, 1]))

    def measures(self, points: np.ndarray) -> list[np.ndarray]:
        return [self.apart(point) for point in points]

    def objective(self, values: np.ndarray) -> float:
        each = values[:, :2] @ self.weights
        return float(each.max() if self.task.over == "worst" else each.mean())

    def broken(self, values: np.ndarray) -> float:
        return 0.0

    def local(self, point: np.ndarray) -> Local:
        return Local([list(each) for each in self.rows(point)], self.apart(point))


@pytest.mark.parametrize("over", ["worst", "mean"])
@pytest.mark.parametrize("seed", range(3))
def test_linear_program_step_is_optimal_within_radius(over: str, seed: int):
    """Without limits that matter: no point of a fine grid around is better than the promise, and the step keeps it."""
    search, point, radius = (
        Linear(over, (2.0, 0.5), (-math.inf, math.inf), seed),
        np.array([0.5, 0.875]),
        0.25,
    )
    shifts = np.array([0.01, -0.01])
    near = [
        search.local(point + shift * axis) for shift, axis in zip(shifts, np.eye(2), strict=True)
    ]
    step, promised = minimax.program(search, search.local(point), near, shifts, point, radius)  # type: ignore[arg-type]
    before = search.objective(search.apart(point))
    assert (np.abs(step) <= radius * (1 + 1e-9)).all() and (point + step <= 1.0 + 1e-9).all()
    assert before - search.objective(search.apart(point + step)) == pytest.approx(
        promised, abs=1e-7 * abs(before)
    )  # of the program's solver
    grid = np.stack(
        np.meshgrid(np.linspace(-0.25, 0.25, 41), np.linspace(-0.25, 0.125, 31)), axis=-1
    ).reshape(-1, 2)
    best = min(search.objective(search.apart(point + each)) for each in grid)
    assert before - promised <= best + 1e-7 * abs(before)


def test_measures_are_predicted_by_their_derivatives():
    search, point, step = (
        Linear("worst", (1.0, 1.0), (-math.inf, math.inf), 4),
        np.array([0.5, 0.5]),
        np.array([0.125, -0.25]),
    )
    shifts = np.array([0.01, -0.02])
    near = [
        search.local(point + shift * axis) for shift, axis in zip(shifts, np.eye(2), strict=True)
    ]
    found = minimax.foreseen(search.local(point), near, shifts, step)
    assert found[:, 1] == pytest.approx(
        search.end + search.slope @ (point + step), rel=1e-10
    )  # eps over the shift


@pytest.mark.parametrize("off", [0.0, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_constraint_shift_corrects_linearisation_error(off: float, side: float):
    """The last value is to grow without limit; its limit holds it, one tenth earlier where it came out a tenth beyond."""
    search, point = Linear("worst", (1e-9, -side), (-math.inf, math.inf), 5), np.array([0.5, 0.5])
    search.slope[:], search.end[:] = [1.0, 0.0], 0.0
    search.task.texts = ("peak(x)", "end(y)", "end(w)")
    limit = 0.5 + 0.15 * side
    search.task.constraints = {"end(w)": (-math.inf, limit) if side > 0 else (limit, math.inf)}
    values = search.apart

    def apart(point: np.ndarray) -> np.ndarray:
        found = values(point)
        found[:, 2] = found[:, 1]
        return found

    search.apart = apart  # type: ignore[method-assign]
    local = lambda at: Local([[each[0]] for each in search.rows(at)], apart(at))  # noqa: E731
    shifts = np.array([0.01, 0.01])
    near = [local(point + shift * axis) for shift, axis in zip(shifts, np.eye(2), strict=True)]
    step, _ = minimax.program(
        search, local(point), near, shifts, point, 0.25, off * side * np.array([[0.0, 0.0, 1.0]])
    )  # type: ignore[arg-type]
    assert 0.5 + step[0] == pytest.approx(limit - off * side, abs=1e-7)


def test_constraint_violation_penalty_in_steps():
    search: Any = SimpleNamespace(objective=lambda values: -3.0, broken=lambda values: 0.5)
    assert minimax.price(search, np.zeros(1)) == -3.0 + 50.0 * 3.0 * 0.5
