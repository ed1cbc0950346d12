"""Registry of force elements: each file of this folder declares one kind.

Schema and checks, the derivation of kinds from keys, laws, names and states with their units,
display, docs, completion and parameters of tests come from the registry. A new law is one file with
a FORCE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.language.tagged_union import OneOf
from kinetree.models.registry import registered

KINDS: dict[str, ForceKind] = registered(__name__, __path__, "FORCE", "kinds of force elements")


def force_kind(value: Any) -> str | None:
    """Return the kind of a force table, given or derived from its keys."""
    if not isinstance(value, dict):
        return getattr(value, "kind", None)
    if "kind" in value:
        return value["kind"] if isinstance(value["kind"], str) else None
    telling = [kind for kind in KINDS.values() if kind.told_by is not None and kind.place in value]
    by_keys = (kind.name for kind in telling if kind.told_by and not kind.told_by.isdisjoint(value))
    return next(by_keys, next((kind.name for kind in telling if not kind.told_by), None))


def offered(label: str, force: ForceTable) -> dict[str, str]:
    """Return the names of the variables that a force element defines, with their units."""
    return {f"{label}.{suffix}": unit for suffix, unit in KINDS[force.kind].names(force).items()}


if TYPE_CHECKING:
    Force = ForceTable
else:
    Force = Annotated[Any, OneOf({name: kind.table for name, kind in KINDS.items()}, force_kind)]
