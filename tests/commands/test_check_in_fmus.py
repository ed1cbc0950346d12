"""What `kinetree check` says of FMUs: a step and a prepared rest that do not follow what hosts set."""

import json
from pathlib import Path

import pytest

from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts import cli

TEXT = """
format = "kinetree/1"
[parameters]
rate = 200.0
k = { value = "1/rate", unit = "s" }
m = 1.0
[bodies.a]
mass = "m"
inertia = [1, 1, 1, 0, 0, 0]
[joints.j]
child = "a"
transforms = [{ rotate = "y", coordinate = "p", start = 0.3 }]
[forces.f]
coordinate = "p"
stiffness = 2.0
[run]
"""


def told(tmp_path: Path, capsys: pytest.CaptureFixture, run: str) -> list[str]:
    path = tmp_path / "m.toml"
    path.write_text(TEXT + run)
    assert cli.main(["check", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["in_fmus"]
    assert cli.main(["check", str(path)]) == 0
    assert capsys.readouterr().out.count("in FMUs: ") == len(found)
    return found


def test_parameter_dependent_step_is_noted_for_fmus(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Also the parameter from which that one is computed; the step that is packed is that of the values written."""
    run = 'integrator = "rk4"\nstep = "k"\noutput_step = 0.01\n'
    sentence = (
        "[run] step stays that of the values written: a host that sets '{}' does not change it"
    )
    assert sorted(told(tmp_path, capsys, run)) == [sentence.format("k"), sentence.format("rate")]
    assert 1.0 / 200.0 in fmu_unit(load(tmp_path / "m.toml")).options.values()


def test_constant_settings_cause_no_fmu_note(tmp_path: Path, capsys: pytest.CaptureFixture):
    assert told(tmp_path, capsys, 'integrator = "rk4"\nstep = 0.005\noutput_step = 0.01\n') == []


def test_prepared_equilibrium_is_noted_for_fmus(tmp_path: Path, capsys: pytest.CaptureFixture):
    (only,) = told(tmp_path, capsys, 'prepare = [{ name = "hanging" }]\n')
    assert only.startswith("the equilibrium of [run] prepare")
