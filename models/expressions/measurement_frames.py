"""Measured vectors in any frame: positions and orientations of bodies as named sensors in ground
axes, relative to a body and resolved in the axes of a body.

relative position r = p - o velocity seen from b v = p' - o' - w_b x r acceleration seen from b a =
p'' - o'' - alpha_b x r - w_b x (w_b x r) - 2 w_b x v angular velocity w = w_a - w_b its rate seen
from b alpha_a - alpha_b - w_b x w_a orientation e = conj(e_b) e_a components of x in axes of b:
(R_b)^T x
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, const, function, name, root
from kinetree.models.expressions.vectors import NOWHERE, Vector, registers
from kinetree.solvers.layout import Op
from kinetree.solvers.sensors.kinds import Kind
from kinetree.solvers.sensors.kinds.bodies import (
    ANGULAR_ACCELERATION,
    ANGULAR_VELOCITY,
    ORIENTATION,
)
from kinetree.solvers.sensors.kinds.points import ACCELERATION, POSITION, VELOCITY

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

Quaternion = tuple[E, E, E, E]
GROUND_AXES = tuple(Vector(*(const(float(i == k)) for i in range(3))) for k in range(3))


def sensed_once(
    builder: Builder, key: str, kind: Kind, body: int, point: int = -1, count: int = 3
) -> list[E]:
    """Return the names of sensors KEY[1..count], adding them at the first call."""
    found = [f"{key}[{k}]" for k in range(1, count + 1)]
    if found[0] not in builder.registers.names:
        for axis, each in enumerate(found):
            builder.add_sensor(each, kind, body, point, axis=axis)
    return [name(each) for each in found]


class Place:
    """A point of a body whose motion is measured in ground axes."""

    def __init__(self, builder: Builder, body: str, point: Vector = NOWHERE):
        self.builder, self.name, self.body, self.point = builder, body, builder.body[body], point

    def _measured(self, kind: Kind, word: str, still: Vector) -> Vector:
        if self.body == 0:
            return still
        at = registers(self.builder, self.point) if kind in POINTS else -1
        return Vector(
            *sensed_once(
                self.builder, hidden(f"bodies.{self.name}", f"{word} {at}"), kind, self.body, at
            )
        )

    def position(self) -> Vector:
        return self._measured(POSITION, "position", self.point)

    def velocity(self) -> Vector:
        return self._measured(VELOCITY, "velocity", NOWHERE)

    def acceleration(self) -> Vector:
        return self._measured(ACCELERATION, "acceleration", NOWHERE)

    def spin(self) -> Vector:
        return self._measured(ANGULAR_VELOCITY, "spin", NOWHERE)

    def spin_rate(self) -> Vector:
        return self._measured(ANGULAR_ACCELERATION, "spin rate", NOWHERE)

    def quaternion(self) -> Quaternion:
        """Return the quaternion of the body's axes relative to the ground."""
        if self.body == 0:
            return const(1.0), const(0.0), const(0.0), const(0.0)
        w, x, y, z = sensed_once(
            self.builder,
            hidden(f"bodies.{self.name}", "orientation"),
            ORIENTATION,
            self.body,
            count=4,
        )
        return w, x, y, z

    def axes(self) -> tuple[Vector, ...]:
        """Return the unit vectors of the body's axes x, y, z in ground axes."""
        return GROUND_AXES if self.body == 0 else columns(self.quaternion())


POINTS = (POSITION, VELOCITY, ACCELERATION)


def columns(e: Quaternion) -> tuple[Vector, ...]:
    """Return the columns of the rotation matrix of a unit quaternion."""
    w, x, y, z = e
    return (
        Vector(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        Vector(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        Vector(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def resolved(vector: Vector, axes: tuple[Vector, ...]) -> Vector:
    """Return the components of a vector along given axes."""
    return vector if axes is GROUND_AXES else Vector(*(vector.dot(axis) for axis in axes))


def composed(axes: tuple[Vector, ...], vector: Vector) -> Vector:
    """Return the vector with given components along axes."""
    return axes[0].times(vector.x).plus(axes[1].times(vector.y)).plus(axes[2].times(vector.z))


def relative_quaternion(seen: Quaternion, a: Quaternion) -> Quaternion:
    """Return the quaternion product conj(seen) a."""
    w, x, y, z = seen[0], -seen[1], -seen[2], -seen[3]
    return (
        w * a[0] - x * a[1] - y * a[2] - z * a[3],
        w * a[1] + x * a[0] + y * a[3] - z * a[2],
        w * a[2] - x * a[3] + y * a[0] + z * a[1],
        w * a[3] + x * a[2] - y * a[1] + z * a[0],
    )


def cardan(e: Quaternion) -> Vector:
    """Return the Cardan angles a, b, c of successive rotations about the x, the new y and the
    newest z axis: R = Rx(a) Ry(b) Rz(c).
    """
    x, y, z = columns(e)
    return Vector(
        function(Op.ATAN2, -z.y, z.z),
        function(Op.ATAN2, z.x, root(z.y * z.y + z.z * z.z)),
        function(Op.ATAN2, -y.x, x.x),
    )


def relative(kind: str, a: Place, b: Place) -> Vector:
    """Return a quantity (position, orientation, velocity, ...) of `a` relative to the body of `b`,
    in ground axes.
    """
    if kind == "angular_velocity":
        return a.spin().minus(b.spin())
    if kind == "angular_acceleration":
        return a.spin_rate().minus(b.spin_rate()).minus(b.spin().cross(a.spin()))
    return seen(kind, (a.position, a.velocity, a.acceleration), b)


def seen(kind: str, point: tuple, b: Place) -> Vector:
    """Return position, velocity or acceleration of a moving point relative to the body of `b`."""
    position, velocity, acceleration = point
    r = position().minus(b.position())
    if kind == "position":
        return r
    v = velocity().minus(b.velocity()).minus(b.spin().cross(r))
    if kind == "velocity":
        return v
    carried = (
        b.spin_rate()
        .cross(r)
        .plus(b.spin().cross(b.spin().cross(r)))
        .plus(b.spin().cross(v).times(2.0))
    )
    return acceleration().minus(b.acceleration()).minus(carried)
