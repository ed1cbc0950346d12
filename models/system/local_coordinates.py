"""Local coordinates about a position: as many as degrees of freedom, with rotation vectors for
quaternions and independent coordinates for closed loops.

Without loops the local coordinates y are changes of the coordinates; for a quaternion the rotation
vector in child axes, for a free body also the shift in child axes. With loops the constraints give
the speeds u = T ẏ; independent speeds, selected by pivoting, have rows of the unit matrix in T.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.joints.element_motion import Tangent
from kinetree.models.joints.moves import MOVES
from kinetree.solvers import layout as L
from kinetree.solvers.elements.kinds import BY_CODE

if TYPE_CHECKING:
    from kinetree.models.system.system import System

CORRECTIONS = 30  # of the independent coordinates after a projection; each one gains a factor of the order of the step, three do for differences
EXACT = 1e-15
LARGEST_CONDITION = 1e2  # of independent speeds that are kept from one position to the next

Projection = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Evaluation:
    """Rates and outputs of a system at one time, with first-order states and inputs as arrays."""

    def __init__(self, system: System, t: float, inputs: Mapping[str, float] | None = None):
        self.system, self.t = system, t
        self.instance, c = system._fast, system.compiled
        self.instance.refuse_told(inputs)
        self.instance.set_inputs(inputs)
        self.inputs = self.instance.ws.val[[c.registers[name] for name in c.inputs]].copy()
        self.start_x = self.instance.ws.val[c.start_x : c.start_x + len(c.states)].copy()

    def place(
        self, q: np.ndarray, u: np.ndarray, x: np.ndarray, inputs: np.ndarray | None = None
    ) -> None:
        """Write a state and the inputs (other inputs if they are given) to the workspace."""
        c = self.system.compiled
        values = self.inputs if inputs is None else inputs
        self.instance.set_state(q, u, dict(zip(c.inputs, map(float, values), strict=True)))
        self.instance.ws.x[:] = x

    def call(
        self,
        entry: str,
        q: np.ndarray,
        u: np.ndarray,
        x: np.ndarray,
        inputs: np.ndarray | None = None,
    ) -> None:
        """Write a state and call an entry point for it."""
        self.place(q, u, x, inputs)
        self.instance.call(entry, 0, self.t)

    def outputs(self, q: np.ndarray, u: np.ndarray, x: np.ndarray) -> None:
        """Evaluate all outputs at a state, which counts as the start of a communication step."""
        self.place(q, u, x)
        self.instance.outputs(self.t)

    def begin(self, q: np.ndarray, u: np.ndarray, x: np.ndarray) -> None:
        """Start a communication step of the actuators at a state, storing the values that they
        hold.
        """
        self.outputs(q, u, x)
        registers = self.system.compiled.registers
        self.inputs[:] = self.instance.ws.val[
            [registers[name] for name in self.system.compiled.inputs]
        ]

    def project(self, q: np.ndarray, u: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and speeds projected onto the constraints for these states and inputs."""
        if self.system.compiled.loops:
            self.call("project", q, u, x)
            return self.instance.ws.q.copy(), self.instance.ws.u.copy()
        return q, u

    def residuals(
        self,
        level: int,
        q: np.ndarray,
        u: np.ndarray,
        x: np.ndarray,
        inputs: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the constraint residuals of positions (level 0) or speeds (level 1)."""
        self.place(q, u, x, inputs)
        self.instance.call("constraints", level, self.t)
        return self.instance.ws.loop_r.copy()

    @property
    def rated(self) -> list[int]:
        """Return the indices of the inputs whose time derivatives constraint rows use."""
        c = self.system.compiled
        return [k for k, name in enumerate(c.inputs) if f"slope({name})" in c.registers]

    @contextmanager
    def moving_input(self, k: int, rate: float = 0.0, bend: float = 0.0) -> Iterator[None]:
        """Context manager in which input k has given first and second derivatives, as from a host;
        the others are constant.
        """
        ws = self.instance.ws
        ws.given[:], ws.slope[:], ws.curve[:] = self.inputs, 0.0, 0.0
        ws.slope[k], ws.curve[L.CURVE * k] = rate, 0.5 * bend
        ws.head.given_at, ws.head.sloped = self.t, 2.0
        try:
            yield
        finally:
            ws.head.sloped = 0.0

    def rates(
        self, q: np.ndarray, u: np.ndarray, x: np.ndarray, inputs: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the derivatives u̇ and ẋ of a state."""
        self.call("accelerations", q, u, x, inputs)
        return np.concatenate((self.instance.ws.udot, self.instance.ws.xdot))


class Chart:
    """A chart: local coordinates about a position of a system."""

    def __init__(self, system: System, t: float, q: np.ndarray, project: Projection | None = None):
        self.system, self.t, self.q = system, t, q
        self.project = project or (lambda q, u: system.project(t, q, u))
        fields = model_fields(system.compiled.ints, system.compiled.floats)
        self.plain = [(j, int(k)) for j, k in enumerate(fields.u_q) if k >= 0]
        self.curved: list[
            tuple[Tangent, slice, slice]
        ] = []  # with the places of its coordinates and of its speeds
        for code, k, j in zip(
            fields.e_kind.tolist(), fields.e_q.tolist(), fields.e_u.tolist(), strict=True
        ):
            kind = BY_CODE[code]
            move = MOVES.get(kind)
            if move is not None and move.tangent is not None:
                self.curved.append(
                    (move.tangent, slice(k, k + kind.coordinates), slice(j, j + kind.speeds))
                )
        self.T, self.independent = self._tangent()

    def about(self, q: np.ndarray, t: float, project: Projection) -> Chart:
        """Return the chart about another position, with unchanged independent speeds if possible."""
        made = copy(self)
        made.q, made.t, made.project = q, t, project
        made.T, made.independent = made._tangent(self.independent)
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the local coordinates of all speeds."""
        names = {j: self.system.coordinates[k] for j, k in self.plain}
        for tangent, _, j in self.curved:
            joints = [speed.rpartition(".")[0] for speed in self.system.speeds[j]]
            names |= dict(
                zip(
                    range(j.start, j.stop),
                    (f"{joint}.{name}" for joint, name in zip(joints, tangent.names, strict=True)),
                    strict=True,
                )
            )
        return tuple(names[j] for j in range(self.system.n))

    def _tangent(self, wanted: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return T and the independent speeds, the wanted ones if possible. Singular values of an
        oblique projector are 0 or at least 1, which gives the rank.
        """
        n = self.system.n
        if not self.system.compiled.loops:
            return np.eye(n), np.arange(n)
        driven = self.project(self.q, np.zeros(n))[1]  # what rows that move by themselves ask for
        allowed = np.column_stack(
            [self.project(self.q, column)[1] - driven for column in np.eye(n)]
        )
        left, sizes, _ = np.linalg.svd(allowed)
        basis = left[:, : int((sizes > 0.5).sum())]
        if (
            wanted is not None
            and wanted.size == basis.shape[1]
            and np.linalg.cond(basis[wanted]) < LARGEST_CONDITION
        ):
            chosen = wanted
        else:
            _, order = qr(basis.T, mode="r", pivoting=True)  # type: ignore[misc]
            chosen = np.sort(order[: basis.shape[1]])
        T = np.linalg.solve(basis[chosen].T, basis.T).T
        T[chosen] = np.eye(chosen.size)
        return T, chosen

    def position(self, y: np.ndarray) -> np.ndarray:
        """Return the coordinates at local coordinates y, projected onto the constraints."""
        q = self.moved(self.q, self.T @ y)
        if self.system.compiled.loops:
            for _ in range(CORRECTIONS):
                q = self.project(q, np.zeros(self.system.n))[0]
                missing = y - self.local(q)[self.independent]
                if np.abs(missing).max(initial=0.0) <= EXACT:
                    break
                q = self.moved(q, self.T @ missing)
        return q

    def speeds(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the speeds at a position for given values v of the independent ones."""
        u = self.T @ v
        if self.system.compiled.loops and v.any():
            for _ in range(CORRECTIONS):
                u = self.project(q, u)[1]
                missing = v - u[self.independent]
                if np.abs(missing).max() <= EXACT * np.abs(v).max():
                    break
                u += self.T @ missing
        return u

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return the position reached by the speeds `step` in unit time, disregarding constraints."""
        q = q.copy()
        for j, k in self.plain:
            q[k] += step[j]
        for tangent, k, j in self.curved:
            q[k] = tangent.moved(q[k], step[j])
        return q

    def rates(self) -> np.ndarray:
        """Return ∂q̇/∂u at the chart's position, which equals ∂q/∂δ of the local coordinates δ of
        all speeds.
        """
        G = np.zeros((self.q.size, self.system.n))
        for j, k in self.plain:
            G[k, j] = 1.0
        for tangent, k, j in self.curved:
            G[k, j] = tangent.directions(self.q[k])
        return G

    def local(self, q: np.ndarray) -> np.ndarray:
        """Return the step that leads from the chart's position to q, the inverse of `moved`."""
        step = np.zeros(self.system.n)
        for j, k in self.plain:
            step[j] = q[k] - self.q[k]
        for tangent, k, j in self.curved:
            step[j] = tangent.between(self.q[k], q[k])
        return step

    def transport(self, u: np.ndarray) -> np.ndarray:
        """Return the matrix ∂δ̇/∂δ of the local coordinates δ about a moving position."""
        K = np.zeros((u.size, u.size))
        for tangent, _, j in self.curved:
            K[j, j] = tangent.transport(u[j])
        return K
