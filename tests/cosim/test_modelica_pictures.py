"""Where the connectors of Modelica classes stand in their icons, and what connectors look like: of the package Kinetree and of written models."""

import re
from typing import Any

import pytest
from modelica_package import FILES

from kinetree.fmu.external.package import package_text
from kinetree.fmu.modelica import wrapper_text
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load

CLASS = re.compile(r"^  (connector|model|block|package) (\w+).*?^  end \2;", re.M | re.S)
PORT = re.compile(
    r"^\s+(\S*(?:RealInput|RealOutput|OilPort|DrivePort|ActuatorPort|Flange_b)) (\w+)(.*)$", re.M
)
EXTENT = re.compile(r"Placement\(transformation\(extent ?= ?(\{\{.*?\}\})\)\)")
CLASSES = {
    f"{package}.{found[2]}": (found[1], found[0])
    for package, text in FILES.items()
    for found in CLASS.finditer(text)
}


def places(text: str) -> list[str]:
    """Extents of all connectors of a class."""
    found = [(each[2], EXTENT.search(each[3])) for each in PORT.finditer(text)]
    assert all(extent for _, extent in found), [name for name, extent in found if not extent]
    return [extent[1].replace(" ", "") for _, extent in found if extent]


@pytest.mark.parametrize("name", CLASSES)
def test_every_modelica_class_has_a_drawable_icon(name):
    """An icon each; connectors in places of their own."""
    kind, text = CLASSES[name]
    assert "annotation(Icon(" in text
    if kind != "connector":
        found = places(text)
        assert len(set(found)) == len(found)


def boom(chambers: bool) -> dict[str, Any]:
    actuator: dict[str, Any] = {
        "between": [{"body": "arm", "point": [1, 0, 0]}, {"body": "ground", "point": [0.5, -1, 0]}]
    }
    if chambers:
        actuator["chambers"] = {
            "area_a": 5e-3, "area_b": 3e-3, "shortest": 0.5, "longest": 2.5, "volume_a": 1e-3, "volume_b": 1e-3, "bulk_modulus": 1.4e9,
        }  # fmt: skip
    return {
        "format": "kinetree/1",
        "name": "boom",
        "parameters": {"flow": 2.0},
        "inputs": {"wind": {"start": 0.0}, "load": {"start": 0.0}},
        "bodies": {"arm": {"mass": "flow", "com": [1, 0, 0], "inertia": [0, 1, 1, 0, 0, 0]}},
        "joints": {"pin": {"child": "arm", "transforms": [{"rotate": "z", "coordinate": "luff"}]}},
        "forces": {"push": {"coordinate": "luff", "value": "wind + load"}},
        "actuators": {"lift": actuator},
    }


@pytest.mark.parametrize("chambers", [False, True])
def test_connectors_of_written_models_do_not_overlap(chambers):
    """Signals, and both sides of a cylinder; what the block calls otherwise is given to it by that name."""
    unit = fmu_unit(load(boom(chambers)))
    wrapper = wrapper_text(unit, "Boom", "boom_me_FMU", {"lift": 1.0})
    package = package_text(unit, "Made", "{token}")
    styles = [
        package.split(f"  model {name} ")[1].split("equation")[0] for name in ("Exchange", "Steps")
    ]
    for text in (wrapper.split("equation")[0], *styles):
        found = places(text)
        assert len(set(found)) == len(found) >= 3 + (2 if chambers else 1)
    assert re.search(r"fmu\(\s*flow_ = flow_\)", wrapper)
