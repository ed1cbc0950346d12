"""The page on OpenModelica: its Modelica code compiles and moves as the boom does, and the model exchange FMU beside a drive is the one system."""

import re
from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.cosim.monolithic import reference
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.units import actuated, settled
from kinetree.scripts.fmi.exchange import exchange

HERE = Path(__file__).parents[2]
TEXT = "\n".join((HERE / "models" / "modelica" / name).read_text(encoding="utf-8") for name in ("ServoDrive.mo", "Interfaces.mo", "Circuit.mo"))
PAGE = (HERE / "docs" / "openmodelica.md").read_text(encoding="utf-8")
# in the place of what the page takes from elsewhere: the imported block, and from the standard library the adaptor and the gain by their equations
ELSEWHERE = """
model BoomFMU
  BoomMechanism inner_;
  RealInput lift_force;
  RealInput lift_stiffness;
  RealInput lift_damping;
  RealOutput lift_length;
  RealOutput lift_speed;
equation
  inner_.force = lift_force;
  lift_length = inner_.length;
  lift_speed = inner_.speed;
end BoomFMU;

model Adaptor "y = -f, y = flange.f, flange.s = p, der(flange.s) = pder"
  parameter Boolean use_pder2 = true;
  RealInput p;
  RealInput pder;
  RealOutput f;
  TranslationalFlange flange;
equation
  flange.s = p;
  f = -flange.f;
end Adaptor;

model Gain
  parameter Real k = 1;
  RealInput u;
  RealOutput y;
equation
  y = k*u;
end Gain;
"""
NAMES = {"Modelica.Mechanics.Translational.Components.GeneralPositionToForceAdaptor": "Adaptor", "Modelica.Blocks.Math.Gain": "Gain"}


def code_of_page() -> str:
    blocks = "\n".join(re.findall(r"```modelica\n(.*?)```", PAGE, re.S))
    for theirs, ours in NAMES.items():
        assert theirs in blocks
        blocks = blocks.replace(theirs, ours)
    return blocks


def test_models_of_the_page_move_as_the_drive_and_the_boom():
    """Ports and flange give the same motion, and that of BoomExample with the same command."""
    rumoca = pytest.importorskip("rumoca")
    text = TEXT + ELSEWHERE + code_of_page()
    ends = {}
    for name in ("BoomByPorts", "BoomByFlange"):
        model = rumoca.Session().loads(text, model=name)
        assert model.structure().is_balanced and model.structure().is_matched
        ends[name] = model.simulate((0.0, 1.0))["mechanism.inner_.luff"][-1]
    drive = "drive.command = if time < 0.2 then 0 elseif time < 0.8 then 0.6 else 0;"
    example = re.sub(r"drive\.command = if time < 0\.2 then 0 elseif time < 0\.3.*;", drive, TEXT)
    assert example != TEXT
    exact = rumoca.Session().loads(example, model="BoomExample").simulate((0.0, 1.0))["mechanism.luff"][-1]
    assert exact > 0.6
    for name, end in ends.items():
        assert end == pytest.approx(exact, abs=1e-4), name  # the start pressures of the page are rounded


def test_every_class_is_named_on_the_page():
    for name in re.findall(r"^(?:model|block|connector) (\w+)", TEXT, re.M):
        assert f"`{name}`" in PAGE or name in ("RealInput", "RealOutput", "FlangeMass"), name


def test_model_exchange_beside_the_drive_is_the_one_system(tmp_path: Path):
    """Two integrations with tolerances of 1e-9 of the same equations, one through the FMU."""
    scenario = read_scenario("lib:boom")
    raw = actuated(scenario)
    drive, _ = settled(scenario, raw, False)
    exact = reference(raw, "lift", drive, None, 1.2, 0.02)
    found = exchange(build_fmu(load(raw), tmp_path / "boom.fmu", backend="native"), drive, "lift", np.linspace(0.0, 1.2, 61))
    assert np.abs(found[:, 0] - exact["luff"]).max() < 1e-8
    assert np.abs(found[:, 2] - exact["pressure_a"]).max() < 50.0  # of 5e6 Pa
