"""Laws of forces against what others say: closed forms of textbooks, MuJoCo, a published wheel, Bekker's and Wong's stresses integrated by scipy."""

import mujoco
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from test_soil import SOILS
from test_soil import rig as soil_rig
from test_wheel import SHEAR, N
from test_wheel import rig as wheel_rig

from kinetree.models import load

MASS = 2.0
FREE = [
    0.3,
    -0.2,
    0.4,
    *(np.array([0.8, 0.1, -0.5, 0.3]) / np.linalg.norm([0.8, 0.1, -0.5, 0.3])).tolist(),
]
OTHER = [
    -0.5,
    0.6,
    1.4,
    *(np.array([0.4, -0.7, 0.2, 0.5]) / np.linalg.norm([0.4, -0.7, 0.2, 0.5])).tolist(),
]
SPEEDS = [0.4, -0.3, 0.2, 0.7, -0.4, 0.9], [-0.2, 0.5, 0.1, -0.3, 0.8, 0.2]


def slide(force: dict, start: float, speed: float = 0.0) -> dict:
    """A mass on a frictionless slide with one force along it."""
    return {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"b": {"mass": MASS}}, "forces": {"f": force}, "outputs": {"F": "force('f')"},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": start, "speed": speed}]}},
    }  # fmt: skip


def test_spring_and_damper_match_damped_oscillator():
    """x = exp(-d t) (x0 cos w t + (v0 + d x0)/w sin w t), of any textbook."""
    result = (
        load(slide({"coordinate": "x", "stiffness": 800.0, "damping": 12.0}, 0.1, -0.7))
        .compile()
        .simulate(2.0, tolerance=1e-10)
    )
    d, t = 12.0 / (2 * MASS), result.time
    w = np.sqrt(800.0 / MASS - d * d)
    assert result["x"] == pytest.approx(
        np.exp(-d * t) * (0.1 * np.cos(w * t) + (-0.7 + d * 0.1) / w * np.sin(w * t)), abs=1e-8
    )


def test_damped_stop_matches_exponential_solution():
    """m x'' = k exp(-s x): x = x_least + 2/s log cosh(s v t/2), with exp(-s x_least) = m v² s/(2 k) (Toda's wall)."""
    k, s, v = 300.0, 80.0, 0.6
    least = -np.log(MASS * v * v * s / (2 * k)) / s
    result = load(
        slide(
            {"kind": "stop", "coordinate": "x", "lower": 0.0, "stiffness": k, "sharpness": s}, least
        )
    ).compile()
    result = result.simulate(0.5, tolerance=1e-11)
    expected = least + 2 / s * np.log(np.cosh(0.5 * s * v * result.time))
    assert result["x"] == pytest.approx(expected, abs=1e-8)
    assert result["der(x)"][-1] == pytest.approx(v, rel=1e-5)


def test_dry_friction_decay_matches_den_hartog():
    """Den Hartog: the amplitude of a spring with Coulomb's friction falls by 4 F/k in each period, which stays that of the spring."""
    k, F = 500.0, 3.0
    d = slide({"coordinate": "x", "stiffness": k}, 0.2)
    d["forces"]["rub"] = {"kind": "friction", "coordinate": "x", "coulomb": F, "speed": 1e-4}
    period = 2 * np.pi * np.sqrt(MASS / k)
    result = load(d).compile().simulate(4 * period, output_step=period / 2, tolerance=1e-9)
    assert np.abs(result["x"]) == pytest.approx(0.2 - 2 * F / k * np.arange(9), abs=2e-5)


def test_brake_matches_elastoplastic_element():
    """Swung to and fro it takes nearly 4 F (A - F/k) each time, the loop of a spring that slips at F (Jenkins, Iwan).

    It begins to slip at three quarters of F and comes near it as exp(-4 k x/F): the loop is smaller by less than 2 F²/k times 0.25."""
    F, k, A, w = 10.0, 5e3, 0.01, 5.0
    d = slide({"kind": "brake", "coordinate": "x", "largest": F, "stiffness": k}, 0.0, A * w)
    d["bodies"]["b"]["mass"] = 1e6
    d["forces"]["drive"] = {"coordinate": "x", "stiffness": 1e6 * w * w}
    d["outputs"]["lost"] = {"quantity": "dissipated_energy", "force": "f"}
    turn = 2 * np.pi / w
    result = load(d).compile().simulate(3 * turn, output_step=turn, tolerance=1e-9)
    loop, shape = np.diff(result["lost"])[1:], 4 * F * (A - F / k)
    assert loop == pytest.approx([shape, shape], abs=0.5 * F * F / k) and loop[0] == pytest.approx(
        loop[1], rel=1e-3
    )


