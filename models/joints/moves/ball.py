"""The ball element: a unit quaternion w, x, y, z with the angular velocity in child axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.models.expressions.node_arithmetic import E, choose, const, function, root
from kinetree.models.expressions.nodes import Node
from kinetree.models.joints.element_motion import Move, Tangent
from kinetree.models.joints.elements import ElementForm
from kinetree.solvers.elements.kinds.rotate import KIND as ROTATE
from kinetree.solvers.layout import Op


def held(element: ElementForm, coordinates: Sequence[E]) -> list[ElementForm]:
    """Return the elements of a locked ball: a constant rotation about the axis of its quaternion; x
    if there is no rotation.
    """
    w, x, y, z = coordinates
    size = root(x * x + y * y + z * z)
    axis: tuple[Node, ...] = (choose(size > const(0.0), x, const(1.0)).node, y.node, z.node)
    return [ElementForm(ROTATE, axis, (const(2.0) * function(Op.ATAN2, size, w)).node)]  # type: ignore[arg-type]


def rates(q: Sequence[E], speeds: Sequence[E]) -> list[E]:
    """Return the quaternion rates from angular velocity in child axes."""
    w, x, y, z = q
    a, b, c = (0.5 * speed for speed in speeds)
    return [
        -(x * a + y * b + z * c),
        w * a + y * c - z * b,
        w * b + z * a - x * c,
        w * c + x * b - y * a,
    ]


def directions(q: np.ndarray) -> np.ndarray:
    """Return the matrix ∂q̇/∂ω of a quaternion q."""
    w, x, y, z = q
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def turned(quaternion: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return a unit quaternion after a further rotation given in child axes."""
    size = np.linalg.norm(angle)
    part = 0.5 * np.sinc(size / (2 * np.pi)) * angle
    w, axis = quaternion[0], quaternion[1:]
    c = np.cos(size / 2)
    result = np.concatenate(([w * c - axis @ part], w * part + c * axis + np.cross(axis, part)))
    return result / np.linalg.norm(result)


def turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the rotation vector in child axes that leads from unit quaternion a to b, at most half
    a revolution.
    """
    w = a @ b
    axis = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0.0:
        w, axis = -w, -axis
    size = float(np.linalg.norm(axis))
    return 2.0 * np.arctan2(size, w) / size * axis if size > 0.0 else np.zeros(3)


def skew(w: np.ndarray) -> np.ndarray:
    """Return the matrix of w×."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def transport(u: np.ndarray) -> np.ndarray:
    """Return the matrix that gives the rate of a small rotation δ under angular velocity ω, δω -
    ω×δ.
    """
    return -skew(u)


TURNS = ("turn_x", "turn_y", "turn_z")
TANGENT = Tangent(TURNS, ("rad/s",) * 3, rates, directions, turned, turn_between, transport)
MOVES = (
    Move("BALL", "ball", ("1",) * 4, held, TANGENT),
    Move("BALL_BACK", "ball", ("1",) * 4, held, TANGENT),
)
