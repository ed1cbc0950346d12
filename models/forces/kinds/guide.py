"""A pin of one body on a curve in space of another: a bent rail, a cam track, a helix, with clearance.

The curve c(s) runs through `points` as a spline (s the way from point to point), or is a helix about z (s the angle, pitch s/2π along z). Its nearest
place to the pin r solves (r - c)·c' = 0: the nearest of the known places begins, Newton's steps end. The law is that of a contact with the depth
|r - c| - clearance; friction opposes the sliding. Beyond the ends of a curve there is no contact; a `closed` one has no ends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from kinetree.models.compilation.algebra import E, choose, const, cos, function, larger, name, root, sin, smaller
from kinetree.models.compilation.books import Book
from kinetree.models.compilation.frames import Place, composed, resolved
from kinetree.models.compilation.hidden import hidden
from kinetree.models.compilation.space import NOWHERE, Vector, registers, vector_of
from kinetree.models.description.checks.number_checks import Path
from kinetree.models.description.parts.part import Part
from kinetree.models.description.quantities import Number
from kinetree.models.expressions.nodes import Lookup
from kinetree.models.forces.contacts import normal_force, sliding, slope_by, warn_of_friction_speed
from kinetree.models.forces.kind import ForceKind
from kinetree.models.forces.pairs import add_pair
from kinetree.models.forces.table import Between, Rubbing
from kinetree.solvers.layout import Op

if TYPE_CHECKING:
    from kinetree.models.compilation.builder import Builder
    from kinetree.models.description.checks.checker import Checker

MOST_POINTS = 60
STEPS = 3  # of Newton's, from the nearest known place
OVERLAP = 24  # points beyond both ends of a closed curve, where its spline no longer knows of them
MIDDLE = 1e-12  # offset below which no direction is told [m]


class Helix(Part):
    """A helix about the z axis of the first body, through its point of `between`."""

    radius: Number = Field(description="Radius [m]")
    pitch: Number = Field(description="Rise per turn; below 0 a left-handed one [m]")
    begin: Number = Field(0.0, description="Angle at which it begins, 0 at x [rad]")
    end: Number = Field(description="Angle at which it ends [rad]")
    positive: ClassVar = ("radius",)


class GuideForce(Rubbing):
    """Pin of the second body on a curve in space of the first body, with clearance: a spline through points, or a helix."""

    kind: Literal["guide"] = "guide"
    between: Between = Field(description="Where the axes of the curve stand on its body; centre of the pin on the guided body")
    points: tuple[tuple[float, float, float], ...] | None = Field(None, description="Places that the curve runs through [m]")
    helix: Helix | None = Field(None, description="A helix instead")
    closed: bool = Field(False, description="The curve goes on from its last point to its first one")
    clearance: Number = Field(0.0, description="Free play to all sides [m]")


class Curve(NamedTuple):
    """Place and derivatives at s, known places (s, c), bounds of s."""

    at: Any  # s to the vectors c, c', c''
    guess: E
    begin: E
    end: E
    period: float | None


def spline(builder: Builder, label: str, force: GuideForce, r: Vector) -> Curve:
    """A cubic spline through the points over the way from one to the next; a closed one runs on beyond both of its ends in the tables."""
    points = np.array(force.points)
    n, known = len(points), range(len(points))
    ways = np.linalg.norm(np.diff(np.vstack([points, points[:1]]), axis=0), axis=1)
    end = float(ways.sum() if force.closed else ways[:-1].sum())
    s = np.concatenate([[0.0], np.cumsum(ways[:-1])])
    if force.closed:
        around = np.arange(-OVERLAP, n + OVERLAP + 1)
        points, s, known = points[around % n], s[around % n] + end * (around // n), range(OVERLAP, OVERLAP + n)
    for axis, values in zip("xyz", points.T, strict=True):
        builder.registers.add_table(hidden(label, axis), s.tolist(), values.tolist(), cubic=True, extrapolate=True)

    def at(place: E) -> tuple[Vector, ...]:
        return tuple(Vector(*(E(Lookup(op, hidden(label, axis), (place.node,))) for axis in "xyz")) for op in (Op.TABLE1, Op.TABLE1_D, Op.TABLE1_DD))

    best, least = const(float(s[known[0]])), const(math.inf)
    for k in known:
        way = r.minus(Vector(*(const(float(x)) for x in points[k])))
        square = way.dot(way)
        best, least = choose(square < least, float(s[k]), best), smaller(square, least)
        name_of = hidden(label, f"nearest {k}")
        builder.define(name_of, best.node)
        builder.define(f"{name_of} square", least.node)
        best, least = name(name_of), name(f"{name_of} square")
    return Curve(at, best, const(0.0), const(end), end if force.closed else None)


def coil(builder: Builder, label: str, force: GuideForce, r: Vector) -> Curve:
    """A helix: the nearest place is near the pin's own angle, in the turn of its height."""
    assert force.helix is not None
    key = f"forces.{label}.helix"
    radius, pitch, begin, end = (E(builder.node(getattr(force.helix, each), f"{key}.{each}")) for each in ("radius", "pitch", "begin", "end"))
    rise = pitch / (2.0 * math.pi)

    def at(s: E) -> tuple[Vector, ...]:
        x, y = radius * cos(s), radius * sin(s)
        return Vector(x, y, rise * s), Vector(-y, x, rise), Vector(-x, -y, const(0.0))

    angle = function(Op.ATAN2, r.y, r.x)
    turns = function(Op.FLOOR, (r.z / rise - angle) / (2.0 * math.pi) + 0.5)
    return Curve(at, angle + 2.0 * math.pi * turns, begin, end, None)


