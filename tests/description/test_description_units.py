"""Units: numbers are converted where they are read, inside is SI, and what does not fit its quantity is refused."""

import math

import numpy as np
import pytest

from kinetree.fmu.model_description import Facts, write_xml
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import variable_table
from kinetree.models import ModelError, load
from kinetree.models.description.reading.read_source import library_names
from kinetree.models.language.units.dimensions import dimension_of
from kinetree.models.language.units.unit_of_measure import (
    PREFIXED,
    PREFIXES,
    UNITS,
    coherent,
    fits,
    parse_unit,
)


def pendulum(**more) -> dict:
    body = {"mass": 2.0, "com": [0, 0, -0.8], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    joint = {"child": "a", "transforms": [{"rotate": "y", "coordinate": "q", "start": 0.5}]}
    return {
        "format": "kinetree/1",
        "name": "units",
        "bodies": {"a": body},
        "joints": {"j": joint},
    } | more


def test_units_convert_to_coherent_units():
    """SI numbers of a quantity do not depend on the unit they are told in: factor times number in the coherent unit."""
    names = [*UNITS, *(prefix + unit for prefix in PREFIXES for unit in PREFIXED)]
    for text in [
        *names,
        *(f"{a}.{b}2/(h.{a})" for a in ("kN", "mm", "bar") for b in ("deg", "l", "ms")),
    ]:
        plain = parse_unit(coherent(text))
        assert plain.exponents == parse_unit(text).exponents
        assert plain.coherent, text


@pytest.mark.parametrize(
    "unit, factor, offset",
    [
        ("mm", 1e-3, 0),
        ("km/h", 1 / 3.6, 0),
        ("degC", 1, 273.15),
        ("deg", math.pi / 180, 0),
        ("kN/mm", 1e6, 0),
    ],
)
def test_unit_conversions_round_trip(unit, factor, offset):
    values = np.array([-40.0, 0.0, 3.0])
    assert parse_unit(unit).to_si(values) == pytest.approx(values * factor + offset, rel=1e-15)
    assert parse_unit(unit).from_si(parse_unit(unit).to_si(values)) == pytest.approx(
        values, abs=1e-13
    )


def test_mechanism_is_independent_of_units():
    """A description in mm, t, deg, kN/m moves as the one in SI."""
    stiffness = {"coordinate": "q", "stiffness": 30.0}
    plain = load(pendulum(forces={"s": stiffness}, parameters={"c": 0.7})).compile()
    other = pendulum(
        forces={"s": {"coordinate": "q", "stiffness": {"value": 0.03, "unit": "kN.m/rad"}}},
        parameters={"c": 0.7},
    )
    other["bodies"] = {
        "a": {
            "mass": {"value": 2000, "unit": "g"},
            "com": {"value": [0, 0, "-1600/2"], "unit": "mm"},
            "inertia": {"value": [1e5, 1e5, 1e5, 0, 0, 0], "unit": "kg.mm2"},
        }
    }
    other["joints"]["j"]["transforms"][0]["start"] = {"value": 0.5 * 180 / math.pi, "unit": "deg"}
    other["gravity"] = [0, 0, {"value": -981, "unit": "cm/s2"}]
    told = load(other).compile()
    (q, u), (q2, u2) = plain.start(), told.start()
    assert q2 == pytest.approx(q, rel=1e-15)
    assert told.accelerations(0.0, q2, u2) == pytest.approx(
        plain.accelerations(0.0, q, u), rel=1e-14
    )


def test_parameters_are_converted_with_their_bounds_and_overrides_are_in_si():
    d = pendulum(
        parameters={
            "l": {"value": 800, "unit": "mm", "min": "2*50", "max": 1000},
            "twice": {"value": "2*l", "unit": "mm"},
        }
    )
    l, twice = load(d).description.parameters["l"], load(d).description.parameters["twice"]
    assert (l.value, l.min, l.max, l.unit, l.display_unit) == (0.8, 0.1, 1.0, "m", "mm")
    assert (twice.value, twice.unit, twice.display_unit) == (
        "2*l",
        "m",
        "mm",
    )  # an expression over names is in SI itself
    assert load(d, l=0.9).description.parameters["l"].value == 0.9
    assert load(d, l={"value": 90, "unit": "cm"}).description.parameters[
        "l"
    ].value == pytest.approx(0.9, rel=1e-15)
    with pytest.raises(ModelError, match="900"):
        load(d, l=900)  # metres: above the bound


def test_number_of_copies_uses_converted_parameters():
    d = pendulum(
        parameters={
            "n": {"value": 300, "unit": "%"},
            "p{i}": {"value": "{i}", "unit": "cm", "copies": "n"},
        }
    )
    found = load(d).description.parameters
    assert [found[f"p{i}"].value for i in (1, 2, 3)] == [0.01, 0.02, 0.03]


WRONG = [
    ({"outputs": {"o": {"quantity": "position", "body": "a", "unit": "kg"}}}, "outputs.o.unit"),
    (
        {"outputs": {"o": {"quantity": "angular_velocity", "body": "a", "unit": "Hz"}}},
        "outputs.o.unit",
    ),
    ({"outputs": {"o": {"quantity": "energy", "unit": "W"}}}, "outputs.o.unit"),
    (
        {"outputs": {"o": {"quantity": "reaction", "joint": "j", "part": "moment", "unit": "N/m"}}},
        "outputs.o.unit",
    ),
    (
        {
            "outputs": {
                "o": {
                    "quantity": "reaction",
                    "joint": "j",
                    "part": "moment",
                    "axis": "y",
                    "unit": "N",
                }
            }
        },
        "outputs.o.unit",
    ),
    (
        {
            "outputs": {
                "o": {
                    "quantity": "reaction",
                    "joint": "j",
                    "part": "force",
                    "axis": "y",
                    "unit": "N.m",
                }
            }
        },
        "outputs.o.unit",
    ),
    (
        {
            "outputs": {"o": {"quantity": "force", "force": "s", "unit": "N/mm"}},
            "forces": {"s": {"coordinate": "q", "stiffness": 1}},
        },
        "outputs.o.unit",
    ),
    (
        {"outputs": {"o": {"value": "w*w", "unit": "m"}}, "inputs": {"w": {"unit": "m"}}},
        "outputs.o.value",
    ),
    (
        {
            "parameters": {"m": {"value": 1, "unit": "mm"}},
            "forces": {"s": {"coordinate": "q", "value": "m"}},
        },
        "forces.s.value",
    ),
    (
        {
            "parameters": {"k": {"value": 1, "unit": "N/m"}},
            "forces": {"s": {"coordinate": "q", "stiffness": "k"}},
        },
        "forces.s.stiffness",
    ),
    (
        {
            "parameters": {
                "m": {"value": 1, "unit": "mm"},
                "k": {"value": 1, "unit": "s"},
                "n": "m + k",
            }
        },
        "parameters.n.value",
    ),
    (
        {"parameters": {"m": {"value": 1, "unit": "mm"}, "k": {"value": "sin(m)", "unit": "1"}}},
        "parameters.k.value",
    ),
    (
        {"parameters": {"m": {"value": 1, "unit": "mm", "display_unit": "kg"}}},
        "parameters.m.display_unit",
    ),
    ({"gravity": [0, 0, {"value": 1, "unit": "m/s"}]}, "gravity[2]"),
    (
        {"states": {"x": {"rate": "v", "unit": "m"}}, "inputs": {"v": {"unit": "m"}}},
        "states.x.rate",
    ),
]


@pytest.mark.parametrize("more, key", WRONG, ids=[f"{key}-{k}" for k, (_, key) in enumerate(WRONG)])
def test_wrong_dimensions_are_refused(more, key):
    with pytest.raises(ModelError) as error:
        load(pendulum(**more))
    assert [problem.key for problem in error.value.problems] == [key]


@pytest.mark.parametrize(
    "more",
    [
        {"outputs": {"o": {"quantity": "position", "body": "a", "unit": "mm"}}},
        {
            "outputs": {
                "o": {
                    "quantity": "reaction",
                    "joint": "j",
                    "part": "moment",
                    "axis": "y",
                    "unit": "kN.m",
                }
            }
        },
        {
            "outputs": {
                "o": {
                    "quantity": "reaction",
                    "joint": "j",
                    "part": "force",
                    "axis": "y",
                    "unit": "kN",
                }
            }
        },
        {
            "outputs": {"o": {"quantity": "force", "force": "s", "unit": "N.m"}},
            "forces": {"s": {"coordinate": "q", "stiffness": 1}},
        },
        {
            "parameters": {"k": {"value": 1, "unit": "N.m"}},
            "forces": {"s": {"coordinate": "q", "stiffness": "k"}},
        },  # radian left out
        {
            "parameters": {"r": {"value": 1, "unit": "m"}},
            "outputs": {"o": {"value": "r*der(q)", "unit": "m/s"}},
        },
        {
            "parameters": {"r": {"value": 1, "unit": "m"}},
            "outputs": {"o": {"value": "r + 0.1", "unit": "mm"}},
        },  # a number may hide a unit
        {
            "forces": {"s": {"coordinate": "q", "value": "-q*sin(t)"}}
        },  # no unit declared: factors of 1 may be meant
    ],
)
def test_matching_units_are_accepted(more):
    load(pendulum(**more))


def weighed(com: object, **more: object) -> dict:
    found = pendulum(
        parameters={
            "load": {"value": 500, "unit": "kg"},
            "length": {"value": 2, "unit": "m"},
        }
        | more
    )
    found["bodies"]["a"]["com"] = [com, 0, 0]
    return found


@pytest.mark.parametrize(
    "com",
    [
        "load", "load/2", "2*load", "-load/2", "0.37*load", "3*load/4", "load*1", "load/2 + length",
        "length - 0.5*load", "load/length", "load/(2*length)",
    ],
)  # fmt: skip
def test_factor_keeps_the_dimension(com):
    """No quantity takes a mass to a length: whatever literal stands beside it."""
    with pytest.raises(ModelError) as error:
        load(weighed(com))
    assert [problem.key for problem in error.value.problems] == ["bodies.a.com[0]"]


@pytest.mark.parametrize("mass", ["length", "length/2", "-length/2", "3*length"])
def test_length_is_no_mass(mass):
    found = weighed("length/2")
    found["bodies"]["a"]["mass"] = mass
    with pytest.raises(ModelError) as error:
        load(found)
    assert "bodies.a.mass" in [problem.key for problem in error.value.problems]


@pytest.mark.parametrize(
    "value",
    ["load*9.81*length", "2*length", "load*9.81*length/2 - 30*der(q)", "-40*length"],
)
def test_factors_may_hide_what_is_written_without_unit(value):
    """An acceleration, a stiffness, a damping: N.m of a force element on an angle."""
    force = {"F": {"value": "load*9.81", "unit": "N"}}
    load(weighed("length/2", **force) | {"forces": {"s": {"coordinate": "q", "value": value}}})
    profile = weighed("-2*length/3")
    profile["bodies"]["a"]["mass"] = "18.8*length"  # kg/m of a profile
    load(profile)


def test_angle_units_differ_from_numbers():
    assert not fits("Hz", "rad/s") and not fits("rpm", "1/s") and not fits("deg", "1")
    assert (
        fits("rpm", "rad/s")
        and fits("N.m", "N.m/rad")
        and fits("N.m/deg", "N.m/rad")
        and fits("1", "rad")
    )
    assert str(dimension_of("N.m.s/rad")) == "kg.m2/s"


@pytest.mark.parametrize(
    "text, near",
    [
        ("mmm", "mm"),
        ("metre", "m"),
        ("Newton", "N"),
        ("KG", "kg"),
        ("Mpa", "MPa"),
        ("degree", "deg"),
    ],
)
def test_similar_unit_names_are_suggested(text, near):
    with pytest.raises(ModelError, match=f"did you mean '{near}'"):
        load(pendulum(parameters={"a": {"value": 1, "unit": text}}))


def test_library_has_no_clash_of_dimensions():
    """Every mechanism of the library has units on its parameters: the check is strict where they are, and finds nothing there."""
    for name in library_names():
        assert not load(f"lib:{name}").description.warnings, name


def test_display_unit_does_not_change_the_value(tmp_path):
    """The position of the bob in mm: SI in result, files and FMU, mm where it is shown."""
    tip = {"quantity": "position", "body": "a", "axis": "x", "point": [0, 0, -1], "unit": "mm"}
    mechanism = load(
        pendulum(
            outputs={"tip": tip},
            inputs={"w": {"start": 60, "unit": "rpm"}},
            parameters={"T": {"value": 20, "unit": "degC"}},
        )
    )
    result = mechanism.compile().simulate(stop_time=0.1, output_step=0.1)
    assert result["tip"][0] == pytest.approx(-math.sin(0.5), rel=1e-12)
    values, unit = result.shown("tip")
    assert (
        result.unit("tip") == "m"
        and unit == "mm"
        and values == pytest.approx(1e3 * result["tip"], rel=1e-15)
    )
    assert result.table("start")["units"][result.names.index("tip")] == "mm"
    assert "tip\n[mm]" in [axis.get_ylabel() for axis in result.plot(names=["tip"])[0].axes]
    table = variable_table(fmu_unit(mechanism))
    known = {v.name: v for v in table.variables}
    assert (known["tip"].unit, known["tip"].display_unit) == ("m", "mm")
    assert (known["w"].start, known["w"].unit, known["w"].display_unit) == (
        pytest.approx(2 * math.pi),
        "rad/s",
        "rpm",
    )
    for fmi in (2, 3):
        text = write_xml(table, Facts("u", "u", "{0}"), fmi).decode()
        assert '<DisplayUnit name="mm" factor="1000.0" />' in text and 'displayUnit="mm"' in text
        assert '<DisplayUnit name="degC" factor="1.0" offset="-273.15" />' in text


SLIDE = {
    "bodies": {"b": {"mass": 2.0}},
    "parameters": {
        "way": {"value": 1, "unit": "m"},
        "angle": {"value": 1, "unit": "rad"},
        "k": 3.0,
    },
    "joints": {"j": {"child": "b", "type": "prismatic", "coordinates": ["s"]}},
    "actuators": {"push": {"coordinate": "s"}},
}


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            {"events": {"e": {"when": "t > 1", "set": {"der(s)": "way"}}}},
            "events.e.set.der(s): found 'way' in m, expected a value in m/s",
        ),
        (
            {"events": {"e": {"when": "t > 1", "set": {"s": {"value": 3, "unit": "kg"}}}}},
            "events.e.set.s: found the unit 'kg', expected a unit of m",
        ),
        (
            {"stages": [{"ends": {"at": 1}, "set": {"way": "angle"}}, {}]},
            "stages[0].set.way: found 'angle' in 1, expected a value in m",
        ),
        (
            {"run": {"prepare": [{"set": {"way": "angle"}}]}},
            "run.prepare[0].set.way: found 'angle' in 1, expected a value in m",
        ),
        (
            {"outputs": {"o": {"value": "way + push.force"}}},
            "outputs.o.value: found 'way + push.force', expected values of one dimension",
        ),
    ],
)
def test_event_assignments_and_actuators_have_units(extra: dict, message: str):
    with pytest.raises(ModelError) as error:
        load(SLIDE | extra)
    assert message in str(error.value)


def test_numbers_without_unit_match_any_unit():
    load(
        SLIDE
        | {
            "events": {"e": {"when": "t > 1", "set": {"der(s)": "-0.5*der(s)"}}},
            "stages": [{"ends": {"at": 1}, "set": {"k": "angle"}}, {}],
        }
    )
    load(
        SLIDE
        | {"events": {"e": {"when": "t > 1", "set": {"der(s)": "way*k", "s": "way + push.length"}}}}
    )
