"""Checks of units: units that do not fit their quantity, and expressions whose dimension differs
from the one expected.

The expected unit of a key stands in brackets in its documentation, as in "Mass [kg]"; this is its
only declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kinetree.models.description.joint_units import actuator_units, form_units, rate_unit
from kinetree.models.description.output_parts import Output
from kinetree.models.expressions.nodes import Leaf, leaves
from kinetree.models.expressions.parse import ExpressionError, columns, parse
from kinetree.models.forces.kinds import offered
from kinetree.models.language.errors import shown
from kinetree.models.language.numbers_and_expressions import DerivedExpression, Expression
from kinetree.models.language.units.dimensions import (
    Clash,
    Dimension,
    alike,
    dimension_of,
    infer,
    misfit,
)
from kinetree.models.language.units.si_conversion import Measured
from kinetree.models.language.units.unit_of_measure import UnitError, fits, parse_unit
from kinetree.models.quantities.kinds import QUANTITIES

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

Path = tuple[str | int, ...]
BRACKETS = re.compile(r"\[([^\]]+)\]")


@lru_cache(maxsize=1024)
def field_units(table: type[BaseModel], key: str) -> tuple[str, ...]:
    """Return the SI units that a key of a table accepts, () if none are declared."""
    found = BRACKETS.search(table.model_fields[key].description or "")
    return tuple(re.split(" or |, ", found[1].partition(" for ")[0])) if found else ()


SETTING = ("events", "stages", "run")  # sections with tables that set names


class Units:
    """The known units of the names of a description."""

    def __init__(self, checker: Checker):
        self.checker = checker
        d = checker.description
        self.known: dict[
            str, str
        ] = {}  # not the time: sin(t) is written where one radian per second is meant
        for name in d.joints:
            if name in checker.forms:
                self.known |= form_units(checker.forms[name])
        given = {**d.parameters, **d.inputs, **d.states}
        self.declared = {name for name, value in {**given, **d.outputs}.items() if good(value.unit)}
        self.known |= {name: value.unit for name, value in given.items() if good(value.unit)}
        for name, output in d.outputs.items():
            unit = output.unit or measured_unit(checker, output)
            if good(unit):
                self.known.setdefault(name, unit)
        for label, force in d.forces.items():
            for name, unit in offered(label, force).items():
                if name not in checker.names.own:
                    self.known[name] = unit

        for label, actuator in d.actuators.items():
            way = (
                "m"
                if actuator.coordinate is None
                else coordinate_units(checker).get(actuator.coordinate, "")
            )
            self.known |= {
                f"{label}.{key}": unit for key, unit in actuator_units(way).items() if way
            }

    def of_target(self, name: str) -> tuple[str, ...]:
        """Return the unit of a variable that an event or stage assigns."""
        inner = name[4:-1] if name.startswith("der(") else name
        known = self.known.get(inner, "")
        return tuple(filter(None, (rate_unit(known) if inner != name else known,)))

    def dimension(self, key: str) -> Dimension | None:
        """Return the dimension of a name or of its time derivative; None if unknown."""
        if key in self.known:
            return dimension_of(self.known[key])
        if key.startswith("der(") and (inner := self.dimension(key[4:-1])) is not None:
            seconds = dimension_of("s").exponents
            return Dimension(tuple(e - s for e, s in zip(inner.exponents, seconds, strict=True)))
        return None


def good(unit: str) -> bool:
    """Return whether a text is a valid unit; invalid units are reported elsewhere."""
    try:
        parse_unit(unit)
    except UnitError:
        return False
    return bool(unit)


def check_units(checker: Checker) -> None:
    """Report values with a unit of the wrong dimension, and expressions that provably have the
    wrong dimension.
    """
    units = Units(checker)
    for path, value, expected in numbers_of(checker.description, (), ()):
        if checker.full:
            return
        expected = (
            units.of_target(str(path[-1]))
            if path[0] in SETTING and path[-2] == "set"
            else expected_at(checker, path, expected)
        )
        if isinstance(value, Measured):
            if expected and not any(fits(value.unit, each) for each in expected):
                checker.complain(
                    path, f"the unit {shown(value.unit)}", f"a unit of {' or '.join(expected)}"
                )
        else:
            check_expression(checker, units, path, value, expected)
    for name, output in checker.description.outputs.items():
        check_output_unit(checker, ("outputs", name, "unit"), output)
    for section in ("parameters", "inputs", "outputs", "states"):
        for name, table in getattr(checker.description, section).items():
            if (
                table.display_unit
                and good(table.unit)
                and good(table.display_unit)
                and not fits(table.display_unit, table.unit)
            ):
                checker.complain(
                    (section, name, "display_unit"),
                    shown(table.display_unit),
                    f"a unit of {table.unit}",
                )


def numbers_of(
    value: Any, path: Path, expected: tuple[str, ...]
) -> Iterator[tuple[Path, Measured | Expression, tuple[str, ...]]]:
    """Yield every expression and every number with a unit, with its path and the units declared for
    it.
    """
    if isinstance(value, DerivedExpression):
        return  # made of numbers that are checked where they stand
    if isinstance(value, (Measured, Expression)):
        yield path, value, expected
    elif isinstance(value, BaseModel):
        for key in type(value).model_fields:
            inner = getattr(value, key)
            if isinstance(inner, (str, tuple, dict, BaseModel, Measured)):
                yield from numbers_of(inner, (*path, key), field_units(type(value), key))
    elif isinstance(value, tuple):
        for k, inner in enumerate(value):
            if type(inner) is not float:
                yield from numbers_of(inner, (*path, k), expected)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_of(inner, (*path, key), expected)


def expected_at(checker: Checker, path: Path, declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the units expected at a path, narrowed by its context, such as the coordinate of a
    force.
    """
    d = checker.description
    section, name, key = ([str(part) for part in path] + ["", "", ""])[:3]
    if section in ("parameters", "inputs", "states", "outputs") and key in (
        "value",
        "min",
        "max",
        "start",
        "rate",
    ):
        unit = getattr(d, section)[name].unit
        return () if not good(unit) else (rate_unit(unit),) if key == "rate" else (unit,)
    if (
        section == "forces"
        and key == "stiffness"
        and getattr(d.forces[name], "exponent", 1.0) != 1.0
    ):
        return ()
    if section == "joints" and name in checker.forms:
        return joint_number(checker, path, declared)
    owner = (
        getattr(d, section).get(name) if section in ("forces", "actuators", "hydraulics") else None
    )
    coordinate = getattr(owner, "coordinate", None)
    if len(declared) == 2 and coordinate is not None:
        angle = coordinate_units(checker).get(coordinate) == "rad"
        first_is_angular = "rad" in declared[0] or declared[0] == "N.m"
        return (declared[int(angle != first_is_angular)],)
    if len(declared) == 2 and getattr(owner, "between", None) is not None:
        return (declared[0],)
    return declared


