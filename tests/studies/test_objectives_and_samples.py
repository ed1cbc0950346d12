"""What numbers of tables mean, by hand: measures of columns and of rest, drawn values, cases, deviations, harmonics, energies, worst cases."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import qmc

from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.measures.run_measures import (
    REST,
    AtRest,
    columns_of,
    growth,
    measured,
    parsed,
    settling,
    swings,
)
from kinetree.scripts.studies import experiment_search as excitation
from kinetree.scripts.studies import samplers, stabilisation, study, worst_case
from kinetree.scripts.studies import sine_sweep as sweep
from kinetree.scripts.studies.carrier_cosim import Coupled, drive_of, shipped
from kinetree.scripts.studies.experiment_search import Wanted, best_excitation, excess
from kinetree.scripts.studies.samplers import Correlated, Distribution, cube, drawn
from kinetree.scripts.studies.stabilisation import Comparison, shown_unit, spans, spread
from kinetree.scripts.studies.study import Study, run_study
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.layout import Status

EPS = float(np.finfo(float).eps)
TIME = np.array([1.0, 2.0, 4.0, 7.0])


def test_measures_of_four_rows_match_formulas():
    """At uneven instants that do not begin at 0: rows count alike but in the integral."""
    y = np.array([2.0, -6.0, 3.0, 4.0])
    for name, expected in {
        "start": 2.0, "end": 4.0, "min": -6.0, "max": 4.0, "mean": 0.75, "std": math.sqrt(16.25 - 0.75**2), "span": 10.0, "peak": 6.0,
        "rms": math.sqrt(16.25), "integral": -2.0 - 3.0 + 10.5, "deviation": 8.0, "settling": 6.0,
    }.items():  # fmt: skip
        assert measured(f"{name}(y)", TIME, {"y": y}, lambda: None) == pytest.approx(
            expected, rel=4 * EPS
        ), name  # type: ignore[arg-type, return-value]


def test_settling_band_is_inclusive():
    """Two hundredths of its whole change about its last value; what never moves has from the beginning on."""
    time = np.array([1.0, 2.0, 4.0, 7.0, 8.0])
    for y, expected in (
        ([0.0, 100.0, 48.0, 52.0, 50.0], 3.0),
        ([0.0, 100.0, 47.5, 51.0, 50.0], 6.0),
        ([3.0] * 5, 0.0),
        ([50.0, 50.0, 50.0, 0.0, 100.0], 7.0),
    ):
        assert settling(time, np.array(y)) == expected


def linear(*values: complex) -> Any:
    modes = [
        SimpleNamespace(
            eigenvalue=v, oscillates=v.imag != 0.0, damping=-v.real / abs(v), frequency=abs(v) / 4.0
        )
        for v in values
        if v
    ]
    return SimpleNamespace(eigenvalues=np.array(values, dtype=complex), modes=lambda: modes)


def test_growth_ignores_rounding():
    """Ten-millionths of the fastest motion, which a pair of zeros comes out as; what falls and what is slow by itself is told as it is."""
    assert (
        growth(linear(-10.0, 1e-6)) == 0.0
        and growth(linear(-10.0, 1.2e-6)) == 1.2e-6
        and growth(linear(-10.0, -1e-9)) == -1e-9
    )
    assert growth(linear(-10.0, 0.5)) == 0.5 and growth(linear()) == -math.inf
    assert [mode.eigenvalue for mode in swings(linear(-10.0, 2j, 0.9e-6j, 1.2e-6j, -3.0))] == [
        2j,
        1.2e-6j,
    ] and len(swings(linear(1e-9j))) == 1
    assert swings(linear(10.0, 1e-6j)) == [] and swings(linear()) == []


def margins_of(**loops: Any) -> Any:
    return [SimpleNamespace(margins=SimpleNamespace(**margins)) for margins in loops.values()]


def test_equilibrium_measures_are_smallest():
    at: Any = SimpleNamespace(linear=linear(-1.0, -3.0 + 4j, -6.0 + 8j))
    assert [REST[name](at) for name in ("growth", "damping", "frequency")] == pytest.approx(
        [-1.0, 0.6, 1.25]
    )
    at.linear = linear(-1.0)
    assert [REST[name](at) for name in ("growth", "damping", "frequency")] == [-1.0, 1.0, 0.0]
    one = {"stable": True, "gain": 3.0, "phase": -40.0, "delay": 0.25, "modulus": 0.5}
    rest = AtRest.__new__(AtRest)
    rest.loops = margins_of(
        one=one, other={**one, "gain": 2.0, "phase": 50.0, "delay": 0.5, "modulus": 0.75}
    )
    names = ("gain_margin", "phase_margin", "delay_margin", "modulus_margin")
    assert [REST[name](rest) for name in names] == [2.0, 40.0, 0.25, 0.5]
    rest.loops = margins_of(one=one, lost={**one, "stable": False})
    assert [REST[name](rest) for name in names] == [0.0] * 4 and rest.margin("gain", -1.0) == -1.0
    rest.loops = []
    assert [REST[name](rest) for name in names] == [math.inf] * 4
    rest.equilibrium = SimpleNamespace(
        outputs={"x": 1.0}, coordinates={"x": 2.0, "q": 3.0}, states={"s": 4.0}
    )
    assert (rest.value("x"), rest.value("q"), rest.value("s")) == (2.0, 3.0, 4.0)
    assert (
        measured("rest(s)", TIME, {}, lambda: rest) == 4.0
        and measured("gain_margin", TIME, {}, lambda: rest) == math.inf
    )
    with pytest.raises(ValueError, match=r"rest\(z\): no such value at rest; there are x, q, s"):
        rest.value("z")


def test_measures_are_read_with_their_columns():
    assert (
        parsed(" max ( der(x) ) ") == ("max", "der(x)")
        and parsed("growth") == ("growth", "")
        and parsed("rest(q)") == ("rest", "q")
    )
    assert columns_of(["max(x)", "growth", "end(x)", "rest(q)", "end(y)"]) == ["x", "y"]
    for wrong in ("growth(x)", "max", "max()", "x"):
        with pytest.raises(ValueError, match="expected measure"):
            parsed(wrong)


def test_distributions_are_truncated():
    """A part of 1e-12 at either end."""
    share = np.array([0.0, 1e-13, 0.25, 1.0])
    numbers = np.array([ndtri(1e-12), ndtri(1e-12), ndtri(0.25), ndtri(1 - 1e-12)])
    assert Distribution("normal", 5.0, 2.0).at(share) == pytest.approx(
        5.0 + 2.0 * numbers, rel=4 * EPS
    )
    assert Distribution("lognormal", 4.0, 1.5).at(share) == pytest.approx(
        4.0 * 1.5**numbers, rel=64 * EPS
    )
    assert Distribution("uniform", -1.0, 3.0).at(share).tolist() == [-1.0, -1.0 + 4e-13, 0.0, 3.0]
    assert str(Distribution("normal", 5.0, 0.25)) == "normal(5, 0.25)"


@pytest.mark.parametrize(
    ("table", "good"),
    [
        ({"uniform": [1.0, 2.0]}, True), ({"uniform": [2.0, 2.0]}, False), ({"normal": [0.0, 0.0]}, False), ({"normal": [-1.0, 1e-9]}, True),
        ({"lognormal": [1.0, 1.0]}, False), ({"lognormal": [0.0, 2.0]}, False), ({"lognormal": [0.5, 1.01]}, True),
        ({"lognormal": [-1.0, 2.0]}, False),
        ({"uniform": [1.0, 2.0, 3.0]}, False), ({"uniform": [1.0]}, False), ({"uniform": [1.0, True]}, False), ({"uniform": [1.0, math.inf]}, False),
        ({"uniform": [1, 2], "normal": [1, 2]}, False), ({}, False), ({"gauss": [1, 2]}, False), ({"uniform": "ab"}, False),
        ({"uniform": (1, 2)}, True),
    ],
)  # fmt: skip
def test_a_distribution_has_two_numbers_that_spread(table: dict[str, Any], good: bool):
    if good:
        ((kind, pair),) = table.items()
        found = Distribution.of(table, "v")
        assert (found.kind, found.first, found.second) == (kind, *map(float, pair))
    else:
        with pytest.raises(ValueError, match=r"^v: "):
            Distribution.of(table, "v")


DRAWN = {
    "a": Distribution("normal", 1.0, 0.5),
    "b": Distribution("lognormal", 2.0, 3.0),
    "u": Distribution("uniform", 0.0, 1.0),
}
FREE = [[1.0, 0.5], [0.5, 1.0]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None), ({"of": ["a"]}, "two or more names"), ({"of": ["a", "a"]}, "two or more names"), ({"of": "ab"}, "two or more names"),
        ({"covariance": FREE}, "two or more names"), ({"more": 1}, "two or more names"), ({"of": ["a", "u"]}, "'u' is not drawn from a normal"),
        ({"of": ["a", "z"]}, "'z' is not drawn"), ({"correlation": [[1.0, 0.5], [0.5 + 0.9e-6, 1.0]]}, None),
        ({"correlation": [[1.0, 0.5], [0.5 + 1.2e-6, 1.0]]}, "symmetric matrix of 2 rows"), ({"correlation": [[1.0, 0.5]]}, "symmetric matrix"),
        ({"correlation": [[1.0, math.nan], [math.nan, 1.0]]}, "symmetric matrix"), ({"correlation": [["x", 0.5], [0.5, 1.0]]}, "symmetric matrix"),
        ({"correlation": [[1.0 + 0.9e-6, 0.5], [0.5, 1.0]]}, None),
        ({"correlation": [[1.0 + 1.2e-6, 0.5], [0.5, 1.0]]}, "with itself is 1.0000012, expected 1"),
        ({"correlation": [[1.0, 1.0], [1.0, 1.0]]}, "not positive definite"),
    ],
)  # fmt: skip
def test_correlated_samples_have_requested_correlation(change: dict[str, Any], said: str | None):
    table = {"of": ["a", "b"], "correlation": FREE, **change}
    if said is None:
        assert Correlated.among(table, DRAWN, "c").factor == pytest.approx(
            np.linalg.cholesky(np.array(FREE)), abs=2e-6
        )
    else:
        with pytest.raises(ValueError, match=said):
            Correlated.among(table, DRAWN, "c")


def test_covariance_of_lognormal_parameters_applies_to_logarithms():
    sizes = np.array([0.5, math.log(3.0)])
    table = {"of": ["a", "b"], "covariance": (np.array(FREE) * np.outer(sizes, sizes)).tolist()}
    assert Correlated.among(table, DRAWN, "c").factor == pytest.approx(
        np.linalg.cholesky(np.array(FREE)), rel=16 * EPS
    )
    table["covariance"][1][1] = 1.0
    with pytest.raises(
        ValueError,
        match="the entry of 'b' with itself is 1, expected 1.20694896, the square of its deviation",
    ):
        Correlated.among(table, DRAWN, "c")


def test_correlated_numbers_are_those_of_the_factor(monkeypatch: pytest.MonkeyPatch):
    """Standard normal numbers z become L z; what is not named and shares without a number stay where they are."""
    points = np.array([[0.25, 0.5, 0.75], [0.9, 0.125, 0.0], [0.5, 0.0, 1.0]])
    monkeypatch.setattr(samplers, "cube", lambda *given: points.copy())
    found = drawn(
        "random", DRAWN, 3, 0, Correlated.among({"of": ["b", "a"], "correlation": FREE}, DRAWN, "c")
    )
    z = ndtri(np.clip(points[:, [1, 0]], 1e-12, 1 - 1e-12))
    assert found["u"].tolist() == [0.75, 0.0, 1.0] and np.log(found["b"] / 2.0) / math.log(
        3.0
    ) == pytest.approx(z[:, 0], rel=1e-9, abs=1e-12)
    assert (found["a"] - 1.0) / 0.5 == pytest.approx(
        0.5 * z[:, 0] + math.sqrt(0.75) * z[:, 1], rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize(("samples", "power"), [(1, 0), (2, 1), (16, 4), (17, 5)])
def test_a_sobol_sequence_is_made_in_the_next_power_of_two(
    monkeypatch: pytest.MonkeyPatch, samples: int, power: int
):
    made: list[int] = []
    plain = qmc.Sobol.random_base2
    monkeypatch.setattr(
        qmc.Sobol, "random_base2", lambda sampler, m: made.append(m) or plain(sampler, m)
    )
    assert cube("sobol", 3, samples, 1).shape == (samples, 3) and made == [power]


def made(**more: Any) -> Study:
    return Study.model_validate(
        {
            "mechanism": "lib:boom",
            "rest": ["growth"],
            "vary": {"a": [1.0, 2.0, 4.0], "b": {"from": 1, "to": 2, "count": 3}},
            **more,
        }
    )


def test_cases_combine_as_grid_pairs_or_samples():
    grid, pairs = made(), made(combine="pairs")
    assert grid.count() == 9 and [tuple(case.values()) for case in grid.cases()] == [
        (a, b) for a in (1.0, 2.0, 4.0) for b in (1.0, 1.5, 2.0)
    ]
    assert pairs.count() == 3 and list(pairs.cases()) == [
        {"a": 1.0, "b": 1.0},
        {"a": 2.0, "b": 1.5},
        {"a": 4.0, "b": 2.0},
    ]
    latin = made(combine="latin", samples=4)
    assert latin.count() == 4 == len(rows := [tuple(case.values()) for case in latin.cases()])
    a, b = np.array(rows).T
    assert (np.sort(((a - 1.0) / 0.75).astype(int)) == range(4)).all() and (
        np.sort(((b - 1.0) / 0.25).astype(int)) == range(4)
    ).all()
    assert made(combine="indices", samples=8).count() == 8 * 4 and grid.columns() == [
        "a",
        "b",
        "growth",
    ]
    assert made(report={"x": "max", "y": ["end", "rms"]}).columns() == [
        "a",
        "b",
        "max(x)",
        "end(y)",
        "rms(y)",
        "growth",
    ]


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({"samples": 1}, True), ({"samples": 0}, False), ({"samples": 1_000_000}, True), ({"samples": 1_000_001}, False), ({"seed": 2**63}, True),
        ({"seed": 2**63 + 1}, False), ({"seed": -1}, False), ({"vary": {"a": {"from": 1, "to": 2, "count": 1}}}, False), ({"vary": {}}, False),
        ({"vary": {"a": {"from": 1, "to": 2, "count": 2}}}, True), ({"vary": {"a": []}}, False), ({"rest": []}, False),
        ({"combine": "indices", "samples": 1}, True), ({"combine": "indices", "samples": 12}, False),
        ({"combine": "pairs", "vary": {"a": [1], "b": [1, 2]}}, False),
        ({"vary": {"a": {"from": 0, "to": 1, "count": 1_000_000}}}, True), ({"vary": {"a": {"from": 0, "to": 1, "count": 1_000_001}}}, False),
        ({"correlated": {"of": ["a"]}, "combine": "grid"}, False), ({"rest": [], "report": {"x": "max"}}, True), ({"report": {"x": []}}, False),
    ],
)  # fmt: skip
def test_study_size_limits_are_inclusive(change: dict[str, Any], good: bool):
    if good:
        assert made(**change)
    else:
        with pytest.raises(ValueError, match="validation error"):
            made(**change)


def test_study_resumes_from_case(monkeypatch: pytest.MonkeyPatch):
    """Rows come as they are done; what is told counts those that were there."""
    told: list[float] = []

    def rows_of(source: str, cases: Any, options: Any, texts: Any, workers: int, told: Any) -> Any:
        told(1.0)
        return iter([(0, [source, options, texts, workers]), (1, cases)])

    monkeypatch.setattr(study, "rows_of", rows_of)
    wanted = made(run={"stop_time": 2.0})
    first, cases = run_study(wanted, told.append, 3, first=7)
    assert (
        first == ["lib:boom", {"stop_time": 2.0}, ["growth"], 3]
        and cases == list(wanted.cases())[7:]
        and told == [8.0]
    )
    assert list(run_study(wanted))[1] == list(wanted.cases())


def test_worst_case_search_starts_at_middle_of_bounds(monkeypatch: pytest.MonkeyPatch):
    """With the options that a search knows; a number that does not vary and what varies together are refused."""
    asked: list[Any] = []
    monkeypatch.setattr(worst_case, "optimise", lambda task, told: asked.append(task) or "found")
    wanted = made(seed=2**31 + 5, run={"stop_time": 2.0, "step": 0.1, "inputs": {"f": 1.0}})
    assert worst_case.worst_case(wanted, "damping") == "found"
    (task,) = asked
    assert {name: (v.low, v.high, v.start) for name, v in task.variables.items()} == {
        "a": (1.0, 4.0, 2.5),
        "b": (1.0, 2.0, 1.5),
    }
    assert (task.measures, task.constraints, task.method, task.seed, task.iterations) == (
        {"damping": 1.0},
        {},
        "differential-evolution",
        5,
        40,
    )
    assert task.run == {"stop_time": 2.0, "inputs": {"f": 1.0}} and task.source == "lib:boom"
    for change, said in (
        ({"vary": {"a": [2.0, 2.0]}}, "vary.a has one value only"),
        ({"correlated": {"of": ["a", "b"]}}, "leave out"),
    ):
        with pytest.raises(BadInput, match=said):
            worst_case.worst_case(
                made().model_copy(update={"given": change["vary"]} if "vary" in change else change),
                "damping",
            )


class Ran(dict):
    time = np.arange(6.0)
    events: Any = [
        SimpleNamespace(time=t, stage=stage)
        for t, stage in ((1.0, "swing a"), (2.0, "travel"), (3.0, "swing b"), (3.0, "travel"))
    ]

    def unit(self, name: str) -> str:
        return {"x": "m", "a": "rad", "p": "Pa"}[name]


def test_disturbance_ends_at_following_stage():
    """A stage that begins with it does not end it; without one, or without disturbances, the run counts to its end."""
    asked: Any = SimpleNamespace(disturbed="swing", until="travel")
    assert spans(asked, Ran()) == [(1.0, 2.0), (3.0, 5.0)]  # type: ignore[arg-type]
    asked.until = ""
    assert spans(asked, Ran()) == [(1.0, 5.0), (3.0, 5.0)]  # type: ignore[arg-type]
    asked.disturbed = "nothing"
    assert spans(asked, Ran()) == [(0.0, 5.0)]  # type: ignore[arg-type]
    assert [shown_unit(Ran(), name) for name in "xap"] == [(1e3, "mm"), (1e3, "mrad"), (1.0, "Pa")]  # type: ignore[arg-type]


def compared(**more: Any) -> Comparison:
    return Comparison.model_validate(
        {
            "mechanism": "lib:x",
            "hold": ["x", "y"],
            "ways": {"soft": {"k": 1.0}, "stiff": {"k": 2.0}},
            "band": 0.1,
            **more,
        }
    )


def test_variants_share_random_numbers(
    monkeypatch: pytest.MonkeyPatch,
):
    """Largest deviations from each run's own start; what is told counts the ways that are done."""
    asked: list[Any] = []

    def many(columns: Any, **options: Any) -> dict[str, np.ndarray]:
        asked.append((columns, options))
        return {
            "x": np.array([[1.0, 4.0, 0.0], [2.0, 2.5, -3.0]]),
            "y": np.array([[0.0, 0.0, 0.0], [5.0, math.nan, 1.0]]),
        }

    system = SimpleNamespace(simulate=lambda **options: options, simulate_many=many)
    monkeypatch.setattr(stabilisation, "system_of", lambda wanted, way: asked.append(way) or system)
    wanted, told = (
        compared(
            vary={"m": {"normal": [1.0, 0.1]}},
            samples=2,
            seed=3,
            run={"stop_time": 2.0, "method": "DRT"},
        ),
        list[float](),
    )
    assert stabilisation.compare(wanted, told.append) == {
        "soft": {"stop_time": 2.0, "method": "DRT"},
        "stiff": {"stop_time": 2.0, "method": "DRT"},
    }
    assert told == [1.0, 2.0] and asked == ["soft", "stiff"]
    found = spread(wanted, told.append)
    assert told[2:] == [1.0, 2.0] and list(found) == ["soft", "stiff"]
    assert (
        found["soft"]["x"].tolist() == [3.0, 5.0]
        and found["stiff"]["y"][0] == 0.0
        and math.isnan(found["stiff"]["y"][1])
    )
    (first, options), (second, _) = asked[3], asked[5]
    expected = drawn("latin", {"m": Distribution("normal", 1.0, 0.1)}, 2, 3)["m"]
    assert first["m"].tolist() == second["m"].tolist() == expected.tolist() and options == {
        "outputs": ["x", "y"],
        "stop_time": 2.0,
    }
    for change in ({"samples": 1}, {"samples": 100_001}, {"seed": -1}, {"until": "travel"}):
        with pytest.raises(ValueError, match="validation error"):
            compared(**change)
    assert (
        compared(samples=100_000, seed=0).samples == 100_000 and stabilisation.NOT_SETTLED == 0.98
    )


