"""Balls, hinges and Cardan joints that close a loop without coordinates of their own.

A place on one body stays at a place on another, and what cannot turn is held: three rows for a
ball, five for a hinge, four for a Cardan joint.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kinetree.models.compilation.rigid_body_merging import composed, mentioned, placed
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description, JointSpec
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.vectors import Vector
from kinetree.models.joints.elements import Direction, ElementForm, perpendiculars
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

# what a joint may have so that it closes a loop without coordinates
PLAIN_KEYS = {"parent", "child", "type", "axis", "at", "frame", "child_at", "child_frame", "cut"}
PERPENDICULAR = 1e-12  # cosine of the angle between the axes of a Cardan joint
KINDS = {"spherical": L.Loop.BALL, "revolute": L.Loop.HINGE, "universal": L.Loop.CARDAN}
PARTS = {L.Loop.BALL: (0, 1, 2), L.Loop.HINGE: (0, 1, 2, 3, 4), L.Loop.CARDAN: (0, 1, 2, 3)}


class Closing(NamedTuple):
    """A joint that closes a loop without a twin."""

    kind: L.Loop
    a: int  # body of the parent
    b: int  # body of the child
    points: tuple[int, int]  # registers of its places on them
    turns: tuple[int, int, int, int]  # registers of directions, see the field l_turn


def plain_closings(
    description: Description, cuts: Sequence[str], locked: Collection[str]
) -> tuple[str, ...]:
    """Return the cut joints, in a description of one stage, that are balls, hinges or Cardan joints
    with nothing that belongs to their turning and whose names occur nowhere else, so that nothing
    reads their coordinates and speeds.
    """
    plain = [name for name in cuts if name not in locked and is_plain(description.joints[name])]
    if not plain or description.stages:
        return ()
    said = mentioned(description) | {*description.starts}
    forms = {name: joint_elements(description.joints[name], name) for name in plain}
    return tuple(
        name
        for name, form in forms.items()
        if said.isdisjoint((name, *form.coordinates, *form.speeds))
    )


def is_plain(joint: JointSpec) -> bool:
    """Return whether a joint only holds a point at a point, and axes that are numbers."""
    if joint.type not in KINDS or not joint.model_fields_set <= PLAIN_KEYS:
        return False
    axes = [element.axis or () for element in moving(joint)] if joint.type != "spherical" else []
    if any(isinstance(number, str) for axis in axes for number in axis):
        return False
    if joint.type != "universal":
        return True
    cosine = sum(float(x) * float(y) for x, y in zip(*axes, strict=True))
    size = sum(float(x) ** 2 for x in axes[0]) * sum(float(y) ** 2 for y in axes[1])
    return cosine * cosine <= PERPENDICULAR**2 * size


def moving(joint: JointSpec) -> list[ElementForm]:
    """Return the elements of a joint that are not constant."""
    return [each for each in joint_elements(joint, "").elements if not each.kind.constant]


def closing_of(builder: Builder, name: str) -> Closing:
    """Return how a joint closes a loop, with registers of its places and directions."""
    joint = builder.description.joints[name]
    kind, where = KINDS[str(joint.type)], f"joints.{name}"
    elements = joint_elements(joint, name).elements
    turning = [k for k, element in enumerate(elements) if not element.kind.constant]
    before, after = builder.around.get(name, ((), ()))
    back = reversed((*elements[turning[-1] + 1 :], *after))
    (R, place), (S, end) = (
        placed(way)
        for way in ((*before, *elements[: turning[0]]), tuple(each.turned() for each in back))
    )
    points = [builder.vector([part.node for part in point], where) for point in (place, end)]

    def register(axes: tuple[Vector, ...], direction: Direction) -> int:
        turned = composed(axes, Vector(*(E(part) for part in direction)))
        return builder.vector([part.node for part in turned], where)

    turns = (-1, -1, -1, -1)
    if kind == L.Loop.HINGE:
        axis = unit(elements[turning[0]].axis)
        one, two = perpendiculars(axis)
        turns = (register(R, one), register(R, two), register(S, axis), register(S, one))
    elif kind == L.Loop.CARDAN:
        first, second = (unit(elements[k].axis) for k in turning)
        held = register(R, first), register(R, second)
        turns = (*held, register(S, second), register(S, first))
    a, b = builder.body[joint.parent], builder.body[joint.child]
    return Closing(kind, a, b, (points[0], points[1]), turns)


def unit(axis: Direction | None) -> Direction:
    """Return an axis of numbers with length 1."""
    x, y, z = (float(part) for part in axis or (0.0, 0.0, 1.0))
    length = (x * x + y * y + z * z) ** 0.5
    return (x / length, y / length, z / length)
