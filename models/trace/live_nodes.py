"""Liveness on a tape: nodes needed by given results, in order, and their use counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kinetree.models.trace.nodes import Node
from kinetree.models.trace.operations import CONDITIONS, FREE
from kinetree.models.trace.tape import Tape


def arguments(node: Node) -> tuple[int, ...]:
    """Return the nodes that a node uses."""
    return () if node[0] in ("const", "symbol") else node[1:]


def alive(tape: Tape, results: Iterable[int]) -> list[int]:
    """Return the nodes that the results need, arguments first."""
    nodes = tape.nodes
    found: set[int] = set()
    stack = list(results)
    while stack:
        i = stack.pop()
        if i not in found:
            found.add(i)
            stack += arguments(nodes[i])
    return sorted(found)


def uses(tape: Tape, live: Iterable[int], results: Iterable[int]) -> Counter[int]:
    """Return the number of uses of each node, results included."""
    count: Counter[int] = Counter(results)
    for i in sorted(live, reverse=True):
        node = tape.nodes[i]
        for each in arguments(node):
            count[each] += (
                count[i] if node[0] == "neg" else 1
            )  # a change of sign is written where it is used
    return count


def operations(tape: Tape, live: Iterable[int]) -> Counter[str]:
    """Return operation counts by kind; sign changes are not counted, conditions count as one
    comparison.
    """
    count: Counter[str] = Counter(tape.nodes[i][0] for i in live)
    for name in FREE:
        count.pop(name, None)
    return count


def is_condition(tape: Tape, i: int) -> bool:
    """Return whether a node is a truth value."""
    return tape.nodes[i][0] in CONDITIONS


def finished(tape: Tape, results: Iterable[int]) -> list[int]:
    """Return the result nodes after the final simplifications."""
    return factored(tape, shared_reciprocals(tape, results))


def common_factor(tape: Tape, a: int, b: int) -> tuple[int, int, int] | None:
    """Return f, x, y with a = f x and b = f y, or None."""
    (_, *first), (_, *second) = tape.nodes[a], tape.nodes[b]
    for f in first:
        if f in second:
            return f, first[first[0] == f], second[second[0] == f]
    return None


def factored(tape: Tape, results: Iterable[int]) -> list[int]:
    """Return the results with f x + f y replaced by f (x + y) if both products have no other use."""
    results = list(results)
    live = alive(tape, results)
    count = uses(tape, live, results)
    new: dict[int, int] = {}
    for i in live:
        node = tape.nodes[i]
        if node[0] in ("+", "-") and all(
            tape.nodes[each][0] == "*" and count[each] == 1 for each in node[1:]
        ):
            found = common_factor(tape, node[1], node[2])
            if found:
                f, x, y = (new[each] for each in found)
                new[i] = tape.mul(f, tape.add(x, y) if node[0] == "+" else tape.sub(x, y))
                continue
        new[i] = tape.again(node, new)
    return [new[i] for i in results]


def shared_reciprocals(tape: Tape, results: Iterable[int]) -> list[int]:
    """Return the results with repeated divisions by one number replaced by products with its
    reciprocal.
    """
    results = list(results)
    live = alive(tape, results)
    count = Counter(tape.nodes[i][2] for i in live if tape.nodes[i][0] == "/")
    new: dict[int, int] = {}
    for i in live:
        node = tape.nodes[i]
        if node[0] == "/" and count[node[2]] > 1 and tape.nodes[node[2]][0] != "const":
            new[i] = tape.mul(new[node[1]], tape.div(tape.constant(1.0), new[node[2]]))
        else:
            new[i] = tape.again(node, new)
    return [new[i] for i in results]
