"""Hydraulic circuits: balances of oil and energy, steady flows, gas and motion against formulas, and mistakes that are named."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.cosim.monolithic_reference import reference
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.scenario_units import actuated, settled

BULK = 1.4e9
WALL = {"b": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}}
FIXED = {"j": {"child": "b", "type": "rigid", "at": [0, 0, 1.0]}}
SLIDE = {"j": {"child": "b", "type": "prismatic", "coordinates": ["z"], "start": [1.0]}}
EYES = [{"body": "ground"}, {"body": "b"}]


def circuit(
    joints: dict[str, Any] | None = None, mass: float = 1.0, **elements: dict[str, Any]
) -> dict[str, Any]:
    """Elements beside one body that stands still or slides along z."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"b": WALL["b"] | {"mass": mass}},
        "joints": joints or FIXED,
        "hydraulics": elements,
    }


def run(description: dict[str, Any], stop: float, step: float, **more):
    return load(description).compile().simulate(stop, output_step=step, tolerance=1e-10, **more)


def volume(litres: float, bar: float, **more) -> dict[str, Any]:
    return {"volume": litres * 1e-3, "start": bar * 1e5, "bulk_modulus": BULK} | more


def flow(drop, rated: float, rated_drop: float = 35e5, laminar: float = 1e5):
    """The law of an edge, written out."""
    return rated / np.sqrt(rated_drop) * drop / (drop**2 + laminar**2) ** 0.25


def test_two_volumes_conserve_oil_and_energy():
    """What one loses the other gets: Σ V p/E stays; the elastic energy Σ V p²/2E falls by what the throttle turns into heat."""
    description = circuit(
        one=volume(1.0, 100),
        two=volume(2.0, 10),
        throttle={"path": ["one", "two"], "rated_flow": 1e-5},
    )
    description["states"] = {"heat": {"rate": "throttle.flow*(one.pressure - two.pressure)"}}
    result = run(description, 1.0, 0.05)
    p, q = result["one.pressure"], result["two.pressure"]
    oil, energy = (1e-3 * p + 2e-3 * q) / BULK, (1e-3 * p**2 + 2e-3 * q**2) / (2 * BULK)
    assert oil == pytest.approx([oil[0]] * oil.size, rel=1e-9)
    assert energy[0] - energy == pytest.approx(result["heat"], abs=1e-8 * energy[0])
    assert p[-1] == pytest.approx(40e5, rel=1e-2)  # (100 + 2*10)/3 bar


def test_steady_flow_through_two_throttles_matches_formula():
    """Between two sources: the middle settles where both flows are the same; k root(dp) far above the laminar drop."""
    description = circuit(
        high={"pressure": 200e5}, low={"pressure": 1e5}, middle=volume(0.1, 50),
        first={"path": ["high", "middle"], "rated_flow": 1e-4, "laminar": 1e3},
        second={"path": ["middle", "low"], "rated_flow": 2e-4, "laminar": 1e3},
    )  # fmt: skip
    result = run(description, 1.0, 0.5)
    middle = result["middle.pressure"][-1]
    assert middle == pytest.approx(
        1e5 + 199e5 / 5, rel=1e-6
    )  # drops as the inverse squares of 1 : 2; laminar part (1e3/4e6)²
    assert result["first.flow"][-1] == pytest.approx(1e-4 * np.sqrt(4 / 5 * 199 / 35), rel=1e-6)
    assert result["first.flow"][-1] == pytest.approx(result["second.flow"][-1], rel=1e-9)


def test_throttle_flow_is_laminar_near_zero_and_given_by_area():
    """Cd A sqrt(2 dp/rho) at a high drop; at a thousandth of the laminar drop proportional to it."""
    places = {"high": {"pressure": "1e5 + 1e2 + 2e7*t"}, "low": {"pressure": 1e5}}
    result = run(
        circuit(
            **places,
            hole={"path": ["high", "low"], "area": 1e-6, "discharge": 0.62, "density": 850},
        ),
        1.0,
        1.0,
    )
    k = 0.62 * 1e-6 * np.sqrt(2 / 850)
    assert result["hole.flow"][0] == pytest.approx(k * 1e2 / np.sqrt(1e5), rel=1e-6)
    assert result["hole.flow"][1] == pytest.approx(
        k * np.sqrt(2e7 + 1e2), rel=1e-4
    )  # (laminar/drop)²/4 = 6e-6


