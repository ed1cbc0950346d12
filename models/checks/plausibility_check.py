"""Warnings about descriptions that are valid but probably not intended."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kinetree.models.description.joint_units import form_units
from kinetree.models.description.names import expressions
from kinetree.models.description.reading.source_location import key_path
from kinetree.models.expressions.nodes import ExpressionError, leaves
from kinetree.models.expressions.parse import parse
from kinetree.models.language.errors import Problem
from kinetree.models.language.parts.input_motion_parts import followings
from kinetree.models.language.units.si_conversion import Measured
from kinetree.models.language.units.unit_of_measure import coherent, parse_unit

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

FAR, CLOSE = 8.0, 5.0  # factors between a declared value, one in SI and one in the declared unit
LARGEST_LENGTH = 100.0  # [m] of a place on a body: more is likely a number in millimetres
LARGEST_ANGLE = 4 * math.pi  # [rad] at the start: more is likely a number in degrees


def check_meaning(checker: Checker) -> None:
    """Add all plausibility warnings."""
    warn_unused(checker)
    warn_angles(checker)
    warn_lengths(checker)
    warn_stages(checker)


def warn_unused(checker: Checker) -> None:
    """Warn about parameters, tables and inputs that nothing uses."""
    d = checker.description
    used, texts = set[str](), list[str]()
    for _, text in expressions(d):
        try:
            used |= {leaf.name for leaf in leaves(parse(text))}
        except ExpressionError:
            return
        texts.append(text)
    set_names = {name for stage in d.stages for name in stage.set} | {
        name for event in d.events.values() for name in event.set
    }
    for name in d.parameters:
        if name not in used | set_names and not copied(name, checker):
            checker.warn(("parameters", name), hint="nothing uses this parameter")
    followed = {
        name for _, each in followings(d) for name in (each.input, each.rate, each.acceleration)
    }
    for name in d.inputs:
        if name not in used and ("inputs", name) not in d.made and name not in followed:
            checker.warn(("inputs", name), hint="nothing uses this input")
    looked_into = " ".join(texts) + " ".join(told(d.forces))
    for name in d.tables:
        if name not in looked_into:
            checker.warn(("tables", name), hint="nothing uses this table")


def copied(name: str, checker: Checker) -> bool:
    """Return whether a parameter is used in a number of copies; copies are expanded before this
    check.
    """
    return (
        bool(checker.origin.templates)
        or "copies" in checker.origin.text
        and name in checker.origin.text.partition("copies")[2][:10_000]
    )


def told(forces: dict[str, Any]) -> list[str]:
    """Return the names of the tables that force elements use."""
    keys = ("law", "damping_law")
    return [
        str(getattr(force, key))
        for force in forces.values()
        if isinstance(force, BaseModel)
        for key in keys
        if getattr(force, key, None)
    ]


def warn_angles(checker: Checker) -> None:
    """Warn if a start angle looks like degrees."""
    for name, form in checker.forms.items():
        units = form_units(form)
        for coordinate, start in zip(form.coordinates, form.starts, strict=True):
            value = checker.number(start)
            if units[coordinate] == "rad" and value is not None and abs(value) > LARGEST_ANGLE:
                hint = 'angles are in radians; { value = ..., unit = "deg" } takes degrees'
                checker.warn(("joints", name), f"'{coordinate}' starts at {value:g} rad", hint=hint)


def warn_lengths(checker: Checker) -> None:
    """Warn about places of joints and centres of mass so far away that they look like millimetres."""
    places = {
        (section, name, key): getattr(part, key, None)
        for section, keys in (("joints", ("at", "child_at")), ("bodies", ("com",)))
        for name, part in getattr(checker.description, section).items()
        for key in keys
        if key in part.model_fields_set and (section, name) not in checker.description.pieces
    }
    for path, values in places.items():
        numbers = checker.numbers(values)
        plain = numbers is not None and not any(isinstance(each, Measured) for each in values or ())
        if plain and max(map(abs, numbers or (0.0,))) >= LARGEST_LENGTH:
            shown = ", ".join(f"{each:g}" for each in numbers or ())
            hint = f'if millimetres are meant: {{ value = [{shown}], unit = "mm" }}'
            checker.warn(path, f"[{shown}] m", hint=hint)


def unit_slip(name: str, value: object, shown_in: str, declared: object) -> Problem | None:
    """Return a warning about a value without unit that overrides a parameter which its description
    gives in another unit than SI, if it is far more likely meant in that unit; None otherwise.

    `declared` is the number of the description in SI, if it is one.
    """
    if not isinstance(value, (int, float)) or isinstance(value, (bool, Measured)) or not value:
        return None
    unit, plain = parse_unit(shown_in), coherent(shown_in)
    if unit.coherent or not math.isfinite(value):
        return None
    likely = plain == "rad" and abs(value) > LARGEST_ANGLE
    if isinstance(declared, (int, float)) and declared:
        as_given, as_meant = (
            abs(math.log(abs(x / declared) or math.inf))
            for x in (value, unit.to_si(value) or 1e-300)
        )
        likely |= as_given > math.log(FAR) and as_meant + math.log(CLOSE) < as_given
    if not likely:
        return None
    hint = f"without a unit it is in SI; --set {name}={value:g}{shown_in} takes it in {shown_in}"
    return Problem(
        key_path(("parameters", name)), f"{value:g} {plain}", f"a value in {shown_in}", hint
    )


def warn_stages(checker: Checker) -> None:
    """Warn about stages that cannot be reached before the end of the run."""
    stages, run = checker.description.stages, checker.description.run
    stop, begin = checker.number(run.stop_time), checker.number(run.start_time) or 0.0
    for index, stage in enumerate(stages[:-1]):
        at = (
            checker.number(stage.ends.at)
            if stage.ends and stage.ends.when is None and stage.ends.after is None
            else None
        )
        if at is None:
            continue
        if stop is not None and at >= stop:
            following = stages[index + 1].name or f"stage {index + 2}"
            checker.warn(
                ("stages", index, "ends", "at"),
                f"{at:g}",
                f"less than stop_time, {stop:g}",
                f"'{following}' is not reached",
            )
        if at <= begin:
            checker.warn(
                ("stages", index, "ends", "at"),
                f"{at:g}",
                f"more than the time it begins, {begin:g}",
                "the stage has no duration",
            )
        begin = max(begin, at)
