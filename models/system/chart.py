"""Local coordinates about a position: as many numbers as freedoms, quaternions by rotation vectors, closed loops by independent coordinates.

Without loops the local coordinates y are changes of the coordinates; a quaternion's are the rotation vector in child axes, a free body's also the
shift in child axes. With loops the constraints leave the speeds u = T ẏ; independent speeds, chosen by pivoting, have rows of the unit matrix in T.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from kinetree.models.compilation.blocks import model_fields
from kinetree.solvers.layout import Element

if TYPE_CHECKING:
    from kinetree.models.system.system import System

LOCAL = {"v": "shift", "w": "turn"}  # quaternion speeds NAME.vx, NAME.wx belong to local coordinates NAME.shift_x, NAME.turn_x
CORRECTIONS = 30  # of the independent coordinates after a projection; each one gains a factor of the order of the step, three do for differences
EXACT = 1e-15


class Evaluation:
    """Rates and outputs of a system at one time, first-order states and inputs as arrays."""

    def __init__(self, system: System, t: float, inputs: Mapping[str, float] | None = None):
        self.system, self.t = system, t
        self.instance, c = system._fast, system.compiled
        self.instance.set_inputs(inputs)
        self.inputs = self.instance.ws.val[[c.registers[name] for name in c.inputs]].copy()
        self.start_x = self.instance.ws.val[c.start_x : c.start_x + len(c.states)].copy()

    def call(self, entry: str, q: np.ndarray, u: np.ndarray, x: np.ndarray, inputs: np.ndarray | None = None) -> None:
        """Evaluate an entry point of a state."""
        c = self.system.compiled
        values = self.inputs if inputs is None else inputs
        self.instance.set_state(q, u, dict(zip(c.inputs, map(float, values), strict=True)))
        self.instance.ws.x[:] = x
        self.instance.call(entry, 0, self.t)

    def rates(self, q: np.ndarray, u: np.ndarray, x: np.ndarray, inputs: np.ndarray | None = None) -> np.ndarray:
        """u̇ and ẋ."""
        self.call("accelerations", q, u, x, inputs)
        return np.concatenate((self.instance.ws.udot, self.instance.ws.xdot))


class Chart:
    """Local coordinates about a position of a system."""

    def __init__(self, system: System, t: float, q: np.ndarray):
        self.system, self.t, self.q = system, t, q
        fields = model_fields(system.compiled.ints, system.compiled.floats)
        self.plain = [(j, int(k)) for j, k in enumerate(fields.u_q) if k >= 0]
        kinds = (Element.BALL, Element.FREE, Element.BALL_BACK)
        self.quaternion = [(int(kind), int(fields.e_q[e]), int(fields.e_u[e])) for e, kind in enumerate(fields.e_kind) if kind in kinds]
        self.T, self.independent = self._tangent()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the local coordinates of all speeds."""
        plain = {j: self.system.coordinates[k] for j, k in self.plain}
        return tuple(plain[j] if j in plain else local_name(speed) for j, speed in enumerate(self.system.speeds))

    def _tangent(self) -> tuple[np.ndarray, np.ndarray]:
        """T and the independent speeds; the singular values of an oblique projector are 0 or at least 1."""
        n = self.system.n
        if not self.system.compiled.loops:
            return np.eye(n), np.arange(n)
        allowed = np.column_stack([self.system.project(self.t, self.q, column)[1] for column in np.eye(n)])
        left, sizes, _ = np.linalg.svd(allowed)
        basis = left[:, : int((sizes > 0.5).sum())]
        _, order = qr(basis.T, mode="r", pivoting=True)  # type: ignore[misc]
        chosen = np.sort(order[: basis.shape[1]])
        T = np.linalg.solve(basis[chosen].T, basis.T).T
        T[chosen] = np.eye(chosen.size)
        return T, chosen

    def position(self, y: np.ndarray) -> np.ndarray:
        """Coordinates at the local coordinates y."""
        q = self.moved(self.q, self.T @ y)
        if self.system.compiled.loops:
            for _ in range(CORRECTIONS):
                q = self.system.project(self.t, q, np.zeros(self.system.n))[0]
                missing = y - self.local(q)[self.independent]
                if np.abs(missing).max(initial=0.0) <= EXACT:
                    break
                q = self.moved(q, self.T @ missing)
        return q

    def speeds(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Speeds at a position whose independent ones are v."""
        u = self.T @ v
        if self.system.compiled.loops and v.any():
            for _ in range(CORRECTIONS):
                u = self.system.project(self.t, q, u)[1]
                missing = v - u[self.independent]
                if np.abs(missing).max() <= EXACT * np.abs(v).max():
                    break
                u += self.T @ missing
        return u

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The position reached by the speeds `step` in unit time, constraints left aside."""
        q = q.copy()
        for j, k in self.plain:
            q[k] += step[j]
        for kind, k, j in self.quaternion:
            at = k
            if kind == Element.FREE:
                at, turn = k + 3, step[j + 3 : j + 6]
                q[k:at] += rotated(q[at : at + 4], step[j : j + 3])
            else:
                turn = step[j : j + 3]
            q[at : at + 4] = turned(q[at : at + 4], turn)
        return q

    def rates(self) -> np.ndarray:
        """∂q̇/∂u at the chart's position, which is ∂q/∂δ of the local coordinates δ of all speeds."""
        G = np.zeros((self.q.size, self.system.n))
        for j, k in self.plain:
            G[k, j] = 1.0
        for kind, k, j in self.quaternion:
            at, turn = (k + 3, j + 3) if kind == Element.FREE else (k, j)
            w, x, y, z = self.q[at : at + 4]
            G[at : at + 4, turn : turn + 3] = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
            if kind == Element.FREE:
                G[k : k + 3, j : j + 3] = np.column_stack([rotated(self.q[at : at + 4], axis) for axis in np.eye(3)])
        return G

    def local(self, q: np.ndarray) -> np.ndarray:
        """What `moved` needs to get from the chart's position to q."""
        step = np.zeros(self.system.n)
        for j, k in self.plain:
            step[j] = q[k] - self.q[k]
        for kind, k, j in self.quaternion:
            if kind == Element.FREE:
                inverse = self.q[k + 3 : k + 7] * (1, -1, -1, -1)
                step[j : j + 3] = rotated(inverse, q[k : k + 3] - self.q[k : k + 3])
                step[j + 3 : j + 6] = turn_between(self.q[k + 3 : k + 7], q[k + 3 : k + 7])
            else:
                step[j : j + 3] = turn_between(self.q[k : k + 4], q[k : k + 4])
        return step

    def transport(self, u: np.ndarray) -> np.ndarray:
        """∂δ̇/∂δ of the local coordinates δ about a moving position: a turn's rate is δω - ω×δ, a shift's δv + turn×v - ω×δ."""
        K = np.zeros((u.size, u.size))
        for kind, _, j in self.quaternion:
            turn = j + 3 if kind == Element.FREE else j
            if kind == Element.FREE:
                K[j : j + 3, turn : turn + 3] = -skew(u[j : j + 3])
                K[j : j + 3, j : j + 3] = -skew(u[turn : turn + 3])
            K[turn : turn + 3, turn : turn + 3] = -skew(u[turn : turn + 3])
        return K


def local_name(speed: str) -> str:
    """Name of the local coordinate whose rate is a quaternion joint's speed."""
    joint, _, suffix = speed.rpartition(".")
    return f"{joint}.{LOCAL[suffix[0]]}_{suffix[1:]}"


def skew(w: np.ndarray) -> np.ndarray:
    """The matrix of w×."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotated(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """A vector turned by a unit quaternion (w, x, y, z)."""
    w, axis = quaternion[0], quaternion[1:]
    cross = np.cross(axis, vector)
    return vector + 2 * (w * cross + np.cross(axis, cross))


def turned(quaternion: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """A unit quaternion after a turn given in child axes."""
    size = np.linalg.norm(angle)
    part = 0.5 * np.sinc(size / (2 * np.pi)) * angle
    w, axis = quaternion[0], quaternion[1:]
    c = np.cos(size / 2)
    result = np.concatenate(([w * c - axis @ part], w * part + c * axis + np.cross(axis, part)))
    return result / np.linalg.norm(result)


def turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The turn in child axes that leads from unit quaternion a to b, at most half a revolution."""
    w = a @ b
    axis = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0.0:
        w, axis = -w, -axis
    size = float(np.linalg.norm(axis))
    return 2.0 * np.arctan2(size, w) / size * axis if size > 0.0 else np.zeros(3)
