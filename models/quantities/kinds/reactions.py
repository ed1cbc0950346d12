"""Measured joint reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.expressions.internal_names import hidden
from kinetree.models.expressions.measurement_frames import Place
from kinetree.models.expressions.node_arithmetic import name
from kinetree.models.expressions.vectors import Vector
from kinetree.models.quantities.measurement_frame import in_axes
from kinetree.models.quantities.quantity_kind import QuantityKind, Wanted
from kinetree.solvers.sensors.kinds.forces import REACTION_FORCE, REACTION_MOMENT

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder
    from kinetree.models.description.output_parts import Output


def measure_reaction(
    builder: Builder, joint: str, moment: bool, wanted: Wanted, frame: int
) -> None:
    """Add sensors for the reaction of a joint (tree joint or cut) on its child, about the origin of
    the child's frame.

    Components are along the axes of the ground (frame 0) or of the child (1).
    """
    kind = REACTION_MOMENT if moment else REACTION_FORCE
    i = builder.joint_body[joint]
    turned = builder.topology.reversed[i - 1]
    child = builder.body[builder.description.joints[joint].child] if turned else 0
    for each, axis in wanted:
        builder.add_sensor(each, kind, i, b=child, point_b=int(turned), axis=axis, frame=frame)


def sensed(builder: Builder, output: Output, wanted: Wanted) -> None:
    measure_reaction(
        builder, output.joint or "", output.part != "force", wanted, int(output.frame == "body")
    )


def computed(builder: Builder, label: str, output: Output) -> Vector:
    names = [f"{hidden(f'outputs.{label}', 'reaction')}[{k}]" for k in (1, 2, 3)]
    wanted = list(zip(names, range(3), strict=True))
    measure_reaction(builder, output.joint or "", output.part != "force", wanted, 0)
    return in_axes(
        builder,
        output,
        Place(builder, builder.description.joints[output.joint or ""].child),
        Vector(*map(name, names)),
    )


SAYS = "force or moment that a joint transmits to its child, about the child's origin"
QUANTITIES = (
    QuantityKind(
        "reaction",
        "N",
        SAYS,
        3,
        ("joint",),
        ("part", "frame"),
        computed,
        sensed,
        moment=True,
        rank=10,
    ),
)
