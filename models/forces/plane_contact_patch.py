"""Contact of a shape with a plane: loads at its corners, ends or rims, and friction at their centre
of pressure.

Spots r_i = Σ c_ik B_k - radius n about the centre, with the plane's normal n: depth d_i = d +
radius - Σ c_ik B_k.n, each with the normal law of a contact. The loads N_i have the sum N and the
centre of pressure r_c = Σ N_i r_i/N. Friction follows from the velocity v there and the angular
velocity w about n together:

    F = -friction N s v        T = -friction N s rho² w n        s = share(V)/V,  V = sqrt(v² + rho² w²),  rho² = Σ N_i |r_i - r_c|²/N across n

exact for pure sliding and for rotation about the centre of pressure, and an ellipse instead of the
true limit curve in between (Howe and Cutkosky 1996); it never generates energy. All contact points
of a shape are equally far from its centre, so that rho² needs their depths only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from kinetree.models.expressions.node_arithmetic import E, const, larger, root
from kinetree.models.expressions.vectors import NOWHERE, Vector
from kinetree.models.forces.contact_geometry import rim_axes
from kinetree.models.forces.contacts import SMALLEST_FORCE, share_of
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.outlines import Placed

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.forces.force_schema import Standing

RIM = ((1.0, 0.0), (-0.5, 1.0), (-0.5, -1.0))  # low and aside of the three points of a rim


@dataclass
class Patch:
    """Contact points of a shape on a plane; depth and approach speed of its centre, velocity and
    angular velocity relative to the plane.
    """

    basis: list[Vector]
    rows: list[
        tuple[float, ...]
    ]  # of spots: how much of each vector of the basis; those of a box and a capsule come in opposite pairs
    reach: E  # square of their distance from the centre, without the radius
    radius: E
    normal: Vector
    depth: E
    sinking: E
    velocity: Vector
    spin: Vector

    @cached_property
    def up(self) -> list[E]:
        """Return the heights of the basis vectors along the normal."""
        return [vector.dot(self.normal) for vector in self.basis]

    @cached_property
    def rising(self) -> list[E]:
        """Return the rates of the heights of the basis vectors."""
        turning = self.normal.cross(self.spin)
        return [vector.dot(turning) for vector in self.basis]

    @property
    def top(self) -> E:
        """Return the depth of a contact point at the centre."""
        return self.depth if self.radius.node is const(0.0).node else self.depth + self.radius

    def depths(self) -> list[E]:
        return below(self.top, self.rows, self.up)

    def sinkings(self) -> list[E]:
        return below(self.sinking, self.rows, self.rising)

    def pressed(self, stiffness: E, damping: E) -> list[E]:
        """Return stiffness times depth plus damping times approach speed for every contact point."""
        both = [stiffness * a + damping * b for a, b in zip(self.up, self.rising, strict=True)]
        return below(stiffness * self.top + damping * self.sinking, self.rows, both)

    @property
    def paired(self) -> bool:
        """Return whether the second half of the points is opposite to the first half, in reverse
        order.
        """
        return all(
            a == tuple(-c for c in b) for a, b in zip(self.rows, reversed(self.rows), strict=True)
        )

    def pairs(self, values: list[E]) -> tuple[list[tuple[float, ...]], list[E], list[E]]:
        """Return the rows of the first points of all opposite pairs, and sums and differences of
        their values; without pairs the points alone.
        """
        if not self.paired:
            return self.rows, values, values
        half = len(values) // 2
        both = list(zip(values[:half], reversed(values[half:]), strict=True))
        return self.rows[:half], [a + b for a, b in both], [a - b for a, b in both]

    def total(self, values: list[E]) -> E:
        return sum(self.pairs(values)[1], const(0.0))

    def centre(self, loads: list[E]) -> Vector:
        """Return the first moment of the loads over the patch, total load times centre of pressure,
        without the radius.
        """
        rows, _, apart = self.pairs(loads)
        found = NOWHERE
        for k, vector in enumerate(self.basis):
            found = found.plus(vector.times(mixed(tuple(row[k] for row in rows), apart)))
        return found

    def friction(self, friction: E, full: E, loads: list[E], total: E, weighted: Vector) -> Slip:
        """Return friction force at the centre of pressure, moment about the normal, and the
        velocities that they act on.
        """
        some = 1.0 / larger(total, SMALLEST_FORCE)
        above = weighted.times(some)
        arm = (
            above
            if self.radius.node is const(0.0).node
            else above.minus(self.normal.times(self.radius))
        )
        speed = self.velocity.plus(self.spin.cross(arm)).across(self.normal)
        turning, aside = self.spin.dot(self.normal), above.across(self.normal)
        rows, together, _ = self.pairs(loads)  # opposite spots are equally high and low
        heights = [mixed(row, self.up) for row in rows]
        flat = sum(
            (height * height * load for load, height in zip(together, heights, strict=True)),
            const(0.0),
        )
        wide = larger(self.reach - flat * some - aside.dot(aside), 0.0)
        drag = -friction * total * share_of(root(speed.dot(speed) + wide * turning * turning), full)
        return Slip(arm, speed, turning, speed.times(drag), drag * wide * turning)


@dataclass
class Slip:
    """Friction of a patch: centre of pressure, slip velocities, force, and moment about the normal."""

    arm: Vector
    speed: Vector
    turning: E
    force: Vector
    moment: E


def mixed(row: tuple[float, ...], values: list[E]) -> E:
    """Return a linear combination of values, most of whose factors are 1 or -1."""
    found = const(0.0)
    for c, value in zip(row, values, strict=True):
        found = (
            found + value
            if c == 1.0
            else found - value
            if c == -1.0
            else found + c * value
            if c
            else found
        )
    return found


def below(top: E, rows: list[tuple[float, ...]], values: list[E]) -> list[E]:
    """Return the depth of every contact point below the plane, from that of the centre; common
    parts are shared.
    """
    found = []
    for *others, last in rows:
        start = top - last * values[-1] if last > 0.0 else top + -last * values[-1]
        sign = 1.0 if all(c >= 0.0 for c in others[:1]) else -1.0
        rest = mixed(tuple(sign * c for c in others), values[:-1])
        found.append(start - rest if sign > 0.0 else start + rest)
    return found


def spots_of(first: Placed, normal: Vector) -> tuple[list[Vector], list[tuple[float, ...]], E, E]:
    """Return basis, rows, squared distance and radius of the contact points of a shape."""
    sizes, none = first.sizes(), const(0.0)
    if first.shape == "capsule":
        half = 0.5 * sizes[1]
        return [first.z.times(half)], [(1.0,), (-1.0,)], half * half, sizes[0]
    if first.shape == "box":
        halves = [0.5 * size for size in sizes]
        basis = [axis.times(half) for axis, half in zip(first.axes, halves, strict=True)]
        return (
            basis,
            list(product((1.0, -1.0), repeat=3)),
            sum((half * half for half in halves), none),
            none,
        )
    low, aside = rim_axes(first, normal)
    radius, half = sizes[0], 0.5 * sizes[1]
    basis = [first.z.times(half), low.times(radius), aside.times(0.5 * 3.0**0.5 * radius)]
    return (
        basis,
        [(end, *point) for end in (1.0, -1.0) for point in RIM],
        half * half + radius * radius,
        none,
    )


def patch_on_ground(builder: Builder, label: str, force: Standing, first: Placed) -> Patch | None:
    """Return the contact patch of a shape on flat ground; None on terrain, and for a sphere, a
    polygon or a hull.
    """
    ground = Ground(builder, label, force, first.centre)
    if first.shape in ("sphere", "polygon", "hull") or not ground.flat:
        return None
    spots = spots_of(first, ground.normal)
    return Patch(
        *spots,
        ground.normal,
        ground.depth,
        ground.sinking(first.velocity),
        first.velocity,
        first.spin,
    )


def patch_on_plane(first: Placed, second: Placed) -> Patch:
    """Return the contact patch of a shape on the plane of a body."""
    normal, between = second.z, first.centre.minus(second.centre)
    velocity = first.velocity.minus(second.speed(between))
    spin = first.spin if second.body == 0 else first.spin.minus(second.spin)
    return Patch(
        *spots_of(first, normal),
        normal,
        -between.dot(normal),
        -velocity.dot(normal),
        velocity,
        spin,
    )
