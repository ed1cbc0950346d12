"""Unique nodes of a tape, with their values at the recorded state and the branch decisions taken
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kinetree.models.trace.operations import VALUE

Node = tuple


class Nodes:
    """Unique nodes with values at the recorded state, and branch decisions."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.values: list[float] = []
        self.index: dict[Node, int] = {}
        self.decisions: dict[int, bool] = {}  # condition -> outcome under which the tape holds
        self.recording = True

    # -- nodes --------------------------------------------------------------------------------------------------------------------------
    def node(self, key: Node) -> int:
        """Return the index of a node, creating it if it is new."""
        found = self.index.get(key)
        if found is not None:
            return found
        self.index[key] = number = len(self.nodes)
        self.nodes.append(key)
        values = self.values
        values.append(VALUE[key[0]](*[values[each] for each in key[1:]]))
        return number

    def constant(self, value: float) -> int:
        """Return the node of a number; +0 and -0 are one."""
        key = ("const", value + 0.0)
        found = self.index.get(key)
        if found is None:
            self.index[key] = found = len(self.nodes)
            self.nodes.append(key)
            self.values.append(key[1])
        return found

    def symbol(self, group: str, k: int, value: float) -> int:
        """Return the node of argument k of a group; `value` is its value at the recorded state."""
        key = ("symbol", group, k)
        found = self.index.get(key)
        if found is None:
            self.index[key] = found = len(self.nodes)
            self.nodes.append(key)
            self.values.append(value)
        return found

    def number(self, i: int) -> float | None:
        """Return the value of a constant node, None for any other."""
        node = self.nodes[i]
        return node[1] if node[0] == "const" else None

    def is_root(self, a: int) -> bool:
        """Return whether a node is a square root."""
        return self.nodes[a][0] == "sqrt"

    def fold(self, operation: str, *arguments: int) -> int:
        """Return the node of an operation, or of the constant that it folds to."""
        nodes = self.nodes
        if all(nodes[each][0] == "const" for each in arguments):
            return self.constant(VALUE[operation](*[nodes[each][1] for each in arguments]))
        return self.node((operation, *arguments))

    # -- decisions ----------------------------------------------------------------------------------------------------------------------
    def decide(self, c: int) -> bool:
        """Return the truth of a condition at the recorded state and record the decision; equalities
        count as false.
        """
        known = self.number(c)
        if known is not None:
            return known != 0.0
        operation = self.nodes[c][0]
        if operation in ("eq", "ne"):
            return operation == "ne"
        outcome = self.values[c] != 0.0
        if self.recording:
            self.decisions[c] = outcome
        return outcome

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Context manager in which branch decisions are free choices that are not recorded."""
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before
