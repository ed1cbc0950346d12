"""Convex hulls of points: corners, face planes, edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ALIKE = 1e-7  # difference of normals of faces in one plane


@dataclass(frozen=True)
class Hull:
    """A convex polyhedron: corners (n, 3) [m], planes (f, 4) with outward unit normal and negative
    offset, edges (m, 2) of corners."""

    corners: np.ndarray
    planes: np.ndarray
    edges: np.ndarray


def hull_of(points: Sequence[Sequence[float]] | np.ndarray) -> Hull | None:
    """Return the convex hull of points [m], with coplanar triangles joined to one face; None for
    coplanar points.
    """
    from scipy.spatial import ConvexHull, QhullError

    given = np.array(points, dtype=float)
    try:
        found = ConvexHull(given)
    except QhullError:
        return None
    alike = ALIKE * np.array([1.0, 1.0, 1.0, float(np.ptp(given, axis=0).max())])
    planes: list[np.ndarray] = []
    face = np.zeros(len(found.simplices), dtype=int)
    for k, plane in enumerate(found.equations):
        same = [j for j, each in enumerate(planes) if (np.abs(each - plane) <= alike).all()]
        face[k] = same[0] if same else len(planes)
        if not same:
            planes.append(plane)
    edges = {
        tuple(sorted((int(corners[(side + 1) % 3]), int(corners[(side + 2) % 3]))))
        for k, corners in enumerate(found.simplices)
        for side, other in enumerate(found.neighbors[k])
        if face[k] != face[other]
    }
    used = sorted({corner for edge in edges for corner in edge})
    number = {corner: k for k, corner in enumerate(used)}
    pairs = sorted((number[a], number[b]) for a, b in edges)
    return Hull(given[used], np.array(planes), np.array(pairs))
