"""Checks of hydraulic circuits: existing nodes, admissible values, keys that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.checks.elements_check import check_signs
from kinetree.models.hydraulics.kinds import KINDS, Hydraulic
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.errors import shown, suggestion

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

POSITIVE = (
    "volume", "bulk_modulus", "wall", "gas", "precharge", "exponent", "rated_flow", "rated_drop", "laminar", "area", "discharge", "density", "gain",
    "range", "limit", "time_constant", "rate", "frequency", "damping", "area_a", "displacement", "speed",
)  # fmt: skip
NOT_NEGATIVE = ("area_b", "air", "leakage", "coulomb", "viscous", "end_stiffness", "end_damping")
PAIRS: tuple[tuple[str, ...], ...] = (("supply", "tank"), ("a", "b"), ("at",))


def check_hydraulics(checker: Checker) -> None:
    for name, element in checker.description.hydraulics.items():
        check_element(checker, ("hydraulics", name), element)


def check_element(checker: Checker, path: Path, element: Hydraulic) -> None:
    """Check one node or component of a circuit."""
    check_signs(checker, path, element, POSITIVE, NOT_NEGATIVE)
    for pair in PAIRS:
        places = [(key, getattr(element, key)) for key in pair if hasattr(element, key)]
        for key, place in places:
            check_place(checker, (*path, key), place)
        if len({place for _, place in places}) < len(places):
            checker.complain(
                path,
                f"{pair[0]} and {pair[1]} at the same place {shown(places[0][1])}",
                "two different places",
            )
    ends: list[str] = list(getattr(element, "path", ()))
    for index, place in enumerate(ends):
        check_place(checker, (*path, "path", index), place)
    if len(set(ends)) < len(ends):
        checker.complain((*path, "path"), f"{shown(ends[0])} twice", "two different places")
    check = KINDS[element.kind].check
    if check is not None:
        check(checker, path, element)


def check_place(checker: Checker, path: Path, name: str) -> None:
    """Report a reference to a node that is neither a source nor a volume of the circuit."""
    elements = checker.description.hydraulics
    places = [each for each, element in elements.items() if KINDS[element.kind].place]
    if name in elements and name not in places:
        checker.complain(
            path, f"'{name}', which is of kind {elements[name].kind}", "a source or a volume"
        )
    elif name not in places and checker.whole("hydraulics"):
        checker.complain(path, f"the unknown place {shown(name)}", hint=suggestion(name, places))
