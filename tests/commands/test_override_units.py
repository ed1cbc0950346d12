"""Overrides without a unit of parameters that a file declares in deg, mm or bar: they are in SI, and likely slips are told."""

import pytest

from kinetree.scripts.cli import main

ARM = """format = "kinetree/1"
[parameters]
a0 = { value = 40, unit = "deg" }
way = { value = 800, unit = "mm" }
load = { value = 30, unit = "N.m" }
[bodies.arm]
mass = 2.0
com = ["way", 0, 0]
inertia = [1, 1, 1, 0, 0, 0]
[joints.j]
child = "arm"
type = "revolute"
axis = "y"
coordinates = ["q"]
start = "a0"
[forces.drive]
coordinate = "q"
value = "load"
[outputs.angle]
value = "q"
"""


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["a0=50"], "--set a0=50deg"),
        (["a0=-200"], "--set a0=-200deg"),
        (["way=750"], "--set way=750mm"),
        (["a0=50deg", "way=750mm"], ""),
        (["a0=0.9", "way=0.7"], ""),
        (["load=3000"], ""),
    ],
)
def test_override_in_the_unit_of_the_file_is_warned(tmp_path, capsys, settings, told):
    """50 for 40 deg is 50 rad: no number without unit is taken so far from the declared one silently."""
    path = tmp_path / "arm.toml"
    path.write_text(ARM)
    options = [word for setting in settings for word in ("--set", setting)]
    for command in ("check", "info"):
        assert main([command, str(path), *options]) == 0
        found = capsys.readouterr().err
        assert (told in found) if told else "warning" not in found, command


def test_values_of_studies_steps_and_starts_are_warned_of(tmp_path, capsys):
    path = tmp_path / "arm.toml"
    path.write_text(ARM)
    study = tmp_path / "study.toml"
    study.write_text(
        'mechanism = "arm.toml"\n[vary]\na0 = [0.5, 30]\n[run]\nstop_time = 0.01\n'
        '[report]\nangle = ["end"]\n'
    )
    assert main(["study", str(study)]) == 0 and "a0=30deg" in capsys.readouterr().err
    assert main(["statics", str(path), "--then", "way=900", "--start", "q=45"]) in (0, 1, 2)
    found = capsys.readouterr().err
    assert "way=900mm" in found and "q=45deg" in found
