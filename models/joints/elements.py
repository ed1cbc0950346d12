"""Elementary transforms of joints with their amounts, and the geometry of their axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.language.numbers_and_expressions import AXES, Expression
from kinetree.solvers.elements.kinds import BY_NAME, Kind
from kinetree.solvers.elements.kinds.rotate_q import KIND as ROTATE_Q
from kinetree.solvers.elements.kinds.shift_q import KIND as SHIFT_Q

Amount = float | str
Direction = tuple[Amount, Amount, Amount]


class JointProblem(ValueError):
    """Raised for a joint that cannot be expanded to elements."""

    def __init__(self, key: str, found: str, expected: str, hint: str = ""):
        super().__init__(f"{key}: found {found}, expected {expected}")
        self.key, self.found, self.expected, self.hint = key, found, expected, hint


@dataclass(frozen=True)
class ElementForm:
    """One element of a joint: a constant vector, or motion along or about `axis` by an expression
    or a coordinate.
    """

    kind: Kind
    axis: Direction | None = None
    amount: Amount | None = None
    coordinate: int | None = None  # local index; of the first one for BALL and FREE
    factor: Amount = 1.0

    def turned(self) -> ElementForm:
        """Return the element reversed, from child to parent; the sense of its coordinates does not
        change.
        """
        kind = BY_NAME[self.kind.back]
        if self.kind.constant and not self.kind.turns:
            x, y, z = self.axis or (0.0, 0.0, 0.0)
            return ElementForm(kind, axis=(negated(x), negated(y), negated(z)))
        amount = None if self.amount is None else negated(self.amount)
        return ElementForm(
            kind,
            self.axis,
            amount,
            self.coordinate,
            1.0 if self.coordinate is None else negated(self.factor),
        )


@dataclass(frozen=True)
class JointForm:
    """A joint expanded to elements, with names and start values of its coordinates and speeds."""

    elements: tuple[ElementForm, ...] = ()
    coordinates: tuple[str, ...] = ()
    speeds: tuple[str, ...] = ()
    starts: tuple[Amount, ...] = ()
    start_speeds: tuple[Amount, ...] = ()
    quaternion: bool = False
    rotors: tuple[Amount, ...] = ()  # inertias of motors reflected to the speeds; none: no motors


def turn(axis: Direction, coordinate: int = 0) -> ElementForm:
    """Return a rotation about an axis by a coordinate."""
    return ElementForm(ROTATE_Q, axis=axis, coordinate=coordinate)


def slide(axis: Direction, coordinate: int = 0, factor: Amount = 1.0) -> ElementForm:
    """Return a shift along an axis by a coordinate, or by factor times a coordinate."""
    return ElementForm(SHIFT_Q, axis=axis, coordinate=coordinate, factor=factor)


def negated(amount: Any) -> Any:
    """Return the negative of a number or expression of a description."""
    return -amount if isinstance(amount, (float, int)) else (-E(amount)).node


def direction(axis: Sequence[Amount] | None) -> Direction:
    x, y, z = axis or AXES["z"]
    return (x, y, z)


def nonzero(axis: Direction, key: str) -> Direction:
    """Return the axis; raises JointProblem for a zero vector, which has no direction."""
    if all(component == 0.0 for component in axis):
        raise JointProblem(key, "an axis of length 0", "a direction")
    return axis


def scaled(axis: Direction, amount: Amount) -> Direction:
    """Return the vector of given length along an axis."""
    if not any(isinstance(number, str) for number in (*axis, amount)):
        length = math.hypot(*(float(component) for component in axis))
        x, y, z = (float(component) / length * float(amount) for component in axis)
        return (x, y, z)
    length = "sqrt(" + "+".join(f"({component})**2" for component in axis) + ")"
    x, y, z = (
        0.0 if component == 0.0 else Expression(f"({amount})*({component})/{length}")
        for component in axis
    )
    return (x, y, z)


def perpendiculars(axis: Direction) -> tuple[Direction, Direction]:
    """Return two unit vectors that complete the axis to a right-handed frame; x, y for the z axis."""
    if any(isinstance(component, str) for component in axis):
        raise JointProblem(
            "axis",
            "an expression",
            "numbers for a planar joint",
            "turn the joint frame by `frame` instead",
        )
    numbers = [float(component) for component in axis]
    length = math.hypot(*numbers)
    u = [number / length for number in numbers]
    largest = max(range(3), key=lambda k: abs(u[k]))
    e = [float(k == (largest + 1) % 3) for k in range(3)]
    along = sum(a * b for a, b in zip(e, u, strict=True))
    e = [a - along * b for a, b in zip(e, u, strict=True)]
    size = math.hypot(*e)
    a = (e[0] / size, e[1] / size, e[2] / size)
    return a, (u[1] * a[2] - u[2] * a[1], u[2] * a[0] - u[0] * a[2], u[0] * a[1] - u[1] * a[0])
