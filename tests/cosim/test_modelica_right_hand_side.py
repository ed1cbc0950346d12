"""The Modelica drive and its examples: every class compiles balanced, and rumoca's equations give our right-hand side at random states."""

import re

import numpy as np
import pytest
from boom_with_circuit import one_system
from modelica_package import FILES, HOME, MODELS, TEXT, compiled
from modelica_residual import Equations

from kinetree.models import load
from kinetree.models.system.local_coordinates import Evaluation
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.monolithic_reference import with_drive
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.scenario_units import actuated, settled
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve

rumoca = pytest.importorskip("rumoca")
CYLINDER = Cylinder(
    area_a=5e-3,
    area_b=3.2e-3,
    volume_a=0.5e-3,
    volume_b=0.5e-3,
    shortest=1.35,
    longest=2.35,
    bulk_modulus=1.4e9,
)
DRIVE = Drive(CYLINDER, Valve())
STATES = 25
# flows are differences of terms of their own size: a few roundings each, far below 1e-10 of the largest term
RELATIVE = 1e-10


@pytest.mark.parametrize("name", MODELS)
def test_every_modelica_model_is_balanced(name: str):
    """A connector that nothing is connected to carries no flow: alone, some parts are balanced but determine nothing."""
    assert not rumoca.validate_source(TEXT, model=HOME[name])
    structure = compiled(name).structure()
    assert structure.is_balanced
    if name not in ("FlangeDrive", "LimitedPump", "CheckValve", "FourWayValve"):
        assert structure.is_matched and structure.n_algebraic_loops == 0


def test_modelica_flange_signals_and_ports_agree():
    """Mass and load on the drive by signals and by a flange: equal to the integration's tolerance."""
    signals, flange = (
        compiled(name).simulate((0.0, 0.5)) for name in ("HoldingExample", "FlangeExample")
    )
    assert signals["length"][-1] > 1.89
    assert float(flange["mass.s"][-1]) == pytest.approx(float(signals["length"][-1]), rel=1e-6)


def random_drive(random: np.random.Generator) -> dict[str, float]:
    """A state in which valves, relief and make-up valves are open as often as closed."""
    return {
        "command": random.uniform(-1, 1),
        "length": random.uniform(1.4, 2.3),
        "speed": random.uniform(-0.5, 0.5),
        "spool": random.uniform(-1, 1),
        "pressure_a": random.uniform(-5e5, 320e5),
        "pressure_b": random.uniform(-5e5, 320e5),
    }


def close(ours: float, theirs: float, scale: float = 0.0) -> bool:
    return abs(ours - theirs) <= RELATIVE * max(abs(ours), abs(theirs), scale)


def test_modelica_right_hand_side_of_drive_matches():
    equations = Equations(compiled("ServoDrive"))
    random = np.random.default_rng(1)
    for _ in range(STATES):
        at = random_drive(random)
        known = {key: at[key] for key in ("command", "length", "speed")}
        known |= {
            "valve.spool": at["spool"],
            "cylinder.pressure_a": at["pressure_a"],
            "cylinder.pressure_b": at["pressure_b"],
            "time": 0.0,
        }
        theirs = equations.solve(known)
        DRIVE.length = at["length"]
        DRIVE.pressure_a, DRIVE.pressure_b = at["pressure_a"], at["pressure_b"]
        rate_a, rate_b = DRIVE.rates(
            *(at[key] for key in ("spool", "length", "speed", "pressure_a", "pressure_b"))
        )
        assert close(rate_a, theirs["der(cylinder.pressure_a)"]) and close(
            rate_b, theirs["der(cylinder.pressure_b)"]
        )
        assert close((at["command"] - at["spool"]) / 0.01, theirs["der(valve.spool)"])
        assert close(DRIVE.force, theirs["force"], scale=CYLINDER.area_a * at["pressure_a"])
        assert close(DRIVE.stiffness, theirs["stiffness"])


