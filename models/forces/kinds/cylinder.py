"""A double-acting hydraulic cylinder with given pressures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, ForceTable
from kinetree.models.forces.line_laws import (
    define_force,
    end_stops,
    line_book,
    line_sensors,
    rubbing,
)
from kinetree.models.language.basic_checks import Path, check_order
from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class CylinderForce(ForceTable):
    """Double-acting hydraulic cylinder of given pressures: pressure_a area_a - pressure_b area_b, less friction; positive extends it."""

    kind: Literal["cylinder"] = "cylinder"
    between: Between = Field(description="Mounting points on both bodies")
    area_a: Number = Field(description="Piston area of the extending side [m2]")
    area_b: Number = Field(default=0.0, description="Piston area of the retracting side [m2]")
    pressure_a: Law = Field(default=0.0, description="Pressure of the extending side [Pa]")
    pressure_b: Law = Field(default=0.0, description="Pressure of the retracting side [Pa]")
    coulomb: Law = Field(default=0.0, description="Dry friction of the seals [N]")
    viscous: Law = Field(default=0.0, description="Viscous friction [N.s/m]")
    speed: Number = Field(
        default=1e-3, description="Speed over which dry friction changes its sign [m/s]"
    )
    shortest: Number | None = Field(
        default=None, description="Length at the retracted end stop [m]"
    )
    longest: Number | None = Field(default=None, description="Length at the extended end stop [m]")
    end_stiffness: Number = Field(default=1e8, description="Stiffness of the end stops [N/m]")
    end_damping: Number = Field(default=0.0, description="Damping of the end stops [N.s/m]")
    positive: ClassVar = ("area_a", "speed")
    not_negative: ClassVar = ("area_b", "end_stiffness", "end_damping")


def add_cylinder(builder: Builder, label: str, force: CylinderForce) -> None:
    """Add a double-acting cylinder with prescribed pressures, seal friction and end stops."""
    ends, length, rate = line_sensors(builder, label, force.between)
    part = {
        k: E(builder.node(getattr(force, k), f"forces.{label}.{k}"))
        for k in ("area_a", "area_b", "pressure_a", "pressure_b", "coulomb", "viscous")
    }
    value = part["pressure_a"] * part["area_a"] - part["pressure_b"] * part["area_b"]
    value = value + rubbing(
        builder, part["coulomb"], part["viscous"], E(builder.node(force.speed)), rate
    )
    value, potential = end_stops(builder, force, length, rate, value)
    builder.add_force(L.Force.LINE, *ends, define_force(builder, label, value, potential))
    line_book(builder, label, force.between, potential)


def check_cylinder(checker: Checker, path: Path, force: CylinderForce) -> None:
    check_order(checker, path, force, "shortest", "longest")


def look(force: CylinderForce, numbers: Any, size: float, low: float) -> dict[str, Any]:
    """Return barrel and rod of a cylinder for display."""
    from kinetree.models.scene.force_graphics import cylinder_look

    return cylinder_look(force, numbers, size, low)


FORCE = ForceKind(
    CylinderForce,
    add_cylinder,
    says="pressure_a area_a - pressure_b area_b, friction of the seals, one-sided end stops",
    rank=5,
    told_by=frozenset({"area_a", "area_b", "pressure_a", "pressure_b"}),
    measures={"length": "m", "rate": "m/s"},
    check=check_cylinder,
    gives_energy=True,
    look=look,
    example={
        "area_a": 1e-4,
        "area_b": 6e-5,
        "pressure_a": 3e4,
        "pressure_b": 1e4,
        "coulomb": 0.5,
        "viscous": 0.3,
        "speed": 0.1,
    },
)
