"""The result of a statics computation: coordinates, loads, reactions, modes, stability, neutral
directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cholesky, eig, eigh, solve_triangular

from kinetree.models.analysis.linearization import Linear, Modes, linearize
from kinetree.models.analysis.modal import balanced_matrix
from kinetree.models.system.local_coordinates import Evaluation

if TYPE_CHECKING:
    from kinetree.models.system.system import System

FLAT = 1e-9  # stiffness relative to the largest one (in the metric of the masses) below which nothing holds a direction
FLAT_TREE = 1e-12  # the same without closed loops, whose projection blurs the slopes
STILL = 1e-9  # 1/s²: a system whose largest stiffness per mass is smaller is held by nothing
GROWTH = 1e-5  # part of the matrix: up to that a multiple zero comes out of the eigenvalue problem
KEEPS = 1e-12  # 1/s, part of its size: what changes less at standstill keeps its value
SLOPE_ROUNDING = 1e-11  # relative error of slopes, a few times that of loops that are projected
SHARE = 0.3  # part of the largest component from which a coordinate is named


@dataclass(frozen=True)
class Equilibrium:
    """A static equilibrium with its reactions and stability."""

    coordinates: dict[str, float]
    states: dict[str, float]
    outputs: dict[str, float]
    forces: dict[str, float]  # values of force elements and contacts
    reactions: dict[
        str, tuple[float, ...]
    ]  # by joint, cut or not: force and moment on its child, about the origin and in the axes of the child
    t: float
    q: np.ndarray
    residual: (
        float  # largest force left as part of the weight, or rate of a state relative to the state
    )
    iterations: int
    linear: Linear
    eigenvalues: np.ndarray  # of the linearised motion
    undetermined: tuple[
        str, ...
    ]  # local coordinates and states along which nothing holds the mechanism
    directions: tuple[dict[str, float], ...]  # the directions themselves, the largest coordinate 1
    system: System = field(repr=False, compare=False)

    @property
    def stable(self) -> bool:
        """Return whether no mode of small motions grows."""
        return not self.growing.size

    @cached_property
    def growing(self) -> np.ndarray:
        """Return the eigenvalues whose positive real part exceeds their rounding error."""
        if self.linear.conservative:
            return self.eigenvalues[np.real(self.eigenvalues) > 0.0]
        values, errors = eigenvalue_errors(self.linear.A)
        return values[np.real(values) > errors]

    @property
    def stability(self) -> str:
        """Return 'stable', 'unstable', or 'indifferent' for neutral stability."""
        return ("indifferent" if self.undetermined else "stable") if self.stable else "unstable"

    @property
    def modes(self) -> Modes:
        """Return all modes of small oscillation, slowest first."""
        zero = (
            GROWTH * float(np.abs(self.eigenvalues).max(initial=0.0)) if self.undetermined else 0.0
        )
        return Modes(
            mode
            for mode in self.linear.modes()
            if mode.eigenvalue.imag > max(zero, GROWTH * abs(mode.eigenvalue))
        )

    def __repr__(self) -> str:
        from kinetree.models.language.word_lists import listed
        from kinetree.models.result.number_format import written

        values = [f"{name} = {written(x, 5)}" for name, x in self.coordinates.items()]
        modes = [f"{written(mode.frequency, 4)} Hz" for mode in self.modes]
        parts = [self.stability, listed(values), *([f"modes {listed(modes)}"] if modes else [])]
        return f"Equilibrium({self.system.name!r}: {'; '.join(parts)})"

    def _repr_html_(self) -> str:
        from kinetree.models.scene.notebook import rest_html

        return rest_html(self)

    def to_dict(self) -> dict:
        """Return the equilibrium as plain data for JSON."""
        values = [
            {"real": float(value.real), "imaginary": float(value.imag)}
            for value in self.eigenvalues
        ]
        return {
            "coordinates": self.coordinates,
            "states": self.states,
            "outputs": self.outputs,
            "forces": self.forces,
            "reactions": {name: list(wrench) for name, wrench in self.reactions.items()},
            "residual": self.residual,
            "iterations": self.iterations,
            "stable": self.stable,
            "stability": self.stability,
            "undetermined": list(self.undetermined),
            "modes": [
                {
                    "frequency": m.frequency,
                    "damping": m.damping,
                    "shape": {k: abs(a) for k, a in m.shape.items()},
                }
                for m in self.modes
            ],
            "eigenvalues": values,
        }


def equilibrium_record(
    system: System,
    t: float,
    q: np.ndarray,
    x: np.ndarray,
    inputs: Mapping[str, float] | None,
    residual: float,
    iterations: int,
) -> Equilibrium:
    """Return the data of the equilibrium (q, x)."""
    c, zero = system.compiled, np.zeros(system.n)
    states = dict(zip(c.states, map(float, x), strict=True))
    linear = linearize(system, t, q, None, inputs, (), states, at_rest=True)
    evaluation = Evaluation(system, t, inputs)
    evaluation.outputs(q, zero, x)
    val = evaluation.instance.ws.val
    names, directions = neutral_directions(linear, FLAT if c.loops else FLAT_TREE)
    return Equilibrium(
        coordinates=dict(zip(system.coordinates, map(float, q), strict=True)),
        states=states,
        outputs={column.name: float(val[column.register]) for column in c.outputs},
        forces={
            label: float(val[c.registers[f"force('{label}')"]])
            for label in system.description.forces
            if f"force('{label}')" in c.registers
        },
        reactions={
            joint: tuple(map(float, wrench)) for joint, wrench in system.reactions_found().items()
        },
        t=t,
        q=q,
        residual=residual,
        iterations=iterations,
        linear=linear,
        eigenvalues=linear.eigenvalues,
        undetermined=names,
        directions=directions,
        system=system,
    )


def eigenvalue_errors(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of a matrix and how far rounding of its entries can move them.

    An eigenvalue moves by |ΔA|/|yᴴx| with its unit vectors x and y. For a multiple zero that is
    infinite, and the bound is a root of the rounding: at most GROWTH times the matrix norm.
    """
    if not A.size:
        return np.zeros(0, dtype=complex), np.zeros(0)
    balanced = balanced_matrix(A)[0]
    found: Any = eig(balanced, left=True, right=True)
    values, left, right = found
    size = SLOPE_ROUNDING * float(np.linalg.norm(balanced, 2))
    along = np.abs((left.conj() * right).sum(axis=0))
    return values, np.minimum(size / np.maximum(along, 1e-300), GROWTH / SLOPE_ROUNDING * size)


