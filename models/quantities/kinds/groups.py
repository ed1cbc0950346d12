"""Measured totals of groups of bodies: mass, centre of mass, inertia."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.models.expressions.measurement_frames import Place, composed, resolved, seen
from kinetree.models.expressions.node_arithmetic import E, const
from kinetree.models.expressions.vectors import NOWHERE, Vector, vector_of
from kinetree.models.quantities.measurement_frame import in_axes, reference
from kinetree.models.quantities.quantity_kind import GROUP, QuantityKind

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output
    from kinetree.models.language.parts.body_parts import Body


class Group:
    """A group of bodies, without those that the structure does not have."""

    def __init__(self, builder: Builder, bodies: Sequence[str] | None):
        self.builder, d = builder, builder.description
        self.bodies = [
            name for name in (d.bodies if bodies is None else bodies) if name in d.bodies
        ]
        self.masses = [
            E(builder.node(d.bodies[name].mass, f"bodies.{name}.mass")) for name in self.bodies
        ]
        self.places = [
            Place(builder, name, vector_of(builder, d.bodies[name].com, f"bodies.{name}.com"))
            for name in self.bodies
        ]

    def mass(self) -> E:
        return sum(self.masses, const(0.0))

    def _total(self, vectors: Sequence[Vector]) -> Vector:
        total = NOWHERE
        for mass, vector in zip(self.masses, vectors, strict=True):
            total = total.plus(vector.times(mass))
        return total

    def centre(self) -> Vector:
        return self._total([place.position() for place in self.places]).times(1.0 / self.mass())

    def momentum(self) -> Vector:
        return self._total([place.velocity() for place in self.places])

    def centre_velocity(self) -> Vector:
        return self.momentum().times(1.0 / self.mass())

    def angular_momentum(self, about: Vector) -> Vector:
        total = NOWHERE
        for label, mass, place in zip(self.bodies, self.masses, self.places, strict=True):
            total = total.plus(place.position().minus(about).cross(place.velocity()).times(mass))
            xx, yy, zz, xy, xz, yz = tensor(
                self.builder, self.builder.description.bodies[label], label, mass
            )
            x, y, z = resolved(place.spin(), place.axes())
            total = total.plus(
                composed(
                    place.axes(),
                    Vector(
                        xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z
                    ),
                )
            )
        return total

    def angular_momentum_about_centre(self) -> Vector:
        about_origin = self.angular_momentum(NOWHERE)
        return about_origin.minus(self.centre().cross(self.momentum()))


def tensor(builder: Builder, body: Body, label: str, mass: E) -> list[E]:
    """Return the inertia xx yy zz xy xz yz about the centre of mass."""
    about_com = body.inertia is not None
    given = [
        E(builder.node(each, f"bodies.{label}.inertia"))
        for each in (body.inertia or body.inertia_at_origin or (0.0,) * 6)
    ]
    if about_com or body.inertia_at_origin is None:
        return given
    x, y, z = vector_of(builder, body.com, f"bodies.{label}.com")
    shift = (y * y + z * z, x * x + z * z, x * x + y * y, -(x * y), -(x * z), -(y * z))
    return [a - mass * b for a, b in zip(given, shift, strict=True)]


def group_of(builder: Builder, output: Output) -> Group:
    return Group(builder, output.bodies)


def mass(builder: Builder, label: str, output: Output) -> E:
    return group_of(builder, output).mass()


def centre(kind: str):
    """Return the function that computes a group's centre of mass or its velocity, relative to a
    body.
    """

    def computed(builder: Builder, label: str, output: Output) -> Vector:
        group = group_of(builder, output)
        found = seen(
            kind,
            (group.centre, group.centre_velocity, lambda: NOWHERE),
            reference(builder, label, output),
        )
        return in_axes(builder, output, None, found)

    return computed


def momentum(builder: Builder, label: str, output: Output) -> Vector:
    return in_axes(builder, output, None, group_of(builder, output).momentum())


def angular_momentum(builder: Builder, label: str, output: Output) -> Vector:
    group = group_of(builder, output)
    if output.about == "centre":
        return in_axes(builder, output, None, group.angular_momentum_about_centre())
    return in_axes(
        builder,
        output,
        None,
        group.angular_momentum(vector_of(builder, output.point, f"outputs.{label}.point")),
    )


SEEN = (*GROUP, "reference")
ANGULAR = "of all bodies or of some, about a fixed `point` or their centre of mass"
QUANTITIES = (
    QuantityKind(
        "mass",
        "kg",
        "of all bodies, or of those in `bodies` that are there",
        1,
        (),
        ("bodies",),
        mass,
        rank=17,
    ),
    QuantityKind(
        "centre_of_mass",
        "m",
        "position, of all bodies or of some",
        3,
        (),
        SEEN,
        centre("position"),
        rank=18,
    ),
    QuantityKind(
        "centre_velocity",
        "m/s",
        "velocity of the centre of mass, of all bodies or of some",
        3,
        (),
        SEEN,
        centre("velocity"),
        rank=19,
    ),
    QuantityKind("momentum", "kg.m/s", "of all bodies or of some", 3, (), GROUP, momentum, rank=20),
    QuantityKind(
        "angular_momentum",
        "kg.m2/s",
        ANGULAR,
        3,
        (),
        (*GROUP, "point", "about"),
        angular_momentum,
        rank=21,
    ),
)
