"""Units and descriptions of the coordinates and speeds of joints."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import JointSpec
from kinetree.models.joints.elements import JointForm
from kinetree.models.joints.moves import MOVES

RATES = {"m": "m/s", "m/s": "m/s2", "rad": "rad/s", "rad/s": "rad/s2", "1": "1/s"}


Units = dict[str, tuple[str, str]]


def joint_units(joints: Mapping[str, JointSpec], seen: dict[int, Units] | None = None) -> Units:
    """Return unit and description of all coordinates and speeds; `seen` caches joints shared by
    stages.
    """
    found: Units = {}
    seen = {} if seen is None else seen
    for joint, spec in joints.items():
        if id(spec) not in seen:
            form = joint_elements(spec, joint)
            units = form_units(form)
            seen[id(spec)] = {
                name: (units[name], f"coordinate of joint {joint}") for name in form.coordinates
            }
            seen[id(spec)] |= {
                name: (units[name], f"speed of joint {joint}") for name in form.speeds
            }
        found |= seen[id(spec)]
    return found


def form_units(form: JointForm) -> dict[str, str]:
    """Return the units of the coordinates and speeds of one joint."""
    found: dict[str, str] = {}
    for element in reversed(
        form.elements
    ):  # the first element that moves with a coordinate gives its unit
        if element.coordinate is not None:
            move, k = MOVES[element.kind], element.coordinate
            found |= dict(zip(form.coordinates[k:], move.units, strict=False)) | dict(
                zip(form.speeds[k:], move.speed_units, strict=False)
            )
    return {name: found[name] for name in (*form.coordinates, *form.speeds)}


def way_driven(joints: Mapping[str, JointSpec], coordinate: str | None) -> str:
    """Return the unit of a driven coordinate, or m for a length (None)."""
    return "m" if coordinate is None else joint_units(joints).get(coordinate, ("rad", ""))[0]


def actuator_units(way: str) -> dict[str, str]:
    """Return the units of an actuator's variables from the unit `way` of its displacement."""
    force, mass = {"m": ("N", "kg"), "rad": ("N.m", "kg.m2")}.get(way, ("J", "kg.m2"))
    told = {"force": force, "stiffness": f"{force}/{way}", "damping": f"{force}.s/{way}"}
    return told | {
        "length": way,
        "speed": f"{way}/s",
        "acceleration": f"{way}/s2",
        "mean_speed": f"{way}/s",
        "effective_mass": mass,
    }


def rate_unit(unit: str) -> str:
    """Return the unit of a time derivative; empty where the unit is unknown."""
    if not unit or unit in RATES:
        return RATES.get(unit, "")
    above, slash, below = unit.partition("/")
    return f"{above}/({below.strip('()')}.s)" if slash else f"{unit}/s"
