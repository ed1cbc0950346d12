"""Lanes as arrays of eight numbers in plain Python: steps, errors and ends of intervals of an ensemble, and where its runs part."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from plain_kernels import plain
from unit_stand_in import guard

from kinetree.models.run.ensemble import CLASSICAL, TABLES
from kinetree.solvers.layout import WIDTH, Status

M, T = plain("run.lane_steps"), plain("run.lanes_until_event")
RATES = np.arange(1.0, WIDTH + 1)
HEUN = (
    np.array([0.0, 1.0]),
    np.array([0.5, 0.5]),
    np.array([-0.5, 0.5]),
    np.array([[0.0, 0.0], [1.0, 0.0]]),
)  # error: Heun less Euler


class Lanes:
    """y' = -k y, k = 1..8 in the lanes, and t' = 1, by a table; `rates` are noted."""

    def __init__(
        self,
        monkeypatch,
        table=CLASSICAL,
        *,
        fixed: float = 0.0,
        tolerance: float = 1e-6,
        same_last: float = 0.0,
        order: float = 4.0,
        most: int = 99,
    ):
        self.asked, self.fails_after = [], math.inf
        monkeypatch.setattr(M, "select", np.where)
        for module in (M, T):
            monkeypatch.setattr(module, "lane_rates", self.rates)
        c, b, e, a = table
        self.stages = len(c)
        head = np.zeros(M.TABLE)
        head[[M.RELATIVE, M.ABSOLUTE, M.FIXED, M.ORDER, M.SAME_LAST, M.NEXT]] = (
            tolerance,
            tolerance / 10,
            fixed,
            order,
            same_last,
            fixed or 0.1,
        )
        self.method = np.concatenate([head, c, b, e, a.ravel()])
        self.plan = np.zeros(6, dtype=int)
        self.plan[M.STAGES], self.plan[M.MOST] = self.stages, most
        self.lanes = SimpleNamespace(q=np.zeros(1), u=np.zeros(1), x=np.zeros(0))
        self.memory = np.zeros((2 * (2 + self.stages), WIDTH))
        self.memory[0] = 1.0
        self.rates(self.memory[4:6], None, self.lanes, 0.0, self.memory[:2])

    def rates(self, out, model, lanes, t, y) -> int:
        self.asked.append(t)
        out[0], out[1] = -RATES * y[0], 1.0
        return 4 if t > self.fails_after else 0

    @property
    def how(self):
        return None, self.lanes, self.memory, self.plan, self.method


def growth(h: float) -> np.ndarray:
    """Of y' = -k y over a step of the classical method."""
    z = h * RATES
    return 1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24


def test_lane_step_of_a_tableau_matches_formula(monkeypatch):
    """The classical method on y' = -k y: 1 - z + z²/2 - z³/6 + z⁴/24; the state stays, the new one lies behind it."""
    lanes = Lanes(monkeypatch)
    lanes.asked.clear()
    assert M.attempt_step(*lanes.how, 2.0, 0.1) == 0
    assert lanes.memory[2] == pytest.approx(growth(0.1), rel=1e-14) and lanes.memory[
        3
    ] == pytest.approx(0.1)
    assert (lanes.memory[0] == 1.0).all() and lanes.asked == pytest.approx([2.05, 2.05, 2.1])
    lanes.fails_after = 2.04
    assert M.attempt_step(*lanes.how, 2.0, 0.1) == 4 and len(lanes.asked) == 4


def test_lane_error_is_that_of_the_worst_lane(monkeypatch):
    """Of Heun's method against Euler's: z²/2 in the first number, none in the second, over the tolerance of the larger end."""
    lanes = Lanes(monkeypatch, HEUN, tolerance=1e-3)
    lanes.memory[0], lanes.memory[1] = np.where(RATES == 3, -5.0, 1.0), 0.0
    lanes.rates(lanes.memory[4:6], None, None, 0.0, lanes.memory[:2])
    for h in (0.01, 0.05):
        assert M.attempt_step(*lanes.how, 0.0, h) == 0
        z, y = h * RATES, abs(lanes.memory[0])
        expected = (
            z**2 / 2 * y / (1e-4 + 1e-3 * np.maximum(y, abs(lanes.memory[2])))
        ).max() / math.sqrt(2)
        assert M.largest_error(*lanes.how[1:], h) == pytest.approx(expected, rel=1e-12)
    lanes.memory[2] = np.where(RATES == 3, 9.0, lanes.memory[2])
    lanes.memory[0] = np.where(RATES == 3, 1.0, lanes.memory[0])
    assert M.largest_error(*lanes.how[1:], 0.01) > 0
    for value in (math.inf, math.nan):
        lanes.memory[6, 5] = value
        assert M.largest_error(*lanes.how[1:], 0.01) == math.inf


