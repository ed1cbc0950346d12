"""Participation, controllability and observability of the modes of a linear system.

Participation of state k in mode i: |w_ik v_ki| over the sum, with left and right vectors w, v:
independent of the units of the states. Energy shares: of the kinetic energy at the largest speeds
of a mode, Re(conj(v_j) (M v)_j), coordinate by coordinate. Controllability of mode i by input m is
|w_i·b_m|, observability by output p is |c_p·v_i|, both in balanced coordinates and relative to the
largest of any mode (Popov, Belevitch, Hautus).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eig, eigvals, matrix_balance

from kinetree.models.analysis.linearization import Linear

NAMED = 0.05  # shares from which a state or coordinate is named
STANDING = 1e-9  # 1/s: what neither grows nor decays within a lifetime
QUASI_SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")
MAX_LISTED_NAMES = 4  # names that a sentence lists
HARDLY, NOT = 1e-3, 1e-9  # what counts as hardly, and as not at all moved or seen


@dataclass(frozen=True)
class ModeFacts:
    """One mode with its participating states, controllability and observability."""

    eigenvalue: complex
    frequency: float  # |λ|/2π [Hz]
    damping: float
    shape: dict[str, complex]
    participation: dict[str, float]  # of the states that matter
    kinetic: dict[str, float]  # shares of the coordinates that matter
    moved: dict[str, float]  # by input, 1 for the mode that it moves most
    seen: dict[str, float]  # by output
    motions: Mapping[str, str] = field(default_factory=dict)  # words of vehicles by name
    together: Mapping[str, float] = field(default_factory=dict)  # with the hinges of a beam as one

    @property
    def word(self) -> str:
        """Return a description of a mode by its dominant states; speeds of coordinates already
        named are left out.
        """
        shares = self.together or self.participation
        top = sorted(shares.items(), key=lambda item: -item[1])
        found: dict[str, str] = {}
        for name in (name for name, share in top[:3] if share > 2 * NAMED):
            word = self.motions.get(name, "")
            key = f"{name.rsplit('.', 1)[0]} {word}" if word else plain_name(name)
            if key not in found or not is_speed(name):
                found[key] = f"{name} ({word})" if word else name
        names = ", ".join(found.values())
        size = abs(self.eigenvalue)
        kind = (
            "drift"
            if size < STANDING
            else "swing"
            if self.eigenvalue.imag
            else "growth"
            if self.eigenvalue.real > 0.0
            else "decay"
        )
        return f"{kind} of {names}" if names else kind

    def to_dict(self) -> dict:
        """Return the mode as plain data for JSON."""
        return {
            "eigenvalue": [self.eigenvalue.real, self.eigenvalue.imag], "frequency": self.frequency, "damping": self.damping, "word": self.word,
            "shape": {name: abs(value) for name, value in self.shape.items()}, "participation": self.participation, "kinetic": self.kinetic,
            "moved": self.moved, "seen": self.seen,
        }  # fmt: skip


def is_speed(name: str) -> bool:
    """Return whether a state name denotes a speed: der(x), or JOINT.vx to JOINT.wz."""
    return name.startswith("der(") or name.rsplit(".", 1)[-1] in QUASI_SPEEDS


def plain_name(name: str) -> str:
    """Return the coordinate x of a speed der(x); other names are returned unchanged."""
    return name[len("der(") : -1] if name.startswith("der(") else name


def mode_facts(
    linear: Linear, B: np.ndarray | None = None, C: np.ndarray | None = None
) -> list[ModeFacts]:
    """Return the properties of every mode, slowest first; B and C are the relevant inputs and
    outputs (default: all).
    """
    moving = slice(len(linear.coordinates), linear.mechanical)
    carriers = (
        linear.coordinates if len(linear.coordinates) == len(linear.speeds) else linear.speeds
    )
    A = linear.A
    if not A.size:
        return []
    balanced, scale = balanced_matrix(A)
    values, left, right = eig(balanced, left=True, right=True)  # pyright: ignore[reportAssignmentType]
    left, right = left.conj() / np.linalg.norm(left, axis=0), right / np.linalg.norm(right, axis=0)
    B = (linear.B if B is None else B) / scale[:, None]
    C = (linear.C if C is None else C) * scale[None, :]
    moved, seen = np.abs(left.T @ B), np.abs(C @ right)
    moved, seen = (
        moved / np.maximum(moved.max(axis=0, initial=0.0), 1e-300),
        (seen / np.maximum(seen.max(axis=1, keepdims=True, initial=0.0), 1e-300)).T,
    )
    found = []
    for k, value in enumerate(values):
        if value.imag < 0.0:
            continue
        size = float(abs(value))
        vector = scale * right[:, k]
        shares = np.abs(left[:, k] * right[:, k])
        shares = shares / (shares.sum() or 1.0)
        energy = np.real(vector[moving].conj() * (linear.mass @ vector[moving]))
        energy = energy / (np.abs(energy).sum() or 1.0)
        found.append(
            ModeFacts(
                complex(value), size / (2 * np.pi), float(-value.real / size) if size else 0.0, linear.shape(vector),
                {name: float(share) for name, share in zip(linear.states, shares, strict=True) if share > NAMED},
                {name: float(share) for name, share in zip(carriers, energy, strict=True) if abs(share) > NAMED},
                dict(zip(linear.inputs, map(float, moved[k]), strict=False)), dict(zip(linear.outputs, map(float, seen[k]), strict=False)),
                linear.motions, summed(linear, shares),
            )
        )  # fmt: skip
    return sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real))


def summed(linear: Linear, shares: np.ndarray) -> dict[str, float]:
    """Return the significant participation shares, with the hinges of one beam motion summed."""
    found: dict[str, float] = defaultdict(float)
    for name, share in zip(linear.states, shares, strict=True):
        found[linear.bending.get(name, name)] += float(share)
    return {name: share for name, share in found.items() if share > NAMED}


def balanced_matrix(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A in coordinates in which rows and columns have similar norms, and the scales of these
    coordinates.
    """
    with np.errstate(invalid="ignore"):  # scipy casts very large units to permutations
        found: Any = matrix_balance(A, permute=False, separate=True)
    return found[0], found[1][0]