def test_sweep_harmonics_account_for_staircase_input():
    """Of sin + 0.3 cos 2 + 0.4 sin 5 behind a known response; the sixth harmonic is none of the distortion, nor is what is constant."""
    k, amplitude, response = np.arange(4 * 200), 0.5, 2.0 * np.exp(-0.7j)
    half = math.pi / 200
    first = amplitude * math.sin(half) / half * response * np.exp(-1j * half)  # of exp(jωt - jπ/2)
    angle = 2.0 * math.pi * k / 200
    rows = (
        3.0
        + (first * np.exp(1j * angle)).imag
        + 0.3 * np.cos(2 * angle)
        + 0.4 * np.sin(5 * angle)
        + 7.0 * np.sin(6 * angle)
    )
    found, distortion = sweep.harmonics(rows[:, None], amplitude)
    assert found == pytest.approx([response], rel=1e-12) and distortion == pytest.approx(
        [0.5 / abs(first)], rel=1e-9
    )


def test_sine_excitation_is_sampled():
    """200 steps a period, from the first period on; outputs of the last four at the beginnings of their steps, before the next command."""
    log: list[Any] = []
    host = SimpleNamespace(time=3.0, given=0.0)
    host.get = lambda outputs: [host.given, host.time]
    host.set = lambda values: setattr(host, "given", values["f"])
    host.step = lambda time: (
        log.append((host.given, time - host.time)),
        setattr(host, "time", time),
    )
    rows = sweep.answers(host, "f", ["y", "t"], 10.0, 2.0, 0.25, 3)
    assert rows.shape == (4 * 200, 2) and len(log) == 7 * 200
    t = np.arange(7 * 200)
    assert [given for given, _ in log] == pytest.approx(
        list(10.0 + 2.0 * np.sin(2 * math.pi * t / 200)), abs=1e-9
    )
    assert [step for _, step in log] == pytest.approx([0.02] * len(log), abs=1e-9)
    assert rows[:, 1] == pytest.approx(3.0 + 0.02 * t[600:], abs=1e-9) and rows[
        :, 0
    ] == pytest.approx(10.0 + 2.0 * np.sin(2 * math.pi * (t[600:] - 1) / 200), abs=1e-9)
    made = sweep.Sweep(
        np.ones(1), ("y",), np.array([[3.0 + 4j]]), np.array([[0.0 + 2j]]), np.zeros((1, 1))
    )
    assert made.apart == pytest.approx(np.array([[math.sqrt(13.0) / 2.0]]), rel=4 * EPS)


