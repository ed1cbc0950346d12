"""Loads a file, dict, library name or robot file as a checked `Description`: read, override
parameters, expand copies, validate, check.

All problems of a description are raised at once. Hostile input meets the limits stated in
`read_source`, `copies` and `expressions`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic_core import PydanticCustomError

from kinetree.models.checks.consistency_check import check
from kinetree.models.checks.plausibility_check import unit_slip
from kinetree.models.checks.source_validation import validate
from kinetree.models.controllers.expansion import expanded
from kinetree.models.description.mass_properties import with_masses
from kinetree.models.description.reading.copies import Copier, expand_copies
from kinetree.models.description.reading.hull_files import fill_hulls
from kinetree.models.description.reading.read_source import (
    Source,
    foreign_reader,
    is_foreign,
    library_entry,
    plain,
    read,
)
from kinetree.models.description.reading.source_location import Origin
from kinetree.models.description.reading.table_files import fill_tables
from kinetree.models.description.schema import Description
from kinetree.models.language.errors import MOST_PROBLEMS, ModelError, Problem, shown, suggestion
from kinetree.models.language.parameters import as_parameter_value, evaluate_parameters
from kinetree.models.language.parts.value_parts import PARAMETER_NUMBERS
from kinetree.models.language.units.si_conversion import Measured, in_si
from kinetree.models.language.units.unit_of_measure import fits
from kinetree.models.library.argument_checks import Argument

__all__ = ["Source", "describe", "read"]


def describe(source: Source, **overrides: float | str) -> Description:
    """Return the checked description with all copies expanded; keyword arguments override
    parameters.
    """
    raw, origin, rest, structural = (
        generated(source, overrides) if is_generated(source) else (*read(source), overrides, ())
    )
    problems: list[Problem] = []
    if "parameters" in raw and isinstance(raw["parameters"], dict):
        raw["parameters"], found = parameter_copies(raw["parameters"], rest, origin)
        problems += found
    parameters = raw.get("parameters", {})
    declared = dict(parameters) if isinstance(parameters, dict) else {}
    problems += override(
        parameters if isinstance(parameters, dict) else {}, rest, origin, structural
    )
    slips = [] if problems else slips_of(parameters, rest, declared)
    values, _ = evaluate_parameters(readable(parameters))
    problems += fill_tables(raw, origin) + fill_hulls(raw, origin)
    raw, found = expand_copies(raw, values, origin)
    problems += found
    lost = {(problem.key.split(".")[0].split("[")[0], "") for problem in problems if problem.key}
    description, found, incomplete = validate(raw, origin)
    problems += found
    if description is not None:
        description._counted, description._file = tuple(origin.counted), origin.file
        description, found = with_masses(description, origin)
        problems += found
        description = expanded(description)
        problems += check(description, origin, incomplete | lost)
    if problems or description is None:
        more = [
            Problem(
                key="",
                file=origin.file,
                hint=f"only the first {MOST_PROBLEMS} problems of each kind are shown",
            )
        ]
        raise ModelError(
            sorted(problems, key=lambda problem: problem.line or 0)
            + more * (len(problems) >= MOST_PROBLEMS)
        )
    description._file, description._left_out = origin.file, origin.left_out
    description._slips = tuple(slips)
    description._warnings = (*slips, *description._warnings)
    return description


def is_generated(source: Source) -> bool:
    return (
        is_foreign(source)
        or isinstance(source, str)
        and source.startswith("lib:")
        and callable(library_entry(source))
    )


def generated(
    source: Source, overrides: Mapping[str, Any]
) -> tuple[dict[str, Any], Origin, dict[str, Any], tuple[str, ...]]:
    """Return the description made by a library generator or by the reader of a foreign file, its
    origin, and the overrides that are not arguments of the generator.
    """
    foreign, generator = is_foreign(source), generator_of(source)
    structural = tuple(inspect.signature(generator).parameters)
    origin = Origin(str(source)[:200])
    try:
        raw = generator(**{name: value for name, value in overrides.items() if name in structural})
        if foreign:
            raw, left_out = raw
            origin.left_out = tuple(left_out)
    except (TypeError, ValueError) as error:
        raise ModelError(
            Problem(
                key="",
                file=str(source),
                found="settings that make no mechanism",
                hint=str(error)[:300],
            )
        ) from error
    return (
        plain(raw, str(source)),
        origin,
        {name: value for name, value in overrides.items() if name not in structural},
        structural,
    )


def generator_of(source: Source) -> Callable[..., Any]:
    """Return the function that makes the description of a library entry or of a foreign file."""
    return foreign_reader(source) if is_foreign(source) else library_entry(str(source))  # pyright: ignore


def settings_of(source: Source) -> dict[str, Argument]:
    """Return the arguments of what makes a description by name: meaning, range and default.

    Those that are no numbers (names, tables) are left out.
    """
    if not is_generated(source):
        return {}
    generator = generator_of(source)
    function = generator.func if isinstance(generator, partial) else generator
    known = getattr(sys.modules[function.__module__], "ARGUMENTS", {})
    return {
        name: replace(known.get(name, Argument("")), default=float(each.default))
        for name, each in inspect.signature(generator).parameters.items()
        if isinstance(each.default, (int, float))
    }


def arguments_of(source: Source) -> tuple[str, ...]:
    """Return the names of the generator's arguments, which a mechanism accepts in addition to its
    parameters.
    """
    return tuple(inspect.signature(generator_of(source)).parameters) if is_generated(source) else ()


def parameter_copies(
    parameters: dict[str, Any], overrides: Mapping[str, Any], origin: Origin
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the expanded `copies` of the table of parameters; their number may depend on other
    parameters.
    """
    if not any(isinstance(table, dict) and "copies" in table for table in parameters.values()):
        return parameters, []
    single = {
        name: table
        for name, table in parameters.items()
        if not (isinstance(table, dict) and "copies" in table)
    }
    values, _ = evaluate_parameters(
        readable(single | {name: value for name, value in overrides.items() if name in single})
    )
    copier = Copier(origin, values)
    return copier.section("parameters", parameters), copier.problems


