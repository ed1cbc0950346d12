"""The ground surface under a contact: a plane, or a terrain given by its height."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.node_arithmetic import E, const, name, root
from kinetree.models.expressions.nodes import ONE, ExpressionError, Name, Node, names
from kinetree.models.expressions.simplify import substitute
from kinetree.models.expressions.vectors import Vector, rate_of, vector_of
from kinetree.models.forces.force_schema import Standing
from kinetree.models.forces.soil import Footprint
from kinetree.models.language.numbers_and_expressions import PLACE

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class Ground:
    """The surface under a contact point: depth of the point below it and the rate of that depth at
    zero velocity; unit normal, and the direction of the load.

    A height that depends on the position r is a terrain. With the given normal n its depth is d(r,
    t) = (h(r, t) - n.r)/|n - grad h|, the distance from the tangent plane. The load acts along
    -grad d, so that the spring law in d is conservative: this is the terrain's normal, (n - grad
    h)/|n - grad h|, to within curvature times depth. Friction acts perpendicular to the normal,
    soil settles along it. `radius`: of a wheel.
    """

    def __init__(
        self, builder: Builder, label: str, force: Standing, place: Vector, radius: E | None = None
    ):
        key = f"forces.{label}"
        given, height = (
            vector_of(builder, force.normal, f"{key}.normal").unit(),
            builder.node(force.height, f"{key}.height"),
        )
        self.soil = None if force.soil is None else Footprint(builder, label, force.soil, radius)
        settled = const(0.0) if self.soil is None else self.soil.sunk
        self.flat = not names(height) & PLACE.keys()
        if self.flat:
            self.normal = self.away = given
            self.depth, self.rising = (
                E(height) - settled - place.dot(given),
                rate_of(builder, height, f"{key}.height"),
            )
            return
        here = dict(zip(PLACE, place, strict=True))
        steep = given.minus(gradient(builder, height))
        size = root(steep.dot(steep))
        depth = (E(height) - Vector(*map(name, PLACE)).dot(given)) / size
        try:
            away = gradient(builder, depth.node).times(-1.0)
        except ExpressionError:  # tables of two variables have no second derivatives
            away = steep.times(1.0 / size)
        self.normal, self.away = (
            Vector(*(placed(part, here) for part in vector))
            for vector in (steep.times(1.0 / size), away)
        )
        self.depth = placed(depth, here) - settled
        self.rising = placed(rate_of(builder, depth.node, f"{key}.height"), here)

    def sinking(self, speed: Vector) -> E:
        """Return the rate of the depth, without the settlement of soil."""
        return self.rising - speed.dot(self.away)


def gradient(builder: Builder, node: Node) -> Vector:
    """Return the derivatives of an expression by the position of the contact."""
    whole = builder.registers.expand(node)
    return Vector(
        *(
            E(differentiate(whole, lambda leaf, k=k: ONE if leaf is Name(k) else None))
            for k in PLACE
        )
    )


def placed(value: E, here: dict[str, E]) -> E:
    """Return an expression with the position of the contact inserted."""
    return E(substitute(value.node, lambda leaf: here[leaf.key].node if leaf.key in here else None))