def neutral_directions(
    linear: Linear, least: float = FLAT
) -> tuple[tuple[str, ...], tuple[dict[str, float], ...]]:
    """Return names and vectors of the neutral directions, the scaled null space of ∂(a, ẋ)/∂(y, x).

    Vectors keep their units, and the largest mechanical coordinate is 1. A direction counts as
    neutral if its stiffness is below `least` times the largest.
    """
    f = len(linear.coordinates)
    if not linear.A.size:
        return (), ()
    kept = [*range(f), *range(2 * f, linear.A.shape[0])]
    J = linear.A[np.ix_([*range(f, 2 * f), *kept[f:]], kept)]
    sizes = np.concatenate((np.ones(f), linear.sizes))
    for k in f + np.flatnonzero(memory_states(J[f:], sizes, np.zeros(linear.sizes.size))):
        J[k, :f], J[k, k] = linear.A[f + k, f : 2 * f], -1.0
    W = np.eye(len(kept))
    if f:
        W[:f, :f] = solve_triangular(cholesky(linear.mass, lower=True), np.eye(f), lower=True).T
    W[f:, f:] = np.diag(linear.sizes)  # pascals and radians are not compared
    S = np.linalg.solve(W, J @ W)
    scale = max(float(np.abs(S[:f, :f]).max(initial=0.0)), STILL)
    if len(kept) == f:
        sizes, vectors = eigh(0.5 * (S + S.T))
    else:
        _, sizes, rows = np.linalg.svd(S / np.maximum(np.abs(S).max(axis=1, keepdims=True), STILL))
        vectors, scale = rows.T, 1.0
    flat = (W @ vectors)[:, np.abs(sizes) < least * scale]
    names = (*linear.local, *linear.states[2 * f :])
    units = np.concatenate((np.ones(len(linear.local)), linear.sizes))
    directions, large = [], []
    for direction in separated_basis(
        np.vstack((linear.tangent @ flat[:f], flat[f:])) / units[:, None]
    ).T:
        large += [name for name, value in zip(names, direction, strict=True) if abs(value) > SHARE]
        values = direction * units
        moving = np.abs(values[: len(linear.local)]).max(initial=0.0)
        values = values / (moving if moving > 1e-6 else np.abs(values).max())
        told = zip(names, values, direction, strict=True)
        directions.append(
            {name: float(value) + 0.0 for name, value, part in told if abs(part) > 1e-6}
        )
    return tuple(dict.fromkeys(large)), tuple(directions)


def largest_growth(M: np.ndarray, J: np.ndarray, f: int) -> float:
    """Return the largest positive eigenvalue of ∂a/∂y in the mass metric; 0 if there is none."""
    if not f:
        return 0.0
    reduced = J[:f, :f] - J[:f, f:] @ np.linalg.pinv(J[f:, f:], rcond=FLAT) @ J[f:, :f]
    L = cholesky(M, lower=True)
    S = L.T @ reduced @ solve_triangular(L, np.eye(f), lower=True).T
    values = eigh(0.5 * (S + S.T), eigvals_only=True)
    return float(values[-1]) if values[-1] > 1e-6 * float(np.abs(values).max()) + STILL else 0.0


def memory_states(J: np.ndarray, sizes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return a mask of states that keep any value at standstill, such as the deflection of tyres
    and friction elements, and counters.

    J contains the derivatives of their rates by positions and states at zero speeds.
    """
    own = sizes[sizes.size - rates.size :]
    still = np.abs(J * sizes).max(axis=1, initial=0.0) <= KEEPS * own
    return still & (np.abs(rates) <= KEEPS * own)


def separated_basis(basis: np.ndarray) -> np.ndarray:
    """Return a unique basis of a null space in which every vector has a leading component 1."""
    found = basis.copy()
    for k in range(found.shape[1]):
        row, column = np.unravel_index(np.abs(found[:, k:]).argmax(), found[:, k:].shape)
        found[:, [k, k + column]] = found[:, [k + column, k]]
        found[:, k] /= found[row, k]
        others = np.arange(found.shape[1]) != k
        found[:, others] -= np.outer(found[:, k], found[row, others])
    return (
        found / found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
        if found.size
        else found
    )
