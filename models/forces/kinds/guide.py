"""A pin of one body on a curve in space of another: a bent rail, a cam track, a helix, with
clearance.

The curve c(s) runs through `points` as a spline (s the chord length), or is a helix about z (s the
angle, pitch s/2π along z). At the curve point nearest to the pin r the law is that of a contact
with the depth |r - c| - clearance; friction opposes sliding. Beyond the ends of a curve there is no
contact; a `closed` one has no ends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import Place, composed, resolved
from kinetree.models.expressions.node_arithmetic import (
    E,
    choose,
    const,
    cos,
    function,
    larger,
    name,
    root,
    sin,
    smaller,
)
from kinetree.models.expressions.nodes import Lookup
from kinetree.models.expressions.vectors import NOWHERE, Vector, registers, vector_of
from kinetree.models.forces.contacts import normal_force, sliding, slope_by, warn_of_friction_speed
from kinetree.models.forces.curve_validation import helix_fault, spline_fault
from kinetree.models.forces.curves import (
    HELIX_STEPS,
    SPLINE_STEPS,
    Arithmetic,
    At,
    angle,
    beginning,
    knots,
    nearest,
    winding,
)
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, Rubbing
from kinetree.models.forces.wrench_pairs import add_pair
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Number
from kinetree.models.language.parts.base_table import Part
from kinetree.solvers.layout import Op

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

MOST_POINTS = 60
MIDDLE = 1e-12  # offset below which no direction is told [m]


class Helix(Part):
    """A helix about the z axis of the first body, through its point of `between`."""

    radius: Number = Field(description="Radius [m]")
    pitch: Number = Field(description="Rise per turn; below 0 a left-handed one [m]")
    begin: Number = Field(0.0, description="Angle at which it begins, 0 at x [rad]")
    end: Number = Field(description="Angle at which it ends [rad]")
    positive: ClassVar = ("radius",)


Points = tuple[tuple[float, float, float], ...]


class GuideForce(Rubbing):
    """Pin of the second body on a curve in space of the first body, with clearance: a spline through points, or a helix."""

    kind: Literal["guide"] = "guide"
    between: Between = Field(
        description="Origin of the curve on the first body; centre of the pin on the guided body"
    )
    points: Points | None = Field(None, description="Points of the curve [m]")
    helix: Helix | None = Field(None, description="Helix, instead of points")
    closed: bool = Field(
        False, description="Whether the curve is closed from its last point to its first one"
    )
    clearance: Number = Field(0.0, description="Clearance in all directions [m]")


class Course(Protocol):
    """The points through which a spline runs, and whether it is closed."""

    @property
    def points(self) -> Points | None: ...

    @property
    def closed(self) -> bool: ...


class Curve(NamedTuple):
    """Position and derivatives at s, s of the point nearest to the pin, bounds of s."""

    at: At
    nearest: E
    begin: E
    end: E
    period: float | None


def by_expressions(builder: Builder, label: str) -> Arithmetic:
    def keep(key: str, value: E) -> E:
        builder.define(hidden(label, key), value.node)
        return name(hidden(label, key))

    def atan2(y: E, x: E) -> E:
        return function(Op.ATAN2, y, x)

    return Arithmetic(larger, smaller, choose, sin, cos, atan2, floor, keep)


def floor(a: E) -> E:
    return function(Op.FLOOR, a)


def spline(builder: Builder, label: str, force: Course, r: Vector) -> Curve:
    """Return a cubic spline through the points over their chord length; a closed one is extended
    beyond both ends.
    """
    known, by = knots(force.points, force.closed), by_expressions(builder, label)
    for axis, values in zip("xyz", known.points.T, strict=True):
        builder.registers.add_table(
            hidden(label, axis),
            known.s.tolist(),
            values.tolist(),
            method="spline",
            extrapolate=True,
        )

    def at(place: E) -> tuple[Vector, ...]:
        return tuple(
            Vector(*(E(Lookup(op, hidden(label, axis), (place.node,))) for axis in "xyz"))
            for op in (Op.TABLE1, Op.TABLE1_D, Op.TABLE1_DD)
        )

    s = nearest(at, beginning(known, r, by), r, SPLINE_STEPS, by)
    return Curve(at, s, const(0.0), const(known.end), known.end if force.closed else None)


def coil(builder: Builder, label: str, force: GuideForce, r: Vector) -> Curve:
    """Return the curve of a helix."""
    assert force.helix is not None
    key = f"forces.{label}.helix"
    radius, pitch, begin, end = (
        E(builder.node(getattr(force.helix, each), f"{key}.{each}"))
        for each in ("radius", "pitch", "begin", "end")
    )
    rise, by = pitch / (2.0 * math.pi), by_expressions(builder, label)
    at = winding(radius, rise, by)
    return Curve(at, nearest(at, angle(rise, r, by), r, HELIX_STEPS, by), begin, end, None)


def add_guide(builder: Builder, label: str, force: GuideForce) -> None:
    """Add a contact between pin and curve with the names NAME.travel (arc length) and
    NAME.penetration.
    """
    key = f"forces.{label}"
    track, pin = (
        Place(builder, each.body, vector_of(builder, each.point, f"{key}.between"))
        for each in force.between
    )
    offset, axes = pin.position().minus(track.position()), track.axes()
    for axis, value in zip("xyz", resolved(offset, axes), strict=True):
        builder.define(hidden(label, f"pin {axis}"), value.node)
    r = Vector(*(name(hidden(label, f"pin {axis}")) for axis in "xyz"))
    curve = (spline if force.helix is None else coil)(builder, label, force, r)
    s = curve.nearest
    travel = s if curve.period is None else s - curve.period * floor(s / curve.period)
    builder.define(hidden(label, "travel"), travel.node)
    builder.offer(f"{label}.travel", hidden(label, "travel"))
    c, d, _ = curve.at(s)
    away = r.minus(c).across(d.unit())
    size = root(away.dot(away) + MIDDLE * MIDDLE)
    normal = composed(axes, away.times(1.0 / size))
    clearance = E(builder.node(force.clearance, f"{key}.clearance"))
    if curve.period is None:
        depth = choose(
            s < curve.begin,
            -clearance - MIDDLE,
            choose(s > curve.end, -clearance - MIDDLE, size - clearance),
        )
    else:
        depth = size - clearance
    speed = pin.velocity().minus(track.velocity()).minus(track.spin().cross(offset))
    load = normal_force(builder, label, force, depth, speed.dot(normal))
    sides = (
        Vector(*sliding(builder, label, force, load, speed.across(normal)))
        if force.friction != 0.0
        else NOWHERE
    )
    total = normal.times(-load).plus(sides)
    add_pair(
        builder,
        track.body,
        pin.body,
        registers(builder, track.point),
        registers(builder, pin.point),
        total,
        offset,
    )
    potential, deep = builder.potential_of[label], name(hidden(label, "penetration"))

    def lost() -> E:
        return (load - slope_by(potential, deep)) * speed.dot(normal) - sides.dot(speed)

    builder.books[label] = Book(
        lambda: total.dot(speed),
        lost,
        potential,
        track.body,
        lambda: total.times(-1.0),
        clearance=-deep,
    )


def check_guide(checker: Checker, path: Path, force: GuideForce) -> None:
    warn_of_friction_speed(checker, path, force)
    if (force.points is None) == (force.helix is None):
        checker.complain((*path, "points"), "both or neither of points and helix", "one of them")
    clearance = checker.number(force.clearance)
    if force.points is not None:
        check_points(checker, (*path, "points"), force.points, force.closed, clearance)
    if force.helix is not None:
        check_helix(checker, path, force.helix, clearance)
        if force.closed:
            checker.complain((*path, "closed"), "a closed helix", "no closed: a helix has two ends")


def check_points(
    checker: Checker, path: Path, points: Points, closed: bool, clearance: float | None
) -> None:
    least = 3 if closed else 2
    if not least <= len(points) <= MOST_POINTS:
        checker.complain(path, f"{len(points)} points", f"from {least} to {MOST_POINTS}")
        return
    ways = np.diff(np.array((*points, *points[:1]) if closed else points), axis=0)
    if float(np.linalg.norm(ways, axis=1).min()) == 0.0:
        checker.complain(path, "the same point twice in a row", "points apart from each other")
    elif clearance is not None and (fault := spline_fault(points, closed, clearance)):
        count = len(ways)
        here, there = (
            f"points {way + 1} and {(way + 1) % len(points) + 1}"
            for way in (fault.way, fault.ended)
        )
        if 1 < abs(fault.way - fault.ended) < (count - 1 if closed else count):
            found, expected = (
                f"a curve that comes too near to itself, between {here} and between {there}",
                "more room, or points closer together",
            )
        else:
            found = f"a bend of radius {fault.radius:.2g} m between {here}, {fault.length:.2g} m apart, with clearance {clearance:g} m"
            expected = "points closer together there, a rounder curve or less clearance"
        checker.complain(
            path, found, expected, "the search for the place nearest to the pin would end elsewhere"
        )


def check_helix(checker: Checker, path: Path, helix: Helix, clearance: float | None) -> None:
    radius, pitch, begin, end = (
        checker.number(getattr(helix, each)) for each in ("radius", "pitch", "begin", "end")
    )
    if begin is not None and end is not None and end <= begin:
        checker.complain((*path, "helix", "end"), f"{end:g}", f"more than begin, {begin:g}")
    if pitch == 0.0:
        checker.complain((*path, "helix", "pitch"), "0", "a rise; points and closed make a circle")
    elif (
        radius is not None
        and radius > 0.0
        and pitch is not None
        and clearance is not None
        and helix_fault(radius, pitch, clearance)
    ):
        hint = "the search for the place nearest to the pin would end elsewhere"
        checker.complain(
            (*path, "clearance"),
            f"{clearance:g}",
            f"well below the radius of the helix, {radius:g}",
            hint,
        )


def parts(force: GuideForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import track

    return track(force, numbers, size)


FORCE = ForceKind(
    GuideForce,
    add_guide,
    says="N as `contact`, with depth |r - c(s)| - clearance of the pin r from the nearest place of the curve c; friction against the sliding",
    rank=9,
    told_by=frozenset({"points", "helix", "closed"}),
    measures={"penetration": "m", "travel": "1"},
    check=check_guide,
    clearance=True,
    parts=parts,
    example={
        "points": [[-9.0, 1.0, 0.0], [-5.0, 0.3, -0.4], [0.0, 0.0, -0.2], [5.0, 0.4, 0.3], [9.0, 1.5, 0.9]], "clearance": 0.05,
        "stiffness": 100.0, "damping": 1.0, "friction": 0.2, "friction_speed": 0.1,
    },
)  # fmt: skip
