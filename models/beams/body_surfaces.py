"""Surfaces of reduced bodies for display: triangles, displacement of their corners per mode,
stresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

SKIN = ("skin_points", "skin_triangles", "skin_shapes", "skin_stresses")


def hull_of(points: np.ndarray) -> np.ndarray:
    """Return the triangles (T, 3) of the convex hull of points, counterclockwise seen from outside."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    found = []
    for corners, plane in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = points[corners]
        outward = np.cross(b - a, c - a) @ plane[:3] > 0.0
        found.append(corners if outward else corners[::-1])
    return np.array(found)


def skin_of(
    nodes: np.ndarray,
    shapes: np.ndarray,
    triangles: np.ndarray | None,
    stresses: np.ndarray | None = None,
) -> dict[str, Any]:
    """Return the arrays of a surface with corners renumbered: points (N, 3), triangles, shapes (n,
    N, 3), stresses (n, N, 6).

    Without triangles the surface is the convex hull of the nodes.
    """
    faces = hull_of(nodes) if triangles is None else triangles
    used, numbered = np.unique(faces, return_inverse=True)
    found = {
        "skin_points": nodes[used].astype(np.float32),
        "skin_triangles": numbered.reshape(faces.shape).astype(np.int32),
        "skin_shapes": np.moveaxis(shapes[used], 2, 0).astype(np.float32),
    }
    if stresses is not None:
        found["skin_stresses"] = stresses[:, used].astype(np.float32)
    return found


def von_mises_of(stress: np.ndarray) -> np.ndarray:
    """Return von Mises stresses from the components xx, yy, zz, xy, yz, xz in the last axis."""
    xx, yy, zz, xy, yz, xz = np.moveaxis(stress, -1, 0)
    normal = (xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2
    return np.sqrt(0.5 * normal + 3.0 * (xy**2 + yz**2 + xz**2))


def skin_in(arrays: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return those arrays of a file that describe its surface; empty if it has none."""
    return {key: np.asarray(arrays[key]) for key in SKIN if key in arrays}
