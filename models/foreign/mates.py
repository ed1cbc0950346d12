"""Mates of CAD programs as joints: the relative motion that all mates of two parts allow.

Every mate gives a few linear conditions on the relative velocity (v, w) of two parts at their
position in the file: a point stays on a plane, a line or a point; a direction stays parallel or at
its angle. The null space of these conditions is the joint: a lower pair, or a sequence of
translations and rotations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

Pose = tuple[np.ndarray, np.ndarray]
RANK = 1e-6  # singular values below it, relative to the largest one, are none
LINES = ("line", "cylinder", "cone", "circle", "axis", "torus")
PLANES = ("plane",)
POINTS = ("point", "sphere", "vertex")


class Geometry(NamedTuple):
    """The geometry of a mate on one part: point, direction and kind, in ground axes."""

    kind: str  # plane, line, cylinder, point, ...
    point: np.ndarray
    axis: np.ndarray  # direction of a line, normal of a plane


@dataclass(frozen=True)
class Mate:
    """A condition between two parts of an assembly; "" is the ground."""

    kind: str
    name: str
    one: str
    other: str
    geometry: tuple[Geometry, Geometry]


@dataclass(frozen=True)
class Freedoms:
    """The joint equivalent to a set of mates: a type of the format, or elementary motions in its
    frame.
    """

    kind: str
    says: str
    frame: Pose
    mates: tuple[Mate, ...]
    moves: tuple[tuple[str, tuple[float, ...]], ...] = ()
    pitch: float = 0.0


@dataclass
class _Rows:
    """Linear conditions on the relative velocity (v at `centre`, w), one row each."""

    centre: np.ndarray
    size: float
    rows: list[np.ndarray] = field(default_factory=list)

    def point(self, p: np.ndarray, directions: np.ndarray) -> None:
        """Add rows that make the velocity of a point zero along the directions."""
        arm = (p - self.centre) / self.size
        for d in directions:
            self.rows.append(np.concatenate([d, np.cross(arm, d)]))

    def turn(self, directions: np.ndarray) -> None:
        """Add rows that make the angular velocity zero along the directions."""
        for d in directions:
            self.rows.append(np.concatenate([np.zeros(3), d]))


def across(axis: np.ndarray) -> np.ndarray:
    """Return two unit vectors perpendicular to a direction."""
    a = axis / np.linalg.norm(axis)
    first = np.cross(a, np.eye(3)[np.argmin(abs(a))])
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(a, first)])


def conditions(mate: Mate, rows: _Rows) -> bool:
    """Add the conditions of a mate; return False for an unknown mate."""
    one, other = mate.geometry
    a, b = one.axis, other.axis
    kinds = [_class(each.kind) for each in mate.geometry]
    if kinds[0] > kinds[1]:  # point, line, plane
        one, other, a, b = other, one, b, a
        kinds.reverse()
    pair = tuple(kinds)
    lines = pair in ((1, 1), (2, 2))
    kind = mate.kind
    if kind in ("Fixed", "Lock", "Weld"):
        rows.point(rows.centre, np.eye(3))
        rows.turn(np.eye(3))
    elif kind == "Concentric":
        if 2 in pair:
            return False
        rows.point(one.point, np.eye(3) if pair == (0, 0) else across(b))
        if pair == (1, 1):
            rows.turn(across(b))
    elif kind in ("Coincident", "Distance"):
        return _touching(kind, pair, one, other, rows)
    elif kind == "Parallel":
        if 0 in pair:
            return False
        rows.turn(across(b) if lines else _unit(np.cross(a, b)))
    elif kind in ("Angle", "Perpendicular"):
        if 0 in pair:
            return False
        square = kind == "Perpendicular" and pair == (1, 2)  # a line along the normal of a plane
        rows.turn(across(b) if square else _unit(np.cross(a, b)))
    elif kind == "Tangent" and pair == (1, 2):
        rows.point(one.point, b[np.newaxis])
        rows.turn(_unit(np.cross(a, b)))
    elif kind == "Tangent" and pair == (0, 2):
        rows.point(one.point, b[np.newaxis])
    else:
        return False
    return True


def _class(kind: str) -> int:
    return 2 if kind in PLANES else 0 if kind in POINTS else 1


def _unit(direction: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(direction)
    return direction[np.newaxis] / size if size > RANK else np.zeros((0, 3))


def _touching(
    kind: str, pair: tuple[int, ...], one: Geometry, other: Geometry, rows: _Rows
) -> bool:
    """Add the conditions of a coincidence or of a constant distance; return False if it is unknown."""
    if pair[1] == 2:  # on or above a plane
        rows.point(one.point, other.axis[np.newaxis])
        if pair[0] == 2:
            rows.turn(across(other.axis))
        elif pair[0] == 1:
            rows.turn(_unit(np.cross(one.axis, other.axis)))
        return True
    apart = one.point - other.point
    if pair[1] == 1:
        apart = apart - (apart @ other.axis) * other.axis
        if pair[0] == 1:
            rows.turn(across(other.axis))
    if kind == "Coincident" or np.linalg.norm(apart) < RANK * rows.size:
        rows.point(one.point, np.eye(3) if pair[1] == 0 else across(other.axis))
    else:
        rows.point(one.point, _unit(apart))
    return True


def freedoms_of(mates: list[Mate], size: float) -> Freedoms:
    """Return the joint equivalent to all mates of one pair of parts."""
    centre = np.mean([each.point for mate in mates for each in mate.geometry], axis=0)
    rows = _Rows(centre, size)
    for mate in mates:
        conditions(mate, rows)
    A = np.array(rows.rows).reshape(-1, 6)
    _, values, V = np.linalg.svd(np.vstack([A, np.zeros((6, 6))]))
    rank = int(np.count_nonzero(values > RANK * max(values.max(initial=0.0), 1.0)))
    null = V[rank:]  # velocities that are left: v at the centre by `size`, w
    return _named(null, centre, size, tuple(mates))


def _named(null: np.ndarray, centre: np.ndarray, size: float, mates: tuple[Mate, ...]) -> Freedoms:
    """Return the lower pair with the allowed motions, or a sequence of translations and rotations."""
    v, w = null[:, :3] * size, null[:, 3:]
    _, s, U = np.linalg.svd(np.vstack([w, np.zeros((3, 3))]))
    turns = int(np.count_nonzero(s > RANK))
    axes = U[:turns]  # of rotation
    mix = (
        np.linalg.svd(np.vstack([w.T, np.zeros((6, len(null)))]))[2][turns:] if len(null) else null
    )
    slides = _span((mix @ v) if len(mix) else np.zeros((0, 3)), size)
    free = len(slides)
    plain: dict[tuple[int, int], Any] = {(0, 0): "rigid", (0, 1): "prismatic", (3, 3): "free"}
    if (turns, free) == (0, 1):
        return Freedoms("prismatic", "a slide", (_along(slides[0]), centre), mates)
    if (turns, free) in plain:
        kind = plain[turns, free]
        return Freedoms(kind, kind, (np.eye(3), centre), mates)
    if turns == 0:
        moves = tuple(("slide", tuple(map(float, each))) for each in slides)
        return Freedoms("", f"{free} slides", (np.eye(3), centre), mates, moves)
    place = _axis_point(v, w, centre, slides)
    if turns == 1:
        return _about_one_axis(axes[0], slides, v, w, place, mates)
    if turns == 3 and free == 0:
        return Freedoms("spherical", "a ball joint", (np.eye(3), place), mates)
    if turns == 2 and free == 0:
        x = axes[0]
        z = np.cross(x, axes[1])
        R = np.column_stack([x, axes[1], z])
        return Freedoms("universal", "two turns", (R, place), mates)
    moves = tuple(("slide", tuple(map(float, each))) for each in slides)
    moves += tuple(("turn", tuple(map(float, each))) for each in axes)
    says = f"{free} slides and then {turns} turns"
    return Freedoms("", says, (np.eye(3), place), mates, moves)


def _about_one_axis(
    axis: np.ndarray,
    slides: np.ndarray,
    v: np.ndarray,
    w: np.ndarray,
    place: np.ndarray,
    mates: tuple[Mate, ...],
) -> Freedoms:
    """Return the joint with rotation about one axis and the given translations."""
    axis = axis * (1.0 if axis[np.argmax(abs(axis))] > 0.0 else -1.0)
    frame = _along(axis), place
    if len(slides) == 0:
        k = int(np.argmax(np.linalg.norm(w, axis=1)))
        pitch = 2.0 * math.pi * float(v[k] @ axis) / float(w[k] @ axis)
        if abs(pitch) > RANK:
            return Freedoms("screw", "a screw", frame, mates, pitch=pitch)
        return Freedoms("revolute", "a turn", frame, mates)
    parallel = np.abs(slides @ axis)
    if len(slides) == 1 and parallel[0] > 1.0 - RANK:
        return Freedoms("cylindrical", "a turn and a slide along its axis", frame, mates)
    if len(slides) == 2 and parallel.max() < math.sqrt(RANK):
        return Freedoms("planar", "two slides and a turn across them", frame, mates)
    if len(slides) == 3:
        slides = np.eye(3)
    moves = tuple(("slide", tuple(map(float, each))) for each in slides)
    moves += (("turn", tuple(map(float, axis))),)
    says = f"{len(slides)} slides and then a turn"
    return Freedoms("", says, (np.eye(3), place), mates, moves)


def _span(vectors: np.ndarray, size: float) -> np.ndarray:
    """Return orthonormal vectors that span the given ones."""
    if not len(vectors):
        return np.zeros((0, 3))
    _, s, V = np.linalg.svd(np.vstack([vectors, np.zeros((3, 3))]))
    return V[: int(np.count_nonzero(s > RANK * size))]


def _axis_point(v: np.ndarray, w: np.ndarray, centre: np.ndarray, slides: np.ndarray) -> np.ndarray:
    """Return the point nearest to the centre that all allowed rotations leave fixed, apart from
    translations along `slides`.
    """
    off = np.eye(3) - slides.T @ slides
    rows, right = [], []
    for velocity, spin in zip(v, w, strict=True):
        n = np.linalg.norm(spin)
        along = off - np.outer(spin, spin) / (n * n) if n > RANK else off
        x, y, z = spin
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        rows.append(along @ cross)
        right.append(-along @ velocity)
    found = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=1e-9)[0]
    return centre + found


def _along(axis: np.ndarray) -> np.ndarray:
    """Return a rotation matrix whose z axis has a given direction."""
    z = axis / np.linalg.norm(axis)
    x, y = across(z)
    return np.column_stack([x, y, z])
