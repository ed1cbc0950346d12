"""Laws, crossovers and closed loops of tuned controllers beside difference equations, transfer functions and margins known by formula."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag, expm

from kinetree.models.analysis.frequency_response import Margins, StateSpace
from kinetree.models.analysis.sampled_loops import SampledLoop, held_plant
from kinetree.scripts.studies import controller_design as designs
from kinetree.scripts.studies import loop_tuning as tuning
from kinetree.scripts.studies.loop_tuning import (
    Tuned,
    controller_of,
    fastest,
    keeps,
    notched,
    sampled_notch,
    sampled_pid,
    snippet,
    tuned,
)
from kinetree.scripts.studies.lqg import Observed
from kinetree.scripts.terminal.error_messages import BadInput

EPS = float(np.finfo(float).eps)
T = 0.125
INTEGRATOR = StateSpace(np.zeros((1, 1)), np.eye(1), np.eye(1), np.zeros((1, 1)))
NUMBERS = (
    {"kp": 2.0},
    {"kp": 2.0, "ki": 3.0},
    {"kp": -2.0, "kd": 0.5, "filter": 0.25},
    {"kp": 2.0, "ki": 3.0, "kd": 0.5, "filter": 0.25},
    {"kp": 1.0, "kd": 0.5},
)


def played(law: StateSpace, inputs: np.ndarray) -> list[float]:
    """Answers of a system from sample to sample, from nothing."""
    z, found = np.zeros(len(law.A)), []
    for e in inputs:
        found.append(float((law.C @ z + law.D[:, 0] * e)[0]))
        z = law.A @ z + law.B[:, 0] * e
    return found


@pytest.mark.parametrize("numbers", NUMBERS)
def test_sampled_pid_matches_difference_equation(numbers: dict[str, float]):
    """s⁺ = s + ((e - e⁻)/T - s) T/(filter + T), i⁺ = i + ki e T, u = kp e + kd s⁺ + i⁺; as many states as it needs."""
    errors = np.random.default_rng(1).normal(size=12)
    kp, ki, kd, late = (numbers.get(key, 0.0) for key in ("kp", "ki", "kd", "filter"))
    expected, s, i, before = [], 0.0, 0.0, 0.0
    for e in errors:
        s += ((e - before) / T - s) * T / (late + T)
        i += ki * e * T
        before = e
        expected.append(kp * e + kd * s + i)
    law = sampled_pid(**numbers, period=T)
    assert played(law, errors) == pytest.approx(expected, rel=1e-13, abs=1e-13) and law.period == T
    assert len(law.A) == (3 if ki else 2) and played(
        controller_of(numbers, T), errors
    ) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_controller_response_matches_formula(numbers: dict[str, float]):
    """Continuous: kp + ki/s + kd s/(filter s + 1) behind (s² + 2 d w s + w²)/(s² + 2 D w s + w²); sampled: the same s by the bilinear rule,
    exact at w."""
    notch, omega = {"frequency": 0.5, "depth": 0.05, "width": 0.6}, np.array([0.3, math.pi, 7.0])
    w, kp, ki, kd = math.pi, *(numbers.get(key, 0.0) for key in ("kp", "ki", "kd"))
    late = numbers.get("filter", 1e-6)
    rule = lambda s: (s * s + 2 * 0.05 * w * s + w * w) / (s * s + 2 * 0.6 * w * s + w * w)  # noqa: E731
    s, z = 1j * omega, np.exp(1j * omega * T)
    plain = kp + ki / s + kd * s / (late * s + 1)
    close = (
        64 * EPS * (1.0 + (kd / late if kd else 0.0))
    )  # what a fast filter of the derivative takes from itself
    assert controller_of(numbers, 0.0).response(omega)[:, 0, 0] == pytest.approx(plain, abs=close)
    assert controller_of(numbers, 0.0, notch).response(omega)[:, 0, 0] == pytest.approx(
        plain * rule(s), abs=close
    )
    bilinear = rule(w / math.tan(w * T / 2) * (z - 1) / (z + 1))
    assert sampled_notch(**notch, period=T).response(omega)[:, 0, 0] == pytest.approx(
        bilinear, rel=1e-8
    )  # slopes of its law by differences
    found = controller_of(numbers, T, notch).response(omega)[:, 0, 0]
    assert found == pytest.approx(
        sampled_pid(**numbers, period=T).response(omega)[:, 0, 0] * bilinear, rel=1e-8
    )


@pytest.mark.parametrize(
    ("wanted", "angle", "sign", "late"),
    [
        ({"phase": 60.0, "gain": 1.5}, math.pi / 6, 1.0, 0.25),
        ({"phase": 30.0, "gain": 4.0}, math.pi / 8, -1.0, 0.5),
    ],
)
def test_dead_time_integrator_meets_margins(
    wanted: dict[str, float], angle: float, sign: float, late: float
):
    """L = w/s exp(-s T): the phase margin is 90° - w T, the gain margin pi/(2 w T); the smaller of both w is found to a part of 2^-20 of a step."""
    plant = replace(INTEGRATOR, B=sign * INTEGRATOR.B)
    found = tuned(plant, ("kp",), late, {"modulus": 0.1, **wanted})
    assert (
        found is not None
        and found.crossover == pytest.approx(angle / late, rel=1e-6)
        and found.crossover <= angle / late * (1 + 1e-9)
    )
    assert found.numbers["kp"] == pytest.approx(
        sign * found.crossover, rel=1e-12
    ) and found.margins.phase_at == pytest.approx(found.crossover, rel=1e-6)
    assert (found.delay, found.notch) == (late, None) and 0.0 < found.bandwidth < found.crossover


def test_modulus_margin_may_limit_the_crossover():
    """|1 + L| of w/s exp(-s T) is least where a fine grid says; of the crossover found it is what was asked for."""
    found = tuned(INTEGRATOR, ("kp",), 1.0, {"modulus": 0.6, "phase": 10.0, "gain": 1.01})
    assert found is not None
    s = 1j * np.geomspace(0.01, 10.0, 20000)
    assert np.abs(1 + found.crossover / s * np.exp(-s)).min() == pytest.approx(0.6, abs=1e-5)


def test_unlimited_bandwidth_is_capped():
    """Ten times the fastest of a continuous plant; of a sampled one nine tenths of half its rate, w T/2 behind."""
    found = tuned(INTEGRATOR, ("kp",), 0.0, {})
    assert found is not None and found.crossover == 10.0 * INTEGRATOR.frequencies()[-1]
    found = tuned(
        held_plant(INTEGRATOR, T), ("kp",), 0.0, {"phase": 8.9, "gain": 1.01, "modulus": 0.01}
    )
    assert (
        found is not None
        and found.crossover == pytest.approx(0.9 * math.pi / T, rel=4 * EPS)
        and found.margins.phase == pytest.approx(9.0, rel=1e-6)
    )


def test_crossover_bisection_has_twenty_steps():
    """Towards the last crossover that keeps its margins, in its logarithm."""
    asked: list[float] = []

    def kept(omega: float) -> Tuned | None:
        asked.append(omega)
        return Tuned({}, omega, None, 0.0, 0.0) if omega <= 3.0 else None  # type: ignore[arg-type]

    found = fastest(kept, Tuned({}, 1.0, None, 0.0, 0.0), 16.0)  # type: ignore[arg-type]
    assert (
        len(asked) == 20
        and asked[:3] == pytest.approx([4.0, 2.0, math.sqrt(8.0)])
        and 3.0 / 16.0 ** (2.0**-20) <= found.crossover <= 3.0
    )


def test_conditionally_stable_loop_keeps_lower_gain_margin():
    """By as much as it may grow; a phase that leads counts as one that lags; what is unstable keeps nothing."""
    wanted = {"phase": 45.0, "gain": 2.0, "modulus": 0.5}
    known = Margins(True, 2.0, 1.0, 0.0, -45.0, 1.0, 1.0, 0.5, 1.0, 1.0)
    assert keeps(known, wanted, 0.0) and not keeps(replace(known, stable=False), wanted)
    for below, short, kept in (
        (0.5, 0.0, True),
        (0.501, 0.0, False),
        (0.504, 1e-2, True),
        (0.506, 1e-2, False),
        (1e-3, 0.0, True),
    ):
        assert keeps(replace(known, gain_below=below), wanted, short) == kept, below


def swing(size: float, damping: float) -> np.ndarray:
    root = math.sqrt(max(1.0 - damping**2, 0.0))
    return size * np.array([[-damping, root], [-root, -damping]])


@pytest.mark.parametrize("period", [0.0, 0.25])
def test_notches_are_tried_only_at_lightly_damped_modes(
    monkeypatch: pytest.MonkeyPatch, period: float
):
    """Not at what hardly swings, grows or is no swing, and of a sampled plant not near half its rate, 12.57/s; taken where a twentieth is gained."""
    A: Any = block_diag(
        swing(5.0, 0.05),
        swing(8.0, 0.301),
        swing(3.0, -0.1),
        swing(4.0, 0.29),
        swing(11.8, 0.1),
        -2.0 * np.eye(1),
    )
    if period:
        A = block_diag(expm(A * period), 1e-10 * np.eye(1))
    n = len(A)
    plant = StateSpace(A, np.ones((n, 1)), np.ones((1, n)), np.zeros((1, 1)))
    if period:
        plant = SampledLoop(A, plant.B, plant.C, plant.D, period)
    asked: list[Any] = []
    answers = {0.05: 1.04, 0.29: 1.06, 0.1: None}

    def tuned(
        plant: Any, kinds: Any, delay: float, wanted: Any, notch: dict[str, float] | None = None
    ) -> Any:
        asked.append(notch)
        speed = 1.0 if notch is None else answers[round(notch["depth"], 6)]
        return None if speed is None else SimpleNamespace(crossover=speed, notch=notch)

    monkeypatch.setattr(tuning, "tuned", tuned)
    best: Any = notched(plant, ("kp",), 0.0, {})
    tried = {each["depth"]: (each["frequency"], each["width"]) for each in asked if each}
    expected = {0.05: 5.0, 0.29: 4.0} | ({} if period else {0.1: 11.8})
    assert sorted(tried) == pytest.approx(sorted(expected)) and asked[0] is None
    for depth, (frequency, width) in tried.items():
        assert (frequency, width) == (pytest.approx(expected[round(depth, 6)] / (2 * math.pi)), 0.7)
    assert best.crossover == 1.06
    answers[0.29] = 1.03
    assert notched(plant, ("kp",), 0.0, {}).crossover == 1.0  # type: ignore[union-attr]


def test_feedthrough_bandwidth_is_capped():
    loop = StateSpace(-np.eye(1), np.zeros((1, 1)), np.zeros((1, 1)), 9.0 * np.eye(1))
    assert tuning.bandwidth(loop, 0.0) == loop.frequencies()[-1]


def test_tuned_numbers_update_table():
    found = snippet(
        {"measure": "x", "kp": 1.0, "low": -2, "filter": 0.5, "setpoint": 0.25},
        {"kp": 1.23456789, "ki": 0.0, "kd": -0.1},
    )
    assert found.splitlines() == [
        "[[loops]]",
        'measure = "x"',
        "low = -2",
        "setpoint = 0.25",
        "kp = 1.23457",
        "kd = -0.1",
    ]


def plant_of(outputs: int, inputs: int, period: float) -> StateSpace:
    """Any stable one, whose commands act on all measures at once, too."""
    draw = np.random.default_rng(4)
    A = draw.normal(size=(4, 4))
    A *= 0.8 / np.abs(np.linalg.eigvals(A)).max()
    parts = (
        A if period else A - np.eye(4),
        draw.normal(size=(4, inputs)),
        draw.normal(size=(outputs, 4)),
        0.3 * draw.normal(size=(outputs, inputs)),
    )
    return SampledLoop(*parts, period) if period else StateSpace(*parts)


@pytest.mark.parametrize("period", [0.0, T])
@pytest.mark.parametrize("notch", [None, {"frequency": 0.5, "depth": 0.05, "width": 0.6}])
def test_loop_plant_closes_other_loops(period: float, notch: dict[str, float] | None):
    """y = G (v - e_j K y_i): G' = (1 + G e_j K e_iᵀ)⁻¹ G, of which a loop sees its measure over its command; what is open stays open."""
    whole, omega = plant_of(3, 2, period), np.array([0.2, 1.5, 4.0])
    loops = [{"measure": "b", "command": "v"}, {"measure": "c", "command": "u"}]
    scenario: Any = SimpleNamespace(loops=loops, measures=["a", "b", "c"], commands=["u", "v"])
    law: designs.Closed = ({"kp": 0.5, "ki": 0.25, "kd": 0.125, "filter": 0.5}, notch)
    K, G = controller_of(law[0], period, notch).response(omega)[:, 0, 0], whole.response(omega)
    over = np.zeros((3, 2, 3), dtype=complex)  # e_j K e_iᵀ of the second loop
    over[:, 0, 2] = K
    expected = np.linalg.solve(np.eye(3) + G @ over, G)
    found = designs.closed_over(whole, loops[1], law, scenario)
    assert found.response(omega) == pytest.approx(expected, rel=1e-9) and type(found) is type(whole)
    assert designs.alone(whole, scenario, {0: law, 1: law}, 0).response(omega)[
        :, 0, 0
    ] == pytest.approx(expected[:, 1, 1], rel=1e-9)
    assert designs.alone(whole, scenario, {}, 1).response(omega)[:, 0, 0] == pytest.approx(
        G[:, 2, 0], rel=1e-12
    )


