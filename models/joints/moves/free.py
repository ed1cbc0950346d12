"""The free element: x, y, z in parent axes and a unit quaternion, with velocity and angular
velocity in child axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.vectors import Vector
from kinetree.models.joints.element_motion import Move, Tangent
from kinetree.models.joints.elements import ElementForm
from kinetree.models.joints.moves import ball
from kinetree.solvers.elements.kinds.shift import KIND as SHIFT


def held(element: ElementForm, coordinates: Sequence[E]) -> list[ElementForm]:
    """Return the elements of a locked free joint: a constant shift and rotation."""
    at = ElementForm(SHIFT, tuple(each.node for each in coordinates[:3]))  # type: ignore[arg-type]
    return [at, *ball.held(element, coordinates[3:])]


def rates(q: Sequence[E], speeds: Sequence[E]) -> list[E]:
    """Return the coordinate rates: velocity in parent axes and quaternion rates."""
    (w, x, y, z), v = q[3:], Vector(*speeds[:3])
    turn = Vector(x, y, z)
    once = turn.cross(v)
    more = once.times(w).plus(turn.cross(once)).times(E(2.0) / (w * w + x * x + y * y + z * z))
    return [*v.plus(more), *ball.rates(q[3:], speeds[3:])]


def rotated(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return a vector rotated by a unit quaternion (w, x, y, z)."""
    w, axis = quaternion[0], quaternion[1:]
    cross = np.cross(axis, vector)
    return vector + 2 * (w * cross + np.cross(axis, cross))


def directions(q: np.ndarray) -> np.ndarray:
    """Return the matrix ∂q̇/∂(v, ω) of a free element."""
    G = np.zeros((7, 6))
    G[3:, 3:] = ball.directions(q[3:])
    G[:3, :3] = np.column_stack([rotated(q[3:], axis) for axis in np.eye(3)])
    return G


def moved(q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return the coordinates after a further shift and rotation, both in child axes."""
    return np.concatenate((q[:3] + rotated(q[3:], step[:3]), ball.turned(q[3:], step[3:])))


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the shift and the rotation vector, in child axes, that lead from a to b."""
    return np.concatenate(
        (rotated(a[3:] * (1, -1, -1, -1), b[:3] - a[:3]), ball.turn_between(a[3:], b[3:]))
    )


def transport(u: np.ndarray) -> np.ndarray:
    """Return the matrix that gives the rates of a small translation and rotation about a moving
    position.
    """
    K = np.zeros((6, 6))
    K[:3, 3:] = -ball.skew(u[:3])
    K[:3, :3] = K[3:, 3:] = -ball.skew(u[3:])
    return K


TANGENT = Tangent(
    ("shift_x", "shift_y", "shift_z", *ball.TURNS),
    ("m/s",) * 3 + ("rad/s",) * 3,
    rates,
    directions,
    moved,
    between,
    transport,
)
MOVES = (Move("FREE", "free", ("m",) * 3 + ("1",) * 4, held, TANGENT),)
