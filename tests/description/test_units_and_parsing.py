"""What descriptions are read with: units, dimensions, messages, parameters, lines of keys, tensors, tables; small cases to the letter."""

import ast
import math

import numpy as np
import pytest
from plant_description import PLANT, changed, said, within

from kinetree.models import ModelError
from kinetree.models.checks.loader import describe
from kinetree.models.checks.source_validation import leave_out, model_at, plain_path
from kinetree.models.description.joint_units import actuator_units, rate_unit
from kinetree.models.description.reading.copies import Copier, calculate, fill, volume
from kinetree.models.description.reading.source_location import Origin, key_path, scan
from kinetree.models.expressions.lookup_tables import Tables
from kinetree.models.expressions.nodes import ExpressionError
from kinetree.models.expressions.parse import evaluate_constant, parse
from kinetree.models.forces.kinds import KINDS
from kinetree.models.hydraulics.kinds import KINDS as PARTS
from kinetree.models.joints.elements import scaled
from kinetree.models.language.colours import COLOURS, rgb
from kinetree.models.language.errors import ModelError as Errors
from kinetree.models.language.errors import Problem, shown, suggestion
from kinetree.models.language.inertia_rotation import rotated, turn
from kinetree.models.language.numbers_and_expressions import AXES, as_axes
from kinetree.models.language.parameters import evaluate_parameters, shortened
from kinetree.models.language.units.dimensions import Clash, Dimension, dimension_of, infer
from kinetree.models.language.units.si_conversion import converted
from kinetree.models.language.units.unit_of_measure import (
    UNITS,
    UnitError,
    coherent,
    fits,
    nearest,
    parse_unit,
)

SI = {  # factor, offset and exponents of kg m s A K mol cd rad
    "1": (1.0, ""), "%": (0.01, ""), "g": (1e-3, "kg"), "t": (1e3, "kg"), "min": (60.0, "s"), "h": (3600.0, "s"), "deg": (math.pi / 180, "rad"),
    "rev": (2 * math.pi, "rad"), "sr": (1.0, "rad2"), "Hz": (1.0, "1/s"), "rpm": (math.pi / 30, "rad/s"), "N": (1.0, "kg.m/s2"),
    "J": (1.0, "kg.m2/s2"),
    "W": (1.0, "kg.m2/s3"), "Pa": (1.0, "kg/(m.s2)"), "bar": (1e5, "kg/(m.s2)"), "l": (1e-3, "m3"), "L": (1e-3, "m3"), "C": (1.0, "A.s"),
    "V": (1.0, "kg.m2/(s3.A)"), "Ohm": (1.0, "kg.m2/(s3.A2)"), "F": (1.0, "s4.A2/(kg.m2)"), "H": (1.0, "kg.m2/(s2.A2)"), "T": (1.0, "kg/(s2.A)"),
    "Wb": (1.0, "kg.m2/(s2.A)"), "degC": (1.0, "K"), "nm": (1e-9, "m"), "us": (1e-6, "s"), "mm": (1e-3, "m"), "cm": (1e-2, "m"), "dm": (1e-1, "m"),
    "hPa": (1e2, "Pa"), "kN": (1e3, "N"), "MPa": (1e6, "Pa"), "GPa": (1e9, "Pa"), "mbar": (1e2, "Pa"), "kg": (1.0, "kg"), "mg": (1e-6, "kg"),
    "mol": (1.0, "mol"), "cd": (1.0, "cd"), "mrad": (1e-3, "rad"), "kV": (1e3, "V"), "mA": (1e-3, "A"), "kJ": (1e3, "J"), "kHz": (1e3, "Hz"),
}  # fmt: skip


def test_every_unit_converts_to_si():
    """By the definitions of the SI brochure."""
    assert UNITS.keys() - {"kg", "m", "s", "A", "K", "mol", "cd", "rad"} <= SI.keys()
    for text, (factor, base) in SI.items():
        assert parse_unit(text).factor == pytest.approx(factor, rel=1e-14), text
        assert parse_unit(text).exponents == parse_unit(base).exponents, text
        assert (
            parse_unit(text).offset == (273.15 if text == "degC" else 0.0)
            and parse_unit(text).text == text
        )
    assert [parse_unit(name).base for name in ("kg", "m", "s", "A", "K", "mol", "cd", "rad")] == [
        {name: 1} for name in ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
    ]