def test_pump_fills_accumulator_as_formula():
    """Time to a pressure: oil of the volume and squeezed gas, over the flow; the gas keeps p Vⁿ."""
    Q, V, V0, p0, n, start = 2e-4, 1e-3, 2e-3, 60e5, 1.3, 20e5
    description = circuit(
        tank={"pressure": 1e5}, rail={"volume": V, "start": start, "bulk_modulus": BULK},
        pump={"path": ["tank", "rail"], "flow": Q}, bottle={"at": "rail", "gas": V0, "precharge": p0, "exponent": n},
    )  # fmt: skip
    result = run(description, 5.0, 0.25, largest_step=0.01)
    p, gas = result["rail.pressure"], result["bottle.gas"]
    assert Q * result.time == pytest.approx(
        V / BULK * (p - start) + V0 - gas, abs=1e-9 * V0 + 1e-7 * Q
    )
    squeezed = p > p0
    assert squeezed.sum() > 10 and gas[~squeezed] == pytest.approx([V0] * int((~squeezed).sum()))
    assert (p * gas**n)[squeezed] == pytest.approx([p0 * V0**n] * int(squeezed.sum()), rel=1e-9)
    assert result["bottle.oil"] + gas == pytest.approx([V0] * gas.size)


def test_pump_flow_is_reduced_at_pressure_limit_with_leakage():
    description = circuit(
        tank={"pressure": 1e5}, rail=volume(0.5, 10),
        pump={"path": ["tank", "rail"], "flow": 3e-4, "limit": 200e5, "range": 10e5, "leakage": 5e-13},
    )  # fmt: skip
    result = run(description, 1.0, 0.1)
    rest = result["rail.pressure"][-1]
    share = 5e-13 * (rest - 1e5) / 3e-4  # of the flow that makes up the leakage
    assert rest == pytest.approx(200e5 - share * 10e5, rel=1e-6) and result["pump.flow"][
        -1
    ] == pytest.approx(0.0, abs=1e-12)


def test_relief_and_check_valves_match_characteristics():
    """A relief valve takes the pump's flow at opens + Q/gain; a check valve lets nothing back."""
    Q, gain = 2e-4, 1e-9
    description = circuit(
        tank={"pressure": 1e5}, rail=volume(0.5, 10), pump={"path": ["tank", "rail"], "flow": f"{Q}*(t < 0.5)"},
        gate={"path": ["rail", "side"], "gain": 1e-8}, side=volume(0.5, 5), relief={"path": ["rail", "tank"], "opens": 180e5, "gain": gain},
    )  # fmt: skip
    result = run(description, 0.5, 0.1)
    assert result["rail.pressure"][-1] == pytest.approx(1e5 + 180e5 + Q / gain, rel=1e-6)
    drained = deepcopy(description)
    drained["hydraulics"]["drain"] = {
        "path": ["rail", "tank"],
        "rated_flow": 1e-3,
        "opening": "t > 0.5",
    }
    result = run(drained, 1.0, 0.1, largest_step=0.01)
    assert result["rail.pressure"][-1] < 2e5 and result["side.pressure"][-1] == pytest.approx(
        result["side.pressure"][4], rel=1e-6
    )


def test_open_check_valve_equals_orifice():
    description = circuit(
        high={"pressure": 100e5},
        low={"pressure": 1e5},
        gate={"path": ["high", "low"], "gain": 1e-8, "rated_flow": 1e-3},
    )
    assert run(description, 1.0, 1.0)["gate.flow"][0] == pytest.approx(flow(99e5, 1e-3), rel=1e-12)


