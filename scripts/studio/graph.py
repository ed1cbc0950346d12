"""The structure of a mechanism as a graph: bodies in rows by their distance from the ground,
connected by joints, loop joints, forces and contacts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinetree.models import Mechanism
from kinetree.models.language.parts.contact_parts import Contact, contact_bodies
from kinetree.models.language.parts.coupling_parts import Coupling
from kinetree.models.language.parts.coupling_parts import bodies_of as coupling_bodies

GROUND = "ground"
KINDS = ("joint", "loop", "force")


@dataclass(frozen=True)
class Edge:
    """An element that connects two bodies: joint, loop joint, force element or contact."""

    a: str
    b: str
    name: str
    text: str
    kind: str


@dataclass(frozen=True)
class Graph:
    """Bodies with grid positions (column, row), and the elements that connect them."""

    places: dict[str, tuple[float, int]]
    edges: tuple[Edge, ...]

    @property
    def rows(self) -> int:
        return 1 + max(row for _, row in self.places.values())

    @property
    def columns(self) -> int:
        return 1 + round(max((column for column, _ in self.places.values()), default=0))


def graph_of(mechanism: Mechanism) -> Graph:
    """Return the graph of a mechanism with joints, loop joints and force elements."""
    from kinetree.scripts.terminal.model_info import anatomy

    system = mechanism.compile()
    content, description = anatomy(system), mechanism.description
    edges = [
        Edge(
            joint["parent"],
            joint["child"],
            joint["name"],
            kind_of(joint),
            "loop" if joint["cut"] else "joint",
        )
        for joint in content["joints"]
    ]
    parts = {
        **description.forces,
        **description.actuators,
        **description.hydraulics,
        **description.contacts,
        **description.couplings,
    }
    for name, part in parts.items():
        pair = ends(part)
        if pair is not None:
            edges.append(Edge(*pair, name, word_of(part), "force"))
    parents = {body["name"]: body["parent"] for body in content["bodies"]}
    return Graph(places_of(parents), tuple(edges))


def kind_of(joint: dict[str, Any]) -> str:
    if joint["type"] != "transforms":
        return str(joint["type"])
    return ", ".join(joint["coordinates"]) or "fixed"


def word_of(part: Any) -> str:
    """Return the kind of an element, such as revolute or spring."""
    return str(getattr(part, "kind", "") or type(part).__name__.lower())


def ends(part: Any) -> tuple[str, str] | None:
    """Return the two bodies that an element connects; None if it connects fewer."""
    if isinstance(part, Contact):
        named = sorted(contact_bodies(part), key=lambda body: body != part.body)
    elif isinstance(part, Coupling):
        named = sorted(coupling_bodies(part) - {GROUND})
    elif hasattr(part, "bodies"):
        named = [body for _, body in part.bodies()]
    else:
        named = [end.body for end in getattr(part, "between", None) or ()]
    named = list(dict.fromkeys(named))[:2]
    if len(named) == 1 and named[0] != GROUND:
        named.insert(0, GROUND)
    return (named[0], named[1]) if len(named) == 2 else None


def places_of(parents: dict[str, str]) -> dict[str, tuple[float, int]]:
    """Return the grid position of every body: leaves side by side, parents above the middle of
    their children.
    """
    children: dict[str, list[str]] = {GROUND: []}
    for body, parent in parents.items():
        children.setdefault(parent, []).append(body)
        children.setdefault(body, [])
    order, rows = [GROUND], {GROUND: 0}
    for body in order:
        order += children[body]
        rows |= dict.fromkeys(children[body], rows[body] + 1)
    columns: dict[str, float] = {}
    leaves, stack = 0, [GROUND]
    while stack:  # leaves from left to right
        body = stack.pop()
        if not children[body]:
            columns[body] = float(leaves)
            leaves += 1
        stack += reversed(children[body])
    for body in reversed(order):
        if children[body]:
            columns[body] = 0.5 * (columns[children[body][0]] + columns[children[body][-1]])
    return {body: (columns[body], rows[body]) for body in order}