def test_units_are_written_in_standard_form():
    """Factors by a dot, a star or a middle dot, whole exponents with or without ^, divisors one by one or in parentheses."""
    for same in (
        "N.m.s/rad",
        "N*m*s/rad",
        "N·m·s/rad",
        " N . m . s / rad ",
        "N.m.s.rad-1",
        "N.m^1.s/rad^1",
        "N.m/(rad.s-1)",
        "N.m.s/(rad)",
    ):
        assert parse_unit(same).exponents == (1, 2, -1, 0, 0, 0, 0, -1), same
    assert (
        parse_unit("m/s/s").exponents
        == parse_unit("m/s2").exponents
        == parse_unit("m.s^-2").exponents
    )
    assert (
        parse_unit("").exponents == parse_unit("1").exponents
        and parse_unit("1/s").factor == 1.0
        and parse_unit("mm2").factor == pytest.approx(1e-6)
    )
    for wrong, words in (
        ("x" * 101, "a unit has at most 100 characters"),
        ("N..m", "a unit is missing beside . or /"),
        ("degC2", "'degC2' cannot be part of a product"),
        ("1/degC", "'degC' cannot be part of a product"),
        ("m-100", "'m-100' is not a unit"),
        ("mmm", "'mmm' is not a known unit; did you mean 'mm'?"),
    ):
        with pytest.raises(UnitError) as error:
            parse_unit(wrong)
        assert str(error.value) == words
    assert (
        nearest("Celsius") == "; did you mean 'degC'?"
        and nearest("KN") == "; did you mean 'kN'?"
        and nearest("qqqqq") == ""
    )
    assert parse_unit("x" * 0 + "m" + 49 * ".1").exponents == parse_unit("m").exponents


COHERENT = {
    "mm": "m", "kN/mm": "N/m", "deg/s": "rad/s", "l/min": "m3/s", "rpm": "rad/s", "bar": "Pa", "degC": "K", "%": "1", "1/h": "1/s", "t.mm2": "kg.m2",
    "kN.m/deg": "N.m/rad", "mm/(s.bar)": "m/(s.Pa)", "h/min": "1", "N.m": "N.m", "mm2": "m2", "1/(min.h)": "1/s2", "rev/min2": "rad/s2", "kg": "kg",
}  # fmt: skip


def test_coherent_units_have_factor_one():
    for text, expected in COHERENT.items():
        assert coherent(text) == expected, text


def test_incompatible_units_are_detected():
    """The same dimension; angles may be left out of what is stiff, and 1 stands for rad."""
    for given, expected, fine in (
        ("mm", "m", True), ("m", "s", False), ("rad", "1", True), ("1", "rad", True), ("deg", "rad", True), ("deg", "1", False), ("%", "rad", False),
        ("N.m", "N.m/rad", True), ("kN.m", "N.m/rad", True), ("N.m/rad", "N.m", True), ("rad/s", "1/s", False), ("rpm", "rad/s", True),
        ("N.m/rad", "N.m.rad", False), ("m/rad", "m", False),
    ):  # fmt: skip
        assert fits(given, expected) == fine, (given, expected)


def test_numbers_convert_when_read():
    mm, celsius = parse_unit("mm"), parse_unit("degC")
    assert converted([1, "2*3", "l", True, None, [4.0]], mm) == [
        pytest.approx(1e-3),
        pytest.approx(6e-3),
        "l",
        True,
        None,
        [pytest.approx(4e-3)],
    ]
    assert (
        converted(20, celsius) == pytest.approx(293.15)
        and converted("250/2", mm) == pytest.approx(0.125)
        and converted("1/0", mm) == "1/0"
    )
    assert converted(7, parse_unit("m")) == 7 and converted(10**400, mm) == 10**400
    assert celsius.from_si(np.array([273.15, 300.0])) == pytest.approx([0.0, 26.85])


