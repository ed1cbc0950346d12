"""Bounces that integrators cover in one step each: the body comes back to the surface, not to where rounding left it the last time."""

import math

import numpy as np
import pytest

from kinetree.models import load

G, E, HEIGHT = 9.81, 0.8, 0.5
NAMES = ["adams", "radau", "rk45", "tsit5", "verner65", "rk4", "stormer"]


def ball(**more) -> dict:
    """A ball above the ground, with as many bounces as its restitution allows."""
    joint = {"child": "ball", "transforms": [{"shift": "z", "coordinate": "z", "start": HEIGHT}]}
    return {
        "format": "kinetree/1",
        "name": "ball",
        "gravity": [0, 0, -G],
        "bodies": {"ball": {"mass": 2.0}},
        "joints": {"fall": joint},
        **more,
    }


def instants(count: int) -> np.ndarray:
    """The first bounces: the flight after each one lasts e times that before."""
    first = math.sqrt(2 * HEIGHT / G)
    return first + 2 * first * np.concatenate(([0.0], np.cumsum(E ** np.arange(1, count))))


@pytest.mark.parametrize("name", NAMES)
def test_bounces_start_from_last_impact(name: str):
    """What a located instant missed by rounding counted as the bound of the next one, twice: after 40 bounces the ball fell through."""
    law = {"hit": {"when": "z < 0", "set": {"der(z)": f"-{E}*der(z)"}}}
    count = 40
    end = float(instants(count + 1)[-2:].mean())
    result = (
        load(ball(events=law)).compile().simulate(end, output_step=end, integrator=name, step=0.01)
    )
    found = np.array([event.time for event in result.events])
    assert found == pytest.approx(instants(count), abs=1e-9)
    assert -1e-12 < result["z"][-1] < E ** (2 * count) * HEIGHT * 1.1 + 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_bouncing_ball_comes_to_rest(name: str):
    """As many bounces as are faster than the speed of rest, 1e-3 m/s, then the ball lies on the ground."""
    touch = {"ground": {"body": "ball", "restitution": E}}
    outputs = {"load": "ground.force", "gap": "ground.gap"}
    result = (
        load(ball(contacts=touch, outputs=outputs))
        .compile()
        .simulate(6.0, output_step=1.0, integrator=name, step=0.01)
    )
    fast = int(np.sum(math.sqrt(2 * G * HEIGHT) * E ** np.arange(200) > 1e-3))
    found = np.array([event.time for event in result.events])
    assert found.size in (fast, fast + 1) and found[:fast] == pytest.approx(
        instants(fast), abs=1e-9
    )
    assert np.abs(result["gap"][-1]) < 1e-12 and result["load"][-1] == pytest.approx(
        2.0 * G, rel=1e-9
    )
    assert np.abs(result["energy_residual"]).max() < 1e-7
