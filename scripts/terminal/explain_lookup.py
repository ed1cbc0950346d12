"""Lookup for `kinetree explain` besides keys: allowed values, units, nested tables, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

if TYPE_CHECKING:
    from pydantic import BaseModel

Lines = list[tuple[str, str]]


def values(word: str) -> Lines:
    """Return the meaning of a word that is a type of joint, an integrator, a library mechanism or a
    unit.
    """
    from kinetree.models.description.reading.read_source import library_names
    from kinetree.models.joints.kinds import KINDS
    from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit
    from kinetree.solvers.integrate.kinds import INTEGRATORS

    found: Lines = [
        (f"type of a joint: {name}", kind.says) for name, kind in KINDS.items() if name == word
    ]
    found += [
        (f"integrator: {each.name}", f"{each.title}, order {each.order}: {each.use}")
        for each in INTEGRATORS
        if each.name == word
    ]
    library = word.removeprefix("lib:").replace("_", "-")
    if library in library_names():
        text = f"a mechanism of the library, `kinetree info lib:{library}`; docs/library.md"
        found.append((f"lib:{library}", text))
    try:
        unit = parse_unit(word)
    except UnitError:
        return found
    if re.fullmatch(r"[A-Za-z%][\w.*/%^()-]*", word):
        base = (
            ".".join(name if power == 1 else f"{name}{power}" for name, power in unit.base.items())
            or "1"
        )
        found.append(
            (
                f"unit: {word}",
                f"{unit.factor:g} {base}" + (f", from {unit.offset:g}" if unit.offset else ""),
            )
        )
    return found


def choices() -> dict[str, str]:
    """Return the allowed values of keys that registries define."""
    from kinetree.models.joints.kinds import KINDS
    from kinetree.solvers.integrate.kinds import NAMES

    return {"type": ", ".join(KINDS), "integrator": ", ".join(NAMES)}


def classes(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of tables in a type annotation."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from classes(part)


def inside(model: type[BaseModel], key: str) -> list[type[BaseModel]]:
    """Return the tables that a key contains; none if it has three or more kinds."""
    found = list(dict.fromkeys(classes(get_type_hints(model, include_extras=True)[key])))
    return found if len(found) < 3 else []


def example(label: str) -> str:
    """Return the example of a table by its label, such as `[forces] kind = line`."""
    from kinetree.models.description.reference import EXAMPLES, slug

    section, _, kind = label.partition(" kind = ")
    name = (
        slug({"forces": "force"}.get(section.strip("[]"), section.strip("[]")), kind)
        if kind
        else slug(label.replace(".", "_"))
    )
    path = EXAMPLES / f"{name}.toml"
    return path.read_text(encoding="utf-8").rstrip() if path.exists() else ""
