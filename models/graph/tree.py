"""Spanning tree and regular numbering of the graph of bodies and joints ([Sh24] section 1, theory
of closed chains [SC24]).

Preferred tree joints are those that the user forbids to cut, then joints used in their own
direction, then short branches, then joints with few degrees of freedom. Bodies keep the user's
order wherever it is regular already. Cost O((N + J) log J).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

GROUND = "ground"
Edge = tuple[str, str, str, bool | None]  # joint, parent, child, cut


class GraphError(ValueError):
    """Raised for bodies that no joint connects to the ground."""

    def __init__(self, bodies: Sequence[str]):
        super().__init__("no path to ground: " + ", ".join(bodies))
        self.bodies = tuple(bodies)


@dataclass(frozen=True)
class Topology:
    """The tree in regular numbering: entry k belongs to body number k + 1, predecessors have
    smaller numbers; the ground is 0.
    """

    order: tuple[str, ...]
    parent: tuple[int, ...]
    joint: tuple[str, ...]
    reversed: tuple[bool, ...]  # the joint's child is the predecessor
    cuts: tuple[str, ...]  # joints outside the tree, in the order of the description


def regular_numbering(
    bodies: Sequence[str], joints: Sequence[Edge], freedoms: Mapping[str, int] | None = None
) -> Topology:
    """Return the spanning tree with regular numbering; `freedoms` (degrees of freedom of joints)
    breaks ties, and joints with six are not cut if possible.
    """
    reached = spanning_tree(bodies, joints, freedoms or {})
    missing = [body for body in bodies if body not in reached]
    if missing:
        raise GraphError(missing)
    order = peel(bodies, {body: predecessor for body, (_, predecessor, _) in reached.items()})
    number = {GROUND: 0} | {body: k for k, body in enumerate(order, 1)}
    used = {name for name, _, _ in reached.values()}
    return Topology(
        order=tuple(order),
        parent=tuple(number[reached[body][1]] for body in order),
        joint=tuple(reached[body][0] for body in order),
        reversed=tuple(reached[body][2] for body in order),
        cuts=tuple(name for name, *_ in joints if name not in used),
    )


def spanning_tree(
    bodies: Sequence[str], joints: Sequence[Edge], freedoms: Mapping[str, int]
) -> dict[str, tuple[str, str, bool]]:
    """Return for each reachable body its joint, its predecessor, and whether the joint is reversed.

    Dijkstra with the cost (joints against their direction, depth); joints to be kept form a forest that is entered as a whole.
    """
    known = {GROUND, *bodies}
    edges = [
        (name, parent, child)
        for name, parent, child, cut in joints
        if cut is not True and parent in known and child in known
    ]
    asked = [name for name, _, _, cut in joints if cut is False]
    kept = forest(edges, [*asked, *(name for name, _, _ in edges if freedoms.get(name, 1) == 6)])
    around: dict[str, list[tuple[int, str, bool]]] = {body: [] for body in known}
    for index, (_, parent, child) in enumerate(edges):
        if parent != child:
            around[parent].append((index, child, False))
            around[child].append((index, parent, True))
    reached: dict[str, tuple[str, str, bool]] = {}
    cost: dict[str, tuple[int, int]] = {GROUND: (0, 0)}
    heap: list[tuple[int, int, int, int, str, str, bool]] = []

    def enter(start: str) -> None:
        """Add the joints of a newly reached body to the queue, and reach at once the bodies
        connected by joints that must be kept.
        """
        stack = [start]
        while stack:
            body = stack.pop()
            against, depth = cost[body]
            for index, other, turned in reversed(around[body]):
                if other in cost:
                    continue
                name = edges[index][0]
                if name in kept:
                    cost[other] = (against + turned, depth + 1)
                    reached[other] = (name, body, turned)
                    stack.append(other)
                else:
                    heapq.heappush(
                        heap,
                        (
                            against + turned,
                            depth + 1,
                            freedoms.get(name, 1),
                            index,
                            other,
                            body,
                            turned,
                        ),
                    )

    enter(GROUND)
    while heap:
        against, depth, _, index, body, predecessor, turned = heapq.heappop(heap)
        if body not in cost:
            cost[body] = (against, depth)
            reached[body] = (edges[index][0], predecessor, turned)
            enter(body)
    return reached


def forest(edges: Sequence[tuple[str, str, str]], names: Sequence[str]) -> set[str]:
    """Return those of the named joints that close no cycle when they are added in order."""
    ends = {name: (parent, child) for name, parent, child in edges}
    leader: dict[str, str] = {}

    def root(body: str) -> str:
        while leader.get(body, body) != body:
            leader[body] = leader.get(leader[body], leader[body])
            body = leader[body]
        return body

    kept = set()
    for name in names:
        if name in ends:
            a, b = map(root, ends[name])
            if a != b:
                leader[a] = b
                kept.add(name)
    return kept


def peel(bodies: Sequence[str], predecessor: Mapping[str, str]) -> list[str]:
    """Return a regular numbering of a tree by repeatedly removing leaves, which get the largest
    numbers.
    """
    place = {body: k for k, body in enumerate(bodies)}
    carried = {GROUND: 0} | dict.fromkeys(bodies, 0)
    for body in bodies:
        carried[predecessor[body]] += 1
    leaves = [-place[body] for body in bodies if not carried[body]]
    heapq.heapify(leaves)
    order = []
    while leaves:
        body = bodies[-heapq.heappop(leaves)]
        order.append(body)
        before = predecessor[body]
        carried[before] -= 1
        if before != GROUND and not carried[before]:
            heapq.heappush(leaves, -place[before])
    return order[::-1]


def path_set(parent: Sequence[int], i: int) -> tuple[int, ...]:
    """Return P_i: the joints on the path from the ground to body i, including i, ascending."""
    path = []
    while i > 0:
        path.append(i)
        i = parent[i - 1]
    return tuple(reversed(path))


def successors(parent: Sequence[int], i: int) -> tuple[int, ...]:
    """Return S_i: the bodies whose predecessor is body i."""
    return tuple(j for j, before in enumerate(parent, 1) if before == i)


def carried_by(parent: Sequence[int], i: int) -> tuple[int, ...]:
    """Return D_i: all bodies carried by body i, directly or indirectly, without i."""
    inside = {i}
    for j, before in enumerate(parent, 1):  # predecessors come first
        if before in inside:
            inside.add(j)
    return tuple(sorted(inside - {i}))
