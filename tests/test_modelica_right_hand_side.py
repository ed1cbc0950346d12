"""The Modelica drive and its examples: every class compiles balanced, and rumoca's equations give our right-hand side at random states."""

import re
from pathlib import Path

import numpy as np
import pytest
from modelica_residual import Equations

from kinetree.models import load
from kinetree.models.chart import Evaluation
from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.monolithic import with_drive
from kinetree.scripts.cosim.oil import Cylinder, Valve
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.units import actuated, settled

rumoca = pytest.importorskip("rumoca")
FOLDER = Path(__file__).parents[1] / "models" / "modelica"
TEXT = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in ("ServoDrive.mo", "Interfaces.mo"))
CYLINDER = Cylinder(area_a=5e-3, area_b=3.2e-3, volume_a=0.5e-3, volume_b=0.5e-3, shortest=1.35, longest=2.35, bulk_modulus=1.4e9)
DRIVE = Drive(CYLINDER, Valve())
STATES = 25
# flows are differences of terms of their own size: a few roundings each, far below 1e-10 of the largest term
RELATIVE = 1e-10


def compiled(name: str):
    return rumoca.Session().loads(TEXT, model=name)


@pytest.mark.parametrize("name", re.findall(r"^(?:model|block) (\w+)", (FOLDER / "Interfaces.mo").read_text(encoding="utf-8"), re.M))
def test_every_interface_and_example_is_balanced(name: str):
    """A flange that nothing is connected to carries no force: alone, FlangeDrive is balanced but has nothing that moves."""
    structure = compiled(name).structure()
    assert structure.is_balanced and structure.n_algebraic_loops == 0 and structure.is_matched == (name != "FlangeDrive")


def test_flange_signals_and_ports_are_the_same_drive():
    """Mass and load on the drive by signals and by a flange: equal to the integration's tolerance."""
    signals, flange = (compiled(name).simulate((0.0, 0.5)) for name in ("HoldingExample", "FlangeExample"))
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


def test_right_hand_side_of_the_drive():
    equations = Equations(compiled("ServoDrive"))
    random = np.random.default_rng(1)
    for _ in range(STATES):
        at = random_drive(random)
        known = {key: at[key] for key in ("command", "length", "speed")}
        known |= {"valve.spool": at["spool"], "cylinder.pressure_a": at["pressure_a"], "cylinder.pressure_b": at["pressure_b"], "time": 0.0}
        theirs = equations.solve(known)
        DRIVE.length = at["length"]
        DRIVE.pressure_a, DRIVE.pressure_b = at["pressure_a"], at["pressure_b"]
        rate_a, rate_b = DRIVE.rates(*(at[key] for key in ("spool", "length", "speed", "pressure_a", "pressure_b")))
        assert close(rate_a, theirs["der(cylinder.pressure_a)"]) and close(rate_b, theirs["der(cylinder.pressure_b)"])
        assert close((at["command"] - at["spool"]) / 0.01, theirs["der(valve.spool)"])
        assert close(DRIVE.force, theirs["force"], scale=CYLINDER.area_a * at["pressure_a"])
        assert close(DRIVE.stiffness, theirs["stiffness"])


def test_right_hand_side_of_the_boom_with_its_drive():
    """Mechanism, interface block and ported drive in Modelica beside our one system of both, coordinates and pressures."""
    scenario = read_scenario("lib:boom")
    raw = actuated(scenario)
    system = load(with_drive(raw, "lift", settled(scenario, raw, False)[0])).compile()
    equations = Equations(compiled("BoomExample"))
    random = np.random.default_rng(2)
    names = ("pressure_a", "pressure_b", "spool")
    modelica = dict(zip(names, ("drive.cylinder.oil.pressure_a", "drive.cylinder.oil.pressure_b", "drive.valve.valve.spool"), strict=True))
    for _ in range(STATES):
        at = random_drive(random)
        luff, rate, time = random.uniform(0.3, 0.9), random.uniform(-0.3, 0.3), random.uniform(0.0, 1.2)
        known = {modelica[name]: at[name] for name in names} | {"mechanism.luff": luff, "mechanism.rate": rate, "time": time}
        theirs = equations.solve(known)
        values = Evaluation(system, time).rates(np.array([luff]), np.array([rate]), np.array([at[name] for name in system.compiled.states]))
        ours = dict(zip(("luff", *system.compiled.states), values, strict=True))
        assert close(ours["luff"], theirs["der(mechanism.rate)"], scale=10.0)  # of weight and cylinder, which balance
        for name in names:
            assert close(ours[name], theirs[f"der({modelica[name]})"]), name
