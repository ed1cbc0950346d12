"""Elementary cycles of a mechanism with closed loops: each joint outside the spanning tree closes
one ([SC24], joint-coordinate method).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinetree.models.graph.tree import GROUND, Topology, path_set


@dataclass(frozen=True)
class Cycle:
    """A loop: the cut joint, the tree joints that close it, and its length."""

    cut: str
    joints: tuple[
        str, ...
    ]  # tree joints, from the cut joint's parent up to the common body and down to its child
    apex: int  # number of the common body, 0 for the ground

    @property
    def length(self) -> int:
        return len(self.joints) + 1


def elementary_cycles(topology: Topology, ends: Mapping[str, tuple[str, str]]) -> tuple[Cycle, ...]:
    """Return the cycle of every cut joint; `ends` gives parent and child of the cut joints."""
    number = {GROUND: 0} | {body: k for k, body in enumerate(topology.order, 1)}
    cycles = []
    for cut in topology.cuts:
        up, down = (list(path_set(topology.parent, number[body])) for body in ends[cut])
        common = 0
        while up and down and up[0] == down[0]:
            common = up.pop(0)
            down.pop(0)
        cycles.append(
            Cycle(cut, tuple(topology.joint[k - 1] for k in [*reversed(up), *down]), common)
        )
    return tuple(cycles)
