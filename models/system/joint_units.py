"""Units and texts of the coordinates and speeds of joints."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import JointSpec
from kinetree.solvers.layout import Element

RATES = {"m": "m/s", "m/s": "m/s2", "rad": "rad/s", "rad/s": "rad/s2", "1": "1/s"}


def joint_units(joints: Mapping[str, JointSpec]) -> dict[str, tuple[str, str]]:
    """Unit and text of all coordinates and speeds."""
    found: dict[str, tuple[str, str]] = {}
    for joint, spec in joints.items():
        form = joint_elements(spec, joint)
        count = len(form.coordinates)
        if form.quaternion:
            places = ["m"] * (count - 4) + ["1"] * 4
            rates = ["m/s"] * (len(form.speeds) - 3) + ["rad/s"] * 3
        else:
            kinds = {e.coordinate: e.kind for e in reversed(form.elements)}  # the first element that moves with a coordinate gives its unit
            places = ["rad" if kinds.get(k) == Element.ROTATE_Q else "m" for k in range(count)]
            rates = [RATES[place] for place in places]
        found |= {name: (place, f"coordinate of joint {joint}") for name, place in zip(form.coordinates, places, strict=True)}
        found |= {name: (rate, f"speed of joint {joint}") for name, rate in zip(form.speeds, rates, strict=True)}
    return found


def rate_unit(unit: str) -> str:
    """The unit of a time derivative; empty where the unit is unknown."""
    if not unit or unit in RATES:
        return RATES.get(unit, "")
    above, slash, below = unit.partition("/")
    return f"{above}/({below.strip('()')}.s)" if slash else f"{unit}/s"
