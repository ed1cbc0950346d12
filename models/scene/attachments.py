"""Attachment points of joints and forces on bodies, with numeric parameter values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.models.compilation.compile import parameter_values
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description, JointSpec
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.forces.kinds import KINDS
from kinetree.models.joints.elements import ElementForm
from kinetree.models.joints.moves import MOVES
from kinetree.models.language.parts.base_table import ORIGIN
from kinetree.solvers.elements.kinds.rotate import KIND as ROTATE
from kinetree.solvers.elements.kinds.shift import KIND as SHIFT


class Numbers:
    """Numeric values of expressions over parameters; NaN for expressions with other variables."""

    def __init__(self, description: Description, more: Mapping[str, float] | None = None):
        self.values = parameter_values(description) | dict(more or {})

    def number(self, value: Any, otherwise: float = 0.0) -> float:
        try:
            return evaluate_constant(value, self.values)
        except ExpressionError:
            return otherwise

    def known(self, value: Any) -> float | None:
        """Return the value; None if it depends on more than parameters."""
        found = self.number(value, np.nan)
        return None if np.isnan(found) else found

    def vector(self, values: Sequence[Any]) -> np.ndarray:
        return np.array([self.number(each) for each in values])


@dataclass(frozen=True)
class Move:
    """One degree of freedom of a joint: translation along or rotation about `axis`, in axes of
    parent and child.
    """

    kind: str
    axis: np.ndarray
    on_child: np.ndarray
    coordinate: str


@dataclass(frozen=True)
class Place:
    """A joint in a scene: the points of parent and child that coincide when its translations are
    zero.
    """

    joint: str
    parent: str
    child: str
    on_parent: np.ndarray
    on_child: np.ndarray
    moves: tuple[Move, ...] = field(default=())

    def count(self, kind: str) -> int:
        return sum(move.kind == kind for move in self.moves)


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation matrix about an axis: maps components after to components before the
    rotation.
    """
    u = axis / (np.linalg.norm(axis) or 1.0)
    K = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def place_of(name: str, joint: JointSpec, numbers: Numbers) -> Place:
    """Return the attachment points of a joint from its elements; those before the first moving one
    belong to the parent.
    """
    form = joint_elements(joint, name)
    first = next(
        (k for k, each in enumerate(form.elements) if each.kind in MOVES), len(form.elements)
    )
    last = max((k for k, each in enumerate(form.elements) if each.kind in MOVES), default=-1)
    on_parent, R = fixed(form.elements[:first], numbers)
    moves: list[Move] = []
    back, B = fixed(form.elements[last + 1 :], numbers) if last >= 0 else (np.zeros(3), np.eye(3))
    turn = R
    for element in form.elements[first : last + 1]:
        if element.kind not in MOVES:
            turn = turn @ fixed((element,), numbers)[1]
            continue
        axis = np.array([0.0, 0.0, 1.0]) if element.axis is None else numbers.vector(element.axis)
        axis = axis / (np.linalg.norm(axis) or 1.0)
        coordinate = "" if element.coordinate is None else form.coordinates[element.coordinate]
        moves.append(Move(MOVES[element.kind].look, turn @ axis, B.T @ axis, coordinate))
    return Place(name, joint.parent, joint.child, on_parent, -B.T @ back, tuple(moves))


def fixed(elements: Sequence[ElementForm], numbers: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Return translation and rotation of a sequence of constant elements."""
    p, R = np.zeros(3), np.eye(3)
    for element in elements:
        axis = numbers.vector(element.axis or (0.0, 0.0, 0.0))
        if element.kind == SHIFT:
            p = p + R @ axis
        elif element.kind == ROTATE:
            R = R @ turned(axis, numbers.number(element.amount))
    return p, R


def places(description: Description, numbers: Numbers) -> list[Place]:
    """Return the attachment points of all joints."""
    return [place_of(name, joint, numbers) for name, joint in description.joints.items()]


def held_points(description: Description, numbers: Numbers) -> dict[str, list[np.ndarray]]:
    """Return the points of bodies that forces, actuators and outputs refer to."""
    found: dict[str, list[np.ndarray]] = {}
    for part in (
        *description.forces.values(),
        *description.actuators.values(),
        *description.hydraulics.values(),
    ):
        for end in (*(getattr(part, "between", None) or ()), *getattr(part, "over", ())):
            found.setdefault(end.body, []).append(numbers.vector(end.point))
    for force in description.forces.values():
        body, point = getattr(force, "body", None), getattr(force, "point", ORIGIN)
        if body is not None and KINDS[force.kind].parts is None:  # others draw what stands there
            found.setdefault(body, []).append(numbers.vector(point))
    for output in description.outputs.values():
        if output.quantity == "position" and output.body is not None:
            found.setdefault(output.body, []).append(numbers.vector(output.point))
    return found


def distinct(points: Sequence[np.ndarray], closer: float) -> list[np.ndarray]:
    """Return the points without those closer than `closer` to an earlier one."""
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > closer for other in kept):
            kept.append(point)
    return kept
