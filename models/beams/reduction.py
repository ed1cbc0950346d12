"""Reduction of a finite-element body to a floating frame with modes (Craig and Bampton, AIAA
Journal 6 (1968) 1313).

Faces move as rigid plates. The frame is fixed in the root face, so that the modes are static
deformations by the other faces and vibration modes with all faces fixed. They are made orthogonal
with respect to stiffness and mass, and scaled to a largest displacement of 1 m, so that modal
coordinates are in metres.

Second-order displacements φ_kl give geometric stiffening. Only sums of them are needed, and the sum
over a load f is -φ_kᵀ G(f) φ_l with the geometric stiffness G of the stresses under f:
accelerations of the frame, their first moments, forces on the faces. Wallrapp, Schwertassek,
Representation of geometric stiffening in multibody system simulation, Int. J. Num. Meth. Eng. 32
(1991) 1833.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from kinetree.models.beams.linear_range import SECOND_ORDER

MOST_CHANGE, MOST_BY_OTHERS = (
    1.0,
    0.05,
)  # of a modal mass by φ_kk and φ_kl, at the amplitudes that terms of second order follow
ISOTROPY = 1e-9  # of the largest mass: masses of a node along x, y and z are one number


# of displacements (r, 3 N), whose stresses act, and shapes (3 N, n): φ_kᵀ G φ_l of every one, (r, n, n)
Stiffening = Callable[[np.ndarray, np.ndarray], np.ndarray]


class ReductionError(ValueError):
    """Raised for matrices or faces from which no reduced body can be made."""


def reduce_body(
    stiffness: Any,
    mass: Any,
    nodes: np.ndarray,
    faces: Mapping[str, np.ndarray],
    root: str,
    modes: int,
    stiffening: Stiffening | None = None,
) -> dict[str, Any]:
    """Return the arrays of a reduced body.

    `stiffness` and `mass` belong to three displacements per node, in the order of `nodes` (N, 3);
    `faces` lists nodes by name. `stiffening` adds second-order terms.
    """
    K, M = sp.csc_array(stiffness, dtype=float), sp.csc_array(mass, dtype=float)
    size = 3 * len(nodes)
    if K.shape != (size, size) or M.shape != (size, size):
        raise ReductionError(f"matrices {K.shape} and {M.shape} for {len(nodes)} nodes")
    check_faces(faces, root, len(nodes))
    scalar = scalar_mass(M)
    places = {name: nodes[chosen].mean(axis=0) for name, chosen in faces.items()}
    others = [name for name in faces if name != root]
    T, inner = plates(nodes, faces, places, others)
    V = shapes(K, M, T, inner, modes)
    stiff, inertia = V.T @ (K @ V), V.T @ (M @ V)
    values, vectors = sl.eigh(stiff, inertia)
    if values[0] <= 0.0:
        raise ReductionError("a stiffness that does not hold the body at its root face")
    phi = (V @ vectors).reshape(len(nodes), 3, -1)
    phi = phi / np.abs(phi).max(axis=(0, 1))
    flat = phi.reshape(size, -1)
    x = nodes - places[root]
    every = np.concatenate([x[:, :, None], phi], axis=2)  # N, 3, n + 1
    carried = (scalar @ every.reshape(len(nodes), -1)).reshape(every.shape)
    turns, shifts, points = [], [], []
    for name in others:
        found = plate_motion(nodes[faces[name]] - places[name], phi[faces[name]])
        shifts.append(found[0])
        turns.append(found[1])
        points.append(places[name] - places[root])
    n = flat.shape[1]
    second: dict[str, np.ndarray] = {}
    if stiffening is not None:
        reach = amplitudes(np.array(turns).reshape(-1, n, 3), phi, x)
        second = second_order(K, T, inner, scalar, x, flat, stiffening, reach)
    return second | {
        "mass": float(scalar.sum()),
        "S": carried.sum(axis=0).T,
        "P": np.einsum("sia,sjb->abij", every, carried),
        "stiffness": np.einsum("ik,ik->k", flat, K @ flat),
        "frequencies": np.sqrt(values) / (2.0 * np.pi),
        "interfaces": np.array(others),
        "points": np.array(points).reshape(-1, 3),
        "shifts": np.array(shifts).reshape(-1, n, 3),
        "turns": np.array(turns).reshape(-1, n, 3),
        "root": places[root],
        "nodes": x,
        "shapes": phi,
    }


def second_order(
    K: Any,
    T: Any,
    inner: np.ndarray,
    scalar: Any,
    x: np.ndarray,
    flat: np.ndarray,
    stiffening: Stiffening,
    reach: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return the sums over second-order displacements, from the stresses under loads on the body
    fixed at its root.
    """
    whole = sp.csc_array(sp.eye_array(K.shape[0]))
    moved: Any = sp.csc_array(sp.hstack([T, whole[:, inner]]))
    solve = spl.splu(sp.csc_array(moved.T @ K @ moved))
    count, faces = len(x), T.shape[1] // 6
    loads = np.zeros((12 + 3 * faces, moved.shape[1]))
    weights = np.concatenate((np.ones((1, count)), x.T)) @ scalar  # of accelerations 1, x, y, z
    for k, weight in enumerate(np.asarray(weights)):
        for axis in range(3):
            force = np.zeros((count, 3))
            force[:, axis] = weight
            loads[3 * k + axis] = moved.T @ force.ravel()
    for face in range(faces):
        for axis in range(3):
            loads[12 + 3 * face + axis, 6 * face + axis] = 1.0
    fields = (moved @ solve.solve(loads.T)).T
    found = -np.moveaxis(stiffening(fields, flat), 0, 2)  # n, n, loads
    n = flat.shape[1]
    ones = np.concatenate((np.ones((count, 1)), x), axis=1)
    sums = found[:, :, :12].reshape(n, n, 4, 3)
    found *= carried_pairs(sums, np.asarray(weights) @ ones, flat, scalar, reach)[:, :, None]
    moments = found[:, :, 3:12].reshape(n, n, 3, 3)  # Σ m x φ_klᵀ
    turned = np.swapaxes(moments, 2, 3)
    pairs = ((1, 2), (2, 0), (0, 1))
    return {
        "second_shift": found[:, :, :3],
        "second_moments": 0.5 * (moments + turned),
        "second_turn": np.stack([moments[..., a, b] - turned[..., a, b] for a, b in pairs], 2),
        "second_faces": np.moveaxis(found[:, :, 12:].reshape(n, n, faces, 3), 2, 0),
    }


