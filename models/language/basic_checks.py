"""Checks shared by tables of every kind: signs, order, references to coordinates and bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.graph.tree import GROUND
from kinetree.models.language.parts.base_table import Part, Point

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.language.parts.value_parts import Input, Parameter

Path = tuple[str | int, ...]


def check_absolute(checker: Checker, path: Path, pressure: Any) -> None:
    """Report a negative absolute pressure."""
    value = checker.number(pressure)
    if value is not None and value < 0.0:
        checker.complain(path, f"{value:g}", "an absolute pressure, 0 or more")


def check_signs(
    checker: Checker,
    path: Path,
    part: Part,
    positive: tuple[str, ...],
    not_negative: tuple[str, ...] = (),
) -> None:
    """Report values that must be positive, or must not be negative."""
    for key in (*positive, *not_negative):
        value = getattr(part, key, None)
        number = checker.number(value) if isinstance(value, (float, str)) else None
        if number is not None and (number < 0.0 or (number == 0.0 and key in positive)):
            checker.complain(
                (*path, key), f"{number:g}", "a number > 0" if key in positive else "0 or more"
            )


def check_order(checker: Checker, path: Path, part: Part, lower: str, upper: str) -> None:
    low, high = checker.number(getattr(part, lower)), checker.number(getattr(part, upper))
    if low is not None and high is not None and high < low:
        checker.complain((*path, upper), f"{high:g}", f"a number above {lower}, {low:g}")


def check_bounds(
    checker: Checker, path: Path, bounded: Parameter | Input, value: float | None
) -> None:
    """Report a parameter or input value outside its bounds."""
    low, high = checker.number(bounded.min), checker.number(bounded.max)
    if value is None or not (
        (low is not None and value < low) or (high is not None and value > high)
    ):
        return
    bounds = ((">=", low, bounded.min), ("<=", high, bounded.max))
    named = (
        (sign, limit, f" ({text})" if isinstance(text, str) else "")
        for sign, limit, text in bounds
        if limit is not None
    )
    checker.complain(
        path,
        f"{value:g}",
        "a number " + " and ".join(f"{sign} {limit:g}{text}" for sign, limit, text in named),
    )


def check_set(checker: Checker, path: Path, values: Mapping[str, float | str]) -> None:
    """Check the bounds of constant values that stages, events or preparations assign to parameters."""
    for name, value in values.items():
        if name in checker.description.parameters:
            try:
                number = value if isinstance(value, float) else evaluate_constant(value, {})
            except ExpressionError:
                continue
            check_bounds(
                checker, (*path, "set", name), checker.description.parameters[name], number
            )


def check_coordinate(checker: Checker, path: Path, name: str | None) -> None:
    if name is not None and checker.coordinates.get(name):
        checker.complain(
            path,
            f"the coordinate '{name}' of a spherical or free joint",
            hint="use a wrench or a pair of forces",
        )
    else:
        checker.known(path, name, checker.coordinates, "coordinate")


def check_between(checker: Checker, path: Path, between: tuple[Point, Point] | None) -> None:
    for index, point in enumerate(between or ()):
        checker.known_body((*path, "between", index, "body"), point.body)
    check_two_bodies(checker, path, between)


def check_two_bodies(checker: Checker, path: Path, between: tuple[Point, Point] | None) -> None:
    if (
        between is not None
        and between[0].body == between[1].body
        and between[0].body in (GROUND, *checker.description.bodies)
    ):
        checker.complain((*path, "between"), f"'{between[0].body}' twice", "two different bodies")