def test_accepted_lane_state_keeps_its_rates(monkeypatch):
    for same_last in (0.0, 1.0):
        lanes = Lanes(monkeypatch, HEUN, same_last=same_last)
        lanes.memory[2:4], lanes.memory[6:8] = 3.0, 7.0
        lanes.asked.clear()
        assert M.accept_lanes(*lanes.how, 2.5) == 0
        assert (lanes.memory[:2] == 3.0).all() and lanes.asked == ([] if same_last else [2.5])
        assert (lanes.memory[4] == (7.0 if same_last else -3.0 * RATES)).all() and (
            lanes.memory[5] == (7.0 if same_last else 1.0)
        ).all()


def solved(t: float) -> np.ndarray:
    return np.exp(-RATES * t)


@pytest.mark.parametrize(
    "fixed, steps", [(0.125, 8), (0.3, 4), (1.0, 1), (5.0, 1), (1.0 - 1e-10, 1), (1.0 - 1e-8, 2)]
)
def test_fixed_lane_steps_divide_an_interval_evenly(monkeypatch, fixed, steps):
    lanes = Lanes(monkeypatch, fixed=fixed)
    assert (
        M.run_lanes(*lanes.how, 2.0, 3.0) == 0
        and lanes.method[M.STEPS] == steps
        and lanes.method[M.NEXT] == pytest.approx(1.0 / steps)
    )
    assert lanes.memory[0] == pytest.approx(
        growth(1.0 / steps) ** steps, rel=1e-12
    ) and lanes.memory[1] == pytest.approx(1.0)
    assert lanes.asked[-1] == 3.0


def test_lanes_stop_without_rates(monkeypatch):
    lanes = Lanes(monkeypatch, fixed=0.25)
    lanes.fails_after = 2.3
    assert M.run_lanes(*lanes.how, 2.0, 3.0) == 4 and lanes.method[M.STEPS] == 2
    lanes = Lanes(monkeypatch, fixed=0.25)
    lanes.fails_after = 2.24
    assert M.run_lanes(*lanes.how, 2.0, 3.0) == 4 and lanes.method[M.STEPS] == 1
    for most, status in ((4, 0), (3, Status.TOO_MANY_STEPS)):
        assert M.run_lanes(*Lanes(monkeypatch, fixed=0.25, most=most).how, 2.0, 3.0) == status


def test_lane_step_sizes_follow_the_error(monkeypatch):
    """Dormand and Prince at 1e-8; the next step is kept over the end of an interval, and shrinks where rates fail."""
    tableau = TABLES["tsit5"] if "tsit5" in TABLES else next(iter(TABLES.values()))
    count = tableau.stages
    table = (
        np.array(tableau.c[:count]),
        np.array(tableau.b[:count]),
        np.array(tableau.error),
        np.zeros((count, count)),
    )
    for row, weights in enumerate(tableau.a[1:count], 1):
        table[3][row, : len(weights)] = weights
    for tolerance, most in ((1e-5, 60), (1e-8, 400)):
        lanes = Lanes(monkeypatch, table, tolerance=tolerance, order=tableau.lower + 1.0, most=400)
        for k in range(4):
            assert M.run_lanes(*lanes.how, 0.25 * k, 0.25 * (k + 1)) == 0
        assert lanes.memory[0] == pytest.approx(solved(1.0), abs=20 * tolerance) and lanes.memory[
            1
        ] == pytest.approx(1.0)
        assert 3 < lanes.method[M.STEPS] < most
    assert (
        M.run_lanes(*Lanes(monkeypatch, table, tolerance=1e-8, most=3).how, 0.0, 1.0)
        == Status.TOO_MANY_STEPS
    )


