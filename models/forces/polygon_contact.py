"""Contact points of convex polygons with ground, planes, spheres and one another: position, normal
and depth.

A polygon lies in the x-y plane of its own frame. On the ground and on planes its corners carry
load; with a thickness those of both faces do. Against spheres it is a prism along z, of its
thickness or infinitely long; the sphere touches the nearest edge or corner, and from inside it is
pushed out through the nearest edge. Between two polygons every corner inside the other polygon
carries load, in the other's plane. Its depth is the distance from the nearest edge, which is
continuous where corners enter and leave, so that the springs conserve energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kinetree.models.expressions.node_arithmetic import (
    E,
    absolute,
    choose,
    larger,
    root,
    smaller,
)
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.outlines import Placed

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_DISTANCE = 1e-12  # distance below which no direction is told [m]


@dataclass
class Edge:
    """An edge of a polygon in its plane: first corner, unit outward normal, length. The direction
    along it is the normal rotated by a right angle.
    """

    x: E
    y: E
    nx: E
    ny: E
    length: E

    def height(self, px: E, py: E) -> E:
        """Return the signed distance [m] of a point from the edge's line, positive outside."""
        return self.nx * (px - self.x) + self.ny * (py - self.y)

    def beyond(self, px: E, py: E) -> E:
        """Return how far [m] a point lies beyond the ends of the edge, along it; 0 beside it."""
        along = self.nx * (py - self.y) - self.ny * (px - self.x)
        return along - larger(smaller(along, self.length), 0.0)


@dataclass
class Nearest:
    """The point of a polygon's boundary nearest to a point: signed distance [m], positive outside,
    and the unit outward normal in the polygon's plane."""

    distance: E
    nx: E
    ny: E


def signed_area(corners: Sequence[Sequence[Any]]) -> Any:
    """Return the area [m2] of a polygon of numbers or expressions, positive for corners that run
    counter-clockwise.
    """
    first, *others = (a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*corners, corners[0]]))
    return 0.5 * sum(others, first)


def edges_of(shape: Placed) -> list[Edge]:
    """Return the edges of a polygon with outward normals, whichever way its corners run."""
    corners = shape.polygon()
    sign = choose(signed_area(corners) < 0.0, -1.0, 1.0)
    found = []
    for a, b in pairwise([*corners, corners[0]]):
        # Clockwise corners are run through backwards, so that the polygon stays on the left.
        x, y = (choose(sign < 0.0, q, p) for p, q in zip(a, b, strict=True))
        dx, dy = (sign * (q - p) for p, q in zip(a, b, strict=True))
        length = root(dx * dx + dy * dy)
        found.append(Edge(x, y, dy / length, -dx / length, length))
    return found


def nearest_boundary(edges: list[Edge], px: E, py: E) -> Nearest:
    """Return the nearest point of a convex polygon's boundary to a point in its plane."""
    found = []
    for edge in edges:
        height, beyond = edge.height(px, py), edge.beyond(px, py)
        square = height * height + beyond * beyond
        found.append((square, height, beyond, edge.nx, edge.ny))
    best, highest = found[0], found[0][1]
    for this in found[1:]:
        nearer, highest = this[0] < best[0], larger(highest, this[1])
        best = tuple(choose(nearer, a, b) for a, b in zip(this, best, strict=True))
    square, height, beyond, nx, ny = best
    corner = choose(highest > 0.0, absolute(beyond), 0.0) > LEAST_DISTANCE
    distance = root(larger(square, LEAST_DISTANCE * LEAST_DISTANCE))
    wide = tuple(
        choose(corner, off / distance, n)
        for off, n in (
            (nx * height - ny * beyond, nx),
            (ny * height + nx * beyond, ny),
        )
    )
    return Nearest(choose(corner, distance, height), wide[0], wide[1])


def nearest_edge(edges: list[Edge], px: E, py: E) -> Nearest:
    """Return the edge with the largest signed distance of its line from a point: for a point inside
    a convex polygon the nearest edge.
    """
    heights = [edge.height(px, py) for edge in edges]
    distance, nx, ny = heights[0], edges[0].nx, edges[0].ny
    for height, edge in zip(heights[1:], edges[1:], strict=True):
        farther = height > distance
        distance = choose(farther, height, distance)
        nx, ny = choose(farther, edge.nx, nx), choose(farther, edge.ny, ny)
    return Nearest(distance, nx, ny)


def in_plane(shape: Placed, reach: Vector) -> tuple[E, E]:
    """Return the coordinates [m] of a point in a polygon's plane, from its vector to the centre."""
    return reach.dot(shape.axis(0)), reach.dot(shape.axis(1))


def corner_arms(shape: Placed) -> list[Vector]:
    """Return the vectors from a polygon's centre to its corners, in ground axes."""
    x, y = shape.axis(0), shape.axis(1)
    return [x.times(a).plus(y.times(b)) for a, b in shape.polygon()]


def face_corner_arms(shape: Placed) -> list[Vector]:
    """Return the vectors to the corners of both faces of a polygon with a thickness, else to those
    of the polygon.
    """
    flat = corner_arms(shape)
    if shape.outline.thickness is None:
        return flat
    half = shape.z.times(0.5 * shape.thickness())
    return [arm.plus(half) for arm in flat] + [arm.minus(half) for arm in flat]


def solid_distances(first: Placed, second: Placed) -> tuple[E, Vector]:
    """Return the signed distance [m] of the first shape's centre from a polygon's prism, and the
    outward normal in ground axes.
    """
    middle = first.centre.minus(second.centre)
    px, py = in_plane(second, middle)
    edge = nearest_boundary(edges_of(second), px, py)
    side = second.axis(0).times(edge.nx).plus(second.axis(1).times(edge.ny))
    if second.outline.thickness is None:
        return edge.distance, side
    along = middle.dot(second.z)
    above = absolute(along) - 0.5 * second.thickness()
    end = second.z.times(choose(along < 0.0, -1.0, 1.0))
    a, b = larger(edge.distance, 0.0), larger(above, 0.0)
    beside = root(larger(a * a + b * b, LEAST_DISTANCE * LEAST_DISTANCE))
    rim = choose(a > 0.0, b, 0.0) > 0.0
    face = above > edge.distance
    normal = Vector(
        *(
            choose(rim, (p * a + q * b) / beside, choose(face, q, p))
            for p, q in zip(side, end, strict=True)
        )
    )
    return choose(rim, beside, larger(edge.distance, above)), normal
