"""Ropes over sheaves and onto drums: closed forms of hoists, friction of Euler and Eytelwein."""

import math

import numpy as np
import pytest

from kinetree.models import ModelError, load

G, R, TOP = 9.81, 0.2, 5.0


def hanging(mass: float, name: str, x: float, start: float, **motion) -> tuple[dict, dict]:
    """A mass on a vertical guide, or one that is moved."""
    guide = {"shift": "z", **(motion or {"coordinate": name, "start": start})}
    steps = [{"shift": [x, 0, start if motion else 0]}, guide]
    inertia = [0.1, 0.1, 0.1, 0, 0, 0]
    return {"mass": mass, "inertia": inertia}, {"child": name, "transforms": steps}


def hoist(force: dict, *ends: tuple[str, dict, dict], **more) -> dict:
    return {
        "format": "kinetree/1",
        "bodies": {name: body for name, body, _ in ends},
        "joints": {f"g_{name}": joint for name, _, joint in ends},
        "forces": {"rope": {"kind": "rope"} | force},
        "outputs": {
            "first": {"value": "force('rope')"},
            "last": {"value": "rope.tension_end"},
            "stretch": {"value": "rope.elongation"},
            "length": {"value": "rope.length"},
        },
    } | more


def atwood(m1: float, m2: float, tension: float, k: float = 1e5, **sheave) -> dict:
    """Masses at both sides of a sheave, at 1 m and 2 m, the rope stretched for a tension."""
    way = (TOP - 1.0) + (TOP - 2.0) + math.pi * R
    over = {"point": [0, 0, TOP], "radius": R, "axis": "y"} | sheave
    force = {
        "between": [{"body": "a"}, {"body": "b"}],
        "over": [over],
        "length": way - tension / k,
        "stiffness": k,
    }
    ends = [("a", *hanging(m1, "a", -R, 1.0)), ("b", *hanging(m2, "b", R, 2.0))]
    return hoist(force, *ends)


def test_atwood_machine_falls_as_its_closed_form():
    m1, m2 = 3.0, 2.0
    d = atwood(m1, m2, 2 * m1 * m2 * G / (m1 + m2))
    result = load(d).compile().simulate(stop_time=1.0, output_step=0.25, tolerance=1e-11)
    fall = (m1 - m2) / (m1 + m2) * G / 2 * np.asarray(result.time) ** 2
    assert result["a"] == pytest.approx(1.0 - fall, abs=1e-9)
    assert result["b"] == pytest.approx(2.0 + fall, abs=1e-9)
    assert result["first"] == pytest.approx(2 * m1 * m2 * G / (m1 + m2), rel=1e-9)
    assert result["last"] == pytest.approx(result["first"])


def test_sheave_with_inertia_turns_with_rope():
    """The rope drives the sheave by friction; accelerations are those without slip."""
    m1, m2, inertia = 3.0, 2.0, 0.08
    d = atwood(m1, m2, 24.0, k=2e4, body="sheave", point=[0, 0, 0], friction=0.5)
    d["bodies"]["sheave"] = {"mass": 1.0, "inertia": [0.1, inertia, 0.1, 0, 0, 0]}
    d["joints"]["axle"] = {
        "child": "sheave", "type": "revolute", "axis": "y", "at": [0, 0, TOP], "coordinates": ["q"],
    }  # fmt: skip
    d["forces"]["rope"] |= {"damping": 300.0, "speed": 1e-4}
    d["outputs"]["fall"] = {"value": "-der(der(a))"}
    d["outputs"]["spin"] = {"value": "der(der(q))"}
    result = load(d).compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-9)
    a = (m1 - m2) * G / (m1 + m2 + inertia / R**2)
    assert result["fall"][-1] == pytest.approx(a, rel=1e-5)
    assert result["spin"][-1] == pytest.approx(-a / R, rel=1e-5)
    assert result["first"][-1] == pytest.approx(m1 * (G - a), rel=1e-5)
    assert result["last"][-1] == pytest.approx(m2 * (G + a), rel=1e-5)
    assert abs(result["energy_residual"]).max() < 1e-3


