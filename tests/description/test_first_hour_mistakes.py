"""Slips of a first description: the message says where it is and what to write."""

import pytest

from kinetree.models import ModelError, load

TEXT = """format = "kinetree/1"
[bodies.load]
mass = 1
[joints.j]
child = "load"
type = "prismatic"
coordinates = ["x"]
[actuators.lift]
coordinate = "x"
[outputs.f]
quantity = "force"
force = "drive"
[forces.drive]
coordinate = "x"
value = "1"
"""
CASES = {
    "unit beside a number": ("mass = 1", 'mass = "1 kg"', 3, '{ value = 1, unit = "kg" }'),
    "ground with a capital": ('type = "p', 'parent = "Ground"\ntype = "p', 6, "'ground'"),
    "section in the singular": ("[joints.j]", "[joint.j]", 4, "'joints'"),
    "force of an actuator": ('force = "drive"', 'force = "lift"', 12, '"lift.force"'),
}


@pytest.mark.parametrize("case", CASES)
def test_message_says_line_and_what_to_write(tmp_path, case):
    old, new, line, said = CASES[case]
    path = tmp_path / "forest.toml"
    path.write_text(TEXT)
    load(path)
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ModelError) as error:
        load(path)
    assert any(each.line == line and said in str(each) for each in error.value.problems)


def test_file_without_ending_is_offered(tmp_path):
    (tmp_path / "forest.toml").write_text(TEXT)
    with pytest.raises(ModelError, match=r"did you mean .*forest\.toml"):
        load(tmp_path / "forest")


@pytest.mark.parametrize("key", ["at", "child_at", "com"])
def test_places_in_millimetres_are_warned_of(tmp_path, key):
    """A place 800 m away on a body; with its unit, or within a hundred metres, none."""
    anchor = "mass = 1\n" if key == "com" else 'child = "load"\n'
    for written, told in (
        ("[0, 0, -800]", True),
        ('{ value = [0, 0, -800], unit = "mm" }', False),
        ("[0, 60, 0]", False),
    ):
        path = tmp_path / "arm.toml"
        path.write_text(TEXT.replace(anchor, f"{anchor}{key} = {written}\n", 1))
        found = [str(each) for each in load(path).description.warnings]
        assert any('[0, 0, -800], unit = "mm"' in each for each in found) == told
