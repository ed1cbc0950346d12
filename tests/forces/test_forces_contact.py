"""Contacts against mechanics: never pulling, never gaining energy, Coulomb's limit, settling soil, action and reaction, continuity."""

import numpy as np
import pytest

from kinetree.models import load

G = 9.81
MASS = 2.0
CONTACT = {
    "kind": "contact",
    "body": "b",
    "radius": 0.3,
    "stiffness": 1e4,
    "damping": 30,
    "friction": 0.3,
    "exponent": 1.5,
}
TYRE = {
    "kind": "tyre",
    "body": "b",
    "radius": 0.3,
    "stiffness": 1e4,
    "damping": 30,
    "side_damping": 5,
}
JACK = {
    "kind": "jack",
    "body": "b",
    "point": [0.1, 0, 0],
    "extension": 0.3,
    "stiffness": 1e4,
    "damping": 30,
    "friction": 0.5,
}
RAIL = {
    "between": [{"body": "ground"}, {"body": "b", "point": [0.05, 0, 0]}],
    "stiffness": 1e4,
    "damping": 30,
    "clearance": 0.01,
    "friction": 0.2,
}
TUBE = {"kind": "rail", **RAIL}
GROOVE = {"kind": "rail", **RAIL, "across": "z"}


def free(force: dict, gravity: float = 0.0, **more) -> dict:
    """A free body with one contact c; inertia about its frame's origin."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, -gravity],
        "bodies": {"b": {"mass": MASS, "inertia": [0.1, 0.2, 0.3, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "type": "free"}},
        "forces": {"c": force},
        "outputs": {"load": "force('c')"},
    } | more


def upright(force: dict, gravity: float = G, **more) -> dict:
    """The same body that only moves along x and z."""
    slide = [
        {"shift": "x", "coordinate": "x"},
        {"shift": "z", "coordinate": "z", "start": "height"},
    ]
    joints = {"j": {"child": "b", "transforms": slide}}
    return free(force, gravity) | {"joints": joints, "parameters": {"height": 0.5}} | more


def turned(quaternion: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A quaternion after a small turn in body axes."""
    w, v = quaternion[0], quaternion[1:]
    rate = 0.5 * np.concatenate(([-v @ turn], w * turn + np.cross(v, turn)))
    result = quaternion + rate
    return result / np.linalg.norm(result)


