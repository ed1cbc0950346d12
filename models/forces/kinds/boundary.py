"""A pin kept inside, or outside, a closed curve: a joint with clearance of any shape.

In the plane x, y of the first body a spline c(s) closes through `curve`. With d the distance of the
pin's surface from it, above 0 where the pin moves freely, and n the normal to the free side,

    F = max(0, (stiffness - damping dd/dt) exp(-sharpness d)) n          on the pin

as at the limit stop of a coordinate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import Place, composed, resolved
from kinetree.models.expressions.node_arithmetic import E, const, exp, larger, name
from kinetree.models.expressions.vectors import Vector, registers, vector_of
from kinetree.models.forces.curve_validation import spline_fault
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.kinds.guide import MOST_POINTS, spline
from kinetree.models.forces.line_laws import define_force
from kinetree.models.forces.polygon_contact import signed_area
from kinetree.models.forces.wrench_pairs import add_pair
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

FELT = 3.0  # how far from the curve the nearest place has to be found, in units of 1/sharpness
Points = tuple[tuple[float, float], ...]


class BoundaryForce(ForceTable):
    """Pin of the second body inside or outside a closed curve in the plane x, y of the first body, with the exponential law of a limit stop."""

    kind: Literal["boundary"] = "boundary"
    between: Between = Field(
        description="Origin of the curve on the first body; centre of the pin on the second body"
    )
    curve: Points = Field(description="Points x, y of the closed curve, in order [m]")
    side: Literal["inside", "outside"] = Field(
        "inside", description="Side of the curve on which the pin moves freely: inside or outside"
    )
    radius: Number = Field(0.0, description="Radius of the pin [m]")
    stiffness: Number = Field(description="Force where the pin touches the curve [N]")
    damping: Number = Field(0.0, description="Change of the force on the curve with speed [N.s/m]")
    sharpness: Number = Field(
        description="Exponent of the force: relative growth per unit of distance [1/m]"
    )
    positive: ClassVar = ("sharpness", "stiffness")

    @property
    def points(self) -> tuple[tuple[float, float, float], ...]:
        """Return the points of the curve in space."""
        return tuple((x, y, 0.0) for x, y in self.curve)

    @property
    def closed(self) -> bool:
        return True

    @property
    def helix(self) -> None:
        """Return None: a boundary is not a helix."""


def add_boundary(builder: Builder, label: str, force: BoundaryForce) -> None:
    """Add the force on the pin, and NAME.distance of the pin's surface from the curve."""
    key = f"forces.{label}"
    outline, pin = (
        Place(builder, each.body, vector_of(builder, each.point, f"{key}.between"))
        for each in force.between
    )
    offset, axes = pin.position().minus(outline.position()), outline.axes()
    for axis, value in zip("xy", resolved(offset, axes), strict=False):
        builder.define(hidden(label, f"pin {axis}"), value.node)
    r = Vector(name(hidden(label, "pin x")), name(hidden(label, "pin y")), const(0.0))
    curve = spline(builder, label, force, r)
    c, along, _ = curve.at(curve.nearest)
    free = 1.0 if (signed_area(force.curve) > 0.0) == (force.side == "inside") else -1.0
    way = along.unit()
    normal = Vector(-free * way.y, free * way.x, const(0.0))
    k, mu, a, radius = (
        E(builder.node(getattr(force, each), f"{key}.{each}"))
        for each in ("stiffness", "damping", "sharpness", "radius")
    )
    builder.define(hidden(label, "distance"), (r.minus(c).dot(normal) - radius).node)
    builder.offer(f"{label}.distance", hidden(label, "distance"))
    distance = name(hidden(label, "distance"))
    to_free = composed(axes, normal)
    speed = pin.velocity().minus(outline.velocity()).minus(outline.spin().cross(offset))
    rate = speed.dot(to_free)
    near = exp(-(a * distance))
    potential = k / a * near
    define_force(builder, label, larger((k - mu * rate) * near, 0.0), potential)
    load = name(f"force('{label}')")
    total = to_free.times(load)
    add_pair(
        builder,
        outline.body,
        pin.body,
        registers(builder, outline.point),
        registers(builder, pin.point),
        total,
        offset,
    )
    builder.books[label] = Book(
        lambda: load * rate,
        lambda: (k * near - load) * rate,
        potential,
        outline.body,
        lambda: total.times(-1.0),
        clearance=distance,
    )


def check_boundary(checker: Checker, path: Path, force: BoundaryForce) -> None:
    points = force.points
    sharpness, radius = (checker.number(each) for each in (force.sharpness, force.radius))
    if not 3 <= len(points) <= MOST_POINTS:
        checker.complain((*path, "curve"), f"{len(points)} points", f"from 3 to {MOST_POINTS}")
        return
    if float(np.linalg.norm(np.diff((*points, points[0]), axis=0), axis=1).min()) == 0.0:
        checker.complain((*path, "curve"), "the same point twice in a row", "points apart")
    elif signed_area(force.curve) == 0.0:
        checker.complain((*path, "curve"), "a curve without an area", "points around an area")
    elif sharpness and (fault := spline_fault(points, True, (radius or 0.0) + FELT / sharpness)):
        checker.complain(
            (*path, "curve"),
            f"a bend of radius {fault.radius:.2g} m at points {fault.way + 1} and "
            f"{(fault.way + 1) % len(points) + 1}, or a part that comes too near to another",
            "points closer together there, a rounder curve, a thinner pin or more sharpness",
            f"the pin is felt with its centre {(radius or 0.0) + FELT / sharpness:.2g} m from the curve",
        )


def parts(force: BoundaryForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import track

    return track(force, numbers, size)


FORCE = ForceKind(
    BoundaryForce,
    add_boundary,
    says="max(0, (stiffness - damping ḋ) exp(-sharpness d)), d the distance of the pin from a closed curve: a joint with clearance",
    rank=9,
    told_by=frozenset({"curve", "side"}),
    measures={"distance": "m"},
    check=check_boundary,
    clearance=True,
    parts=parts,
    example={
        "curve": [[2.0, 0.0], [1.6, 1.2], [0.0, 2.0], [-1.6, 1.2], [-2.0, 0.0], [-1.6, -1.2], [0.0, -2.0], [1.6, -1.2]],
        "radius": 0.1, "stiffness": 10.0, "damping": 1.0, "sharpness": 5.0,
    },
)  # fmt: skip
