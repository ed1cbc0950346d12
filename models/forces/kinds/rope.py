"""An elastic rope between two points, over sheaves and onto a drum.

Its length L is the sum of the spans between the sheaves and of the arcs on them. A sheave without a
radius is a point. A sheave with radius r and axis e is left along a tangent; from the first end to
the second the rope runs around it in the positive sense about e. Between neighbours (c, r) and (c',
r') with parallel axes, d = c' - c and s = r' - r (with r' < 0 where the axes are opposed):

    span  l = root(d d - s s),   direction u = (l d_p + s d_p x e)/|d_p|² and the part of d along e
    arc r a, with the angle a about e from the direction before to the one after, plus `turns` full turns

With the free length l = length - w(q), where a drum at the angle q has wound up w(q) = radius q
(each layer of `turns` turns after the first adds `rise` to the radius):

    T = max(0, stiffness (L - l) + damping d(L - l)/dt)   for L > l,   0 otherwise

Without friction T is the tension everywhere. If a sheave has a `friction` mu, the tension behind it
is exp(mu a tanh(v/speed)) times that before it (Euler-Eytelwein), with the speed v at which the
rope slips over it towards the second end. T is then the tension of the first span, and the mean
tension over the length is stiffness times the elongation. The tension difference times r acts as a
moment about e on the body of the sheave; a rotating sheave is a body of its own on a joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import Place, composed
from kinetree.models.expressions.node_arithmetic import (
    E,
    choose,
    const,
    exp,
    function,
    larger,
    name,
    root,
    tanh,
)
from kinetree.models.expressions.vectors import NOWHERE, Vector, registers, vector_of
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.line_laws import define_force, one_sided, push, speed_of
from kinetree.models.language.numbers_and_expressions import Axis, InputNumber, Law, Number
from kinetree.models.language.parts.base_table import Part, Point
from kinetree.solvers import layout as L
from kinetree.solvers.layout import Op

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

MOST_LAYERS = 20
FLAT = 1e-300  # m2: keeps the direction of a span without length finite


class Sheave(Point):
    """Sheave around which a rope runs; `point` is the centre of the sheave."""

    radius: Number = Field(0.0, description="Radius to the middle of the rope; 0 is a point [m]")
    axis: Axis | None = Field(
        None, description="Axis in the body; the rope runs around it positively to the second end"
    )
    friction: Number = Field(
        0.0,
        description="Coefficient of friction between rope and sheave, or bollard; 0: frictionless sheave [1]",
    )
    turns: Number = Field(0.0, description="Whole turns besides the arc, as on a capstan [1]")


class Drum(Part):
    """A drum that winds the rope up, at its second end."""

    coordinate: str = Field(description="Angle of the drum; it grows as rope is wound up")
    radius: Number = Field(description="Radius of the drum: wound rope per angle [m]")
    layers: int = Field(1, description="Number of rope layers", ge=1, le=MOST_LAYERS)
    turns: Number | None = Field(None, description="Turns per layer, counted from the angle 0 [1]")
    rise: Number | None = Field(None, description="Increase of the radius per layer [m]")


class RopeForce(ForceTable):
    """Elastic rope from one point over sheaves to another, wound up by a drum: never pushes."""

    kind: Literal["rope"] = "rope"
    between: Between = Field(description="Both ends")
    over: tuple[Sheave, ...] = Field(
        (),
        description="Sheaves between the ends, in order; a rope with several falls passes them several times",
    )
    length: InputNumber = Field(description="Free length with the drum at 0 [m]")
    stiffness: Law = Field(description="Stiffness of the whole rope: tension per elongation [N/m]")
    damping: Law = Field(0.0, description="Damping of the elongation [N.s/m]")
    speed: Number = Field(
        1e-3, description="Slip speed over which friction at sheaves changes its sign [m/s]"
    )
    drum: Drum | None = Field(None, description="A drum that winds the rope up")

    def bodies(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().bodies()
        for k, point in enumerate(self.over):
            yield ("over", k, "body"), point.body

    def coordinates(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if self.drum is not None:
            yield ("drum", "coordinate"), self.drum.coordinate


def check_rope(checker: Checker, path: tuple[str | int, ...], force: RopeForce) -> None:
    """Report sheaves without axes, negative sizes and missing drum layers."""
    for k, sheave in enumerate(force.over):
        place = (*path, "over", k)
        if sheave.axis is None and (sheave.radius != 0.0 or sheave.turns != 0.0):
            checker.complain((*place, "axis"), "none", "an axis of a sheave with a radius or turns")
        for key in ("radius", "friction", "turns"):
            value = checker.number(getattr(sheave, key))
            if value is not None and value < 0.0:
                checker.complain((*place, key), f"{value:g}", "0 or more")
    if force.drum is not None and force.drum.layers > 1:
        for key in ("turns", "rise"):
            value = checker.number(getattr(force.drum, key))
            if getattr(force.drum, key) is None or (value is not None and value <= 0.0):
                found = "none" if value is None else f"{value:g}"
                checker.complain(
                    (*path, "drum", key), found, "more than 0 with more than one layer"
                )


@dataclass
class _Pass:
    """One element of the rope's path: an end, a point or a sheave."""

    place: Place
    radius: E = const(0.0)
    axis: Vector | None = None
    friction: E = const(0.0)
    turns: E = const(0.0)


