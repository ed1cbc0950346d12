"""Speeds that violate constraints: by name and number, as inputs and states are, and in what is said about given starts."""

import math

import pytest

from kinetree.models import load

SLED = {"mass": 1.0, "com": [0.2, 0, 0], "inertia": [0.1, 0.1, 0.2, 0, 0, 0]}


def sled(across: float, **more):
    joint = [
        {"shift": "x", "coordinate": "x", "speed": 1.0},
        {"shift": "y", "coordinate": "y", "speed": across},
        {"rotate": "z", "coordinate": "turn", "start": 0.3},
    ]
    runner = {"blade": {"body": "sled", "normal": "y"}}
    return load(
        {
            "bodies": {"sled": SLED},
            "joints": {"j": {"child": "sled", "transforms": joint}},
            "couplings": {"runner": runner},
            **more,
        }
    ).compile()


def test_knife_edge_residual_is_lateral_speed():
    """-ẋ sin + ẏ cos of the heading: positions are never violated, speeds are."""
    system = sled(math.tan(0.3))
    q, u = system.start()
    assert system.start_changes == {} and system.constraint_rates(0.0, q, u)["runner"] < 1e-15
    assert system.constraint_rates(0.0, q, [1.0, 2.0, 0.0]) == pytest.approx(
        {"runner": -math.sin(0.3) + 2.0 * math.cos(0.3)}
    )
    assert (
        system.constraint_residual(0.0, q) == 0.0
        and system.constraint_residual(0.0, q, [1.0, 2.0, 0.0]) > 1.0
    )


def test_start_speed_across_knife_edge_names_the_constraint():
    """Beside the speeds of the start as they became, the given one would slip."""
    found = sled(2.0).warnings
    assert found and all(
        text.startswith("the loops do not allow the start of 'der(")
        and "('runner' would open at " in text
        for text in found
    )
    assert sled(math.tan(0.3)).warnings == ()


def test_changed_start_names_violated_coupling():
    """Two coordinates that a gear binds, both given: the one that gave way is named with the gear."""
    body = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    joints = {
        k: {"child": k, "transforms": [{"rotate": "z", "coordinate": f"p{k}", "start": 0.5}]}
        for k in "ab"
    }
    found = (
        load({"bodies": {"a": body, "b": body}, "joints": joints, "couplings": {"gear": "pa + pb"}})
        .compile()
        .warnings
    )
    assert found and all("'gear' would be open by 0.5" in text for text in found)


def test_couplings_use_given_inputs_and_states():
    """A drive that holds a state: its speed is right where the state is, and off by the difference from its start elsewhere."""
    system = load("lib:trailer").compile(speed_0=2.0, angle_0=0.0)
    q, u = system.start()
    assert system.constraint_rates(0.0, q, u, states={"speed": 3.5})["drive"] == pytest.approx(1.5)
    held = sled(math.tan(0.3), inputs={"w": 0.0}, couplings={"drive": "der(x) - w"})
    assert held.constraint_rates(0.0, *held.start(), inputs={"w": 0.25})["drive"] == pytest.approx(
        abs(held.start()[1][0] - 0.25)
    )
