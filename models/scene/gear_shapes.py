"""Display of toothed wheels, ring gears and racks."""

from __future__ import annotations

import numpy as np

from kinetree.models.scene.shapes import Part, part

STEEL = "#8f99a5"
ADDENDUM, DEDENDUM = 1.0, 1.2  # of the module, outside and inside of the pitch circle
PROFILE = (
    (-0.42, 0),
    (-0.26, 0),
    (-0.13, 1),
    (0.13, 1),
    (0.26, 0),
)  # part of the pitch, whether at the tip: one tooth
SPARE = 4  # teeth of a rack beyond its way, on both sides
MAX_RACK_TEETH = 400  # teeth of a rack


def outline(radius: float, teeth: int, inner: bool = False) -> np.ndarray:
    """Return the corners of a toothed circle, the first tooth at angle 0."""
    module, sign = 2.0 * radius / teeth, -1.0 if inner else 1.0
    levels = radius - sign * DEDENDUM * module, radius + sign * ADDENDUM * module
    pitch = 2.0 * np.pi / teeth
    corners = [(pitch * (k + part), levels[top]) for k in range(teeth) for part, top in PROFILE]
    return np.array([(r * np.cos(s), r * np.sin(s)) for s, r in corners])


def band(outer: np.ndarray, inside: np.ndarray, thick: float) -> Part:
    """Return a ring between two outlines with equally many corners: two faces and both rims."""
    n = len(outer)
    points = np.vstack(
        [
            np.column_stack([flat, np.full(n, z)])
            for z in (-thick / 2, thick / 2)
            for flat in (outer, inside)
        ]
    )
    k = np.arange(n)
    j = (k + 1) % n
    low_out, low_in, top_out, top_in = 0, n, 2 * n, 3 * n

    def faces(a: int, b: int) -> np.ndarray:
        return np.vstack(
            [np.column_stack([k + a, j + a, j + b]), np.column_stack([k + a, j + b, k + b])]
        )

    triangles = np.vstack(
        [
            faces(low_in, low_out),
            faces(top_out, top_in),
            faces(low_out, top_out),
            faces(top_in, low_in),
        ]
    )
    return {"points": points.ravel().tolist(), "triangles": triangles.ravel().tolist()}


def toothed(
    at: np.ndarray, R: np.ndarray, radius: float, teeth: int, thick: float, phase: float
) -> list[Part]:
    """Return a gear wheel with a hub about the axis R z; a tooth points to the angle `phase`."""
    outer = outline(radius, teeth) @ turning(phase).T
    angles = np.arctan2(outer[:, 1], outer[:, 0])
    inside = 0.22 * radius * np.column_stack([np.cos(angles), np.sin(angles)])
    hub = part("cylinder", (0.3 * radius, 1.5 * thick), at, R, "#66717d")
    return [part("mesh", (), at, R, STEEL, **band(outer, inside, thick)), hub]


def teeth_of(piece: Part, radius: float) -> tuple[int, float] | None:
    """Return the number of teeth of a displayed wheel with that pitch radius, and the angle of one
    tooth; None for other parts.
    """
    if piece["kind"] != "mesh" or piece["colour"] != STEEL:
        return None
    corners = np.array(piece["points"]).reshape(-1, 3)
    teeth = len(corners) // (4 * len(PROFILE))
    tip = float(np.linalg.norm(corners[:, :2], axis=1).max())
    if abs(tip / (1.0 + 2.0 * ADDENDUM / max(teeth, 1)) - radius) > 0.02 * radius:
        return None
    return teeth, float(np.arctan2(corners[0, 1], corners[0, 0])) - PROFILE[0][
        0
    ] * 2.0 * np.pi / teeth


def ring(
    at: np.ndarray, R: np.ndarray, radius: float, teeth: int, thick: float, phase: float
) -> list[Part]:
    """Return a ring gear with internal teeth."""
    inside = outline(radius, teeth, inner=True) @ turning(phase).T
    angles = np.arctan2(inside[:, 1], inside[:, 0])
    outer = (radius * (1.0 + 5.0 / teeth)) * np.column_stack([np.cos(angles), np.sin(angles)])
    return [part("mesh", (), at, R, STEEL, **band(outer, inside, thick))]


def rack_teeth(
    at: np.ndarray, axes: np.ndarray, pitch: float, thick: float, way: tuple[float, float]
) -> list[Part]:
    """Return a rack along axes[:, 0] with teeth towards -axes[:, 1] and a gap at `at`, as long as
    its travel.
    """
    R = np.column_stack([axes[:, 0], axes[:, 1], np.cross(axes[:, 0], axes[:, 1])])
    module = pitch / np.pi
    low, high = (
        int(np.clip(round(s / pitch), -MAX_RACK_TEETH // 2, MAX_RACK_TEETH // 2)) for s in way
    )
    low, high = low - SPARE, high + SPARE
    bar = at + 0.5 * (low + high) * pitch * axes[:, 0] + (DEDENDUM + 0.5) * module * axes[:, 1]
    pieces = [part("box", ((high - low) * pitch, module, thick), bar, R, STEEL)]
    tooth = 0.42 * pitch, (ADDENDUM + DEDENDUM) * module, thick
    for k in range(low, high):
        middle = (
            at + (k + 0.5) * pitch * axes[:, 0] + 0.5 * (DEDENDUM - ADDENDUM) * module * axes[:, 1]
        )
        pieces.append(part("box", tooth, middle, R, STEEL))
    return pieces


def turning(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])
