"""Default shapes for display: rods between the joints of a body, a body of equal inertia, and joint
symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.models.description.schema import Body
from kinetree.models.scene.attachments import Numbers, Place, distinct
from kinetree.models.scene.shapes import Part, along, distance_outside, matrix, part

ROD, SLIM = 0.014, 0.007  # radii of rods and of thin links, as part of the mechanism's size
CLOSE = 0.004  # points nearer to each other are one, as part of the size
SMALLEST, LARGEST = 0.02, 0.35  # half sizes of inertia drawn as a body, as part of the size
METAL, DARK, PIN = "#aab3bd", "#66717d", "#4d5864"


def body_parts(
    body: Body,
    given: Sequence[Part],
    points: Sequence[np.ndarray],
    joints: int,
    numbers: Numbers,
    size: float,
) -> list[Part]:
    """Return the parts of a body: its shapes with thin links to points they do not reach; without
    shapes rods, a plate or a body of equal inertia.

    The first `joints` of the points are joints, the others points of forces and outputs.
    """
    mass, com = numbers.number(body.mass), numbers.vector(body.com)
    own = distinct(points, CLOSE * size)
    if given:
        return [*given, *links(given, distinct(points[:joints], CLOSE * size), size)]
    if mass > 0.0 and len(own) < 2:
        own = distinct([*own, com], CLOSE * size)
    if len(own) < 2:
        return [inertia_part(body, mass, com, numbers, size)]
    hub, ends = own[0], own[1:]
    found = [rod(hub, end, ROD * size) for end in ends]
    if (
        len(own) == 3
        and np.linalg.norm(np.cross(own[1] - own[0], own[2] - own[0])) > (0.05 * size) ** 2
    ):
        found = [
            rod(own[0], own[1], ROD * size),
            rod(own[0], own[2], ROD * size),
            rod(own[1], own[2], ROD * size),
            plate(own),
        ]
    if mass > 0.0 and min(off_line(com, hub, end) for end in ends) > 0.04 * size:
        found += [rod(hub, com, SLIM * size), part("sphere", (2.4 * ROD * size,), com, np.eye(3))]
    return found


def links(given: Sequence[Part], points: Sequence[np.ndarray], size: float) -> list[Part]:
    """Return thin rods from joints outside all shapes to the middle of the nearest shape."""
    found = []
    for point in points:
        gaps = [distance_outside(each, point) for each in given]
        if min(gaps) > 2.0 * CLOSE * size:
            found.append(
                rod(point, np.array(given[int(np.argmin(gaps))]["at"]), SLIM * size, METAL)
            )
    return found


def rod(a: np.ndarray, b: np.ndarray, radius: float, colour: str = "") -> Part:
    """Return a round bar between two points."""
    return part(
        "capsule", (radius, float(np.linalg.norm(b - a))), 0.5 * (a + b), along(b - a), colour
    )


def plate(corners: Sequence[np.ndarray]) -> Part:
    """Return a thin triangle between three points, visible from both sides."""
    points = np.array(corners)
    return part(
        "mesh",
        (),
        np.zeros(3),
        np.eye(3),
        "",
        0.55,
        points=points.ravel().tolist(),
        triangles=[0, 1, 2, 0, 2, 1],
    )


def off_line(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance of point p from the line segment between a and b."""
    d = b - a
    s = np.clip((p - a) @ d / (d @ d), 0.0, 1.0)
    return float(np.linalg.norm(p - a - s * d))


