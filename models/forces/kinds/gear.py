"""A gear pair or train with elastic teeth and backlash, between two coordinates.

    δ = q + ratio q₂          e = what of δ exceeds backlash/2 on either side          force = -(stiffness e + damping δ̇)  while the teeth touch

force acts along q and ratio times it along q₂. With backlash damping never makes the teeth pull. The joints' parents, the housing, take the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.node_arithmetic import E, choose, larger, name, smaller
from kinetree.models.forces.force_energy import Book
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.line_laws import define_force, one_sided, push, speed_of
from kinetree.models.language.basic_checks import Path
from kinetree.models.language.numbers_and_expressions import Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class GearForce(ForceTable):
    """Gear pair or train between two coordinates, with elastic teeth and backlash; without either it is a coupling."""

    kind: Literal["gear"] = "gear"
    coordinate: str = Field(description="Name of a coordinate")
    other: str = Field(description="Name of the other coordinate")
    ratio: Number = Field(
        description="coordinate + ratio other stays near 0: teeth of other over teeth of coordinate; below 0 for inner teeth [1]"
    )
    stiffness: Number = Field(
        description="Stiffness of the teeth, along `coordinate` [N.m/rad or N/m]"
    )
    damping: Number = Field(0.0, description="Damping of the teeth [N.m.s/rad or N.s/m]")
    backlash: Number = Field(
        0.0, description="Backlash between the teeth, along `coordinate` [rad or m]"
    )
    positive: ClassVar = ("stiffness",)
    not_negative: ClassVar = ("damping", "backlash")

    def coordinates(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().coordinates()
        yield ("other",), self.other


def add_gear(builder: Builder, label: str, force: GearForce) -> None:
    """Add an elastic gear pair; NAME.mesh is the mesh deflection."""
    key = f"forces.{label}"
    (first, rate), (second, other) = (
        speed_of(builder, force.coordinate),
        speed_of(builder, force.other),
    )
    ratio, k, c, play = (
        E(builder.node(getattr(force, each), f"{key}.{each}"))
        for each in ("ratio", "stiffness", "damping", "backlash")
    )
    builder.define(hidden(label, "mesh"), (name(force.coordinate) + ratio * name(force.other)).node)
    builder.offer(f"{label}.mesh", hidden(label, "mesh"))
    way, moving = name(hidden(label, "mesh")), rate + ratio * other
    deep = way - larger(smaller(way, 0.5 * play), -(0.5 * play))
    total = k * deep + c * moving
    if force.backlash == 0.0:
        touching = total
    elif force.damping == 0.0:
        touching = choose(
            deep > 0.0, larger(total, 0.0), choose(deep < 0.0, smaller(total, 0.0), 0.0)
        )
    else:
        touching = one_sided(builder, f"force '{label}'", way - 0.5 * play, total) - one_sided(
            builder, f"force '{label}'", -way - 0.5 * play, -total
        )
    potential = 0.5 * k * deep * deep
    push(builder, first, define_force(builder, label, -touching, potential))
    value = name(f"force('{label}')")
    push(builder, second, builder.register((ratio * value).node))
    builder.books[label] = Book(
        lambda: value * moving, lambda: -((value + k * deep) * moving), potential
    )


def check_gear(checker: Checker, path: Path, force: GearForce) -> None:
    if force.other == force.coordinate:
        checker.complain((*path, "other"), f"'{force.other}' twice", "another coordinate")


def drawn(
    force: GearForce, numbers: Any, axes: Any, size: float, parts: Any
) -> dict[str, list[Any]]:
    from kinetree.models.scene.joint_drive_graphics import gear

    first, second = axes.get(force.coordinate), axes.get(force.other)
    return gear(first, second, numbers.number(force.ratio), size, parts) if first and second else {}


FORCE = ForceKind(
    GearForce,
    add_gear,
    says="-(stiffness e + damping δ̇) along `coordinate`, `ratio` times it along `other`; δ = q + ratio q₂, e = δ beyond ± backlash/2",
    rank=6,
    told_by=frozenset({"other", "ratio", "backlash"}),
    measures={"mesh": "1"},
    check=check_gear,
    along=drawn,
    example={"other": "", "ratio": 2.5, "stiffness": 30.0, "damping": 0.4, "backlash": 0.1},
)
