"""Contact points of shapes (outlines) with the ground, with planes and with each other: position,
normal and depth.

Against a surface: a sphere at its lowest point, a capsule at both ends, a box at its corners, a
cylinder at three points of either rim, the lowest and those 120 degrees from it (so that it rolls
on its side and stands on its end). Depths against a plane are exact; on terrain its height at each
point is used. Between shapes: the deepest point of sphere and sphere, capsule, box or cylinder, and
of two capsules, from the nearest points of centre, segment and solid. It lies in the middle between
the two surfaces: two bodies of one material each deform by half the depth, whatever their radii
(Hertz), and the order of the two shapes does not matter. Polygons: `polygon_contact`, polyhedra:
`hull_contact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from kinetree.models.expressions.node_arithmetic import (
    E,
    absolute,
    choose,
    const,
    larger,
    root,
    smaller,
)
from kinetree.models.expressions.vectors import Vector
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.hull_contact import hull_arms, sphere_and_hull
from kinetree.models.forces.outlines import Placed
from kinetree.models.forces.polygon_contact import (
    LEAST_DISTANCE,
    corner_arms,
    edges_of,
    face_corner_arms,
    in_plane,
    nearest_edge,
    solid_distances,
)

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.forces.force_schema import Standing

LEAST_SLANT = 1e-9  # below it all of a rim is equally low
ZERO_VECTOR = Vector(const(0.0), const(0.0), const(0.0))
PARALLEL = 1e-12  # square of the sine of the angle below which segments count as parallel


@dataclass
class Spot:
    """A contact point: arm from the first body's centre, normal and tangential directions, depth
    and its rate.

    `speed` is the velocity of the first body's material relative to the second's.
    """

    arm: Vector
    away: Vector
    normal: Vector
    depth: E
    sinking: E
    speed: Vector


def corners(first: Placed, normal: Vector) -> tuple[list[Vector], E]:
    """Return the points of a shape that may touch a surface, relative to its centre, and the radius
    around them.
    """
    if first.shape == "polygon":
        return face_corner_arms(first), const(0.0)
    if first.shape == "hull":
        return hull_arms(first), const(0.0)
    sizes = first.sizes()
    if first.shape == "sphere":
        return [ZERO_VECTOR], sizes[0]
    if first.shape == "capsule":
        half = first.z.times(0.5 * sizes[1])
        return [half, half.times(-1.0)], sizes[0]
    if first.shape == "box":
        x, y, z = (axis.times(0.5 * size) for axis, size in zip(first.axes, sizes, strict=True))
        lower = [x.times(i).plus(y.times(j)) for i, j in product((-1.0, 1.0), repeat=2)]
        return [each.plus(z) for each in lower] + [each.minus(z) for each in lower], const(0.0)
    return rims(first, normal, *sizes), const(0.0)


def rims(first: Placed, normal: Vector, radius: E, height: E) -> list[Vector]:
    """Return three points of either rim of a cylinder, relative to its centre."""
    low, across = rim_axes(first, normal)
    aside = across.times(0.5 * 3.0**0.5)
    points = [low, low.times(-0.5).plus(aside), low.times(-0.5).minus(aside)]
    half = first.z.times(0.5 * height)
    return [end.plus(point.times(radius)) for end in (half, half.times(-1.0)) for point in points]


def rim_axes(first: Placed, normal: Vector) -> tuple[Vector, Vector]:
    """Return the unit vectors perpendicular to the axis of a cylinder: towards its lowest point,
    and the third direction.
    """
    axis = first.z
    down = axis.times(normal.dot(axis)).minus(normal)
    slant = root(down.dot(down))
    low = Vector(
        *(
            choose(slant > LEAST_SLANT, a / larger(slant, LEAST_SLANT), b)
            for a, b in zip(down, first.axis(0), strict=True)
        )
    )
    return low, axis.cross(low)


def on_ground(builder: Builder, label: str, force: Standing, first: Placed) -> list[Spot]:
    """Return the contact points of a shape on the ground surface."""
    middle = Ground(builder, label, force, first.centre)
    points, radius = corners(first, middle.normal)
    spots = []
    for point in points:
        ground = (
            middle if len(points) == 1 else Ground(builder, label, force, first.centre.plus(point))
        )
        arm = point if is_zero(radius) else point.minus(ground.normal.times(radius))
        speed = first.speed(arm)
        spots.append(
            Spot(
                arm, ground.away, ground.normal, ground.depth + radius, ground.sinking(speed), speed
            )
        )
    return spots


def sphere_plane(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of a sphere on the plane of a body (other shapes:
    `plane_contact_patch`).
    """
    arm = second.z.times(-first.sizes()[0])
    reach = first.centre.plus(arm).minus(second.centre)
    return [spot(first, second, arm, reach, second.z, -reach.dot(second.z))]


