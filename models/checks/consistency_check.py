"""Consistency checks between the tables of a description; all problems are found in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

from kinetree.models.checks import (
    beams_check,
    bodies_check,
    chain_check,
    conditions_check,
    contacts_check,
    controllers_check,
    couplings_check,
    elements_check,
    hydraulics_check,
    input_motion_check,
    observers_check,
    plausibility_check,
    prescribed_motion_check,
    run_check,
    units_check,
)
from kinetree.models.checks.structural_parameters import frozen
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.names import (
    MEASURES,
    Names,
    collect,
    expressions,
    fault,
    name_fault,
)
from kinetree.models.description.reading.source_location import Origin, key_path
from kinetree.models.description.schema import Description
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.graph.tree import GROUND, spanning_tree
from kinetree.models.joints.elements import JointForm, JointProblem
from kinetree.models.language.basic_checks import check_bounds, check_signs
from kinetree.models.language.errors import MOST_PROBLEMS, Problem, shown, suggestion
from kinetree.models.language.parameters import evaluate_parameters
from kinetree.models.language.parts.value_parts import Input, Parameter
from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit

Path = tuple[str | int, ...]
VALUES = ("parameters", "inputs", "outputs", "states")  # sections whose names occur in expressions
PLAIN = (
    "materials",
    "bodies",
    "beams",
    "joints",
    "couplings",
    "contacts",
    "forces",
    "tables",
    "actuators",
    "controllers",
    "observers",
    "hydraulics",
)


class Checker:
    """One pass of checks over a description; `incomplete` names tables whose faulty entries are
    reported already.
    """

    def __init__(
        self, description: Description, origin: Origin, incomplete: set[tuple[str, str | int]]
    ):
        self.description = description
        self.origin = origin
        self.incomplete = incomplete
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.values: dict[str, float] = {}
        self.forms: dict[str, JointForm] = {}
        self.coordinates: dict[str, bool] = {}  # whether it belongs to a quaternion joint
        self.names = Names()

    def complain(
        self,
        path: Path,
        found: str = "",
        expected: str = "",
        hint: str = "",
        column: int | None = None,
    ) -> None:
        owner = self.description.made.get((str(path[0]), str(path[1]))) if len(path) > 1 else None
        if owner is not None:  # what a controller is made of: told of the controller
            section = "observers" if owner in self.description.observers else "controllers"
            path, column = (section, owner), None
        beam = self.description.pieces.get((str(path[0]), str(path[1]))) if len(path) > 1 else None
        if beam is not None:  # what a beam is made of: told of the beam
            path, column = ("beams", beam), None
        law = self.motion_law(path)
        if law is not None:  # a law of a joint: told of the joint
            path, column = law, None
        if not self.full:
            line = self.origin.line(path)
            self.problems.append(
                Problem(key_path(path), found, expected, hint, self.origin.file, line, column)
            )

    def motion_law(self, path: Path) -> Path | None:
        """Return the path of the transform amount that a generated coupling implements, or None."""
        if len(path) < 2 or path[0] != "couplings":
            return None
        return self.description.motion_laws.get(str(path[1]))

    def warn(
        self,
        path: Path,
        found: str = "",
        expected: str = "",
        hint: str = "",
        column: int | None = None,
    ) -> None:
        """Add a warning about something that is allowed but probably not intended."""
        if len(self.warnings) < MOST_PROBLEMS:
            self.warnings.append(
                Problem(
                    key_path(path),
                    found,
                    expected,
                    hint,
                    self.origin.file,
                    self.origin.line(path),
                    column,
                )
            )

    @cached_property
    def deciding(self) -> dict[str, str]:
        """Return the structural parameters with what each of them determines."""
        return frozen(self.description)

    @property
    def full(self) -> bool:
        return len(self.problems) >= MOST_PROBLEMS

    def whole(self, section: str) -> bool:
        """Return whether all names of a section are known, i.e. no faulty entry was dropped."""
        present = getattr(self.description, section)
        return not any(
            each == section and (section == "joints" or name not in present)
            for each, name in self.incomplete
        )

    def number(self, value: float | str | None) -> float | None:
        """Return the value of a number or of an expression in parameters; None if it cannot be
        evaluated, which is reported with the expression.
        """
        if value is None or isinstance(value, float):
            return value
        try:
            return evaluate_constant(value, self.values)
        except ExpressionError:
            return None

    def numbers(self, values: Iterable[float | str] | None) -> tuple[float, ...] | None:
        result = tuple(self.number(value) for value in values or ())
        return None if values is None or None in result else result  # type: ignore[return-value]

    def known(self, path: Path, name: str | None, names: Collection[str], what: str) -> bool:
        """Report a reference to a name that does not exist; return whether it exists."""
        if name is None or name in names:
            return True
        section = {"body": "bodies", "joint": "joints", "coordinate": "joints"}.get(
            what, what + "s"
        )
        if not self.full and self.whole(section):
            self.complain(path, f"the unknown {what} {shown(name)}", hint=suggestion(name, names))
        return False

    def known_body(self, path: Path, name: str | None) -> bool:
        if name is not None and name != GROUND and name.lower() == GROUND and not self.full:
            if name not in self.description.bodies:
                self.complain(
                    path, f"the unknown body {shown(name)}", hint="did you mean 'ground'?"
                )
                return False
        return name == GROUND or self.known(path, name, self.description.bodies, "body")


def check(
    description: Description, origin: Origin, incomplete: set[tuple[str, str | int]] | None = None
) -> list[Problem]:
    """Return every problem and warning of a validated description."""
    checker = Checker(description, origin, incomplete or set())
    controllers_check.check_names(checker)
    check_names(checker)
    check_parameters(checker)
    controllers_check.check_controllers(checker)
    check_joints(checker)
    observers_check.check_observers(checker)
    checker.names = collect(description, checker.forms)
    description._own_names = checker.names.own
    for path, name, before in checker.names.clashes:
        checker.complain(path, f"the name '{name}'", hint=f"it is already {before}")
    check_expressions(checker)
    check_materials(checker)
    beams_check.check_beams(checker)
    bodies_check.check_bodies(checker)
    check_paths(checker)
    couplings_check.check_couplings(checker)
    contacts_check.check_contacts(checker)
    input_motion_check.check_followings(checker)
    elements_check.check_elements(checker)
    hydraulics_check.check_hydraulics(checker)
    chain_check.check_chain(checker)
    units_check.check_units(checker)
    if not checker.problems:
        prescribed_motion_check.check_given(checker)
        plausibility_check.check_meaning(checker)
        conditions_check.check_conditions(checker)
        run_check.check_run(checker)
    description._warnings = tuple(checker.warnings)
    return told_once(checker.problems, description)


def told_once(problems: list[Problem], description: Description) -> list[Problem]:
    """Return the problems without duplicates that stem from the generated parts of controllers."""
    found: dict[str, Problem] = {}
    for problem in problems:
        whole = [
            name
            for section in ("controllers", "observers")
            for name in getattr(description, section)
            if problem.key == key_path((section, name))
        ]
        better = [each for each in problems if whole and each.key.startswith(f"{problem.key}.")]
        if not better:
            found.setdefault(problem.key if whole else f"{len(found)} {problem.key}", problem)
    return list(found.values())


ALONE = (
    "hydraulics",
    "states",
    "controllers",
    "outputs",
)  # a circuit, a controller or a law may stand by itself


def check_names(checker: Checker) -> None:
    for section in (*VALUES, *PLAIN):
        for name, table in getattr(checker.description, section).items():
            if reason := name_fault(
                name, section in VALUES and not (section == "outputs" and name in MEASURES)
            ):
                checker.complain((section, name), f"the name {shown(name)}", reason)
            if section == "bodies" and name == GROUND:
                checker.complain(
                    (section, name),
                    "a body named 'ground'",
                    hint="ground is there already: it is body 0",
                )
            unit = getattr(table, "unit", "")
            try:
                parse_unit(unit)
            except UnitError as error:
                checker.complain((section, name, "unit"), shown(unit), hint=str(error))


def check_parameters(checker: Checker) -> None:
    given: dict[str, Any] = {
        name: parameter.value for name, parameter in checker.description.parameters.items()
    }
    checker.values, errors = evaluate_parameters(given)
    for name, error in errors.items():
        if error.message.startswith("unknown name") and not checker.whole("parameters"):
            continue
        checker.complain(
            ("parameters", name), shown(given[name]), hint=error.message, column=error.column
        )
    for name, parameter in checker.description.parameters.items():
        check_range(checker, ("parameters", name), parameter, checker.values.get(name))
    for name, given_outside in checker.description.inputs.items():
        check_range(checker, ("inputs", name), given_outside, checker.number(given_outside.start))


def check_range(
    checker: Checker, path: Path, bounded: Parameter | Input, value: float | None
) -> None:
    """Report bounds that are not ordered or do not contain the value."""
    low, high = checker.number(bounded.min), checker.number(bounded.max)
    if low is not None and high is not None and low > high:
        checker.complain(path, f"min {low:g} above max {high:g}")
    else:
        check_bounds(checker, path, bounded, value)


def check_materials(checker: Checker) -> None:
    """Report densities, moduli and strengths that are not positive."""
    for name, material in checker.description.materials.items():
        check_signs(checker, ("materials", name), material, material.positive)


def check_joints(checker: Checker) -> None:
    for name, joint in checker.description.joints.items():
        path = ("joints", name)
        ends = [
            checker.known_body((*path, end), getattr(joint, end)) for end in ("parent", "child")
        ]
        if all(ends) and joint.parent == joint.child:
            checker.complain(path, f"a joint of '{joint.parent}' to itself", "two different bodies")
        if path in checker.incomplete:
            continue
        try:
            form = joint_elements(joint, name)
        except JointProblem as problem:
            checker.complain(
                (*path, problem.key) if problem.key else path,
                problem.found,
                problem.expected,
                problem.hint,
            )
            checker.incomplete.add(path)
            continue
        checker.forms[name] = form
        checker.coordinates |= dict.fromkeys(form.coordinates, form.quaternion)
        own = joint.coordinates or tuple(
            t.coordinate for t in joint.transforms or () if t.coordinate is not None
        )
        for coordinate in dict.fromkeys(own):
            if reason := name_fault(coordinate, value=True):
                checker.complain(
                    (*path, "coordinates" if joint.coordinates else "transforms"),
                    f"the name {shown(coordinate)}",
                    reason,
                )
        for element in form.elements:
            axis = checker.numbers(element.axis)
            directed = (
                element.kind.turns or not element.kind.constant
            )  # a constant shift may be none
            if directed and axis is not None and not any(axis):
                checker.complain(path, "an axis of length 0", "a direction")


def check_expressions(checker: Checker) -> None:
    tables = {name: table.z is not None for name, table in checker.description.tables.items()}
    guess = all(
        map(
            checker.whole,
            (
                "joints",
                "parameters",
                "inputs",
                "outputs",
                "states",
                "actuators",
                "controllers",
                "hydraulics",
            ),
        )
    )
    constants = checker.whole("parameters")
    for path, text in expressions(checker.description):
        if path[0] == "parameters" and path[2] == "value":
            continue
        if checker.full:
            return
        error = fault(
            path,
            text,
            checker.names,
            checker.values,
            tables,
            guess if text.scope == "state" else constants,
        )
        if error is not None and (
            checker.whole("tables") or not error.message.startswith("unknown table")
        ):
            checker.complain(path, shown(text), hint=error.message, column=error.column)


def check_paths(checker: Checker) -> None:
    """Report bodies that no sequence of uncut joints connects with the ground."""
    bodies, joints = checker.description.bodies, checker.description.joints
    d = checker.description
    alone = d.chain is not None or any(getattr(d, section) for section in ALONE)
    if not bodies and not alone and all(checker.whole(section) for section in ("bodies", *ALONE)):
        checker.complain(
            ("bodies",), "no bodies", "at least one, or states, outputs or a hydraulic circuit"
        )
    if any(section == "joints" and name not in joints for section, name in checker.incomplete):
        return
    known = {GROUND, *bodies}
    if any(joint.parent not in known or joint.child not in known for joint in joints.values()):
        return
    edges = [(name, joint.parent, joint.child) for name, joint in joints.items()]
    linked = spanning_tree(list(bodies), [(*edge, None) for edge in edges], {})
    for body in bodies:
        if body not in linked:
            hint = 'a joint must lead to it; type = "free" lets it move freely'
            checker.complain(("bodies", body), "no path to ground", hint=hint)
    reached = spanning_tree(list(bodies), [(*edge, joints[edge[0]].cut) for edge in edges], {})
    for body in bodies:
        if body in linked and body not in reached:
            name, _, _ = linked[body]
            checker.complain(
                ("bodies", body),
                "no path to ground without cut joints",
                hint=f"cut = true belongs on a joint in a closed loop (see '{name}')",
            )
