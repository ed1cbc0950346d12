"""The declaration of a typed joint; each file of `kinds` provides one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinetree.models.joints.elements import Amount, Direction, ElementForm

Z: Direction = (0.0, 0.0, 1.0)
POSITION = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
TURNING = ("wx", "wy", "wz")


@dataclass(frozen=True)
class JointKind:
    """A typed joint: a shorthand for a sequence of elements. Names are JOINT.suffix."""

    name: str
    says: str  # what it lets move, as docs write it
    coordinates: tuple[str, ...]  # default names; a quaternion comes last
    elements: Callable[
        [Sequence[Direction], Amount], tuple[ElementForm, ...]
    ]  # from its axes and its pitch (0 where it has none)
    speeds: tuple[str, ...] | None = (
        None  # names where speeds are not the derivatives of the coordinates: with a quaternion
    )
    axes: tuple[Direction, ...] = (Z,)  # the default ones; none: the joint takes no axis
    pitch: bool = False  # needs the advance per turn
    rank: int = 100  # place in docs

    @property
    def quaternion(self) -> bool:
        return self.speeds is not None
