"""Registry of hydraulic components: each file of this folder declares one kind of node or
component.

Schema and checks, the derivation of kinds from keys, laws, names and states, docs and completion
come from the registry. A new component is one file with a HYDRAULIC. Nodes are sources and volumes;
a `path` leads from one node to another, and flow along it is positive. Pressures are absolute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.language.tagged_union import OneOf
from kinetree.models.registry import registered

KINDS: dict[str, HydraulicKind] = registered(
    __name__, __path__, "HYDRAULIC", "kinds of hydraulic parts"
)
TELLING = {key: name for name, kind in reversed(KINDS.items()) for key in kind.told_by} | {
    "path": "orifice"
}  # several kinds have a path


def hydraulic_kind(value: Any) -> str | None:
    """Return the kind of a component's table, given or derived from its keys."""
    if not isinstance(value, dict):
        return getattr(value, "kind", None)
    if "kind" in value:
        return value["kind"] if isinstance(value["kind"], str) else None
    return next((kind for key, kind in TELLING.items() if key in value), None)


if TYPE_CHECKING:
    Hydraulic = Any
else:
    Hydraulic = Annotated[
        Any, OneOf({name: kind.table for name, kind in KINDS.items()}, hydraulic_kind)
    ]
