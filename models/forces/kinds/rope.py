"""An elastic rope between two points, over sheaves and onto a drum.

Its length L is the sum of the straight pieces from the first point over every sheave to the last one; sheaves turn freely and are small against the
pieces. With the free length l = length - radius q of what a drum at the angle q has not wound up:

    T = max(0, stiffness (L - l) + damping d(L - l)/dt)   for L > l,   0 otherwise

T acts at every point along both pieces, and with T radius against the drum's winding: the potential stiffness (L - l)²/2 is theirs together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.compilation.force_energy import Book
from kinetree.models.compilation.internal_names import hidden
from kinetree.models.compilation.measurement_frames import Place
from kinetree.models.compilation.node_arithmetic import E, choose, const, larger, name, root
from kinetree.models.compilation.vectors import NOWHERE, registers, vector_of
from kinetree.models.description.numbers_and_expressions import InputNumber, Law, Number
from kinetree.models.description.parts.base_table import Part, Point
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.line_laws import define_force, push, speed_of
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class Drum(Part):
    """A drum that winds the rope."""

    coordinate: str = Field(description="Angle of the drum; it grows as rope is wound up")
    radius: Number = Field(description="Rope that is wound up per angle: radius of the drum [m]")


class RopeForce(ForceTable):
    """Elastic rope from one point over sheaves to another, wound up by a drum: never pushes."""

    kind: Literal["rope"] = "rope"
    between: Between = Field(description="Both ends")
    over: tuple[Point, ...] = Field(
        (),
        description="Sheaves between them, in order: their middles, small against the pieces of the rope",
    )
    length: InputNumber = Field(description="Free length with the drum at 0 [m]")
    stiffness: Law = Field(description="Stiffness of the whole rope: tension per elongation [N/m]")
    damping: Law = Field(0.0, description="Damping of the elongation [N.s/m]")
    drum: Drum | None = Field(None, description="A drum that winds the rope up")

    def bodies(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().bodies()
        for k, point in enumerate(self.over):
            yield ("over", k, "body"), point.body

    def coordinates(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if self.drum is not None:
            yield ("drum", "coordinate"), self.drum.coordinate


def add_rope(builder: Builder, label: str, force: RopeForce) -> None:
    """Add a rope with tension at all points and names NAME.length, NAME.rate (whole path) and
    NAME.elongation.
    """
    key = f"forces.{label}"
    points = (force.between[0], *force.over, force.between[1])
    places = [
        Place(builder, point.body, vector_of(builder, point.point, f"{key}.between"))
        for point in points
    ]
    ways = [
        after.position().minus(before.position())
        for before, after in zip(places, places[1:], strict=False)
    ]
    lengths = [root(way.dot(way)) for way in ways]
    along = [way.times(1.0 / length) for way, length in zip(ways, lengths, strict=True)]
    speeds = [
        after.velocity().minus(before.velocity())
        for before, after in zip(places, places[1:], strict=False)
    ]
    builder.define(hidden(label, "length"), sum(lengths, const(0.0)).node)
    growth = const(0.0)
    for speed, way in zip(speeds, along, strict=True):
        growth = growth + speed.dot(way)
    builder.define(hidden(label, "rate"), growth.node)
    length, rate = name(hidden(label, "length")), name(hidden(label, "rate"))
    free, wound, winding, index, radius = (
        E(builder.node(force.length, f"{key}.length")),
        const(0.0),
        const(0.0),
        -1,
        const(0.0),
    )
    if force.drum is not None:
        index, turning = speed_of(builder, force.drum.coordinate)
        radius = E(builder.node(force.drum.radius, f"{key}.drum.radius"))
        wound, winding = radius * name(force.drum.coordinate), radius * turning
    builder.define(hidden(label, "elongation"), (length + wound - free).node)
    for suffix in ("length", "rate", "elongation"):
        builder.offer(f"{label}.{suffix}", hidden(label, suffix))
    stretch, growing = name(hidden(label, "elongation")), rate + winding
    k, c = (
        E(builder.node(getattr(force, each), f"{key}.{each}")) for each in ("stiffness", "damping")
    )
    potential = 0.5 * k * larger(stretch, 0.0) * larger(stretch, 0.0)
    define_force(
        builder,
        label,
        choose(stretch > 0.0, larger(k * stretch + c * growing, 0.0), 0.0),
        potential,
    )
    tension = name(f"force('{label}')")
    for number, place in enumerate(places):
        pull = (
            (along[number] if number < len(along) else NOWHERE)
            .minus(along[number - 1] if number else NOWHERE)
            .times(tension)
        )
        if place.body:
            nothing = registers(builder, NOWHERE)
            builder.add_force(
                L.Force.WRENCH,
                place.body,
                registers(builder, place.point),
                registers(builder, pull),
                nothing,
                0,
            )
    if force.drum is not None:
        push(builder, index, builder.register((-(tension * radius)).node))
    books = Book(
        lambda: -(tension * growing),
        lambda: (tension - k * larger(stretch, 0.0)) * growing,
        potential,
        places[0].body,
    )
    books.force = lambda: along[0].times(tension)
    builder.books[label] = books


def look(force: RopeForce, numbers: Any, size: float, low: float) -> dict[str, Any]:
    from kinetree.models.scene.force_graphics import ROD, ROPE

    return {"kind": "rope", "radius": 0.35 * ROD * size, "colour": ROPE}


FORCE = ForceKind(
    RopeForce,
    add_rope,
    says="tension max(0, stiffness (L - l) + damping d(L - l)/dt) over the whole way L over all sheaves; l what a drum has left of `length`",
    rank=3,
    told_by=frozenset({"over", "drum"}),
    measures={"length": "m", "rate": "m/s", "elongation": "m"},
    look=look,
    example={
        "over": [{"body": "ground", "point": [0.4, 0.3, 1.5]}],
        "length": 1.2,
        "stiffness": 80.0,
        "damping": 0.6,
    },
)
