"""Dry and viscous friction along a coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import E, const, name
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.line_laws import along, define_force, push, rubbing, speed_of
from kinetree.models.language.numbers_and_expressions import Law, Number

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class FrictionForce(ForceTable):
    """Friction along one coordinate: -(coulomb tanh(v/speed) + viscous v)."""

    kind: Literal["friction"] = "friction"
    coordinate: str = Field(description="Name of a coordinate")
    coulomb: Law = Field(default=0.0, description="Dry friction [N or N.m]")
    coulomb_negative: Law | None = Field(
        default=None,
        description="Magnitude of dry friction at negative speed (default: that at positive speed) [N or N.m]",
    )
    viscous: Law = Field(default=0.0, description="Viscous friction [N.s/m or N.m.s/rad]")
    speed: Number = Field(
        default=1e-3, description="Speed over which dry friction changes its sign [m/s or rad/s]"
    )
    positive: ClassVar = ("speed",)


def add_friction(builder: Builder, label: str, force: FrictionForce) -> None:
    """Add dry and viscous friction along a coordinate to the model."""
    index, rate = speed_of(builder, force.coordinate)
    back = None if force.coulomb_negative is None else E(builder.node(force.coulomb_negative))
    coulomb, viscous, speed = (
        E(builder.node(v, f"forces.{label}")) for v in (force.coulomb, force.viscous, force.speed)
    )
    push(
        builder,
        index,
        define_force(builder, label, rubbing(builder, coulomb, viscous, speed, rate, back)),
    )
    along(builder, label, name(force.coordinate), rate, const(0.0))


FORCE = ForceKind(
    FrictionForce,
    add_friction,
    says="-(coulomb tanh(ẋ/speed) + viscous ẋ)",
    rank=4,
    told_by=frozenset({"coulomb", "coulomb_negative", "viscous"}),
    example={"coulomb": 0.4, "coulomb_negative": 0.6, "viscous": 0.2, "speed": 0.2},
)