def rotated(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    w, v = quaternion[0], quaternion[1:]
    return vector + 2 * (w * np.cross(v, vector) + np.cross(v, np.cross(v, vector)))


@pytest.mark.parametrize(
    "force", [CONTACT, TYRE, JACK, TUBE, GROOVE], ids=["contact", "tyre", "jack", "tube", "groove"]
)
def test_contacts_never_generate_energy(force: dict):
    """Power of the load plus rate of its potential is at most 0 in any state: central difference over h = 1e-6, error h² times third derivatives."""
    system = load(free(force)).compile()
    M = np.array([MASS, MASS, MASS, 0.1, 0.2, 0.3])
    rng = np.random.default_rng(7)
    touching = 0
    for _ in range(60):
        quaternion = turned(np.array([1.0, 0, 0, 0]), 0.2 * rng.normal(size=3))
        q = np.concatenate(
            (
                rng.normal(size=2) * 0.02,
                [rng.uniform(0.2, 0.31) if force["kind"] != "rail" else 0.02 * rng.normal()],
                quaternion,
            )
        )
        u = rng.normal(size=6)
        power = u @ (M * system.accelerations(0.0, q, u))
        stored = []
        for h in (1e-6, -1e-6):
            moved = np.concatenate(
                (q[:3] + h * rotated(quaternion, u[:3]), turned(quaternion, h * u[3:]))
            )
            stored.append(system.energy(0.0, moved, np.zeros(6))[1])
        touching += system.outputs(0.0, q, u)["load"] > 0.0
        assert power + (stored[0] - stored[1]) / 2e-6 < 1e-6 * (1.0 + abs(power))
    assert touching > 10


def test_contact_load_is_never_tensile_and_vanishes_at_lift_off():
    """A body that is pulled out fast feels nothing, although the damper would hold it."""
    system = load(free(CONTACT)).compile()
    q = [0, 0, 0.299, 1, 0, 0, 0]
    assert system.outputs(0.0, q, [0, 0, 5.0, 0, 0, 0])["load"] == 0.0
    assert system.outputs(0.0, q, [0, 0, -5.0, 0, 0, 0])["load"] == pytest.approx(
        1e4 * 0.001**1.5 + 150.0
    )
    assert system.outputs(0.0, [0, 0, 0.3001, 1, 0, 0, 0], [0, 0, -5.0, 0, 0, 0])["load"] == 0.0


@pytest.mark.parametrize(
    "force", [CONTACT, TYRE, JACK, TUBE, GROOVE], ids=["contact", "tyre", "jack", "tube", "groove"]
)
def test_contact_load_is_continuous_at_zero_speed(force: dict):
    """Around the touching point, and with friction around standing: a step of eps moves the load by at most its slope times eps."""
    system = load(free(force)).compile()
    edge, sign = (0.01, 1.0) if force["kind"] == "rail" else (0.3, -1.0)
    loads = [
        system.outputs(0.0, [0, 0, edge + sign * d, 1, 0, 0, 0], np.zeros(6))["load"]
        for d in (-1e-9, 1e-9)
    ]
    assert loads[0] == 0.0
    assert 0.0 < loads[1] < 1.01e4 * 1e-9
    q = [0, 0, edge + sign * 0.005, 1, 0, 0, 0]
    rates = [system.accelerations(0.0, q, [s, s, 0, 0, 0, 0])[:2] for s in (-1e-9, 1e-9)]
    assert np.abs(rates[1] - rates[0]).max() < 1e-4


def test_friction_equals_coulomb_above_friction_speed():
    """Deceleration of a slider: friction times load, whatever the speed."""
    slider = CONTACT | {"radius": 0, "exponent": 1, "friction_speed": 0.01}
    system = load(free(slider)).compile()
    for speed in (0.011, 0.5, 3.0):
        u = speed * np.array([0.6, 0.8, 0, 0, 0, 0])
        assert MASS * system.accelerations(0.0, [0, 0, -0.01, 1, 0, 0, 0], u)[:2] == pytest.approx(
            [-18.0, -24.0], rel=1e-12
        )
    half = MASS * system.accelerations(0.0, [0, 0, -0.01, 1, 0, 0, 0], [0.005, 0, 0, 0, 0, 0])[0]
    assert half == pytest.approx(-30.0 * 0.75, rel=1e-12)


def test_elastic_ball_conserves_energy():
    """Ten bounces on an undamped contact; each passage of the edge costs about the tolerance, 1e-10."""
    ball = CONTACT | {"damping": 0, "friction": 0, "exponent": 1}
    result = (
        load(upright(ball, outputs={"energy": {"quantity": "energy"}}))
        .compile()
        .simulate(4.0, output_step=0.02, tolerance=1e-10)
    )
    assert np.ptp(result["energy"]) < 1e-7 * result["energy"][0]
    assert result["z"].min() < 0.3 < 0.49 < result["z"][50:].max()


def test_soil_settles_until_load_is_carried():
    """Settlement (weight - strength)/hardening; it never heaves."""
    soil = {"strength": 5.0, "hardening": 1e3, "viscosity": 200.0}
    rest = CONTACT | {"damping": 100, "friction": 0, "exponent": 1, "soil": soil}
    result = (
        load(upright(rest, parameters={"height": 0.3})).compile().simulate(5.0, output_step=0.05)
    )
    settlement = result["c.settlement"]
    assert (np.diff(settlement) > -1e-9).all()
    slowest = 200.0 / 1e3  # time constant viscosity/hardening [s]
    assert settlement[-1] == pytest.approx(
        (MASS * G - 5.0) / 1e3, rel=np.exp(-5.0 / slowest) + 1e-3
    )


def test_soil_contact_is_dissipative():
    """Energy of motion, weight and contact falls at every row while a dropped body bounces and the soil gives way."""
    soil = {"strength": 5.0, "hardening": 1e3, "viscosity": 200.0}
    drop = CONTACT | {"damping": 0, "friction": 0, "exponent": 1, "soil": soil}
    energy = (
        load(upright(drop)).compile().simulate(3.0, output_step=0.01, tolerance=1e-10)["energy"]
    )
    assert np.diff(energy).max() < 1e-7 * energy[0] and energy[-1] < energy[0] - 3.0


@pytest.mark.parametrize("rail", [TUBE, GROOVE], ids=["tube", "groove"])
def test_elastic_rails_conserve_energy(rail: dict):
    """A pin thrown to and fro in its clearance, without damping and friction; damping takes, and the pin goes no deeper than the impact asks."""
    throw = free(
        rail | {"damping": 0, "friction": 0, "between": [{"body": "ground"}, {"body": "b"}]}
    )
    throw["joints"]["j"]["speed"] = [0.2, 0.05, 0.3, 0, 0, 0]
    result = load(throw).compile().simulate(2.0, output_step=0.01, tolerance=1e-11)
    energy = 0.5 * MASS * (0.2**2 + 0.05**2 + 0.3**2)
    assert np.ptp(result["energy"]) < 1e-7 * energy and result["load"].max() > 5.0
    deepest = np.sqrt(MASS * (0.05**2 + 0.3**2) / 1e4)
    across = np.hypot(result["j.y"], result["j.z"]) if rail is TUBE else np.abs(result["j.z"])
    assert across.max() < 0.01 + 1.001 * deepest
    throw["forces"]["c"]["damping"] = 30
    damped = load(throw).compile().simulate(2.0, output_step=0.01, tolerance=1e-10)["energy"]
    assert np.diff(damped).max() < 1e-9 and damped[-1] < 0.9 * energy


def test_jacks_carry_the_weight():
    """Four legs with a table as law: equal loads, whose sum is the weight at the compression the table gives."""
    places = [[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]]
    leg = {"kind": "jack", "body": "b", "extension": 0.5, "law": "leg"}
    table = {"x": [0, 0.01, 0.02, 0.05], "y": [0, 2.0, 8.0, 50.0]}
    legs = {f"leg{k}": leg | {"point": place} for k, place in enumerate(places)}
    outputs = {f"load{k}": f"force('leg{k}')" for k in range(4)}
    system = load(
        free({}, G) | {"forces": legs, "tables": {"leg": table}, "outputs": outputs}
    ).compile()
    carried = MASS * G / 4
    compression = np.interp(carried, table["y"], table["x"])
    q = [0, 0, 0.5 - compression, 1, 0, 0, 0]
    assert np.abs(system.accelerations(0.0, q, np.zeros(6))).max() < 1e-12
    assert list(system.outputs(0.0, q, np.zeros(6)).values()) == pytest.approx(
        [carried] * 4, rel=1e-12
    )


def test_lateral_force_is_elastic_then_slips():
    """A standing jack pushed sideways: elastic up to friction times load, then it slides; energy only falls."""
    jack = JACK | {"point": [0, 0, 0], "extension": 0.5, "side_stiffness": 1e4, "friction": 0.4}
    static = 0.5 - MASS * G / 1e4
    description = upright(jack, parameters={"height": static})
    description["joints"]["j"]["transforms"][0]["speed"] = 0.5
    result = load(description).compile().simulate(0.5, output_step=0.001)
    limit = 0.4 * MASS * G
    travel, speed = result["c.travel_1"], result["der(x)"]
    assert np.abs(1e4 * travel).max() <= limit * 1.02
    sliding = slice(20, 60)
    assert -np.diff(speed[sliding]) / 0.001 * MASS == pytest.approx(limit, rel=0.02)
    total = 0.5 * MASS * speed**2 + 0.5 * 1e4 * travel**2
    assert np.diff(total).max() < 1e-6
    assert result["x"][-1] == pytest.approx(
        0.5**2 / (2 * 0.4 * G), rel=0.02
    )  # v²/(2 mu g), less what the spring gives back


def test_tyre_without_friction_limit_acts_as_lateral_spring():
    """Small side oscillation at sqrt(k/m); the wheel rolls freely along x."""
    tyre = TYRE | {"side": "x", "side_stiffness": 800, "side_damping": 0, "stiffness": 1e4}
    description = upright(tyre, parameters={"height": 0.3 - MASS * G / 1e4})
    description["joints"]["j"]["transforms"][0]["speed"] = 0.1
    result = load(description).compile().simulate(2 * np.pi / 20.0, output_step=np.pi / 200)
    assert result["x"] == pytest.approx(0.1 / 20.0 * np.sin(20.0 * result.time), abs=1e-7)


def test_rail_acts_on_both_bodies():
    """Guided body and rail body floating freely: the forces between them leave the total momentum and its moment alone."""
    both = {
        name: {"mass": mass, "inertia": [0.1, 0.2, 0.3, 0, 0, 0]}
        for name, mass in (("a", 3.0), ("b", 2.0))
    }
    rail = TUBE | {
        "between": [{"body": "a", "point": [0.1, 0, 0.2]}, {"body": "b", "point": [0.05, 0, 0]}],
        "axis": [1, 0.2, 0],
    }
    joints = {name: {"child": name, "type": "free"} for name in both}
    system = load(free({}) | {"bodies": both, "joints": joints, "forces": {"c": rail}}).compile()
    q = np.array([0, 0, 0, 1, 0, 0, 0, 0.3, 0.02, 0.3, 1, 0, 0, 0])
    u = np.array([0.1, 0.2, 0, 0.3, -0.2, 0.1, 0.5, 0, 0.4, 0, 0.1, 0])
    a = system.accelerations(0.0, q, u)
    assert system.outputs(0.0, q, u)["load"] > 10.0
    force, moment = np.zeros(3), np.zeros(3)
    for mass, place, v, rate in ((3.0, q[:3], u[:6], a[:6]), (2.0, q[7:10], u[6:], a[6:])):
        J = np.array([0.1, 0.2, 0.3])
        pushed = mass * (rate[:3] + np.cross(v[3:], v[:3]))
        force += pushed
        moment += J * rate[3:] + np.cross(v[3:], J * v[3:]) + np.cross(place, pushed)
    assert np.abs(force).max() < 1e-11
    assert np.abs(moment).max() < 1e-11


def test_rail_acts_only_between_its_ends():
    """The groove holds a pin on both sides, along its direction only, and only between begin and end."""
    system = load(
        free(GROOVE | {"begin": 0.0, "end": 1.0, "between": [{"body": "ground"}, {"body": "b"}]})
    ).compile()

    def load_at(x: float, y: float, z: float) -> float:
        return system.outputs(0.0, [x, y, z, 1, 0, 0, 0], np.zeros(6))["load"]

    assert load_at(0.5, 0.0, 0.02) == load_at(0.5, 0.3, -0.02) == pytest.approx(100.0)
    assert load_at(0.5, 0.3, 0.005) == load_at(-0.01, 0, 0.02) == load_at(1.01, 0, 0.02) == 0.0


def test_penetration_is_available_to_stages_and_outputs():
    description = upright(CONTACT, outputs={"gap": "-c.penetration"})
    assert load(description).compile().outputs(0.0, [0, 0.45], [0, 0])["gap"] == pytest.approx(0.15)


def test_moving_jack_extension_contributes_to_damping():
    """A jack that extends at 0.1 m/s loads its damper as a body that sinks at 0.1 m/s does."""
    system = load(free(JACK | {"extension": "0.31 + 0.1*t", "friction": 0})).compile()
    load_of = system.outputs(0.0, [0, 0, 0.3, 1, 0, 0, 0], np.zeros(6))["load"]
    assert load_of == pytest.approx(1e4 * 0.01 + 30 * 0.1)
