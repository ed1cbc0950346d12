"""Volume integrals of solid shapes in closed form, over numbers or expressions of parameters.

Every function returns the volume V, the first moments ∫ r dV and the second moments ∫ r rᵀ dV of a
solid. Sizes may be floats or expressions `E`, which support the same arithmetic, so that the mass
of a body follows the parameters of its shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.models.expressions.node_arithmetic import E, choose, cos, root, sin

Value = float | E
Row = tuple[Value, Value, Value]
Matrix = tuple[Row, Row, Row]

ORIGIN: Row = (0.0, 0.0, 0.0)
UNIT: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
OPPOSITE: Matrix = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
PARALLEL = 1e-12  # sine of an angle to the z axis that counts as none


class Solid(NamedTuple):
    """Volume integrals of a solid about a point near it, so that distant solids lose no digits."""

    volume: Value  # V [m3]
    first: Row  # ∫ (r - at) dV [m4]
    second: Matrix  # ∫ (r - at) (r - at)ᵀ dV [m5]
    at: Row = ORIGIN  # the point [m]


def diagonal(x: Value, y: Value, z: Value) -> Matrix:
    """Return the diagonal matrix of three values."""
    return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))


def box(x: Value, y: Value, z: Value) -> Solid:
    """Return the volume integrals of a box with edges x, y, z about its centre."""
    V = x * y * z
    return Solid(V, ORIGIN, diagonal(V * x * x / 12.0, V * y * y / 12.0, V * z * z / 12.0))


def cylinder(radius: Value, height: Value) -> Solid:
    """Return the volume integrals of a cylinder along z about its centre."""
    V = math.pi * (radius * radius * height)
    side = V * radius * radius / 4.0
    return Solid(V, ORIGIN, diagonal(side, side, V * height * height / 12.0))


def sphere(radius: Value) -> Solid:
    """Return the volume integrals of a ball about its centre."""
    V = (4.0 * math.pi / 3.0) * (radius * radius * radius)
    each = V * radius * radius / 5.0
    return Solid(V, ORIGIN, diagonal(each, each, each))


def capsule(radius: Value, height: Value) -> Solid:
    """Return the volume integrals of a capsule, a cylinder along z with half balls at its ends,
    about its centre.
    """
    middle, ends = cylinder(radius, height), sphere(radius)
    side = middle.second[0][0] + ends.second[0][0]
    # a half ball at the height h/2 has its centroid 3/8 r farther away
    far = ends.volume * height * (height / 4.0 + 3.0 / 8.0 * radius)
    along = middle.second[2][2] + ends.second[2][2] + far
    return Solid(middle.volume + ends.volume, ORIGIN, diagonal(side, side, along))


def extrusion(corners: Sequence[Sequence[Value]], height: Value) -> Solid:
    """Return the volume integrals of a prism over an outline in x and y, centred about z = 0.

    The integrals of the outline follow from Green's theorem; its corners may be listed clockwise or
    counterclockwise.
    """
    area: Value = 0.0
    first: list[Value] = [0.0, 0.0]
    xx: Value = 0.0
    yy: Value = 0.0
    xy: Value = 0.0
    x0, y0 = corners[0]  # relative to one corner, so that a distant outline loses no digits
    points = [(x - x0, y - y0) for x, y in corners]
    for (a, b), (c, d) in zip(points, [*points[1:], points[0]], strict=True):
        cross = a * d - c * b
        area = area + cross / 2.0
        first[0] = first[0] + cross * (a + c) / 6.0
        first[1] = first[1] + cross * (b + d) / 6.0
        xx = xx + cross * (a * a + a * c + c * c) / 12.0
        yy = yy + cross * (b * b + b * d + d * d) / 12.0
        xy = xy + cross * (a * (2.0 * b + d) + c * (b + 2.0 * d)) / 24.0
    sign = choose(area < 0.0, -1.0, 1.0) if isinstance(area, E) else math.copysign(1.0, area)
    factor = sign * height
    V = area * factor
    flat: Matrix = (
        (xx * factor, xy * factor, 0.0),
        (xy * factor, yy * factor, 0.0),
        (0.0, 0.0, V * height * height / 12.0),
    )
    return Solid(V, (first[0] * factor, first[1] * factor, 0.0), flat, (x0, y0, 0.0))


def scaled(solid: Solid, scale: Value) -> Solid:
    """Return the volume integrals of a solid scaled to another unit of length."""
    cube = scale * scale * scale
    x, y, z = (each * cube * scale for each in solid.first)
    square = cube * scale * scale
    rows = [tuple(each * square for each in row) for row in solid.second]
    u, v, w = (each * scale for each in solid.at)
    return Solid(solid.volume * cube, (x, y, z), (rows[0], rows[1], rows[2]), (u, v, w))  # pyright: ignore


def placed(solid: Solid, R: Matrix, at: Row) -> Solid:
    """Return the volume integrals of a solid rotated by R and placed with its origin at `at`."""
    x, y, z = (dot(row, solid.first) for row in R)
    half = [tuple(dot(row, column) for column in zip(*solid.second, strict=True)) for row in R]
    rows = [tuple(dot(half[i], R[j]) for j in range(3)) for i in range(3)]
    u, v, w = (dot(row, solid.at) + each for row, each in zip(R, at, strict=True))
    return Solid(solid.volume, (x, y, z), (rows[0], rows[1], rows[2]), (u, v, w))  # pyright: ignore


def about(solid: Solid, point: Row) -> Solid:
    """Return the volume integrals of a solid about another point."""
    d = [each - other for each, other in zip(solid.at, point, strict=True)]
    V, first = solid.volume, solid.first
    rows = [
        tuple(
            solid.second[i][j] + first[i] * d[j] + d[i] * first[j] + V * (d[i] * d[j])
            for j in range(3)
        )
        for i in range(3)
    ]
    x, y, z = (each + V * way for each, way in zip(first, d, strict=True))
    return Solid(V, (x, y, z), (rows[0], rows[1], rows[2]), point)  # pyright: ignore


def joined(parts: Sequence[Solid], point: Row) -> Solid:
    """Return the volume integrals of several solids together about one point."""
    total, *others = (about(part, point) for part in parts)
    for part in others:
        x, y, z = (a + b for a, b in zip(total.first, part.first, strict=True))
        rows = [
            tuple(a + b for a, b in zip(one, other, strict=True))
            for one, other in zip(total.second, part.second, strict=True)
        ]
        total = Solid(total.volume + part.volume, (x, y, z), (rows[0], rows[1], rows[2]), point)  # pyright: ignore
    return total


def dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    """Return the scalar product of two triples of values."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def moments(second: Matrix) -> tuple[Value, ...]:
    """Return the inertia tensor per density, xx yy zz xy xz yz, that corresponds to ∫ r rᵀ dV."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = second
    return yy + zz, xx + zz, xx + yy, -xy, -xz, -yz


# -- directions -------------------------------------------------------------------------------------
def product(A: Matrix, B: Matrix) -> Matrix:
    """Return the product of two 3 x 3 matrices."""
    rows = [tuple(dot(row, column) for column in zip(*B, strict=True)) for row in A]
    return rows[0], rows[1], rows[2]  # pyright: ignore[reportReturnType]


def turned_by(angles: Sequence[Value]) -> Matrix:
    """Return the rotation by three angles about the fixed x axis, then y, then z."""
    (sx, cx), (sy, cy), (sz, cz) = (
        (sin(each), cos(each)) if isinstance(each, E) else (math.sin(each), math.cos(each))
        for each in angles
    )
    about_x: Matrix = ((1.0, 0.0, 0.0), (0.0, cx, -sx), (0.0, sx, cx))
    about_y: Matrix = ((cy, 0.0, sy), (0.0, 1.0, 0.0), (-sy, 0.0, cy))
    about_z: Matrix = ((cz, -sz, 0.0), (sz, cz, 0.0), (0.0, 0.0, 1.0))
    return product(about_z, product(about_y, about_x))


def turned_along(axis: Sequence[Value]) -> Matrix:
    """Return the shortest rotation that takes the z axis to a direction, as for displayed shapes."""
    if any(isinstance(each, E) for each in axis):
        size: Value = root(E(dot(axis, axis)))
    else:
        size = math.hypot(*axis)  # pyright: ignore[reportArgumentType]
    x, y, z = (each / size for each in axis)
    if not isinstance(z, E) and not isinstance(x, E) and not isinstance(y, E):
        if math.hypot(x, y) < PARALLEL:
            return UNIT if z >= 0.0 else OPPOSITE
    k = 1.0 / (1.0 + z)
    return (
        (1.0 - k * x * x, -(k * x * y), x),
        (-(k * x * y), 1.0 - k * y * y, y),
        (-x, -y, z),
    )