def inertia_part(body: Body, mass: float, com: np.ndarray, numbers: Numbers, size: float) -> Part:
    """Return a box, drum or ball with the mass and inertia of a body."""
    tensor = body.inertia or body.inertia_at_origin
    least, most = SMALLEST * size, LARGEST * size
    if tensor is None or mass <= 0.0:
        return part("sphere", (1.5 * least if mass > 0.0 else 0.7 * least,), com, np.eye(3))
    xx, yy, zz, xy, xz, yz = numbers.vector(tensor)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / mass
    if body.inertia is None:
        J -= (com @ com) * np.eye(3) - np.outer(com, com)
    moments, axes = np.linalg.eigh(J)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    squares = np.maximum(moments.sum() / 2 - moments, 0.0)  # of the radii along the axes, Σ m x²/m
    if np.ptp(moments) < 0.02 * moments.max(initial=0.0):
        return part(
            "sphere", (float(np.clip(np.sqrt(5.0 * squares.mean()), least, most)),), com, np.eye(3)
        )
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if abs(moments[i] - moments[j]) < 0.02 * moments.max():
            radius, height = (
                2.0 * np.sqrt(0.5 * (squares[i] + squares[j])),
                np.sqrt(12.0 * squares[k]),
            )
            return part(
                "cylinder",
                (np.clip(radius, least / 2, most), np.clip(height, least, 2 * most)),
                com,
                along(axes[:, k]),
            )
    return part("box", np.clip(np.sqrt(12.0 * squares), least, 2 * most), com, axes)


def joint_parts(
    place: Place,
    ranges: Mapping[str, tuple[float, float]],
    size: float,
    clearance: float,
    bare: bool = True,
) -> dict[str, list[Part]]:
    """Return the symbols of a joint on its parent and child: pins, balls, or guides of the length
    used.

    `bare`: the child has no shape of its own, so that its slider is drawn too.
    """
    found: dict[str, list[Part]] = {place.parent: [], place.child: []}
    turns = [move for move in place.moves if move.kind == "turn"]
    slides = [move for move in place.moves if move.kind == "slide"]
    if place.count("free") or len(slides) > 1:
        return found
    radius = 1.5 * ROD * size
    if place.count("ball") or len(turns) > 2:
        found[place.child].append(part("sphere", (1.25 * radius,), place.on_child, np.eye(3), PIN))
    for move in turns[:2] if len(turns) < 3 else []:
        found[place.child].append(
            part(
                "cylinder",
                (radius, max(3.0 * radius, 2.0 * clearance + radius)),
                place.on_child,
                along(move.on_child),
                PIN,
            )
        )
    if slides and place.moves[0].kind == "slide":
        low, high = ranges.get(slides[0].coordinate, (0.0, 0.0))
        margin = 0.06 * size
        a, b = (
            place.on_parent + (s + sign * margin) * slides[0].axis
            for s, sign in ((low, -1.0), (high, 1.0))
        )
        found[place.parent].append(rod(a, b, 0.4 * ROD * size, METAL))
        if not turns and bare:
            found[place.child].append(
                part(
                    "box",
                    np.array([2.6, 2.6, 4.0]) * ROD * size,
                    place.on_child,
                    along(slides[0].on_child),
                    DARK,
                )
            )
    return found


def pedestal(place: Place, down: np.ndarray, size: float) -> list[Part]:
    """Return the stand of a bearing on the ground, in the direction `down`."""
    turns = [move for move in place.moves if move.kind in ("turn", "ball")]
    if not turns or place.count("free") or place.count("slide") > 0 or place.parent != "ground":
        return []
    height = 0.07 * size
    foot = place.on_parent + height * down
    stand = part(
        "cone", (0.55 * height, height), place.on_parent + 0.5 * height * down, along(-down), DARK
    )
    return [stand, part("cylinder", (0.8 * height, 0.12 * height), foot, along(down), DARK)]


def shape_points(pieces: Sequence[Part]) -> list[np.ndarray]:
    """Return the corners of the bounding boxes of parts, in the axes of the body."""
    from kinetree.models.scene.shapes import half_extents

    found: list[np.ndarray] = []
    for piece in pieces:
        R, at, half = matrix(piece["turn"]), np.array(piece["at"]), half_extents(piece)
        found += [at + R @ (half * np.array(signs)) for signs in CORNERS]
    return found


CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
Look = dict[str, Any]