def test_experiment_search_stays_within_bounds(monkeypatch: pytest.MonkeyPatch):
    """For the largest score; what leaves its limits costs the more the further it goes, what cannot run ten times as much, what tells nothing too."""
    given: list[Any] = []
    answer = SimpleNamespace(fun=-2.0, x=np.array([1.5, 0.5]))
    monkeypatch.setattr(
        "scipy.optimize.differential_evolution",
        lambda price, bounds, **how: given.append((price, bounds, how)) or answer,
    )
    monkeypatch.setattr(excitation, "checked_parameters", lambda mechanism, names: {"k": 4.0})
    beyond, score = [0.0], [2.5]

    def moved(mechanism: Any, wanted: Any, each: Any) -> float:
        if math.isnan(beyond[0]):
            raise EvaluationError("it tips over", Status.SINGULAR_BODY)
        return beyond[0]

    monkeypatch.setattr(excitation, "excess", moved)
    informed = lambda mechanism, names, trials, noise, stop, step: {  # noqa: E731
        "one": SimpleNamespace(score=lambda sizes: score[0] + sum(sizes) + trials["one"])
    }
    monkeypatch.setattr(excitation, "experiment_information", informed)
    wanted = Wanted(["k"], {"x": 1e-3}, 4.0, 0.01, {"a": (1.0, 2.0), "f": (0.1, 1.0)}, {"x": 0.5})
    made: Any = lambda numbers: numbers["a"] + 10.0 * numbers["f"]  # noqa: E731
    assert best_excitation(None, wanted, made) == {"a": 1.5, "f": 0.5}  # type: ignore[arg-type]
    ((price, bounds, how),) = given
    assert bounds == [(1.0, 2.0), (0.1, 1.0)] and how == {
        "maxiter": 10,
        "popsize": 6,
        "rng": 1,
        "tol": 1e-6,
        "polish": False,
        "init": "sobol",
    }
    x = np.array([1.0, 0.5])
    assert price(x) == -(2.5 + 4.0 + 6.0)
    for moves, tells, cost in (
        (0.25, 2.5, 1250.0),
        (math.nan, 2.5, 1e4),
        (0.0, -math.inf, 1e3),
        (0.0, math.nan, 1e3),
    ):
        beyond[0], score[0] = moves, tells
        assert price(x) == cost
    for fun, good in ((999.0, True), (1000.0, False)):
        answer.fun = fun
        if good:
            assert best_excitation(None, wanted, made)  # type: ignore[arg-type]
        else:
            with pytest.raises(
                BadInput,
                match="no experiment between the bounds of a, f determines the parameters and keeps x within 0.5",
            ):
                best_excitation(None, wanted, made)  # type: ignore[arg-type]


