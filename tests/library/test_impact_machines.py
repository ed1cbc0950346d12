"""Impact machines, nonholonomic and legged ones of the library: closed forms, reduced equations, published states."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.fmi.verify import verify

G = 9.81


def test_woodpecker_has_a_limit_cycle():
    """Strokes of the beak come evenly, and on its way down the bird passes the published state of the cycle of a model linear in the angles.

    Glocker 1995: sleeve jammed at -0.1036, bird at -0.2788 rad with -7.4583 rad/s, falling at 0.3411 m/s; period of about 0.145 s."""
    result = load("lib:woodpecker").compile().simulate(3.0)
    strokes = np.array([event.time for event in result.events if event.cause == "contact 'beak'"])
    periods = np.diff(strokes)[-6:]
    assert periods == pytest.approx(periods.mean(), rel=0.02) and periods.mean() == pytest.approx(
        0.145, rel=0.03
    )
    falls = np.diff(np.interp(strokes, result.time, result["z"]))[-6:]
    assert falls == pytest.approx(falls.mean(), rel=0.05) and falls.mean() < -0.01
    late = result.time > 1.5
    angle = result["bird_angle"]
    passing = np.flatnonzero(late[1:] & (angle[:-1] > -0.2788) & (angle[1:] <= -0.2788)) + 1
    assert passing.size >= 6
    for k in passing:
        assert result["sleeve_angle"][k] == pytest.approx(-0.1036, abs=1e-3)
        assert result["der(sleeve_angle)"][k] + result["der(bend)"][k] == pytest.approx(
            -7.4583, rel=0.1
        )
        assert result["der(z)"][k] == pytest.approx(-0.3411, rel=0.1)


def test_woodpecker_falls_without_friction():
    result = load("lib:woodpecker", friction=0.0).compile().simulate(0.3)
    start = result["der(z)"][0]
    assert result["der(z)"][-1] < start - 0.5 * G * 0.3


def test_impact_pair_reaches_periodic_motion():
    """Two impacts per period at the phases τ, τ + π: speed (play + 2 A sin τ) ω/π between them, restitution (1 - e) v = -(1 + e) A ω cos τ."""
    A, omega, play, e = 0.01, 25.0, 0.05, 0.5

    def wrong(phase: float) -> float:
        return (play + 2 * A * math.sin(phase)) * omega / math.pi * (1 - e) + (
            1 + e
        ) * A * omega * math.cos(phase)

    phase = brentq(wrong, math.pi / 2, math.pi)
    speed = (play + 2 * A * math.sin(phase)) * omega / math.pi
    result = load("lib:impact-pair").compile().simulate(12.0)
    times = np.array([event.time for event in result.events])
    assert np.diff(times)[-10:] == pytest.approx(math.pi / omega, rel=1e-6)
    assert np.abs(result["der(x)"][-20:]) == pytest.approx(speed, rel=1e-6)
    found = np.mod(omega * times[-10:], math.pi)
    assert found == pytest.approx(np.mod(phase, math.pi), abs=1e-5)


@pytest.mark.parametrize("friction", [0.0, 0.5, 1.3])
def test_painleve_rod_slides_with_known_force(friction: float):
    """N = m (g - l θ'² sin θ)/(1 + 3 cos θ (cos θ - μ sin θ)) as long as it slides."""
    result = (
        load("lib:painleve-rod", friction=friction, sliding=6.0, angle=1.2).compile().simulate(0.1)
    )
    theta, rate = result["theta"], result["der(theta)"]
    known = (G - 0.5 * rate**2 * np.sin(theta)) / (
        1 + 3 * np.cos(theta) * (np.cos(theta) - friction * np.sin(theta))
    )
    down = known > 1.0  # before it lifts off by its turning
    assert down.sum() > 10 and result["load"][down] == pytest.approx(known[down], rel=1e-7)


def test_painleve_paradox_is_reported():
    """With friction of 2 there is no answer at 1.1 rad: 1 + 3 cos θ (cos θ - μ sin θ) < 0."""
    with pytest.raises(EvaluationError, match="end"):
        load("lib:painleve-rod", friction=2.0, angle=1.1).compile().simulate(0.1)


@pytest.mark.parametrize("blocks", [2, 4, 5, 6])
def test_falling_stack_comes_to_rest(blocks: int):
    """The first impact is that of free fall; at the end every interface carries what is above it; energy never grows."""
    result = load("lib:falling-stack", blocks=blocks).compile().simulate()
    assert result.events[0].time == pytest.approx(math.sqrt(2 * 0.05 / G), rel=1e-9)
    for i in range(1, blocks + 1):
        assert result[f"load{i}"][-1] == pytest.approx(2.0 * G * (blocks - i + 1), rel=1e-9)
    assert np.diff(result["energy"]).max() < 1e-9 and np.abs(result[f"der(z{blocks})"][-1]) < 1e-9


@pytest.mark.parametrize("frequencies", [(1.0, 1.0), (2.0, 1.0), (3.0, 2.0)])
def test_snakeboard_matches_reduced_equation(frequencies: tuple[float, float]):
    """The reduced equation of the source for the forward speed, then heading and place, by another integrator."""
    rotor, axles = frequencies
    result = (
        load("lib:snakeboard", rotor_frequency=rotor, axle_frequency=axles)
        .compile()
        .simulate(20.0, output_step=0.5)
    )
    m, J, Jr, l = 4.0 + 1.6 + 0.4, 0.016 + 0.072 + 2 * 0.0013 + 2 * 0.2 * 0.2**2, 0.072, 0.2

    def rates(t: float, y: np.ndarray) -> list[float]:
        v, heading = y[0], y[1]
        phi, phi_rate = 0.3 * math.sin(axles * t), 0.3 * axles * math.cos(axles * t)
        k, k_rate = math.tan(phi) / l, phi_rate / math.cos(phi) ** 2 / l
        push = -k * (J * v * k_rate - Jr * 0.7 * rotor**2 * math.sin(rotor * t))
        return [push / (m + J * k * k), v * k, v * math.cos(heading), v * math.sin(heading)]

    known = solve_ivp(rates, (0.0, 20.0), [0.0] * 4, rtol=1e-10, atol=1e-12, t_eval=result.time).y
    for name, row in zip(("speed", "heading", "x", "y"), known, strict=True):
        assert result[name] == pytest.approx(row, abs=1e-6), name
    if frequencies == (1.0, 1.0):
        assert result["x"][-1] > 1.0


def test_quadruped_stands_still():
    """No stride: feet carry the weight, nothing moves."""
    result = load("lib:quadruped").compile().simulate(2.0, inputs={"stride": lambda t: 0.0})
    weight = (10.0 + 4 * (0.7 + 1.2 + 0.35)) * G
    loads = sum(
        result[f"load_{leg}"][-1]
        for leg in ("front_left", "front_right", "rear_left", "rear_right")
    )
    assert loads == pytest.approx(weight, rel=1e-3) and result["trunk_position[3]"][-1] > 0.35


def test_quadruped_trots_and_turns():
    """Forward at half a metre a second, upright; another stride to the right turns it to the left."""
    system = load("lib:quadruped").compile()
    straight = system.simulate(4.0, output_step=0.02)
    assert straight["trunk_position[1]"][-1] > 1.2 and straight["upright[1]"].min() > 0.95
    feet = np.array([straight[f"load_{leg}"] > 0.0 for leg in ("front_left", "front_right")])
    walking = straight.time > 1.5
    assert 0.2 < (feet[0] ^ feet[1])[walking].mean()  # diagonals in turn
    turned = system.simulate(4.0, output_step=0.02, inputs={"turn": lambda t: 0.1})
    w, x, y, z = (turned[f"upright[{k}]"][-1] for k in (1, 2, 3, 4))
    assert np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["woodpecker", "impact-pair", "snakeboard", "falling-stack", "quadruped", "painleve-rod"],
)
@pytest.mark.parametrize("backend", ["native", "python"])
def test_impact_machine_fmus_match_process(name: str, backend: str, tmp_path: Path):
    report = verify(build_fmu(load(f"lib:{name}"), tmp_path / "unit.fmu", backend))
    assert not [check for check in report.checks if not check.good]
