"""Convex polyhedra in contact: their corners on ground and planes, and their distance from a
sphere.

For a point outside, the nearest point of the polyhedron is on the face whose plane has the largest
distance, if the perpendicular foot lies on the face, else on an edge. For a point inside it is on
the nearest face.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.models.expressions.node_arithmetic import E, choose, const, larger, root, smaller
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.convex_hull import Hull, hull_of
from kinetree.models.forces.outlines import Placed

ON_FACE = 1e-9  # of the size of a hull: how far beside a face its foot counts as on it
LEAST_DISTANCE = 1e-12  # distance below which no direction is told [m]


def hull_arms(shape: Placed) -> list[Vector]:
    """Return the vectors from a hull's centre to its corners, in ground axes."""
    hull = hull_of(shape.outline.hull_points)
    corners = [] if hull is None else hull.corners
    x, y, z = shape.axes
    return [
        x.times(float(a)).plus(y.times(float(b))).plus(z.times(float(c))) for a, b, c in corners
    ]


def sphere_and_hull(first: Placed, second: Placed) -> tuple[E, Vector]:
    """Return the signed distance [m] of the first shape's centre from a hull, and the outward
    normal in ground axes.
    """
    hull = hull_of(second.outline.hull_points)
    assert hull is not None  # refused by the checks
    middle = first.centre.minus(second.centre)
    p = Vector(*(middle.dot(axis) for axis in second.axes))
    height, normal = farthest_plane(hull, p)
    foot = p.minus(normal.times(height))
    beside = farthest_plane(hull, foot)[0]
    square, out = nearest_edge_point(hull, p)
    size = float(np.ptp(hull.corners, axis=0).max())
    # Inside the hull, and above a face, its plane counts; else the nearest edge.
    corner = choose(height > 0.0, beside, 0.0) > ON_FACE * size
    distance = root(larger(square, LEAST_DISTANCE * LEAST_DISTANCE))
    parts = [
        choose(corner, away / distance, straight)
        for away, straight in zip(out, normal, strict=True)
    ]
    x, y, z = (axis.times(part) for axis, part in zip(second.axes, parts, strict=True))
    return choose(corner, distance, height), x.plus(y).plus(z)


def farthest_plane(hull: Hull, p: Vector) -> tuple[E, Vector]:
    """Return the greatest signed distance of a point from the planes of a hull, and that plane's
    normal, in axes of the hull.
    """
    found = []
    for *normal, offset in hull.planes.tolist():
        height = dot_numbers(normal, p) + offset
        found.append((height, *(const(part) for part in normal)))
    best = found[0]
    for this in found[1:]:
        farther = this[0] > best[0]
        best = tuple(choose(farther, a, b) for a, b in zip(this, best, strict=True))
    return best[0], Vector(*best[1:])


def nearest_edge_point(hull: Hull, p: Vector) -> tuple[E, Vector]:
    """Return the squared distance of a point from the nearest edge of a hull, and the vector from
    there to the point, in axes of the hull.
    """
    found = []
    for a, b in hull.edges:
        start, side = hull.corners[a], hull.corners[b] - hull.corners[a]
        length = float(np.linalg.norm(side))
        along = (side / length).tolist()
        from_start = p.minus(Vector(*(const(float(part)) for part in start)))
        reached = larger(smaller(dot_numbers(along, from_start), length), 0.0)
        out = [part - reached * c if c else part for part, c in zip(from_start, along, strict=True)]
        found.append((sum((part * part for part in out), const(0.0)), *out))
    best = found[0]
    for this in found[1:]:
        nearer = this[0] < best[0]
        best = tuple(choose(nearer, new, old) for new, old in zip(this, best, strict=True))
    return best[0], Vector(*best[1:])


def dot_numbers(numbers: Sequence[float], vector: Vector) -> E:
    """Return the scalar product of three numbers with a vector of expressions, omitting zero terms."""
    terms = [part * c for part, c in zip(vector, numbers, strict=True) if c]
    return sum(terms[1:], terms[0]) if terms else const(0.0)