def test_cylinder_pushes_with_pressures_and_oscillates_on_stops():
    """p_a A_a - p_b A_b; thrown against an end stop without damping it is back after π sqrt(m/k)."""
    law = {
        "kind": "cylinder", "between": [{"body": "ground"}, {"body": "b"}], "pressure_a": 5e6, "pressure_b": 8e6, "area_a": 1e-3, "area_b": 6e-4,
        "shortest": 0.5, "longest": 1.0, "end_stiffness": 2e5,
    }  # fmt: skip
    system = load(slide(law, 0.7)).compile()
    assert system.accelerations(0.0, [0.7], [0.0])[0] * MASS == pytest.approx(
        5e6 * 1e-3 - 8e6 * 6e-4, rel=1e-12
    )
    half = np.pi * np.sqrt(MASS / 2e5)
    result = (
        load(slide(law | {"pressure_a": 0.0, "pressure_b": 0.0}, 1.0, 0.8))
        .compile()
        .simulate(half, output_step=half, tolerance=1e-10)
    )
    assert [result["x"][-1], result["der(x)"][-1]] == pytest.approx([1.0, -0.8], abs=1e-6)


def test_pin_between_rail_walls_matches_reference():
    """Across a rail with play it flies 2 c and swings half a period on either wall: 4 c/v + 2 π sqrt(m/k)."""
    c, v, k = 0.02, 0.5, 1e5
    rail = {
        "kind": "rail",
        "between": [{"body": "ground"}, {"body": "b"}],
        "axis": "z",
        "stiffness": k,
        "clearance": c,
    }
    period = 4 * c / v + 2 * np.pi * np.sqrt(MASS / k)
    result = (
        load(slide(rail, 0.0, v))
        .compile()
        .simulate(3 * period, output_step=period / 4, tolerance=1e-10)
    )
    assert result["x"][::2] == pytest.approx(np.zeros(7), abs=1e-6)
    assert np.abs(result["x"][1::2]) == pytest.approx(
        np.full(6, c + v * np.sqrt(MASS / k)), rel=1e-6
    )


def two_bodies(forces: dict) -> dict:
    bodies = {
        "a": {"mass": 3.0, "inertia": [0.2, 0.3, 0.4, 0, 0, 0]},
        "b": {"mass": 2.0, "inertia": [0.1, 0.25, 0.2, 0, 0, 0]},
    }
    return {
        "format": "kinetree/1", "gravity": [0, 0, -9.81], "bodies": bodies, "forces": forces,
        "joints": {"a": {"child": "a", "type": "free", "start": FREE}, "b": {"child": "b", "type": "free", "start": OTHER}},
    }  # fmt: skip


