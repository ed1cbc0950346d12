"""Forces, outputs, tables, actuators, stages and the run: references, values and keys that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.description.errors import shown
from kinetree.models.description.force_parts import CylinderForce, Elastic, JackForce, LineForce, RailForce, StopForce
from kinetree.models.description.parameters import shortened
from kinetree.models.description.parts import Part, Point
from kinetree.models.description.quantity_kinds import AXES_OF, CHOICES, QUANTITIES, QuantityKind
from kinetree.models.description.value_parts import Output
from kinetree.models.expressions.text import ExpressionError, names, parse

if TYPE_CHECKING:
    from kinetree.models.description.checks import Checker

Path = tuple[str | int, ...]
POSITIVE = ("sharpness", "exponent", "friction_speed", "speed", "area_a", "viscosity", "volume_a", "volume_b", "bulk_modulus")
POSITIVE_RUN = ("output_step", "step", "relative", "absolute")
NOT_NEGATIVE = ("radius", "clearance", "area_b", "air", "leakage", "strength", "hardening", "end_stiffness", "end_damping")
DIRECTIONS = ("normal", "axis", "side", "across")


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
            check_signs(checker, (*path, "chambers"), actuator.chambers)
            check_order(checker, (*path, "chambers"), actuator.chambers, "shortest", "longest")
    check_stages(checker)
    check_events(checker)
    run = checker.description.run
    check_signs(checker, ("run",), run, POSITIVE_RUN)
    check_order(checker, ("run",), run, "start_time", "stop_time")
    for index, step in enumerate(run.prepare):
        for name in step.set:
            checker.known(("run", "prepare", index, "set", name), name, checker.description.parameters, "parameter")
        for name in step.guess:
            check_coordinate(checker, ("run", "prepare", index, "guess", name), name)
    if run.tolerances is not None:
        check_signs(checker, ("run", "tolerances"), run.tolerances, POSITIVE_RUN)


def check_force(checker: Checker, path: Path) -> None:
    force = checker.description.forces[str(path[1])]
    check_coordinate(checker, (*path, "coordinate"), getattr(force, "coordinate", None))
    checker.known_body((*path, "body"), getattr(force, "body", None))
    check_between(checker, path, getattr(force, "between", None))
    check_signs(checker, path, force)
    for key in DIRECTIONS:
        direction = checker.numbers(getattr(force, key, None))
        if direction is not None and not any(direction):
            checker.complain((*path, key), "a direction of length 0", "three numbers that are not all 0")
    for key in ("law", "damping_law"):
        table = getattr(force, key, None)
        if checker.known((*path, key), table, checker.description.tables, "table") and table and checker.description.tables[table].z is not None:
            checker.complain((*path, key), f"table '{table}' of two variables", "a table of one")
    if isinstance(force, Elastic):
        extra = {"stiffness", "damping", "length", "law", "damping_law"} & force.model_fields_set
        if force.value is not None and extra:
            checker.complain(path, "value and " + ", ".join(sorted(extra)), "value alone, or the others")
        if force.value is None and not {"stiffness", "damping", "law", "damping_law"} & extra and path not in checker.incomplete:
            checker.complain(path, "no law of the force", "value, stiffness, damping or law")
    if isinstance(force, LineForce) and force.tension_only and force.compression_only:
        checker.complain(path, "tension_only and compression_only", "one of them")
    if isinstance(force, LineForce) and force.value is None and force.length is None and "stiffness" in force.model_fields_set:
        checker.complain((*path, "length"), "nothing", "the length without spring force")
    if isinstance(force, StopForce):
        check_order(checker, path, force, "lower", "upper")
        if force.lower is None and force.upper is None:
            checker.complain(path, "no bound", "lower, upper or both")
    if isinstance(force, RailForce):
        check_order(checker, path, force, "begin", "end")
    if isinstance(force, CylinderForce):
        check_order(checker, path, force, "shortest", "longest")
    if isinstance(force, JackForce) and force.law is None and "stiffness" not in force.model_fields_set:
        checker.complain((*path, "stiffness"), "nothing", "stiffness or law")
    soil = getattr(force, "soil", None)
    if soil is not None:
        check_signs(checker, (*path, "soil"), soil)


def check_coordinate(checker: Checker, path: Path, name: str | None) -> None:
    if name is not None and checker.coordinates.get(name):
        checker.complain(path, f"the coordinate '{name}' of a spherical or free joint", hint="use a wrench or a pair of forces")
    else:
        checker.known(path, name, checker.coordinates, "coordinate")


def check_between(checker: Checker, path: Path, between: tuple[Point, Point] | None) -> None:
    if between is None:
        return
    known = [checker.known_body((*path, "between", index, "body"), point.body) for index, point in enumerate(between)]
    if all(known) and between[0].body == between[1].body:
        checker.complain((*path, "between"), f"'{between[0].body}' twice", "two different bodies")


def check_signs(checker: Checker, path: Path, part: Part, positive: tuple[str, ...] = POSITIVE) -> None:
    """Numbers that must be positive, or must not be negative."""
    for key in (*positive, *NOT_NEGATIVE):
        value = getattr(part, key, None)
        number = checker.number(value) if isinstance(value, (float, str)) else None
        if number is not None and (number < 0.0 or (number == 0.0 and key in positive)):
            checker.complain((*path, key), f"{number:g}", "a number > 0" if key in positive else "0 or more")


def check_order(checker: Checker, path: Path, part: Part, lower: str, upper: str) -> None:
    low, high = checker.number(getattr(part, lower)), checker.number(getattr(part, upper))
    if low is not None and high is not None and high < low:
        checker.complain((*path, upper), f"{high:g}", f"a number above {lower}, {low:g}")


def check_output(checker: Checker, path: Path, output: Output) -> None:
    if path in checker.incomplete:
        return
    if (output.value is None) == (output.quantity is None):
        checker.complain(path, "both or neither of value and quantity", "one of them")
        return
    checker.known_body((*path, "body"), output.body)
    for body in output.bodies or ():
        checker.known((*path, "bodies"), body, checker.description.bodies, "body")
    checker.known_body((*path, "reference", "body"), output.reference.body if output.reference else None)
    if output.frame != "body":
        checker.known_body((*path, "frame"), output.frame)
    for key in ("joint", "force", "actuator"):
        checker.known((*path, key), getattr(output, key), getattr(checker.description, f"{key}s"), key)
    check_between(checker, path, output.between)
    kind = QUANTITIES[output.quantity] if output.quantity is not None else QuantityKind("", "")
    given = [key for key in kind.needs if getattr(output, key) is not None]
    if kind.needs and len(given) != 1:
        what = "two points" if kind.needs == ("between",) else " or ".join(f"a {key}" for key in kind.needs)
        checker.complain((*path, kind.needs[0]), "nothing" if not given else " and ".join(given), f"{what} for {output.quantity}")
    for key in CHOICES:
        if key not in (*kind.needs, *kind.takes) and getattr(output, key) is not None:
            checker.complain((*path, key), key, f"no {key} for {output.quantity or 'an expression'}")
    for key in ("point", "frame", "part", "about"):
        if key not in kind.takes and key in output.model_fields_set:
            checker.complain((*path, key), key, f"no {key} for {output.quantity or 'an expression'}")
    axes = AXES_OF[3 if output.quantity == "force" else kind.components]
    if output.axis is not None and output.axis not in axes:
        checker.complain(
            (*path, "axis"), shown(output.axis), "one of " + ", ".join(axes) if axes else f"no axis for {output.quantity or 'an expression'}"
        )
    check_measured_force(checker, path, output)


def check_measured_force(checker: Checker, path: Path, output: Output) -> None:
    """What a force element can tell: only those between places have components, only contacts a clearance."""
    force = checker.description.forces.get(output.force or "")
    if force is None:
        return
    if output.quantity == "force" and hasattr(force, "coordinate") and {"axis", "frame", "part"} & output.model_fields_set:
        checker.complain((*path, "axis"), "a component", "no axis, part or frame", f"force '{output.force}' acts along a coordinate")
    if output.quantity == "force" and output.axis is None and {"frame", "part"} & output.model_fields_set:
        checker.complain((*path, "axis"), "nothing", "x, y, z or norm", "without an axis the force is the value of its law")
    if output.quantity == "clearance" and force.kind not in ("contact", "tyre", "jack", "rail"):
        checker.complain((*path, "force"), f"a force of kind {force.kind}", "a contact, tyre, jack or rail")


def check_output_cycles(checker: Checker) -> None:
    """Outputs may use one another, but not in a circle."""
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
                    checker.complain(("outputs", name, "value"), shown(checker.description.outputs[name].value), hint="circular: " + shortened(loop))
                elif other in needs and other not in done:
                    stack.append(other)
            else:
                done.add(name)
                path.pop(name, None)
                stack.pop()


def check_table(checker: Checker, path: Path) -> None:
    table = checker.description.tables[str(path[1])]
    for key, grid in (("x", table.x), ("y", table.y if table.z is not None else ())):
        numbers = checker.numbers(grid)
        fall = next((k for k, (a, b) in enumerate(zip(numbers or (), (numbers or ())[1:], strict=False)) if b <= a), None)
        if fall is not None and numbers:
            checker.complain((*path, key), f"{numbers[fall]:g} before {numbers[fall + 1]:g}", "ascending numbers")
    if table.z is None:
        if len(table.y) != len(table.x):
            checker.complain((*path, "y"), f"{len(table.y)} values", f"{len(table.x)}, as many as x")
    elif len(table.z) != len(table.x) or any(len(row) != len(table.y) for row in table.z):
        checker.complain((*path, "z"), f"{len(table.z)} rows", f"{len(table.x)} rows of {len(table.y)} values")


def check_stages(checker: Checker) -> None:
    description = checker.description
    dropped: set[str] = set()
    for index, stage in enumerate(description.stages):
        path = ("stages", index)
        ends = stage.ends
        if ends is None:
            if index < len(description.stages) - 1 and path not in checker.incomplete and checker.whole("stages"):
                checker.complain((*path, "ends"), "nothing", "when, at or after: only the last stage may have no end")
        elif ends.when is None and ends.at is None and ends.after is None:
            checker.complain((*path, "ends"), "no condition", "when, at or after")
        for key, known, what in (("free", description.joints, "joint"), ("lock", description.joints, "joint"), ("drop", description.bodies, "body")):
            for name in getattr(stage, key):
                checker.known((*path, key), name, known, what)
        for name in stage.drop:
            if name in dropped:
                checker.complain((*path, "drop"), f"'{name}' a second time", "bodies that are still there")
            dropped.add(name)
        for name in set(stage.free) & set(stage.lock):
            checker.complain(path, f"'{name}' in free and lock", "one of them")
        for name in stage.set:
            checker.known((*path, "set", name), name, settable(checker), "parameter")


def check_events(checker: Checker) -> None:
    for label, event in checker.description.events.items():
        for name in event.set:
            checker.known(("events", label, "set", name), name, settable(checker), "parameter")


def settable(checker: Checker) -> dict[str, str]:
    """What events can set: parameters, coordinates, speeds and states; what else has such a name is refused when the structure is compiled."""
    return {**checker.names.parameters, **checker.names.states}