SERVO = {"supply": "rail", "tank": "tank", "a": "a", "b": "b", "rated_flow": 6e-4}
SOURCES = {
    "rail": {"pressure": 200e5},
    "tank": {"pressure": 2e5},
    "a": {"pressure": 80e5},
    "b": {"pressure": 60e5},
}


@pytest.mark.parametrize("spool", [-1.0, -0.3, -0.05, 0.0, 0.05, 0.3, 1.0])
def test_valve_edges_match_orifice_equation(spool: float):
    """Overlap of 10 %: nothing flows around the middle; then supply to one side, the other to the tank."""
    result = run(circuit(**SOURCES, servo=SERVO | {"command": spool, "overlap": 0.1}), 0.1, 0.1)
    up, down = max(spool - 0.1, 0.0), max(-spool - 0.1, 0.0)
    assert result["servo.flow_a"][0] == pytest.approx(
        up * flow(120e5, 6e-4) + down * flow(-78e5, 6e-4), rel=1e-9, abs=1e-18
    )
    assert result["servo.flow_b"][0] == pytest.approx(
        down * flow(140e5, 6e-4) + up * flow(-58e5, 6e-4), rel=1e-9, abs=1e-18
    )


def test_spool_follows_first_and_second_order_response():
    """First order: 1 - exp(-t/T), or its slope limit; second order: the step response of an oscillator. Commands end at full stroke."""
    step = SERVO | {"command": 2.0}
    t = np.linspace(0, 0.1, 21)
    lag = run(circuit(**SOURCES, servo=step | {"time_constant": 0.02}), 0.1, 0.005)["servo.spool"]
    assert lag == pytest.approx(1 - np.exp(-t / 0.02), abs=1e-8)
    slow = run(circuit(**SOURCES, servo=step | {"time_constant": 1e-3, "rate": 5.0}), 0.1, 0.005)[
        "servo.spool"
    ]
    assert slow == pytest.approx(5.0 * t, abs=1e-8)
    swing = run(circuit(**SOURCES, servo=step | {"frequency": 20, "damping": 0.5}), 0.1, 0.005)[
        "servo.spool"
    ]
    w, wd = 2 * np.pi * 20, 2 * np.pi * 20 * np.sqrt(0.75)
    assert swing == pytest.approx(
        1 - np.exp(-w * t / 2) * (np.cos(wd * t) + w / 2 / wd * np.sin(wd * t)), abs=1e-7
    )


CYLINDER = {
    "between": EYES,
    "a": "a",
    "b": "b",
    "area_a": 50e-4,
    "area_b": 32e-4,
    "shortest": 0.5,
    "longest": 1.5,
}


def test_closed_cylinder_acts_as_oil_spring():
    """Both sides shut, hoses with elastic walls: 1/E_eff = 1/E + 1/E_wall, frequency of A²E/V of both sides."""
    effective = 1.0 / (1.0 / BULK + 1.0 / 1e9)
    k = effective * ((50e-4) ** 2 / (0.5e-3 + 50e-4 * 0.5) + (32e-4) ** 2 / (0.5e-3 + 32e-4 * 0.5))
    description = circuit(
        SLIDE, 2.0, a=volume(0.5, 32, wall=1e9), b=volume(0.5, 50, wall=1e9), lift=CYLINDER
    )
    description["joints"] = {"j": SLIDE["j"] | {"speed": [1e-3]}}
    period = 2 * np.pi / np.sqrt(k / 2.0)
    result = run(description, period, period / 20)
    assert result["z"] - 1.0 == pytest.approx(
        1e-3 * period / (2 * np.pi) * np.sin(2 * np.pi * result.time / period), abs=1e-9
    )


