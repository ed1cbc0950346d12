"""Checks of couplings: exactly one kind each, existing bodies, nonzero directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.language.parts.coupling_parts import Coupling

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

KINDS = ("value", "between", "blade", "rolling")


def check_couplings(checker: Checker) -> None:
    for name, coupling in checker.description.couplings.items():
        check_kind(checker, name, coupling)
        check_places(checker, name, coupling)
        check_rolling(checker, name, coupling)


def check_kind(checker: Checker, name: str, coupling: Coupling) -> None:
    path = ("couplings", name)
    given = [key for key in KINDS if getattr(coupling, key) is not None]
    if len(given) != 1 and path not in checker.incomplete:
        checker.complain(path, " and ".join(given) or "none of them", "one of " + ", ".join(KINDS))
    if (coupling.length is None) != (coupling.between is None):
        checker.complain(
            (*path, "length"),
            "length without between" if coupling.between is None else "nothing",
            "between and length together",
        )
    for key in ("point", "on"):
        if key in coupling.model_fields_set and coupling.value is None:
            checker.complain(
                (*path, key),
                key,
                "value beside it",
                f"{name}[1], {name}[2], {name}[3] are its place there",
            )


def check_places(checker: Checker, name: str, coupling: Coupling) -> None:
    path = ("couplings", name)
    checker.known_body((*path, "on"), coupling.on)
    if coupling.point is not None:
        checker.known_body((*path, "point", "body"), coupling.point.body)
        if coupling.point.body == coupling.on:
            checker.complain(
                (*path, "point", "body"),
                f"a point of '{coupling.on}' in its own frame",
                "a point of another body",
            )
    if coupling.between is not None:
        for index, end in enumerate(coupling.between):
            checker.known_body((*path, "between", index, "body"), end.body)
        if coupling.between[0].body == coupling.between[1].body:
            checker.complain((*path, "between"), "two points of one body", "points of two bodies")
        length = checker.number(coupling.length)
        if length is not None and length <= 0.0:
            hint = "a spherical joint holds two points together"
            checker.complain((*path, "length"), f"{length:g}", "a distance above 0", hint)
    if coupling.blade is not None:
        checker.known_body((*path, "blade", "body"), coupling.blade.body)
        checker.known_body((*path, "blade", "on"), coupling.blade.on)
        check_direction(checker, (*path, "blade", "normal"), coupling.blade.normal)


def check_direction(
    checker: Checker, path: tuple[str | int, ...], given: tuple[float | str, ...] | None
) -> None:
    numbers = checker.numbers(given)
    if numbers is not None and given and not any(numbers):
        checker.complain(path, "a direction of length 0", "three numbers that are not all 0")


def check_rolling(checker: Checker, name: str, coupling: Coupling) -> None:
    rolling, path = coupling.rolling, ("couplings", name, "rolling")
    if rolling is None:
        return
    checker.known_body((*path, "body"), rolling.body)
    checker.known_body((*path, "on"), rolling.on)
    if (rolling.radius is None) == (rolling.semiaxes is None):
        checker.complain(path, "both or neither of radius and semiaxes", "one of them")
    if rolling.axis is not None and rolling.radius is None:
        checker.complain((*path, "axis"), "axis", "radius beside it")
    for key, value in (
        ("radius", rolling.radius),
        *((f"semiaxes[{k}]", each) for k, each in enumerate(rolling.semiaxes or ())),
    ):
        number = checker.number(value)
        if number is not None and number <= 0.0:
            checker.complain((*path, key), f"{number:g}", "a length above 0")
    for key in ("axis", "normal"):
        check_direction(checker, (*path, key), getattr(rolling, key))
    if any(isinstance(component, str) for component in rolling.normal):
        checker.complain(
            (*path, "normal"), "an expression", "numbers", "turn the frame of the joint instead"
        )