class Judged(Lanes):
    """Steps whose errors are given, one after another; the steps that were tried."""

    def __init__(self, monkeypatch, *errors: float, begin: float = 0.1, order: float = 2.0):
        super().__init__(monkeypatch, HEUN, order=order, most=40)
        given = iter(errors)
        self.tried: list[tuple[float, float]] = []
        self.method[M.NEXT] = begin

        def attempt(model, lanes, memory, plan, method, t, h):
            self.tried.append((t, h))
            return 0

        def error(*_):
            return next(given)

        monkeypatch.setattr(M, "attempt_step", attempt)
        monkeypatch.setattr(M, "largest_error", error)


def test_next_lane_step_follows_last_error(monkeypatch):
    """0.9 error^(-1/order), no less than a fifth and no more than five times as long; beyond the tolerance the step is tried again."""
    for errors, steps in (
        ((0.81, 0.0, 0.0), [0.1, 0.1, 0.5, 0.3]), ((4.0, 0.81), [0.1, 0.045]), ((1e9, 0.81), [0.1, 0.02]), ((math.inf, 0.81), [0.1, 0.02]),
        ((1e-4, 0.81), [0.1, 0.5]), ((0.0, 0.81), [0.1, 0.5]), ((1.0, 0.81), [0.1, 0.09]), ((1.0001, 0.81), [0.1, 0.09]),
    ):  # fmt: skip
        lanes = Judged(monkeypatch, *errors, 0.81, 0.81, 0.81)
        with pytest.raises(StopIteration):
            M.run_lanes(*lanes.how, 0.0, 100.0)
        assert [h for _, h in lanes.tried][: len(steps) - 1] == pytest.approx(
            steps[: len(steps) - 1], rel=1e-3
        )
        starts = [t for t, _ in lanes.tried]
        assert starts[1] == (0.1 if errors[0] <= 1.0 else 0.0) and lanes.method[M.STEPS] == len(
            lanes.tried
        )


def test_last_step_of_interval_is_shortened(monkeypatch):
    """A short one says nothing about the next interval, where it was as good as wanted; what rounding leaves is no step."""
    for begin, errors, tried, following in (
        (0.8, (0.81, 0.81), [0.8, 0.2], 0.8), (1.0, (0.81,), [1.0], 1.0), (1.0 - 1e-10, (0.81,), [1.0], 1.0), (3.0, (0.81,), [1.0], 3.0),
        (3.0, (1e-4,), [1.0], 5.0), (0.8, (0.81, 4.0, 0.81, 0.81, 0.81), None, None), (3.0, (4.0, 0.81, 0.81, 0.81), [1.0, 0.45], None),
    ):  # fmt: skip
        lanes = Judged(monkeypatch, *errors, begin=begin)
        assert M.run_lanes(*lanes.how, 0.0, 1.0) == 0
        if tried:
            assert [h for _, h in lanes.tried][: len(tried)] == pytest.approx(tried, rel=1e-9)
        if following:
            assert lanes.method[M.NEXT] == pytest.approx(following, rel=1e-9) and lanes.tried[-1][
                0
            ] + lanes.tried[-1][1] == pytest.approx(1.0)


def test_lane_step_below_time_resolution_fails(monkeypatch):
    for t, h, status in (
        (100.0, 0.9e-12, Status.TOO_MANY_STEPS),
        (0.0, 0.9e-20, Status.TOO_MANY_STEPS),
    ):
        lanes = Judged(monkeypatch, 0.0, 0.0, begin=h)
        assert M.run_lanes(*lanes.how, t, t + 1.0) == status and not lanes.tried
    for t, h in ((100.0, 1.1e-12), (0.0, 1.1e-20)):
        lanes = Judged(monkeypatch, 0.0, begin=h)
        with pytest.raises(StopIteration):
            M.run_lanes(*lanes.how, t, t + 1.0)
        assert len(lanes.tried) == 2


