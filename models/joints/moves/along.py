"""Translations along and rotations about an axis, by a coordinate or by a prescribed function of
time.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.joints.element_motion import Move
from kinetree.models.joints.elements import ElementForm
from kinetree.solvers.elements.kinds.rotate_t import KIND as ROTATE_T
from kinetree.solvers.elements.kinds.shift_q import KIND as SHIFT_Q
from kinetree.solvers.elements.kinds.shift_t import KIND as SHIFT_T


def held(element: ElementForm, coordinates: Sequence[E]) -> list[ElementForm]:
    """Return the element of a locked joint, with a prescribed constant amount instead of its
    coordinate.
    """
    kind = SHIFT_T if element.kind == SHIFT_Q else ROTATE_T
    return [ElementForm(kind, element.axis, (E(element.factor) * coordinates[0]).node)]  # type: ignore[arg-type]


MOVES = (
    Move("SHIFT_Q", "slide", ("m",), held),
    Move("ROTATE_Q", "turn", ("rad",), held),
    Move("SHIFT_T", "slide"),
    Move("ROTATE_T", "turn"),
)