def transmission_zeros(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return the transmission zeros of a square system."""
    n, m = len(A), B.shape[1]
    if m != C.shape[0] or not m:
        return np.zeros(0, dtype=complex)
    balanced, scale = balanced_matrix(A)
    B, C = B / scale[:, None], C * scale[None, :]
    b, c = (max(float(np.abs(part).max(initial=0.0)), 1e-300) for part in (B, C))
    size = max(float(np.abs(balanced).max(initial=0.0)), 1.0)
    top = np.hstack((balanced, B * (size / b)))
    bottom = np.hstack((C * (size / c), D * (size * size / (b * c))))
    E = np.zeros((n + m, n + m))
    E[:n, :n] = np.eye(n)
    alpha, beta = eigvals(np.vstack((top, bottom)), E, homogeneous_eigvals=True)  # type: ignore[misc]
    finite = np.abs(beta) > 1e-12 * np.maximum(np.abs(alpha) / size, 1e-300)
    found = alpha[finite] / beta[finite]
    found = found[np.abs(found) < 1e6 * size]
    return found[np.lexsort((found.imag, np.abs(found)))]


def unreachable_modes(
    modes: list[ModeFacts], inputs: tuple[str, ...], outputs: tuple[str, ...], drifts: bool = True
) -> list[str]:
    """Return sentences about uncontrollable and unobservable modes, one sentence for all modes with
    a common cause.
    """
    found: dict[str, list[tuple[int, ModeFacts, float]]] = {}
    for k, mode in enumerate(modes, 1):
        if not drifts and abs(mode.eigenvalue) < STANDING:
            continue
        for names, shares, verb, kind in (
            (inputs, mode.moved, "moved", "input"),
            (outputs, mode.seen, "seen", "output"),
        ):
            present = [shares[each] for each in names if each in shares]
            if present and max(present) < HARDLY:
                listed = " or ".join(names) if len(names) <= MAX_LISTED_NAMES else f"any {kind}"
                how = "not" if max(present) < NOT else "hardly"
                found.setdefault(f"{how} {verb} by {listed}", []).append((k, mode, max(present)))
    lines = []
    for fault, those in found.items():
        most = max(share for _, _, share in those)
        size = f": {most:.1e} of what the best mode is" if fault.startswith("hardly") else ""
        if len(those) > MAX_LISTED_NAMES:
            at_most = size.replace(": ", ": at most ")
            lines.append(f"modes {', '.join(str(k) for k, _, _ in those)} are {fault}{at_most}")
            continue
        lines += [
            f"mode {k} ({mode.frequency:.4g} Hz, {mode.word}) is {fault}"
            + (f": {share:.1e} of what the best mode is" if size else "")
            for k, mode, share in those
        ]
    return lines
