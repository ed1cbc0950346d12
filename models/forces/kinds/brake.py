"""A brake or clutch along a coordinate that holds without creeping: an elastic twist that slips
beyond the largest force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import E, larger, name
from kinetree.models.forces.bristle import Bristles
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind, OwnState
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.line_laws import define_force, push, speed_of
from kinetree.models.language.numbers_and_expressions import Law, Number

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class BrakeForce(ForceTable):
    """Brake along one coordinate: sticks like a spring, slips at its largest force, and holds
    without creeping.
    """

    kind: Literal["brake"] = "brake"
    coordinate: str = Field(description="Name of a coordinate")
    largest: Law = Field(
        description="Largest force or moment of the brake, such as an input times a constant [N or N.m]; 0: open"
    )
    stiffness: Number = Field(description="Stiffness of the brake while it sticks [N/m or N.m/rad]")
    damping: Number = Field(
        0.0, description="Damping of the brake while it sticks [N.s/m or N.m.s/rad]"
    )
    reach: Number = Field(
        1e-3,
        description="Twist at which even the lightest brake slips: below `stiffness` times it the brake is softer [m or rad]",
    )
    positive: ClassVar = ("stiffness", "reach")
    not_negative: ClassVar = ("damping",)


def states(force: BrakeForce) -> dict[str, OwnState]:
    return {"twist": OwnState("1", text="Elastic deflection of the brake, in m or rad")}


def add_brake(builder: Builder, label: str, force: BrakeForce) -> None:
    """Add a brake with stiction along a coordinate."""
    key = f"forces.{label}"
    index, rate = speed_of(builder, force.coordinate)
    limit, stiffness, damping = (
        E(builder.node(getattr(force, each), f"{key}.{each}"))
        for each in ("largest", "stiffness", "damping")
    )
    reach = E(builder.node(force.reach, f"{key}.reach"))
    bristles = Bristles((builder.made(f"{label}.twist"),), (stiffness,), larger(limit, 0.0), reach)
    bristles.follow(builder, [rate])
    stored = bristles.stored()
    push(builder, index, define_force(builder, label, bristles.pull([rate], damping)[0], stored))
    value = name(f"force('{label}')")
    builder.books[label] = Book(
        lambda: value * rate, lambda: bristles.lost([value], [rate]), stored
    )


def drawn(
    force: BrakeForce, numbers: Any, axes: Any, size: float, parts: Any
) -> dict[str, list[Any]]:
    from kinetree.models.scene.joint_drive_graphics import brake

    return brake(axes[force.coordinate], size, parts) if force.coordinate in axes else {}


FORCE = ForceKind(
    BrakeForce,
    add_brake,
    says="-(stiffness e + damping ẋ) within ±`largest`; ė = ẋ while it sticks, beyond `largest` e slips: holds without creeping",
    rank=5,
    told_by=frozenset({"largest"}),
    states=states,
    along=drawn,
    example={"largest": 0.6, "stiffness": 40.0, "damping": 0.5},
)
