"""Shapes (outlines) of bodies for contacts: sphere, capsule, box, cylinder, polygon, hull, plane,
and their positions.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
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
from kinetree.models.forces.convex_hull import hull_of
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Axis, Number
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

SHAPES = ("sphere", "capsule", "box", "cylinder", "polygon", "hull", "plane")
MIN_CORNERS, MAX_CORNERS = 3, 100  # of a polygon
LEAST_SIDE = 1e-9  # of a polygon by its size, below which two corners are one
LEAST_TURN = 1e-9  # at a corner, below which edges are in line [rad]


class Outline(Part):
    """Shape of a contact, exactly one of sphere, capsule, box, cylinder, polygon, hull, about the
    point named beside it.
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
    polygon: tuple[tuple[Number, Number], ...] | None = Field(
        default=None,
        description="Corners x, y of a convex polygon, clockwise or counterclockwise [m]",
    )
    thickness: Number | None = Field(
        default=None,
        description="Thickness of a polygon along z (default: 0 on ground and planes, infinite for spheres) [m]",
    )
    hull: tuple[tuple[float, float, float], ...] | str | None = Field(
        default=None,
        description="Points of a convex hull [m], or a mesh file (relative paths start at the description)",
    )
    scale: Number | None = Field(
        default=None, description="Metres per unit of the file of a hull; left out: 1"
    )
    axis: Axis | None = Field(
        default=None, description="Direction of the outline's z axis in the body frame"
    )
    rotate: Numbers | None = Field(
        default=None,
        description="Instead of axis: angles about the body's x, then y, then z axis [rad]",
    )

    @property
    def hull_points(self) -> tuple[tuple[float, float, float], ...]:
        """Return the points of a hull; file names have been replaced by points when the description
        was read.
        """
        return self.hull if isinstance(self.hull, tuple) else ()

    @property
    def shape(self) -> str:
        return self.given[0]

    @property
    def given(self) -> list[str]:
        """Return the names of the shapes that are given."""
        return [
            key
            for key in SHAPES
            if getattr(self, key, None) is not None and getattr(self, key) is not False
        ]


class Opposite(Outline):
    """The counterpart of a contact: a shape, or the `plane` perpendicular to z, of another body."""

    body: str = Field(description="The other body, or ground")
    point: Numbers = Field(
        default=ORIGIN,
        description="Centre of its shape, or a point of its plane, in the body frame [m]",
    )
    plane: bool | None = Field(
        default=None,
        description="Half-space below the plane through `point` that is normal to the z axis",
    )


class Placed:
    """A shape on its body, in ground axes: centre, axes, and velocities of its points."""

    def __init__(
        self, builder: Builder, label: str, key: str, outline: Outline, body: str, point: Any
    ):
        self.builder, self.label, self.key, self.outline = builder, label, key, outline
        self.shape, self.body = outline.shape, builder.body[body]
        self.point = vector_of(builder, point, f"forces.{label}.{key}.point")
        self._measured: dict[int, Vector] = {}

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
        """Return the velocity of the shape's material at `arm` from its centre."""
        return self.velocity if self.body == 0 else self.velocity.plus(self.spin.cross(arm))

    def sizes(self) -> tuple[E, ...]:
        """Return the sizes of the shape as expressions."""
        value = getattr(self.outline, self.shape)
        values = value if isinstance(value, tuple) else (value,)
        return tuple(
            E(self.builder.node(each, f"forces.{self.label}.{self.key}.{self.shape}"))
            for each in values
        )

    def polygon(self) -> list[tuple[E, E]]:
        """Return the corners x, y [m] of a polygon."""
        key = f"forces.{self.label}.{self.key}.polygon"
        return [
            (E(self.builder.node(x, key)), E(self.builder.node(y, key)))
            for x, y in self.outline.polygon or ()
        ]

    def thickness(self) -> E:
        """Return the thickness [m] of a polygon; 0 if it has none."""
        key = f"forces.{self.label}.{self.key}.thickness"
        return E(self.builder.node(self.outline.thickness or 0.0, key))

    @cached_property
    def in_body(self) -> tuple[Vector, Vector, Vector]:
        """Return the axes of the shape in body axes."""
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
        """Return axis x, y or z of the shape in ground axes; each is measured once."""
        if k not in self._measured:
            self._measured[k] = direction(
                self.builder, self._named(f"axis {k}"), self.body, self.in_body[k]
            )
        return self._measured[k]

    @property
    def axes(self) -> tuple[Vector, Vector, Vector]:
        return self.axis(0), self.axis(1), self.axis(2)

    @property
    def z(self) -> Vector:
        return self.axis(2)


