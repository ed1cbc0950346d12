"""Shapes of a description as plain data with numbers, from which page and pictures are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.description.schema import Shape
from kinetree.models.description.surfaces import SurfaceError, read_surface
from kinetree.models.forces.polygon_contact import signed_area
from kinetree.models.language.colours import rgb
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.scene.attachments import Numbers, turned

Part = dict[
    str, Any
]  # kind, size, at (3), turn (w, x, y, z), colour, opacity; of a mesh: points and triangles


def part(
    kind: str,
    size: Sequence[float] | np.ndarray,
    at: np.ndarray,
    R: np.ndarray,
    colour: str = "",
    opacity: float = 1.0,
    **more: Any,
) -> Part:
    """Return one shape in the frame of its body as plain data."""
    return {"kind": kind, "size": [float(each) for each in size], "at": at.tolist(), "turn": quaternion(R).tolist(), "colour": colour,
            "opacity": opacity, **more}  # fmt: skip


def quaternion(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternion w, x, y, z of a rotation matrix, computed from its largest
    component.
    """
    trace = np.trace(R)
    squares = 0.25 * np.array([1.0 + trace, *(1.0 - trace + 2.0 * np.diag(R))])
    k = int(squares.argmax())
    e = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if k == 0:
        q = np.array([squares[0], *(0.25 * e)])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0], q[k] = 0.25 * e[i], squares[k]
        q[1 + j], q[1 + m] = 0.25 * (R[i, j] + R[j, i]), 0.25 * (R[i, m] + R[m, i])
    return q / np.linalg.norm(q)


def along(axis: np.ndarray) -> np.ndarray:
    """Return a rotation matrix that rotates the z axis to a direction."""
    u = axis / (np.linalg.norm(axis) or 1.0)
    side = np.cross(np.array([0.0, 0.0, 1.0]), u)
    sine = np.linalg.norm(side)
    if sine < 1e-12:
        return np.diag([1.0, 1.0, 1.0]) if u[2] >= 0.0 else np.diag([1.0, -1.0, -1.0])
    return turned(side, float(np.arctan2(sine, u[2])))


def given_part(
    shape: Shape, numbers: Numbers, folder: Path, at: Sequence[Any] | None = None
) -> Part:
    """Return a shape of the description as plain data."""
    R = np.eye(3)
    if shape.axis is not None:
        R = along(numbers.vector(shape.axis))
    elif shape.rotate is not None:
        x, y, z = numbers.vector(shape.rotate)
        R = (
            turned(np.array([0.0, 0.0, 1.0]), z)
            @ turned(np.array([0.0, 1.0, 0.0]), y)
            @ turned(np.array([1.0, 0.0, 0.0]), x)
        )
    place = numbers.vector(shape.at if at is None or "at" in shape.model_fields_set else at)
    look = (
        place,
        R,
        rgb(shape.colour) or "" if shape.colour else "",
        numbers.number(shape.opacity, 1.0),
    )
    if shape.extrusion is not None:
        return part(
            "mesh",
            (),
            *look,
            **extruded(
                [numbers.vector(corner) for corner in shape.extrusion], numbers.number(shape.height)
            ),
        )
    if shape.mesh is not None:
        return part(
            "mesh",
            (),
            *look,
            **read_mesh(folder / shape.mesh, numbers.number(shape.scale, 1.0), shape.solid),
        )
    for kind in ("box", "cylinder", "capsule"):
        if getattr(shape, kind) is not None:
            return part(kind, numbers.vector(getattr(shape, kind)), *look)
    return part("sphere", (numbers.number(shape.sphere),), *look)


def read_mesh(path: Path, scale: float, solid: int | None = None) -> Part:
    """Return the triangles of a mesh file or of STEP solids as keys of a shape."""
    try:
        surface = read_surface(path, solid)
    except SurfaceError as error:
        raise ModelError(Problem("mesh", error.found, error.expected)) from None
    return {
        "points": (surface.points * scale).round(7).ravel().tolist(),
        "triangles": surface.triangles.ravel().tolist(),
    }


def extruded(corners: Sequence[np.ndarray], height: float) -> Part:
    """Return a prism over an outline, centred about z = 0."""
    flat = np.array(corners)
    if signed_area(flat.tolist()) < 0.0:
        flat = flat[::-1]
    n, ears = len(flat), triangulated(flat)
    points = np.vstack([np.column_stack([flat, np.full(n, z)]) for z in (-height / 2, height / 2)])
    triangles = [(c, b, a) for a, b, c in ears] + [(a + n, b + n, c + n) for a, b, c in ears]
    for k in range(n):
        j = (k + 1) % n
        triangles += [(k, j, j + n), (k, j + n, k + n)]
    return {
        "points": points.ravel().tolist(),
        "triangles": [index for triangle in triangles for index in triangle],
    }


def triangulated(flat: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the triangles of a counterclockwise outline by ear clipping."""
    left, found = list(range(len(flat))), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = [flat[j] for j in left if j not in (a, b, c)]
            if turn(flat[a], flat[b], flat[c]) > 0.0 and not any(
                inside(p, flat[a], flat[b], flat[c]) for p in others
            ):
                break
        else:
            k, (a, b, c) = 1, left[:3]  # an outline that crosses itself: any corner
        found.append((a, b, c))
        left.pop(k)
    return [*found, (left[0], left[1], left[2])]


def turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def inside(p: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
    return turn(a, b, p) >= 0.0 and turn(b, c, p) >= 0.0 and turn(c, a, p) >= 0.0


def half_extents(piece: Part) -> np.ndarray:
    """Return half the edge lengths of a shape's bounding box along its own axes."""
    size, kind = piece["size"], piece["kind"]
    if kind == "mesh":
        return np.abs(np.array(piece["points"]).reshape(-1, 3)).max(axis=0)
    if kind == "box":
        return 0.5 * np.array(size)
    if kind == "sphere":
        return np.full(3, size[0])
    return np.array([size[0], size[0], 0.5 * size[1] + (size[0] if kind == "capsule" else 0.0)])


def matrix(q: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion w, x, y, z."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def distance_outside(piece: Part, point: np.ndarray) -> float:
    """Return the distance of a body point from the bounding box of a shape."""
    local = matrix(piece["turn"]).T @ (point - np.array(piece["at"]))
    return float(np.linalg.norm(np.maximum(np.abs(local) - half_extents(piece), 0.0)))
