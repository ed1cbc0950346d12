"""Statics: the state of rest u̇(q, 0) = 0 nearest to the start, and the small motions about it.

Newton's method on the reduced accelerations a(y), y local coordinates of the constraint manifold (all speeds on a tree, projected ones with loops):
(s 1 - ∂a/∂y) Δy = a. The shift s >= 0 is the pseudo-transient term: it exceeds the largest positive eigenvalue of the symmetric part in the metric of
the masses, so that every step goes downhill and an unstable position is left; it is zero near a stable one, where convergence is quadratic.
First-order states keep their start values. Cost: 2n evaluations per iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from kinetree.models.compilation.blocks import model_fields
from kinetree.models.status import EvaluationError
from kinetree.solvers.layout import Element, Status

if TYPE_CHECKING:
    from kinetree.models.system import System

DIFFERENCE = 6e-6  # cube root of the unit roundoff: central differences lose least
LARGEST_STEP = 0.3  # rad or m per iteration, well within what a linearisation describes
FLAT = 1e-9  # relative size below which an eigenvalue of the stiffness counts as none


@dataclass
class Equilibrium:
    """A state of rest."""

    coordinates: dict[str, float]
    outputs: dict[str, float]
    q: np.ndarray
    residual: float  # largest acceleration left, relative to the largest one at the start or to gravity
    iterations: int
    eigenvalues: np.ndarray  # of the linearised motion
    stable: bool
    undetermined: tuple[str, ...] = ()  # speeds along which nothing holds the mechanism
    reactions: dict[str, tuple[float, ...]] = field(default_factory=dict)  # by body: force and moment of its joint at O_i, body axes

    @property
    def modes(self) -> list[tuple[float, float]]:
        """Frequency in Hz and damping ratio of every oscillation, slowest first."""
        oscillating = [value for value in self.eigenvalues if value.imag > 1e-6 * (1.0 + abs(value))]
        return sorted((abs(value) / (2 * np.pi), -value.real / abs(value)) for value in oscillating)

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return {
            "coordinates": self.coordinates,
            "outputs": self.outputs,
            "residual": self.residual,
            "iterations": self.iterations,
            "stable": self.stable,
            "undetermined": list(self.undetermined),
            "modes": [{"frequency": frequency, "damping": damping} for frequency, damping in self.modes],
            "reactions": {name: list(values) for name, values in self.reactions.items()},
        }


class Rest:
    """Accelerations at rest as a function of local coordinates about a position."""

    def __init__(self, system: System, inputs: Mapping[str, float] | None, t: float):
        self.system, self.inputs, self.t = system, inputs, t
        fields = model_fields(system.compiled.ints, system.compiled.floats)
        self.plain = [(j, int(k)) for j, k in enumerate(fields.u_q) if k >= 0]
        kinds = (Element.BALL, Element.FREE, Element.BALL_BACK)
        self.quaternion = [(int(kind), int(fields.e_q[e]), int(fields.e_u[e])) for e, kind in enumerate(fields.e_kind) if kind in kinds]

    def accelerations(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        return self.system.accelerations(self.t, q, u, inputs=self.inputs)

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The position reached by the speeds `step` in unit time, on the constraints."""
        q = q.copy()
        for j, k in self.plain:
            q[k] += step[j]
        for kind, k, j in self.quaternion:
            at = k + 3 if kind == Element.FREE else k
            turn = step[j + 3 : j + 6] if kind == Element.FREE else step[j : j + 3]
            if kind == Element.FREE:
                q[k : k + 3] += rotated(q[at : at + 4], step[j : j + 3])
            q[at : at + 4] = turned(q[at : at + 4], turn)
        return self.system.project(self.t, q, np.zeros(self.system.n))[0] if self.system.compiled.loops else q

    def tangent(self, q: np.ndarray) -> np.ndarray:
        """Columns that span the speeds the constraints allow."""
        n = self.system.n
        if not self.system.compiled.loops:
            return np.eye(n)
        allowed = np.column_stack([self.system.project(self.t, q, column)[1] for column in np.eye(n)])
        return np.linalg.svd(allowed)[0][:, : self.system.freedoms]

    def slopes(self, q: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂a/∂y and ∂a/∂ẏ by central differences."""
        zero = np.zeros(self.system.n)
        h = DIFFERENCE

        def difference(plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
            return T.T @ (plus - minus) / (2 * h)

        along = [(self.accelerations(self.moved(q, h * c), zero), self.accelerations(self.moved(q, -h * c), zero)) for c in T.T]
        moving = [(self.accelerations(q, h * c), self.accelerations(q, -h * c)) for c in T.T]
        return np.column_stack([difference(*pair) for pair in along]), np.column_stack([difference(*pair) for pair in moving])


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


def equilibrium(
    system: System, inputs: Mapping[str, float] | None = None, t: float | None = None, q: np.ndarray | None = None, iterations: int = 200
) -> Equilibrium:
    """The state of rest that is reached downhill from `q` (default: the start)."""
    rest = Rest(system, inputs, system.compiled.start_time if t is None else t)
    q = system.start()[0] if q is None else np.asarray(q, dtype=float).copy()
    zero = np.zeros(system.n)
    scale = max(1.0, float(np.abs(rest.accelerations(q, zero)).max(initial=0.0)))
    for k in range(iterations):
        T = rest.tangent(q)
        a = T.T @ rest.accelerations(q, zero)
        J, D = rest.slopes(q, T)
        ceiling, soft = curvature(T.T @ system.mass_matrix(rest.t, q) @ T, J)
        size = float(np.abs(a).max(initial=0.0)) / scale
        if size < 1e-11 or (k and size < 1e-8 and ceiling <= 0.0 and not shrinks(rest, q, T, J, a)):
            return report(rest, q, T, J, D, size, k, soft)
        shift = 1.5 * ceiling + 1e-3 * np.abs(J).max() * min(1.0, size) if ceiling > 0.0 else 0.0
        step = np.linalg.lstsq(shift * np.eye(a.size) - J, a, rcond=FLAT)[0]
        if np.abs(J @ step - shift * step + a).max(initial=0.0) > 0.1 * np.abs(a).max(initial=0.0):  # a force along a flat direction
            shift += np.abs(a).max() / LARGEST_STEP
            step = np.linalg.solve(shift * np.eye(a.size) - J, a)
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(T @ step).max()), 1e-300))
        q = shortened(rest, q, T, step, a, search=shift == 0.0)
    speed = system.speeds[int(np.abs(T @ a).argmax())]
    text = f"no state of rest found in {iterations} iterations: an acceleration of {size * scale:.3g} is left along {speed}"
    raise EvaluationError(text, Status.NO_CONVERGENCE)


def shrinks(rest: Rest, q: np.ndarray, T: np.ndarray, J: np.ndarray, a: np.ndarray) -> bool:
    """Does one more Newton step halve the accelerations? At the level of roundoff it does not."""
    step = np.linalg.lstsq(-J, a, rcond=FLAT)[0]
    after = T.T @ rest.accelerations(rest.moved(q, T @ step), np.zeros(rest.system.n))
    return bool(np.abs(after).max() < 0.5 * np.abs(a).max())


def shortened(rest: Rest, q: np.ndarray, T: np.ndarray, step: np.ndarray, a: np.ndarray, search: bool) -> np.ndarray:
    """The position after a step that lessens the accelerations, or that does not climb beyond the valley."""
    size = np.abs(a).max()
    for halving in range(12):
        part = step * 0.5**halving
        reached = rest.moved(q, T @ part)
        after = T.T @ rest.accelerations(reached, np.zeros(rest.system.n))
        if np.abs(after).max() < size or (not search and after @ part > -0.9 * abs(a @ part)):
            return reached
    return reached


def curvature(M: np.ndarray, J: np.ndarray) -> tuple[float, np.ndarray]:
    """Largest positive eigenvalue of the symmetric part of ∂a/∂y in the metric of the masses (0 if none), and the flat directions."""
    if not J.size:
        return 0.0, np.zeros((0, 0))
    L = cholesky(M, lower=True)
    S = L.T @ J @ solve_triangular(L, np.eye(len(L)), lower=True).T
    values, vectors = eigh(0.5 * (S + S.T))
    size = max(float(np.abs(values).max()), 1e-6)
    flat = np.abs(values) < 1e-6 * size
    return (float(values[-1]) if values[-1] > 1e-6 * size else 0.0), solve_triangular(L.T, vectors[:, flat])


def report(rest: Rest, q: np.ndarray, T: np.ndarray, J: np.ndarray, D: np.ndarray, size: float, iterations: int, soft: np.ndarray) -> Equilibrium:
    """Everything that is said about a state of rest."""
    system, n = rest.system, J.shape[0]
    A = np.block([[np.zeros((n, n)), np.eye(n)], [J, D]])
    eigenvalues = np.linalg.eigvals(A) if n else np.zeros(0)
    fastest = max(1.0, float(np.abs(eigenvalues).max(initial=0.0)))
    names = []
    for direction in (T @ soft).T if soft.size else ():
        largest = np.abs(direction).max()
        names += [name for name, value in zip(system.speeds, direction, strict=True) if abs(value) > 0.3 * largest]
    zero = np.zeros(system.n)
    reactions = system.reactions(rest.t, q, zero, inputs=rest.inputs)
    return Equilibrium(
        coordinates=dict(zip(system.coordinates, map(float, q), strict=True)),
        outputs=system.outputs(rest.t, q, zero, rest.inputs),
        q=q,
        residual=size,
        iterations=iterations,
        eigenvalues=eigenvalues,
        stable=bool((eigenvalues.real < 1e-5 * fastest).all()),
        undetermined=tuple(dict.fromkeys(names)),
        reactions={body: tuple(map(float, row)) for body, row in zip(system.bodies, reactions, strict=True)},
    )
