"""A freely rolling tyre with an elastic side force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, larger, name
from kinetree.models.expressions.vectors import (
    NOWHERE,
    direction,
    position,
    registers,
    spin,
    vector_of,
    velocity,
)
from kinetree.models.forces.contacts import (
    Acting,
    add_load,
    contact_book,
    normal_force,
    side_forces,
    warn_of_friction_speed,
)
from kinetree.models.forces.force_kind import ForceKind, OwnState
from kinetree.models.forces.force_schema import Sided
from kinetree.models.forces.ground import Ground
from kinetree.models.forces.soil import check_soil, soil_states
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Axis, Number, Vector
from kinetree.models.language.parts.base_table import ORIGIN

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class TyreForce(Sided):
    """Tyre on the ground: vertical spring and damper that lift off, and an elastic side force."""

    kind: Literal["tyre"] = "tyre"
    body: str = Field(description="The body that carries the wheel")
    point: Vector = Field(default=ORIGIN, description="Centre of the wheel, body frame [m]")
    radius: Number = Field(default=0.0, description="Free radius of the tyre [m]")
    side: Axis = Field(
        default=(0.0, 1.0, 0.0), description="Direction of the wheel's axle, body axes"
    )


def states(force: TyreForce) -> dict[str, OwnState]:
    """Return the states of a tyre: those of the soil, and the side travel of the contact."""
    return soil_states(force) | ({} if force.side_stiffness == 0.0 else {"travel": OwnState("m")})


def add_tyre(builder: Builder, label: str, force: TyreForce) -> None:
    """Add a tyre that rolls freely and resists motion along its axle."""
    key, body = f"forces.{label}", builder.body[force.body]
    point, radius = (
        vector_of(builder, force.point, f"{key}.point"),
        E(builder.node(force.radius, f"{key}.radius")),
    )
    place, speed = (
        position(builder, hidden(label, "position"), body, point),
        velocity(builder, hidden(label, "velocity"), body, point),
    )
    ground = Ground(builder, label, force, place, radius)
    rolling = (
        NOWHERE if ground.soil is None else ground.soil.roll(speed.across(ground.normal), place)
    )
    load = normal_force(
        builder, label, force, ground.depth + radius, ground.sinking(speed), ground.soil
    )
    drag = NOWHERE if ground.soil is None else rolling.times(load)
    side = (
        direction(
            builder, hidden(label, "side"), body, vector_of(builder, force.side, f"{key}.side")
        )
        .across(ground.normal)
        .unit()
    )
    arm = ground.normal.times(larger(name(hidden(label, "penetration")), 0.0) - radius)
    slip = speed.plus(spin(builder, hidden(label, "spin"), body).cross(arm))
    sides = side.times(side_forces(builder, label, force, ("travel",), load, [slip.dot(side)])[0])
    add_load(
        builder, body, registers(builder, point), ground.away.times(load).plus(drag), sides, arm
    )
    contact_book(builder, label, body, ground, Acting(sides, speed, slip, drag=drag))


def check_tyre(checker: Checker, path: Path, force: TyreForce) -> None:
    check_soil(checker, path, force, wheel=True)
    warn_of_friction_speed(checker, path, force)


def parts(force: TyreForce, numbers: Any, size: float) -> dict[str, list[Any]]:
    from kinetree.models.scene.force_graphics import wheel

    return {
        force.body: wheel(
            numbers.vector(force.point), numbers.vector(force.side), numbers.number(force.radius)
        )
    }


def touch(force: TyreForce, numbers: Any) -> tuple[Any, float]:
    return numbers.vector(force.point), numbers.number(force.radius)


FORCE = ForceKind(
    TyreForce,
    add_tyre,
    says="N as `contact`; along the axle -(side_stiffness y + side_damping v), limited by friction·N; ẏ = v while it holds",
    rank=7,
    measures={"penetration": "m"},
    states=states,
    check=check_tyre,
    clearance=True,
    parts=parts,
    touch=touch,
    example={
        "radius": 0.3, "height": 0.2, "stiffness": 200.0, "damping": 2.0, "side_stiffness": 150.0, "side_damping": 1.0, "friction": 0.8,
    },
)  # fmt: skip