def looped(monkeypatch: pytest.MonkeyPatch, count: int, answers: Any) -> tuple[Any, list[Any]]:
    """Loops tuned in turn by answers to their number, their turn and what else is closed; the plant is what is closed."""
    asked: list[Any] = []

    def loop_of(plant: Any, table: dict, scenario: Any, before: Any) -> Any:
        asked.append((table["number"], plant, before))
        speed = answers(table["number"], len(asked), plant)
        return None if speed is None else Tuned({"kp": speed}, speed, None, 0.0, 0.0)  # type: ignore[arg-type]

    monkeypatch.setattr(designs, "loop_of", loop_of)
    monkeypatch.setattr(
        designs,
        "alone",
        lambda whole, scenario, closed, k: type("Plant", (dict,), {"then": lambda self, C: None})(
            closed
        ),
    )
    monkeypatch.setattr(designs, "margins", lambda loop: None)
    monkeypatch.setattr(designs, "held_plant", lambda plant, period, late: None)
    monkeypatch.setattr(designs, "forward_gains", lambda plant, crossover: (crossover, 2.0))
    loops = [
        {"number": k, "command": f"u{k}", "measure": f"y{k}", "kp": 0.5 + k, "kd": 0.25}
        for k in range(count)
    ]
    scenario = SimpleNamespace(
        loops=loops, commands=[], measures=[], forward=True, step=0.002, path="s.toml"
    )
    found: Any = SimpleNamespace(scenario=scenario, loops=[])
    linear: Any = SimpleNamespace(
        part=lambda commands, measures: SimpleNamespace(moving=lambda: None)
    )
    designs.tune_loops(found, linear, {"period": 0.002, "delay": 0.006, "jitter": 0.001})
    return found, asked