def test_units_of_rates_and_drives_are_derived():
    rates = {
        "m": "m/s",
        "rad/s": "rad/s2",
        "1": "1/s",
        "": "",
        "N": "N/s",
        "m3/s": "m3/(s.s)",
        "kg/(m.s)": "kg/(m.s.s)",
    }
    assert {unit: rate_unit(unit) for unit in rates} == rates
    for way, force, mass in (("m", "N", "kg"), ("rad", "N.m", "kg.m2"), ("1", "J", "kg.m2")):
        assert actuator_units(way) == {
            "force": force, "stiffness": f"{force}/{way}", "damping": f"{force}.s/{way}", "length": way, "speed": f"{way}/s",
            "acceleration": f"{way}/s2", "mean_speed": f"{way}/s", "effective_mass": mass,
        }  # fmt: skip


DIMENSIONS = {
    "l + l": "m", "l - v": "m - m/s", "l*v": "m2/s", "l/v": "s", "l**3": "m3", "sqrt(l)": "m0.5", "sin(l)": "sin() of a value in m",
    "sin(a)": "1",
    "l < v": "m < m/s", "l < l": "1", "max(l, v)": "m max m/s", "if(l < l, v, v)": "m/s", "if(1, l, v)": "m", "-l": "m",
    "abs(v)": "m/s", "atan2(l, l)": "1",
    "atan2(l, v)": "m atan2 m/s", "l + 2": None, "2*l": None, "l + 0": "m", "unknown + l": None, "table('T', l)": None, "l**a": None, "l and v": "1",
    "sign(l)": "1", "exp(a)": "1", "F/l": "kg/s2", "1/l": None, "l % l": None, "not l": "1", "F/(l*l)": "kg/(m.s2)", "l/l": "1",
}  # fmt: skip


def test_dimensions_of_expressions_are_derived():
    """What is told of a number, or the clash; nothing of what may hide a unit."""
    known = {
        "l": dimension_of("mm"),
        "v": dimension_of("m/s"),
        "a": dimension_of("rad"),
        "F": dimension_of("kN"),
    }
    for text, expected in DIMENSIONS.items():
        try:
            found = infer(parse(text), known.get)
        except Clash as clash:
            assert str(clash) == expected, text
        else:
            assert (None if found is None else str(found)) == expected, text
    assert (
        str(Dimension((1.0, -1.0, -2.0, 0.0, 0.0, 0.0, 0.0))) == "kg/(m.s2)"
        and str(Dimension((0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0))) == "1/m"
    )


# -- messages ---------------------------------------------------------------------------------------------------------------------------------
def test_problems_are_single_lines():
    assert (
        str(Problem("a.b", "x", "y", "z", "f.toml", 3, 4))
        == "f.toml:3: a.b: found x, expected y (column 4); z"
    )
    assert (
        str(Problem("", hint="z", file="f.toml")) == "f.toml: z"
        and str(Problem("a", expected="y")) == "a: expected y"
    )
    assert str(Problem("a", "x\ny", line=3)) == "a: found x\\ny"
    assert (
        str(Errors("plain")) == "plain"
        and str(Errors([Problem("a", "x"), Problem("b", "y")])) == "a: found x\nb: found y"
    )


def test_long_values_are_shortened_in_messages():
    assert (
        shown("x" * 57) == repr("x" * 57)
        and shown("x" * 61) == repr("x" * 61)
        and shown("x" * 62) == "'" + "x" * 59 + "..."
    )
    assert (
        shown({"a": 1, "b": 2, "c": 3}) == "a table with a, b, c"
        and shown({}) == "a table with no keys"
    )
    assert (
        shown({"a": 1, "b": 2, "c": 3, "d": 4}) == "a table with 4 keys"
        and shown([1] * 8) == str([1] * 8)
        and shown([1] * 9) == "a list of 9"
    )
    assert (
        shown(2**199) == f"{2**199}"[:60]
        and shown(2**200) == "a huge integer"
        and shown(None) == "None"
    )


