"""Evaluations of one state count rigid contacts as open, whatever the gap and the method."""

import numpy as np
import pytest

from kinetree.models import load

GRAVITY = 9.81
BALL = {
    "format": "kinetree/1",
    "name": "ball above a floor",
    "gravity": [0, 0, -GRAVITY],
    "bodies": {"ball": {"mass": 2.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}},
    "joints": {
        "j": {"child": "ball", "transforms": [{"shift": "z", "coordinate": "z", "start": 0.5}]}
    },
    "contacts": {"c": {"body": "ball", "radius": 0.1}},
}


@pytest.mark.parametrize("height", [0.5, 0.1, 0.05])
def test_free_fall_at_any_gap(height):
    system = load(BALL).compile()
    for method in ("auto", "DEC", "CBM"):
        found = system.accelerations(0.0, [height], [0.0], method=method)
        assert found == pytest.approx([-GRAVITY])
    assert system.accelerations(0.0, [height], [0.0], tau=[-4.0]) == pytest.approx([-GRAVITY - 2.0])
    assert system.point(0.0, [height], [0.0], "ball").acceleration[2] == pytest.approx(-GRAVITY)
    many = [system.accelerations(0.0, [height], [0.0]) for _ in range(300)]
    assert np.ptp(many) == 0.0, "the fast path that calls repeated often is the same"


def test_evaluations_after_a_run_on_the_floor_are_those_before():
    system = load(BALL).compile()
    before = system.accelerations(0.0, [0.1], [0.0])
    assert system.simulate(stop_time=1.0)["z"][-1] == pytest.approx(0.1, abs=1e-6)
    assert system.accelerations(0.0, [0.1], [0.0]) == pytest.approx(before)


@pytest.mark.parametrize("name", ["woodpecker", "newtons-cradle", "painleve-rod", "rocking-block"])
def test_methods_agree_on_mechanisms_with_contacts(name):
    system = load(f"lib:{name}").compile()
    q, u = system.start()
    expected = system.accelerations(0.0, q, u, method="CBM")
    scale = max(1.0, float(np.abs(expected).max()))
    assert system.accelerations(0.0, q, u) == pytest.approx(expected, abs=1e-9 * scale)
