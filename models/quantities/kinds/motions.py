"""Measured motion of points and bodies, relative to the ground or to other bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.measurement_frames import (
    Place,
    Quaternion,
    cardan,
    relative,
    relative_quaternion,
)
from kinetree.models.expressions.vectors import Vector, vector_of
from kinetree.models.quantities.measurement_frame import in_axes, reference
from kinetree.models.quantities.quantity_kind import PLACED, QuantityKind, Wanted
from kinetree.solvers.sensors.kinds import Kind
from kinetree.solvers.sensors.kinds.bodies import (
    ANGULAR_ACCELERATION,
    ANGULAR_VELOCITY,
    ORIENTATION,
)
from kinetree.solvers.sensors.kinds.points import ACCELERATION, POSITION, VELOCITY

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output


def moving(
    quantity: str, sensor: Kind, unit: str, says: str, takes: tuple[str, ...], rank: int
) -> QuantityKind:
    """Return the declaration of a vector quantity that is read from a sensor, or computed relative
    to another body.
    """

    def sensed(builder: Builder, output: Output, wanted: Wanted) -> None:
        point = builder.vector(output.point)
        for each, axis in wanted:
            builder.add_sensor(
                each,
                sensor,
                builder.body[output.body or "ground"],
                point,
                axis=axis,
                frame=int(output.frame == "body"),
            )

    def computed(builder: Builder, label: str, output: Output) -> Vector:
        place = Place(
            builder,
            output.body or "ground",
            vector_of(builder, output.point, f"outputs.{label}.point"),
        )
        return in_axes(
            builder, output, place, relative(quantity, place, reference(builder, label, output))
        )

    return QuantityKind(quantity, unit, says, 3, ("body",), takes, computed, sensed, rank=rank)


def orientation_of(builder: Builder, output: Output, wanted: Wanted) -> None:
    for each, axis in wanted:
        builder.add_sensor(each, ORIENTATION, builder.body[output.body or "ground"], axis=axis)


def orientation(builder: Builder, label: str, output: Output) -> Quaternion:
    return relative_quaternion(
        reference(builder, label, output).quaternion(),
        Place(builder, output.body or "ground").quaternion(),
    )


def angles(builder: Builder, label: str, output: Output) -> Vector:
    return cardan(orientation(builder, label, output))


ANGLES = "of a body: successive turns about its x, y and z axis that lead to its axes"
SPIN = ("frame", "reference")
QUANTITIES = (
    moving("position", POSITION, "m", "of a point of a body", PLACED, 1),
    moving("velocity", VELOCITY, "m/s", "of a point of a body", PLACED, 2),
    moving("acceleration", ACCELERATION, "m/s2", "of a point of a body", PLACED, 3),
    QuantityKind(
        "orientation",
        "1",
        "of a body, as unit quaternion w, x, y, z",
        4,
        ("body",),
        ("reference",),
        orientation,
        orientation_of,
        rank=4,
    ),
    QuantityKind("angles", "rad", ANGLES, 3, ("body",), ("reference",), angles, rank=5),
    moving("angular_velocity", ANGULAR_VELOCITY, "rad/s", "of a body", SPIN, 6),
    moving("angular_acceleration", ANGULAR_ACCELERATION, "rad/s2", "of a body", SPIN, 7),
)