def test_supported_loop_is_tuned_with_file_gains(
    monkeypatch: pytest.MonkeyPatch,
):
    """Once, at the first turn: a loop that no controller keeps alone is looked at with the others as the file has them; later ones stay as found."""
    rough = {
        0: ({"kp": 0.5, "ki": 0.0, "kd": 0.25, "filter": 0.0}, None),
        1: ({"kp": 1.5, "ki": 0.0, "kd": 0.25, "filter": 0.0}, None),
    }
    found, asked = looped(
        monkeypatch,
        2,
        lambda number, count, plant: (
            (3.0 if plant else None) if number == 0 else (2.0 if count < 4 else None)
        ),
    )
    assert [(number, plant) for number, plant, _ in asked[:3]] == [
        (0, {}),
        (0, rough),
        (1, {0: ({"kp": 3.0}, None)}),
    ] and len(asked) == 5
    assert [before for _, _, before in asked[:3]] == [None] * 3 and asked[3][2].crossover == 3.0
    assert [(each.crossover, forward) for _, each, forward in found.loops] == [
        (3.0, (3.0, 2.0)),
        (2.0, (2.0, 2.0)),
    ]


@pytest.mark.parametrize(("count", "asks"), [(1, 1), (2, 2)])
def test_untunable_loop_error_suggests_remedies(
    monkeypatch: pytest.MonkeyPatch, count: int, asks: int
):
    calls: list[int] = []
    others = ", or give the other loops numbers that hold what they are to hold" * (count > 1)
    said = "s.toml: u0 by y0: no controller with kp, kd that crosses |L| = 1 meets these margins "
    said += f"sampled every 2 ms and 7 ms late: lower the margins{others}"
    with pytest.raises(BadInput) as error:
        looped(monkeypatch, count, lambda number, turn, plant: calls.append(turn))
    assert str(error.value) == said and calls == list(range(1, asks + 1))


