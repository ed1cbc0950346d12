"""Changes of structure, impacts and contacts against exact solutions; sources stand in tests/data."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError

DATA = Path(__file__).parents[1] / "data"
TIGHT = 1e-12


def reference(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def rod(length: float, mass: float, com: float) -> dict[str, Any]:
    across = mass * length**2 / 12
    return {"mass": mass, "com": [com, 0, 0], "inertia": [1e-3, across, across, 0, 0, 0]}


def place(body: str, point: float) -> dict[str, Any]:
    """Position and velocity of a point on the x axis of a body, and its attitude."""
    return {
        f"{body}_r": {"quantity": "position", "body": body, "point": [point, 0, 0]},
        f"{body}_v": {"quantity": "velocity", "body": body, "point": [point, 0, 0]},
        f"{body}_e": {"quantity": "orientation", "body": body},
    }


def angle(result, body: str, k: int) -> float:
    """Angle about z from the quaternion, in (-2π, 2π]."""
    return float(2.0 * np.arctan2(result[f"{body}_e[4]"][k], result[f"{body}_e[1]"][k]))


def difference(a: float, b: float) -> float:
    """Of two angles."""
    return abs((a - b + np.pi) % (2 * np.pi) - np.pi)


# -- changes of structure -------------------------------------------------------------------------------------------------------------------
def test_released_rod_follows_parabola():
    """A rod lets go of its pin at 30 degrees and flies on: instant and parabola to 1e-10, constant rate to 1e-8."""
    expected = reference("structure_changes")["released"]
    swing = {"rotate": "z", "coordinate": "phi", "start": np.pi / 2}
    # the rod's x axis hangs down at phi = 0
    hanging = {"rotate": "z", "by": -np.pi / 2}
    mechanism = {
        "gravity": [0, -9.81, 0],
        "bodies": {"rod": rod(1.2, 2.0, 0.6)},
        "joints": {"pin": {"child": "rod", "transforms": [hanging, swing]}},
        "outputs": place("rod", 0.6),
        "stages": [
            {"name": "swing", "ends": {"when": "phi < pi/6"}, "free": ["pin"]},
            {"name": "flight"},
        ],
    }
    result = (
        load(mechanism)
        .compile()
        .simulate(stop_time=1.0, output_step=0.01, integrator="adams", tolerance=TIGHT)
    )
    assert len(result.events) == 1
    assert result.events[0].time == pytest.approx(expected["t"], abs=1e-10)
    for k in np.flatnonzero(result.time > expected["t"]):
        after = result.time[k] - expected["t"]
        (x, y), (vx, vy) = expected["com"], expected["velocity"]
        assert result["rod_r[1]"][k] == pytest.approx(x + vx * after, abs=1e-10)
        assert result["rod_r[2]"][k] == pytest.approx(y + vy * after - 4.905 * after**2, abs=1e-10)
        assert (
            difference(angle(result, "rod", k) + np.pi / 2, np.pi / 6 + expected["rate"] * after)
            < 1e-8
        )
    system = load(mechanism).compile()
    for after, x, y, turn, vy in expected["rows"]:
        flown = system.simulate(
            stop_time=expected["t"] + after, output_step=0.1, integrator="adams", tolerance=TIGHT
        )
        assert [flown[name][-1] for name in ("rod_r[1]", "rod_r[2]", "rod_v[2]")] == pytest.approx(
            [x, y, vy], abs=1e-8
        )
        assert difference(angle(flown, "rod", -1) + np.pi / 2, turn) < 1e-8


def test_two_release_stages_match_parabolas():
    """Without gravity: a mass leaves the bar at 0.1 s, the bar its pin at 0.3 s; all go on straight and at their rates."""
    expected = reference("structure_changes")["two_stages"]
    mass = {"mass": 2.0, "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0]}
    mechanism = {
        "gravity": [0, 0, 0],
        "bodies": {"bar": rod(1.0, 12.0, 0.5), "mass": mass},
        "joints": {
            "pin": {
                "child": "bar",
                "at": [-1, 0, 0],
                "type": "revolute",
                "coordinates": ["phi"],
                "speed": 4.0,
            },
            "lock": {"parent": "bar", "child": "mass", "at": [0.5, 0, 0], "type": "rigid"},
        },
        "outputs": place("bar", 0.5)
        | place("mass", 0.0)
        | {"energy": {"quantity": "kinetic_energy"}},
        "stages": [
            {"ends": {"at": 0.1}, "free": ["lock"]},
            {"ends": {"at": 0.3}, "free": ["pin"]},
            {"name": "free"},
        ],
    }
    result = (
        load(mechanism)
        .compile()
        .simulate(stop_time=2.0, output_step=0.05, integrator="adams", tolerance=TIGHT)
    )
    assert [event.time for event in result.events] == pytest.approx([0.1, 0.3], abs=1e-12)
    for t, mass_x, mass_y, bar_x, bar_y, turn in expected["rows"]:
        k = int(np.flatnonzero(np.abs(result.time - t) < 1e-9)[-1])
        found = [result[name][k] for name in ("mass_r[1]", "mass_r[2]", "bar_r[1]", "bar_r[2]")]
        assert found == pytest.approx([mass_x, mass_y, bar_x, bar_y], abs=1e-9)
        assert difference(angle(result, "bar", k), turn) < 1e-9
    assert result["energy"] == pytest.approx(36.0 + 0.5e-3 * 16, abs=1e-9)


def test_locked_joint_conserves_angular_momentum():
    """A double pendulum locks when straight: angular momentum about the pivot decides the rate, the loss of energy is in the books."""
    expected = reference("structure_changes")["locked"]
    mechanism = {
        "gravity": [0, -9.81, 0],
        "bodies": {"a": rod(1.0, 1.0, 0.5), "b": rod(1.0, 1.0, 0.5)},
        "joints": {
            "pin": {
                "child": "a",
                "transforms": [
                    {"rotate": "z", "by": -np.pi / 2},
                    {"rotate": "z", "coordinate": "phi", "start": 0.5},
                ],
            },
            "hinge": {
                "parent": "a",
                "child": "b",
                "at": [1, 0, 0],
                "transforms": [{"rotate": "z", "coordinate": "psi", "start": 1.0}],
            },
        },
        "outputs": {"energy": {"quantity": "energy"}},
        "stages": [{"ends": {"when": "psi < 0"}, "lock": ["hinge"]}, {"name": "locked"}],
    }
    result = (
        load(mechanism)
        .compile()
        .simulate(stop_time=5.0, output_step=0.01, integrator="adams", tolerance=TIGHT)
    )
    (event,) = result.events
    assert event.time == pytest.approx(expected["t"], abs=1e-9)
    before = (
        load(mechanism | {"stages": []})
        .compile()
        .simulate(stop_time=expected["t"], output_step=0.1, integrator="adams", tolerance=TIGHT)
    )
    rates = (before["der(phi)"][-1], before["der(phi)"][-1] + before["der(psi)"][-1])
    assert rates == pytest.approx(expected["before"], abs=1e-8) and before["phi"][
        -1
    ] == pytest.approx(expected["angle"], abs=1e-8)
    height = (
        -9.81 * 2.0 * np.cos(expected["angle"])
    )  # both centres hang straight: energy is kinetic and this
    assert [event.before[4] - height, event.after[4] - height] == pytest.approx(
        expected["kinetic"], abs=1e-8
    )
    assert -np.sqrt((event.after[4] - height) / (4.0 / 3.0)) == pytest.approx(
        expected["after"], abs=1e-8
    )  # one rod of 8/3 kg.m2
    assert np.arccos(-event.after[4] / (2.0 * 9.81)) == pytest.approx(
        expected["amplitude"], abs=1e-8
    )
    k = int(np.flatnonzero(result.time > expected["t"])[0])
    assert result["energy"][0] - result["energy"][k] == pytest.approx(expected["loss"], abs=1e-8)
    for t, phi, rate in expected["rows"]:
        k = int(np.flatnonzero(np.abs(result.time - t) < 1e-9)[-1])
        assert result["phi"][k] == pytest.approx(phi, abs=1e-8)
        assert result["der(phi)"][k] == pytest.approx(rate, abs=1e-7)


# -- impacts with restitution ---------------------------------------------------------------------------------------------------------------
def test_bouncing_ball_matches_impact_times():
    """Eleven impacts: instants to 1e-9, then rest."""
    rows = reference("bouncing_ball")["rows"]
    result = (
        load("lib:bouncing-ball")
        .compile()
        .simulate(stop_time=3.0, output_step=0.01, integrator="adams", tolerance=TIGHT)
    )
    assert [event.time for event in result.events] == pytest.approx(
        [row[0] for row in rows], abs=1e-9
    )
    for (t, before, after), event in zip(rows, result.events, strict=True):
        assert -np.sqrt(2.0 * event.before[4]) == pytest.approx(
            before, abs=1e-8
        )  # mass 1 kg at height 0
        k = int(np.flatnonzero(result.time > t)[0])
        assert result["der(h)"][k] == pytest.approx(
            after - (9.81 * (result.time[k] - t) if after else 0.0), abs=1e-8
        )
    assert np.abs(result["h"][result.time > rows[-1][0]]).max() < 1e-12


def test_bouncing_ball_accumulates_bounces():
    """Chatter is reported just before all bounces are over, at √(2h/g) (1 + e)/(1 - e): 2.5586 s."""
    with pytest.raises(EvaluationError) as caught:
        load("lib:bouncing-ball").compile(v_min=0.0).simulate(
            stop_time=3.0, output_step=0.01, integrator="adams", tolerance=TIGHT
        )
    times = [event.time for event in caught.value.result.events]
    assert 2.558633965585808 - 1e-5 < times[-1] < 2.558633965585808 + 1e-9


def test_pendulum_with_stop_matches_reference():
    """Impacts to 1e-8 s; the energy after each is e² times that before."""
    rows = reference("pendulum_stop")["rows"]
    result = (
        load("lib:pendulum-stop")
        .compile()
        .simulate(stop_time=6.3, output_step=0.01, integrator="adams", tolerance=TIGHT)
    )
    for impact, t, before, after, amplitude in rows:
        event = result.events[int(impact) - 1]
        assert event.time == pytest.approx(t, abs=1e-8)
        assert -np.sqrt(6.0 * (event.before[4] + 0.5 * 9.81)) == pytest.approx(before, abs=1e-8)
        assert np.arccos(-event.after[4] / (0.5 * 9.81)) == pytest.approx(
            amplitude, abs=1e-6
        )  # where the energy is that of the weight alone
        k = int(np.flatnonzero(result.time > t)[0])
        kinetic = 0.5 / 3.0 * after**2 - 0.5 * 9.81
        assert result["energy"][k] == pytest.approx(kinetic, abs=1e-8)


# -- compliant contact ----------------------------------------------------------------------------------------------------------------------
def next_bounce(v: float, k: float, zeta: float, m: float, g: float) -> tuple[float, float, float]:
    """Time in contact, speed and (negative) height when the force ends, for a ball that arrives at speed v: s̈ + 2ζω ṡ + ω² s = g."""
    w = np.sqrt(k / m)
    wd, A = w * np.sqrt(1 - zeta**2), -g / w**2
    B = (v + zeta * w * A) / wd

    def state(t):
        e, c, s = np.exp(-zeta * w * t), np.cos(wd * t), np.sin(wd * t)
        depth = g / w**2 + e * (A * c + B * s)
        return depth, e * (-zeta * w * (A * c + B * s) + wd * (B * c - A * s))

    def force(t):
        depth, rate = state(t)
        return w * w * depth + 2 * zeta * w * rate

    leave = brentq(force, 0.5 * np.pi / wd, 1.2 * np.pi / wd, xtol=1e-16, rtol=1e-15)
    depth, rate = state(leave)
    return leave, -rate, -depth


def elastic_heights(times: np.ndarray, k=1e5, zeta=0.1, m=1.0, g=9.81, h0=1.0) -> np.ndarray:
    """Heights at given times outside contacts (NaN inside)."""
    heights = np.full(len(times), np.nan)
    start, h, v = 0.0, h0, 0.0
    while start < times[-1]:
        fall = (v + np.sqrt(v * v + 2 * g * h)) / g
        flying = (times >= start) & (times <= start + fall)
        s = times[flying] - start
        heights[flying] = h + v * s - 0.5 * g * s * s
        in_contact, v, h = next_bounce(g * fall - v, k, zeta, m, g)
        start += fall + in_contact
    return heights


def test_elastic_ball_matches_bounce_heights():
    """Heights over four bounces; where the ball flies, its lag in time is the error of all contacts so far, below 1e-9 s."""
    result = (
        load("lib:elastic-ball")
        .compile()
        .simulate(stop_time=2.0, output_step=0.01, integrator="adams", tolerance=TIGHT)
    )
    expected = elastic_heights(result.time)
    flying = np.isfinite(expected) & (np.abs(result["der(h)"]) > 0.5)
    assert flying.sum() > 100
    lag = (result["h"][flying] - expected[flying]) / np.abs(result["der(h)"][flying])
    assert np.abs(lag).max() < 1e-9
