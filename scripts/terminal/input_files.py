"""Files of studies and scenarios as pydantic models: every mistake becomes one readable line with
file and key.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinetree.models.description.reading.source_location import key_path
from kinetree.models.language.errors import shown, suggestion
from kinetree.models.language.plain_files import fault_of
from kinetree.scripts.terminal.error_messages import BadInput

Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0.0, allow_inf_nan=False)]
LARGEST_FILE = 8_000_000  # bytes
WORDS = {
    "string_type": "a text", "bool_type": "true or false", "float_type": "a number", "int_type": "a whole number", "finite_number": "a finite number",
    "dict_type": "a table", "model_type": "a table", "model_attributes_type": "a table", "list_type": "a list of numbers", "tuple_type": "a list",
    "int_from_float": "a whole number", "string_too_short": "a text", "too_short": "at least one",
}  # fmt: skip
TAGS = ("spread", "distribution", "list")  # of unions: no keys of a file


class FileTable(BaseModel):
    """Base class of tables in files: unknown keys are errors, values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


Table = TypeVar("Table", bound=FileTable)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a file of bounded size."""
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    try:
        if fault := fault_of(path, LARGEST_FILE):
            raise BadInput(f"{path}: {fault}")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None
    except RecursionError:
        raise BadInput(f"{path}: tables or lists nested too deeply") from None


def only(found: Mapping[str, Any], known: set[str], place: str) -> None:
    """Raise BadInput for keys that a table does not have."""
    for key in found:
        if key not in known:
            raise BadInput(
                f"{place}: unknown key '{key}', expected one of {', '.join(sorted(known))}"
            )


def number(value: Any, place: str) -> float:
    """Return a finite number; `place` names it in the message."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadInput(f"{place}: found {value!r}, expected a number")
    return float(value)


def checked(kind: type[Table], raw: Mapping[str, Any], place: str) -> Table:
    """Return a table of a file as a model of class `kind`; BadInput names every mistake."""
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        known = lambda at: known_keys(kind, at)  # noqa: E731
        raise BadInput(
            "\n".join(
                f"{place}: {line}"
                for line in dict.fromkeys(mistake(each, known) for each in error.errors()[:20])
            )
        ) from None
    except RecursionError:
        raise BadInput(f"{place}: tables or lists nested too deeply") from None


def mistake(error: Any, known: Any) -> str:
    """Return one error line with the key, the value found and what was expected."""
    path = tuple(part for part in error["loc"] if part not in TAGS)
    key, kind = key_path(path), error["type"]
    if kind == "extra_forbidden":
        names = known(path[:-1])
        near = suggestion(path[-1], names)
        return f"{key}: unknown key; {near if near.startswith('did') else 'expected one of ' + ', '.join(sorted(names))}"
    if kind == "missing":
        return f"{key}: is missing"
    if kind == "literal_error":
        return f"{key}: found {shown(error['input'])}, expected one of {error['ctx']['expected'].replace(' or ', ', ')}"
    if kind == "value_error":
        return f"{key}: {error['ctx']['error']}" if key else str(error["ctx"]["error"])
    positive = error.get("ctx", {}).get("gt") == 0
    above = "a positive number" if positive else "more than {gt:g}"
    bounds = {
        "greater_than": above,
        "greater_than_equal": "{ge:g} or more",
        "less_than_equal": "at most {le:g}",
    }
    expected = (
        bounds[kind].format(**error["ctx"])
        if kind in bounds
        else WORDS.get(kind, error["msg"][:1].lower() + error["msg"][1:])
    )
    return f"{key}: found {shown(error['input'])}, expected {expected}"


def known_keys(kind: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """Return the keys of the table at a path inside a model."""
    for part in path:
        if isinstance(part, str) and part in kind.model_fields:
            found = inner_models(kind.model_fields[part].annotation)
            if not found:
                return []
            kind = found[0]
    return [field.alias or name for name, field in kind.model_fields.items()]


def inner_models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models inside dicts, lists, unions and Annotated types of an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for each in getattr(annotation, "__args__", ()) for found in inner_models(each)]
