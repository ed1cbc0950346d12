"""STEP files read by gmsh: mass properties of the solids, their holes and pins, triangles for
display.

gmsh runs in a separate process with limited time and memory, because a damaged file may crash the
C++ library behind it; `python -m` this module is that process.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

STEP = (".step", ".stp")
LARGEST_STEP = 100_000_000  # bytes
SECONDS = 120  # for one file
MEMORY = 4 << 30  # bytes, where the system limits them
FINEST = 150.0  # shortest edge of triangles for pictures, as a part of the solid's diagonal
MOST_SOLIDS = 500
MOST_ROUND_FACES = 500  # of one file: holes and pins are found by comparing each with each
WHOLE_TURN = 0.98 * 2.0 * math.pi  # rad: a cylinder that closes on itself
SAME = 1e-6  # of the size of a solid: axes nearer than that are one


@dataclass(frozen=True)
class Cylinder:
    """A cylindrical hole or pin of a solid: a candidate for a joint."""

    at: tuple[float, float, float]  # middle of its axis [m]
    axis: tuple[float, float, float]
    radius: float
    length: float
    hole: bool


@dataclass(frozen=True)
class StepSolid:
    """One solid of a STEP file; lengths in metres, in the axes of the file."""

    name: str
    volume: float
    com: np.ndarray
    second: np.ndarray  # ∫ r rᵀ dV about the centre of mass [m5]
    cylinders: tuple[Cylinder, ...]
    points: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True)
class StepFile:
    """Content of a STEP file."""

    solids: list[StepSolid]
    left_out: list[str]


def read_step(path: Path) -> StepFile:
    """Return the solids of a STEP file; raises ValueError with the reason if there are none."""
    if (size := path.stat().st_size) > LARGEST_STEP:
        raise ValueError(f"{size} bytes, more than {LARGEST_STEP}")
    return _read(path.resolve(), path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> StepFile:
    command = [sys.executable, "-m", "kinetree.models.description.step_files", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise ValueError(f"gmsh needed more than {SECONDS} s for it") from None
    text = done.stdout.decode("utf-8", errors="replace").rpartition("\x1e")[2]
    if done.returncode or not text:
        raise ValueError("gmsh cannot read it")
    told: dict[str, Any] = json.loads(text)
    if "error" in told:
        raise ValueError(told["error"])
    faces = sum(len(each["cylinders"]) for each in told["solids"])
    if faces > MOST_ROUND_FACES:
        told["left_out"].append(
            f"holes and pins: {faces} round faces, of which at most {MOST_ROUND_FACES} are compared"
        )
        for each in told["solids"]:
            each["cylinders"] = []
    return StepFile([_solid(each) for each in told["solids"]], told["left_out"])


def _solid(told: dict[str, Any]) -> StepSolid:
    J = np.array(told["inertia"]).reshape(3, 3)
    J = (J + J.T) / 2.0
    return StepSolid(
        told["name"],
        told["volume"],
        np.array(told["com"]),
        np.trace(J) / 2.0 * np.eye(3) - J,
        _merged(
            [
                Cylinder(tuple(at), tuple(axis), radius, (low, high, angle), hole)  # pyright: ignore
                for at, axis, radius, low, high, angle, hole in told["cylinders"]
            ],
            float(np.cbrt(told["volume"])),
        ),
        np.array(told["points"], dtype=float).reshape(-1, 3),
        np.array(told["triangles"], dtype=int).reshape(-1, 3),
    )


def _merged(faces: list[Any], size: float) -> tuple[Cylinder, ...]:
    """Join the faces of one cylinder, which files often split in two; keep cylinders with a full
    circumference.
    """
    groups: list[list[tuple[np.ndarray, np.ndarray, Any, float, float, float]]] = []
    for face in faces:
        axis = np.array(face.axis) / np.linalg.norm(face.axis)
        if axis[np.argmax(abs(axis))] < 0.0:
            axis, turn = -axis, -1.0
        else:
            turn = 1.0
        base, (low, high, angle) = np.array(face.at), face.length
        foot = base - axis * (base @ axis)
        ends = sorted((base @ axis + turn * low, base @ axis + turn * high))
        entry = (foot, axis, face, ends[0], ends[1], angle)
        for group in groups:
            foot0, axis0, face0, low0, high0, _ = group[0]
            same = np.linalg.norm(np.cross(axis, axis0)) < SAME
            same &= np.linalg.norm(foot - foot0) + abs(face.radius - face0.radius) < SAME * size
            same &= abs(ends[0] - low0) + abs(ends[1] - high0) < SAME * size
            if same and face.hole == face0.hole:
                group.append(entry)
                break
        else:
            groups.append([entry])
    found = []
    digits = 12 - math.ceil(math.log10(size)) if size > 0.0 else 12  # beyond: rounding only
    for group in groups:
        foot, axis, face, low, high, _ = group[0]
        if sum(each[5] for each in group) >= WHOLE_TURN:
            at = foot + axis * (low + high) / 2.0
            found.append(
                Cylinder(
                    tuple((np.round(at, digits) + 0.0).tolist()),
                    tuple((np.round(axis, 15) + 0.0).tolist()),
                    float(np.round(face.radius, digits)),
                    float(np.round(high - low, digits)),
                    face.hole,
                )
            )
    return tuple(sorted(found, key=lambda each: (not each.hole, each.at)))


# -- the process with gmsh ----------------------------------------------------------------------------
def examine(path: str) -> dict[str, Any]:
    """Return the content of a file as found by gmsh, in plain data."""
    try:
        import gmsh
    except ImportError:
        return {"error": "STEP needs gmsh: pip install kinetree[cad]"}
    model: Any = gmsh.model
    gmsh.initialize(interruptible=False)
    for option, value in {
        "General.Terminal": 0,
        "General.AbortOnError": 0,
        "General.NumThreads": 1,
        "Geometry.OCCImportLabels": 1,
        "Mesh.MeshSizeFromCurvature": 24,
        "Mesh.Algorithm": 6,
    }.items():
        gmsh.option.setNumber(option, value)
    gmsh.option.setString("Geometry.OCCTargetUnit", "M")
    try:
        entities = model.occ.importShapes(path, highestDimOnly=False)
        model.occ.synchronize()
    except Exception as error:  # gmsh raises nothing else
        return {"error": f"gmsh: {' '.join(str(error).split())[:200] or 'cannot read it'}"}
    solids = [tag for dim, tag in model.getEntities(3) if dim == 3]
    if not solids:
        return {"error": "no solids in it, only surfaces or curves" if entities else "no solids"}
    if len(solids) > MOST_SOLIDS:
        return {"error": f"{len(solids)} solids, more than {MOST_SOLIDS}"}
    inside = {abs(face) for tag in solids for _, face in _faces(model, tag)}
    loose = len([1 for _, tag in model.getEntities(2) if tag not in inside])
    left_out = [f"{loose} surfaces that belong to no solid"] if loose else []
    gmsh.option.setNumber("Mesh.MeshSizeMax", _diagonal(model, -1, -1) / 8.0)
    model.mesh.setSizeCallback(_edge_lengths(model, solids))
    try:
        model.mesh.generate(2)
        drawn = True
    except Exception as error:
        drawn = False
        left_out.append(f"the mesh for pictures: {' '.join(str(error).split())[:120]}")
    nodes, coordinates, _ = model.mesh.getNodes()
    places = {int(tag): k for k, tag in enumerate(nodes)}
    xyz = [coordinates[3 * k : 3 * k + 3].tolist() for k in range(len(nodes))]
    found = [_examined(model, tag, places if drawn else {}, xyz) for tag in solids]
    return {"solids": found, "left_out": left_out}


def _faces(model: Any, tag: int) -> list[tuple[int, int]]:
    return model.getBoundary([(3, tag)], oriented=True, recursive=False)


def _diagonal(model: Any, dimension: int, tag: int) -> float:
    x0, y0, z0, x1, y1, z1 = model.getBoundingBox(dimension, tag)
    return math.dist((x0, y0, z0), (x1, y1, z1))


def _edge_lengths(model: Any, solids: list[int]) -> Callable[..., float]:
    """Return the function for edge lengths [m]: by curvature, but not finer than needed for
    display.
    """
    finest: dict[tuple[int, int], float] = {}
    for tag in solids:
        least = _diagonal(model, 3, tag) / FINEST
        for dimension, part in [(3, tag), *model.getBoundary([(3, tag)], recursive=True)]:
            finest[dimension, abs(part)] = min(least, finest.get((dimension, abs(part)), least))
        for _, face in _faces(model, tag):
            for dimension, part in [(2, face), *model.getBoundary([(2, face)], oriented=False)]:
                key = dimension, abs(part)
                finest[key] = min(least, finest.get(key, least))
    return lambda dimension, tag, x, y, z, length: max(length, finest.get((dimension, tag), 0.0))


def _examined(model: Any, tag: int, places: dict[int, int], xyz: list[Any]) -> dict[str, Any]:
    """Return volume, centre, inertia, cylindrical faces and triangles of one STEP solid."""
    name = model.getEntityName(3, tag).rpartition("/")[2]
    cylinders = []
    points: list[Any] = []
    own: dict[int, int] = {}
    triangles: list[int] = []
    if places:
        model.mesh.setOutwardOrientation(tag)  # boundaries do not tell it: signs may all be one
    for _, signed in _faces(model, tag):
        face = abs(signed)
        if model.getType(2, face) == "Cylinder":
            cylinders.append(_cylinder(model, tag, face))
        if not places:
            continue
        _, _, corners = model.mesh.getElements(2, face)
        for three in corners[0].reshape(-1, 3) if len(corners) else ():
            for node in three:
                k = places[int(node)]
                if k not in own:
                    own[k] = len(points)
                    points.append(xyz[k])
                triangles.append(own[k])
    return {
        "name": name,
        "volume": model.occ.getMass(3, tag),
        "com": list(model.occ.getCenterOfMass(3, tag)),
        "inertia": [float(each) for each in model.occ.getMatrixOfInertia(3, tag)],
        "cylinders": cylinders,
        "points": points,
        "triangles": triangles,
    }


def _cylinder(model: Any, tag: int, face: int) -> list[Any]:
    """Return the data of a cylindrical face: point and direction of its axis, radius, ends along
    the axis, angle, and whether it is a hole.
    """
    reals = [float(each) for each in model.getEntityProperties(2, face)[1]]
    at, axis, radius = reals[:3], reals[3:6], reals[6]
    (u0, v0), (u1, v1) = model.getParametrizationBounds(2, face)
    middle = model.getValue(2, face, [(u0 + u1) / 2.0, (v0 + v1) / 2.0])
    along = sum((m - a) * e for m, a, e in zip(middle, at, axis, strict=True))
    foot = [a + along * e for a, e in zip(at, axis, strict=True)]
    within = [m + 1e-3 * (f - m) for m, f in zip(middle, foot, strict=True)]
    hole = not model.isInside(3, tag, within)
    half = abs(v1 - v0) / 2.0
    return [at, axis, radius, along - half, along + half, abs(u1 - u0), hole]


def main() -> None:
    """Print the content of the file named on the command line as JSON."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # no such limits on this system
    told = examine(sys.argv[1])
    sys.stdout.write("\x1e" + json.dumps(told))  # after whatever gmsh itself has printed
    sys.stdout.flush()


if __name__ == "__main__":
    main()
