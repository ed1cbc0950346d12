"""Motions that inputs give: with their rates by further inputs, or through a reference filter; against the same motion as a function of time."""

import math

import numpy as np
import pytest
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.description.errors import ModelError

BODY = {"mass": 2.0, "com": [0.1, 0, -0.2], "inertia": [0.1, 0.2, 0.15, 0, 0, 0]}


def shaker(move: dict, **more) -> dict:
    """A pendulum on a slider on a table that moves along x and tips about y, each by what `move` says."""
    joints = {
        "table": {"child": "table", "transforms": [{"shift": "x", **move}, {"rotate": "y", **move}]},
        "slide": {"parent": "table", "child": "slider", "transforms": [{"shift": "x", "coordinate": "s"}]},
        "hinge": {"parent": "slider", "child": "arm", "transforms": [{"rotate": "y", "coordinate": "a", "start": 0.3}]},
    }
    forces = {"spring": {"coordinate": "s", "stiffness": 40.0, "damping": 1.0}}
    return {
        "format": "kinetree/1",
        "name": "shaker",
        "bodies": dict.fromkeys(("table", "slider", "arm"), BODY),
        "joints": joints,
        "forces": forces,
        **more,
    }


def sway(t: float) -> float:
    return 0.2 * math.sin(5.0 * t)


INPUTS = {"deck": {"start": 0.0}, "deck_rate": {"start": 1.0}, "deck_acceleration": {"start": 0.0}}
RATES = {"input": "deck", "rate": "deck_rate", "acceleration": "deck_acceleration"}
MOTION = {"deck": sway, "deck_rate": lambda t: math.cos(5.0 * t), "deck_acceleration": lambda t: -5.0 * math.sin(5.0 * t)}


def test_rates_by_inputs():
    """The three inputs together are the motion: coordinates, reactions and energies are those of the function of time."""
    right = load(shaker({"by": "0.2*sin(5*t)"})).compile().simulate(stop_time=1.0, output_step=0.05, tolerance=1e-9)
    found = load(shaker({"follow": RATES}, inputs=INPUTS)).compile().simulate(stop_time=1.0, output_step=0.05, inputs=MOTION, tolerance=1e-9)
    for name in ("s", "a", "der(s)", "der(a)"):
        assert found[name] == pytest.approx(right[name], abs=1e-6)
    assert found["reaction('table')"][1:] == pytest.approx(right["reaction('table')"][1:], rel=1e-5)


def test_filter_is_its_equation():
    """r̈ = ω² (s - r) - 2 ζ ω ṙ: a table driven by the filter moves as one by its closed form after a step of the input."""
    haste, damping = 12.0, 0.6
    follow = {"input": "deck", "bandwidth": "haste", "damping": "damping"}
    parameters = {"haste": haste, "damping": damping}
    model = shaker(
        {"follow": follow}, inputs={"deck": 0.0}, parameters=parameters, outputs={"x": {"quantity": "position", "body": "table", "axis": "x"}}
    )
    found = load(model).compile().simulate(stop_time=1.0, output_step=0.05, inputs={"deck": 0.1}, tolerance=1e-10)
    fast = haste * math.sqrt(1 - damping**2)
    closed = f"0.1*(1 - exp(-{damping * haste}*t)*(cos({fast}*t) + {damping * haste / fast}*sin({fast}*t)))"
    right = load(shaker({"by": closed})).compile().simulate(stop_time=1.0, output_step=0.05, tolerance=1e-10)
    t = found.time
    way = 0.1 * (1 - np.exp(-damping * haste * t) * (np.cos(fast * t) + damping * haste / fast * np.sin(fast * t)))
    assert found["x"] == pytest.approx(way, abs=1e-9) and found["deck.reference"] == pytest.approx(way, abs=1e-9)
    assert found["a"] == pytest.approx(right["a"], abs=1e-7) and found["s"] == pytest.approx(right["s"], abs=1e-7)
    assert np.ptp(found["energy_residual"]) < 1e-6


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_hosts(kind: str, tmp_path):
    """A host that gives a ramp of 0.5 m/s: the table follows at a distance of 2 ζ/ω times the speed, in both kinds of FMU."""
    haste, speed = 40.0, 0.5
    model = shaker({"follow": {"input": "deck", "bandwidth": haste}}, inputs={"deck": 0.0})
    model["outputs"] = {"x": {"quantity": "position", "body": "table", "axis": "x"}}
    path = build_fmu(load(model), tmp_path / "deck.fmu", "native")
    given = np.array([(t, speed * t) for t in np.linspace(0, 1, 1001)], dtype=[("time", float), ("deck", float)])
    found = simulate_fmu(str(path), stop_time=1.0, fmi_type=kind, input=given, output=["x", "a"], output_interval=1e-3, relative_tolerance=1e-7)
    assert found["x"][-1] == pytest.approx(speed * (1.0 - 2.0 / haste), abs=speed * 2e-3)  # held inputs are a step late


@pytest.mark.parametrize(
    "follow, match",
    [
        ({"input": "deck"}, "rate.*bandwidth|bandwidth"),
        ({"input": "deck", "rate": "deck_rate"}, "acceleration"),
        ({"input": "dekc", "bandwidth": 1.0}, "dekc"),
        ({"input": "deck", "bandwidth": 0.0}, "above 0"),
        ({"input": "deck", "bandwidth": 1.0, "rate": "deck_rate"}, "beside bandwidth"),
    ],
)
def test_what_cannot_be_known_is_refused(follow: dict, match: str):
    with pytest.raises(ModelError, match=match):
        load(shaker({"follow": follow}, inputs=INPUTS))
    with pytest.raises(ModelError, match="one of them"):
        load(shaker({"follow": RATES, "by": 0.1}, inputs=INPUTS))
