"""Beams that make no sense are refused where they are written."""

from copy import deepcopy
from typing import Any

import pytest

from kinetree.models import ModelError, load

GOOD: dict[str, Any] = {
    "format": "kinetree/1",
    "materials": {
        "steel": {"density": 7850.0, "youngs_modulus": 2.1e11},
        "water": {"density": 1000.0},
    },
    "beams": {"b": {"length": 3.0, "section": {"tube": [0.05, 0.045]}, "material": "steel"}},
    "joints": {"root": {"child": "b", "type": "rigid"}},
    "outputs": {"sag": {"quantity": "deflection", "beam": "b", "station": 3.0, "axis": "z"}},
}
NUMBERS = {"area": 1.0, "iy": 1.0, "iz": 1.0, "j": 1.0}
CASES: dict[str, tuple[tuple[str, ...], Any, str]] = {
    "length": (("beams", "b", "length"), -1.0, "beams.b.length"),
    "material": (("beams", "b", "material"), "stee", "steel"),
    "no modulus": (("beams", "b", "material"), "water", "youngs_modulus"),
    "hollow": (("beams", "b", "section"), {"tube": [0.04, 0.045]}, "beams.b.section"),
    "thick": (("beams", "b", "section"), {"box": [0.1, 0.05, 0.03]}, "beams.b.section"),
    "two forms": (("beams", "b", "section"), {"tube": [1, 0], "rectangle": [1, 1]}, "section"),
    "half numbers": (("beams", "b", "section"), {"area": 1.0, "iy": 1.0}, "area, iy, iz, j"),
    "mixed taper": (
        ("beams", "b", "section"),
        [[0.0, {"tube": [0.05, 0.04]}], [3.0, {"rectangle": [0.1, 0.1]}]],
        "one form",
    ),
    "descending": (
        ("beams", "b", "section"),
        [[3.0, {"tube": [0.05, 0.04]}], [0.0, {"tube": [0.04, 0.03]}]],
        "ascending",
    ),
    "shear of numbers": (
        ("beams", "b"),
        {"length": 3.0, "section": NUMBERS, "material": "steel", "shear": True},
        "shear_area",
    ),
    "damping": (("beams", "b", "damping"), 1.5, "beams.b.damping"),
    "body too": (("bodies",), {"b": {"mass": 1.0}}, "already a body"),
    "station beyond": (("outputs", "sag", "station"), 3.5, "outputs.sag.station"),
    "no station": (("outputs", "sag"), {"quantity": "deflection", "beam": "b"}, "station"),
    "unknown beam": (("outputs", "sag", "beam"), "c", "outputs.sag.beam"),
    "no component": (
        ("outputs", "sag"),
        {"quantity": "section_load", "beam": "b", "station": 0.0},
        "vy",
    ),
    "station of a body": (
        ("forces",),
        {"f": {"kind": "wrench", "body": "ground", "station": 1.0}},
        "station",
    ),
    "expression": (("beams", "b", "length"), "3*u", "'u'"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_beam_is_refused_by_name(case: str):
    path, value, told = CASES[case]
    d = deepcopy(GOOD)
    table = d
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    with pytest.raises(ModelError) as refused:
        load(d)
    assert told in str(refused.value)
    assert ".piece" not in str(refused.value)


def test_stress_of_section_without_shape_is_refused():
    d = deepcopy(GOOD)
    d["beams"]["b"]["section"] = NUMBERS
    d["outputs"]["s"] = {"quantity": "stress", "beam": "b", "station": 0.0}
    with pytest.raises(ModelError) as refused:
        load(d)
    assert "outputs.s" in str(refused.value)
