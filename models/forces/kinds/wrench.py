"""An external force and moment on a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.measurement_frames import Place, composed
from kinetree.models.expressions.node_arithmetic import E, const, root
from kinetree.models.expressions.vectors import Vector, vector_of
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.line_laws import define_force
from kinetree.models.language.numbers_and_expressions import LawVector, Number
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN, Point, at_station
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.forces.kinds.pair import PairForce


class WrenchForce(ForceTable):
    """External force and moment on a body."""

    kind: Literal["wrench"] = "wrench"
    body: str = Field(description="The loaded body")
    point: Numbers = Field(default=ORIGIN, description="Where the force acts, body frame [m]")
    station: Number | None = at_station()
    force: LawVector = Field(default=ORIGIN, description="Force [N]")
    moment: LawVector = Field(default=ORIGIN, description="Moment [N.m]")
    frame: Literal["ground", "body"] = Field(
        default="ground", description="Axes of force and moment"
    )


def norm(builder: Builder, vector: tuple) -> E:
    """Return the magnitude of a vector of three laws."""
    x, y, z = (E(builder.node(part)) for part in vector)
    return root(x * x + y * y + z * z)


def wrench_book(
    builder: Builder, label: str, law: WrenchForce | PairForce, at: Point, other: str | None
) -> None:
    """Define the energy account of a force and moment on a body and their reaction on another one."""
    key, place = (
        f"forces.{label}",
        Place(builder, at.body, vector_of(builder, at.point, f"forces.{label}.point")),
    )

    def turned(values: tuple) -> Vector:
        given = vector_of(builder, values, key)
        return composed(place.axes(), given) if law.frame == "body" else given

    def speeds() -> tuple[Vector, Vector]:
        if other is None:
            return place.velocity(), place.spin()
        carried = Place(builder, other)
        arm = place.position().minus(carried.position())
        return place.velocity().minus(carried.velocity()).minus(
            carried.spin().cross(arm)
        ), place.spin().minus(carried.spin())

    def force() -> Vector:
        return turned(law.force)

    def moment() -> Vector:
        return turned(law.moment)

    def power() -> E:
        speed, spin = speeds()
        return force().dot(speed) + moment().dot(spin)

    builder.books[label] = Book(power, lambda: -power(), const(0.0), place.body, force, moment)


def add_wrench(builder: Builder, label: str, force: WrenchForce) -> None:
    """Add an external force and moment on a body."""
    define_force(builder, label, norm(builder, force.force))
    frame = int(force.frame == "body")
    arguments = (
        builder.body[force.body],
        builder.vector(force.point),
        builder.vector(force.force),
        builder.vector(force.moment),
        frame,
    )
    builder.add_force(L.Force.WRENCH, *arguments)
    wrench_book(builder, label, force, Point(body=force.body, point=force.point), None)


FORCE = ForceKind(
    WrenchForce,
    add_wrench,
    says="`force` at `point` and `moment`, in axes of the ground or of the body",
    rank=10,
    told_by=frozenset({"force", "moment"}),
    gives_energy=True,
    example={"force": [1.0, -2.0, 0.5], "moment": [0.1, 0.2, -0.3], "frame": "body"},
)
