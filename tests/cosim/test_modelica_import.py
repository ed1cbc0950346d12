"""The page on OpenModelica: its Modelica code compiles and moves as the boom does, and the model exchange FMU beside a drive is the one system."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from modelica_package import HOME, TEXT, compiled
from tree import ROOT

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.modelica import Names
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.models.checks.loader import read
from kinetree.scripts.cli import main
from kinetree.scripts.cosim.monolithic_reference import reference
from kinetree.scripts.cosim.position_controller import Controller, Pid
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.scenario_units import actuated, settled
from kinetree.scripts.fmi.model_exchange import exchange

PAGE = (ROOT / "docs" / "openmodelica.md").read_text(encoding="utf-8")
BLOCK = """
model Luffing_boom_me_FMU "In the place of the block that the import makes"
  Kinetree.Examples.BoomMechanism inner_(reach = reach, boom_mass = boom_mass, load_mass = load_mass, eye = eye, foot_x = foot_x, foot_z = foot_z,
    friction = friction, g = g, luff(start = luff_0));
  {parameters}
  Modelica.Blocks.Interfaces.RealInput lift_force;
  Modelica.Blocks.Interfaces.RealInput lift_stiffness;
  Modelica.Blocks.Interfaces.RealInput lift_damping;
  Modelica.Blocks.Interfaces.RealOutput lift_length;
  Modelica.Blocks.Interfaces.RealOutput lift_speed;
  Modelica.Blocks.Interfaces.RealOutput luff;
  Modelica.Blocks.Interfaces.RealOutput tip;
  Modelica.Blocks.Interfaces.RealOutput energy;
equation
  inner_.force = lift_force;
  lift_length = inner_.length;
  lift_speed = inner_.speed;
  luff = inner_.luff;
  tip = reach*sin(luff);
  energy = 0;
end Luffing_boom_me_FMU;
"""


def block() -> str:
    """The stand-in with the parameters of the description."""
    given = {p.name: p.value for p in fmu_unit(load("lib:boom")).parameters if not p.computed}
    return BLOCK.replace(
        "{parameters}",
        "\n  ".join(f"parameter Real {name} = {value!r};" for name, value in given.items()),
    )


def wrapper(
    tmp_path: Path, source: str = "lib:boom", name: str = "BoomMechanism", *more: str
) -> str:
    path = tmp_path / f"{name}.mo"
    assert main(["modelica", source, "-o", str(path), "-q", *more]) == 0
    return path.read_text(encoding="utf-8")


def test_modelica_models_of_the_page_match_drive_and_boom(tmp_path: Path):
    """Flange and ports give the same motion, and that of BoomExample with the same command: kinetree modelica wrote the model with the flange."""
    pytest.importorskip("rumoca")
    more = block() + wrapper(tmp_path) + "\n".join(re.findall(r"```modelica\n(.*?)```", PAGE, re.S))
    ends = {}
    for name in ("BoomByPorts", "BoomByFlange"):
        model = compiled(name, more)
        assert model.structure().is_balanced and model.structure().is_matched
        ends[name] = model.simulate((0.0, 1.0))["mechanism.luff"][-1]
    drive = "drive.command = if time < 0.2 then 0 elseif time < 0.8 then 0.6 else 0;"
    example = re.sub(r"drive\.command = if time < 0\.2 then 0 elseif time < 0\.3.*;", drive, TEXT)
    assert example != TEXT
    exact = compiled("BoomExample", text=example).simulate((0.0, 1.0))["mechanism.luff"][-1]
    assert exact > 0.6
    for name, end in ends.items():
        assert end == pytest.approx(exact, abs=1e-4), (
            name
        )  # the start pressures of the page are rounded


def test_flange_start_position_is_documented(tmp_path: Path):
    """The length at the start follows from the parameters; the flange's own state must begin there."""
    text = wrapper(tmp_path)
    assert 'parameter Real lift_start(unit = "m") = 1.86242' in text
    assert "assert(abs(lift_actuator.flange.s - fmu.lift_length) < 0.001" in text