def _passes(builder: Builder, force: RopeForce, key: str) -> list[_Pass]:
    found = []
    for point in (force.between[0], *force.over, force.between[1]):
        place = Place(builder, point.body, vector_of(builder, point.point, f"{key}.between"))
        each = _Pass(place)
        if isinstance(point, Sheave):
            each.radius = E(builder.node(point.radius, f"{key}.over.radius"))
            each.friction = E(builder.node(point.friction, f"{key}.over.friction"))
            each.turns = E(builder.node(point.turns, f"{key}.over.turns"))
            if point.axis is not None:
                own = vector_of(builder, point.axis, f"{key}.over.axis").unit()
                each.axis = composed(place.axes(), own)
        found.append(each)
    return found


def _span(before: _Pass, after: _Pass) -> tuple[E, Vector]:
    """Return length and direction of the straight span between two elements of the rope's path."""
    d = after.place.position().minus(before.place.position())
    e = before.axis if before.axis is not None else after.axis
    round_ones = [each for each in (before, after) if each.axis is not None]
    if e is None or all(each.radius.node is const(0.0).node for each in round_ones):
        length = root(d.dot(d))
        return length, d.times(1.0 / length)
    far = after.radius
    if before.axis is not None and after.axis is not None:
        far = choose(before.axis.dot(after.axis) < 0.0, -far, far)
    s = far - before.radius
    along = d.dot(e)
    flat = d.minus(e.times(along))
    square = flat.dot(flat) + FLAT
    run = root(larger(square - s * s, 0.0))
    length = root(run * run + along * along)
    tangent = flat.times(run).plus(flat.cross(e).times(s)).times(1.0 / square)
    return length, tangent.times(run).plus(e.times(along)).times(1.0 / length)


def _wrap(before: Vector, after: Vector, sheave: _Pass) -> E:
    """Return the wrap angle of the rope on a sheave, between -pi/2 and 3 pi/2, plus its full turns."""
    if sheave.axis is None:
        cross = before.cross(after)
        return function(Op.ATAN2, root(cross.dot(cross)), before.dot(after))
    sine, cosine = sheave.axis.dot(before.cross(after)), before.dot(after)
    arc = 0.5 * math.pi + function(Op.ATAN2, -cosine, sine)
    return arc + 2.0 * math.pi * sheave.turns


def _wound(force: RopeForce, builder: Builder, key: str) -> tuple[E, E]:
    """Return the length of rope wound on the drum and its derivative by the drum's angle."""
    drum = force.drum
    assert drum is not None
    angle, radius = name(drum.coordinate), E(builder.node(drum.radius, f"{key}.drum.radius"))
    wound, arm = radius * angle, radius
    if drum.layers > 1 and drum.turns is not None and drum.rise is not None:
        turns = E(builder.node(drum.turns, f"{key}.drum.turns"))
        rise = E(builder.node(drum.rise, f"{key}.drum.rise"))
        for layer in range(1, drum.layers):
            over = angle - 2.0 * math.pi * layer * turns
            wound = wound + rise * larger(over, 0.0)
            arm = arm + choose(over > 0.0, rise, 0.0)
    return wound, arm