def readable(parameters: object) -> dict[str, float | str]:
    """Return the parameters with readable values; validation reports the others."""
    values: dict[str, float | str] = {}
    for name, table in (parameters if isinstance(parameters, dict) else {}).items():
        try:
            values[name] = as_parameter_value(in_si(table, PARAMETER_NUMBERS))
        except PydanticCustomError:
            continue
    return values


def slips_of(
    parameters: dict[str, Any], overrides: Mapping[str, Any], declared: Mapping[str, Any]
) -> list[Problem]:
    """Return warnings about overrides in SI that are likely meant in the unit of the description."""
    found = []
    for name, value in overrides.items():
        table = in_si(declared.get(name), PARAMETER_NUMBERS)
        if isinstance(table, dict) and "display_unit" in table and name in parameters:
            number = value.item() if hasattr(value, "item") else value
            found.append(unit_slip(name, number, table["display_unit"], table.get("value")))
    return [each for each in found if each is not None]


def override(
    parameters: dict[str, Any],
    overrides: Mapping[str, Any],
    origin: Origin,
    structural: tuple[str, ...],
) -> list[Problem]:
    """Replace parameter values in place and return the problems; a value without a unit (unlike
    {"value": 3, "unit": "mm"}) is in SI.
    """
    problems = []
    for name, value in overrides.items():
        known = [*structural, *parameters]
        if name not in parameters:
            hint = suggestion(name, known) or ("no parameters are defined" if not known else "")
            problems.append(
                Problem(
                    key="",
                    file=origin.file,
                    found=f"override of the unknown parameter {shown(name)}",
                    hint=hint,
                )
            )
            continue
        try:
            number = as_parameter_value(
                in_si(value.item() if hasattr(value, "item") else value, PARAMETER_NUMBERS)
            )
        except PydanticCustomError as error:
            context = error.context or {}
            problems.append(
                Problem(
                    key=f"parameters.{name}",
                    file=origin.file,
                    found=f"override {context.get('found')}",
                    expected=str(context.get("expected")),
                )
            )
            continue
        table = in_si(parameters[name], PARAMETER_NUMBERS)
        unit = table.get("unit") if isinstance(table, dict) else None
        if isinstance(value, Measured) and isinstance(unit, str) and not fits(value.unit, unit):
            problems.append(
                Problem(
                    key=f"parameters.{name}",
                    file=origin.file,
                    found=f"an override in {value.unit}",
                    expected=f"a unit such as {unit}",
                )
            )
            continue
        parameters[name] = table | {"value": number} if isinstance(table, dict) else number
    return problems
