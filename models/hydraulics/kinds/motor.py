"""A hydraulic motor with its gear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.forces.line_laws import push, speed_of
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.displacement_units import Displacing, displace
from kinetree.models.hydraulics.oil_terms import pressure
from kinetree.models.language.basic_checks import Path, check_coordinate
from kinetree.models.language.numbers_and_expressions import Law, Number

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class MotorElement(Displacing):
    """A hydraulic motor, with its gear, along a coordinate or of a given `rate`: its force is displacement (p_a - p_b)."""

    kind: Literal["motor"] = "motor"
    coordinate: str | None = Field(default=None, description="Coordinate driven")
    rate: Law | None = Field(
        default=None, description="Speed, instead of a coordinate [rad/s or m/s]"
    )
    displacement: Number = Field(
        description="Displaced oil per unit of the coordinate [m3/rad or m2]"
    )


def add_motor(circuit: Circuit, label: str, motor: MotorElement) -> None:
    """Add a hydraulic motor's moment along a coordinate."""
    given = motor.coordinate is None
    index, speed = (
        (-1, circuit.number(label, motor, "rate"))
        if given
        else speed_of(circuit.builder, str(motor.coordinate))
    )
    speed = circuit.report(label, "speed", speed, "rad/s", "Speed")
    displacement = circuit.number(label, motor, "displacement")
    value = displacement * (pressure(motor.a) - pressure(motor.b))
    force = displace(circuit, label, motor, (displacement, displacement), value, speed, "N.m/rad")
    push(
        circuit.builder,
        index,
        circuit.builder.register(
            circuit.report(label, "force", force, "N.m", "Moment or force").node
        ),
    )


def check_motor(checker: Checker, path: Path, motor: MotorElement) -> None:
    if (motor.coordinate is None) == (motor.rate is None):
        checker.complain(path, "both or neither of coordinate and rate", "one of them")
    check_coordinate(checker, (*path, "coordinate"), motor.coordinate)


HYDRAULIC = HydraulicKind(
    MotorElement,
    add_motor,
    ("displacement",),
    ("speed", "force", "stiffness", "resting_rate", "flow_a", "flow_b"),
    rank=9,
    check=check_motor,
)