def spot(
    first: Placed, second: Placed, arm: Vector, reach: Vector, normal: Vector, depth: E
) -> Spot:
    """Return a contact point at `arm` from the first and `reach` from the second centre."""
    speed = first.speed(arm).minus(second.speed(reach))
    return Spot(arm, normal, normal, depth, -speed.dot(normal), speed)


def is_zero(value: E) -> bool:
    return value.node is const(0.0).node


def apart(first: Placed, second: Placed, a: Vector, b: Vector, radius: E, other: E) -> list[Spot]:
    """Return the contact point of two spheres, at `a` and `b` from the centres."""
    between = first.centre.plus(a).minus(second.centre.plus(b))
    distance = larger(root(between.dot(between)), LEAST_DISTANCE)
    normal, depth = between.times(1.0 / distance), radius + other - distance
    arm = a.minus(normal.times(radius - 0.5 * depth))
    return [spot(first, second, arm, first.centre.plus(arm).minus(second.centre), normal, depth)]


def sphere_sphere(first: Placed, second: Placed) -> list[Spot]:
    return apart(first, second, ZERO_VECTOR, ZERO_VECTOR, first.sizes()[0], second.sizes()[0])


def sphere_capsule(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of a sphere and a capsule, by the nearest point of the capsule's
    segment.
    """
    radius, length = second.sizes()
    along = clamped(first.centre.minus(second.centre).dot(second.z), 0.5 * length)
    return apart(first, second, ZERO_VECTOR, second.z.times(along), first.sizes()[0], radius)


def capsule_capsule(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of two capsules, by the nearest points of their segments; for
    parallel ones the middle of their overlap.
    """
    (ra, la), (rb, lb) = first.sizes(), second.sizes()
    between, turned = first.centre.minus(second.centre), first.z.dot(second.z)
    pa, pb = first.z.dot(between), second.z.dot(between)
    sine = 1.0 - turned * turned
    beside = 0.5 * (larger(-0.5 * la, -pa - 0.5 * lb) + smaller(0.5 * la, 0.5 * lb - pa))
    s = choose(
        sine > PARALLEL, clamped((turned * pb - pa) / larger(sine, PARALLEL), 0.5 * la), beside
    )
    t = clamped(pb + s * turned, 0.5 * lb)
    s = clamped(t * turned - pa, 0.5 * la)
    return apart(first, second, first.z.times(s), second.z.times(t), ra, rb)


def sphere_box(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of a sphere and a box, by the nearest point of the box; from inside,
    by the nearest face.
    """
    middle = first.centre.minus(second.centre)
    at = [middle.dot(axis) for axis in second.axes]
    halves = [0.5 * size for size in second.sizes()]
    out = [c - clamped(c, h) for c, h in zip(at, halves, strict=True)]
    inner = [h - absolute(c) for c, h in zip(at, halves, strict=True)]
    least = smaller(smaller(inner[0], inner[1]), inner[2])
    nearest = [inner[0] - least < LEAST_DISTANCE, const(0.0), const(0.0)]
    nearest[1] = choose(nearest[0], 0.0, inner[1] - least < LEAST_DISTANCE)
    nearest[2] = 1.0 - nearest[0] - nearest[1]
    faces = [pick * choose(c < 0.0, -1.0, 1.0) for pick, c in zip(nearest, at, strict=True)]
    return from_solid(first, second, second.axes, out, faces, least)


def sphere_cylinder(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of a sphere and a cylinder, computed in the plane through the
    cylinder's axis and the sphere's centre.
    """
    radius, height = second.sizes()
    middle = first.centre.minus(second.centre)
    along = middle.dot(second.z)
    aside = middle.minus(second.z.times(along))
    distance = root(aside.dot(aside))
    sideways = Vector(
        *(
            choose(distance > LEAST_DISTANCE, a / larger(distance, LEAST_DISTANCE), b)
            for a, b in zip(aside, second.axis(0), strict=True)
        )
    )
    inner = [radius - distance, 0.5 * height - absolute(along)]
    out = [larger(-inner[0], 0.0), along - clamped(along, 0.5 * height)]
    side = inner[0] < inner[1]
    faces = [choose(side, 1.0, 0.0), choose(side, 0.0, choose(along < 0.0, -1.0, 1.0))]
    return from_solid(first, second, (sideways, second.z), out, faces, smaller(*inner))


def from_solid(
    first: Placed, second: Placed, axes: tuple[Vector, ...], out: list[E], faces: list[E], inner: E
) -> list[Spot]:
    """Return the contact point of a sphere whose centre is outside a solid by `out`, or inside,
    `inner` behind the face with normal `faces`.
    """
    distance = root(sum((each * each for each in out), const(0.0)))
    outside = distance > LEAST_DISTANCE
    share = [
        choose(outside, a / larger(distance, LEAST_DISTANCE), b)
        for a, b in zip(out, faces, strict=True)
    ]
    normal = ZERO_VECTOR
    for part, axis in zip(share, axes, strict=True):
        normal = normal.plus(axis.times(part))
    radius = first.sizes()[0]
    depth = radius - choose(outside, distance, -inner)
    arm = normal.times(0.5 * depth - radius)
    return [spot(first, second, arm, first.centre.plus(arm).minus(second.centre), normal, depth)]


def corners_plane(first: Placed, second: Placed) -> list[Spot]:
    """Return a contact point at every corner of a polygon or hull on the plane of a body."""
    between = first.centre.minus(second.centre)
    spots = []
    for arm in corners(first, second.z)[0]:
        reach = between.plus(arm)
        spots.append(spot(first, second, arm, reach, second.z, -reach.dot(second.z)))
    return spots


def sphere_polygon(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of a sphere and the prism over a polygon."""
    return sphere_solid(first, second, *solid_distances(first, second))


def sphere_hull(first: Placed, second: Placed) -> list[Spot]:
    """Return the contact point of a sphere and a convex polyhedron."""
    return sphere_solid(first, second, *sphere_and_hull(first, second))


def sphere_solid(first: Placed, second: Placed, distance: E, normal: Vector) -> list[Spot]:
    """Return the contact point of a sphere whose centre has a signed distance [m] from a solid
    along its outward normal.
    """
    radius = first.sizes()[0]
    depth = radius - distance
    arm = normal.times(0.5 * depth - radius)
    return [spot(first, second, arm, first.centre.plus(arm).minus(second.centre), normal, depth)]


def polygon_polygon(first: Placed, second: Placed) -> list[Spot]:
    """Return a contact point at every corner of either polygon, with its depth below the nearest
    edge of the other.
    """
    between, spots = first.centre.minus(second.centre), []
    for own, other, sign in ((first, second, 1.0), (second, first, -1.0)):
        edges = edges_of(other)
        for corner in corner_arms(own):
            reach = corner.plus(between.times(sign))
            near = nearest_edge(edges, *in_plane(other, reach))
            out = other.axis(0).times(near.nx).plus(other.axis(1).times(near.ny))
            middle = out.times(-0.5 * near.distance)
            here, there = corner.plus(middle), reach.plus(middle)
            arm, reach = (here, there) if own is first else (there, here)
            spots.append(spot(first, second, arm, reach, out.times(sign), -near.distance))
    return spots


def clamped(x: E, limit: E) -> E:
    return larger(smaller(x, limit), -limit)


PAIRS = {
    ("sphere", "sphere"): sphere_sphere,
    ("sphere", "capsule"): sphere_capsule,
    ("sphere", "box"): sphere_box,
    ("sphere", "cylinder"): sphere_cylinder,
    ("capsule", "capsule"): capsule_capsule,
    ("sphere", "plane"): sphere_plane,
    ("sphere", "polygon"): sphere_polygon,
    ("polygon", "polygon"): polygon_polygon,
    ("polygon", "plane"): corners_plane,
    ("sphere", "hull"): sphere_hull,
    ("hull", "plane"): corners_plane,
}
ON_PLANES = ("capsule", "box", "cylinder")  # whose contact with a plane is a patch


def pair(first: str, second: str) -> tuple[bool, bool]:
    """Return whether two shapes can be in contact, and whether they must be swapped for it."""
    if second == "plane" and first in ON_PLANES:
        return True, False
    return ((first, second) in PAIRS or (second, first) in PAIRS), (first, second) not in PAIRS
