"""Shapes as triangles with corners, normals and colours, for the software renderer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.models.scene.shapes import Part, matrix

ROUND, RINGS = 28, 14  # pieces around an axis, and from pole to pole
Triangles = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # corners (n, 3, 3), normals (n, 3, 3), colours (n, 3)


def rgb_of(colour: str) -> np.ndarray:
    """Return the linear RGB values of a colour #rrggbb."""
    return (np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0) ** 2.2


def lathe(
    profile: Sequence[tuple[float, float]], smooth: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the surface of revolution about z over (radius, height) from bottom to top; with flat
    faces between the corners of the profile, or smooth like a ball.
    """
    angles = np.linspace(0.0, 2 * np.pi, ROUND + 1)
    c, s = np.cos(angles), np.sin(angles)
    corners, normals = [], []
    points = np.array(profile)
    slopes = np.diff(points, axis=0)
    faces = np.column_stack([slopes[:, 1], -slopes[:, 0]])
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-30)
    for k in range(len(points) - 1):
        low, high = (
            np.column_stack([r * c, r * s, np.full(ROUND + 1, z)]) for r, z in points[k : k + 2]
        )
        ways = [faces[k], faces[k]]
        if smooth:
            ways = [
                way / (np.linalg.norm(way) or 1.0)
                for way in (
                    faces[max(k - 1, 0)] + faces[k],
                    faces[k] + faces[min(k + 1, len(faces) - 1)],
                )
            ]
        a, b = (np.column_stack([w[0] * c, w[0] * s, np.full(ROUND + 1, w[1])]) for w in ways)
        for j in range(ROUND):
            corners += [[low[j], low[j + 1], high[j + 1]], [low[j], high[j + 1], high[j]]]
            normals += [[a[j], a[j + 1], b[j + 1]], [a[j], b[j + 1], b[j]]]
    return np.array(corners), np.array(normals)


def flat(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return triangles with flat shading: corners and face normals."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    return corners, np.repeat(normal[:, np.newaxis], 3, axis=1)


def ball(radius: float, low: float = 0.0, high: float = 0.0) -> list[tuple[float, float]]:
    """Return the profile of a sphere, or of a capsule if its halves are separated (`low`, `high`)."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, RINGS + 1)
    return [(radius * np.cos(a), radius * np.sin(a) + (low if a < 0 else high)) for a in angles]


def surface(piece: Part) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles of a shape in its own axes."""
    kind, size = piece["kind"], piece["size"]
    if kind == "box":
        x, y, z = (0.5 * each for each in size)
        quads = []
        for axis, sign in ((k, s) for k in range(3) for s in (1.0, -1.0)):
            ring = [(1, 1), (-1, 1), (-1, -1), (1, -1)][:: int(sign)]
            quads.append([np.roll([sign, u, v], axis) for u, v in ring])
        points = np.array(quads) * (x, y, z)
        return flat(np.concatenate([points[:, [0, 1, 2]], points[:, [0, 2, 3]]]))
    if kind == "mesh":
        return flat(
            np.array(piece["points"]).reshape(-1, 3)[np.array(piece["triangles"]).reshape(-1, 3)]
        )
    if kind == "sphere":
        return lathe(ball(size[0]), smooth=True)
    radius, height = size[0], size[1]
    if kind == "capsule":
        return lathe(ball(radius, -height / 2, height / 2), smooth=True)
    if kind == "wheel":
        inner, half, shoulder = 0.6 * radius, height / 2, 0.35 * height / 2
        rim, side = (inner, half), (radius - shoulder, half)
        return lathe(
            [
                (inner, -half),
                (radius - shoulder, -half),
                (radius, shoulder - half),
                (radius, half - shoulder),
                side,
                rim,
                (inner, -half),
            ]
        )
    top = 0.25 * radius if kind == "cone" else radius
    return lathe([(0.0, -height / 2), (radius, -height / 2), (top, height / 2), (0.0, height / 2)])


def triangles(pieces: Sequence[Part], colour: str) -> Triangles:
    """Return the triangles of all opaque shapes of a body in the body's axes."""
    corners, normals, colours = [], [], []
    for piece in pieces:
        points, ways = surface(piece)
        R = matrix(piece["turn"])
        corners.append(points @ R.T + np.array(piece["at"]))
        normals.append(ways @ R.T)
        colours.append(np.tile(rgb_of(piece["colour"] or colour), (len(points), 1)))
    if not corners:
        return np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3))
    return np.concatenate(corners), np.concatenate(normals), np.concatenate(colours)


