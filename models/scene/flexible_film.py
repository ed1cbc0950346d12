"""Flexible parts in films and pictures: surfaces moved by modes, pieces of beams, colours of
stresses, exaggerated deformation.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kinetree.models.beams.body_surfaces import von_mises_of
from kinetree.models.scene.shapes import matrix
from kinetree.models.scene.triangle_meshes import Triangles, flat, rgb_of

HEAT = ("#264e9e", "#3996be", "#70be6e", "#f0c83c", "#cd2d28")  # of shares 0, 1/4, ..., 1
MOST_TURN = 1.5  # half of the angle by which an exaggerated piece turns at most [rad]


def unpacked(text: str, kind: str = "<f4") -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype=kind).astype(float)


def heat(parts: np.ndarray) -> np.ndarray:
    """Return linear RGB colours (..., 3) for fractions of the largest stress."""
    table = np.array([rgb_of(each) for each in HEAT]) ** (1 / 2.2)  # between colours as they look
    x = np.clip(parts, 0.0, 1.0)
    places = np.linspace(0.0, 1.0, len(HEAT))
    return np.stack([np.interp(x, places, table[:, k]) for k in range(3)], axis=-1) ** 2.2


class Skin:
    """A surface that modes deform, over the frames of a clip."""

    def __init__(self, data: Mapping[str, Any], amplitudes: np.ndarray, body: int, colour: str):
        self.body, self.colour, self.amplitudes = body, rgb_of(colour), amplitudes
        count = int(data["count"])
        self.points = unpacked(data["points"]).reshape(-1, 3)
        self.shapes = unpacked(data["shapes"]).reshape(count, -1)
        self.faces = unpacked(data["triangles"], "<i4").astype(int).reshape(-1, 3)
        given = data["stresses"]
        self.stresses = None if given is None else unpacked(given).reshape(count, -1)

    def triangles(self, k: int, times: float, stress: float) -> Triangles:
        """Return the triangles of frame k in axes of the body, with the deformation multiplied by
        `times`; coloured if a largest stress is given.
        """
        q = self.amplitudes[k]
        points = self.points + times * (q @ self.shapes).reshape(-1, 3)
        corners, normals = flat(points[self.faces])
        if self.stresses is None or stress <= 0.0:
            return corners, normals, np.tile(self.colour, (len(corners), 1))
        here = von_mises_of((q @ self.stresses).reshape(-1, 6))
        return corners, normals, heat(here[self.faces].mean(axis=1) / stress)


class Bent:
    """All flexible parts of a clip."""

    def __init__(self, data: Mapping[str, Any], clip: Mapping[str, Any], frames: int):
        numbers = {body["name"]: k for k, body in enumerate(data["bodies"])}
        self.times = float(data.get("bending", 1.0))
        self.stress = float(clip.get("stress", 0.0)) if data.get("stresses", True) else 0.0
        self.skins = [
            Skin(
                each,
                unpacked(q).reshape(frames, -1),
                numbers[each["body"]],
                data["bodies"][numbers[each["body"]]]["colour"],
            )
            for each, q in zip(data.get("skins", ()), clip.get("amplitudes", ()), strict=False)
        ]
        self.beams = [
            [(numbers[piece["body"]], float(piece["begin"])) for piece in beam["pieces"]]
            for beam in data.get("beams", ())
        ]
        self.colours: dict[int, np.ndarray] = {}  # (frames, 3) by body
        for pieces, text in zip(self.beams, clip.get("beam_stresses", ()), strict=False):
            if self.stress > 0.0:
                shares = unpacked(text).reshape(frames, -1) / self.stress
                self.colours |= {b: heat(shares[:, m]) for m, (b, _) in enumerate(pieces)}

    def exaggerated(self, poses: np.ndarray) -> np.ndarray:
        """Return poses (frames, bodies, 7) with the displacements of beam pieces from the
        undeformed beam exaggerated.
        """
        if self.times == 1.0 or not self.beams:
            return poses
        found = poses.copy()
        for pieces in self.beams:
            (root, _), *others = pieces
            for frame, pose in zip(found, poses, strict=True):
                if not np.isfinite(pose[root, 0]):
                    continue
                R = matrix(pose[root, 3:])
                for body, begin in others:
                    way = R.T @ (pose[body, :3] - pose[root, :3])
                    straight = np.array([begin, 0.0, 0.0])
                    moved = straight + self.times * (way - straight)
                    frame[body, :3] = pose[root, :3] + R @ moved
                    frame[body, 3:] = product(pose[root, 3:], self.turned(pose, root, body))
        return found

    def turned(self, pose: np.ndarray, root: int, body: int) -> np.ndarray:
        """Return the quaternion of a piece relative to the root with its angle exaggerated."""
        w, *v = product(pose[root, 3:] * (1.0, -1.0, -1.0, -1.0), pose[body, 3:])
        sine = float(np.linalg.norm(v))
        if sine < 1e-12:
            return np.array([1.0, 0.0, 0.0, 0.0])
        sign = -1.0 if w < 0.0 else 1.0
        half = min(self.times * float(np.arctan2(sine, sign * w)), MOST_TURN)
        return np.r_[np.cos(half), sign * np.sin(half) / sine * np.array(v)]

    def surfaces(self, k: int, poses: np.ndarray) -> Iterator[Triangles]:
        """Yield the surfaces of frame k in ground axes, with poses (bodies, 7)."""
        for skin in self.skins:
            pose = poses[skin.body]
            if np.isfinite(pose[0]):
                corners, normals, colours = skin.triangles(k, self.times, self.stress)
                R = matrix(pose[3:])
                yield corners @ R.T + pose[:3], normals @ R.T, colours


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the product of two quaternions w, x, y, z."""
    return np.r_[p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]