def test_suggestions_name_nearest_names():
    """The nearest of the known names whatever its case, else all of them where they are at most twelve."""
    assert (
        suggestion("gama", ["gamma", "delta"]) == "did you mean 'gamma'?"
        and suggestion("GAMMA", ["gamma"]) == "did you mean 'gamma'?"
    )
    assert (
        suggestion("ab", ["ac", "xy"]) == "did you mean 'ac'?"
        and suggestion("zzz", ["a", "b"]) == "known: a, b"
    )
    assert (
        suggestion("zzz", [f"a{k}" for k in range(12)]).startswith("known: a0, ")
        and suggestion("zzz", [f"a{k}" for k in range(13)]) == ""
    )
    assert suggestion("zzz", []) == ""


def test_long_cycles_are_shortened_in_messages():
    assert shortened(list("abcdefghijkl")) == " -> ".join("abcdefghijkl")
    assert (
        shortened([f"p{k}" for k in range(20)])
        == "p0 -> p1 -> p2 -> p3 -> p4 -> p5 -> p6 -> p7 -> p8 -> ... 9 more ... -> p18 -> p19"
    )


def test_parameters_may_be_declared_in_any_order():
    values, errors = evaluate_parameters(
        {
            "a": "2*b",
            "b": "c + 1",
            "c": 3.0,
            "d": "e",
            "e": "1/0",
            "f": "2*f",
            "g": "d + 1",
            "h": "t",
            "i": "k",
            "j": "f",
        }
    )
    assert values == {"a": 8.0, "b": 4.0, "c": 3.0}
    assert {name: error.message for name, error in errors.items()} == {
        "e": "division by zero", "f": "depends on itself: f -> f", "h": "a parameter cannot depend on the time t", "i": errors["i"].message,
    }  # fmt: skip
    assert errors["i"].message.startswith("unknown name 'k'")
    assert evaluate_parameters({"t": 2.0, "h": "t*t"}) == ({"t": 2.0, "h": 4.0}, {})


# -- reading ----------------------------------------------------------------------------------------------------------------------------------
def test_line_numbers_of_keys_are_found():
    text = "a = 1\n[b]\nc = 2\n'd e'.f = 3\n[[s]]\nx = 1\n[s.ends]\nat = 2\n[[s]]\n[s.ends]\nat = 3\n# [no]\n[ g . h ] # here\ni = 4\nc = 5\n"
    lines = scan(text)
    assert (
        lines[("b",)] == 2
        and lines[("b", "c")] == 3
        and lines[("b", "d e", "f")] == 4
        and lines[("s", 0)] == 5
        and lines[("s", 0, "x")] == 6
    )
    assert (
        lines[("s", 0, "ends", "at")] == 8
        and lines[("s", 1)] == 9
        and lines[("s", 1, "ends", "at")] == 11
        and lines[("g", "h", "i")] == 14
    )
    origin = Origin("f", text, templates={("b", "copy"): "c"})
    assert (
        origin.line(("b", "c", "deep")) == 3
        and origin.line(("b", "copy")) == 3
        and origin.line(("zz",)) is None
        and origin.line(()) is None
    )
    assert (
        Origin().line(("a",)) is None
        and key_path(("a", "b", 2, "c")) == "a.b[2].c"
        and key_path((1, "a")) == "[1].a"
    )


