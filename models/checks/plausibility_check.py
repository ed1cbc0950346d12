"""Warnings about descriptions that are valid but probably not intended."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kinetree.models.description.joint_units import form_units
from kinetree.models.description.names import expressions
from kinetree.models.expressions.nodes import ExpressionError, leaves
from kinetree.models.expressions.parse import parse
from kinetree.models.language.parts.input_motion_parts import followings

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

LARGEST_ANGLE = 4 * math.pi  # [rad] at the start: more is likely a number in degrees


def check_meaning(checker: Checker) -> None:
    """Add all plausibility warnings."""
    warn_unused(checker)
    warn_angles(checker)
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
