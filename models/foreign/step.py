"""STEP parts as descriptions: one body per solid, with holes and pins as candidates for joints.

Masses are expressions over the parameter `density`, which is tunable in FMUs. gmsh computes
volumes, centres and moments from the exact surfaces; the description itself needs gmsh only for
display.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.description.step_files import Cylinder, StepSolid, read_step
from kinetree.models.description.surfaces import NoReader, need_reader
from kinetree.models.foreign.robot import Sheet, numbers, refused
from kinetree.models.library.argument_checks import Argument

STEEL = 7850.0  # kg/m3
ARGUMENTS = {"density": Argument("of all solids", 0, None, unit="kg/m3")}
SIZE_ROUNDING = 1e-12  # of the size of a solid: less is 0
SAME_AXIS = 1e-4  # of a radius, and rad: a pin in a hole
refuse = partial(refused, kind="a part in STEP")


def describe(
    path: Path, density: float = STEEL, pin: int | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the description of the solids in a file, and lists of what was left out, assumed and
    proposed.
    """
    try:
        need_reader(path)
        file = read_step(path)
    except NoReader as error:
        raise refuse(str(path), str(error)) from None
    except ValueError as error:
        raise refuse(str(path), str(error)) from None
    if not density > 0.0:
        raise refuse(str(path), f"a density of {density:g} kg/m3", hint="more than 0")
    sheet = Sheet(path.stem, path.name)
    holes: list[tuple[str, Cylinder]] = []
    names: list[str] = []
    for number, solid in enumerate(file.solids, 1):
        name = solid.name
        if not name or "Open CASCADE" in name:
            name = path.stem + (str(number) if len(file.solids) > 1 else "")
        names.append(sheet.fresh(name.replace(" ", "_"), "body", sheet.bodies))
        sheet.bodies[names[-1]] = _body(path, solid, number if len(file.solids) > 1 else None)
        holes += [(names[-1], each) for each in solid.cylinders]
    if pin is not None and not 1 <= pin <= len(holes):
        raise refuse(str(path), f"the hole {pin}", hint=f"1 to {len(holes)}: they are listed")
    for name in names:
        if pin is not None and holes[pin - 1][0] == name:
            sheet.joints["pin"] = _hinge(name, holes[pin - 1][1])
        else:
            joint = sheet.fresh(f"{name}_free", "joint", sheet.joints)
            sheet.joints[joint] = {"child": name, "type": "free"}
    whole = sheet.description()
    given = {"value": density, "unit": "kg/m3", "tunable": True, "text": "Of all solids"}
    told = [*file.left_out, *sheet.left_out]
    if density == STEEL:
        told.append("assumed: a density of 7850 kg/m3, that of steel")
    if len(sheet.joints) > (pin is not None):
        told.append("assumed: solids move freely that no joint holds")
    told += _offers(holes)
    first = {key: whole[key] for key in ("format", "name", "text", "gravity")}
    return first | {"parameters": {"density": given}} | whole, told


def _body(path: Path, solid: StepSolid, number: int | None) -> dict[str, Any]:
    J = np.trace(solid.second) * np.eye(3) - solid.second
    J[abs(J) < SIZE_ROUNDING * abs(J).max()] = 0.0
    com = np.where(abs(solid.com) < SIZE_ROUNDING * np.cbrt(solid.volume), 0.0, solid.com)
    moments = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    shape: dict[str, Any] = {"mesh": str(path.resolve())}
    return {
        "mass": f"density*{solid.volume!r}",
        "com": numbers(com),
        "inertia": [f"density*({float(each)!r})" for each in moments],
        "shapes": [shape | ({"solid": number} if number else {})],
    }


def _hinge(body: str, hole: Cylinder, parent: str = "") -> dict[str, Any]:
    """Return a revolute joint about the axis of a hole, at the solid's pose in the file."""
    begin = {"parent": parent} if parent else {}
    place = {"at": list(hole.at), "child_at": list(hole.at), "axis": list(hole.axis)}
    return begin | {"child": body, "type": "revolute"} | place


def _offers(holes: list[tuple[str, Cylinder]]) -> list[str]:
    """Return a sentence for every hole and pin, and for every coaxial pair of them."""
    from kinetree.models.foreign.toml_text import value

    told = []
    for number, (name, each) in enumerate(holes, 1):
        what = "hole" if each.hole else "pin"
        told.append(
            f"offered: {number}, a {what} of '{name}' with the radius {each.radius:.6g} m, "
            f"{each.length:.6g} m long: {value(_hinge(name, each))}"
        )
    for k, (name, one) in enumerate(holes):
        for other, two in holes[k + 1 :]:
            if name != other and _coaxial(one, two):
                told.append(
                    f"offered: '{name}' and '{other}' about one axis: "
                    f"{value(_hinge(other, one, name))}"
                )
    return told


def _coaxial(one: Cylinder, two: Cylinder) -> bool:
    """Return whether two cylinders share an axis and overlap along it."""
    a, b = np.array(one.axis), np.array(two.axis)
    apart = np.array(two.at) - np.array(one.at)
    along = float(apart @ a)
    return (
        float(np.linalg.norm(np.cross(a, b))) < SAME_AXIS
        and float(np.linalg.norm(apart - along * a)) < SAME_AXIS * max(one.radius, two.radius)
        and abs(along) <= (one.length + two.length) / 2.0 * (1.0 + SAME_AXIS)
    )