def test_modelica_ports_exist_for_rotary_actuators_and_chambers(tmp_path: Path):
    text = wrapper(tmp_path, "lib:carrier", "Carrier", "--set", "outside=1")
    assert "Modelica.Mechanics.Rotational.Interfaces.Flange_b slew_drive" in text
    assert "fmu.slew_drive_force = slew_drive_actuator.moment;" in text
    assert "Modelica.Mechanics.Translational.Interfaces.Flange_b luff_drive" in text
    file = tmp_path / "inside.json"
    boom = read("lib:boom")[0]
    oil = {
        "area_a": 5e-3,
        "area_b": 3.2e-3,
        "volume_a": 1e-3,
        "volume_b": 1e-3,
        "shortest": 1.35,
        "longest": 2.35,
        "pressure_a": 5e6,
        "pressure_b": 5e6,
    }
    boom["actuators"]["lift"]["chambers"] = oil
    file.write_text(json.dumps(boom))
    text = wrapper(tmp_path, str(file), "Inside")
    assert (
        "Kinetree.Interfaces.OilPort lift_a" in text
        and "fmu.lift_flow_b = lift_b.q;" in text
        and "lift_b.p = fmu.lift_pressure_b;" in text
    )


def test_sliding_coordinate_gets_translational_flange(tmp_path: Path):
    """The flange follows what the coordinate is, not that it is one."""
    file = tmp_path / "slide.json"
    joint = {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"]}
    file.write_text(
        json.dumps(
            {
                "bodies": {"b": {"mass": 2.0}},
                "joints": {"j": joint},
                "actuators": {"push": {"coordinate": "x"}},
            }
        )
    )
    text = wrapper(tmp_path, str(file), "Slide")
    assert (
        "Modelica.Mechanics.Translational.Interfaces.Flange_b push" in text
        and "Rotational" not in text
    )


def test_modelica_names_are_unique():
    """Signs that Modelica has no room for become _; what would then be one name, or a word of the language, gets one more."""
    names, wanted = (
        Names(),
        ["arm_position_1", "arm_position_1_", "when_", "fmu_", "a_b", "a_b_", "a_b"],
    )
    assert [
        names.own(name)
        for name in ("arm.position[1]", "arm.position.1", "when", "fmu", "a.b", "a_b", "a.b")
    ] == wanted


REFUSED = [
    ("x.txt", "ends in .mo"),
    ("2x.mo", "identifier"),
    ("model.mo", "identifier"),
    ("Luffing_boom_me_FMU.mo", "another"),
]


@pytest.mark.parametrize(("name", "says"), REFUSED)
def test_invalid_modelica_names_are_refused(
    name: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture
):
    assert main(["modelica", "lib:boom", "-o", str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


def test_modelica_controller_samples_match_ours():
    """A step of what is measured: forty samples by both, sums of numbers below 10."""
    pytest.importorskip("rumoca")
    ours = Controller(
        Pid(
            gain=2.0,
            integral_time=0.5,
            derivative_time=0.1,
            filter_time=0.03,
            lower=-100.0,
            upper=100.0,
        )
    )
    ours.settle(0.0)
    ours.measured = 1.0
    for _ in range(40):
        ours.step(0.01)
    numbers = "gain = 2, integral_time = 0.5, derivative_time = 0.1, filter_time = 0.03, lower = -100, upper = 100"
    fixed = "equation\n  c.measured = 1;\n  c.target = 0;\n  c.target_speed = 0;\n"
    model = f"model Sampled\n  Kinetree.Controllers.PositionController c({numbers});\n{fixed}end Sampled;\n"
    found = compiled("Sampled", model).simulate((0.0, 0.405))
    assert float(found["c.command"][-1]) == pytest.approx(ours.command, rel=1e-9)


def test_every_modelica_class_is_named_on_the_page():
    for name in HOME:
        assert f"`{name}`" in PAGE or name in ("orificeFlow", "FlangeMass"), name


def test_model_exchange_with_drive_matches_monolithic_system(tmp_path: Path):
    """Two integrations with tolerances of 1e-9 of the same equations, one through the FMU."""
    scenario = read_scenario("lib:boom")
    raw = actuated(scenario)
    drive, _ = settled(scenario, raw, False)
    exact = reference(raw, "lift", drive, None, 1.2, 0.02)
    found = exchange(
        build_fmu(load(raw), tmp_path / "boom.fmu", backend="native"),
        drive,
        "lift",
        np.linspace(0.0, 1.2, 61),
    )
    assert np.abs(found[:, 0] - exact["luff"]).max() < 1e-8
    assert np.abs(found[:, 2] - exact["pressure_a"]).max() < 50.0  # of 5e6 Pa