def test_copies_are_counted_and_braces_replaced():
    assert volume({"a": [1, "xyz"], "bc": {"d": None}}) == (6, 4 + 3)
    copier = Copier(Origin(), {"n": 3.0})
    assert [copier.count(("f", "a"), each) for each in (2, 2.0, "n", "n - 3", 10_000)] == [
        2,
        2,
        3,
        0,
        10_000,
    ] and not copier.problems
    assert [copier.count(("f", "a"), each) for each in (-1, 2.5, True, 10_001, "m", [1])] == [
        0
    ] * 6 and len(copier.problems) == 6
    assert str(copier.problems[3]) == "f.a.copies: found 10001, expected at most 10000 copies"
    assert fill(["{i}", "{2*i-1}{(i+1)//2}", "{-i}{+i}", "{i%3}", "{ i }", "{1}", 7], 4) == [
        "4",
        "72",
        "-44",
        "1",
        "4",
        "{1}",
        7,
    ]
    with pytest.raises(ExpressionError, match=r"cannot compute \{i//0\} for i = 4"):
        fill("{i//0}", 4)
    with pytest.raises(KeyError):
        calculate(ast.parse("i**2", mode="eval").body, 2)
    assert copier.afford(("f", "a"), {"x": 1}, 500_000) and not copier.afford(
        ("f", "a"), {"x": 1}, 1
    )
    assert (
        str(copier.problems[-1])
        == "f.a.copies: found 1 copies, expected at most 1000000 values in the whole description"
    )
    texts = Copier(Origin(), {})
    assert texts.afford(("f", "a"), "x" * 3000, 10_000) and not texts.afford(("f", "a"), "x", 1)


NOTHING_ELSE = ", expected a list of stages and nothing else but copies"
WHOLE = ": whole numbers, i, + - * // % and parentheses are allowed"
STAGES = [
    ([{"copies": 2, "name": "s{i}", "ends": {"at": "{i}"}}, {}], ["s1", "s2", ""], []),
    (
        [
            {
                "copies": 2,
                "sequence": [
                    {"name": "a{i}", "ends": {"at": "2*{i}"}},
                    {"name": "b{i}", "ends": {"at": "2*{i} + 1"}},
                ],
            }
        ],
        ["a1", "b1", "a2", "b2"],
        [],
    ),
    ([{"sequence": [{"name": "a{i}", "ends": {"at": 1}}, {"name": "b"}]}], ["a{i}", "b"], []),
    ([{"copies": 1, "name": "a{i}"}], ["a1"], []),
    ([{"copies": 0, "name": "a{i}"}, {"name": "b"}], ["b"], []),
    (
        [{"copies": 2, "sequence": [{}], "name": "x"}, {}],
        None,
        ["stages[0].sequence: found a table with name" + NOTHING_ELSE],
    ),
    (
        [{"sequence": [{"copies": 2}]}, {}],
        None,
        [
            "stages[0].sequence: found copies inside a sequence, expected copies of the sequence as a whole"
        ],
    ),
    ([{"sequence": 3}, {}], None, ["stages[0].sequence: found 3" + NOTHING_ELSE]),
    (
        [{"copies": 2, "name": "{i//0}"}, {}],
        None,
        ["stages[0]: cannot compute {i//0} for i = 1" + WHOLE],
    ),
]


@pytest.mark.parametrize(("stages", "names", "words"), STAGES)
def test_stages_are_repeated(stages: list, names: list[str] | None, words: list[str]):
    d = changed("stages", stages)
    if names is not None:
        assert [stage.name for stage in describe(d).stages] == names
    else:
        assert said(d) == words


def test_axes_are_normalised():
    assert (
        AXES["-y"] == (0.0, -1.0, 0.0)
        and AXES["+z"] == AXES["z"] == (0.0, 0.0, 1.0)
        and math.copysign(1.0, AXES["-y"][0]) == 1.0
        and len(AXES) == 9
    )
    assert as_axes("x") == (AXES["x"],) == as_axes([1, 0, 0]) == as_axes([[1, 0, 0]]) and as_axes(
        ["x", [0, 0, 1]]
    ) == (AXES["x"], AXES["z"])
    assert scaled((0.0, 3.0, 4.0), 10.0) == pytest.approx((0.0, 6.0, 8.0))
    assert scaled((0.0, 3.0, "b"), 2.0) == (
        0.0,
        "(2.0)*(3.0)/sqrt((0.0)**2+(3.0)**2+(b)**2)",
        "(2.0)*(b)/sqrt((0.0)**2+(3.0)**2+(b)**2)",
    )


