"""Couplings over the coordinates of balls and free bodies: what is held so moves as the joint that leaves it as much."""

import math

import numpy as np
import pytest

from kinetree.models import load

BODY = {"mass": 1.3, "com": [0.2, 0, -0.5], "inertia": [0.2, 0.3, 0.25, 0, 0.02, 0]}
TURN = 0.7


def mechanism(joint: dict, couplings: dict) -> dict:
    return {
        "format": "kinetree/1",
        "bodies": {"b": BODY},
        "joints": {"j": {"child": "b", **joint}},
        "couplings": couplings,
    }


@pytest.mark.parametrize(
    "relation", ["qx", "2*qx*qy", "qx*qx + qx"], ids=["plain", "product", "square"]
)
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_ball_joint_about_one_axis_equals_hinge(kind: str, relation: str):
    """Quaternions of turns about y have no x and no z; a free body also stays where it is. Rates of relations are exact, so is what they hold."""
    turned = [math.cos(TURN / 2), 0.0, math.sin(TURN / 2), 0.0]
    couplings = {"one": relation.replace("q", "j.q"), "two": "j.qz"}
    start, speed = turned, [0.0, 1.5, 0.0]
    if kind == "free":
        couplings |= {axis: f"j.{axis}" for axis in "xyz"}
        start, speed = [0.0, 0.0, 0.0, *turned], [0.0, 0.0, 0.0, 0.0, 1.5, 0.0]
    held = load(mechanism({"type": kind, "start": start, "speed": speed}, couplings)).compile()
    hinge = load(
        mechanism({"type": "revolute", "axis": "y", "start": TURN, "speed": 1.5}, {})
    ).compile()
    q, u = held.start()
    assert (
        q == pytest.approx(start, abs=1e-12)
        and u == pytest.approx(speed, abs=1e-12)
        and held.freedoms == 1
    )
    found = held.accelerations(0.0, q, u)
    expected = np.zeros(found.size)
    expected[-2] = hinge.accelerations(0.0, [TURN], [1.5])[0]
    assert found == pytest.approx(expected, abs=1e-9)
    assert max(held.constraint_rates(0.0, q, u).values()) < 1e-12
    tilted = u + [
        *np.zeros(u.size - 3),
        0.2,
        0.0,
        0.0,
    ]  # spin about x: q̇x = (w wx + qy wz - qz wy)/2
    slope = {"qx": 1.0, "2*qx*qy": 2.0 * turned[2], "qx*qx + qx": 1.0}[relation]
    assert held.constraint_rates(0.0, q, tilted)["one"] == pytest.approx(
        slope * 0.5 * turned[0] * 0.2
    )
    assert held.constraint_rates(0.0, q, tilted)["two"] == pytest.approx(0.5 * turned[2] * 0.2)
