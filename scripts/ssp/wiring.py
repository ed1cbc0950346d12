"""Flattening of connections through subsystems to direct connections between components."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from kinetree.scripts.ssp.structure import Connector

Place = tuple[str, str]  # element ("" for the root system) and connector
Ends = Mapping[Place, Connector]


@dataclass(frozen=True)
class Edge:
    """end = factor * start + offset; `plain` forbids a conversion of units."""

    start: Place
    end: Place
    factor: float = 1.0
    offset: float = 0.0
    plain: bool = False


def direct(
    edges: Sequence[Edge],
    ends: Ends,
    components: Set[str],
    systems: Set[str],
    refuse: Callable[[str], Exception],
) -> list[Edge]:
    """Return one edge per component input fed by a component output; inputs fed from the root keep
    start values.
    """
    feeders: dict[Place, Edge] = {}
    for edge in edges:
        if edge.end in ends and ends[edge.end].kind in ("output", "calculatedParameter"):
            raise refuse(
                f"connection {'.'.join(edge.start)} -> {'.'.join(edge.end)} leads to an output"
            )
        if edge.end in feeders:
            raise refuse(f"two connections lead to {'.'.join(edge.end)}")
        feeders[edge.end] = edge
    for edge in edges:
        for element, connector in (edge.start, edge.end):
            if element not in components | systems:
                raise refuse(f"there is no element '{element}', which a connection names")
            if element in components and (element, connector) not in ends:
                raise refuse(
                    f"component '{element}' has no connector '{connector}', which a connection names"
                )
    found = []
    for place, edge in feeders.items():
        if place[0] not in components:
            continue
        factor, offset, plain, start, passed = (
            edge.factor,
            edge.offset,
            edge.plain,
            edge.start,
            {place},
        )
        while start[0] not in components and start in feeders and start not in passed:
            passed.add(start)
            before = feeders[start]
            factor, offset, plain, start = (
                factor * before.factor,
                factor * before.offset + offset,
                plain or before.plain,
                before.start,
            )
        if start[0] in components:
            found.append(Edge(start, place, factor, offset, plain))
    return found