ELASTIC = "text, kind, leaves_with, value, stiffness, damping, length, law, damping_law, coordinate"
TYPES = "'rigid', 'revolute', 'prismatic', 'cylindrical', 'universal', 'spherical', 'planar', 'screw', 'free'"
AXIS = ', expected an axis: "x", "y", "z", "-x", "-y", "-z" or a list of 3 numbers'
TENSOR = "found a transform that is no rotation, expected constant rotations { rotate = axis, by = angle }"
TURN = "found an expression or no direction, expected numbers as axis and angle of the frame of a tensor"
MEASURED = "found a table with value, unit, x, expected a number, an expression, or a table of value and unit"
IN_SI = "found 'p', expected a number: an expression over names is in SI and takes no unit"
READING = [
    (
        "bodies/a",
        {"mas": 1.0},
        [".mas: found the unknown key 'mas'; did you mean 'mass'?"],
    ),
    ("bodies/a", 3, [": found 3, expected a table"]),
    ("bodies/a", {"mass": [1]}, [".mass: found [1], expected a number or an expression"]),
    ("bodies/a", {"mass": {"value": 1, "unit": "m", "x": 2}}, [".mass: " + MEASURED]),
    ("bodies/a", {"mass": {"value": "p", "unit": "kg"}}, [".mass: " + IN_SI]),
    (
        "bodies/a",
        {"mass": {"value": 1, "unit": "qq"}},
        [".mass: found 'qq', expected a unit: 'qq' is not a known unit"],
    ),
    ("bodies/a", {"mass": " "}, [".mass: found ' ', expected a number or an expression"]),
    ("bodies/a", {"mass": 1, "com": [0, 0]}, [".com: found [0, 0], expected a list of 3 numbers"]),
    (
        "bodies/a",
        {"mass": 1, "inertia": [1]},
        [".inertia: found [1], expected a list of 6 numbers: xx yy zz xy xz yz"],
    ),
    (
        "bodies/a",
        {"mass": 1, "unphysical": "often"},
        [".unphysical: found 'often', expected true or false"],
    ),
    ("bodies/a", {"mass": 1, "frame": [{"shift": "x", "by": 1.0}]}, [": " + TENSOR]),
    ("bodies/a", {"mass": 1, "frame": [{"rotate": "x", "coordinate": "w"}]}, [": " + TENSOR]),
    ("bodies/a", {"mass": 1, "frame": [{"rotate": "x", "by": "p"}]}, [": " + TURN]),
    ("bodies/a", {"mass": 1, "frame": [{"rotate": ["p", 0, 0], "by": 1.0}]}, [": " + TURN]),
    ("bodies/a", {"mass": 1, "frame": [{"rotate": [0, 0, 0], "by": 1.0}]}, [": " + TURN]),
    ("joints/ja/axis", "w", [".axis: found 'w'" + AXIS]),
    ("joints/ja/axis", [1, 2], [".axis: found 1" + AXIS]),
    (
        "joints/ja/type",
        "prism",
        [f".type: found 'prism', expected {TYPES}; did you mean 'prismatic'?"],
    ),
    ("text", 3, [": found 3, expected text"]),
    ("stages", {}, [": found a table with no keys, expected a list"]),
    (
        "forces/f",
        {"coordinate": "q", "stifness": 1},
        [".stifness: found the unknown key 'stifness'; did you mean 'stiffness'?"],
    ),
    (
        "forces/f",
        {"kind": "zzz"},
        [": found kind 'zzz', expected kind = one of " + ", ".join(KINDS)],
    ),
    (
        "hydraulics/h",
        {"qq": 1},
        [": found keys that tell no kind of element, expected kind = one of " + ", ".join(PARTS)],
    ),
    (
        "qqqqqqqq",
        1,
        [
            ": found the unknown key 'qqqqqqqq'; `kinetree explain description` lists those there are"
        ],
    ),
    (
        "forces/f",
        {"coordinate": "q", "value": 1, "zz": 1},
        [".zz: found the unknown key 'zz'; known: " + ELASTIC],
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "words"), READING, ids=[f"{k}-{case[0]}" for k, case in enumerate(READING)]
)
def test_invalid_files_are_refused_on_reading(path: str, value: object, words: list[str]):
    """The first ones that are told of a table; what follows from them comes later."""
    assert said(changed(path, value), within(path))[: len(words)] == words


