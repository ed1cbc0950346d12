"""Conversion of pydantic errors to problems of a description, with similar names for unknown keys."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from kinetree.models.description.reading.source_location import Origin, key_path
from kinetree.models.description.schema import Description
from kinetree.models.forces.kinds import KINDS
from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
from kinetree.models.language.errors import MOST_PROBLEMS, Problem, shown, suggestion
from kinetree.models.language.parts.controller_parts import CONTROLLERS

TAGGED = {  # sections whose tables are of several kinds
    "forces": {name: kind.table for name, kind in KINDS.items()},
    "hydraulics": {name: kind.table for name, kind in HYDRAULICS.items()},
    "controllers": CONTROLLERS,
}
MAX_VALIDATION_ROUNDS = 5  # each takes away what the one before complained about
EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list",
}


def validate(
    raw: dict[str, Any], origin: Origin
) -> tuple[Description | None, list[Problem], set[tuple[str, str | int]]]:
    """Return the description, the problems, and the tables (section, name) that are incomplete
    because faulty parts were left out.

    As much as possible is returned in spite of problems, so that checks can find further errors in
    one pass; faulty parts are removed from `raw`.
    """
    problems: list[Problem] = []
    incomplete: set[tuple[str, str | int]] = set()
    for attempt in range(MAX_VALIDATION_ROUNDS):
        try:
            return Description.model_validate(raw), problems, incomplete
        except ValidationError as error:
            faults = [(plain_path(each["loc"]), each) for each in error.errors(include_url=False)]
            if attempt == 0:
                problems += [
                    as_problem(path, each, origin) for path, each in faults[:MOST_PROBLEMS]
                ]
            for path, each in sorted(faults, key=lambda fault: len(fault[0])):
                leave_out(raw, path, each["type"])
                if each["type"] != "extra_forbidden" or len(path) > 1:
                    incomplete.add((str(path[0]), path[1] if len(path) > 1 else ""))
    return None, problems, incomplete


def plain_path(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return an error location without the tags that pydantic adds for the kind of a table."""
    if len(location) > 2 and location[2] in TAGGED.get(str(location[0]), ()):
        return location[:2] + location[3:]
    return location


def as_problem(path: tuple[str | int, ...], error: Any, origin: Origin) -> Problem:
    kind, context = error["type"], error.get("ctx", {})
    found, expected, hint = shown(error["input"]), EXPECTED.get(kind, ""), ""
    if kind == "kinetree":
        found, expected = context["found"], context["expected"]
    elif kind == "missing":
        names = [part for part in error["loc"] if isinstance(part, str)]
        model = model_at(tuple(names[:-1]))
        field = model.model_fields.get(names[-1]) if model else None
        text = ((field.description if field else None) or "a value").split(";")[0]
        found, expected = (
            "nothing",
            text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text,
        )
    elif kind == "extra_forbidden":
        model = model_at(error["loc"][:-1])
        found, expected = f"the unknown key {shown(path[-1])}", ""
        hint = suggestion(
            path[-1], [key for key in model.model_fields if key != "copies"] if model else []
        )
        hint = hint or keys_told(path, error["loc"])
    elif kind in ("union_tag_not_found", "union_tag_invalid"):
        given = error["input"].get("kind") if isinstance(error["input"], dict) else error["input"]
        whose = {"forces": "force", "controllers": "controller"}.get(str(path[0]), "element")
        found = (
            f"kind {shown(given)}" if given is not None else f"keys that tell no kind of {whose}"
        )
        kinds = TAGGED[str(path[0])]
        expected, hint = (
            "kind = one of " + ", ".join(kinds),
            suggestion(given, kinds) if given is not None else "",
        )
    elif kind == "literal_error":
        expected = str(context["expected"]).replace(" or ", ", ")
        hint = suggestion(error["input"], [word.strip("'") for word in expected.split(", ")])
        hint = hint if hint.startswith("did") else ""
    elif not expected:
        expected = error["msg"]
    return Problem(
        key=key_path(path),
        found=found,
        expected=expected,
        hint=hint,
        file=origin.file,
        line=origin.line(path) or origin.line_of_section(str(path[0]) if len(path) == 1 else ""),
    )


def keys_told(path: tuple[str | int, ...], location: tuple[str | int, ...]) -> str:
    """Return a hint to the command that lists the keys of a table, or an empty text."""
    kind = [str(part) for part in location[2:3] if part in TAGGED.get(str(path[0]), ())]
    table = "description" if len(path) == 1 else " ".join([str(path[0]), *kind])
    return f"`kinetree explain {table}` lists those there are" if len(path) <= 3 else ""


def model_at(path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """Return the schema class of the table at the location of a validation error."""
    candidates: list[Any] = [Description]
    if len(path) > 2 and path[2] in TAGGED.get(str(path[0]), ()):
        candidates, path = [TAGGED[str(path[0])][str(path[2])]], path[3:]
    for part in path:
        found: list[Any] = []
        for candidate in candidates:
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                if part in candidate.model_fields:
                    found += inner_types(candidate.model_fields[str(part)].annotation)
            else:
                found += [
                    each for argument in get_args(candidate) for each in inner_types(argument)
                ]
        candidates = found
    models = list(
        dict.fromkeys(
            each for each in candidates if isinstance(each, type) and issubclass(each, BaseModel)
        )
    )
    return models[0] if len(models) == 1 else None


def inner_types(annotation: Any) -> Iterator[Any]:
    """Yield the schema classes, dicts and tuples inside Annotated types and unions."""
    if get_origin(annotation) is Annotated:
        yield from inner_types(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for argument in get_args(annotation):
            yield from inner_types(argument)
    elif annotation not in (type(None), Ellipsis):
        yield annotation


def leave_out(raw: dict[str, Any], path: tuple[str | int, ...], kind: str) -> None:
    """Remove a faulty key from the raw description, or the list or table that contains it."""
    end = next((k for k, part in enumerate(path) if isinstance(part, int)), len(path))
    path = path[:end] if end < len(path) else path[:-1] if kind == "missing" else path
    table: Any = raw
    for part in path[:-1]:
        table = table.get(part)
        if not isinstance(table, dict):
            return
    if path:
        table.pop(path[-1], None)
