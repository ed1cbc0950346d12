"""Hydraulic circuits: places that are there, numbers that can be, keys that belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kinetree.models.description.elements_check import Path, check_between, check_coordinate, check_signs
from kinetree.models.description.errors import shown, suggestion
from kinetree.models.description.hydraulic_parts import (
    AccumulatorElement,
    DoubleCylinder,
    Hydraulic,
    MotorElement,
    OrificeElement,
    SourcePlace,
    ValveElement,
    VolumePlace,
)

if TYPE_CHECKING:
    from kinetree.models.description.checks import Checker

POSITIVE = (
    "volume", "bulk_modulus", "wall", "gas", "precharge", "exponent", "rated_flow", "rated_drop", "laminar", "area", "discharge", "density", "gain",
    "range", "limit", "time_constant", "rate", "frequency", "damping", "area_a", "displacement", "speed",
)  # fmt: skip
PAIRS: tuple[tuple[str, ...], ...] = (("supply", "tank"), ("a", "b"), ("at",))


def check_hydraulics(checker: Checker) -> None:
    for name, element in checker.description.hydraulics.items():
        check_element(checker, ("hydraulics", name), element)


def check_element(checker: Checker, path: Path, element: Hydraulic) -> None:
    """One place or element."""
    check_signs(checker, path, element, POSITIVE)
    for pair in PAIRS:
        places = [(key, getattr(element, key)) for key in pair if hasattr(element, key)]
        for key, place in places:
            check_place(checker, (*path, key), place)
        if len({place for _, place in places}) < len(places):
            checker.complain(path, f"{pair[0]} and {pair[1]} at the same place {shown(places[0][1])}", "two different places")
    ends: list[str] = list(getattr(element, "path", ()))
    for index, place in enumerate(ends):
        check_place(checker, (*path, "path", index), place)
    if len(set(ends)) < len(ends):
        checker.complain((*path, "path"), f"{shown(ends[0])} twice", "two different places")
    CHECKS.get(element.kind, lambda *_: None)(checker, path, element)


def check_place(checker: Checker, path: Path, name: str) -> None:
    """A source or a volume of the circuit."""
    elements = checker.description.hydraulics
    places = [each for each, element in elements.items() if isinstance(element, SourcePlace | VolumePlace)]
    if name in elements and name not in places:
        checker.complain(path, f"'{name}', which is of kind {elements[name].kind}", "a source or a volume")
    elif name not in places and checker.whole("hydraulics"):
        checker.complain(path, f"the unknown place {shown(name)}", hint=suggestion(name, places))


def check_pressure(checker: Checker, path: Path, element: SourcePlace | VolumePlace) -> None:
    """Absolute pressures are not negative."""
    key = "start" if isinstance(element, VolumePlace) else "pressure"
    value = checker.number(getattr(element, key))
    if value is not None and value < 0.0:
        checker.complain((*path, key), f"{value:g}", "an absolute pressure, 0 or more")


def check_accumulator(checker: Checker, path: Path, element: AccumulatorElement) -> None:
    if isinstance(checker.description.hydraulics.get(element.at), SourcePlace):
        checker.complain((*path, "at"), f"'{element.at}', whose pressure is given", "a volume")


def check_orifice(checker: Checker, path: Path, element: OrificeElement) -> None:
    if (element.rated_flow is None) == (element.area is None):
        checker.complain(path, "both or neither of rated_flow and area", "one of them")


def check_valve(checker: Checker, path: Path, valve: ValveElement) -> None:
    """Size, dynamics and pressures of a four-way valve."""
    if valve.rated_flow is None:
        checker.complain((*path, "rated_flow"), "nothing", "the flow fully open")
    if valve.time_constant is not None and valve.frequency is not None:
        checker.complain(path, "time_constant and frequency", "one of them")
    if valve.rate is not None and valve.time_constant is None:
        checker.complain((*path, "rate"), "a rate", "time_constant too: the rate limits a spool of first order")
    for key, low, high in (("overlap", -1.0, 1.0), ("open_edges", 0.0, 1.0), ("start", -1.0, 1.0)):
        value = checker.number(getattr(valve, key))
        if value is not None and not low <= value <= high:
            checker.complain((*path, key), f"{value:g}", f"a part of the stroke, {low:g} to {high:g}")
    pressures = [
        checker.number(each.pressure) if isinstance(each := checker.description.hydraulics.get(place), SourcePlace) else None
        for place in (valve.supply, valve.tank)
    ]
    if pressures[0] is not None and pressures[1] is not None and pressures[0] <= pressures[1]:
        checker.complain(
            (*path, "supply"), f"'{valve.supply}' at {pressures[0]:g} Pa", f"a pressure above that of '{valve.tank}', {pressures[1]:g} Pa"
        )


def check_cylinder(checker: Checker, path: Path, cylinder: DoubleCylinder) -> None:
    given = {key for key in ("length", "rate") if getattr(cylinder, key) is not None}
    if (cylinder.between is None) != (given == {"length", "rate"}) or (cylinder.between is not None and given):
        checker.complain(path, "neither or too much of between, length and rate", "between, or length with rate")
    check_between(checker, path, cylinder.between)
    low, high = checker.number(cylinder.shortest), checker.number(cylinder.longest)
    if low is not None and high is not None and high <= low:
        checker.complain((*path, "longest"), f"{high:g}", f"a number above shortest, {low:g}")


def check_motor(checker: Checker, path: Path, motor: MotorElement) -> None:
    if (motor.coordinate is None) == (motor.rate is None):
        checker.complain(path, "both or neither of coordinate and rate", "one of them")
    check_coordinate(checker, (*path, "coordinate"), motor.coordinate)


CHECKS: dict[str, Callable[[Checker, Path, Any], None]] = {
    "source": check_pressure,
    "volume": check_pressure,
    "accumulator": check_accumulator,
    "orifice": check_orifice,
    "valve": check_valve,
    "cylinder": check_cylinder,
    "motor": check_motor,
}