def test_keys_map_to_models():
    """Of a table anywhere in the format, through lists and kinds."""
    names = {path: getattr(model_at(path), "__name__", None) for path in (
        ("bodies", "a"), ("bodies", "a", "shape"), ("joints", "j", "transforms", 0), ("stages", 1, "ends"), ("forces", "f", "line", "between", 0),
        ("run", "tolerances"), ("bodies",), ("gravity",), (),
    )}  # fmt: skip
    assert list(names.values()) == [
        "Body",
        "Shape",
        "Transform",
        "Ends",
        "Point",
        "Tolerances",
        None,
        None,
        "Description",
    ]
    assert plain_path(("forces", "f", "line", "between", 0)) == (
        "forces",
        "f",
        "between",
        0,
    ) and plain_path(("forces", "f", "at")) == (
        "forces",
        "f",
        "at",
    )


def test_overrides_accept_numbers_with_units():
    """A number, a number with a unit, a numpy number; of a table its unit stays. Names are known, the generator's own too."""
    d = PLANT | {"parameters": {"p": {"value": 5, "unit": "mm"}, "k": 2.0}}
    assert (
        describe(d, p=0.3, k=np.float64(4)).parameters["p"].value == 0.3
        and describe(d, k=np.float64(4)).parameters["k"].value == 4.0
    )
    assert describe(d, p={"value": 7, "unit": "cm"}).parameters["p"].value == pytest.approx(0.07)
    for given, words in (
        ({"q": 1}, "found override of the unknown parameter 'q'; known: p, k"),
        ({"k": "x y"}, None),
        ({"k": []}, "parameters.k: found override [], expected a number or an expression"),
    ):
        with pytest.raises(ModelError) as error:
            describe(d, **given)  # type: ignore[arg-type]
        assert words is None or str(error.value) == words
    with pytest.raises(
        ModelError, match="override of the unknown parameter 'q'; no parameters are defined"
    ):
        describe({**PLANT, "parameters": {}}, q=1)


# -- numbers ----------------------------------------------------------------------------------------------------------------------------------
def test_inertia_tensors_rotate():
    """R J Rᵀ: a quarter turn about z changes x and y; a drawn one is the product of matrices, of numbers and of expressions."""
    assert turn((0, 0, 2), math.pi / 2) == pytest.approx(
        np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-15
    )
    R = turn((1, 2, -2), 0.7) @ turn((0, 1, 1), -0.4)
    J = np.array([[3.0, 0.1, -0.2], [0.1, 4.0, 0.3], [-0.2, 0.3, 5.0]])
    told = (3.0, 4.0, 5.0, 0.1, -0.2, 0.3)
    K = R @ J @ R.T
    expected = (K[0, 0], K[1, 1], K[2, 2], K[0, 1], K[0, 2], K[1, 2])
    assert rotated(told, R) == pytest.approx(expected, rel=1e-13)
    assert [
        evaluate_constant(each, {"j": 3.0}) for each in rotated(("j", *told[1:]), R)
    ] == pytest.approx(expected, rel=1e-13)


