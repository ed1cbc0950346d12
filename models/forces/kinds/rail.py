"""A guide rail with clearance: a pin or bearing band of one body in a tube or groove of another.

Let s be the position along the rail and r the offset of the pin from the rail's axis. A tube
touches if |r| exceeds the clearance, a groove if the offset along `across` does, on either side.
The law is that of a contact (`contacts`), with penetration |r| - clearance; friction opposes the
sliding along and around the rail. Outside begin..end there is no contact: a pin that leaves under
load loses its contact force at once. A rail along a beam bends with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import (
    E,
    choose,
    const,
    larger,
    name,
    root,
)
from kinetree.models.expressions.nodes import ONE
from kinetree.models.expressions.vectors import (
    NOWHERE,
    Vector,
    direction,
    position,
    registers,
    spin,
    vector_of,
    velocity,
)
from kinetree.models.forces.contacts import normal_force, sliding, warn_of_friction_speed
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, Rubbing
from kinetree.models.forces.wrench_pairs import add_pair
from kinetree.models.language.basic_checks import Path, check_order
from kinetree.models.language.numbers_and_expressions import Axis, Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder

ALONG = (("1", "0", "0"), ("1.0", "0.0", "0.0"))  # the axis of a beam
AXIS_LIMIT = 1e-12  # offset below which a pin is in the middle: no direction is told [m]


class RailForce(Rubbing):
    """Guide rail with clearance: a pin of the second body in a tube or groove of the first body."""

    kind: Literal["rail"] = "rail"
    between: Between = Field(
        description="Beginning of the rail on its body; centre of the pin on the guided body"
    )
    axis: Axis = Field(
        default=(1.0, 0.0, 0.0), description="Direction of the rail, axes of the first body"
    )
    across: Axis | None = Field(
        default=None,
        description="For a groove: the only direction, perpendicular to the rail, in which the pin is guided (default: a tube)",
    )
    clearance: Number = Field(default=0.0, description="Clearance to each side [m]")
    begin: Number = Field(default=0.0, description="Where the rail begins, along the axis [m]")
    end: Number | None = Field(
        default=None, description="Where the rail ends, along the axis (default: unlimited) [m]"
    )


class Side(NamedTuple):
    """The position of the pin relative to one straight part of a rail, in ground axes."""

    body: int
    begin: Vector  # the part's beginning, axes of its body
    offset: Vector
    travel: E  # along the whole rail
    normal: Vector
    size: E
    speed: Vector


def add_rail(builder: Builder, label: str, force: RailForce) -> None:
    """Add a contact between pin and rail with names NAME.travel (along the rail) and
    NAME.penetration.
    """
    key = f"forces.{label}"
    rail, guided = force.between
    b = builder.body[guided.body]
    pin = vector_of(builder, guided.point, f"{key}.between")
    place = position(builder, hidden(label, "pin"), b, pin)
    moving = velocity(builder, hidden(label, "velocity"), b, pin)
    parts_of_rail, end = straight_parts(builder, force)
    sides = [
        beside(builder, f"{label}{f' {k}' * (k > 0)}", force, label, part, place, moving)
        for k, part in enumerate(parts_of_rail)
    ]
    shares = passed(builder, label, sides, [start for *_, start in parts_of_rail])

    def here(key: str, values: list[E]) -> E:
        if len(values) == 1:
            return values[0]
        total = sum((s * v for s, v in zip(shares, values, strict=True)), const(0.0))
        builder.define(hidden(label, key), total.node)
        return name(hidden(label, key))

    def vector_here(key: str, values: list[Vector]) -> Vector:
        return Vector(
            *(here(f"{key} {axis}", list(each)) for axis, each in zip("xyz", zip(*values, strict=True), strict=True))
        )  # fmt: skip

    builder.define(hidden(label, "travel"), here("way", [each.travel for each in sides]).node)
    builder.offer(f"{label}.travel", hidden(label, "travel"))
    normal = vector_here("normal", [each.normal for each in sides])
    speed = vector_here("slip", [each.speed for each in sides])
    size = here("size", [each.size for each in sides])
    clearance = E(builder.node(force.clearance, f"{key}.clearance"))
    depth = choose(
        inside(builder, key, force, name(hidden(label, "travel")), end),
        size - clearance,
        -clearance,
    )
    load = normal_force(builder, label, force, depth, speed.dot(normal))
    rubbing = (
        Vector(*sliding(builder, label, force, load, speed.across(normal)))
        if force.friction != 0.0
        else NOWHERE
    )
    total = normal.times(-load).plus(rubbing)
    rail_book(builder, label, sides[0].body, total, rubbing, speed, normal)
    at = registers(builder, pin)
    for side, share in zip(sides, shares, strict=True):
        own = total if len(sides) == 1 else total.times(share)
        add_pair(builder, side.body, b, registers(builder, side.begin), at, own, side.offset)


def straight_parts(
    builder: Builder, force: RailForce
) -> tuple[list[tuple[int, Vector, float]], float | None]:
    """Return body, start point in its axes and position along the rail of the straight parts of a
    rail, and the default end of the rail.

    A rail along the x axis of a beam bends with it: its parts are the pieces of the beam.
    """
    rail = force.between[0]
    point = vector_of(builder, rail.point, "rail")
    beam = builder.description.pieces.get(("bodies", rail.body))
    form = builder.description.beam_forms.get(beam or "")
    if form is None or tuple(map(str, force.axis)) not in ALONG:
        return [(builder.body[rail.body], point, 0.0)], None
    begins = dict(form.pieces)[rail.body].begin
    first = float(rail.point[0]) + begins  # a station is a number
    found = [
        (builder.body[label], Vector(const(0.0), point.y, point.z), piece.begin - first)
        for label, piece in form.pieces
    ]
    return found, form.chain.length - first


def beside(
    builder: Builder,
    label: str,
    force: RailForce,
    element: str,
    part: tuple[int, Vector, float],
    place: Vector,
    moving: Vector,
) -> Side:
    """Define the position of the pin relative to one part of the rail, under names of `label`."""
    a, begin, start = part
    offset = place.minus(position(builder, hidden(label, "rail"), a, begin))
    given = vector_of(builder, force.axis, f"forces.{element}.axis")
    axis = direction(builder, hidden(label, "axis"), a, given)
    carried = velocity(builder, hidden(label, "carried"), a, begin).plus(
        spin(builder, hidden(label, "spin"), a).cross(offset)
    )
    normal, size = across(builder, label, element, force, a, axis, offset)
    travel = offset.dot(axis)
    return Side(
        a, begin, offset, travel + start if start else travel, normal, size, moving.minus(carried)
    )


def passed(builder: Builder, label: str, sides: list[Side], starts: list[float]) -> list[E]:
    """Return 1 for the last part that the pin has reached and 0 for the others."""
    if len(sides) == 1:
        return [const(1.0)]
    found: list[E] = []
    rest = const(1.0)
    for k in range(len(sides) - 1, -1, -1):
        reached = choose(sides[k].travel < starts[k], 0.0, 1.0) if k else const(1.0)
        builder.define(hidden(label, f"share {k}"), (reached * rest).node)
        builder.define(hidden(label, f"rest {k}"), (rest - name(hidden(label, f"share {k}"))).node)
        found.append(name(hidden(label, f"share {k}")))
        rest = name(hidden(label, f"rest {k}"))
    return found[::-1]


def rail_book(
    builder: Builder,
    label: str,
    rail: int,
    total: Vector,
    sides: Vector,
    speed: Vector,
    normal: Vector,
) -> None:
    """Define the energy account of a rail: `total` and `sides` act on the guided body, `speed` is
    that of the pin.
    """
    load, depth, potential = (
        name(f"force('{label}')"),
        name(hidden(label, "penetration")),
        builder.potential_of[label],
    )

    def dissipation() -> E:
        slope = E(differentiate(potential.node, lambda leaf: ONE if leaf is depth.node else None))
        return (load - slope) * speed.dot(normal) - sides.dot(speed)

    builder.books[label] = Book(
        lambda: total.dot(speed),
        dissipation,
        potential,
        rail,
        lambda: total.times(-1.0),
        clearance=-depth,
    )


def across(
    builder: Builder,
    label: str,
    element: str,
    force: RailForce,
    a: int,
    axis: Vector,
    offset: Vector,
) -> tuple[Vector, E]:
    """Return the outward unit normal at the pin, and the size of the offset along it."""
    if force.across is None:
        radial = offset.across(axis)
        size = root(radial.dot(radial))
        return radial.times(1.0 / larger(size, AXIS_LIMIT)), size
    given = vector_of(builder, force.across, f"forces.{element}.across")
    side = direction(builder, hidden(label, "across"), a, given).across(axis).unit()
    way = offset.dot(side)
    sign = choose(way < 0.0, -1.0, 1.0)
    return side.times(sign), way * sign


def inside(builder: Builder, key: str, force: RailForce, travel: E, tip: float | None) -> E:
    """Return 1 between the ends of the rail and 0 outside; `tip` is the end of a beam."""
    after = choose(travel < E(builder.node(force.begin, f"{key}.begin")), 0.0, 1.0)
    if force.end is not None:
        end = E(builder.node(force.end, f"{key}.end"))
    elif tip is not None:
        end = const(tip)
    else:
        return after
    return choose(travel > end, 0.0, after)


def check_rail(checker: Checker, path: Path, force: RailForce) -> None:
    check_order(checker, path, force, "begin", "end")
    warn_of_friction_speed(checker, path, force)


def parts(force: RailForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import rail

    return rail(force, numbers, size)


FORCE = ForceKind(
    RailForce,
    add_rail,
    says="N as `contact`, with depth |offset| - clearance; friction against the sliding",
    rank=9,
    told_by=frozenset({"clearance", "across", "begin", "end"}),
    measures={"penetration": "m", "travel": "m"},
    check=check_rail,
    clearance=True,
    parts=parts,
    example={
        "clearance": 0.05,
        "begin": -5.0,
        "end": 5.0,
        "stiffness": 100.0,
        "damping": 1.0,
        "friction": 0.2,
        "friction_speed": 0.1,
    },
)
