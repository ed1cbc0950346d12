"""Formulas behind the designs of controllers, each beside what mathematics has for it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models.analysis.frequency_response import Margins, StateSpace
from kinetree.scripts.studies import controller_design as designs
from kinetree.scripts.studies.loop_tuning import (
    Tuned,
    bandwidth,
    forward_gains,
    keeps,
    notch_filter,
    shaped,
)
from kinetree.scripts.studies.lqg import diffused, weights

EPS = float(np.finfo(float).eps)


def test_disturbance_covariance_matches_integrals():
    """Half of the one-sided density: first order a, v (exp(2 a T) - 1)/(4 a); of a double integrator v/2 (T³/3, T²/2; T²/2, T)."""
    a, v, T = -0.75, 3.0, 0.5
    assert diffused(np.array([[a]]), np.array([[v]]), T)[0, 0] == pytest.approx(
        v * math.expm1(2 * a * T) / (4 * a), rel=64 * EPS
    )
    chain, push = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([0.0, v])
    expected = 0.5 * v * np.array([[T**3 / 3, T**2 / 2], [T**2 / 2, T]])
    assert diffused(chain, push, T) == pytest.approx(expected, rel=64 * EPS)


def test_lqg_weights_are_selected_by_name():
    assert weights(["x", "v"], {"v": 2.5}, 0.5).tolist() == [[0.5, 0.0], [0.0, 2.5]]
    with pytest.raises(ValueError, match="no 'w' to weigh; there are x, v"):
        weights(["x", "v"], {"w": 1.0}, 0.5)


@pytest.mark.parametrize("frequency", [0.5, 3.0])
def test_notch_filter_matches_formula(frequency: float):
    """(s² + 2 d w s + w²)/(s² + 2 D w s + w²): d/D at its own frequency, 1 far below and above it."""
    depth, width = 0.05, 0.6
    notch, w = notch_filter(frequency, depth, width), 2 * math.pi * frequency
    for omega in (1e-6 * w, 0.3 * w, w, 2.5 * w, 1e6 * w):
        s = 1j * omega
        expected = (s * s + 2 * depth * w * s + w * w) / (s * s + 2 * width * w * s + w * w)
        assert complex(notch.response(np.array([omega]))[0, 0, 0]) == pytest.approx(
            expected, rel=64 * EPS
        )


def servo(gain: float) -> StateSpace:
    """gain/(s + 1)."""
    return StateSpace(np.array([[-1.0]]), np.array([[gain]]), np.array([[1.0]]), np.zeros((1, 1)))


def test_bandwidth_matches_sensitivity_formula():
    """|S|² = (1 + ω²)/((1 + g)² + ω²) is a half at ω² = (1 + g)² - 2; of the frequencies that are looked at the first one beyond."""
    loop, exact = servo(9.0), math.sqrt(98.0)
    found, grid = bandwidth(loop, 0.0), loop.frequencies()
    assert found == grid[np.searchsorted(grid, exact)] and exact <= found
    assert bandwidth(servo(0.1), 0.0) == servo(0.1).frequencies()[0], (
        "what never feeds back much has none"
    )
    late = bandwidth(loop, 0.05)
    at = lambda w: abs(1 / (1 + 9.0 / (1j * w + 1) * np.exp(-0.05j * w)))  # noqa: E731
    before = grid[np.searchsorted(grid, late) - 1]
    assert at(before) <= math.sqrt(0.5) < at(late) and late != found


@pytest.mark.parametrize("m", [1.0, 2e5])
def test_feed_forward_matches_mass_with_friction(m: float):
    """1/G = m s² + d s exactly: m per acceleration, d per speed, whatever the crossover."""
    d = 3.0 * m
    plant = StateSpace(
        np.array([[0.0, 1.0], [0.0, -d / m]]),
        np.array([[0.0], [1 / m]]),
        np.array([[1.0, 0.0]]),
        np.zeros((1, 1)),
    )
    for crossover in (0.5, 20.0):
        speed, acceleration = forward_gains(plant, crossover)
        assert (speed, acceleration) == pytest.approx(
            (d, m), rel=1e-9
        )  # d w beside m w²: a part of 1/30 squared is left to roundings


@pytest.mark.parametrize(
    ("kinds", "sign"), [((), 1.0), (("ki",), -1.0), (("kd",), 1.0), (("ki", "kd"), 1.0)]
)
def test_shaped_controller_crosses_at_requested_frequency(kinds: tuple[str, ...], sign: float):
    """|C G| = 1 at ω; zeros at ω/6 and ω/2.5, the derivative filtered at 10 ω."""
    omega, plant = 3.0, servo(0.25)
    numbers = shaped(kinds, omega, plant, sign)
    kp, ki, kd = (numbers.get(key, 0.0) for key in ("kp", "ki", "kd"))
    s = 1j * omega
    C = kp + ki / s + (kd * s / (numbers["filter"] * s + 1) if kd else 0.0)
    assert (
        abs(C * 0.25 / (s + 1)) == pytest.approx(1.0, rel=64 * EPS)
        and math.copysign(1.0, kp) == sign
    )
    assert (ki, kd) == pytest.approx(
        (kp * omega / 6 if "ki" in kinds else 0.0, kp * 2.5 / omega if kd else 0.0), rel=8 * EPS
    )
    assert not kd or numbers["filter"] == pytest.approx(1 / (10 * omega))


@pytest.mark.parametrize(
    ("count", "crossovers", "rounds"),
    [
        (1, (4.0, 2.0), 1),
        (2, (2.0, 1.0009, 1.0), 3),
        (3, (2.0, 1.0, 1.0), 3),
        (2, (1.0, 2.0) * 4, 8),
    ],
)
def test_loops_are_retuned_until_converged(
    monkeypatch: pytest.MonkeyPatch, count: int, crossovers: tuple[float, ...], rounds: int
):
    """A single loop once; several in turns, each with the others closed, until no crossover moves by a thousandth, eight times at most."""
    asked: list[int] = []
    seen: list[list[int]] = []

    def tuned(plant: object, table: dict, scenario: object, before: Tuned | None) -> Tuned:
        asked.append(table["number"])
        return Tuned({"kp": 1.0}, crossovers[(len(asked) - 1) // count], None, 0.0, 0.0)  # type: ignore[arg-type]

    monkeypatch.setattr(designs, "loop_of", tuned)
    monkeypatch.setattr(
        designs,
        "alone",
        lambda whole, scenario, closed, k: (
            seen.append(sorted(closed)) or SimpleNamespace(then=lambda C: None)
        ),
    )
    monkeypatch.setattr(designs, "margins", lambda loop: "told at last")
    monkeypatch.setattr(designs, "held_plant", lambda plant, period, late: None)
    loops = [{"number": k, "command": f"u{k}", "measure": f"y{k}"} for k in range(count)]
    scenario = SimpleNamespace(
        loops=loops, commands=[], measures=[], forward=False, step=0.01, path="s.toml"
    )
    found = SimpleNamespace(scenario=scenario, loops=[])
    linear = SimpleNamespace(part=lambda commands, measures: SimpleNamespace(moving=lambda: None))
    designs.tune_loops(found, linear, {"period": 0.01, "delay": 0.0})  # type: ignore[arg-type]
    assert asked == list(range(count)) * rounds
    assert seen[:count] == [list(range(k)) for k in range(count)] and all(
        each == list(range(count)) for each in seen[count:]
    )
    assert [
        (table["number"], each.margins, each.crossover, forward)
        for table, each, forward in found.loops
    ] == [(k, "told at last", crossovers[rounds - 1], None) for k in range(count)]


@pytest.mark.parametrize(("phase", "gain", "modulus"), [(45.0, 2.0, 0.5), (60.0, 3.0, 0.25)])
def test_margins_are_kept_within_a_hundredth(phase: float, gain: float, modulus: float):
    """What closing the other loops takes from margins, up to 1 % of each, still is what was asked for; without leave nothing is."""
    wanted = {"phase": phase, "gain": gain, "modulus": modulus}
    for part, kept in ((1.0, True), (0.992, True), (0.988, False)):
        for key in ("phase", "gain", "modulus"):
            have = wanted | {key: part * wanted[key]}
            found = Margins(
                True, have["gain"], 1.0, 0.0, have["phase"], 1.0, 1.0, have["modulus"], 1.0, 1.0
            )
            assert keeps(found, wanted) == kept and keeps(found, wanted, 0.0) == (part == 1.0), (
                key,
                part,
            )
