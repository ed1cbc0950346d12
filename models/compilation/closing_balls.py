"""Ball joints that close a loop by three constraint rows, without coordinates: a point of one body
stays at a point of another.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from kinetree.models.compilation.rigid_body_merging import mentioned, placed
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description, JointSpec

if TYPE_CHECKING:
    from kinetree.models.compilation.structure_builder import Builder

# what a spherical joint may have so that it closes a loop by the rows of a point alone
PLAIN_KEYS = {"parent", "child", "type", "at", "frame", "child_at", "child_frame", "cut"}


def plain_balls(
    description: Description, cuts: Sequence[str], locked: Collection[str]
) -> tuple[str, ...]:
    """Return the cut ball joints whose rotation nothing uses, in a description with one stage: no
    spring, damper or name elsewhere reads their coordinates, speeds or reactions.
    """
    balls = [
        name for name in cuts if name not in locked and is_plain_ball(description.joints[name])
    ]
    if not balls or description.stages:
        return ()
    said = mentioned(description) | {*description.starts}
    forms = {name: joint_elements(description.joints[name], name) for name in balls}
    return tuple(
        name
        for name, form in forms.items()
        if said.isdisjoint((name, *form.coordinates, *form.speeds))
    )


def is_plain_ball(joint: JointSpec) -> bool:
    """Return whether a joint is a ball joint without any further property."""
    return joint.type == "spherical" and joint.model_fields_set <= PLAIN_KEYS


def ball_ends(builder: Builder, name: str) -> tuple[int, int, tuple[int, int]]:
    """Return the parent and child body of a ball joint, and the registers of its points on them."""
    joint = builder.description.joints[name]
    elements = joint_elements(joint, name).elements
    middle = next(k for k, element in enumerate(elements) if not element.kind.constant)
    before, after = builder.around.get(name, ((), ()))
    back = reversed((*elements[middle + 1 :], *after))
    ways = (*before, *elements[:middle]), tuple(element.turned() for element in back)
    first, second = (
        builder.vector([part.node for part in placed(way)[1]], f"joints.{name}") for way in ways
    )
    return builder.body[joint.parent], builder.body[joint.child], (first, second)