def coordinate_units(checker: Checker) -> dict[str, str]:
    """Return the units of all coordinates and speeds."""
    return {
        name: unit for form in checker.forms.values() for name, unit in form_units(form).items()
    }


def joint_number(checker: Checker, path: Path, declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the units of start values, speeds and amounts of a joint."""
    name, key = str(path[1]), path[2]
    joint, form = checker.description.joints[name], checker.forms[name]
    units = form_units(form)
    if key in ("start", "speed"):
        names = form.coordinates if key == "start" else form.speeds
        k = path[3] if len(path) > 3 else 0
        return (units[names[k]],) if isinstance(k, int) and k < len(names) else ()
    if key in ("transforms", "frame") and len(path) > 4 and len(declared) == 2:
        transform = (joint.transforms or () if key == "transforms" else joint.frame)[int(path[3])]
        return (declared[int(transform.rotate is not None)],)
    if (
        key in ("transforms", "frame") and len(path) > 5
    ):  # components of an axis, or of a constant shift
        transform = (joint.transforms or () if key == "transforms" else joint.frame)[int(path[3])]
        return declared if transform.by is None and transform.coordinate is None else ()
    return declared


# a factor of one may stand for 1 N.s/m as any other number may; simplification would take it away
ONE = re.compile(r"(?<![\w.\])])1(?:\.0*)?(?=\s*\*(?!\*))|(?<=\*)(?<!\*\*)(\s*)1(?:\.0*)?(?![\w.])")


def check_expression(
    checker: Checker, units: Units, path: Path, text: Expression, expected: tuple[str, ...]
) -> None:
    """Check the dimensions of one expression; without declared units a factor of 1 may carry the
    unit.
    """
    try:
        node = parse(text)
        if not any(leaf.name in units.declared for leaf in leaves(node)):
            return
        whole = parse(ONE.sub("1.5", text))
        found = infer(whole, units.dimension)
    except ExpressionError:
        return
    except Clash as clash:
        checker.complain(path, shown(text), "values of one dimension", f"here {clash}")
        return
    if found is None:
        places = tuple(dimension_of(each) for each in expected)
        wrong = misfit(whole, units.dimension, places)
        if wrong is not None:
            hint = "a factor that has a unit is written as a parameter with this unit"
            place = f"a value in {' or '.join(expected)}" if expected else "values of one dimension"
            checker.complain(path, f"{shown(text)} in {wrong}", place, hint)
        return
    if not expected or any(alike(found, dimension_of(each)) for each in expected):
        return
    column = columns(text).get(node.key) if isinstance(node, Leaf) else None
    checker.complain(
        path, f"{shown(text)} in {found}", f"a value in {' or '.join(expected)}", column=column
    )


def check_output_unit(checker: Checker, path: Path, output: Output) -> None:
    """Check the display unit of a measured quantity."""
    expected = measured_unit(checker, output)
    wrong = [
        unit
        for unit in (output.display_unit, output.unit)
        if expected and good(unit) and not fits(unit, expected)
    ]
    if wrong:
        checker.complain(
            path,
            shown(output.display_unit or output.unit),
            f"a unit of {expected} for {output.quantity}, such as {expected}",
        )


def measured_unit(checker: Checker, output: Output) -> str:
    """Return the SI unit of a measured quantity."""
    moment = output.part == "moment"
    if output.quantity == "force" and output.axis is None:
        coordinate = getattr(checker.description.forces.get(output.force or ""), "coordinate", None)
        moment = coordinate_units(checker).get(coordinate or "") == "rad"
    kind = QUANTITIES.get(output.quantity or "")
    if kind is None or kind.own_axes:
        return "" if kind is None else kind.unit_of(output)
    return "N.m" if kind.moment and moment else kind.unit
