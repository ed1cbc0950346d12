"""A point or a sphere on the ground surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.compilation.algebra import E
from kinetree.models.compilation.hidden import hidden
from kinetree.models.compilation.space import NOWHERE, Vector, position, registers, spin, vector_of, velocity
from kinetree.models.description.parts import ORIGIN
from kinetree.models.description.quantities import Number
from kinetree.models.description.quantities import Vector as Numbers
from kinetree.models.forces.contacts import Acting, add_load, contact_book, normal_force, sliding
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.kind import ForceKind
from kinetree.models.forces.soil import check_soil, soil_states
from kinetree.models.forces.table import Standing

if TYPE_CHECKING:
    from kinetree.models.compilation.builder import Builder


class ContactForce(Standing):
    """One-sided contact of a point (or sphere) of a body with the ground surface."""

    kind: Literal["contact"] = "contact"
    point: Numbers = Field(ORIGIN, description="Touching point, or centre of the sphere, body frame [m]")
    radius: Number = Field(0.0, description="Radius of the sphere [m]")


def add_contact(builder: Builder, label: str, force: ContactForce) -> None:
    """A point, or a sphere whose lowest point touches."""
    body, point = builder.body[force.body], vector_of(builder, force.point, f"forces.{label}.point")
    radius = E(builder.node(force.radius, f"forces.{label}.radius"))
    place, speed = position(builder, hidden(label, "position"), body, point), velocity(builder, hidden(label, "velocity"), body, point)
    ground = Ground(builder, label, force, place)
    load = normal_force(builder, label, force, ground.depth + radius, ground.sinking(speed), ground.soil)
    arm, slip = NOWHERE, speed
    if force.radius != 0.0:
        arm = ground.normal.times(-radius)
        slip = speed.plus(spin(builder, hidden(label, "spin"), body).cross(arm))
    sides = Vector(*sliding(builder, label, force, load, slip.across(ground.normal))) if force.friction != 0.0 else NOWHERE
    add_load(builder, body, registers(builder, point), ground.away.times(load), sides, arm)
    contact_book(builder, label, body, ground, Acting(sides, speed, slip))


def touch(force: ContactForce, numbers: Any) -> tuple[Any, float]:
    return numbers.vector(force.point), numbers.number(force.radius)


FORCE = ForceKind(
    ContactForce,
    add_contact,
    says="N = max(0, stiffness d^exponent + damping ḋ) for d > 0; friction·N against the sliding",
    rank=6,
    told_by=frozenset({"height", "radius", "normal", "friction", "soil", "stiffness"}),
    measures={"penetration": "m"},
    states=soil_states,
    check=check_soil,
    clearance=True,
    touch=touch,
    example={"radius": 0.2, "height": 0.3, "stiffness": 300.0, "damping": 2.0, "exponent": 1.5, "friction": 0.4, "friction_speed": 0.1},
)