def beside_mujoco(forces: dict, tendon: str = "", push=None) -> None:
    """Accelerations of two free bodies that move, in both libraries; MuJoCo's free joints turn about body axes, and their origins are the centres."""
    xml = f"""<mujoco><option gravity="0 0 -9.81"/><worldbody>
      <site name="w" pos="0.2 -0.4 1.8"/><site name="m" pos="-0.3 0.1 2.2"/>
      <body name="a"><freejoint/><inertial pos="0 0 0" mass="3" diaginertia="0.2 0.3 0.4"/><site name="a" pos="0.1 0.2 -0.1"/></body>
      <body name="b"><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.1 0.25 0.2"/><site name="b" pos="-0.2 0.1 0.3"/></body>
    </worldbody><tendon>{tendon}</tendon></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = FREE + OTHER, SPEEDS[0] + SPEEDS[1]
    if push:
        mujoco.mj_forward(model, data)
        push(model, data)
    mujoco.mj_forward(model, data)
    d = two_bodies(forces)
    for key, speeds in zip("ab", SPEEDS, strict=True):
        R = data.xmat[model.body(key).id].reshape(3, 3)
        d["joints"][key]["speed"] = [*(R.T @ np.array(speeds[:3])).tolist(), *speeds[3:]]
    d["outputs"] = {
        f"{kind}{key}{axis}": {"quantity": f"{word}acceleration", "body": key, "axis": axis, "frame": key if word else "ground"}
        for key in "ab" for kind, word in (("a", ""), ("w", "angular_")) for axis in "xyz"
    }  # fmt: skip
    system = load(d).compile()
    told = system.outputs(0.0, *system.start())
    found = [told[f"{kind}{key}{axis}"] for key in "ab" for kind in "aw" for axis in "xyz"]
    assert found == pytest.approx(data.qacc.tolist(), rel=1e-9, abs=1e-9)


def test_line_force_matches_mujoco_tendon():
    """Spring and damper between points of two moving bodies."""
    law = {
        "between": [
            {"body": "a", "point": [0.1, 0.2, -0.1]},
            {"body": "b", "point": [-0.2, 0.1, 0.3]},
        ],
        "stiffness": 400.0,
        "damping": 25.0,
    }
    spatial = '<spatial stiffness="400" damping="25" springlength="0.9"><site site="a"/><site site="b"/></spatial>'
    beside_mujoco({"f": law | {"length": 0.9}}, spatial)


@pytest.mark.parametrize("length", [1.0, 9.0])
def test_rope_matches_mujoco_tendon_over_sites(length: float):
    """From the ground over points of a body and of the ground to another body; slack below its length."""
    ends = [{"body": "ground", "point": [0.2, -0.4, 1.8]}, {"body": "b", "point": [-0.2, 0.1, 0.3]}]
    over = [{"body": "a", "point": [0.1, 0.2, -0.1]}, {"body": "ground", "point": [-0.3, 0.1, 2.2]}]
    sites = "".join(f'<site site="{key}"/>' for key in "wamb")
    law = {"kind": "rope", "between": ends, "over": over, "length": length, "stiffness": 700.0}
    beside_mujoco(
        {"f": law}, f'<spatial stiffness="700" springlength="0 {length}">{sites}</spatial>'
    )


@pytest.mark.parametrize("frame", ["ground", "body"])
def test_wrenches_and_pairs_match_mujoco_applied_forces(frame: str):
    """A force at a point and a moment from outside on one body, and the opposite of another pair on the second one at the same place."""
    force, moment, point = (
        np.array([5.0, -3.0, 8.0]),
        np.array([0.4, 0.7, -0.2]),
        np.array([0.1, 0.2, -0.1]),
    )

    def push(model, data):
        R, at = data.xmat[model.body("a").id].reshape(3, 3), data.xpos[model.body("a").id]
        F, m = (R @ force, R @ moment) if frame == "body" else (force, moment)
        place = at + R @ point
        for factor, key in (
            (3.0, "a"),
            (-2.0, "b"),
        ):  # wrench and twice the pair on a, the opposite of the pair on b
            mujoco.mj_applyFT(
                model, data, factor * F, factor * m, place, model.body(key).id, data.qfrc_applied
            )

    told = {"force": force.tolist(), "moment": moment.tolist(), "frame": frame}
    twice = {"force": (2 * force).tolist(), "moment": (2 * moment).tolist(), "frame": frame}
    wrench = {"kind": "wrench", "body": "a", "point": point.tolist(), **told}
    pair = {
        "kind": "pair",
        "between": [{"body": "a", "point": point.tolist()}, {"body": "b"}],
        **twice,
    }
    beside_mujoco({"w": wrench, "p": pair}, push=push)


def test_lunar_rover_compaction_matches_published_value():
    """28.3 N a wheel of 259 N, by Bekker, diameter 0.813 m: D. L. Akin, lecture "Terramechanics" of ENAE 788X, University of Maryland."""
    soil = {"cohesion_modulus": 1400.0, "friction_modulus": 8.2e5, "exponent": 1.0, "width": 0.229}
    soil |= {"viscosity": 20.0, "stiffness": 2e7, "damping": 500.0}
    d = soil_rig(soil, 259.0, "0.03*t")
    d["forces"]["w"] |= {"radius": 0.813 / 2, "stiffness": 5e6, "damping": 1e3}
    d["joints"]["j"]["transforms"][1]["start"] = 0.813 / 2
    result = load(d).compile().simulate(60.0, output_step=1.0, tolerance=1e-8, integrator="radau")
    assert -result["pull"][-1] == pytest.approx(28.3, rel=0.01)


def stresses(soil: dict, width: float, radius: float, weight: float):
    """Angle of entry of a rigid wheel whose normal stress is Bekker's pressure at each depth and carries its weight; the stress over the angle."""
    modulus, n = soil["cohesion_modulus"] / width + soil["friction_modulus"], soil["exponent"]

    def normal(angle: float, entry: float) -> float:
        return modulus * (radius * max(np.cos(angle) - np.cos(entry), 0.0)) ** n

    def carried(entry: float) -> float:
        return (
            width * radius * quad(lambda angle: normal(angle, entry) * np.cos(angle), 0.0, entry)[0]
        )

    entry = brentq(lambda entry: carried(entry) - weight, 1e-3, 1.5)
    return entry, normal