def test_experiment_limit_violation():
    """The worst of its columns, from where each began, as a part of what it may move."""
    run = type("Run", (dict,), {"names": ["x", "y"]})(
        {"x": np.array([3.0, 4.0, 2.5]), "y": np.array([0.0, -0.75, 0.25])}
    )
    asked: list[Any] = []
    compile = lambda **settings: SimpleNamespace(  # noqa: E731
        simulate=lambda **options: asked.append((settings, options)) or run
    )
    mechanism: Any = SimpleNamespace(compile=compile)
    each: Any = SimpleNamespace(settings={"m": 2.0}, inputs={"f": 1.0})
    for most, expected in (
        ({}, 0.0),
        ({"x": 0.5}, 1.0),
        ({"x": 0.5, "y": 0.25}, 2.0),
        ({"y": 0.25, "x": 0.5}, 2.0),
        ({"x": 1.0}, 0.0),
        ({"x": 4.0}, 0.0),
    ):
        assert excess(mechanism, Wanted(["k"], {}, 4.0, 0.01, {}, most), each) == expected
    assert (
        asked[0] == ({"m": 2.0}, {"stop_time": 4.0, "output_step": 0.01, "inputs": {"f": 1.0}})
        and len(asked) == 5
    )
    with pytest.raises(BadInput, match="most: no column 'z'"):
        excess(mechanism, Wanted(["k"], {}, 4.0, 0.01, {}, {"z": 1.0}), each)


