"""The published JSON Schema, kinds of forces, units, speed of checking."""

import json
import math
import tomllib
from typing import Annotated, Any

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError
from regulator_description import REGULATOR
from work_counted import calls

from kinetree.models.checks.loader import describe
from kinetree.models.description.json_schema import FILE, json_schema, schema_text
from kinetree.models.description.reading.source_location import scan
from kinetree.models.description.reference import DOCS, TABLES, entries, reference_pages
from kinetree.models.description.schema import Description
from kinetree.models.forces.kinds import KINDS, force_kind
from kinetree.models.language.errors import ModelError
from kinetree.models.language.tagged_union import OneOf
from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit

EVERYTHING = """
format = "kinetree/1"
name = "one of each"
gravity = [0, 0, "-g"]
[parameters]
g = 9.81
k = { value = "4*g", unit = "N.m.s/rad", min = 0, tunable = true, text = "gain" }
[bodies.a]
mass = 1
shape = { box = [1, 1, 1] }
[bodies.b]
mass = 1
inertia_at_origin = [1, 1, 1, 0, 0, 0]
shape = { cylinder = [0.1, 1], at = [0, 0, 1] }
[bodies.c]
mass = 1
[joints.A]
child = "a"
type = "revolute"
axis = "-x"
start = 0.1
[joints.B]
parent = "a"
child = "b"
type = "universal"
axis = ["x", [0, 1, 0]]
start = [0, "0.1*g"]
[joints.C]
child = "c"
type = "free"
[couplings]
gear = "A.angle - 2*B.angle1"
[forces.drive]
coordinate = "A.angle"
value = "k*(torque - der(A.angle)) + heat"
[forces.spring]
between = [{ body = "a" }, { body = "b", point = [1, 0, 0] }]
stiffness = 2
length = 0.5
tension_only = true
[forces.wind]
body = "c"
force = [0, "sin(t)", 0]
[forces.bush]
between = [{ body = "a" }, { body = "c" }]
moment = [0, 0, "-A.angle"]
frame = "body"
[forces.stop]
coordinate = "A.angle"
lower = -1
stiffness = 10
sharpness = 100
[forces.foot]
body = "c"
radius = 0.1
stiffness = 1e5
soil = { strength = 1e4, viscosity = 1e5 }
[forces.rub]
coordinate = "B.angle1"
coulomb = 0.1
[forces.rail]
between = [{ body = "a" }, { body = "c" }]
axis = "x"
clearance = 0.001
stiffness = 1e6
[forces.tyre]
kind = "tyre"
body = "c"
stiffness = 1e5
[forces.jack]
kind = "jack"
body = "c"
stiffness = 1e6
extension = "0.1*t"
[forces.cylinder]
between = [{ body = "a" }, { body = "c" }]
area_a = 0.01
pressure_a = "1e5*torque"
[inputs]
torque = 0
[outputs]
sum = "2*height"
[outputs.height]
quantity = "position"
body = "b"
axis = "z"
[outputs.turn]
quantity = "orientation"
body = "b"
[outputs.load]
quantity = "reaction"
joint = "A"
axis = "norm"
[outputs.both]
value = "turn[1] + load"
[states.heat]
rate = "-heat + table('curve', t)"
[tables.curve]
x = [0, 1]
y = [0, 1]
[tables.map]
x = [0, 1]
y = [0, 1, 2]
z = [[0, 1, 2], [1, 2, 3]]
method = "cubic"
[actuators.lift]
between = [{ body = "a" }, { body = "c" }]
[actuators.lift.chambers]
area_a = 1
area_b = 1
volume_a = 1
volume_b = 1
shortest = 1
longest = 2
[[stages]]
ends = { when = "reaction('A') > 3 and lift.length < 2" }
lock = ["A"]
set = { g = 1.6 }
[[stages]]
name = "last"
[run]
stop_time = 2
tolerances = 1e-6
method = "DEC"
"""


def test_published_schema_is_current():
    """Renew it by `python -m kinetree.models.description.json_schema`."""
    assert FILE.read_text(encoding="utf-8") == schema_text()


