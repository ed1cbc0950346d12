"""Locked joints, whose coordinates are constants: every moving element becomes constant or
prescribed by the value of a `locked(...)` register.
"""

from __future__ import annotations

from kinetree.models.expressions.node_arithmetic import name
from kinetree.models.joints.elements import ElementForm, JointForm
from kinetree.models.joints.moves import MOVES


def can_lock(element: ElementForm) -> bool:
    """Return whether locking its joint fixes an element."""
    move = MOVES.get(element.kind)
    return move is not None and move.locked is not None and element.coordinate is not None


def locked_form(form: JointForm) -> JointForm:
    """Return the form of a joint without coordinates."""
    elements: list[ElementForm] = []
    for element in form.elements:
        move, first = MOVES.get(element.kind), element.coordinate
        if move is None or move.locked is None or first is None:
            elements.append(element)
        else:
            elements += move.locked(
                element,
                [
                    name(f"locked({each})")
                    for each in form.coordinates[first : first + len(move.units)]
                ],
            )
    return JointForm(tuple(elements))