@pytest.mark.parametrize(
    ("notch", "before", "expected"),
    [
        (True, None, "notched"),
        (True, {"depth": 0.1}, {"depth": 0.1}),
        (False, None, None),
        (False, {}, {}),
    ],
)
def test_notch_frequency_is_kept(
    monkeypatch: pytest.MonkeyPatch, notch: bool, before: Any, expected: Any
):
    monkeypatch.setattr(
        designs, "notched", lambda plant, kinds, delay, wanted: ("notched", kinds, delay, wanted)
    )
    monkeypatch.setattr(
        designs, "tuned", lambda plant, kinds, delay, wanted, notch: (notch, kinds, delay, wanted)
    )
    known = None if before is None else Tuned({}, 1.0, None, 0.0, 0.0, before)  # type: ignore[arg-type]
    scenario: Any = SimpleNamespace(notch=notch, tune={"phase": 50.0})
    for table, kinds in (
        ({"kp": 1.0, "kd": 1.0}, ["kp", "kd"]),
        ({}, ["kp"]),
        ({"ki": 1.0}, ["ki"]),
    ):
        assert designs.loop_of(None, table, scenario, known) == (
            expected,
            kinds,
            0.0,
            {"phase": 50.0},
        )  # type: ignore[arg-type, comparison-overlap]


def test_observer_table_is_relative_to_equilibrium():
    """Measures less what they are at rest; with its own matrices, and the eigenvalues of regulator and observer."""
    plant = SampledLoop(
        np.diag([0.5, 0.25]), np.array([[1.0], [0.0]]), np.array([[0.0, 1.0]]), np.zeros((1, 1)), T
    )
    made = Observed(plant, np.array([[0.25, 0.0]]), np.array([[0.0], [0.5]]), T)
    assert made.block(["y"], [0.5])["measures"] == ["y - 0.5"] and made.block(["y"], [0.0])[
        "measures"
    ] == ["y"]
    block = made.block(["y"], [0.0])
    assert (block["kind"], block["period"], block["A"], block["K"], block["L"]) == (
        "observer",
        T,
        [[0.5, 0.0], [0.0, 0.25]],
        [[0.25, 0.0]],
        [[0.0], [0.5]],
    )
    assert sorted(made.eigenvalues) == pytest.approx(
        [0.125, 0.25, 0.25, 0.5]
    )  # A - B K: 1/4, 1/4; A - A L C: 1/2, 1/8