def line_parts(line: dict[str, Any], length: float) -> list[Part]:
    """Return the shapes of a spring, a rope or a cylinder of given length, along z from its first
    end.
    """

    def bar(radius: float, begin: float, end: float, colour: str) -> Part:
        return {
            "kind": "cylinder",
            "size": [radius, end - begin],
            "at": [0, 0, 0.5 * (begin + end)],
            "turn": [1, 0, 0, 0],
            "colour": colour,
        }

    radius, colour = line["radius"], line["colour"]
    size, at = [2.6 * radius, 2.6 * radius, 2.0 * radius], [0.0, 0.0, 4.0 * radius]
    box: list[Part] = (
        [{"kind": "box", "size": size, "at": at, "turn": [1, 0, 0, 0], "colour": line["commanded"]}]
        if "commanded" in line
        else []
    )
    if line["kind"] == "rope":
        return [*box, bar(radius, 0.0, length, colour)]
    if line["kind"] == "spring":
        return [*box, coil(radius, length, line["rest"], colour)]
    barrel = line["barrel"]
    eyes: list[Part] = [
        {
            "kind": "sphere",
            "size": [0.9 * radius],
            "at": [0, 0, z],
            "turn": [1, 0, 0, 0],
            "colour": "#66717d",
        }
        for z in (0.0, length)
    ]
    return [
        *box,
        *eyes,
        bar(radius, 0.0, barrel, colour),
        bar(0.55 * radius, 0.5 * barrel, max(length, 0.6 * barrel), "#c3c9d0"),
    ]


def turn_of_wire(line: dict[str, Any], a: np.ndarray, b: np.ndarray) -> Triangles:
    """Return one turn of wire between two poses (position, quaternion), following both ends."""
    s = np.linspace(0.0, 1.0, 33)[:, np.newaxis]
    axes = np.roll(np.eye(3), -line["axis"] - 1, axis=0)
    spokes = np.cos(2 * np.pi * s) * axes[0] + np.sin(2 * np.pi * s) * axes[1]
    first, second = spokes @ matrix(a[3:]).T, spokes @ matrix(b[3:]).T
    middle = (1.0 - s) * (a[:3] + line["radius"] * first) + s * (b[:3] + line["radius"] * second)
    away, tangent = (1.0 - s) * first + s * second, np.gradient(middle, axis=0)
    up = np.cross(tangent, away)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    away = np.cross(up, tangent)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    angles = np.linspace(0.0, 2 * np.pi, 11)[:, np.newaxis, np.newaxis]
    ways = np.cos(angles) * away + np.sin(angles) * up
    points = middle + line["wire"] * ways

    def faces(p: np.ndarray) -> np.ndarray:
        low, high, beside, across = p[:-1, :-1], p[:-1, 1:], p[1:, :-1], p[1:, 1:]
        return np.concatenate(
            [
                np.stack(each, axis=2).reshape(-1, 3, 3)
                for each in ((low, beside, high), (high, beside, across))
            ]
        )

    corners = faces(points)
    return corners, faces(ways), np.tile(rgb_of(line["colour"]), (len(corners), 1))


def coil(radius: float, length: float, rest: float, colour: str) -> Part:
    """Return a coil spring as a mesh: a tube of square section around a helix."""
    whole = max(rest, 0.2 * radius)
    end = min(0.12 * whole, 1.2 * radius) * length / whole
    turns = int(np.clip(round((whole - 2 * end) / (0.75 * radius)), 4, 22))
    s = np.linspace(0.0, 1.0, 14 * turns + 1)
    angle = 2 * np.pi * turns * s
    middle = np.column_stack(
        [radius * np.cos(angle), radius * np.sin(angle), end + (length - 2 * end) * s]
    )
    middle = np.vstack(
        [[0, 0, 0], [0, 0, 0.7 * end], middle, [0, 0, length - 0.7 * end], [0, 0, length]]
    )
    out = np.column_stack(
        [np.cos(np.r_[0, 0, angle, 0, 0]), np.sin(np.r_[0, 0, angle, 0, 0]), np.zeros(len(middle))]
    )
    up = np.tile([0.0, 0.0, 1.0], (len(middle), 1))
    wire = 0.16 * radius
    rings = np.stack(
        [
            middle + wire * (np.cos(a) * out + np.sin(a) * up)
            for a in np.pi * np.array([0, 0.5, 1, 1.5])
        ],
        axis=1,
    )
    faces = []
    for k in range(len(middle) - 1):
        for j in range(4):
            a, b, c, d = 4 * k + j, 4 * k + (j + 1) % 4, 4 * k + 4 + j, 4 * k + 4 + (j + 1) % 4
            faces += [a, b, d, a, d, c]
    return {
        "kind": "mesh",
        "size": [],
        "at": [0, 0, 0],
        "turn": [1, 0, 0, 0],
        "colour": colour,
        "points": rings.ravel().tolist(),
        "triangles": faces,
    }
