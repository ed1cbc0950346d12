"""A double-acting hydraulic cylinder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.node_arithmetic import name
from kinetree.models.forces.line_laws import end_stops
from kinetree.models.hydraulics.circuit_kind import HydraulicKind
from kinetree.models.hydraulics.displacement_units import Displacing, displace
from kinetree.models.hydraulics.oil_terms import pressure
from kinetree.models.language.basic_checks import Path, check_between
from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Point
from kinetree.solvers import layout as L
from kinetree.solvers.sensors.kinds.points import DISTANCE, DISTANCE_RATE

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.hydraulic_circuit import Circuit


class DoubleCylinder(Displacing):
    """A double-acting cylinder: its force is area_a p_a - area_b p_b, its stroke displaces oil of
    both nodes.

    Between two bodies, or of a motion that is given: `length` and `rate`, such as inputs, where the mechanism is elsewhere.
    """

    kind: Literal["cylinder"] = "cylinder"
    between: tuple[Point, Point] | None = Field(
        default=None, description="Mounting points on both bodies"
    )
    length: Law | None = Field(default=None, description="Length, instead of between [m]")
    rate: Law | None = Field(default=None, description="Rate of that length [m/s]")
    area_a: Number = Field(description="Piston area of the extending side [m2]")
    area_b: Number = Field(description="Piston area of the retracting side [m2]")
    shortest: Number = Field(description="Length between the eyes when fully retracted [m]")
    longest: Number = Field(description="Length between the eyes when fully extended [m]")
    end_stiffness: Number = Field(default=1e8, description="Stiffness of the end stops [N/m]")
    end_damping: Number = Field(default=0.0, description="Damping of the end stops [N.s/m]")


def add_cylinder(circuit: Circuit, label: str, cylinder: DoubleCylinder) -> None:
    """Add a cylinder's force between its eyes and its displaced oil."""
    builder, ends = circuit.builder, measure(circuit, label, cylinder)
    length, speed = name(f"{label}.length"), name(f"{label}.speed")
    areas = circuit.number(label, cylinder, "area_a"), circuit.number(label, cylinder, "area_b")
    circuit.oil[cylinder.a].append(
        areas[0] * (length - circuit.number(label, cylinder, "shortest"))
    )
    circuit.oil[cylinder.b].append(areas[1] * (circuit.number(label, cylinder, "longest") - length))
    value = areas[0] * pressure(cylinder.a) - areas[1] * pressure(cylinder.b)
    value, _ = end_stops(
        builder,
        cylinder,
        length,
        speed,
        displace(circuit, label, cylinder, areas, value, speed, "N/m"),
    )
    force = circuit.report(label, "force", value, "N", "Force, positive where it extends")
    if ends:
        builder.add_force(L.Force.LINE, *ends, builder.register(force.node))


def measure(circuit: Circuit, label: str, cylinder: DoubleCylinder) -> tuple[int, ...]:
    """Return length and speed of a cylinder, measured between its eyes or given, and the registers
    of its ends (none if the mechanism is outside the model).
    """
    columns = (("length", "m", "Length"), ("speed", "m/s", "Rate of the length"))
    if cylinder.between is None:
        for key, given in (("length", "length"), ("speed", "rate")):
            circuit.builder.define(f"{label}.{key}", circuit.number(label, cylinder, given).node)
        circuit.builder.columns += [
            Column(f"{label}.{key}", 0, unit, text) for key, unit, text in columns
        ]
        return ()
    builder, (foot, eye) = circuit.builder, cylinder.between
    ends = (
        builder.body[foot.body],
        builder.vector(foot.point),
        builder.body[eye.body],
        builder.vector(eye.point),
    )
    builder.add_sensor(f"{label}.length", DISTANCE, *ends)
    builder.add_sensor(f"{label}.speed", DISTANCE_RATE, *ends)
    builder.columns += [Column(f"{label}.{key}", 0, unit, text) for key, unit, text in columns]
    return ends


def check_cylinder(checker: Checker, path: Path, cylinder: DoubleCylinder) -> None:
    given = {key for key in ("length", "rate") if getattr(cylinder, key) is not None}
    if (cylinder.between is None) != (given == {"length", "rate"}) or (
        cylinder.between is not None and given
    ):
        checker.complain(
            path, "neither or too much of between, length and rate", "between, or length with rate"
        )
    check_between(checker, path, cylinder.between)
    low, high = checker.number(cylinder.shortest), checker.number(cylinder.longest)
    if low is not None and high is not None and high <= low:
        checker.complain((*path, "longest"), f"{high:g}", f"a number above shortest, {low:g}")


HYDRAULIC = HydraulicKind(
    DoubleCylinder,
    add_cylinder,
    ("between", "area_a"),
    ("length", "speed", "force", "stiffness", "resting_rate", "flow_a", "flow_b"),
    rank=8,
    check=check_cylinder,
)
