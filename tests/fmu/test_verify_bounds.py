"""What `kinetree verify` computes, from motions made by hand: deviations, how far errors grow, bounds, the steps that are tried, and what is told."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fmpy
import numpy as np
import pytest
from host_stand_in import NAMES, Unit, archive_of, variable

from kinetree.fmu.variables import Access
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.fmi import sensitivity, verify
from kinetree.scripts.fmi.verify import Report
from kinetree.solvers.layout import Status

EPS = np.finfo(float).eps
GRID = [0.0, 0.5, 1.0, 1.5]
TABLE = np.array([[2.0**-t, 1.0] for t in GRID])


def told(report: Report) -> list[tuple[str, str, bool]]:
    return [(check.what, check.result, check.good) for check in report.checks]


def test_deviations_are_relative_above_one():
    """Columns of a table by their largest, values of a row each by itself."""
    table, other = np.array([[1.0, -8.0], [0.5, 2.0]]), np.array([[1.25, -8.0], [0.5, 3.0]])
    assert sensitivity.deviation(table, other) == 0.2 and sensitivity.deviation(other, other) == 0.0
    assert sensitivity.deviation(table[:, 1], other[:, 1]) == 1.0 / 3.0
    assert sensitivity.deviation(np.array([0.25]), np.array([0.5])) == 0.25
    assert sensitivity.deviation(np.zeros((0, 2)), np.zeros((0, 2))) == 0.0
    assert verify.steepest(other).tolist() == [0.6, 1.375], (
        "the column by its largest but for the last row"
    )
    assert verify.steepest(other[:1]).tolist() == [0.0, 0.0]


def test_end_values_are_compared_relative_to_column_size():
    """A value that is small at the end of a large motion counts little."""
    table = np.array([[-8.0, 0.0], [2.0, 0.5]])
    assert sensitivity.end_deviation(np.array([3.0, 0.5]), table) == 0.125
    assert sensitivity.end_deviation(np.array([2.0, 0.0]), table) == 0.5


class Grows:
    """A twin whose values answer to a change of the start by factors, row by row; its start is -2, so that a change of 1e-9 is one of 3e-9."""

    def __init__(self, factors: list[float], start: float | None = -2.0, size: float = 0.5):
        self.factors, self.size, self.log = factors, size, []
        others = [variable("p", Access.TUNABLE, 7.0), variable("y", Access.START, None)]
        self.table = SimpleNamespace(
            variables=others if start is None else [*others, variable("x", Access.START, start)]
        )

    def reset(self) -> None:
        self.log.append("reset")

    def start(self, values: dict[str, float] | None = None) -> "Grows":
        self.values, self.row = values or {}, 0
        self.log.append(self.values)
        return self

    def step(self, target: float) -> None:
        self.row += 1

    def get(self, names: Any) -> list[float]:
        return [self.size + self.factors[self.row] * (self.values.get("x", -2.0) + 2.0), 0.0]


@pytest.mark.parametrize(
    ("factors", "size", "last", "response"),
    [
        (
            [2.0**k for k in range(12)],
            0.5,
            7,
            3.0 * 128,
        ),  # past 100 times what the first step makes of it at 2^8
        ([2.0**k for k in range(12)], 4.0, 7, 3.0 * 128 / 4.0),
        ([1.0, 4.0, 3.0, 90.0, 390.0, 410.0, 5.0], 0.5, 4, 3.0 * 390),
        ([1.0, 1.0, 99.0, 40.0], 0.5, 3, 3.0 * 99),
        (
            [0.0, 0.1, 33.0, 34.0, 1.0],
            0.5,
            2,
            3.0 * 33,
        ),  # a change that is damped at once is measured by itself
        ([0.0, 0.1, 0.2, 0.1], 0.5, 3, 1.0),
        ([0.0, 0.0, 1e4, 1.0], 0.5, 2, 3e4),
    ],
)
def test_comparison_ends_when_small_changes_have_grown(
    factors: list[float], size: float, last: int, response: float
):
    twin: Any = Grows(factors, size=size)
    grid, expected = [0.1 * k for k in range(len(factors))], np.array([[size, 0.0]] * len(factors))
    found, responses = sensitivity.horizon(twin, grid, NAMES, expected)
    assert found == last
    assert responses == pytest.approx([response, 1.0], rel=1e-5)  # 1e-16 of rounding in 1e-9
    assert twin.log == ["reset", {"x": -2.0 + 3e-9}]
    unmoved, ones = sensitivity.horizon(Grows(factors, start=None), grid, NAMES, expected)  # type: ignore[arg-type]
    assert unmoved == len(factors) - 1 and ones.tolist() == [1.0, 1.0]


def test_starts_are_perturbed_by_one_ulp():
    """Once not at all, then eight times up or down; the largest deviation from the first counts. Without starts there is none."""
    twin: Any = Grows([1.0])
    given: list[float] = []

    def motion(begun: Any) -> np.ndarray:
        given.append(begun.values["x"])
        return np.array([1.0 + 1e6 * (given[-1] + 2.0)])

    rounding = np.spacing(3.0)
    assert sensitivity.rounded(twin, motion) == pytest.approx(1e6 * rounding)
    assert (
        given[0] == -2.0
        and len(given) == 9
        and set(given[1:]) == {-2.0 + rounding, -2.0 - rounding}
    )
    assert [each for each in twin.log if each == "reset"] == ["reset"] * 9
    assert sensitivity.rounded(Grows([1.0], start=None), motion) == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize(("loops", "per_step"), [((), 16.0 * EPS), (("loop",), 1e-13)])
def test_fixed_step_bound_covers_rounding(
    monkeypatch: pytest.MonkeyPatch, loops: tuple[str, ...], per_step: float
):
    """Those of all steps, as often as a change grows; what stays open of loops; eight times what drawn roundings make of the motion."""
    drawn = [0.0]
    monkeypatch.setattr(sensitivity, "rounded", lambda twin, motion: drawn[0])
    parts = [SimpleNamespace(loops=()), SimpleNamespace(loops=loops)]
    twin: Any = SimpleNamespace(
        unit=SimpleNamespace(run=SimpleNamespace(integrator="rk4", step=0.25), compiled=parts)
    )
    assert sensitivity.own_bound(twin, 5.0, 1e6, None) == pytest.approx(per_step * 1e6 * 20.0)  # type: ignore[arg-type]
    assert sensitivity.own_bound(twin, 5.0, 1e-6, None) == 1e-12  # type: ignore[arg-type]
    drawn[0] = 0.5
    assert sensitivity.own_bound(twin, 5.0, 1e6, None) == 4.0  # type: ignore[arg-type]


def test_fixed_step_error_is_twice_half_step_difference():
    twin: Any = Unit(log=(log := []))
    twin.unit = SimpleNamespace(run=SimpleNamespace(integrator="rk4"))
    assert sensitivity.step_error(twin, GRID, NAMES, TABLE + 0.125).max() == 0.25 / 1.125
    assert twin.head.step == 0.25 and log == ["reset", "start", *GRID[1:]]
    twin.unit.run.integrator = "auto"
    assert not sensitivity.step_error(twin, GRID, NAMES, TABLE + 0.125).any()
    assert twin.head.step == 0.25


class Ends(Unit):
    """A twin whose motion ends."""

    last = 0.0

    def step(self, target: float) -> None:
        if target > self.last:
            raise EvaluationError("no further", Status(1))
        super().step(target)


def test_run_that_ends_early_is_compared_for_nine_tenths():
    """Three rows at least; with less than that there is nothing to compare."""
    grid = [0.25 * k for k in range(30)]
    for last, rows in ((19, 18), (8, 8), (3, 4), (2, 3), (29, 30)):
        twin: Any = Ends()
        twin.last = grid[last]
        report = Report(Path())
        reached, table = verify.motion_of_model(report, twin, grid, ["x"])
        assert reached == grid[:rows] and table[:, 0].tolist() == [2.0**-t for t in reached]
        end = ("end of the motion", f"no further; compared up to t = {grid[rows - 1]:.6g}", True)
        assert told(report) == ([end] if last < 29 else [])
    twin.last = grid[1]
    with pytest.raises(EvaluationError):
        verify.motion_of_model(Report(Path()), twin.start(), grid, ["x"])


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    done: list[Any] = []
    monkeypatch.setattr(
        verify,
        "Host",
        lambda archive: Unit(
            archive,
            broken=getattr(archive, "broken", ()),
            log=done,
            name=f"{len({e[0] for e in done})}",
        ),
    )
    monkeypatch.setattr(Unit, "steps", [0])
    return done


def test_verify_times_cosimulation_calls(monkeypatch: pytest.MonkeyPatch, log: list[Any]):
    """By a clock of its own: 2 ms for an instance, then steps of 3, 5 and 40 µs and readings of 1, 7 and 2 µs, of which the medians count."""
    ticks = iter(np.cumsum([7.0, 2e-3, 1.0, 3e-6, 1e-6, 1.0, 5e-6, 7e-6, 1.0, 40e-6, 2e-6]))
    monkeypatch.setattr(verify, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))
    grid, report, expected = [0.25, *GRID[1:]], Report(Path()), TABLE.copy()
    expected[3, 0] += 1e-3
    verify.motion(report, archive_of(), grid, list(NAMES), expected, 2, 1e-12)
    said = "instantiated in 2.0 ms; 5.0 µs per step of 250 ms, 2.0 µs for 2 values"
    assert told(report) == [
        ("co-simulation", "largest deviation 0.00e+00 (allowed 1e-12)", True),
        ("cost", said, True),
    ]
    first = [("0", "start"), *[("0", t) for t in GRID[1:]], ("0", "close")]
    steps = [
        ("1", what) if what else ("1", "references", 5, 3) for t in GRID[1:] for what in (t, None)
    ]
    assert log == [*first, ("1", "start"), *steps, ("1", "close")]
    ticks = iter(np.arange(11.0))
    verify.motion(report, archive_of(), grid, list(NAMES), expected, 3, 1e-12)
    assert told(report)[2] == ("co-simulation", "largest deviation 1.00e-03 (allowed 1e-12)", False)


def result(rows: list[tuple[float, ...]], names: tuple[str, ...]) -> np.ndarray:
    return np.array(rows, dtype=[("time", float), *((name, float) for name in names)])


def test_model_exchange_is_compared_at_grid_times(monkeypatch: pytest.MonkeyPatch):
    """At the first row that is not more than a nanosecond before, at the last one behind its end; rows between are passed over."""
    asked: list[Any] = []
    grid = [0.125, *GRID[1:]]
    rows = [
        (0.0, 9.0),
        (0.125, 1.0),
        (0.25, 9.0),
        (0.5 - 0.9e-9, 2.0),
        (0.5 + 0.9e-9, 9.0),
        (1.0 - 1.1e-9, 9.0),
        (1.0, 3.0),
        (1.4, 4.0),
    ]
    monkeypatch.setattr(
        fmpy,
        "simulate_fmu",
        lambda folder, **options: (asked.append((folder, options)), result(rows, ("x",)))[1],
    )
    report = Report(Path())
    verify.exchange(
        report, archive_of(), grid, ["x"], np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1e-4])
    )
    ((_, said, good),) = told(report)
    assert good and "0.00e+00" in said
    ((folder, options),) = asked
    wanted = {
        "stop_time": 1.5,
        "fmi_type": "ModelExchange",
        "solver": "CVode",
        "relative_tolerance": 1e-8,
        "output_interval": 0.375,
    }
    assert folder == "nowhere" and options == wanted | {"output": ["x"], "record_events": False}


def test_event_delay_is_allowed_for(
    monkeypatch: pytest.MonkeyPatch,
):
    """An event at 0.5 s here and 8 µs later there: that row does not count, and 8 µs of the steepest change, 3 in 0.5 s, are allowed besides."""
    here, there = [0.0, 0.5, 0.5, 0.5], [0.0, 0.0, 0.5 + 8e-6, 0.5 + 8e-6]
    rows = [(t, x, e) for t, x, e in zip(GRID, (1.0, 7.0, 4.0, 4.0), there, strict=True)]
    monkeypatch.setattr(
        fmpy, "simulate_fmu", lambda folder, **options: result(rows, ("x", "event_time"))
    )
    report, expected = (
        Report(Path()),
        np.array([[1.0, here[0]], [1.0, here[1]], [4.0, here[2]], [4.0, here[3]]]),
    )
    verify.exchange(
        report, archive_of(), GRID, ["x", "event_time"], expected, np.array([1e-6, 1e-6])
    )
    ((_, said, good),) = told(report)
    assert good and "8.00e-06" in said, "1e-6 + 8e-6 * (3/4)/0.5, the change by the largest value"


def test_columns_are_judged_by_their_own_bounds():
    """The nearest to its bound is told; bounds that say nothing are counted, not judged."""
    report, names = Report(Path()), ["angle", "speed", "der(speed)"]
    found = np.array([2e-6, 1e-3, 5.0])
    report.compare_columns("a", names, found, np.array([1e-5, 1e-2, 30.0]))
    report.compare_columns("b", names, found, np.array([1e-6, 1e-2, 30.0]))
    report.compare_columns("c", names, found, np.array([1.0, 1.0, 30.0]))
    (_, first, good), (_, second, bad), (_, third, _) = told(report)
    assert good and "of angle " in first and "1 too sensitive" in first
    assert not bad and "2.00e-06 of angle" in second
    assert "not compared" in third and "3" in third


def test_events_more_than_ten_microseconds_apart_are_distinct():
    """Where both are near, every row behind them counts; one closer than a nanosecond to an instant does not."""
    for apart, kept in ((0.9e-5, False), (1.2e-5, True)):
        clear, most = verify.clear_of_events(
            np.array([0.3 + 4e-6, 0.4]), np.array([0.0, 0.3]), np.array([0.0, 0.3 + apart])
        )
        assert clear.tolist() == [kept, True] and most == pytest.approx(0.0 if kept else apart)
    assert verify.clear_of_events(np.array([5e-6]), np.array([0.0]), np.array([1e-5]))[
        0
    ].tolist() == [True], "as far apart as that they are two"
    rows = 0.3 + np.array([-1.2e-9, -0.8e-9, 0.8e-9, 1.2e-9])
    assert verify.clear_of_events(rows, np.array([0.3]), np.array([0.3]))[0].tolist() == [
        True,
        False,
        False,
        True,
    ]


def test_different_steps_reach_same_end(log: list[Any]):
    """Seven coarse ones, twice as many, drawn ones, and one of 1e-14 s among those of the grid."""
    report = Report(Path())
    verify.sweep(report, archive_of(), GRID, list(NAMES), TABLE)
    tables = [
        [each[1] for each in log if each[0] == f"{k}" and isinstance(each[1], float)]
        for k in range(4)
    ]
    assert tables[0] == [1.5 * k / 7 for k in range(1, 8)] and tables[1] == pytest.approx(
        [0.25 * k for k in range(1, 7)]
    )
    assert (
        len(tables[2]) == 3
        and tables[2] == sorted(tables[2])
        and 0.0 < tables[2][0] < 1.0
        and tables[2][2] == 1.5
    )
    assert (
        tables[3] == [0.5, 0.5 + 1e-14, 1.0, 1.5] and [each[1] for each in log].count("close") == 4
    )
    assert [(what, good) for what, _, good in told(report)] == [
        ("coarse steps", True), ("fine steps", True), ("irregular steps", True), ("a step of 1e-14 s", True)
    ]  # fmt: skip
    report = Report(Path())
    verify.sweep(
        report, archive_of(), GRID, list(NAMES), np.array([[8.0, 1.0], [2.0**-1.5 + 0.8e-3, 1.0]])
    )
    assert {said for _, said, _ in told(report)} == {
        "largest deviation 1.00e-04 (allowed 1e-04)"
    }, "a part of the largest value"


def test_verify_saves_state_in_mid_run(log: list[Any]):
    report = Report(Path())
    verify.replay(report, archive_of(), GRID, list(NAMES))
    a, b = "0", "1"
    assert log == [
        (a, "start"), (b, "start"), (a, 0.5), (a, 1.0), (a, "save"), (a, 1.5), (a, "restore", 1.0), (a, 1.5), (b, "restore", 1.0), (b, 1.5),
        (a, "forget"), (a, "close"), (b, "close"),
    ]  # fmt: skip
    for broken in ("restore", "bytes"):
        verify.replay(report, archive_of(broken=[broken]), GRID, list(NAMES))
    titles = ("state restored", "state from bytes in another instance")
    good = (
        [(title, True) for title in titles],
        [(titles[0], False), (titles[1], False)],
        [(titles[0], True), (titles[1], False)],
    )
    assert [(what, ok) for what, _, ok in told(report)] == [each for rows in good for each in rows]
    for part, said in (
        (SimpleNamespace(), True),
        (None, True),
        (SimpleNamespace(canGetAndSetFMUState=True), False),
    ):
        report, archive = Report(Path()), archive_of()
        archive.description.coSimulation = part
        verify.replay(report, archive, GRID, list(NAMES))
        assert (told(report) == [("state", "not offered", True)]) == said


def test_step_dependent_values_are_not_compared(tmp_path: Path):
    """Residuals, mean speeds, indicators, what the twin does not have, and accelerations of a chain."""
    archive = archive_of(
        reals=["x", "der(x,2)", "loop_residual", "crane.mean_speed", "event_indicator[1]", "gone"]
    )
    for chain, names in ((None, ["x", "der(x,2)"]), ("chain", ["x"])):
        twin: Any = SimpleNamespace(
            places=dict.fromkeys(set(archive.reals) - {"gone"}), unit=SimpleNamespace(chain=chain)
        )
        assert verify.comparable(archive, twin) == names
    for compiled, options, other in (
        (False, None, False),
        (True, None, True),
        (False, '{"specialised": true}', True),
        (False, "{}", False),
    ):
        folder = tmp_path / f"{compiled}{options}"
        (folder / "resources").mkdir(parents=True)
        if options:
            (folder / "resources" / "options.json").write_text(options)
        assert verify.straight(archive_of(compiled=compiled, folder=str(folder))) is other
    (tmp_path / "it.fmu").write_bytes(bytes(1_230_000))
    for kinds, said in (((None, 1), "ME"), ((1, None), "CS"), ((1, 1), "CS + ME")):
        report, archive = Report(Path()), archive_of(3, path=tmp_path / "it.fmu")
        archive.description.coSimulation, archive.description.modelExchange = kinds
        verify.described(report, archive)
        assert told(report) == [("archive", f"FMI 3.0 {said}, 7 variables, 1.23 MB", True)]