def amplitudes(turns: np.ndarray, phi: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the amplitude of every mode (n,) at which a face rotates as far as second-order terms
    are valid, or the body deforms by that fraction of its size.
    """
    turned = np.linalg.norm(turns, axis=2).max(axis=0, initial=0.0)
    moved = np.abs(phi).max(axis=(0, 1)) / np.ptp(x, axis=0).max()
    return SECOND_ORDER / np.maximum(turned, moved)


def carried_pairs(
    sums: np.ndarray, weights: np.ndarray, flat: np.ndarray, scalar: Any, reach: np.ndarray
) -> np.ndarray:
    """Return 1 for pairs of modes whose φ_kl stay small compared with the modes, 0 for others, (n,
    n), from Σ m (1, x) φ_kl (n, n, 4, 3).

    Modal masses are taken as constant, so the contribution of φ_kl q_l to mode k is truncated. A
    slender body that is bent and then twisted moves further by φ_kl than by its twist; with
    truncation its effective inertia at the root would become negative. The part of φ_kl that is
    linear in x measures this.
    """
    shapes = flat.reshape(scalar.shape[0], -1)
    n = flat.shape[1]
    masses = (shapes * (scalar @ shapes)).reshape(-1, 3, n).sum(axis=(0, 1))
    added = np.einsum("klai,ab,klbi->kl", sums, np.linalg.pinv(weights), sums)
    changes = added * reach[None, :] ** 2 / masses[:, None]
    allowed = np.where(np.eye(n, dtype=bool), MOST_CHANGE, MOST_BY_OTHERS)
    return (np.maximum(changes, changes.T) < allowed).astype(float)


def check_faces(faces: Mapping[str, np.ndarray], root: str, count: int) -> None:
    """Raise for faces with too few nodes, or that share nodes."""
    if root not in faces:
        raise ReductionError(f"no face '{root}' for the root")
    used = np.zeros(count, dtype=int)
    for name, chosen in faces.items():
        if len(chosen) < 3:
            raise ReductionError(f"face '{name}' of {len(chosen)} nodes: at least 3")
        used[chosen] += 1
    if used.max() > 1:
        raise ReductionError("faces that share nodes")


def scalar_mass(M: Any) -> Any:
    """Return the nodal mass matrix of one direction, after checking that x, y and z have equal
    masses.
    """
    x, y, z = (M[k::3, k::3] for k in range(3))
    bound = ISOTROPY * abs(x).max()
    if abs(x - y).max() > bound or abs(x - z).max() > bound:
        raise ReductionError("masses of a node that differ along x, y and z")
    return x


def plates(
    nodes: np.ndarray,
    faces: Mapping[str, np.ndarray],
    places: Mapping[str, np.ndarray],
    others: list[str],
) -> tuple[Any, np.ndarray]:
    """Return the displacements of all nodes for six rigid motions of every face but the root, and
    the displacements that belong to no face.
    """
    T = sp.lil_array((3 * len(nodes), 6 * len(others)))
    free = np.ones(3 * len(nodes), dtype=bool)
    for chosen in faces.values():
        for axis in range(3):
            free[3 * chosen + axis] = False
    for k, name in enumerate(others):
        for s in faces[name]:
            x, y, z = nodes[s] - places[name]
            T[3 * s, 6 * k], T[3 * s + 1, 6 * k + 1], T[3 * s + 2, 6 * k + 2] = 1.0, 1.0, 1.0
            T[3 * s + 1, 6 * k + 3], T[3 * s + 2, 6 * k + 3] = -z, y
            T[3 * s, 6 * k + 4], T[3 * s + 2, 6 * k + 4] = z, -x
            T[3 * s, 6 * k + 5], T[3 * s + 1, 6 * k + 5] = -y, x
    return sp.csc_array(T), np.flatnonzero(free)


def shapes(K: Any, M: Any, T: Any, inner: np.ndarray, modes: int) -> np.ndarray:
    """Return the static deformations by the faces and the first vibration modes with all faces
    fixed.
    """
    if modes < 0 or modes >= len(inner):
        raise ReductionError(f"{modes} modes of {len(inner)} displacements")
    Ki, Mi = K[inner][:, inner], M[inner][:, inner]
    solve = spl.splu(sp.csc_array(Ki))
    static = T.toarray()
    if static.shape[1]:
        static[inner] = -solve.solve((K[inner] @ T).toarray())
    found = [static]
    if modes:
        start = np.ones(len(inner))  # the same result on every call
        _, vectors = spl.eigsh(sp.csc_array(Ki), modes, sp.csc_array(Mi), sigma=0.0, v0=start)
        held = np.zeros((K.shape[0], modes))
        held[inner] = vectors
        found.append(held)
    return np.concatenate(found, axis=1)


def plate_motion(x: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return translation and rotation of a rigid face per mode, from displacements (nodes, 3, n) of
    its nodes at x.
    """
    rows = np.zeros((3 * len(x), 6))
    for s, (a, b, c) in enumerate(x):
        rows[3 * s : 3 * s + 3, :3] = np.eye(3)
        rows[3 * s : 3 * s + 3, 3:] = [[0.0, c, -b], [-c, 0.0, a], [b, -a, 0.0]]
    found = np.linalg.lstsq(rows, moved.reshape(3 * len(x), -1), rcond=None)[0]
    return found[:3].T, found[3:].T


def save_reduced(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write the file that `flexible = {file = ...}` reads."""
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
