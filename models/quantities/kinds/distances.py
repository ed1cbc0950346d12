"""Measured quantities: distances of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.quantities.quantity_kind import QuantityKind, Wanted
from kinetree.solvers.sensors.kinds import Kind
from kinetree.solvers.sensors.kinds.points import DISTANCE, DISTANCE_RATE

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output


def between(sensor: Kind):
    def add(builder: Builder, output: Output, wanted: Wanted) -> None:
        assert output.between is not None
        a, b = output.between
        for each, _ in wanted:
            builder.add_sensor(
                each,
                sensor,
                builder.body[a.body],
                builder.vector(a.point),
                builder.body[b.body],
                builder.vector(b.point),
            )

    return add


QUANTITIES = (
    QuantityKind(
        "distance", "m", "of two points", needs=("between",), sensed=between(DISTANCE), rank=8
    ),
    QuantityKind(
        "distance_rate",
        "m/s",
        "of two points",
        needs=("between",),
        sensed=between(DISTANCE_RATE),
        rank=9,
    ),
)
