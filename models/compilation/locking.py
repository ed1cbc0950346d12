"""A joint whose coordinates are constants: every moving element becomes a constant or given one with the value of a `locked(...)` register."""

from __future__ import annotations

from kinetree.models.compilation.algebra import E, choose, const, function, name, root
from kinetree.models.expressions.nodes import Node
from kinetree.models.joints.elements import ElementForm, JointForm
from kinetree.solvers.layout import Element, Op


def locked_form(form: JointForm) -> JointForm:
    """The form without coordinates."""
    elements: list[ElementForm] = []
    for element in form.elements:
        if element.coordinate is None:
            elements.append(element)
        elif element.kind in (Element.BALL, Element.FREE):
            elements += locked_quaternion(form.coordinates[element.coordinate :], element.kind == Element.FREE)
        else:
            amount = E(element.factor) * name(f"locked({form.coordinates[element.coordinate]})")
            kind = Element.SHIFT_T if element.kind == Element.SHIFT_Q else Element.ROTATE_T
            elements.append(ElementForm(kind, element.axis, amount.node))  # type: ignore[arg-type]
    return JointForm(tuple(elements))


def locked_quaternion(coordinates: tuple[str, ...], free: bool) -> list[ElementForm]:
    """Constant shift and rotation about the axis of a quaternion; the axis of no rotation is x."""
    held = [name(f"locked({c})") for c in coordinates]
    elements = []
    if free:
        elements.append(ElementForm(Element.SHIFT, tuple(h.node for h in held[:3])))  # type: ignore[arg-type]
        held = held[3:]
    w, x, y, z = held[:4]
    size = root(x * x + y * y + z * z)
    axis: tuple[Node, ...] = (choose(size > const(0.0), x, const(1.0)).node, y.node, z.node)
    angle = const(2.0) * function(Op.ATAN2, size, w)
    elements.append(ElementForm(Element.ROTATE, axis, angle.node))  # type: ignore[arg-type]
    return elements
