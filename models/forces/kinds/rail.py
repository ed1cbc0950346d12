"""A guide rail with clearance: a pin or bearing band of one body in a tube or groove of another.

Along the rail s, across it the offset r of the pin from the rail's axis. A tube touches where |r| exceeds the clearance, a groove where the offset
along `across` does, on either side. The law is that of a contact (`contacts`), with penetration |r| - clearance; friction opposes the sliding
along and around the rail. Outside begin..end there is no contact: a pin that leaves under load is released at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.expressions.differentiate import differentiate
from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, choose, larger, name, root
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
        description="A groove: the only direction, across the rail, in which it holds the pin; left out: a tube",
    )
    clearance: Number = Field(default=0.0, description="Free play to each side [m]")
    begin: Number = Field(default=0.0, description="Where the rail begins, along the axis [m]")
    end: Number | None = Field(
        default=None, description="Where the rail ends, along the axis [m]; left out: it never ends"
    )


def add_rail(builder: Builder, label: str, force: RailForce) -> None:
    """Add a contact between pin and rail with names NAME.travel (along the rail) and
    NAME.penetration.
    """
    key = f"forces.{label}"
    rail, guided = force.between
    a, b = builder.body[rail.body], builder.body[guided.body]
    begin, pin = (
        vector_of(builder, rail.point, f"{key}.between"),
        vector_of(builder, guided.point, f"{key}.between"),
    )
    foot = position(builder, hidden(label, "rail"), a, begin)
    offset = position(builder, hidden(label, "pin"), b, pin).minus(foot)
    axis = direction(
        builder, hidden(label, "axis"), a, vector_of(builder, force.axis, f"{key}.axis")
    )
    carried = velocity(builder, hidden(label, "carried"), a, begin).plus(
        spin(builder, hidden(label, "spin"), a).cross(offset)
    )
    speed = velocity(builder, hidden(label, "velocity"), b, pin).minus(carried)
    builder.define(hidden(label, "travel"), offset.dot(axis).node)
    builder.offer(f"{label}.travel", hidden(label, "travel"))
    normal, size = across(builder, label, force, a, axis, offset)
    clearance = E(builder.node(force.clearance, f"{key}.clearance"))
    depth = choose(
        inside(builder, key, force, name(hidden(label, "travel"))), size - clearance, -clearance
    )
    load = normal_force(builder, label, force, depth, speed.dot(normal))
    sides = (
        Vector(*sliding(builder, label, force, load, speed.across(normal)))
        if force.friction != 0.0
        else NOWHERE
    )
    total = normal.times(-load).plus(sides)
    rail_book(builder, label, a, total, sides, speed, normal)
    add_pair(builder, a, b, registers(builder, begin), registers(builder, pin), total, offset)


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
    builder: Builder, label: str, force: RailForce, a: int, axis: Vector, offset: Vector
) -> tuple[Vector, E]:
    """Return outward unit normal at the pin, and the size of the offset along it."""
    if force.across is None:
        radial = offset.across(axis)
        size = root(radial.dot(radial))
        return radial.times(1.0 / larger(size, AXIS_LIMIT)), size
    given = vector_of(builder, force.across, f"forces.{label}.across")
    side = direction(builder, hidden(label, "across"), a, given).across(axis).unit()
    way = offset.dot(side)
    sign = choose(way < 0.0, -1.0, 1.0)
    return side.times(sign), way * sign


def inside(builder: Builder, key: str, force: RailForce, travel: E) -> E:
    """1 between the ends of the rail."""
    after = choose(travel < E(builder.node(force.begin, f"{key}.begin")), 0.0, 1.0)
    return (
        after
        if force.end is None
        else choose(travel > E(builder.node(force.end, f"{key}.end")), 0.0, after)
    )


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
