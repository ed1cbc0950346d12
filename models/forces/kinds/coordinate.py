"""A force or a moment along one coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import name
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Elastic
from kinetree.models.forces.line_laws import (
    along,
    check_elastic,
    define_force,
    elastic,
    push,
    speed_of,
)

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder


class CoordinateForce(Elastic):
    """Force or moment along one coordinate: value, or -(stiffness (q - length) + damping dq/dt)."""

    kind: Literal["coordinate"] = "coordinate"
    coordinate: str = Field(description="Name of a coordinate")


def add_coordinate(builder: Builder, label: str, force: CoordinateForce) -> None:
    """Add a spring, damper or prescribed force along a coordinate."""
    index, rate = speed_of(builder, force.coordinate)
    value, potential = elastic(builder, f"forces.{label}", force, name(force.coordinate), rate)
    push(builder, index, define_force(builder, label, value, potential))
    along(builder, label, name(force.coordinate), rate, potential)


FORCE = ForceKind(
    CoordinateForce,
    add_coordinate,
    says="`value`, or -(stiffness (x - length) + damping ẋ + law(x - length) + damping_law(ẋ))",
    rank=1,
    told_by=frozenset(),
    check=check_elastic,
    example={"stiffness": 30.0, "damping": 0.5, "length": 0.1},
)