def test_reference_pages_are_current():
    """Renew them by `python -m kinetree.models.description.reference`."""
    pages = reference_pages()
    assert {path.name for path in (DOCS / "format").glob("*.md")} == {
        name.removeprefix("format/") for name in pages if name.startswith("format/")
    }
    for name, text in pages.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, name


def test_every_table_is_on_one_page_and_in_the_index():
    titles = [entry.title for found in entries().values() for entry in found]
    assert sorted(title for title in titles if title.strip("`") in TABLES) == sorted(
        f"`{title}`" for title in TABLES
    )
    index = (DOCS / "format.md").read_text(encoding="utf-8")
    assert all(f"[{title}](format/" in index for title in titles)
    # Links to the single page that there was lead to the rows of the index.
    assert all(f'<span id="{old}"></span>' in index for old in ("bodiesname", "run", "kind-line"))


@pytest.mark.parametrize(
    "description", [REGULATOR, tomllib.loads(EVERYTHING)], ids=["regulator", "everything"]
)
def test_schema_and_model_accept_the_same(description):
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(json.dumps(description)))
    assert isinstance(describe(description), Description)


def test_schema_refuses_what_the_model_refuses():
    validator = jsonschema.Draft202012Validator(json_schema())
    for wrong in (
        {"gravty": 1},
        {"bodies": {"a": {}}},
        {"joints": {"j": {"child": 3}}},
        {"forces": {"f": {"value": 1}}},
    ):
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize(
    ("kind", "axis"),
    [("revolute", "-z"), ("revolute", [0, 0, 1]), ("revolute", [[0, 0, 1]]), ("universal", ["x", "y"]), ("universal", [[1, 0, 0], "y"]),
     ("universal", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]), ("universal", [])],
)  # fmt: skip
def test_schema_and_model_agree_on_axes(kind: str, axis: object):
    """One axis may stand alone or in a list; no joint has more than two."""
    given = {
        "format": "kinetree/1",
        "bodies": {"b": {"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "type": kind, "axis": axis}},
    }
    allowed = jsonschema.Draft202012Validator(json_schema()).is_valid(given)
    try:
        describe(given)
    except ModelError:
        assert not allowed
    else:
        assert allowed


def test_every_key_is_explained():
    """Editors show these texts; numbers of the force kinds tell their unit."""
    for kind in KINDS.values():
        for name, field in kind.table.model_fields.items():
            assert field.description or name == "kind", name


def test_kinds_are_derived_from_keys():
    forces = tomllib.loads(EVERYTHING)["forces"]
    names = {
        "drive": "coordinate",
        "spring": "line",
        "wind": "wrench",
        "bush": "pair",
        "stop": "stop",
        "foot": "contact",
        "rub": "friction",
    }
    names |= {name: name for name in ("rail", "tyre", "jack", "cylinder")}
    assert {name: force_kind(force) for name, force in forces.items()} == names
    mechanism = describe(tomllib.loads(EVERYTHING))
    assert {name: force.kind for name, force in mechanism.forces.items()} == names


def test_numbers_stay_floats_and_expressions_stay_text():
    mechanism = describe(tomllib.loads(EVERYTHING))
    assert mechanism.gravity == (0.0, 0.0, "-g")
    assert isinstance(mechanism.bodies["a"].mass, float)
    assert mechanism.couplings["gear"].value == "A.angle - 2*B.angle1"
    assert mechanism.run.tolerances is not None
    assert mechanism.run.tolerances.relative == 1e-6


def test_line_numbers_of_keys_are_found():
    lines = scan(
        "a = 1\n[b.c]\n'd e' = 2\nf.g = 3\n[[h]]\ni = 1\n[h.k]\nl = 4 # m = 5\n[[h]]\ni = 2\n"
    )
    assert lines[("a",)] == 1
    assert lines[("b", "c", "d e")] == 3
    assert lines[("b", "c", "f", "g")] == 4
    assert (lines[("h", 0, "i")], lines[("h", 0, "k", "l")], lines[("h", 1, "i")]) == (6, 8, 10)


def chain_text(bodies: int) -> str:
    """Bodies, joints, forces and outputs with expressions."""
    text = "[parameters]\nm = 2.0\n"
    for i in range(1, bodies + 1):
        parent = "ground" if i == 1 else f"b{i - 1}"
        text += f'[bodies.b{i}]\nmass = "m*{i}/3"\ncom = [0, 0.1, 0]\ninertia = [0.3, 0.3, 0.3, 0, 0, 0]\n'
        text += f'[joints.j{i}]\nparent = "{parent}"\nchild = "b{i}"\nat = [1, 0, 0]\ntype = "revolute"\naxis = "x"\n'
        text += f'[forces.f{i}]\ncoordinate = "j{i}.angle"\nvalue = "-3*der(j{i}.angle) + {i}*sin(j{i}.angle)*m"\n'
        text += f'[outputs.o{i}]\nquantity = "position"\nbody = "b{i}"\naxis = "x"\n'
    return text


def test_checking_grows_in_proportion_to_the_file(tmp_path):
    """Four times the bodies take little more than four times the work (names of coordinates far away cost a little), not sixteen times."""
    paths = [tmp_path / f"chain{bodies}.toml" for bodies in (50, 200)]
    for path, bodies in zip(paths, (50, 200), strict=True):
        path.write_text(chain_text(bodies))
        describe(path)
    few, many = (calls(describe, path) for path in paths)
    assert 3.0 * few < many < 6.5 * few


@pytest.mark.parametrize(
    ("text", "factor", "base"),
    [
        ("N.m.s/rad", 1, {"kg": 1, "m": 2, "s": -1, "rad": -1}),
        ("kg.m2/s", 1, {"kg": 1, "m": 2, "s": -1}),
        ("m/s2", 1, {"m": 1, "s": -2}),
        ("m3/(s.Pa)", 1, {"m": 4, "s": 1, "kg": -1}),
        ("bar", 1e5, {"kg": 1, "m": -1, "s": -2}),
        ("mm", 1e-3, {"m": 1}),
        ("kN/mm", 1e6, {"kg": 1, "s": -2}),
        ("l/min", 1e-3 / 60, {"m": 3, "s": -1}),
        ("rpm", math.pi / 30, {"rad": 1, "s": -1}),
        ("deg", math.pi / 180, {"rad": 1}),
        ("s^-1", 1, {"s": -1}),
        ("1/s", 1, {"s": -1}),
        ("%", 0.01, {}),
        ("", 1, {}),
    ],
)
def test_units_resolve_into_base_units(text, factor, base):
    unit = parse_unit(text)
    assert unit.factor == pytest.approx(factor, rel=1e-14)
    assert unit.base == base


def test_temperature_units_with_offset_cannot_be_combined():
    assert parse_unit("degC").offset == 273.15
    for wrong in ("degC/s", "q", "N..m", "m^x", "N/", "m99999", "x" * 200, "kkg", "(m"):
        with pytest.raises(UnitError):
            parse_unit(wrong)


def test_table_readers_are_created_for_used_kinds_only():
    """The reader of a kind is made for its first table; what it says and where does not differ from a union of all kinds."""
    either = OneOf({name: kind.table for name, kind in KINDS.items()}, force_kind)
    assert not either.reader.cache_info().currsize
    places = {"coordinate": "x", "between": [{}, {"body": "a"}], "body": "a"}
    given = [
        dict(kind.example) | {kind.place: places[kind.place], "kind": name}
        for name, kind in list(KINDS.items())[:5]
    ]
    for table in given:
        assert either.read(table) == either.all_kinds.validate_python(table)
    assert 0 < either.reader.cache_info().currsize < len(KINDS)
    for table in (given[0] | {"nonsense": 1}, {"kind": "nonsense"}, {}, 3):
        told = []
        for read in (
            TypeAdapter(Annotated[Any, either]).validate_python,
            either.all_kinds.validate_python,
        ):
            with pytest.raises(ValidationError) as error:
                read(table)
            told.append(
                [(each["type"], each["loc"], each["input"]) for each in error.value.errors()]
            )
        assert told[0] == told[1], table