def test_cylinder_balances_work_of_oil():
    """Power of the flows in = rate of the elastic energy at every instant + power of the piston; integrated over a stroke."""
    places = {
        "rail": {"pressure": 200e5},
        "tank": {"pressure": 2e5},
        "a": volume(0.5, 32),
        "b": volume(0.5, 50),
    }
    description = circuit(
        SLIDE,
        500.0,
        **places,
        lift=CYLINDER,
        servo=SERVO | {"command": "0.3*(t < 0.2)", "time_constant": 0.01},
    )
    oil = {"a": "(0.5e-3 + 50e-4*(lift.length - 0.5))", "b": "(0.5e-3 + 32e-4*(1.5 - lift.length))"}
    description["states"] = {
        "given": {"rate": "servo.flow_a*a.pressure + servo.flow_b*b.pressure"},
        "piston": {"rate": "lift.force*lift.speed"},
        "squeezed": {
            "rate": f"(der(a.pressure)*a.pressure*{oil['a']} + der(b.pressure)*b.pressure*{oil['b']})/{BULK}"
        },
    }
    description["outputs"] = {"kinetic": {"quantity": "kinetic_energy"}}
    result = run(description, 0.4, 0.02, largest_step=0.005)
    assert result["given"][-1] > 10.0
    assert result["given"] == pytest.approx(
        result["piston"] + result["squeezed"], abs=1e-6 * result["given"][-1]
    )
    assert result["kinetic"] == pytest.approx(result["piston"], abs=1e-6 * result["given"][-1])


def test_hydraulic_equilibrium_is_stationary():
    """A shut valve, forces in balance: pressures and boom stay."""
    result = load("lib:boom-drive").compile(delivery=3e-4).simulate(0.5, output_step=0.05)
    assert np.ptp(result["luff"]) < 1e-9 and np.ptp(result["hose_a.pressure"]) < 10.0


def test_boom_drive_conserves_oil_volume():
    """Oil from the tank that the pump brings is in rail, accumulator, cylinder and hoses, or back in the tank: volumes to compressibility."""
    description = load("lib:boom-drive")
    result = description.compile().simulate()
    assert result["luff"][150] > 0.6 and result["rail.pressure"].max() < 211e5
    up = result.time < 2.0
    assert (result["lift_power"][up].sum() > 0) and result["accumulator.oil"][up][-1] < result[
        "accumulator.oil"
    ][0]


def test_linearised_boom_has_oil_mode_frequency():
    """Frequency of the cylinder's stiffness and the effective mass along it, hoses with elastic walls included; the boom rests by itself."""
    system = load("lib:boom-drive").compile()
    result, boom = (
        system.simulate(0.01, output_step=0.01),
        load("lib:boom").compile().simulate(0.01, output_step=0.01),
    )
    expected = np.sqrt(-result["lift.stiffness"][0] / boom["lift.effective_mass"][0]) / (2 * np.pi)
    swinging = [
        mode
        for mode in system.equilibrium().linear.modes()
        if mode.oscillates and mode.damping < 0.1
    ]
    assert [mode.frequency for mode in swinging] == pytest.approx(
        [expected], rel=2e-3
    )  # the weight's stiffness is 1e-3 of the oil's


def test_hydraulic_motor_drives_coordinate():
    """Moment displacement dp; shut in, the oil of both sides is a spring of 2 E D²/V."""
    D, V = 2e-4, 1e-3
    spin = {"j": {"child": "b", "type": "revolute", "coordinates": ["turn"], "speed": [1e-3]}}
    description = circuit(
        spin,
        a=volume(1.0, 50),
        b=volume(1.0, 50),
        drive={"coordinate": "turn", "displacement": D, "a": "a", "b": "b"},
    )
    w = np.sqrt(2 * BULK * D**2 / V / 0.1)
    result = run(description, 6 / w, 0.5 / w)
    assert result["turn"] == pytest.approx(1e-3 / w * np.sin(w * result.time), abs=1e-10)
    assert result["drive.force"] == pytest.approx(
        D * (result["a.pressure"] - result["b.pressure"]), rel=1e-12
    )


