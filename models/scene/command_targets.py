"""Display of controller commands that do not act along a coordinate: on struts, points of bodies,
valves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from kinetree.models.controllers.expansion import actuators_of
from kinetree.models.description.schema import Description
from kinetree.models.expressions.nodes import ExpressionError, Leaf, postorder
from kinetree.models.expressions.parse import parse
from kinetree.models.hydraulics.kinds import KINDS
from kinetree.models.scene.attachments import Numbers
from kinetree.models.scene.default_shapes import ROD
from kinetree.models.scene.shapes import Part, distance_outside, part

CONTROLLED = "#3c9a55"
PLACES = ("supply", "tank", "a", "b", "at", "path")  # where an element of a circuit stands
WORDS = {
    "kind",
    "body",
    "between",
    "coordinate",
    "other",
    "frame",
    "unit",
    "text",
    *PLACES,
}  # keys that hold no law


def names_in(law: Any) -> set[str]:
    """Return the names that a law uses."""
    if not isinstance(law, str):
        return set()
    try:
        return {node.key for node in postorder((parse(law),)) if isinstance(node, Leaf)}
    except ExpressionError:
        return set()


def laws(table: Any) -> Iterator[str]:
    """Yield the texts of a table that may be expressions, including those of nested tables."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, (dict, BaseModel)):
        for key, value in table.items() if isinstance(table, dict) else table:
            if key not in WORDS:
                yield from laws(value)
    elif isinstance(table, (list, tuple)):
        for value in table:
            yield from laws(value)


def told(description: Description) -> set[str]:
    """Return the actuators to whose force a controller's command is added."""
    return {
        actuator
        for controller in description.controllers.values()
        for actuator in actuators_of(controller)
        if actuator is not None
    }


def commanded(description: Description) -> set[str]:
    """Return the names of forces, actuators and hydraulic cylinders that a controller commands."""
    reads = set(description.controllers)

    def heard(table: Any) -> bool:
        return any(name.partition(".")[0] in reads for law in laws(table) for name in names_in(law))

    if not reads:
        return set()
    found = told(description) | {
        name
        for name, table in {**description.forces, **description.actuators}.items()
        if heard(table)
    }
    circuit = {
        name: places_of(table) - set(sources(description))
        for name, table in description.hydraulics.items()
    }
    reached = {name for name, table in description.hydraulics.items() if heard(table)}
    while more := {
        name
        for name in circuit
        if name not in reached
        and any(circuit[name] & (circuit[other] | {other}) for other in reached)
    }:
        reached |= more
    return found | reached


def sources(description: Description) -> list[str]:
    """Return the hydraulic nodes with prescribed pressure."""
    return [
        name
        for name, table in description.hydraulics.items()
        if KINDS[table.kind].place and not KINDS[table.kind].gives_way
    ]


def places_of(element: Any) -> set[str]:
    """Return the hydraulic nodes that an element is connected to."""
    found = [getattr(element, key) for key in PLACES if getattr(element, key, None)]
    return {place for each in found for place in ([each] if isinstance(each, str) else each)}


def boxes(
    description: Description, numbers: Numbers, size: float, parts: Mapping[str, Sequence[Part]]
) -> dict[str, list[Part]]:
    """Add green boxes where a commanded force acts on a point of a body, and return them by body."""
    found: dict[str, list[Part]] = {}
    names = commanded(description)
    for name, force in description.forces.items():
        body, point = getattr(force, "body", None), getattr(force, "point", None)
        if name in names and body is not None and point is not None:
            at, step = numbers.vector(point), np.array([0.0, 0.0, 0.4 * ROD * size])
            while any(
                distance_outside(each, at) == 0.0 for each in parts.get(body, ())
            ):  # on what is drawn there, not inside of it
                at = at + step
            found.setdefault(body, []).append(
                part("box", np.array([3.0, 3.0, 2.0]) * ROD * size, at, np.eye(3), CONTROLLED)
            )
    return found
