"""What a run tells besides its columns, row by row, against Newton: units, rates, reactions and forces of a bead on a rail that turns."""

from typing import Any

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.run.derived_columns import evaluable_columns, reaction_names
from kinetree.models.run.simulation_unit import make_unit

MASS, G = 2.0, 10.0


def bead(**more: Any) -> dict[str, Any]:
    """A bead on a level rail through the origin that turns under a spring; its inertia about itself is 0.5."""
    body = {"mass": MASS, "com": [0, 0, 0], "inertia": [0.5, 0.5, 0.5, 0, 0, 0]}
    arm = {"mass": 1.0, "com": [0, 0, 0], "inertia": [0.3, 0.3, 0.3, 0, 0, 0]}
    turn = {"child": "arm", "transforms": [{"rotate": "z", "coordinate": "a", "speed": 1.5}]}
    rail = {
        "parent": "arm",
        "child": "bead",
        "transforms": [{"shift": "x", "coordinate": "r", "start": 0.4}],
    }
    return {
        "format": "kinetree/1", "gravity": [0, 0, -G], "bodies": {"arm": arm, "bead": body}, "joints": {"T": turn, "R": rail},
        "parameters": {"k": 30.0}, "states": {"s": {"rate": "-3*s + r", "start": 1.0}},
        "forces": {"spring": {"coordinate": "r", "value": "-k*(r - 0.3)"}, "brake": {"coordinate": "a", "value": "-0.2*der(a)"}},
        "stages": [{"name": "soft", "ends": {"at": 0.3}, "set": {"k": 90.0}}, {"name": "hard"}], **more,
    }  # fmt: skip


def test_columns_on_demand_have_units():
    told = evaluable_columns(make_unit(load(bead()).compile()))
    every = {
        "der(der(a))": "rad/s2",
        "der(der(r))": "m/s2",
        "der(s)": "",
        "force('spring')": "N",
        "force('brake')": "N.m",
    }
    for joint in "TR":
        units = ["N", "N", "N", "N", "N.m", "N.m", "N.m"]
        every |= dict(zip(reaction_names(joint), units, strict=True))
    assert told == every and reaction_names("T") == [
        "reaction('T')",
        *(f"reaction('T')[{k}]" for k in range(1, 7)),
    ]


def test_rows_satisfy_newton_before_and_after_stage_change():
    """Centrifugal and Coriolis accelerations of the bead; its rail carries the weight, and pushes it round."""
    result = load(bead()).compile().simulate(0.6, output_step=0.05, tolerance=1e-11)
    r, speed, w = result["r"], result["der(r)"], result["der(a)"]
    k = np.where(result["stage"] < 1, 30.0, 90.0)
    assert 0 < (result["stage"] > 0).sum() < result.time.size
    spring, turned = -k * (r - 0.3), result["der(der(a))"]
    assert result["force('spring')"] == pytest.approx(spring, rel=1e-9) and result[
        "force('brake')"
    ] == pytest.approx(-0.2 * w, rel=1e-9)
    assert result["der(der(r))"] == pytest.approx(spring / MASS + r * w**2, abs=1e-8)
    assert turned == pytest.approx(
        (-0.2 * w - 2 * MASS * r * speed * w) / (0.8 + MASS * r**2), abs=1e-8
    )
    assert result["der(s)"] == pytest.approx(-3 * result["s"] + r, abs=1e-9)
    across = MASS * (r * turned + 2 * speed * w)
    parts = [result[f"reaction('R')[{j}]"] for j in range(1, 7)]
    assert abs(parts[1]) == pytest.approx(abs(across), abs=1e-8) and abs(parts[2]) == pytest.approx(
        np.full(r.size, MASS * G), rel=1e-9
    )
    assert result["reaction('R')"] == pytest.approx(np.linalg.norm(parts[:3], axis=0), rel=1e-12)
    assert abs(parts[5]) == pytest.approx(abs(0.5 * turned), abs=1e-8)


def test_missing_stage_values_are_nan():
    """Once the bead's joint is locked it has no acceleration of its own; its reaction is still there."""
    stages = [{"name": "free", "ends": {"at": 0.3}, "lock": ["R"]}, {"name": "held"}]
    result = load(bead(stages=stages)).compile().simulate(0.6, output_step=0.05, tolerance=1e-11)
    late = result["stage"] > 0
    assert (
        np.isnan(result["der(der(r))"][late]).all()
        and np.isfinite(result["der(der(r))"][~late]).all()
        and np.isfinite(result["der(der(a))"]).all()
    )
    assert np.isfinite(result["reaction('R')"]).all()
    r, turned = result["r"][late], result["der(der(a))"][late]
    assert turned == pytest.approx(-0.2 * result["der(a)"][late] / (0.8 + MASS * r**2), abs=1e-8), (
        "at the place where it was locked"
    )


def test_laws_read_components_of_reactions():
    """Outputs, states and ends of stages read what the result tells, of tree joints and cut ones."""
    names = [name for joint in "TR" for name in reaction_names(joint)]
    outputs = {f"o{k}": {"value": name} for k, name in enumerate(names)}
    result = load(bead(outputs=outputs)).compile().simulate(stop_time=0.5, output_step=0.1)
    plain = load(bead()).compile().simulate(stop_time=0.5, output_step=0.1)
    for k, name in enumerate(names):
        assert result[f"o{k}"] == pytest.approx(plain[name], rel=1e-6, abs=1e-6)
        assert result[name] == pytest.approx(plain[name], rel=1e-6, abs=1e-6)
    assert plain["reaction('R')[3]"] == pytest.approx(MASS * G)
    stages = [{"name": "a", "ends": {"when": "reaction('R')[2] < -0.8"}}, {"name": "b"}]
    ended = load(bead(stages=stages)).compile().simulate(stop_time=1.0, output_step=0.01)
    before = ended["reaction('R')[2]"][ended.time < ended.events[0].time]
    assert before.min() >= -0.8 and before[-1] < -0.75


def test_laws_read_components_of_cut_joints():
    link = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    joints = {
        "A": {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["p"], "start": 0.3},
        "B": {"parent": "a", "child": "b", "type": "revolute", "axis": "y", "at": [1, 0, 0]},
        "pin": {
            "child": "b", "type": "revolute", "axis": "y", "at": [1.6, 0, -0.8],
            "child_at": [1.0, 0, 0], "cut": True,
        },
    }  # fmt: skip
    source = {
        "format": "kinetree/1",
        "gravity": [0, 0, -G],
        "bodies": {"a": link, "b": link},
        "joints": joints,
    }
    names = reaction_names("pin")
    outputs = {f"o{k}": {"value": name} for k, name in enumerate(names)}
    result = load(source | {"outputs": outputs}).compile().simulate(stop_time=0.2)
    for k, name in enumerate(names):
        assert result[f"o{k}"] == pytest.approx(result[name], rel=1e-9, abs=1e-9)
    assert np.abs(result["o3"]).max() > 0.0 or np.abs(result["o2"]).max() > 0.0


@pytest.mark.parametrize("index", ["0", "7", "1.5", "k"])
def test_missing_reaction_components_are_refused(index: str):
    with pytest.raises(ModelError, match=r"\[1\] to \[6\]"):
        load(bead(outputs={"o": f"reaction('T')[{index}]"}))