def test_modelica_right_hand_side_of_boom_and_drive_matches():
    """Mechanism, interface block and ported drive in Modelica beside our one system of both, coordinates and pressures."""
    scenario = read_scenario("lib:boom")
    raw = actuated(scenario)
    system = load(with_drive(raw, "lift", settled(scenario, raw, False)[0])).compile()
    equations = Equations(compiled("BoomExample"))
    random = np.random.default_rng(2)
    names = ("pressure_a", "pressure_b", "spool")
    modelica = dict(
        zip(
            names,
            (
                "drive.cylinder.oil.pressure_a",
                "drive.cylinder.oil.pressure_b",
                "drive.valve.valve.spool",
            ),
            strict=True,
        )
    )
    for _ in range(STATES):
        at = random_drive(random)
        luff, rate, time = (
            random.uniform(0.3, 0.9),
            random.uniform(-0.3, 0.3),
            random.uniform(0.0, 1.2),
        )
        known = {modelica[name]: at[name] for name in names} | {
            "mechanism.luff": luff,
            "mechanism.rate": rate,
            "time": time,
        }
        theirs = equations.solve(known)
        values = Evaluation(system, time).rates(
            np.array([luff]),
            np.array([rate]),
            np.array([at[name] for name in system.compiled.states]),
        )
        ours = dict(zip(("luff", *system.compiled.states), values, strict=True))
        assert close(
            ours["luff"], theirs["der(mechanism.rate)"], scale=10.0
        )  # of weight and cylinder, which balance
        for name in names:
            assert close(ours[name], theirs[f"der({modelica[name]})"]), name


def carrier_circuit() -> dict:
    """Both drives of CarrierDrives as hydraulic circuits: motor and cylinder of given motion, two valves on one supply."""
    elements: dict = {"rail": {"pressure": 210e5}, "tank": {"pressure": 5e5}}
    for way, litres in (("slew", 2e-3), ("luff", 1e-3)):
        a, b = f"{way}_a", f"{way}_b"
        elements |= {place: {"volume": litres, "start": 50e5} for place in (a, b)}
        elements[f"{way}_valve"] = {
            "supply": "rail", "tank": "tank", "a": a, "b": b, "command": f"{way}_command", "rated_flow": 6e-4, "time_constant": 0.01,
        }  # fmt: skip
        for place in (a, b):
            elements[f"relief_{place}"] = {"path": [place, "tank"], "opens": 275e5, "gain": 1e-9}
            elements[f"make_up_{place}"] = {"path": ["tank", place], "gain": 1e-9}
    elements["slew_drive"] = {
        "a": "slew_a",
        "b": "slew_b",
        "rate": "slew_speed",
        "displacement": 2e-3,
    }
    elements["luff_drive"] = {
        "a": "luff_a", "b": "luff_b", "length": "luff_length", "rate": "luff_speed",
        "area_a": 2e-2, "area_b": 1.2e-2, "shortest": 0.72, "longest": 2.15,
    }  # fmt: skip
    inputs = ("slew_command", "luff_command", "slew_speed", "luff_length", "luff_speed")
    return {
        "format": "kinetree/1",
        "inputs": dict.fromkeys(inputs, 0.0) | {"luff_length": 1.4},
        "hydraulics": elements,
    }


def test_modelica_rates_of_carrier_drives_match():
    """Six states of two drives in Modelica beside the same circuits in the engine."""
    equations, system = Equations(compiled("CarrierDrives")), load(carrier_circuit()).compile()
    random, nothing = np.random.default_rng(4), np.zeros(0)
    places = {"slew_a": "slew_drive.motor.pressure_a", "slew_b": "slew_drive.motor.pressure_b"}
    places |= {f"luff_{side}": f"luff_drive.cylinder.oil.pressure_{side}" for side in "ab"}
    modelica = {f"{place}.pressure": name for place, name in places.items()}
    modelica |= {f"{way}_valve.spool": f"{way}_drive.valve.valve.spool" for way in ("slew", "luff")}
    for _ in range(STATES):
        at = {
            name: random.uniform(-1, 1) if name.endswith("spool") else random.uniform(1e5, 320e5)
            for name in modelica
        }
        inputs = {
            "slew_command": random.uniform(-1, 1),
            "luff_command": random.uniform(-1, 1),
            "slew_speed": random.uniform(-1, 1),
        }
        inputs |= {
            "luff_length": random.uniform(0.75, 2.1),
            "luff_speed": random.uniform(-0.5, 0.5),
        }
        known = {modelica[name]: value for name, value in at.items()}
        known |= {f"{way}_command": inputs[f"{way}_command"] for way in ("slew", "luff")}
        known |= {f"{way}_drive_speed": inputs[f"{way}_speed"] for way in ("slew", "luff")}
        known |= {"slew_drive_length": 0.0, "luff_drive_length": inputs["luff_length"], "time": 0.0}
        theirs = equations.solve(known)
        states = np.array([at[name] for name in system.compiled.states])
        values = Evaluation(system, 0.0, inputs).rates(
            nothing, nothing, states, np.array([inputs[name] for name in system.compiled.inputs])
        )
        for name, value in zip(system.compiled.states, values, strict=True):
            assert close(value, theirs[f"der({modelica[name]})"]), name
        force = 2e-3 * (at["slew_a.pressure"] - at["slew_b.pressure"])
        assert close(force, theirs["slew_drive_force"], scale=2e-3 * at["slew_a.pressure"])


