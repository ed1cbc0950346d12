"""Tuning: margins that were asked for, beside an independent count; regulators of known problems; loops on top of each other."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.frequency import StateSpace, margins
from kinetree.models.analysis.moment import linear_at_rest
from kinetree.scripts import cli
from kinetree.scripts.hil.design import pid
from kinetree.scripts.studies.tuning import regulator, tuned

SLIDER = {
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"m": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
    "inputs": {"f": {"start": 0.0}},
    "forces": {"law": {"coordinate": "x", "value": "f"}},
    "outputs": {"place": {"value": "x"}},
}
MASS = StateSpace(np.array([[0.0, 1], [0, 0]]), np.array([[0.0], [1]]), np.array([[1.0, 0]]), np.zeros((1, 1)))


@pytest.mark.parametrize("kinds", [("kp", "kd"), ("kp", "ki", "kd")])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_margins_that_were_asked_for(kinds: tuple[str, ...], sign: float):
    """A mass with a dead time, its force perhaps reversed: stable, the margins at least as wanted, and faster where less is wanted."""
    plant = StateSpace(MASS.A, sign * MASS.B, MASS.C, MASS.D)
    slow, fast = (tuned(plant, kinds, 0.01, {"phase": phase, "modulus": 0.3, "gain": 1.8}) for phase in (45.0, 25.0))
    assert slow is not None and fast is not None and fast.crossover > slow.crossover
    for found, phase in ((slow, 45.0), (fast, 25.0)):
        again = margins(pid(**found.numbers).then(plant), np.geomspace(1e-2, 1e4, 20000), delay=0.01)
        assert again.stable and again.phase >= phase and again.modulus >= 0.3 and again.gain >= 1.8
        assert np.sign(found.numbers["kp"]) == sign


def test_what_cannot_be_tuned_is_said():
    """A mass needs a derivative: no proportional gain has a phase margin."""
    assert tuned(MASS, ("kp",), 0.01, {}) is None


def test_regulator_of_the_double_integrator():
    """Q = 1, R = 1: K = (1, √3), eigenvalues of s² + √3 s + 1."""
    linear = linear_at_rest(load(SLIDER).compile())
    K, values = regulator(linear, ["f"], {"x": 1.0, "der(x)": 1.0}, {"f": 1.0})
    assert K[0] == pytest.approx([1.0, np.sqrt(3.0)], rel=1e-9)
    assert np.sort_complex(values) == pytest.approx(np.sort_complex(np.roots([1, np.sqrt(3.0), 1])), rel=1e-6)


def test_command_line_gives_a_scenario_that_works(tmp_path: Path, capsys: pytest.CaptureFixture):
    """What tune prints is put into the scenario: simulated in the loop, it comes to its setpoint."""
    (tmp_path / "m.json").write_text(json.dumps(SLIDER))
    head = 'mechanism = "m.json"\nstep = 0.01\nstop_time = 4.0\n[channel]\ndelay = 0.01\n'
    loop = '[[loops]]\nmeasure = "place"\ncommand = "f"\nsetpoint = 1.0\nkp = 1.0\nkd = 1.0\n'
    path = tmp_path / "s.toml"
    path.write_text(head + loop + "[lqr]\nstates = { x = 1.0 }\n")
    assert cli.main(["tune", str(path), "-o", str(tmp_path / "t.json")]) == 0
    said = capsys.readouterr().out
    found = json.loads((tmp_path / "t.json").read_text())["f by place"]
    assert found["stable"] and found["phase"] >= 45.0 and "[[loops]]" in said and "f = -(1*x + 1.41421*der(x))" in said
    path.write_text(head + said[said.index("[[loops]]") : said.index("f = -(")])
    assert cli.main(["hil", str(path), "--simulated", "-q", "-o", str(tmp_path / "r.csv")]) == 0
    rows = np.loadtxt(tmp_path / "r.csv", delimiter=",", skiprows=1)
    assert rows[-1, 1] == pytest.approx(1.0, abs=0.02) and rows[:, 1].max() < 1.6
    path.write_text(head + loop.replace("kd = 1.0\n", ""))
    assert cli.main(["tune", str(path)]) == 2 and "keeps these margins" in capsys.readouterr().err
