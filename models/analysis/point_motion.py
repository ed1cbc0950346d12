"""Position, velocity and acceleration of a point of a body, with its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.models.engine.instance import shaped
from kinetree.solvers import layout as L
from kinetree.solvers.model_records import HEADER

if TYPE_CHECKING:
    from kinetree.models.engine.instance import Instance
    from kinetree.models.system.system import System


class PointMotion(NamedTuple):
    """Motion of a point fixed to a body; vectors in ground axes."""

    position: np.ndarray  # m
    velocity: np.ndarray  # m/s
    acceleration: np.ndarray  # m/s²
    rotation: np.ndarray  # (3, 3) of the body: components in its axes to components in ground axes
    angular_velocity: np.ndarray  # rad/s
    angular_acceleration: np.ndarray  # rad/s²
    jacobian: np.ndarray  # (3, n): velocity by speeds
    turning: np.ndarray  # (3, n): angular velocity by speeds


def point_motion(system: System, instance: Instance, body: str, at: Sequence[float]) -> PointMotion:
    """Return the motion of the point `at` (body axes) after an evaluation of all outputs."""
    if body not in system.bodies:
        raise KeyError(f"'{body}' is not a body; bodies: {', '.join(system.bodies)}")
    ws, i = instance.ws, system.bodies.index(body) + 1
    rows, columns = ws.row.reshape(-1, L.ROW), ws.col.reshape(-1, L.COLUMN)
    row = rows[i]
    R = row[L.W_R : L.W_R + 9].reshape(3, 3).copy()
    part = {
        k: row[k : k + 3].copy() for k in (L.W_P, L.W_V, L.W_OM, L.W_AL, L.W_A0, L.W_DA, L.W_DB)
    }
    r = R @ shaped(at, 3, "at")
    omega, alpha = part[L.W_OM], part[L.W_AL] + part[L.W_DA]
    gravity = ws.val[int(HEADER.of(instance.ints).gravity) :][:3]
    acceleration = (
        part[L.W_A0]
        + part[L.W_DB]
        + gravity
        + np.cross(alpha, r)
        + np.cross(omega, np.cross(omega, r))
    )
    position = part[L.W_P] + r
    jacobian, turning = np.zeros((3, system.n)), np.zeros((3, system.n))
    ends = system._freedom_ends()
    while i > 0:
        for j in range(int(ends[i - 1]), int(ends[i])):
            turning[:, j] = columns[j, L.C_A : L.C_A + 3]
            jacobian[:, j] = columns[j, L.C_L : L.C_L + 3] + np.cross(
                turning[:, j], position - rows[i, L.W_P : L.W_P + 3]
            )
        i = system.parents[i - 1]
    return PointMotion(
        position, part[L.W_V] + np.cross(omega, r), acceleration, R, omega, alpha, jacobian, turning
    )
