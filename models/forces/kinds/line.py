"""A force along the line between two points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from kinetree.models.expressions.node_arithmetic import E, choose, larger, smaller
from kinetree.models.forces.force_kind import ForceKind
from kinetree.models.forces.force_schema import Between, Elastic
from kinetree.models.forces.line_laws import (
    check_elastic,
    define_force,
    elastic,
    line_book,
    line_sensors,
    one_sided,
)
from kinetree.models.language.basic_checks import Path
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.compilation.structure_builder import Builder


class LineForce(Elastic):
    """Force along the line between two points: value, or -(stiffness (l - length) + damping dl/dt); positive pushes them apart."""

    kind: Literal["line"] = "line"
    between: Between = Field(description="The two points")
    tension_only: bool = Field(
        default=False, description="Whether the force is zero in compression, as in a rope"
    )
    compression_only: bool = Field(
        default=False, description="Whether the force is zero in tension, as in a buffer"
    )


def add_line(builder: Builder, label: str, force: LineForce) -> None:
    """Add a spring, damper or prescribed force between two points. A rope never pushes, a buffer
    never pulls.
    """
    ends, length, rate = line_sensors(builder, label, force.between)
    value, potential = elastic(builder, f"forces.{label}", force, length, rate)
    if force.tension_only or force.compression_only:
        stretch = length - E(builder.node(0.0 if force.length is None else force.length))
        slack = stretch < 0.0 if force.tension_only else stretch > 0.0
        way = 1.0 if force.tension_only else -1.0
        if force.damping != 0.0 or force.value is not None:
            value = -way * one_sided(builder, f"force '{label}'", way * stretch, -way * value)
        else:
            value = choose(
                slack, 0.0, smaller(value, 0.0) if force.tension_only else larger(value, 0.0)
            )
        potential = choose(slack, 0.0, potential)
    builder.add_force(L.Force.LINE, *ends, define_force(builder, label, value, potential))
    line_book(builder, label, force.between, potential)


def check_line(checker: Checker, path: Path, force: LineForce) -> None:
    check_elastic(checker, path, force)
    if force.tension_only and force.compression_only:
        checker.complain(path, "tension_only and compression_only", "one of them")
    if force.value is None and force.length is None and "stiffness" in force.model_fields_set:
        checker.complain((*path, "length"), "nothing", "the length without spring force")


def look(force: LineForce, numbers: Any, size: float, low: float) -> dict[str, Any]:
    """Return how a line force is displayed: a rope, a spring, a cylinder, or a rod."""
    from kinetree.models.scene.force_graphics import ROD, ROPE, SPRING, cylinder_look

    if force.tension_only:
        return {"kind": "rope", "radius": 0.35 * ROD * size, "colour": ROPE}
    elastic = force.law is not None or numbers.number(force.stiffness, 1.0) != 0.0
    if force.value is None and elastic:
        return {"kind": "spring", "radius": 1.6 * ROD * size, "colour": SPRING}
    return cylinder_look(force, numbers, size, low)


FORCE = ForceKind(
    LineForce,
    add_line,
    says="as `coordinate`, over the distance of two points; a rope or a buffer is cut at 0",
    rank=2,
    told_by=frozenset(),
    measures={"length": "m", "rate": "m/s"},
    check=check_line,
    look=look,
    example={"stiffness": 80.0, "damping": 0.6, "length": 0.4},
)