def test_cylinder_friction_and_leakage_match_formulas():
    """Sources on both sides: the speed at which viscous friction takes the force; leakage at the pressure difference."""
    lift = CYLINDER | {"viscous": 1e4, "leakage": 1e-12}
    places = {"a": {"pressure": 30e5}, "b": {"pressure": 46e5}}
    force = 30e5 * 50e-4 - 46e5 * 32e-4
    result = run(circuit(SLIDE, 1.0, **places, lift=lift), 0.05, 0.01)
    assert result["lift.speed"][-1] == pytest.approx(force / 1e4, rel=1e-8)
    assert result["lift.flow_a"][-1] == pytest.approx(50e-4 * force / 1e4 - 1e-12 * 16e5, rel=1e-7)


def test_circuit_survives_dropped_cylinder():
    """The body is dropped: the oil keeps its pressure, the columns of the cylinder end."""
    bodies = {name: {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]} for name in ("b", "other")}
    joints = SLIDE | {"k": {"child": "other", "type": "prismatic", "coordinates": ["y"]}}
    description = circuit(a=volume(0.5, 32), b=volume(0.5, 50), lift=CYLINDER)
    description |= {
        "bodies": bodies,
        "joints": joints,
        "stages": [{"ends": {"at": 0.1}, "drop": ["b"]}, {}],
    }
    result = run(description, 0.2, 0.05)
    assert result["a.pressure"][-1] == pytest.approx(32e5, rel=1e-9)


def boom_with_circuit() -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """lib:boom with the drive of the scenario as elements, beside the one system the couplings are compared with."""
    scenario = read_scenario("lib:boom")
    raw = actuated(scenario)
    drive, _ = settled(scenario, raw, False)
    c, v, made = drive.cylinder, drive.valve, deepcopy(raw)
    eyes = made["actuators"].pop("lift")["between"]
    made["tables"] = {
        "command": {
            "x": [point[0] for point in drive.profile],
            "y": [point[1] for point in drive.profile],
        }
    }
    made["hydraulics"] = {
        "rail": {"pressure": v.supply}, "tank": {"pressure": v.tank},
        "a": {"volume": c.volume_a, "start": drive.pressure_a, "bulk_modulus": c.bulk_modulus},
        "b": {"volume": c.volume_b, "start": drive.pressure_b, "bulk_modulus": c.bulk_modulus},
        "servo": SERVO | {"command": 'table("command", t)', "rated_flow": v.rated_flow, "rated_drop": v.rated_drop, "time_constant": v.time_constant},
        "lift": CYLINDER | {"between": eyes, "area_a": c.area_a, "area_b": c.area_b, "shortest": c.shortest, "longest": c.longest},
    }  # fmt: skip
    for side in "ab":
        made["hydraulics"][f"relief_{side}"] = {
            "path": [side, "tank"],
            "opens": v.relief - v.tank,
            "gain": v.relief_gain,
        }
        made["hydraulics"][f"make_up_{side}"] = {"path": ["tank", side], "gain": v.make_up_gain}
    return made, drive, raw


def test_circuit_elements_match_monolithic_reference():
    """The same equations by two ways into the engine; both runs keep a tolerance of 1e-9."""
    made, drive, raw = boom_with_circuit()
    ours = load(made).compile().simulate(2.0, output_step=0.01, tolerance=1e-9, largest_step=0.01)
    theirs = reference(raw, "lift", drive, None, 2.0, 0.01)
    assert ours["luff"] == pytest.approx(theirs["luff"], abs=1e-8)
    for name in "ab":
        assert ours[f"{name}.pressure"] == pytest.approx(theirs[f"pressure_{name}"], rel=1e-6)
    assert ours["servo.spool"] == pytest.approx(theirs["spool"], abs=1e-8)


def test_circuit_fmu_has_outputs_with_units():
    from kinetree.fmu.unit import fmu_unit
    from kinetree.fmu.variables import variable_table

    made, _, _ = boom_with_circuit()
    variables = {v.name: v for v in variable_table(fmu_unit(load(made))).variables}
    assert variables["a.pressure"].causality == "output" and variables["a.pressure"].unit == "Pa"
    assert variables["servo.flow_a"].causality == "output" and variables["lift.force"].unit == "N"


GOOD = {**SOURCES, "servo": SERVO | {"command": 0.0}, "lift": CYLINDER}


