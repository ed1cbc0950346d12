"""Contact of a point, a sphere or another shape with the ground surface, with a plane of a body, or
with another shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.vectors import (
    NOWHERE,
    Vector,
    position,
    registers,
    spin,
    vector_of,
    velocity,
)
from kinetree.models.forces.contact_geometry import pair
from kinetree.models.forces.contacts import (
    Acting,
    add_load,
    contact_book,
    normal_force,
    sliding,
    warn_of_friction_speed,
)
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Standing
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.outline_contact_law import FLAT, add_shapes
from kinetree.models.forces.outlines import Opposite, Outline, check_outline
from kinetree.models.forces.soil import check_soil, soil_states
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.numbers_and_expressions import Vector as Numbers
from kinetree.models.language.parts.base_table import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class ContactForce(Standing):
    """One-sided contact of a point, sphere or shape of a body with the ground, or of two bodies'
    shapes.
    """

    kind: Literal["contact"] = "contact"
    point: Numbers = Field(
        default=ORIGIN,
        description="Touching point, or centre of the sphere or the outline, body frame [m]",
    )
    radius: Number = Field(
        default=0.0, description="Radius of a sphere, where no shape is given [m]"
    )
    shape: Outline | None = Field(default=None, description="Outline that touches")
    against: Opposite | None = Field(
        default=None, description="What it touches, instead of the ground surface"
    )
    stiffness: Law = Field(
        default=0.0, description="Normal force per penetration**exponent [N/m for exponent 1]"
    )
    modulus: Number | None = Field(
        default=None,
        description="Hertz instead: effective modulus E, 1/E = (1 - nu1²)/E1 + (1 - nu2²)/E2 [Pa]",
    )
    dissipation: Law = Field(
        default=0.0,
        description="Hunt-Crossley damping: the elastic force is multiplied by 1 + 1.5 dissipation * rate of penetration [s/m]",
    )
    positive: ClassVar = (*Standing.positive, "modulus")

    def bodies(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield ("body",), self.body
        if self.against is not None:
            yield ("against", "body"), self.against.body


def add_contact(builder: Builder, label: str, force: ContactForce) -> None:
    """Add a contact of a point, a sphere or a shape."""
    if force.shape is not None:
        add_shapes(builder, label, force)
        return
    body, point = builder.body[force.body], vector_of(builder, force.point, f"forces.{label}.point")
    radius = E(builder.node(force.radius, f"forces.{label}.radius"))
    place, speed = (
        position(builder, hidden(label, "position"), body, point),
        velocity(builder, hidden(label, "velocity"), body, point),
    )
    ground = Ground(builder, label, force, place)
    load = normal_force(
        builder,
        label,
        force,
        ground.depth + radius,
        ground.sinking(speed),
        ground.soil,
        hertz=radius,
    )
    arm, slip = NOWHERE, speed
    if force.radius != 0.0:
        arm = ground.normal.times(-radius)
        slip = speed.plus(spin(builder, hidden(label, "spin"), body).cross(arm))
    sides = (
        Vector(*sliding(builder, label, force, load, slip.across(ground.normal)))
        if force.friction != 0.0
        else NOWHERE
    )
    add_load(builder, body, registers(builder, point), ground.away.times(load), sides, arm)
    contact_book(builder, label, body, ground, Acting(sides, speed, slip))


def check_contact(checker: Checker, path: Path, force: ContactForce) -> None:
    """Report keys that exclude each other, and unsupported pairs of shapes."""
    check_soil(checker, path, force)
    warn_of_friction_speed(checker, path, force)
    given = [key for key in ("stiffness", "modulus") if key in force.model_fields_set]
    if len(given) != 1 and path not in checker.incomplete:
        checker.complain(
            (*path, "stiffness"), " and ".join(given) or "nothing", "stiffness or modulus"
        )
    if force.modulus is not None and "exponent" in force.model_fields_set:
        checker.complain((*path, "exponent"), "modulus and exponent", "no exponent: Hertz says 1.5")
    if force.shape is None:
        if force.against is not None:
            checker.complain((*path, "shape"), "nothing", "the outline that touches: a shape")
        if force.modulus is not None and checker.number(force.radius) == 0.0:
            checker.complain((*path, "radius"), "0", "a radius, for Hertz's law")
        return
    for key in ("radius", "soil"):
        if key in force.model_fields_set:
            checker.complain((*path, key), f"shape and {key}", "one of them")
    if not check_outline(checker, (*path, "shape"), force.shape):
        return
    first, second = force.shape.shape, "ground"
    if force.against is not None:
        for key in ("height", "normal"):
            if key in force.model_fields_set:
                checker.complain(
                    (*path, key), f"against and {key}", "one of them: the ground surface or a body"
                )
        if not check_outline(checker, (*path, "against"), force.against):
            return
        if force.against.body == force.body:
            checker.complain(
                (*path, "against", "body"),
                f"'{force.body}' against itself",
                "another body, or ground",
            )
        second = force.against.shape
        if not pair(first, second)[0]:
            hint = (
                "spheres touch everything, capsules each other and planes, "
                "boxes, cylinders and hulls planes and spheres, polygons planes, spheres "
                "and each other; or describe it by several contacts"
            )
            checker.complain((*path, "against"), f"a {first} against a {second}", hint=hint)
    if force.modulus is not None and (
        "sphere" not in (first, second) or {first, second} - {"sphere"} - FLAT
    ):
        checker.complain(
            (*path, "modulus"),
            f"a {first} against {'the' if second == 'ground' else 'a'} {second}",
            "a sphere against a sphere or something flat, for Hertz's law",
        )


def touch(force: ContactForce, numbers: Any) -> tuple[Any, float] | None:
    return (
        (numbers.vector(force.point), numbers.number(force.radius)) if force.shape is None else None
    )


FORCE = ForceKind(
    ContactForce,
    add_contact,
    says="N = max(0, stiffness d^exponent (1 + 1.5 dissipation ḋ) + damping ḋ) for d > 0; friction·N against the sliding",
    rank=6,
    told_by=frozenset(
        {
            "height",
            "radius",
            "normal",
            "friction",
            "soil",
            "stiffness",
            "shape",
            "against",
            "modulus",
        }
    ),
    measures={"penetration": "m"},
    states=soil_states,
    check=check_contact,
    clearance=True,
    touch=touch,
    example={
        "radius": 0.2,
        "height": 0.3,
        "stiffness": 300.0,
        "damping": 2.0,
        "exponent": 1.5,
        "friction": 0.4,
        "friction_speed": 0.1,
    },
)
