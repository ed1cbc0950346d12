"""Exponential limit stops of a coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import E, const, exp, larger, name
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import ForceTable
from kinetree.models.forces.line_laws import along, define_force, push, speed_of
from kinetree.models.language.basic_checks import Path, check_order
from kinetree.models.language.numbers_and_expressions import Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class StopForce(ForceTable):
    """Exponential limit stop: (stiffness - damping dx/dt) exp(-sharpness (x - lower)) at the lower bound, mirrored at the upper; never pulls."""

    kind: Literal["stop"] = "stop"
    coordinate: str = Field(description="Name of a coordinate")
    lower: Number | None = Field(
        default=None, description="Lower bound [m or rad]; left out: no lower stop"
    )
    upper: Number | None = Field(
        default=None, description="Upper bound [m or rad]; left out: no upper stop"
    )
    stiffness: Number = Field(description="Force at the bound [N or N.m]")
    damping: Number = Field(
        default=0.0, description="Change of the force at the bound with speed [N.s/m or N.m.s/rad]"
    )
    sharpness: Number = Field(
        description="Exponent of the force: relative growth per unit of travel [1/m or 1/rad]"
    )
    positive: ClassVar = ("sharpness",)


def add_stop(builder: Builder, label: str, force: StopForce) -> None:
    """Add an exponential limit stop, which pushes near a bound and never pulls."""
    index, rate = speed_of(builder, force.coordinate)
    x = name(force.coordinate)
    k, mu, a = (
        E(builder.node(v, f"forces.{label}"))
        for v in (force.stiffness, force.damping, force.sharpness)
    )
    value = const(0.0)
    potential = const(0.0)
    if force.lower is not None:
        near = exp(-(a * (x - E(builder.node(force.lower)))))
        value = value + larger((k - mu * rate) * near, 0.0)
        potential = potential + k / a * near
    if force.upper is not None:
        near = exp(a * (x - E(builder.node(force.upper))))
        value = value - larger((k + mu * rate) * near, 0.0)
        potential = potential + k / a * near
    push(builder, index, define_force(builder, label, value, potential))
    along(builder, label, x, rate, potential)


def check_stop(checker: Checker, path: Path, force: StopForce) -> None:
    check_order(checker, path, force, "lower", "upper")
    if force.lower is None and force.upper is None:
        checker.complain(path, "no bound", "lower, upper or both")


FORCE = ForceKind(
    StopForce,
    add_stop,
    says="max(0, (stiffness - damping ẋ) exp(-sharpness (x - lower))), mirrored at `upper`: never pulls",
    rank=3,
    told_by=frozenset({"lower", "upper", "sharpness"}),
    check=check_stop,
    example={"lower": -0.4, "upper": 0.5, "stiffness": 2.0, "damping": 0.1, "sharpness": 4.0},
)