def test_circuit_elements_may_be_copied():
    """Three hoses in a row with throttles between them: at the end all have the mean pressure."""
    hoses = {
        "hose{i}": {"copies": 3, "volume": 1e-3, "start": "{i}*10e5"},
        "gap{i}": {"copies": 2, "path": ["hose{i}", "hose{i+1}"], "area": 1e-6},
    }
    result = run({"format": "kinetree/1", "hydraulics": hoses}, 20.0, 10.0)
    assert [result[f"hose{i}.pressure"][-1] for i in (1, 2, 3)] == pytest.approx(
        [20e5] * 3, rel=1e-6
    )


@pytest.mark.parametrize(
    ("change", "key", "said"),
    [
        ({"a": volume(0.5, 5, bulk_modulus=0)}, "hydraulics.a.bulk_modulus", "a number > 0"),
        ({"a": volume(-0.5, 5)}, "hydraulics.a.volume", "a number > 0"),
        ({"a": volume(0.5, -5)}, "hydraulics.a.start", "absolute pressure"),
        ({"tank": {"pressure": -1}}, "hydraulics.tank.pressure", "absolute pressure"),
        ({"rail": {"pressure": 1e5}}, "hydraulics.servo.supply", "above that of 'tank'"),
        (
            {"servo": SERVO | {"command": 0.0, "a": "aa"}},
            "hydraulics.servo.a",
            "unknown place 'aa'",
        ),
        ({"servo": SERVO | {"command": 0.0, "a": "lift"}}, "hydraulics.servo.a", "kind cylinder"),
        (
            {"servo": SERVO | {"command": 0.0, "b": "a"}},
            "hydraulics.servo",
            "a and b at the same place",
        ),
        (
            {"servo": SERVO | {"command": 0.0, "time_constant": 0.01, "frequency": 10}},
            "hydraulics.servo",
            "time_constant and frequency",
        ),
        (
            {"servo": SERVO | {"command": 0.0, "overlap": 1.5}},
            "hydraulics.servo.overlap",
            "part of the stroke",
        ),
        (
            {"servo": SERVO | {"command": "comand"}},
            "hydraulics.servo.command",
            "unknown name 'comand'",
        ),
        (
            {"servo": {key: SERVO[key] for key in ("supply", "tank", "a", "b")} | {"command": 0}},
            "hydraulics.servo.rated_flow",
            "the flow fully open",
        ),
        ({"lift": CYLINDER | {"longest": 0.4}}, "hydraulics.lift.longest", "above shortest"),
        ({"lift": CYLINDER | {"aera_a": 1}}, "hydraulics.lift.aera_a", "did you mean 'area_a'"),
        (
            {"bottle": {"at": "rail", "gas": 1e-3, "precharge": 1e5}},
            "hydraulics.bottle.at",
            "whose pressure is given",
        ),
        ({"hole": {"path": ["a", "a"], "rated_flow": 1e-4}}, "hydraulics.hole.path", "'a' twice"),
        ({"hole": {"path": ["a", "b"]}}, "hydraulics.hole", "rated_flow and area"),
        ({"thing": {"oil": 1}}, "hydraulics.thing", "no kind of element"),
        (
            {"drive": {"coordinate": "zz", "displacement": 1e-4, "a": "a", "b": "b"}},
            "hydraulics.drive.coordinate",
            "unknown coordinate 'zz'",
        ),
    ],
)
def test_hydraulic_description_mistakes_are_named(change: dict, key: str, said: str):
    with pytest.raises(ModelError) as caught:
        load(circuit(SLIDE, **(GOOD | change)))
    text = str(caught.value)
    assert key in text and said in text and len(caught.value.problems) == 1


def test_cyclic_circuit_laws_are_named():
    bad = circuit(
        **(SOURCES | {"hole": {"path": ["a", "b"], "rated_flow": 1e-4, "opening": "hole.flow"}})
    )
    with pytest.raises((ModelError, EvaluationError), match="cycle"):
        load(bad).compile()
