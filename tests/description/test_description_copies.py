"""Copies of tables, overrides, library generators, equality of the three ways in."""

import json
import sys
import tomllib
import types

import pytest

from kinetree.models import ModelError
from kinetree.models.checks.loader import describe
from kinetree.models.description.reading import read_source as reading
from kinetree.models.description.reading.copies import MOST_COPIES, fill

CARRIER = """
name = "carrier with modules"
[parameters]
modules = 3
mass = 2
[parameters."push{i}"]
copies = "modules"
value = "100*{i}"
[bodies.cradle]
mass = 10
[bodies."module{i}"]
copies = "modules"
mass = "mass + {i}"
com = [ "{i-1}", 0, 0 ]
[joints.hinge]
child = "cradle"
type = "revolute"
[joints."rail{i}"]
copies = "modules"
parent = "cradle"
child = "module{i}"
type = "prismatic"
axis = "x"
coordinates = ["s{i}"]
[forces."push{i}"]
copies = "modules"
coordinate = "s{i}"
value = "push{i}"
[[stages]]
name = "settle"
ends = { at = 1 }
[[stages]]
copies = "modules"
[[stages.sequence]]
name = "travel {i}"
ends = { when = "s{i} > 1" }
free = ["rail{i}"]
[[stages.sequence]]
name = "swing {i} of {modules}"
ends = { after = "0.5*{i}" }
drop = ["module{i}"]
set = { "push{i}" = 0 }
[[stages]]
name = "rest"
"""


def test_number_of_copies_follows_a_parameter():
    for override, modules in (({}, 3), ({"modules": 5}, 5), ({"modules": 0}, 0)):
        mechanism = describe(tomllib.loads(CARRIER), **override)
        assert list(mechanism.bodies) == ["cradle", *(f"module{i}" for i in range(1, modules + 1))]
        assert len(mechanism.stages) == 2 + 2 * modules
        assert len(mechanism.parameters) == 2 + modules
    assert mechanism.parameters["modules"].value == 0


def test_braces_in_copies_are_replaced_everywhere():
    mechanism = describe(tomllib.loads(CARRIER))
    assert mechanism.bodies["module2"].mass == "mass + 2"
    assert mechanism.bodies["module3"].com == ("2", 0, 0)
    assert mechanism.joints["rail3"].coordinates == ("s3",)
    assert mechanism.forces["push2"].value == "push2"
    names = [stage.name for stage in mechanism.stages]
    assert names == [
        "settle",
        "travel 1",
        "swing 1 of {modules}",
        "travel 2",
        "swing 2 of {modules}",
        "travel 3",
        "swing 3 of {modules}",
        "rest",
    ]
    assert mechanism.stages[4].set == {"push2": 0}
    assert mechanism.bodies["module2"].copies is None


def test_copied_parameters_can_be_overridden():
    assert describe(tomllib.loads(CARRIER), push2=7).parameters["push2"].value == 7
    with pytest.raises(ModelError, match="push4"):
        describe(tomllib.loads(CARRIER), push4=7)


def test_braces_compute_with_whole_numbers():
    assert fill("a{i}b{i-1}c{2*(i+1)//3}d{-i}e{ i % 2 }", 3) == "a3b2c2d-3e1"
    assert fill({"x{i}": ["{i}", 1.0, None]}, 2) == {"x2": ["2", 1.0, None]}
    assert fill("{}, {j}, {1+1}, {i.x}", 2) == "{}, {j}, {1+1}, {i.x}"


@pytest.mark.parametrize(
    ("copies", "words"),
    [
        (-1, "whole number"),
        (2.5, "whole number"),
        (10**6, f"at most {MOST_COPIES}"),
        ("10**6", f"at most {MOST_COPIES}"),
        ("modulos", "did you mean 'modules'"),
        (True, "whole number"),
        ([1], "whole number"),
    ],
)
def test_invalid_numbers_of_copies_are_refused(copies, words):
    description = tomllib.loads(CARRIER)
    description["bodies"]["module{i}"]["copies"] = copies
    with pytest.raises(ModelError, match="copies") as error:
        describe(description)
    assert words in str(error.value)


def test_copies_need_different_names():
    description = tomllib.loads(CARRIER)
    description["bodies"] = {"cradle": {"mass": 1}, "module": {"copies": 2, "mass": 1}}
    with pytest.raises(ModelError, match="put {i} into the name"):
        describe(description)


def test_invalid_braces_are_refused():
    description = tomllib.loads(CARRIER)
    description["bodies"]["module{i}"]["mass"] = "{i//0}"
    with pytest.raises(ModelError, match="cannot compute"):
        describe(description)
    description["bodies"]["module{i}"]["mass"] = "{i**9}"
    with pytest.raises(ModelError, match="cannot compute"):
        describe(description)


def test_faults_in_copies_point_at_the_template(tmp_path):
    path = tmp_path / "carrier.toml"
    path.write_text(CARRIER.replace('value = "push{i}"', 'value = "pusch{i}"'))
    with pytest.raises(ModelError) as error:
        describe(path)
    line = path.read_text().splitlines().index('value = "pusch{i}"') + 1
    assert [(problem.key, problem.line) for problem in error.value.problems] == [
        (f"forces.push{i}.value", line) for i in (1, 2, 3)
    ]
    assert "did you mean 'push1'" in str(error.value)


def test_file_dict_and_json_descriptions_agree(tmp_path):
    toml, plain = tmp_path / "a.toml", tmp_path / "a.json"
    toml.write_text(CARRIER)
    plain.write_text(json.dumps(tomllib.loads(CARRIER)))
    dumps = [describe(source).model_dump() for source in (toml, str(plain), tomllib.loads(CARRIER))]
    assert dumps[0] == dumps[1] == dumps[2]


def test_description_dict_is_not_modified():
    description = tomllib.loads(CARRIER)
    describe(description, modules=2)
    assert description == tomllib.loads(CARRIER)


def test_library_generators_accept_their_arguments(monkeypatch, tmp_path):
    """Keywords that the generator knows go to it, the others replace parameters."""
    module = types.ModuleType("kinetree.models.library.two_words")

    def generate(n=2):
        if n < 1:
            raise ValueError("n must be at least 1")
        bodies = {f"b{i}": {"mass": "m"} for i in range(n)}
        return {
            "parameters": {"m": 1},
            "bodies": bodies,
            "joints": {f"j{i}": {"child": f"b{i}", "type": "free"} for i in range(n)},
        }

    module.describe = generate
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (tmp_path / "two_words.py").write_text("\n\ndef describe(n=2): ...\n")
    monkeypatch.setattr(reading, "LIBRARY", tmp_path)
    mechanism = describe("lib:two-words", n=3, m=4)
    assert len(mechanism.bodies) == 3
    assert mechanism.parameters["m"].value == 4
    with pytest.raises(ModelError, match="n must be at least 1"):
        describe("lib:two-words", n=0)
    with pytest.raises(ModelError, match="did you mean"):
        describe("lib:two-words", mm=0)
    with pytest.raises(ModelError, match="two-words"):
        describe("lib:two-word")