@pytest.mark.parametrize("name", SOILS)
def test_wheel_soil_forces_match_integrated_stresses(name: str):
    """Sinkage and compaction resistance by quadrature over the arc. Bekker's closed form, which the law has, takes the arc for a parabola and its
    pressure by two terms of a series: with loads up to 8 kN on 1.1 m it is within 8 % in sinkage and 11 % in resistance."""
    width, radius, weight, soil = 0.25, 0.55, 5e3, SOILS[name]
    entry, normal = stresses(soil, width, radius, weight)
    sinkage = radius * (1 - np.cos(entry))
    resistance = (
        width * radius * quad(lambda angle: normal(angle, entry) * np.sin(angle), 0.0, entry)[0]
    )
    found = load(
        soil_rig(
            soil | {"width": width, "viscosity": 100.0, "stiffness": 1e8, "damping": 3e3},
            weight,
            "0.03*t",
        )
    ).compile()
    result = found.simulate(80.0, output_step=1.0, tolerance=1e-8, integrator="radau")
    assert result["w.settlement"][-1] == pytest.approx(sinkage, rel=0.08)
    assert -result["pull"][-1] == pytest.approx(resistance, rel=0.11)


@pytest.mark.parametrize(("slip", "least"), [(0.05, 0.55), (0.2, 0.79), (0.6, 0.88)])
def test_soil_thrust_matches_integrated_shear(slip: float, least: float):
    """Shear (c + p tan φ)(1 - exp(-j/K)) by quadrature: along the flat patch of the law, j = i x with even pressure, the same; along the arc of
    Wong and Reece, j = r (θ0 - θ - (1 - i)(sin θ0 - sin θ)) with Bekker's pressure, which turns into the soil even without slip, more."""
    soil, width, radius, tangent = SOILS["sandy loam"], SHEAR["width"], 0.55, np.tan(SHEAR["angle"])
    entry, normal = stresses(soil, width, radius, N)
    length = radius * entry

    def sheared(pressure: float, way: float) -> float:
        return (SHEAR["cohesion"] + pressure * tangent) * (1 - np.exp(-way / SHEAR["modulus"]))

    def along_the_arc(angle: float) -> float:
        way = radius * (entry - angle - (1 - slip) * (np.sin(entry) - np.sin(angle)))
        return sheared(normal(angle, entry), way) * np.cos(angle)

    flat = width * quad(lambda x: sheared(N / (width * length), slip * x), 0.0, length)[0]
    arc = width * radius * quad(along_the_arc, 0.0, entry)[0]
    law = SHEAR | {"length": float(length)}
    system = load(
        wheel_rig(1.0, 1.0 / (0.28 * (1 - slip)), drop=("friction", "slip_stiffness"), shear=law)
    ).compile()
    found = system.simulate(4.0, output_step=1.0, tolerance=1e-8)["drive"][-1]
    assert found == pytest.approx(flat, rel=1e-5)
    assert least < found / arc < 1.0