def add_rope(builder: Builder, label: str, force: RopeForce) -> None:
    """Add the forces of a rope.

    It defines NAME.length, NAME.rate (of the total length), NAME.elongation and NAME.tension_end.
    """
    key = f"forces.{label}"
    way = _passes(builder, force, key)
    spans = [_span(before, after) for before, after in zip(way, way[1:], strict=False)]
    speeds = [
        after.place.velocity().minus(before.place.velocity())
        for before, after in zip(way, way[1:], strict=False)
    ]
    growths = [speed.dot(u) for speed, (_, u) in zip(speeds, spans, strict=True)]
    wraps = [
        _wrap(spans[k][1], spans[k + 1][1], sheave) if _needs_wrap(sheave) else const(0.0)
        for k, sheave in enumerate(way[1:-1])
    ]
    arcs = [sheave.radius * wrap for sheave, wrap in zip(way[1:-1], wraps, strict=True)]
    builder.define(hidden(label, "length"), sum([*(l for l, _ in spans), *arcs], const(0.0)).node)
    builder.define(hidden(label, "rate"), sum(growths, const(0.0)).node)
    length, rate = name(hidden(label, "length")), name(hidden(label, "rate"))
    free = E(builder.node(force.length, f"{key}.length"))
    wound, winding, index, arm = const(0.0), const(0.0), -1, const(0.0)
    if force.drum is not None:
        index, turning = speed_of(builder, force.drum.coordinate)
        wound, arm = _wound(force, builder, key)
        winding = arm * turning
    builder.define(hidden(label, "elongation"), (length + wound - free).node)
    stretch, growing = name(hidden(label, "elongation")), rate + winding
    k, c = (
        E(builder.node(getattr(force, each), f"{key}.{each}")) for each in ("stiffness", "damping")
    )
    potential = 0.5 * k * larger(stretch, 0.0) * larger(stretch, 0.0)
    pull = (
        one_sided(builder, f"force '{label}'", stretch, k * stretch + c * growing)
        if force.damping != 0.0
        else choose(stretch > 0.0, larger(k * stretch, 0.0), 0.0)
    )
    shares, slipping = _shares(builder, label, force, way, growths, wraps, key)
    if slipping:  # the mean tension over the way is that of the elongation
        weights = [share * span for share, (span, _) in zip(shares, spans, strict=True)]
        straight = sum((span for span, _ in spans), const(0.0))
        pull = pull * straight / sum(weights, const(0.0))
    define_force(builder, label, pull, potential)
    first = name(f"force('{label}')")
    tensions = [first * share for share in shares]
    builder.define(hidden(label, "tension_end"), tensions[-1].node)
    for suffix in ("length", "rate", "elongation", "tension_end"):
        builder.offer(f"{label}.{suffix}", hidden(label, suffix))
    power = -(tensions[-1] * winding)
    for tension, growth in zip(tensions, growths, strict=True):
        power = power - tension * growth
    for number, each in enumerate(way):
        before = spans[number - 1][1].times(tensions[number - 1]) if number else NOWHERE
        after = spans[number][1].times(tensions[number]) if number < len(spans) else NOWHERE
        moment = NOWHERE
        if 0 < number < len(spans) and each.axis is not None and _rubs(each):
            torque = each.radius * (tensions[number] - tensions[number - 1])
            moment = each.axis.times(torque)
            power = power + torque * each.axis.dot(each.place.spin())
        if each.place.body:
            builder.add_force(
                L.Force.WRENCH,
                each.place.body,
                registers(builder, each.place.point),
                registers(builder, after.minus(before)),
                registers(builder, moment),
                0,
            )
    if force.drum is not None:
        push(builder, index, builder.register((-(tensions[-1] * arm)).node))
    elastic = k * larger(stretch, 0.0) * growing
    books = Book(lambda: power, lambda: -power - elastic, potential, way[0].place.body)
    books.force = lambda: spans[0][1].times(first)
    builder.books[label] = books


def _rubs(sheave: _Pass) -> bool:
    return sheave.friction.node is not const(0.0).node


def _needs_wrap(sheave: _Pass) -> bool:
    return _rubs(sheave) or sheave.radius.node is not const(0.0).node


def _shares(
    builder: Builder,
    label: str,
    force: RopeForce,
    way: list[_Pass],
    growths: list[E],
    wraps: list[E],
    key: str,
) -> tuple[list[E], bool]:
    """Return the tension of every span relative to that of the first one, and whether they differ."""
    shares, run = [const(1.0)], const(0.0)
    speed = E(builder.node(force.speed, f"{key}.speed"))
    rubbing = False
    for k, sheave in enumerate(way[1:-1]):
        run = run + growths[k]
        if not _rubs(sheave):
            shares.append(shares[-1])
            continue
        rubbing = True
        slip = -run  # of the rope over the middle of the sheave, towards the second end
        if sheave.axis is not None:
            slip = slip - sheave.radius * sheave.axis.dot(sheave.place.spin())
        builder.define(
            hidden(label, f"share{k}"),
            (shares[-1] * exp(sheave.friction * wraps[k] * tanh(slip / speed))).node,
        )
        shares.append(name(hidden(label, f"share{k}")))
    return shares, rubbing


def look(force: RopeForce, numbers: Any, size: float, low: float) -> dict[str, Any]:
    from kinetree.models.scene.force_graphics import ROD, ROPE

    return {"kind": "rope", "radius": 0.35 * ROD * size, "colour": ROPE}


FORCE = ForceKind(
    RopeForce,
    add_rope,
    says="tension max(0, stiffness (L - l) + damping d(L - l)/dt) over the whole way L over all sheaves; l what a drum has left of `length`; behind "
    "a sheave it slips over exp(friction angle) times that",
    rank=3,
    told_by=frozenset({"over", "drum"}),
    measures={"length": "m", "rate": "m/s", "elongation": "m", "tension_end": "N"},
    look=look,
    check=check_rope,
    example={
        "over": [{"body": "ground", "point": [0.4, 0.3, 1.5]}],
        "length": 1.2,
        "stiffness": 80.0,
        "damping": 0.6,
    },
)