def test_lane_rates_are_speeds_and_state_rates(monkeypatch):
    """Reactions where something needs them; a failure stops there."""
    for nx, wanted, fails in (
        (1, 1, ""),
        (1, 0, ""),
        (0, 1, ""),
        (1, 1, "loaded"),
        (1, 1, "dec"),
        (1, 1, "finished"),
    ):
        told = []
        lanes = SimpleNamespace(
            q=np.zeros(2),
            u=np.zeros(2),
            x=np.zeros(nx),
            udot=np.array([5.0, 6.0]),
            xdot=np.array([7.0]),
        )
        for name in ("loaded", "dec", "react", "finished"):
            monkeypatch.setattr(
                M,
                name,
                lambda *_, name=name, told=told, fails=fails: (
                    told.append(name) or (4 if name == fails else 0)
                ),
            )
        monkeypatch.setattr(M, "lanes_of", float)
        monkeypatch.setattr(
            M, "coordinate_rates", lambda out, model, ws: out.__setitem__(slice(0, 2), ws.u)
        )
        out, y = np.zeros(4 + nx), np.arange(1.0, 5.0 + nx)
        model = SimpleNamespace(header=SimpleNamespace(reactions=wanted))
        assert M.lane_rates(out, model, lanes, 2.0, y) == (4 if fails else 0)
        whole = (
            ["loaded", "dec", *(["react"] if wanted else []), "finished"]
            if nx
            else ["loaded", "dec"]
        )
        assert told == whole[: whole.index(fails) + 1 if fails else None]
        assert (
            lanes.q.tolist() == [1, 2]
            and lanes.u.tolist() == [3, 4]
            and lanes.x.tolist() == [5.0][:nx]
        )
        if not fails:
            assert out.tolist() == [3, 4, 5, 6, 7][: 4 + nx]


# lanes through events


def test_lane_memory_keeps_interval_start():
    lanes, plan = (
        SimpleNamespace(q=np.zeros(2), u=np.zeros(3), x=np.zeros(4)),
        np.zeros(6, dtype=int),
    )
    plan[T.STAGES] = 4
    assert T.interval_start_at(lanes, plan) == (2 + 4) * 9


def watching(monkeypatch, roots: np.ndarray, fixed: float = 0.25):
    """One guard, root - t in every lane, evaluated after every step."""
    lanes = Lanes(monkeypatch, fixed=fixed)
    lanes.model = SimpleNamespace(
        header=SimpleNamespace(guards=1, late_guards=0, reactions=0),
        guards=np.array(guard(register=3)),
    )
    lanes.memory = np.concatenate([lanes.memory, np.full((5, WIDTH), np.nan)])
    lanes.lanes.val = np.zeros((5, WIDTH))
    begin = lanes.rates

    def rates(out, model, wide, t, y):
        wide.val[3], wide.val[4] = roots - y[1], y[0]
        return begin(out, model, wide, t, y)

    monkeypatch.setattr(M, "lane_rates", rates)
    monkeypatch.setattr(T, "lane_rates", rates)
    for name in ("react", "velocities", "tell"):
        monkeypatch.setattr(T, name, lambda *_: 0)
    monkeypatch.setattr(T, "finished", lambda *_: 0)
    return lanes


def test_acceleration_guards_need_full_evaluation(monkeypatch):
    for late, reactions, told in ((0, 1, []), (1, 0, ["finished"]), (1, 1, ["react", "finished"])):
        lanes, found, seen = watching(monkeypatch, RATES), [], np.zeros((1, WIDTH))
        for name in ("react", "finished"):
            monkeypatch.setattr(
                T,
                name,
                lambda *_, name=name, found=found: (
                    found.append(name) or (4 if name == "finished" else 0)
                ),
            )
        lanes.model.header.late_guards, lanes.model.header.reactions = late, reactions
        lanes.lanes.val[3] = RATES
        assert (
            T.evaluate_lane_guards(lanes.model, lanes.lanes, seen) == (4 if late else 0)
            and found == told
            and (seen[0] == RATES).all()
        )


def test_lanes_with_crossed_or_near_guards_are_marked(monkeypatch):
    before = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 0.0, 1.0])
    now = np.array([0.6, 0.5, -1.0, -0.6, -0.4, 0.4, 1.0, 3.0])
    lanes, flags = watching(monkeypatch, RATES), np.array([0.0] * 5 + [-1.0] + [0.0] * 2)
    chords = before + T.TRIAL_SHARE * (now - before)
    seen = np.array([before, np.zeros(WIDTH), chords])
    lanes.lanes.val[3] = now
    assert T.mark_lanes(lanes.model, lanes.lanes, seen, flags) == 0
    assert (
        flags.tolist() == [0, 1, 1, 0, 1, -1, 1, 0]
        and (seen[0] == now).all()
        and (seen[1] == before).all()
    )
    assert (
        T.any_marked(flags)
        and not T.any_marked(np.where(flags == 1.0, 0.0, flags))
        and T.any_marked(np.array([0.0] * 7 + [1.0]))
    )