def nearest(builder: Builder, label: str, curve: Curve, r: Vector) -> E:
    """Newton's steps on (r - c)·c' = 0, downhill where the curve is seen from beyond its centre."""
    s = curve.guess
    for k in range(STEPS):
        c, d, dd = curve.at(s)
        offset, square = r.minus(c), d.dot(d)
        step = offset.dot(d) / larger(square - offset.dot(dd), 0.2 * square)
        builder.define(hidden(label, f"step {k}"), (s + step).node)
        s = name(hidden(label, f"step {k}"))
    return s


def add_guide(builder: Builder, label: str, force: GuideForce) -> None:
    """Contact between pin and curve; names NAME.travel (s) and NAME.penetration."""
    key = f"forces.{label}"
    track, pin = (Place(builder, each.body, vector_of(builder, each.point, f"{key}.between")) for each in force.between)
    offset, axes = pin.position().minus(track.position()), track.axes()
    for axis, value in zip("xyz", resolved(offset, axes), strict=True):
        builder.define(hidden(label, f"pin {axis}"), value.node)
    r = Vector(*(name(hidden(label, f"pin {axis}")) for axis in "xyz"))
    curve = (spline if force.helix is None else coil)(builder, label, force, r)
    s = nearest(builder, label, curve, r)
    travel = s if curve.period is None else s - curve.period * function(Op.FLOOR, s / curve.period)
    builder.define(hidden(label, "travel"), travel.node)
    builder.offer(f"{label}.travel", hidden(label, "travel"))
    c, d, _ = curve.at(s)
    away = r.minus(c).across(d.unit())
    size = root(away.dot(away) + MIDDLE * MIDDLE)
    normal = composed(axes, away.times(1.0 / size))
    clearance = E(builder.node(force.clearance, f"{key}.clearance"))
    if curve.period is None:
        depth = choose(s < curve.begin, -clearance - MIDDLE, choose(s > curve.end, -clearance - MIDDLE, size - clearance))
    else:
        depth = size - clearance
    speed = pin.velocity().minus(track.velocity()).minus(track.spin().cross(offset))
    load = normal_force(builder, label, force, depth, speed.dot(normal))
    sides = Vector(*sliding(builder, label, force, load, speed.across(normal))) if force.friction != 0.0 else NOWHERE
    total = normal.times(-load).plus(sides)
    add_pair(builder, track.body, pin.body, registers(builder, track.point), registers(builder, pin.point), total, offset)
    potential, deep = builder.potential_of[label], name(hidden(label, "penetration"))

    def lost() -> E:
        return (load - slope_by(potential, deep)) * speed.dot(normal) - sides.dot(speed)

    builder.books[label] = Book(lambda: total.dot(speed), lost, potential, track.body, lambda: total.times(-1.0), clearance=-deep)


def check_guide(checker: Checker, path: Path, force: GuideForce) -> None:
    warn_of_friction_speed(checker, path, force)
    if (force.points is None) == (force.helix is None):
        checker.complain((*path, "points"), "both or neither of points and helix", "one of them")
    if force.points is not None:
        least = 3 if force.closed else 2
        if not least <= len(force.points) <= MOST_POINTS:
            checker.complain((*path, "points"), f"{len(force.points)} points", f"from {least} to {MOST_POINTS}")
        ways = np.diff(np.array((*force.points, *force.points[:1]) if force.closed else force.points), axis=0)
        if len(force.points) > 1 and float(np.linalg.norm(ways, axis=1).min()) == 0.0:
            checker.complain((*path, "points"), "the same point twice in a row", "points apart from each other")
    if force.helix is not None:
        begin, end, pitch = (checker.number(getattr(force.helix, each)) for each in ("begin", "end", "pitch"))
        if begin is not None and end is not None and end <= begin:
            checker.complain((*path, "helix", "end"), f"{end:g}", f"more than begin, {begin:g}")
        if pitch == 0.0:
            checker.complain((*path, "helix", "pitch"), "0", "a rise; points and closed make a circle")
        if force.closed:
            checker.complain((*path, "closed"), "a closed helix", "no closed: a helix has two ends")


def parts(force: GuideForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.elements import track

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