def plane_axes(normal: Vector) -> tuple[Vector, Vector]:
    """Return two axes perpendicular to a unit normal, by Duff's construction, which has no singular
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
    return check_polygon(checker, path, outline)


def check_polygon(checker: Checker, path: Path, outline: Outline) -> bool:
    """Report a polygon that is not convex, a flat or too large hull, and a thickness or scale that
    does not apply or is not positive.
    """
    if outline.scale is not None:
        checker.complain((*path, "scale"), f"one with {outline.shape}", "one with a file of a hull")
    if outline.hull is not None:
        return check_hull(checker, (*path, "hull"), outline)
    thickness = checker.number(outline.thickness)
    if outline.thickness is not None and outline.polygon is None:
        checker.complain((*path, "thickness"), f"one with {outline.shape}", "one with a polygon")
    elif thickness is not None and thickness <= 0.0:
        checker.complain((*path, "thickness"), f"{thickness:g}", "a number > 0")
    if outline.polygon is None:
        return True
    key = (*path, "polygon")
    if not MIN_CORNERS <= len(outline.polygon) <= MAX_CORNERS:
        found = f"{len(outline.polygon)} corners"
        checker.complain(key, found, f"{MIN_CORNERS} to {MAX_CORNERS} corners")
        return False
    corners = [checker.numbers(corner) for corner in outline.polygon]
    known = [corner for corner in corners if corner is not None]
    fault = convexity_fault(known) if len(known) == len(corners) else None
    if fault is not None:
        hint = "cut it into convex pieces, each with a contact of its own"
        checker.complain(key, fault, "the corners of a convex polygon, in order", hint)
    return fault is None


def check_hull(checker: Checker, path: Path, outline: Outline) -> bool:
    """Report points in one plane and hulls of too many corners."""
    hull = hull_of(outline.hull_points)
    if hull is None:
        checker.complain(
            path, "points in one plane", "four or more that enclose a volume, or a polygon"
        )
    elif len(hull.corners) > MAX_CORNERS:
        hint = "a coarser mesh, or a shape such as box or sphere"
        checker.complain(
            path, f"a hull of {len(hull.corners)} corners", f"at most {MAX_CORNERS}", hint
        )
        return False
    return hull is not None


def convexity_fault(corners: Sequence[Sequence[float]]) -> str | None:
    """Return why corners x, y do not form a convex polygon, or None."""
    points = np.array(corners, dtype=float)
    sides = np.roll(points, -1, axis=0) - points
    short = np.hypot(*sides.T) <= LEAST_SIDE * float(np.ptp(points, axis=0).max())
    if short.any():
        k = int(short.argmax())
        return f"corners {k + 1} and {(k + 1) % len(points) + 1} in one place"
    following = np.roll(sides, -1, axis=0)
    turns = np.arctan2(
        sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0],
        np.sum(sides * following, axis=1),
    )
    whole = float(turns.sum())
    inward = turns * np.sign(whole) < -LEAST_TURN
    if inward.any():
        return f"corner {(int(inward.argmax()) + 1) % len(points) + 1}, which points inwards"
    return None if abs(abs(whole) - 2.0 * np.pi) < 1.0 else "edges that cross"
