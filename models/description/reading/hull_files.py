"""Contact hulls given by mesh files: `shape = { hull = "jaw.stl" }` becomes the corners of the
mesh's convex hull.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree.models.description.reading.source_location import Origin
from kinetree.models.description.surfaces import NoReader, SurfaceError, read_surface
from kinetree.models.forces.convex_hull import hull_of
from kinetree.models.language.errors import Problem, shown

ROLES = ("shape", "against")  # keys of a contact that have an outline


def fill_hulls(raw: dict[str, Any], origin: Origin) -> list[Problem]:
    """Replace file names of hulls in forces by the corners of the hulls; unreadable files become
    problems of the force.
    """
    problems = []
    given = raw.get("forces")
    forces: dict[str, Any] = given if isinstance(given, dict) else {}
    for name, force in list(forces.items()):
        for role in ROLES if isinstance(force, dict) else ():
            outline = force.get(role)
            if not isinstance(outline, dict) or not isinstance(outline.get("hull"), str):
                continue
            file, corners = outline["hull"], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
            try:
                scale = float(outline.get("scale", 1.0))
                corners = hull_corners(Path(origin.file).parent / file, scale)
            except (SurfaceError, NoReader, ValueError, TypeError) as error:
                problems.append(
                    Problem(
                        key=f"forces.{name}.{role}.hull",
                        file=origin.file,
                        line=origin.line(("forces", name)),
                        found=shown(file),
                        hint=str(error),
                    )
                )
            rest = {key: value for key, value in outline.items() if key != "scale"}
            forces[name] = forces[name] | {role: rest | {"hull": corners}}
    return problems


def hull_corners(path: Path, scale: float) -> list[list[float]]:
    """Return the corners [m] of the convex hull of a mesh."""
    found = hull_of(read_surface(path).points * scale)
    if found is None:
        raise ValueError("the points of the mesh lie in one plane")
    return found.corners.tolist()
