"""Checks of beams: materials with moduli, valid sections, stations on the beam, and outputs of
existing beams.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from kinetree.models.beams.beam_expansion import divided
from kinetree.models.beams.discretization import SAME, BeamProblem
from kinetree.models.expressions.parse import ExpressionError
from kinetree.models.language.basic_checks import Path, check_signs
from kinetree.models.language.errors import shown
from kinetree.models.language.parts.beam_parts import Beam, Section
from kinetree.models.quantities.cross_sections import Sizes, moments, sizes_of, value_of

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

RATIOS = 1.0  # damping ratios are below it


def check_beams(checker: Checker) -> None:
    """Report problems of beams as written, and of tables whose stations are not on a beam."""
    d = checker.description.written
    for name, beam in d.beams.items():
        path: Path = ("beams", name)
        if name in d.bodies:
            checker.complain(path, f"the name '{name}'", hint="it is already a body")
        check_signs(checker, path, beam, beam.positive, beam.not_negative)
        ratio = checker.number(beam.damping)
        if ratio is not None and ratio >= RATIOS:
            checker.complain((*path, "damping"), f"{ratio:g}", "a damping ratio below 1")
        if not checker.known((*path, "material"), beam.material, d.materials, "material"):
            continue
        sections = [check_section(checker, (*path, "section"), each) for _, each in beam.section]
        if path not in checker.incomplete and all(sections):
            check_chain(checker, name, beam)
    for section in (
        "joints",
        "forces",
        "actuators",
        "contacts",
        "couplings",
        "hydraulics",
        "outputs",
    ):
        for name, table in getattr(d, section).items():
            check_stations(checker, (section, name), table)
    for name, output in d.outputs.items():
        check_output(checker, ("outputs", name), output)


def check_section(checker: Checker, path: Path, section: Section) -> bool:
    """Report section sizes that leave no material; return whether the section is valid."""
    sizes = sizes_of(section)
    if sizes.form != "numbers":
        numbers = [checker.number(each) for each in getattr(section, sizes.form)]
    else:
        numbers = [checker.number(getattr(section, key)) for key in ("area", "iy", "iz", "j")]
    if None in numbers:
        return False
    least = 0.0 if sizes.form == "tube" else min(numbers)  # type: ignore[type-var]
    try:
        found = moments(Sizes(sizes.form, tuple(map(value_of, numbers))))
    except ZeroDivisionError:
        found = (0.0,)
    inside = sizes.form == "tube" and float(numbers[1] or 0.0) < 0.0
    thick = sizes.form == "box" and 2.0 * float(numbers[2] or 0.0) > min(numbers[:2])  # type: ignore[type-var,operator]
    if min(found) <= 0.0 or inside or thick or (least is not None and least < 0.0):
        sizes_found = ", ".join(f"{each:g}" for each in numbers if each is not None)
        checker.complain(path, f"{sizes.form} of {sizes_found}", "sizes that leave some material")
        return False
    return True


def check_chain(checker: Checker, name: str, beam: Beam) -> None:
    """Report everything that prevents the discretisation of a beam into pieces."""
    try:
        divided(name, beam, checker.description.written, checker.values)
    except BeamProblem as problem:
        checker.complain(("beams", name, problem.key), problem.found, problem.expected)
    except (ExpressionError, ArithmeticError, KeyError):
        pass  # told where the number stands


@lru_cache(maxsize=256)
def inner_fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a table that may contain tables with stations."""
    if not issubclass(kind, BaseModel):
        return ()
    return tuple(
        name
        for name, field in kind.model_fields.items()
        if any(holds_station(each) for each in tables_in(field.annotation))
    )


def holds_station(kind: type[BaseModel]) -> bool:
    """Return whether a table, or a table inside it, has a key `station`."""
    return "station" in kind.model_fields or bool(inner_fields(kind))


def tables_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the table types that a type annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [each for inner in get_args(annotation) for each in tables_in(inner)]


def check_stations(checker: Checker, path: Path, table: Any) -> None:
    """Report stations beyond the end of a beam, and stations on bodies that are not beams."""
    beams = checker.description.written.beams
    keys = (("station", ("body", "parent", "child", "beam")), ("child_station", ("child",)))
    for key, names in keys:
        station = getattr(table, key, None)
        if station is None:
            continue
        on = [name for each in names if (name := getattr(table, each, None)) in beams]
        value = checker.number(station)
        if not on:
            checker.complain((*path, key), key, "no station: it does not name a beam")
            continue
        length = checker.number(beams[on[0]].length)
        if value is not None and length is not None:
            if not -SAME * length <= value <= length * (1.0 + SAME):
                checker.complain((*path, key), f"{value:g}", f"0 to {length:g}, on '{on[0]}'")
    for key in inner_fields(type(table)):
        value = getattr(table, key)
        parts = value if isinstance(value, tuple) else (value,)
        for index, part in enumerate(parts):
            if isinstance(part, BaseModel):
                at = (*path, key, index) if isinstance(value, tuple) else (*path, key)
                check_stations(checker, at, part)


def check_output(checker: Checker, path: Path, output: Any) -> None:
    """Report outputs of beams that do not exist, or that lack a station or a component."""
    d = checker.description.written
    if output.quantity not in ("deflection", "section_load", "stress") or output.beam is None:
        return
    if not checker.known((*path, "beam"), output.beam, d.beams, "beam"):
        return
    if output.station is None:
        checker.complain((*path, "station"), "nothing", "where on the beam [m]")
    if output.quantity == "section_load" and output.axis is None:
        checker.complain((*path, "axis"), "nothing", "n, vy, vz, mx, my or mz")
    forms = {section.form for _, section in d.beams[output.beam].section}
    if output.quantity == "stress" and "numbers" in forms:
        expected = "a section of a shape: tube, box or rectangle"
        checker.complain((*path, "beam"), f"{shown(output.beam)}, a section of numbers", expected)
