"""Vectors of expressions: positions and velocities of points as named sensors, in ground axes, with
the vector arithmetic of force laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.node_arithmetic import E, const, name, root
from kinetree.models.expressions.nodes import ONE, Der, Leaf, Name, Node
from kinetree.solvers.sensors.kinds import Kind
from kinetree.solvers.sensors.kinds.bodies import ANGULAR_VELOCITY
from kinetree.solvers.sensors.kinds.points import DIRECTION, POSITION, VELOCITY

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class Vector(NamedTuple):
    """A vector of three expressions."""

    x: E
    y: E
    z: E

    def plus(self, other: Vector) -> Vector:
        return Vector(*(a + b for a, b in zip(self, other, strict=True)))

    def minus(self, other: Vector) -> Vector:
        return Vector(*(a - b for a, b in zip(self, other, strict=True)))

    def times(self, factor: E | float) -> Vector:
        return Vector(*(a * E(factor) for a in self))

    def dot(self, other: Vector) -> E:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, b: Vector) -> Vector:
        return Vector(
            self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z, self.x * b.y - self.y * b.x
        )

    def unit(self) -> Vector:
        size = root(self.dot(self))
        return Vector(*(a / size for a in self))

    def across(self, normal: Vector) -> Vector:
        """Return the component in the plane perpendicular to a unit normal."""
        return self.minus(normal.times(self.dot(normal)))


NOWHERE = Vector(const(0.0), const(0.0), const(0.0))


def vector_of(builder: Builder, values: Iterable[float | str], key: str) -> Vector:
    """Return the vector of three numbers or expressions of the description."""
    return Vector(*(E(builder.node(value, key)) for value in values))


def sensed(builder: Builder, label: str, kind: Kind, body: int, point: int = -1) -> Vector:
    """Return a vector of three sensors LABEL[1..3]; vectors of the ground are constants."""
    for axis in range(3):
        builder.add_sensor(f"{label}[{axis + 1}]", kind, body, point, axis=axis)
    return Vector(*(name(f"{label}[{k}]") for k in (1, 2, 3)))


def position(builder: Builder, label: str, body: int, point: Vector) -> Vector:
    """Return the position, in ground axes, of a point given in body axes."""
    return (
        point
        if body == 0
        else sensed(builder, label, POSITION, body, builder.vector(part.node for part in point))
    )


def velocity(builder: Builder, label: str, body: int, point: Vector) -> Vector:
    """Return the velocity, in ground axes, of a point given in body axes."""
    return (
        NOWHERE
        if body == 0
        else sensed(builder, label, VELOCITY, body, builder.vector(part.node for part in point))
    )


def spin(builder: Builder, label: str, body: int) -> Vector:
    """Return the angular velocity of a body in ground axes."""
    return NOWHERE if body == 0 else sensed(builder, label, ANGULAR_VELOCITY, body)


def direction(builder: Builder, label: str, body: int, axis: Vector) -> Vector:
    """Return a unit vector, given in body axes, in ground axes."""
    axis = axis.unit()
    return (
        axis
        if body == 0
        else sensed(builder, label, DIRECTION, body, builder.vector(part.node for part in axis))
    )


def rate_of(builder: Builder, node: Node, key: str) -> E:
    """Return the time derivative of a law in t, coordinates and states; everything else counts as
    constant.
    """
    plain = set(builder.states) | {
        c
        for joint in builder.topology.joint
        for c in builder.forms[joint].coordinates
        if not builder.forms[joint].quaternion
    }

    def rules(leaf: Leaf) -> Node | None:
        return (
            ONE
            if leaf is Name("t")
            else Der(leaf.name)
            if isinstance(leaf, Name) and leaf.name in plain
            else None
        )

    found = differentiate(builder.registers.expand(node), rules)
    builder.early_laws.append((found, key))
    return E(found)


def registers(builder: Builder, parts: Sequence[E]) -> int:
    """Return the first of consecutive registers for a vector of expressions."""
    return builder.vector(part.node for part in parts)