def test_lane_whose_guard_swings_inside_a_step_is_marked(monkeypatch):
    """A guard far from its chord may have crossed twice; one that is straight has not."""
    lanes, flags = watching(monkeypatch, RATES), np.zeros(WIDTH)
    before, now = np.full(WIDTH, 1.0), np.full(WIDTH, 0.8)
    inside = before + T.TRIAL_SHARE * (now - before)
    inside[2] = -0.3
    seen = np.array([before, np.zeros(WIDTH), inside])
    lanes.lanes.val[3] = now
    assert T.mark_lanes(lanes.model, lanes.lanes, seen, flags) == 0
    assert flags.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "first, rows, flags",
    [(9.0, 3, [0] * 8), (1.4, 3, [1] + [0] * 7), (1.2, 2, [1] + [0] * 7), (0.7, 1, [1] + [0] * 7)],
)
def test_lanes_advance_until_possible_event(monkeypatch, first, rows, flags):
    """A marked lane stands at the beginning of the interval, the others at its end; rows hold the columns of their states."""
    roots = np.full(WIDTH, 9.0)
    roots[0] = first
    lanes = watching(monkeypatch, roots)
    lanes.plan[:] = 0, 0, 4, 2, 4, 0
    found, table = np.zeros(WIDTH), np.full(WIDTH * 4 * 2, np.nan)
    times = np.array([0.0, 0.5, 1.0, 1.5])
    assert (
        T.run_lanes_until_event(
            lanes.model,
            lanes.lanes,
            lanes.memory,
            lanes.plan,
            lanes.method,
            times,
            np.array([4, 3]),
            table,
            found,
        )
        == 0
    )
    assert found.tolist() == flags and lanes.plan[T.REACHED] == rows
    ends = np.where(found == 1.0, times[rows - 1], times[rows])
    assert lanes.memory[1] == pytest.approx(ends) and lanes.memory[0] == pytest.approx(
        growth(0.25) ** (4 * ends), rel=1e-12
    )
    written = table.reshape(WIDTH, 4, 2)
    assert np.isnan(written[:, 0]).all() and np.isnan(written[:, rows + 1 :]).all()
    assert (
        written[:, 1 : rows + 1, 1] == pytest.approx(roots[:, None] - times[1 : rows + 1])
        and np.isfinite(written[:, 1 : rows + 1, 0]).all()
    )


@pytest.mark.parametrize(
    "fixed, steps", [(0.25, 2), (0.2, 3), (5.0, 1), (0.5 - 1e-10, 1), (0.5 - 1e-8, 2)]
)
def test_watched_interval_has_equal_steps(monkeypatch, fixed, steps):
    lanes = watching(monkeypatch, np.full(WIDTH, 9.0), fixed)
    lanes.memory[8 + 4 + 2 :] = 9.0
    lanes.asked.clear()
    flags = np.zeros(WIDTH)
    assert (
        T.watched_steps(
            lanes.model, lanes.lanes, lanes.memory, lanes.plan, lanes.method, flags, 1.0, 1.5
        )
        == 0
    )
    ends = lanes.asked[4::5]  # of the stages, one look inside of the step, then the end
    assert (
        ends == pytest.approx([1.0 + 0.5 * (k + 1) / steps for k in range(steps)])
        and ends[-1] == 1.5
        and not flags.any()
    )
    assert lanes.asked[:3] == pytest.approx([1.0 + 0.25 / steps] * 2 + [1.0 + 0.5 / steps])


def test_lane_advance_stops_without_rates(monkeypatch):
    for fails_after, rows in ((-1.0, 0), (0.3, 1), (0.8, 2)):
        lanes = watching(monkeypatch, np.full(WIDTH, 9.0))
        lanes.plan[:] = 0, 0, 4, 2, 4, 0
        lanes.fails_after = fails_after
        table = np.full(WIDTH * 4 * 2, np.nan)
        assert T.run_lanes_until_event(
            lanes.model, lanes.lanes, lanes.memory, lanes.plan, lanes.method, np.array([0.0, 0.5, 1.0, 1.5]), np.array([4, 3]), table, np.zeros(WIDTH)
        ) == 4  # fmt: skip
        assert (
            lanes.plan[T.REACHED] == rows
            and np.isnan(table.reshape(WIDTH, 4, 2)[:, max(rows, 1) :]).all()
        )
