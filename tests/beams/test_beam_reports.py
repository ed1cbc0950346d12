"""What commands tell of beams, and what they leave out."""

import json

from kinetree.models import load
from kinetree.models.analysis.modal import MAX_LISTED_NAMES, mode_facts, unreachable_modes
from kinetree.scripts import cli

BOOM = {
    "format": "kinetree/1",
    "name": "boom",
    "materials": {"steel": {"density": 7850.0, "youngs_modulus": 2.1e11}},
    "beams": {
        "boom": {"length": 4.0, "section": {"tube": [0.1, 0.09]}, "material": "steel", "damping": 0.01}
    },
    "joints": {"foot": {"child": "boom", "type": "revolute", "axis": "y", "coordinates": ["luff"]}},
    "forces": {"spring": {"coordinate": "luff", "stiffness": 1e5}},
    "outputs": {"sag": {"quantity": "deflection", "beam": "boom", "station": 4.0, "axis": "z"}},
    "run": {"stop_time": 0.1, "output_step": 0.01},
}  # fmt: skip


def written(tmp_path, **run):
    path = tmp_path / "boom.json"
    path.write_text(json.dumps(BOOM | {"run": BOOM["run"] | run}))
    return str(path)


def test_info_prints_elements_and_frequencies_of_beams(tmp_path, capsys):
    assert cli.main(["info", written(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "5 elements" in told and "10 hinges" in told and "12.17" in told
    assert "piece" not in told
    assert cli.main(["info", written(tmp_path), "--json"]) == 0
    (beam,) = json.loads(capsys.readouterr().out)["beams"]
    assert beam["elements"] == 5 and len(beam["pieces"]) == 11


def test_check_warns_of_a_step_that_the_fastest_mode_does_not_allow(tmp_path, capsys):
    assert cli.main(["check", written(tmp_path, integrator="rk4", step=0.001)]) == 0
    assert "run.step" in capsys.readouterr().err
    assert cli.main(["check", written(tmp_path, integrator="rk4", step=1e-5)]) == 0
    assert "run.step" not in capsys.readouterr().err


def test_statics_reports_beam_deflections_instead_of_hinge_angles(tmp_path, capsys):
    assert cli.main(["statics", written(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "boom bending about z" in told and "boom bending about y" in told
    assert "hinge" not in told


def test_user_coordinates_exclude_beam_hinges():
    system = load(BOOM).compile()
    assert system.own_coordinates == ("luff",)
    assert len(system.coordinates) > 10


def test_linearised_modes_name_the_beam_that_moves():
    system = load(BOOM).compile()
    q, u = system.start()
    modes = mode_facts(system.linearize(0.0, q, u))
    found = {words for mode in modes for words in mode.together}
    assert {"boom bending about y", "boom bending about z", "boom twist", "luff"} <= found
    assert all(0.0 < share <= 1.0 + 1e-12 for mode in modes for share in mode.together.values())
    many = unreachable_modes(modes, (), ("sag",))
    assert len([line for line in many if "bending" in line]) <= 2 * MAX_LISTED_NAMES
    assert any(line.startswith("modes ") and "not seen by sag" in line for line in many)