def test_modelica_carrier_cylinder_fits_its_actuator():
    """It ended at 1.4 m where the actuator begins at 1.45 m: the oil had 0.37 litres where the dead volume alone is one."""
    system = load("lib:carrier", outside=1).compile()
    result = system.simulate(stop_time=0.02, output_step=0.01)
    text = FILES["Drives"]
    drives = text[text.index("model CarrierDrives") : text.index("end CarrierDrives")]
    shortest, longest = (
        float(re.search(rf"{name} = ([0-9.]+)", drives)[1]) for name in ("shortest", "longest")
    )
    assert (
        shortest < result["luff_drive.length"].min() and result["luff_drive.length"].max() < longest
    )


CIRCUIT = {
    "rail.pressure": "rail.pressure", "servo.spool": "servo.spool", "servo.spool_speed": "servo.spool_speed",
    "hose_a.pressure": "lift.oil.pressure_a", "hose_b.pressure": "lift.oil.pressure_b",
}  # fmt: skip


def test_modelica_right_hand_side_of_complete_circuit_matches():
    """lib:servo-drive and ServoCircuit: pump, accumulator, valves, hoses, cylinder."""
    equations, system = Equations(compiled("ServoCircuit")), load("lib:servo-drive").compile()
    random, nothing = np.random.default_rng(5), np.zeros(0)
    for _ in range(STATES):
        ranges = [
            (0.3e5, 2e5) if random.uniform() < 0.3 else (50e5, 320e5) for _ in CIRCUIT
        ]  # make-up valves open in the lower one
        at = {name: random.uniform(*each) for name, each in zip(CIRCUIT, ranges, strict=True)} | {
            "stroke": random.uniform(1.4, 2.3)
        }
        at |= {
            "servo.spool": random.uniform(-1.2, 1.2),
            "servo.spool_speed": random.uniform(-100, 100),
        }
        inputs = {"speed": random.uniform(-0.5, 0.5), "command": random.uniform(-1.2, 1.2)}
        known = {CIRCUIT[name]: at[name] for name in CIRCUIT} | {
            "command": inputs["command"],
            "time": 0.0,
        }
        theirs = equations.solve(
            known | {"port.length": at["stroke"], "port.speed": inputs["speed"]}
        )
        states = np.array([at[name] for name in system.compiled.states])
        values = Evaluation(system, 0.0, inputs).rates(
            nothing, nothing, states, np.array([inputs[name] for name in system.compiled.inputs])
        )
        ours = dict(zip(system.compiled.states, values, strict=True))
        for name, modelica in CIRCUIT.items():
            assert close(ours[name], theirs[f"der({modelica})"]), name


def test_modelica_motion_of_complete_circuit_matches():
    """The boom with the whole drive by rumoca, at its default tolerance, beside lib:servo-drive and lib:boom in one system."""
    found, exact = compiled("CircuitExample").simulate((0.0, 1.2)), one_system()
    assert (
        float(found["mechanism.luff"][-1]) == pytest.approx(exact["luff"][-1], abs=1e-5)
        and exact["luff"][-1] > 0.55
    )
    assert float(found["drive.rail.pressure"][-1]) == pytest.approx(
        exact["rail.pressure"][-1], rel=1e-4
    )