@pytest.mark.parametrize(("turns", "way"), [(0, 1.0), (2, 1.0), (1, -1.0)])
def test_capstan_holding_force_is_exponential_in_friction_angle(turns, way):
    """Half a turn and whole ones; the side to which the rope moves has the higher tension."""
    mu, v = 0.3, 0.5
    d = atwood(1.0, 1.0, 100.0, friction=mu, turns=turns)
    d["forces"]["rope"]["length"] += 2 * math.pi * turns * R
    for name, x, start, sign in (("a", -R, 1.0, 1.0), ("b", R, 2.0, -1.0)):
        body, joint = hanging(1.0, name, x, start, by=f"{sign * way * v}*t")
        d["bodies"][name], d["joints"][f"g_{name}"] = body, joint
    d["bodies"]["idle"] = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    d["joints"]["idle"] = {"child": "idle", "type": "revolute"}
    result = load(d).compile().simulate(stop_time=0.5, output_step=0.25)
    ratio = np.asarray(result["last"]) / np.asarray(result["first"])
    assert ratio == pytest.approx(math.exp(way * mu * (1 + 2 * turns) * math.pi), rel=1e-9)


@pytest.mark.parametrize("falls", [2, 4, 6])
def test_block_and_tackle_carries_its_share_in_every_fall(falls):
    """At rest in n falls the tension is W/n."""
    W, k, z = 600.0, 1e6, 1.0
    way = falls * (TOP - z)
    force = {
        "between": [{"point": [0, 0, TOP]}, {"point": [1, 0, TOP]}],
        "over": [{"body": "hook"} if n % 2 == 0 else {"point": [0, 0, TOP]} for n in range(falls)],
        "length": way + 1.0 - W / falls / k,
        "stiffness": k,
    }
    d = hoist(force, ("hook", *hanging(W / G, "hook", 0.0, z)))
    d["outputs"]["acceleration"] = {"value": "der(der(hook))"}
    result = load(d).compile().simulate(stop_time=0.1, output_step=0.05, tolerance=1e-11)
    assert result["first"][0] == pytest.approx(W / falls, rel=1e-10)
    assert result["first"] == pytest.approx(W / falls, rel=1e-6)
    assert result["acceleration"][0] == pytest.approx(0.0, abs=1e-7)


def test_tackle_with_friction_needs_the_geometric_series():
    """Four falls, half a turn at every sheave: W = T (1 + 1/f + 1/f2 + 1/f3) at the live end."""
    mu, v, k = 0.05, 0.3, 1e5
    half = math.exp(mu * math.pi)
    x = [0.0, 0.2, 0.4, 0.6]  # the falls, vertical because the sheaves have half their distance
    over = [
        {"body": "hook", "point": [0.1, 0, 0], "radius": 0.1, "axis": "-y", "friction": mu},
        {"point": [0.3, 0, TOP], "radius": 0.1, "axis": "y", "friction": mu},
        {"body": "hook", "point": [0.5, 0, 0], "radius": 0.1, "axis": "-y", "friction": mu},
        {"point": [0.7, 0, TOP], "radius": 0.1, "axis": "y", "friction": mu},
    ]
    body, joint = hanging(1.0, "hook", 0.0, 1.0, by=f"{v}*t")
    pull, track = hanging(1.0, "pull", 0.8, 1.0, by=f"-{4 * v}*t")
    way = 5 * (TOP - 1.0) + 4 * 0.1 * math.pi
    force = {
        "between": [{"point": [x[0], 0, TOP]}, {"body": "pull"}],
        "over": over,
        "length": way - 0.01,
        "stiffness": k,
    }
    d = hoist(force, ("hook", body, joint), ("pull", pull, track))
    d["bodies"]["idle"] = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    d["joints"]["idle"] = {"child": "idle", "type": "revolute"}
    d["outputs"]["on_hook"] = {"quantity": "reaction", "joint": "g_hook", "axis": "z"}
    result = load(d).compile().simulate(stop_time=0.2, output_step=0.1)
    first, last = result["first"][-1], result["last"][-1]
    assert last / first == pytest.approx(half**4, rel=1e-9)
    assert result["stretch"] == pytest.approx(0.01, rel=1e-9)
    W = sum(last / half**n for n in (1, 2, 3, 4))
    assert result["on_hook"][-1] == pytest.approx(G - W, rel=1e-9)


