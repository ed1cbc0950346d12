"""Actuators against hand calculations: told stiffness, what the drive is told, chambers of oil."""

import numpy as np
import pytest

from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import variable_table
from kinetree.models import load
from kinetree.models.language.units.unit_of_measure import parse_unit

FOOT = {"body": "ground"}


def slide(actuator: dict | None = None, **more) -> dict:
    """2 kg that move along z, 1 m from the foot of the actuator `lift`."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"b": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "type": "prismatic", "coordinates": ["z"], "start": [1.0]}},
        "actuators": {"lift": {"between": [FOOT, {"body": "b"}]} | (actuator or {})},
    } | more


def test_actuator_stiffness_acts_from_step_start():
    """Two steps of H: each an oscillation about s0 + F/k that starts with the state the last one left."""
    k, F, H, m = 50.0, 3.0, 0.1, 2.0
    result = (
        load(slide())
        .compile()
        .simulate(2 * H, output_step=H, inputs={"lift.force": F, "lift.stiffness": -k})
    )
    w = np.sqrt(k / m)
    z, v, mean = 1.0, 0.0, []
    for _ in range(2):
        after = z + F / k * (1 - np.cos(w * H)) + v / w * np.sin(w * H)
        v = F / k * w * np.sin(w * H) + v * np.cos(w * H)
        mean.append((after - z) / H)
        z = after
    assert result["lift.length"][-1] == pytest.approx(z, rel=1e-8)
    assert result["lift.speed"][-1] == pytest.approx(v, rel=1e-7)
    assert result["lift.mean_speed"][1:] == pytest.approx(mean, rel=1e-7)


def test_actuator_damping_is_implicit():
    """m dv/dt = F - d (v - v0) in one step."""
    d, F, H, m = 8.0, 3.0, 0.2, 2.0
    result = (
        load(slide())
        .compile()
        .simulate(H, output_step=H, inputs={"lift.force": F, "lift.damping": -d})
    )
    assert result["lift.speed"][-1] == pytest.approx(F / d * (1 - np.exp(-d / m * H)), rel=1e-8)


def test_boom_actuator_reports_effective_mass():
    """Static force, effective mass I/lever² and the acceleration a force adds."""
    system = load("lib:boom").compile()
    held = system.simulate(0.1, output_step=0.05)
    assert np.abs(held["luff"] - 0.5).max() < 1e-12
    inertia = (
        150.0 * 3.2**2 * (1.005 / 12 + 0.25) + 70.0 * 3.2**2
    )  # a rod of some thickness, a point
    lever = 1.5 * (0.6 * np.sin(0.5) + 1.0 * np.cos(0.5)) / held["lift.length"][0]
    assert held["lift.effective_mass"] == pytest.approx([inertia / lever**2] * 3, rel=1e-9)
    pushed = system.simulate(0.01, output_step=0.01, inputs={"lift.force": 1e4})
    hold = (75.0 + 70.0) * 3.2 * 9.81 * np.cos(0.5) / lever
    assert pushed["lift.acceleration"][0] == pytest.approx(
        (1e4 - hold) / held["lift.effective_mass"][0], rel=1e-9
    )


def test_actuator_acceleration_is_second_derivative_of_length():
    """Central difference over h = 1e-3: error h²/12 times the fourth derivative, about 1e-4 of it."""
    result = (
        load("lib:boom")
        .compile()
        .simulate(0.1, output_step=1e-3, inputs={"lift.force": 6e3}, tolerance=1e-11)
    )
    length = result["lift.length"]
    second = (length[2:] - 2 * length[1:-1] + length[:-2]) / 1e-6
    assert result["lift.acceleration"][1:-1] == pytest.approx(second, abs=2e-5)


def test_rotary_actuator_acts_on_coordinate():
    """Along a coordinate: moment of inertia as effective mass."""
    description = slide({"coordinate": "angle", "force": 0.4}) | {
        "joints": {"j": {"child": "b", "type": "revolute", "coordinates": ["angle"]}}
    }
    del description["actuators"]["lift"]["between"]
    result = load(description).compile().simulate(1.0, output_step=0.5)
    assert result["angle"] == pytest.approx(0.5 * 4.0 * result.time**2, rel=1e-9)
    assert result["lift.effective_mass"] == pytest.approx([0.1] * 3)
    assert result["lift.acceleration"] == pytest.approx([4.0] * 3)


def test_single_evaluation_counts_as_step_start_for_actuators():
    """Outputs of a state, of many, of a rest and slopes tell of an actuator what the first row of a run tells; its way since then is 0."""
    system = load("lib:boom").compile()
    q, u = system.start()
    names = (
        "lift.length",
        "lift.speed",
        "lift.mean_speed",
        "lift.acceleration",
        "lift.effective_mass",
    )
    first = {
        name: system.simulate(0.01, output_step=0.01, inputs={"lift.force": 5e4})[name][0]
        for name in names
    }
    for t in (0.0, 2.0):
        one = system.outputs(t, q, u, {"lift.force": 5e4})
        _, many = system.accelerations_many(
            t, [q], [u], inputs={"lift.force": [5e4]}, outputs=names
        )
        for name in names:
            assert one[name] == pytest.approx(first[name], rel=1e-9, abs=1e-12) == many[name][0], (
                name
            )
        moving = system.outputs(t, q, u + 0.1, {"lift.force": 5e4})
        assert moving["lift.mean_speed"] == moving["lift.speed"] > 0.05
        linear = system.linearize(t, q, u + 0.1, outputs=["lift.speed", "lift.mean_speed"])
        assert linear.D[:, linear.inputs.index("lift.stiffness")] == pytest.approx([0, 0])
        assert linear.B[:, linear.inputs.index("lift.stiffness")] == pytest.approx(0.0, abs=1e-12)
    rest = system.equilibrium()
    mass = rest.outputs["lift.effective_mass"]
    assert (
        mass == pytest.approx(system.outputs(0.0, rest.q, [0.0])["lift.effective_mass"], rel=1e-12)
        and mass > 1e3
    )
    for told in ("lift.stiffness", "lift.damping"):
        for ask in (
            lambda given: system.accelerations(0.0, q, u, inputs=given),
            lambda given: system.equilibrium(inputs=given),
        ):
            with pytest.raises(ValueError, match="since a communication step began"):
                ask({told: -1.0})


@pytest.mark.parametrize(
    ("joint", "along", "units"),
    [
        ("prismatic", "coordinate", ("N", "m", "kg")),
        ("revolute", "coordinate", ("N.m", "rad", "kg.m2")),
        ("prismatic", "between", ("N", "m", "kg")),
    ],
)
def test_actuator_units_follow_driven_coordinate(
    joint: str, along: str, units: tuple[str, str, str]
):
    """Power is force times speed in W whatever is driven; hosts tell flanges and power bonds by these units."""
    description = slide({"coordinate": "z"} if along == "coordinate" else None)
    description["joints"]["j"]["type"] = joint
    if along == "coordinate":
        del description["actuators"]["lift"]["between"]
    table = {v.name: v.unit for v in variable_table(fmu_unit(load(description))).variables}
    force, way, mass = units
    wanted = {"force": force, "stiffness": f"{force}/{way}", "damping": f"{force}.s/{way}", "length": way, "speed": f"{way}/s",
        "acceleration": f"{way}/s2", "mean_speed": f"{way}/s", "effective_mass": mass}  # fmt: skip
    assert {key: table[f"lift.{key}"] for key in wanted} == wanted
    assert bases(force, f"{way}/s") == bases(mass, f"{way}/s2", f"{way}/s") == bases("W")


def bases(*units: str) -> dict[str, int]:
    """Base units of a product with their exponents; an angle counts as 1."""
    parts = [parse_unit(unit).base for unit in units]
    whole = {
        name: sum(part.get(name, 0) for part in parts) for name in {*parts[0], *parts[-1]} - {"rad"}
    }
    return {name: power for name, power in whole.items() if power}


def test_locked_coordinate_ignores_actuator_force():
    """A drive and a spring on a joint that a stage locks stay where they are."""
    stages = [{"ends": {"at": 0.5}, "lock": ["j"]}, {}]
    spring = {"spring": {"coordinate": "z", "stiffness": 10, "length": 0}}
    description = slide({"coordinate": "z", "force": 1.0}, stages=stages, forces=spring)
    del description["actuators"]["lift"]["between"]
    result = load(description).compile().simulate(1.0, output_step=0.25)
    assert result["z"][2:] == pytest.approx([result["z"][-1]] * 3, rel=1e-12)


CHAMBERS = {
    "area_a": 50e-4, "area_b": 32e-4, "volume_a": 0.5e-3, "volume_b": 0.5e-3, "shortest": 0.5, "longest": 1.5, "bulk_modulus": 1.4e9,
    "pressure_a": 3.2e6, "pressure_b": 5e6,
}  # fmt: skip


def test_closed_chambers_act_as_spring():
    """Both sides shut: E A²/V each; a small oscillation has the frequency of their sum."""
    stiffness = 1.4e9 * (
        (50e-4) ** 2 / (0.5e-3 + 50e-4 * 0.5) + (32e-4) ** 2 / (0.5e-3 + 32e-4 * 0.5)
    )
    description = slide({"chambers": CHAMBERS})
    description["joints"]["j"]["speed"] = [1e-3]
    period = 2 * np.pi / np.sqrt(stiffness / 2.0)
    result = load(description).compile().simulate(period, output_step=period / 20, tolerance=1e-10)
    assert result["z"] - 1.0 == pytest.approx(
        1e-3 * period / (2 * np.pi) * np.sin(2 * np.pi * result.time / period), abs=1e-9
    )


def test_flow_extends_the_cylinder():
    """Steady flow into side a and the same out of b in proportion of the areas: speed flow/area, pressures stay."""
    flows = {"lift.flow_a": 50e-4 * 0.1, "lift.flow_b": -32e-4 * 0.1}
    description = slide({"chambers": CHAMBERS})
    description["joints"]["j"]["speed"] = [0.1]
    result = load(description).compile().simulate(0.2, output_step=0.1, inputs=flows)
    assert result["z"][-1] == pytest.approx(1.02, rel=1e-7)
    assert result["lift.pressure_a"] == pytest.approx([3.2e6] * 3, rel=1e-5)


def test_leakage_equalises_chamber_pressures():
    """With the piston locked: the difference decays at leakage (E/V_a + E/V_b)."""
    chambers = CHAMBERS | {"leakage": 1e-12}
    description = slide(
        {"chambers": chambers}, joints={"j": {"child": "b", "type": "rigid", "at": [0, 0, 1.0]}}
    )
    result = load(description).compile().simulate(0.5, output_step=0.25)
    rate = 1e-12 * 1.4e9 * (1 / 3e-3 + 1 / 2.1e-3)
    difference = result["lift.pressure_b"] - result["lift.pressure_a"]
    assert difference == pytest.approx(1.8e6 * np.exp(-rate * result.time), rel=1e-6)


def test_free_air_softens_oil():
    """Bulk modulus of oil with 1 % of air at 32 bar, from the compliance of the two volumes."""
    chambers = CHAMBERS | {"air": 0.01}
    description = slide(
        {"chambers": chambers}, joints={"j": {"child": "b", "type": "rigid", "at": [0, 0, 1.0]}}
    )
    result = (
        load(description).compile().simulate(1e-4, output_step=1e-4, inputs={"lift.flow_a": 1e-4})
    )
    p = 3.2e6
    air = 0.01 * (1e5 / p) ** (1 / 1.4)
    modulus = (1 + air) / (1 / 1.4e9 + air / (1.4 * p))
    assert modulus < 1.2e9
    assert result["lift.pressure_a"][-1] - p == pytest.approx(
        modulus * 1e-8 / 3e-3, rel=1e-3
    )  # the modulus grows a little on the way


def test_actuator_end_stop_and_cavitation_match_formulas():
    """Sucked empty, a side stays at zero pressure; at full length the stop holds."""
    chambers = CHAMBERS | {"end_damping": 2e4, "longest": 1.05}
    result = (
        load(slide({"chambers": chambers}))
        .compile()
        .simulate(0.5, output_step=0.01, inputs={"lift.flow_b": -2e-3, "lift.flow_a": 0.0})
    )
    assert result["lift.pressure_b"].min() > -1.0
    assert result["z"].max() < 1.05 + 3.2e6 * 50e-4 / 1e8 * 2


def test_internal_inputs_are_hidden_from_hosts():
    """The FMU's inputs are force, stiffness and damping; what the engine holds stays inside."""
    from kinetree.fmu.unit import fmu_unit

    unit = fmu_unit(load("lib:boom"))
    assert [each.name for each in unit.inputs] == ["lift.force", "lift.stiffness", "lift.damping"]
    assert {
        "lift.length",
        "lift.speed",
        "lift.acceleration",
        "lift.mean_speed",
        "lift.effective_mass",
    } <= {c.name for c in unit.columns}


def test_drive_state_is_kept_when_structure_changes():
    """A load is let go: the same inputs go on acting on what remains."""
    bodies = {name: {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]} for name in ("b", "load")}
    joints = slide()["joints"] | {"grip": {"parent": "b", "child": "load", "type": "rigid"}}
    stages = [{"ends": {"at": 0.25}, "free": ["grip"]}, {}]
    description = slide(bodies=bodies, joints=joints, stages=stages)
    result = (
        load(description)
        .compile()
        .simulate(0.5, output_step=0.5, inputs={"lift.force": 4.0, "lift.stiffness": -1e-9})
    )
    assert result["lift.length"][-1] == pytest.approx(
        1.0 + 0.5 * 0.25**2 + 0.25 * 0.25 + 0.25**2, rel=1e-8
    )
    assert result["lift.mean_speed"][-1] == pytest.approx((result["lift.length"][-1] - 1.0) / 0.5)
    assert result["lift.effective_mass"] == pytest.approx([4.0, 2.0])
