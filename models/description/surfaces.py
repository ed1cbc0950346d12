"""Triangle surfaces of mesh files, and volume integrals of the solid that a closed surface
encloses.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.models.description.solids import Solid
from kinetree.models.description.step_files import STEP, read_step
from kinetree.models.language.plain_files import fault_of

MOST_TRIANGLES = 200_000  # of one mesh
MAX_SURFACE_BYTES = 100_000_000  # bytes of a file
PACKED = (".zip", ".gz", ".bz2", ".xz", ".tar", ".tgz", ".3mf", ".3dxml")  # few bytes become many


class SurfaceError(ValueError):
    """Raised for a file without a usable surface; the message says what was found."""

    def __init__(self, found: str, expected: str):
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


class NoReader(ValueError):
    """Raised if the package that reads a file format is not installed."""


class Surface(NamedTuple):
    """A triangle surface: corners (n, 3), and triangles (m, 3) of corner indices, counterclockwise
    seen from outside.
    """

    points: np.ndarray
    triangles: np.ndarray


def read_surface(path: Path, solid: int | None = None) -> Surface:
    """Return the surface in a mesh file or STEP file; raises SurfaceError if there is none."""
    need_reader(path)
    if not path.is_file():
        raise SurfaceError(f"'{path.name}', no such file in {path.parent}", "a file with a mesh")
    if path.suffix.lower() in PACKED:
        raise SurfaceError(f"'{path.name}', an archive", "a file with a mesh")
    if fault := fault_of(path, MAX_SURFACE_BYTES):
        raise SurfaceError(f"'{path.name}' ({fault})", "a smaller mesh")
    return _read(path, path.stat().st_mtime_ns, solid)


def need_reader(path: Path) -> None:
    """Raise NoReader if the package that reads such a file is missing."""
    step = path.suffix.lower() in STEP
    package, extra = ("gmsh", "cad") if step else ("trimesh", "view")
    if find_spec(package) is None:
        kind = "STEP files" if step else "meshes"
        raise NoReader(f"{path.name}: {kind} need {package}: pip install kinetree[{extra}]")


@lru_cache(maxsize=32)
def _read(path: Path, changed: int, solid: int | None) -> Surface:
    if path.suffix.lower() in STEP:
        parts = step_solids(path, solid)
        counts = np.cumsum([0, *(len(part.points) for part in parts)])
        points = np.concatenate([part.points for part in parts])
        triangles = np.concatenate([part.triangles + n for part, n in zip(parts, counts)])
    else:
        points, triangles = _mesh(path)
    if not len(triangles) or len(triangles) > MOST_TRIANGLES:
        raise SurfaceError(
            f"'{path.name}' with {len(triangles)} triangles", f"1 to {MOST_TRIANGLES}"
        )
    return Surface(points, triangles)


def step_solids(path: Path, solid: int | None) -> list[Any]:
    """Return the solids of a STEP file, or only the one with a given number, starting at 1."""
    try:
        parts = read_step(path).solids
    except ValueError as error:
        raise SurfaceError(f"'{path.name}' ({error})", "a STEP file with solids") from None
    if solid is None:
        return parts
    if not 1 <= solid <= len(parts):
        raise SurfaceError(f"solid {solid} of '{path.name}'", f"1 to {len(parts)}")
    return [parts[solid - 1]]


def _mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    import trimesh

    try:
        mesh: Any = trimesh.load(path, force="mesh")
        return np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=int)
    except Exception as error:  # whatever the readers of the formats raise
        raise SurfaceError(
            f"'{path.name}' ({str(error)[:120]})", "a file with a mesh that can be read"
        ) from None


def enclosed_solid(path: Path, solid: int | None = None) -> Solid:
    """Return the volume integrals of the solid in a file: exact for STEP solids, by triangles for
    meshes.

    Raises SurfaceError if a mesh is not closed.
    """
    if path.suffix.lower() in STEP:
        need_reader(path)
        if not path.is_file():
            raise SurfaceError(f"'{path.name}', no such file in {path.parent}", "a STEP file")
        volumes = np.array([each.volume for each in step_solids(path, solid)])
        coms = np.array([each.com for each in step_solids(path, solid)])
        seconds = np.array([each.second for each in step_solids(path, solid)])
        centre = volumes @ coms / volumes.sum()
        d = coms - centre
        second = seconds.sum(axis=0) + np.einsum("k,ki,kj->ij", volumes, d, d)
        return _solid(float(volumes.sum()), volumes @ d, second, centre)
    surface = read_surface(path)
    points, corners = np.unique(surface.points, axis=0, return_inverse=True)
    triangles = corners.reshape(-1)[surface.triangles]
    if missing := unmatched_edges(triangles):
        raise SurfaceError(
            f"'{path.name}' with {missing} edges that do not join two triangles of one sense",
            "a closed surface",
        )
    return polyhedron(points, triangles)


def unmatched_edges(triangles: np.ndarray) -> int:
    """Return the number of directed edges without a neighbouring triangle that runs along them in
    the opposite direction.
    """
    triangles = triangles[
        (triangles[:, 0] != triangles[:, 1])
        & (triangles[:, 1] != triangles[:, 2])
        & (triangles[:, 2] != triangles[:, 0])
    ]
    edges = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    low, high = edges.min(axis=1), edges.max(axis=1)
    sense = np.where(edges[:, 0] == low, 1, -1)
    _, place = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    return int(np.count_nonzero(np.bincount(place.reshape(-1), weights=sense)))


def polyhedron(points: np.ndarray, triangles: np.ndarray) -> Solid:
    """Return the exact volume integrals of a closed polyhedron, as a sum of tetrahedra with a
    common apex.
    """
    base = points.mean(axis=0)
    a, b, c = (points[triangles[:, k]] - base for k in range(3))
    volumes = np.einsum("ki,ki->k", a, np.cross(b, c)) / 6.0
    V = volumes.sum()
    total = a + b + c
    first = volumes @ total / 4.0
    # ∫ r rᵀ over a tetrahedron on the origin: V/20 (Σ p pᵀ + (Σ p)(Σ p)ᵀ)
    squares = [np.einsum("k,ki,kj->ij", volumes, p, p) for p in (a, b, c, total)]
    second = np.sum(squares, axis=0) / 20.0
    sign = -1.0 if V < 0.0 else 1.0
    return _solid(float(sign * V), sign * first, sign * second, base)


def _solid(V: float, first: np.ndarray, second: np.ndarray, at: np.ndarray) -> Solid:
    x, y, z = first.tolist()
    u, v, w = at.tolist()
    rows = [tuple(row) for row in second.tolist()]
    return Solid(V, (x, y, z), (rows[0], rows[1], rows[2]), (u, v, w))