def test_lookup_tables_are_converted_for_the_kernel():
    """Kind, ends, sizes, place of the data; grids, values, and second derivatives of cubic ones."""
    tables = Tables()
    assert (
        tables.add("a", [0, 1, 3], [5, 6, 7]) == 0
        and tables.add("b", [0, 1], [0, 2, 3], [[1, 2, 3], [4, 5, 6]], extrapolate=True) == 1
    )
    assert tables.add("c", [0, 1, 2], [0, 1, 4], method="spline") == 2 and tables.variables == {
        "a": 1,
        "b": 2,
        "c": 1,
    }
    records, data = tables.arrays()
    assert records.reshape(3, -1).tolist() == [
        [0, 0, 3, 0, 0, 0],
        [0, 1, 2, 3, 6, 0],
        [1, 0, 3, 0, 17, 0],
    ]
    assert data == pytest.approx(
        [0, 1, 3, 5, 6, 7, 0, 1, 0, 2, 3, 1, 2, 3, 4, 5, 6, 0, 1, 2, 0, 1, 4, 2, 2, 2], abs=1e-12
    )
    for x, y, z, words in (
        ([0], [1], None, "x needs two numbers or more"), ([0, 0], [1, 2], None, r"x must increase, found 0 before 0 \(entries 1 and 2\)"),
        ([0, 2, 1], [1, 2, 3], None, r"found 2 before 1 \(entries 2 and 3\)"), ([0, 1], [1, 2, 3], None, "2 values expected, found 3"),
        ([0, 1], [0, 1], [[1, 2]], "2 x 2 values expected, found 1 x 2"), ([0, 1], [0, math.inf], None, "y has an entry that is not a finite number"),
        ([0, 1], [0, "a"], None, "y is not a regular array of numbers"), ([0, 1], [1, 0], [[1, 2], [3, 4]], "y must increase"),
        ([0, 1], [0, 1], [[1, 2, 3, 4]], "2 x 2 values expected, found 1 x 4"),
    ):  # fmt: skip
        with pytest.raises(ExpressionError, match=words):
            tables.add("d", x, y, z)  # type: ignore[arg-type]
    with pytest.raises(ExpressionError, match="table 'a' is defined twice"):
        tables.add("a", [0, 1], [0, 1])


def test_colour_names_convert_to_rgb():
    assert all(rgb(name) == value and rgb(name.upper()) == value for name, value in COLOURS.items())
    assert [
        rgb(each) for each in ("#aBc", "#A1b2C3", "#ab", "#abcd", "#abcdefa", "rosy", "abc")
    ] == [
        "#aabbcc",
        "#a1b2c3",
        None,
        None,
        None,
        None,
        None,
    ]
    assert all(len(value) == 7 and rgb(value) == value for value in COLOURS.values())


def test_number_of_joint_start_values_is_checked():
    """With the order of the coordinates, where there are several."""
    for kind, start, words in (
        ("universal", [0, 0, 0], "3 numbers, expected 2 for a universal joint: angle1 angle2"),
        ("revolute", [0, 0], "2 numbers, expected 1 for a revolute joint"),
        ("free", [0], "1 numbers, expected 7 for a free joint: x y z qw qx qy qz"),
    ):
        assert (
            said(
                changed("joints/jc", {"child": "c", "type": kind, "start": start}),
                "joints.jc.start: found ",
            )[0]
            == words
        )
    assert (
        said(
            changed("joints/jc", {"child": "c", "type": "universal", "speed": [0]}),
            "joints.jc.speed: found ",
        )[0]
        == "1 numbers, expected 2 for a universal joint"
    )


def test_faulty_keys_are_removed_before_checks():
    """The key, the whole list it is in, or the table that lacks it; nothing where there is none."""
    for path, kind, left in (
        (("a", "c", "d"), "type", {"a": {"b": [1, 2], "c": {}}, "x": 3}),
        (("a", "b", 1), "type", {"a": {"c": {"d": 1}}, "x": 3}),
        (("a", "c", "e"), "missing", {"a": {"b": [1, 2]}, "x": 3}),
        (("x",), "type", {"a": {"b": [1, 2], "c": {"d": 1}}}),
        (("x", "y", "z"), "type", {"a": {"b": [1, 2], "c": {"d": 1}}, "x": 3}),
        (("q",), "missing", {"a": {"b": [1, 2], "c": {"d": 1}}, "x": 3}),
    ):
        raw = {"a": {"b": [1, 2], "c": {"d": 1}}, "x": 3}
        leave_out(raw, path, kind)
        assert raw == left, path
