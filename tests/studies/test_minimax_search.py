"""The minimax search step by step: how far it may go, which steps it takes, when it ends, and its linear program beside solutions by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.studies import minimax
from kinetree.scripts.studies.minimax import Local
from kinetree.scripts.studies.optimise_search import BAD


class Slope:
    """One variable, an objective of 16 - 4 s, and whatever a constraint is said to break."""

    def __init__(self, iterations: int, broken: Any = lambda s: 0.0):
        self.task = SimpleNamespace(
            iterations=iterations, texts=("end(y)", "peak(x)", "deviation(x)")
        )
        self.breaks, self.asked = broken, list[Any]()

    def measures(self, points: np.ndarray) -> np.ndarray:
        self.asked.append(points[:, 0].tolist())
        return np.column_stack((16.0 - 4.0 * points[:, 0], points[:, 0], 0.0 * points[:, 0]))

    def apart(self, point: np.ndarray) -> np.ndarray:
        return np.array([[16.0 - 4.0 * point[0], point[0] ** 2, 0.0]])

    def histories(self, point: np.ndarray) -> list[dict[str, np.ndarray]]:
        return [{"x": np.array([3.0, 1.0, 2.0]) + point[0]}]

    def objective(self, values: np.ndarray) -> float:
        return float(values[0])

    def broken(self, values: np.ndarray) -> float:
        return self.breaks(values[1])


def searched(
    monkeypatch: pytest.MonkeyPatch, search: Slope, start: float, steps: list[tuple[float, float]]
) -> tuple[Any, list[float], list[Any]]:
    """The result, the radius of every program, and what it was told to be off; steps and promises as they are given, the last one for ever."""
    radii, offs, left = list[float](), list[Any](), list(steps)

    def program(
        search: Any, here: Any, near: Any, shifts: Any, point: Any, radius: float, off: Any = 0.0
    ) -> tuple[np.ndarray, float]:
        radii.append(radius)
        offs.append(off)
        step, promised = left.pop(0) if len(left) > 1 else left[0]
        return np.array([step]), promised

    monkeypatch.setattr(minimax, "program", program)
    return minimax.minimax(search, np.array([start])), radii, offs  # type: ignore[arg-type]


def test_trust_radius_follows_gain_ratio(monkeypatch: pytest.MonkeyPatch):
    """Twice as far after seven tenths of it, never beyond 1; as far after a twentieth; else the step is not taken and 0.35 of it is tried."""
    steps = [
        (0.125, 0.625),
        (0.125, 1.0),
        (0.125, 8.0),
        (0.125, 16.0),
        (0.125, 10.0),
        (0.125, 0.6875),
        (0.0625, 0.3),
        (0.0625, 0.25),
    ]
    found, radii, _ = searched(monkeypatch, search := Slope(6), 0.0, steps)
    expected = [
        0.25,
        0.5,
        0.5,
        0.5,
        0.5 * 0.35,
        0.5 * 0.35**2,
        2 * 0.5 * 0.35**2,
        4 * 0.5 * 0.35**2,
    ]
    assert (
        radii == pytest.approx(expected, rel=1e-12)
        and found.x.tolist() == [0.625]
        and found.message == "6 iterations"
    )
    _, radii, _ = searched(monkeypatch, Slope(4), 0.0, [(0.125, 0.5)])
    assert radii == [0.25, 0.5, 1.0, 1.0]
    assert search.asked[0] == [0.0, 0.01], "all differences of a step run together"


def test_minimax_stops_at_small_radius(monkeypatch: pytest.MonkeyPatch):
    """At a radius below 1e-4, or where a part of 1e-8 at most is promised; the point is the last that was taken."""
    found, radii, _ = searched(monkeypatch, Slope(50), 0.0, [(0.125, 0.625), (-0.125, 1.0)])
    assert (
        len(radii) == 1 + 9
        and found.x.tolist() == [0.125]
        and found.message == "no step of any size makes it smaller"
    )
    for promised, tries in ((1e-8 * 16.0, 1), (1.1e-8 * 16.0, 8), (0.0, 1), (-1.0, 1)):
        found, radii, _ = searched(monkeypatch, Slope(50), 0.0, [(-0.125, promised)])
        assert len(radii) == tries and found.x.tolist() == [0.0], promised


def test_minimax_stops_at_small_gain(monkeypatch: pytest.MonkeyPatch):
    """Less than a part of 1e-4 of the objective, which the step still takes."""
    for step, ends in ((1.01e-4 * 4.0, False), (0.99e-4 * 4.0, True)):
        found, radii, _ = searched(monkeypatch, Slope(3), 0.0, [(step, 4.0 * step)])
        assert len(radii) == (1 if ends else 3) and found.x[0] == pytest.approx(len(radii) * step)
        assert found.message == ("further steps give no improvement" if ends else "3 iterations")


def test_minimax_steps_and_differences_stay_within_bounds(monkeypatch: pytest.MonkeyPatch):
    """Near the upper bound they go down; at the last place from which they may go up they still do."""
    for start, step, there in ((0.9, 0.5, 1.0), (0.125, -0.5, 0.0)):
        found, *_ = searched(
            monkeypatch,
            search := Slope(1),
            start,
            [(step, 0.2)] if step > 0 else [(step, 0.2), (0.125, 0.5)],
        )
        assert found.x.tolist() == [there if step > 0 else 0.25] and [there] in search.asked
    for start, other in ((0.995, 0.985), (0.985, 0.995), (0.0, 0.01)):
        searched(monkeypatch, search := Slope(1), start, [(0.0, 0.0)])
        assert search.asked[0] == pytest.approx([start, other])


def test_violated_constraint_gets_second_order_correction(
    monkeypatch: pytest.MonkeyPatch,
):
    """The square of the step, and that of the shift along it; within a millionth nothing is broken."""
    broken = lambda s: max(0.0, s - 0.5)  # noqa: E731
    found, _, offs = searched(monkeypatch, Slope(1, broken), 0.25, [(0.5, 2.0), (0.25, 9.0)])
    slope = 2 * 0.25 + 0.01
    assert offs[0] == 0.0 and offs[1] == pytest.approx(
        np.array([[0.0, 0.75**2 - 0.25**2 - slope * 0.5, 0.0]]), abs=1e-12
    )
    assert found.x.tolist() == [0.5] and len(offs) == 2
    for much, tries in ((1e-6, 1), (1.1e-6, 2)):
        _, _, offs = searched(monkeypatch, Slope(1, lambda s, much=much: much), 0.25, [(0.25, 1.0)])
        assert len(offs) == tries
    found, radii, _ = searched(
        monkeypatch, Slope(1, broken), 0.25, [(0.5, 2.0)] * 2 + [(0.125, 0.5)]
    )
    assert len(radii) == 3 and found.x.tolist() == [0.375], (
        "still broken: it costs more than it gains"
    )


@pytest.mark.parametrize("fails", ["history", "measure", "neither"])
def test_minimax_stops_without_slopes(monkeypatch: pytest.MonkeyPatch, fails: str):
    """A run beside the point that failed has no history, or measures that are bad: no program is made of them."""
    search, plain = Slope(3), Slope(3)
    if fails == "history":
        search.histories = lambda point: [{"x": np.full(3, math.nan if point[0] == 0.01 else 1.0)}]  # type: ignore[method-assign]
    elif fails == "measure":
        search.apart = lambda point: (
            np.full((1, 3), BAD) if point[0] == 0.01 else plain.apart(point)
        )  # type: ignore[method-assign]
    found, radii, _ = searched(monkeypatch, search, 0.0, [(0.0, 0.0)])
    assert (
        len(radii) == (fails == "neither")
        and ("near this point fail" in found.message) == (fails != "neither")
        and found.x.tolist() == [0.0]
    )


def test_histories_use_absolute_or_relative_values():
    found = minimax.local(Slope(1), np.array([0.5]))  # type: ignore[arg-type]
    assert [[each.tolist() for each in rows] for rows in found.rows] == [
        [[3.5, 1.5, 2.5], [0.0, -2.0, -1.0]]
    ]
    assert found.values.tolist() == [[14.0, 0.25, 0.0]]


class Known:
    """Two scenarios of one peak and one last value, linear in one variable; the objective and what is broken are said."""

    def __init__(
        self,
        over: str,
        weights: dict[str, float],
        constraints: dict[str, tuple[float, float]],
        objective: float,
        broken: float = 0.0,
    ):
        self.task = SimpleNamespace(
            texts=(*weights, *constraints), measures=weights, constraints=constraints, over=over
        )
        self.values = objective, broken

    def measures(self, points: np.ndarray) -> np.ndarray:
        return points

    def objective(self, values: np.ndarray) -> float:
        return self.values[0]

    def broken(self, values: np.ndarray) -> float:
        return self.values[1]


def stepped(
    known: Known,
    rows: list[list[float]],
    slopes: list[list[float]],
    values: list[list[float]],
    ways: list[list[float]],
    **more: Any,
) -> Any:
    """The program at 0.5: histories and their slopes, measures and theirs, by scenario."""
    at = lambda d: Local(  # noqa: E731
        [[np.array(r) + d * np.array(s)] for r, s in zip(rows, slopes, strict=True)],
        np.array(values) + d * np.array(ways),
    )
    options = {"radius": 0.25, "off": 0.0} | more
    step, promised = minimax.program(
        known,
        at(0.0),
        [at(0.5)],
        np.array([0.5]),
        np.array([0.5]),
        options["radius"],
        options["off"],
    )  # type: ignore[arg-type]
    return float(step[0]), promised


def test_minimax_finds_crossing_of_scenarios():
    """3 - 8 d against 1 + 8 d: both are 2 at d = 1/8; their mean gains nothing from any step, a heavier one does. Signs of rows do not matter."""
    rows, slopes, values, ways = (
        [[3.0, 0.5], [-1.0, 0.0]],
        [[-8.0, 0.0], [-8.0, 0.0]],
        [[3.0], [1.0]],
        [[0.0], [0.0]],
    )
    for weight in (1.0, 4.0):
        known = Known("worst", {"peak(x)": weight}, {}, 3.0 * weight)
        assert stepped(known, rows, slopes, values, ways) == pytest.approx(
            (0.125, weight), abs=1e-9
        )
    known = Known("mean", {"peak(x)": 1.0}, {}, 2.0)
    assert stepped(known, rows, slopes, values, ways)[1] == pytest.approx(0.0, abs=1e-9)
    slopes = [[-16.0, 0.0], [-8.0, 0.0]]
    assert stepped(known, rows, slopes, values, ways) == pytest.approx(
        (2.5 / 16.0, 0.5 * (2.5 - 2.5 * 0.5)), abs=1e-9
    ), "until the other row rules"


def test_zero_objective_can_decrease():
    """A peak of 2 less a last value of 2: what is made small is 0 there, and its slope is that of both."""
    known = Known("worst", {"peak(x)": 1.0, "end(y)": -1.0}, {}, 0.0)
    rows, slopes = [[2.0], [2.0]], [[-1.0], [-1.0]]
    assert stepped(known, rows, slopes, [[2.0, 2.0]] * 2, [[-1.0, 3.0]] * 2) == pytest.approx(
        (0.25, 1.0), abs=1e-9
    )
    known.values = -3.0, 0.0
    found = stepped(known, rows, slopes, [[2.0, 5.0]] * 2, [[-1.0, 3.0]] * 2)
    assert found == pytest.approx((0.25, 1.0), abs=1e-9), (
        "less than nothing, too: no more is promised than there is to gain"
    )
    still = Known("worst", {"peak(x)": 1.0, "end(y)": 1.0}, {}, 5.0)
    found = stepped(still, [[0.0], [0.0]], [[0.0], [0.0]], [[0.0, 5.0]] * 2, [[0.0, 2.0]] * 2)
    assert found == pytest.approx((-0.25, 0.5), abs=1e-9), "a column that does not move"


@pytest.mark.parametrize("bound", [2.0, -2.0, 0.0])
def test_minimax_first_restores_feasibility(bound: float):
    """It costs fifty times the objective for every part of its bound, of one at 0 for every 1e-9: all the radius goes into it."""
    unit = max(abs(bound), 1e-9)
    known = Known("worst", {"end(y)": 1.0}, {"end(z)": (-math.inf, bound)}, 4.0, broken=0.5)
    known.task.texts = ("end(y)", "end(z)", "peak(x)")
    step, promised = stepped(
        known, [[0.0]], [[0.0]], [[4.0, bound + 0.5 * unit, 0.0]], [[1.0, -unit, 0.0]]
    )
    assert (step, promised) == pytest.approx((0.25, 4.0 * (50.0 * 0.25) - 0.25), rel=1e-7)
    known.values = 4.0, 0.0
    step, promised = stepped(
        known, [[0.0]], [[0.0]], [[4.0, bound - 0.125 * unit, 0.0]], [[-1.0, unit, 0.0]]
    )
    assert (step, promised) == pytest.approx((0.125, 0.125), rel=1e-6), (
        "as far as the constraint lets it"
    )


def test_infeasible_program_makes_no_step(monkeypatch: pytest.MonkeyPatch):
    known = Known("worst", {"peak(x)": 1.0}, {}, 3.0)
    monkeypatch.setattr(
        minimax, "linprog", lambda *given, **options: SimpleNamespace(x=None, fun=None)
    )
    assert stepped(known, [[3.0]], [[1.0]], [[3.0]], [[0.0]]) == (0.0, 0.0)


def test_constraint_violation_penalty():
    search: Any = SimpleNamespace(objective=lambda values: -3.0, broken=lambda values: 0.25)
    assert minimax.price(search, np.zeros(1)) == -3.0 + 50.0 * 3.0 * 0.25
