"""Units and texts of the coordinates and speeds of joints."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import JointSpec
from kinetree.models.joints.elements import JointForm
from kinetree.models.joints.moves import MOVES

RATES = {"m": "m/s", "m/s": "m/s2", "rad": "rad/s", "rad/s": "rad/s2", "1": "1/s"}


Units = dict[str, tuple[str, str]]


def joint_units(joints: Mapping[str, JointSpec], seen: dict[int, Units] | None = None) -> Units:
    """Unit and text of all coordinates and speeds; `seen` remembers joints that several stages share."""
    found: Units = {}
    seen = {} if seen is None else seen
    for joint, spec in joints.items():
        if id(spec) not in seen:
            form = joint_elements(spec, joint)
            units = form_units(form)
            seen[id(spec)] = {name: (units[name], f"coordinate of joint {joint}") for name in form.coordinates}
            seen[id(spec)] |= {name: (units[name], f"speed of joint {joint}") for name in form.speeds}
        found |= seen[id(spec)]
    return found


def form_units(form: JointForm) -> dict[str, str]:
    """Units of the coordinates and speeds of one joint."""
    found: dict[str, str] = {}
    for element in reversed(form.elements):  # the first element that moves with a coordinate gives its unit
        if element.coordinate is not None:
            move, k = MOVES[element.kind], element.coordinate
            found |= dict(zip(form.coordinates[k:], move.units, strict=False)) | dict(zip(form.speeds[k:], move.speed_units, strict=False))
    return {name: found[name] for name in (*form.coordinates, *form.speeds)}


def drive_units(joints: Mapping[str, JointSpec], coordinate: str | None) -> tuple[str, str, str]:
    """Units of what drives a coordinate, or a length (None): of the force, of its way, and of the force per acceleration."""
    way = "m"
    if coordinate is not None:
        way = next((units[coordinate] for name, joint in joints.items() if coordinate in (units := form_units(joint_elements(joint, name)))), "rad")
    return driving(way)


def driving(way: str) -> tuple[str, str, str]:
    """Units of force, way and force per acceleration where the way has a unit."""
    return {"m": ("N", "m", "kg"), "rad": ("N.m", "rad", "kg.m2")}.get(way, ("J", way, "kg.m2"))


def rate_unit(unit: str) -> str:
    """The unit of a time derivative; empty where the unit is unknown."""
    if not unit or unit in RATES:
        return RATES.get(unit, "")
    above, slash, below = unit.partition("/")
    return f"{above}/({below.strip('()')}.s)" if slash else f"{unit}/s"
