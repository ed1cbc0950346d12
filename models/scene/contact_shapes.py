"""Display shapes of bodies without a given shape, derived from their contacts: spheres, outlines,
rolling discs, ellipsoids, blades.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kinetree.models.description.schema import Description
from kinetree.models.forces.convex_hull import hull_of
from kinetree.models.language.parts.coupling_parts import Rolling
from kinetree.models.scene.attachments import Numbers, turned
from kinetree.models.scene.shapes import Part, along, extruded, part

DISC_THICKNESS = 0.05  # thickness of a sharp-edged disc by its radius
FLAT_THICKNESS = 0.05  # thickness of a polygon without one, by its size
FACE_TOLERANCE = 1e-6  # of the size of a hull: how far its corners lie beside a face they belong to
BLADE_RADIUS = 0.035  # radius of the wheel that shows a blade, by the size of the scene
ELLIPSOID_RINGS, ELLIPSOID_SECTORS = 14, 28  # of an ellipsoid
BLADE_COLOUR = "#2b2f36"


def outlines(description: Description, numbers: Numbers) -> dict[str, list[Part]]:
    """Return the contact shapes by body for display."""
    found: dict[str, list[Part]] = {}

    def add(body: str, piece: Part | None) -> None:
        if piece is not None and body != "ground":
            found.setdefault(body, []).append(piece)

    for coupling in description.couplings.values():
        if coupling.rolling is not None:
            add(coupling.rolling.body, rolling_part(coupling.rolling, numbers))
    for contact in description.contacts.values():
        add(contact.body, ball(contact, numbers))
        if contact.against is not None:
            add(contact.against.body, ball(contact.against, numbers))
    force: Any  # kinds differ in their keys
    for force in description.forces.values():
        touching, against = getattr(force, "shape", None), getattr(force, "against", None)
        if touching is not None:
            add(force.body, outline_part(touching, numbers.vector(force.point), numbers))
        elif force.kind == "contact":
            add(force.body, ball(force, numbers))
        if against is not None:
            add(against.body, outline_part(against, numbers.vector(against.point), numbers))
    return found


def ball(touching: Any, numbers: Numbers) -> Part | None:
    """Return the sphere of a contact, or None for a point."""
    radius = numbers.number(touching.radius)
    return (
        part("sphere", (radius,), numbers.vector(touching.point), np.eye(3))
        if radius > 0.0
        else None
    )


def outline_part(outline: Any, point: np.ndarray, numbers: Numbers) -> Part | None:
    """Return the sphere, capsule, box, cylinder or polygon of a contact for display, or None for a
    plane.
    """
    R = np.eye(3)
    if outline.axis is not None:
        R = along(numbers.vector(outline.axis))
    elif outline.rotate is not None:
        for axis, angle in zip(np.eye(3), numbers.vector(outline.rotate), strict=True):
            R = turned(axis, angle) @ R
    for kind in ("capsule", "box", "cylinder"):
        if getattr(outline, kind) is not None:
            return part(kind, numbers.vector(getattr(outline, kind)), point, R)
    if outline.hull is not None:
        return part("mesh", (), point, R, **hull_part(outline.hull_points))
    if outline.polygon is not None:
        corners = [numbers.vector(corner) for corner in outline.polygon]
        size = float(np.ptp(corners, axis=0).max())
        high = (
            FLAT_THICKNESS * size
            if outline.thickness is None
            else numbers.number(outline.thickness)
        )
        return part("mesh", (), point, R, **extruded(corners, high))
    return (
        part("sphere", (numbers.number(outline.sphere),), point, R)
        if outline.sphere is not None
        else None
    )


def hull_part(points: Any) -> Part:
    """Return the triangles of a convex hull."""
    hull = hull_of(points)
    if hull is None:
        return {"points": [], "triangles": []}
    triangles = []
    for *normal, offset in hull.planes:
        on = np.flatnonzero(
            np.abs(hull.corners @ normal + offset) <= FACE_TOLERANCE * np.ptp(hull.corners)
        )
        corners = hull.corners[on] - hull.corners[on].mean(axis=0)
        across = corners[0] / np.linalg.norm(corners[0])
        beside = np.cross(normal, across)
        around = on[np.argsort(np.arctan2(corners @ beside, corners @ across))]
        triangles += [int(k) for a, b in pairwise(around[1:]) for k in (around[0], a, b)]
    return {"points": hull.corners.ravel().tolist(), "triangles": triangles}


def rolling_part(rolling: Rolling, numbers: Numbers) -> Part:
    """Return the shape of a rolling body: a ball, a thin disc or an ellipsoid."""
    centre = numbers.vector(rolling.centre)
    if rolling.semiaxes is not None:
        return part("mesh", (), centre, np.eye(3), **ellipsoid(numbers.vector(rolling.semiaxes)))
    radius = numbers.number(rolling.radius)
    if rolling.axis is not None:
        return part(
            "cylinder",
            (radius, DISC_THICKNESS * radius),
            centre,
            along(numbers.vector(rolling.axis)),
        )
    return part("sphere", (radius,), centre, np.eye(3))


def ellipsoid(semiaxes: np.ndarray) -> Part:
    """Return an ellipsoid as rings of triangles."""
    theta, phi = (
        np.linspace(0.0, np.pi, ELLIPSOID_RINGS + 1),
        np.arange(ELLIPSOID_SECTORS) * 2.0 * np.pi / ELLIPSOID_SECTORS,
    )
    ball = np.stack(
        [
            np.outer(np.sin(theta), np.cos(phi)),
            np.outer(np.sin(theta), np.sin(phi)),
            np.outer(np.cos(theta), np.ones(ELLIPSOID_SECTORS)),
        ],
        axis=-1,
    )
    triangles = []
    for i in range(ELLIPSOID_RINGS):
        for j in range(ELLIPSOID_SECTORS):
            a, b, c, d = (
                r * ELLIPSOID_SECTORS + s % ELLIPSOID_SECTORS
                for r, s in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            )
            triangles += [
                *([a, b, c] if i < ELLIPSOID_RINGS - 1 else []),
                *([a, c, d] if i else []),
            ]
    return {"points": (ball.reshape(-1, 3) * semiaxes).ravel().tolist(), "triangles": triangles}


def blades(description: Description, numbers: Numbers, size: float) -> dict[str, list[Part]]:
    """Return a narrow wheel for each body that has a blade constraint with the ground."""
    found: dict[str, list[Part]] = {}
    for coupling in description.couplings.values():
        if coupling.blade is not None:
            blade, radius = coupling.blade, BLADE_RADIUS * size
            piece = part(
                "cylinder",
                (radius, 0.3 * radius),
                numbers.vector(blade.point),
                along(numbers.vector(blade.normal)),
                BLADE_COLOUR,
            )
            found.setdefault(blade.body, []).append(piece)
    return found