def test_drum_layers_grow_the_radius():
    """Turns of the first layer at 0.15 m, those above it 0.02 m farther out each."""
    drum = {"coordinate": "q", "radius": 0.15, "layers": 3, "turns": 5, "rise": 0.02}
    force = {
        "between": [{"point": [0, 0, 0]}, {"point": [1, 0, 0]}],
        "over": [{"point": [0.5, 0, 0]}],
        "length": 1.0,
        "stiffness": 10.0,
        "drum": drum,
    }
    d = hoist(force, ("winch", {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}, {
        "child": "winch", "type": "revolute", "axis": "y", "coordinates": ["q"],
    }))  # fmt: skip
    d["outputs"]["torque"] = {"value": "der(der(q))"}
    system = load(d).compile()
    layer = 2 * math.pi * 5
    for q, wound, arm in (
        (3.0, 0.45, 0.15),
        (layer + 2.0, 0.15 * (layer + 2.0) + 0.02 * 2.0, 0.17),
        (2 * layer + 1.0, 0.15 * (2 * layer + 1) + 0.02 * (layer + 1) + 0.02, 0.19),
    ):
        u = system.accelerations(0.0, np.array([q]), np.zeros(1))
        assert -u[0] == pytest.approx(10.0 * wound * arm, rel=1e-12)


def test_slack_rope_exerts_no_force():
    d = atwood(3.0, 2.0, -50.0, k=1e3, friction=0.2)
    result = load(d).compile().simulate(stop_time=0.05, output_step=0.05)
    assert result["first"][-1] == 0.0 and result["last"][-1] == 0.0
    assert result["a"][-1] == pytest.approx(1.0 - G / 2 * 0.05**2, rel=1e-9)


def test_rope_conserves_energy_when_wrap_changes():
    """A payload swings on a rope that runs over a sheave at the tip of a boom to a counterweight."""
    way = (TOP - 1.0) + (TOP - 2.0) + math.pi * R
    d = atwood(4.0, 2.0, 20.0, k=5e3)
    d["forces"]["rope"]["length"] = way
    d["joints"]["g_b"] = {
        "child": "b",
        "transforms": [
            {"shift": [R, 0, 0]},
            {"shift": "x", "coordinate": "x", "start": 1.0},
            {"shift": "z", "coordinate": "b", "start": 2.0},
        ],
    }
    result = load(d).compile().simulate(stop_time=2.0, output_step=0.1, tolerance=1e-10)
    assert np.ptp(result["x"]) > 0.5
    assert abs(result["energy_residual"]).max() < 1e-6


BAD = {
    "forces.rope.over[0].axis": {"point": [0, 0, 5], "radius": 0.2},
    "forces.rope.over[0].radius": {"point": [0, 0, 5], "radius": -0.2, "axis": "y"},
    "forces.rope.over[0].friction": {"point": [0, 0, 5], "friction": -1},
}


@pytest.mark.parametrize("key", BAD)
def test_invalid_sheaves_are_refused(key):
    d = atwood(1.0, 1.0, 1.0)
    d["forces"]["rope"]["over"] = [BAD[key]]
    with pytest.raises(ModelError) as caught:
        load(d)
    assert [problem.key for problem in caught.value.problems] == [key]
