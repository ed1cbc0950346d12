"""Outlines of bodies for contacts: sphere, capsule, box, cylinder, plane; where they are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, choose, const, cos, sin
from kinetree.models.expressions.vectors import (
    Vector,
    direction,
    position,
    spin,
    vector_of,
    velocity,
)
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Axis, Number
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN, Part

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

SHAPES = ("sphere", "capsule", "box", "cylinder", "plane")


class Outline(Part):
    """Shape of a contact, exactly one of sphere, capsule, box, cylinder, about the point named
    beside it.
    """

    sphere: Number | None = Field(default=None, description="Radius [m]")
    capsule: tuple[Number, Number] | None = Field(
        default=None,
        description="Radius, and distance of the centres of its round ends along z [m]",
    )
    box: Numbers | None = Field(default=None, description="Edge lengths [m]")
    cylinder: tuple[Number, Number] | None = Field(
        default=None, description="Radius and height along z [m]"
    )
    axis: Axis | None = Field(
        default=None, description="Direction of the outline's z axis in the body frame"
    )
    rotate: Numbers | None = Field(
        default=None,
        description="Instead of axis: angles about the body's x, then y, then z axis [rad]",
    )

    @property
    def shape(self) -> str:
        return self.given[0]

    @property
    def given(self) -> list[str]:
        """Return the shapes that are given."""
        return [
            key
            for key in SHAPES
            if getattr(self, key, None) is not None and getattr(self, key) is not False
        ]


class Opposite(Outline):
    """The counterpart of a contact: a shape, or the `plane` perpendicular to z, of another body."""

    body: str = Field(description="The other body, or ground")
    point: Numbers = Field(
        default=ORIGIN, description="Middle of its outline, or a point of its plane, body frame [m]"
    )
    plane: bool | None = Field(
        default=None, description="Everything below the plane through `point` across the z axis"
    )


class Placed:
    """An outline on its body, in ground axes: centre, axes, and how its points move."""

    def __init__(
        self, builder: Builder, label: str, key: str, outline: Outline, body: str, point: Any
    ):
        self.builder, self.label, self.key, self.outline = builder, label, key, outline
        self.shape, self.body = outline.shape, builder.body[body]
        self.point = vector_of(builder, point, f"forces.{label}.{key}.point")

    def _named(self, word: str) -> str:
        return hidden(self.label, f"{self.key} {word}")

    @cached_property
    def centre(self) -> Vector:
        return position(self.builder, self._named("centre"), self.body, self.point)

    @cached_property
    def velocity(self) -> Vector:
        return velocity(self.builder, self._named("velocity"), self.body, self.point)

    @cached_property
    def spin(self) -> Vector:
        return spin(self.builder, self._named("spin"), self.body)

    def speed(self, arm: Vector) -> Vector:
        """Return the velocity of its material at `arm` from its centre."""
        return self.velocity if self.body == 0 else self.velocity.plus(self.spin.cross(arm))

    def sizes(self) -> tuple[E, ...]:
        """Return the numbers of the outline."""
        value = getattr(self.outline, self.shape)
        values = value if isinstance(value, tuple) else (value,)
        return tuple(
            E(self.builder.node(each, f"forces.{self.label}.{self.key}.{self.shape}"))
            for each in values
        )

    @cached_property
    def in_body(self) -> tuple[Vector, Vector, Vector]:
        """Return the axes of the outline in body axes."""
        key = f"forces.{self.label}.{self.key}"
        if self.outline.rotate is not None:
            (a, b, c) = vector_of(self.builder, self.outline.rotate, f"{key}.rotate")
            sa, ca, sb, cb, sc, cc = sin(a), cos(a), sin(b), cos(b), sin(c), cos(c)
            x = Vector(cb * cc, ca * sc + sa * sb * cc, sa * sc - ca * sb * cc)
            y = Vector(-(cb * sc), ca * cc - sa * sb * sc, sa * cc + ca * sb * sc)
            return x, y, x.cross(y)
        if self.outline.axis is None:
            unit = [Vector(*(const(float(i == k)) for i in range(3))) for k in range(3)]
            return unit[0], unit[1], unit[2]
        z = vector_of(self.builder, self.outline.axis, f"{key}.axis").unit()
        x, y = plane_axes(z)
        return x, y, z

    def axis(self, k: int) -> Vector:
        """Return axis x, y or z of the outline in ground axes."""
        return direction(self.builder, self._named(f"axis {k}"), self.body, self.in_body[k])

    @cached_property
    def axes(self) -> tuple[Vector, Vector, Vector]:
        return self.axis(0), self.axis(1), self.axis(2)

    @cached_property
    def z(self) -> Vector:
        return self.axis(2)


def plane_axes(normal: Vector) -> tuple[Vector, Vector]:
    """Return two axes across a unit normal, by Duff's construction, which has no singular
    direction.
    """
    x, y, z = normal
    sign = choose(z < 0.0, -1.0, 1.0)
    a = -(1.0 / (sign + z))
    b = x * y * a
    return Vector(1.0 + sign * x * x * a, sign * b, -(sign * x)), Vector(b, sign + y * y * a, -y)


def check_outline(checker: Checker, path: Path, outline: Outline) -> bool:
    """Report a shape without exactly one kind, with sizes that are not positive, or with two
    orientations.
    """
    given = outline.given
    if len(given) != 1:
        choices = [key for key in SHAPES if key in type(outline).model_fields]
        checker.complain(
            path, " and ".join(given) if given else "no outline", "one of " + ", ".join(choices)
        )
        return False
    value = getattr(outline, given[0])
    for number in (
        checker.numbers(
            value if isinstance(value, tuple) else (value,) if given[0] == "sphere" else ()
        )
        or ()
    ):
        if number <= 0.0:
            checker.complain((*path, given[0]), f"{number:g}", "numbers > 0")
    if outline.axis is not None and outline.rotate is not None:
        checker.complain(path, "axis and rotate", "one of them")
    return True