def test_energies_and_deviations_of_coupled_drives_match_formulas():
    """What flows out of the supply costs, at its pressure, by trapezoids; deviations count from both starts, over the range of the exact one."""
    flows = {
        f"{label}.flow_{side}": np.zeros(3)
        for label in ("slew_left", "slew_right", "luff_drive")
        for side in "ab"
    }
    flows["slew_left.flow_a"], flows["luff_drive.flow_b"] = (
        np.array([1e-4, -5e-4, 2e-4]),
        np.array([0.0, 1e-4, 1e-4]),
    )
    trace = type("Trace", (dict,), {"time": np.array([0.0, 0.5, 2.0])})(
        flows | {"carrier.slew": np.array([1.0, 1.5, 1.25]), "luff_drive.x": np.zeros(3)}
    )
    reference = type("Run", (dict,), {"time": np.array([0.0, 1.0, 2.0])})(
        {"slew": np.array([3.0, 4.0, 2.0]), "other": np.array([0.0, 0.0, 8.0])}
    )
    run = Coupled(trace, reference, 0.5, 1.0, [])  # type: ignore[arg-type]
    supply = drive_of("luff_drive").valve.supply
    assert run.energy == pytest.approx(supply * np.array([0.0, 0.5e-4, 0.5e-4 + 3e-4]), rel=1e-12)
    assert (
        run.deviation("slew") == (1.25, 1.5)
        and run.deviation("slew", "other") == (7.75, 8.0)
        and run["luff_drive.x"].tolist() == [0.0] * 3
    )
    assert shipped() is shipped(), "read once"
