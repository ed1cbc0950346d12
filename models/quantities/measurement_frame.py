"""Reference body and axes of measured quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.measurement_frames import GROUND_AXES, Place, resolved
from kinetree.models.expressions.vectors import Vector, vector_of

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output


def reference(builder: Builder, label: str, output: Output) -> Place:
    """Return the reference point of a measured quantity."""
    if output.reference is None:
        return Place(builder, "ground")
    return Place(
        builder,
        output.reference.body,
        vector_of(builder, output.reference.point, f"outputs.{label}.reference"),
    )


def in_axes(builder: Builder, output: Output, measured: Place | None, vector: Vector) -> Vector:
    """Return a vector, given in ground axes, in the axes of an output."""
    if output.frame == "body":
        return resolved(vector, measured.axes() if measured else GROUND_AXES)
    return resolved(vector, Place(builder, output.frame).axes())
