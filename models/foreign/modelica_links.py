"""Connected frames, rigidly joined frames, and the joints between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinetree.models.foreign.robot import numbers
from kinetree.models.language.numbers_and_expressions import AXES

Pose = tuple[np.ndarray, np.ndarray]
HERE: Pose = (np.eye(3), np.zeros(3))
WORLD = ""  # the cluster of the ground


@dataclass
class Move:
    """One elementary motion along or about an axis."""

    way: str
    axis: np.ndarray
    coordinate: str
    start: float | None = None  # where the model gives one, or fixes 0
    speed: float | None = None
    guess: bool = False  # the model does not fix them

    def table(self) -> dict[str, Any]:
        """Return the motion as a transform."""
        axis = next((key for key, each in AXES.items() if np.array_equal(self.axis, each)), None)
        found: dict[str, Any] = {
            self.way: axis or numbers(self.axis), "coordinate": self.coordinate,
        }  # fmt: skip
        found |= {} if self.start is None else {"start": self.start}
        found |= {} if self.speed is None else {"speed": self.speed}
        return found | ({"guess": True} if self.guess and {"start", "speed"} & set(found) else {})


@dataclass
class Link:
    """A joint from one frame to another, as a sequence of poses and elementary motions."""

    name: str
    ends: tuple[str, str]  # nodes
    steps: list[Pose | Move]
    typed: dict[str, Any] = field(default_factory=dict)

    def turned(self) -> Link:
        """Return the joint in the opposite direction, from its other end."""
        steps = [
            replace(each, axis=-each.axis) if isinstance(each, Move) else inverse(each)
            for each in reversed(self.steps)
        ]
        return Link(self.name, (self.ends[1], self.ends[0]), steps)

    @property
    def moves(self) -> list[Move]:
        return [each for each in self.steps if isinstance(each, Move)]


def inverse(pose: Pose) -> Pose:
    R, r = pose
    return R.T, -R.T @ r


def composed(one: Pose, other: Pose) -> Pose:
    return one[0] @ other[0], one[1] + one[0] @ other[1]


class Nodes:
    """Sets of connected connectors, and clusters of rigidly joined frames."""

    def __init__(self) -> None:
        self.same: dict[str, str] = {}
        self.held: dict[str, tuple[str, Pose]] = {}

    def find(self, node: str) -> str:
        """Return the representative of the connectors joined with this one."""
        while (up := self.same.get(node, node)) != node:
            node = up
        return node

    def join(self, one: str, other: str) -> None:
        a, b = self.find(one), self.find(other)
        if a != b:
            self.same[b] = a

    def place(self, node: str) -> tuple[str, Pose]:
        """Return the cluster of a frame and its pose in it."""
        root, pose = self.find(node), HERE
        while root in self.held:
            up, step = self.held[root]
            root, pose = up, composed(step, pose)
        return root, pose

    def weld(self, one: str, other: str, pose: Pose) -> bool:
        """Fix a frame at a pose relative to another frame; return False if both are fixed to each
        other already.
        """
        (a, A), (b, B) = self.place(one), self.place(other)
        if a == b:
            return False
        if b == WORLD:
            self.held[a] = (b, composed(B, inverse(composed(A, pose))))
        else:
            self.held[b] = (a, composed(composed(A, pose), inverse(B)))
        return True
