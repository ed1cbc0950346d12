"""Checks of forces, outputs, tables, actuators, stages and the run: references, values and keys
that belong together.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, get_args, get_type_hints

from kinetree.models.description.output_parts import Output
from kinetree.models.expressions.parse import ExpressionError, names, parse
from kinetree.models.forces.force_schema import ForceTable, TableName
from kinetree.models.forces.kinds import KINDS
from kinetree.models.language.basic_checks import (
    Path,
    check_between,
    check_coordinate,
    check_order,
    check_set,
    check_signs,
    check_two_bodies,
)
from kinetree.models.language.errors import shown
from kinetree.models.language.numbers_and_expressions import Axis
from kinetree.models.language.parameters import shortened
from kinetree.models.language.parts.base_table import Part
from kinetree.models.quantities.kinds import QUANTITIES
from kinetree.models.quantities.quantity_kind import CHOICES, QuantityKind

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

POSITIVE = ("speed", "area_a", "volume_a", "volume_b", "bulk_modulus")  # of chambers
NOT_NEGATIVE = ("area_b", "air", "leakage", "end_stiffness", "end_damping")
MOST_ROWS = 100_000_000  # of a result
POSITIVE_RUN = ("output_step", "step", "relative", "absolute")


def choice(names: Iterable[str]) -> str:
    """Return names as text of the form 'a, b or c'."""
    *first, last = names
    return f"a {', '.join(first)} or {last}" if first else f"a {last}"


def check_elements(checker: Checker) -> None:
    for name in checker.description.forces:
        check_force(checker, ("forces", name))
    for name, output in checker.description.outputs.items():
        check_output(checker, ("outputs", name), output)
    check_output_cycles(checker)
    for name in checker.description.tables:
        check_table(checker, ("tables", name))
    for name, actuator in checker.description.actuators.items():
        path = ("actuators", name)
        if (actuator.between is None) == (actuator.coordinate is None):
            checker.complain(path, "both or neither of between and coordinate", "one of them")
        check_coordinate(checker, (*path, "coordinate"), actuator.coordinate)
        check_between(checker, path, actuator.between)
        if actuator.chambers is not None:
            check_signs(checker, (*path, "chambers"), actuator.chambers, POSITIVE, NOT_NEGATIVE)
            check_order(checker, (*path, "chambers"), actuator.chambers, "shortest", "longest")
    check_stages(checker)
    check_events(checker)
    run = checker.description.run
    check_signs(checker, ("run",), run, POSITIVE_RUN)
    check_order(checker, ("run",), run, "start_time", "stop_time")
    check_rows(checker)
    for index, step in enumerate(run.prepare):
        for name in step.set:
            checker.known(
                ("run", "prepare", index, "set", name),
                name,
                checker.description.parameters,
                "parameter",
            )
        check_set(checker, ("run", "prepare", index), step.set)
        for name in step.guess:
            check_coordinate(checker, ("run", "prepare", index, "guess", name), name)
    if run.tolerances is not None:
        check_signs(checker, ("run", "tolerances"), run.tolerances, POSITIVE_RUN)
        relative = checker.number(run.tolerances.relative)
        if relative is not None and relative >= 1.0:
            checker.complain(
                ("run", "tolerances", "relative"),
                f"{relative:g}",
                "a number below 1: it is relative to the size of the states",
            )


def check_rows(checker: Checker) -> None:
    """Report a run with more output rows than a result may have."""
    run = checker.description.run
    begin, end, step = (
        checker.number(each) for each in (run.start_time, run.stop_time, run.output_step)
    )
    if (
        end is not None
        and step is not None
        and step > 0.0
        and end - (begin or 0.0) > MOST_ROWS * step
    ):
        checker.complain(
            ("run", "output_step"),
            f"{step:g}, {(end - (begin or 0.0)) / step:.3g} rows",
            f"at most {MOST_ROWS} rows",
        )


def check_force(checker: Checker, path: Path) -> None:
    force = checker.description.forces[str(path[1])]
    for keys, coordinate in force.coordinates():
        check_coordinate(checker, (*path, *keys), coordinate)
    for keys, body in force.bodies():
        checker.known_body((*path, *keys), body)
    if not getattr(force, "over", ()):  # a rope may come back to where it begins
        check_two_bodies(checker, path, getattr(force, "between", None))
    check_keys(checker, path, force)
    kind = KINDS[force.kind]
    if kind.check is not None:
        kind.check(checker, path, force)


def check_keys(checker: Checker, path: Path, part: ForceTable | Part) -> None:
    """Check the signs, directions and table names that the keys of a table declare, including
    nested tables.
    """
    check_signs(
        checker, path, part, getattr(part, "positive", ()), getattr(part, "not_negative", ())
    )
    for key, what in marked(type(part)).items():
        value = getattr(part, key)
        if what == "direction":
            direction = checker.numbers(value)
            if direction is not None and not any(direction):
                checker.complain(
                    (*path, key), "a direction of length 0", "three numbers that are not all 0"
                )
        elif (
            checker.known((*path, key), value, checker.description.tables, "table")
            and value
            and checker.description.tables[value].z is not None
        ):
            checker.complain((*path, key), f"table '{value}' of two variables", "a table of one")
    for key in type(part).model_fields:
        if isinstance(getattr(part, key), Part):
            check_keys(checker, (*path, key), getattr(part, key))


@lru_cache(maxsize=256)
def marked(table: type[Part]) -> dict[str, str]:
    """Return the keys of a table that contain directions or names of tables, with which of both."""
    found: dict[str, str] = {}
    for key, hint in get_type_hints(table, include_extras=True).items():
        kinds = {Axis: "direction", TableName: "table"}
        what = next(
            (word for known, word in kinds.items() if hint == known or known in get_args(hint)),
            None,
        )
        if what and key in table.model_fields:
            found[key] = what
    return found


def check_output(checker: Checker, path: Path, output: Output) -> None:
    if path in checker.incomplete:
        return
    if (output.value is None) == (output.quantity is None):
        checker.complain(path, "both or neither of value and quantity", "one of them")
        return
    checker.known_body((*path, "body"), output.body)
    for body in output.bodies or ():
        checker.known((*path, "bodies"), body, checker.description.bodies, "body")
    checker.known_body(
        (*path, "reference", "body"), output.reference.body if output.reference else None
    )
    if output.frame != "body":
        checker.known_body((*path, "frame"), output.frame)
    for key in ("joint", "force", "actuator"):
        if key == "force" and told_otherwise(checker, path, output.force):
            continue
        checker.known(
            (*path, key), getattr(output, key), getattr(checker.description, f"{key}s"), key
        )
    check_between(checker, path, output.between)
    kind = QUANTITIES[output.quantity] if output.quantity is not None else QuantityKind("", "", "")
    given = [key for key in kind.needs if getattr(output, key) is not None]
    if kind.needs and len(given) != 1:
        what = (
            "two points"
            if kind.needs == ("between",)
            else " or ".join(f"{'an' if key[0] in 'aeiou' else 'a'} {key}" for key in kind.needs)
        )
        checker.complain(
            (*path, kind.needs[0]),
            "nothing" if not given else " and ".join(given),
            f"{what} for {output.quantity}",
        )
    for key in CHOICES:
        if key not in (*kind.needs, *kind.takes) and getattr(output, key) is not None:
            checker.complain(
                (*path, key), key, f"no {key} for {output.quantity or 'an expression'}"
            )
    for key in ("point", "frame", "part", "about"):
        if key not in kind.takes and key in output.model_fields_set:
            checker.complain(
                (*path, key), key, f"no {key} for {output.quantity or 'an expression'}"
            )
    axes = kind.axes
    if output.axis is not None and output.axis not in axes:
        checker.complain(
            (*path, "axis"),
            shown(output.axis),
            "one of " + ", ".join(axes)
            if axes
            else f"no axis for {output.quantity or 'an expression'}",
        )
    check_measured_force(checker, path, output)


def told_otherwise(checker: Checker, path: Path, name: str | None) -> bool:
    """Report a force output of a hydraulic cylinder or an actuator, which offer theirs by name."""
    d = checker.description
    cylinders = {each for each, part in d.hydraulics.items() if hasattr(part, "area_a")}
    owner = "hydraulics" if name in cylinders else "actuators" if name in d.actuators else None
    if owner is None or name in d.forces or checker.full:
        return False
    hint = f'{owner}.{name} gives its force by name: value = "{name}.force"'
    checker.complain((*path, "force"), f"the unknown force {shown(name)}", hint=hint)
    return True


def check_measured_force(checker: Checker, path: Path, output: Output) -> None:
    """Report outputs that a force element does not have, such as components or a clearance."""
    force = checker.description.forces.get(output.force or "")
    if force is None:
        return
    if (
        output.quantity == "force"
        and hasattr(force, "coordinate")
        and {"axis", "frame", "part"} & output.model_fields_set
    ):
        checker.complain(
            (*path, "axis"),
            "a component",
            "no axis, part or frame",
            f"force '{output.force}' acts along a coordinate",
        )
    elif (
        output.quantity == "force"
        and output.axis is None
        and {"frame", "part"} & output.model_fields_set
    ):
        checker.complain(
            (*path, "axis"),
            "nothing",
            "x, y, z or norm",
            "without an axis the force is the value of its law",
        )
    if output.quantity == "clearance" and not KINDS[force.kind].clearance:
        checker.complain(
            (*path, "force"),
            f"a force of kind {force.kind}",
            choice(name for name, kind in KINDS.items() if kind.clearance),
        )


def check_output_cycles(checker: Checker) -> None:
    """Report outputs that depend on themselves."""
    needs: dict[str, list[str]] = {}
    for name, output in checker.description.outputs.items():
        try:
            needs[name] = sorted(names(parse(output.value))) if output.value is not None else []
        except ExpressionError:
            needs[name] = []
    done: set[str] = set()
    for first in needs:
        path: dict[str, int] = {}  # outputs on the way, with the number of their needs looked at
        stack = [first]
        while stack:
            name = stack[-1]
            k = path.setdefault(name, 0)
            if k < len(needs[name]) and name not in done:
                path[name] += 1
                other = needs[name][k]
                if other in path:
                    loop = [*list(path)[list(path).index(other) :], other]
                    checker.complain(
                        ("outputs", name, "value"),
                        shown(checker.description.outputs[name].value),
                        hint="circular: " + shortened(loop),
                    )
                elif other in needs and other not in done:
                    stack.append(other)
            else:
                done.add(name)
                path.pop(name, None)
                stack.pop()


def check_table(checker: Checker, path: Path) -> None:
    table = checker.description.tables[str(path[1])]
    for key in ("x", "y"):
        if not getattr(table, key):
            checker.complain((*path, key), "nothing", "at least two numbers, or a file")
            return
    for key, grid in (("x", table.x), ("y", table.y if table.z is not None else ())):
        numbers = checker.numbers(grid)
        fall = next(
            (
                k
                for k, (a, b) in enumerate(zip(numbers or (), (numbers or ())[1:], strict=False))
                if b <= a
            ),
            None,
        )
        if fall is not None and numbers:
            checker.complain(
                (*path, key), f"{numbers[fall]:g} before {numbers[fall + 1]:g}", "ascending numbers"
            )
    if table.z is None:
        if len(table.y) != len(table.x):
            checker.complain(
                (*path, "y"), f"{len(table.y)} values", f"{len(table.x)}, as many as x"
            )
    elif len(table.z) != len(table.x) or any(len(row) != len(table.y) for row in table.z):
        checker.complain(
            (*path, "z"), f"{len(table.z)} rows", f"{len(table.x)} rows of {len(table.y)} values"
        )


def check_stages(checker: Checker) -> None:
    description = checker.description
    dropped: set[str] = set()
    for index, stage in enumerate(description.stages):
        path = ("stages", index)
        ends = stage.ends
        if ends is None:
            if (
                index < len(description.stages) - 1
                and path not in checker.incomplete
                and checker.whole("stages")
            ):
                checker.complain(
                    (*path, "ends"),
                    "nothing",
                    "when, at or after: only the last stage may have no end",
                )
        elif ends.when is None and ends.at is None and ends.after is None:
            checker.complain((*path, "ends"), "no condition", "when, at or after")
        for key, known, what in (
            ("free", description.joints, "joint"),
            ("lock", description.joints, "joint"),
            ("drop", description.bodies, "body"),
        ):
            for name in getattr(stage, key):
                checker.known((*path, key), name, known, what)
        for name in stage.drop:
            if name in dropped:
                checker.complain(
                    (*path, "drop"), f"'{name}' a second time", "bodies that are still there"
                )
            dropped.add(name)
        for name in sorted(set(stage.free) & set(stage.lock)):
            checker.complain(path, f"'{name}' in free and lock", "one of them")
        for name in stage.set:
            checker.known((*path, "set", name), name, settable(checker), "parameter")
        check_set(checker, path, stage.set)
        known = description.parameters.keys()
        check_frozen(
            checker,
            path,
            [
                name
                for name, value in stage.set.items()
                if not named(value) <= known or name in named(value)
            ],
        )


def check_events(checker: Checker) -> None:
    for label, event in checker.description.events.items():
        for name in event.set:
            checker.known(("events", label, "set", name), name, settable(checker), "parameter")
        check_set(checker, ("events", label), event.set)
        check_frozen(checker, ("events", label), event.set)


def named(value: float | str) -> frozenset[str]:
    try:
        return names(parse(value))
    except ExpressionError:
        return frozenset()


def check_frozen(checker: Checker, path: Path, targets: Iterable[str]) -> None:
    """Report structural parameters that events set; only the end of a stage may set them."""
    deciding = (
        checker.deciding if any(name in checker.description.parameters for name in targets) else {}
    )
    for name in targets:
        if name in deciding:
            expected = "a parameter that may change during a run"
            checker.complain(
                (*path, "set", name),
                f"'{name}', on which {deciding[name]} depends",
                expected,
                "the end of a stage may set a number",
            )


def settable(checker: Checker) -> dict[str, str]:
    """Return everything that events can set: parameters, coordinates, speeds and states."""
    return {**checker.names.parameters, **checker.names.states}
