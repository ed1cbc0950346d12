"""Films and pictures of a scene, rendered in software: .mp4 through the encoder of imageio-ffmpeg,
.gif through Pillow, single pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.result.atomic_file import whole_file
from kinetree.models.scene.default_shapes import ROD
from kinetree.models.scene.flexible_film import Bent, unpacked
from kinetree.models.scene.ground_surface import COLOUR
from kinetree.models.scene.overlays import beside, tools, with_scale
from kinetree.models.scene.shapes import along, matrix, part
from kinetree.models.scene.software_renderer import Eye, fill, stencil
from kinetree.models.scene.triangle_meshes import (
    Triangles,
    line_parts,
    rgb_of,
    triangles,
    turn_of_wire,
)

SIZES = {".mp4": (1280, 720), ".gif": (720, 405), ".png": (1280, 720)}
RATES = {".mp4": 30, ".gif": 15}  # frames per second
LONGEST, SHORTEST = 20.0, 4.0  # of a film [s]
PLOTS = 0.3  # of the width, where there are plots
FINE = 2  # pixels drawn per pixel of the picture, each way
ANGLE = np.radians(32.0)
MARGIN = 1.12  # of what is seen around the outline
SKY, FLOOR, GRID = rgb_of("#e9edf2"), rgb_of("#d9dfe6"), rgb_of("#b9c3cd")
FOOT = "#59636e"  # what holds springs and cylinders to the ground
GAMMA = (255.0 * np.linspace(0.0, 1.0, 4096) ** (1 / 2.2)).astype(np.uint8)  # linear light to bytes
AMBIENT, SUN, SHADE = 0.62, 0.52, 0.72


class Painter:
    """Renders one clip of a scene."""

    def __init__(self, data: Mapping[str, Any], size: tuple[int, int], clip: int = 0):
        self.data, self.clip = data, data["clips"][clip]
        self.time = unpacked(self.clip["time"], "<f8")
        self.poses = unpacked(self.clip["poses"]).reshape(self.time.size, len(data["bodies"]), 7)
        origin = self.clip["origin"]
        self.origin = (
            np.zeros((self.time.size, 3))
            if origin is None
            else unpacked(origin, "<f8").reshape(-1, 3)
        )
        self.bent = Bent(data, self.clip, self.time.size)
        self.poses = self.bent.exaggerated(self.poses)
        self.carried = self._carry()
        self.bodies = [
            triangles([*body["parts"], *body["joints"]], body["colour"]) for body in data["bodies"]
        ]
        self.number = {body["name"]: k for k, body in enumerate(data["bodies"])}
        feet = [
            part("box", np.array([3.4, 3.4, 2.2]) * ROD * data["size"], np.array(line[end]["point"]), np.eye(3), FOOT)
            for line in data["lines"] for end in "ab" if line[end]["body"] == "ground" and line["kind"] != "turn"
        ]  # fmt: skip
        self.ground = triangles([*data["scenery"], *data["bearings"], *feet], "#9aa4ae")
        self.up = np.array(data["up"])
        width = (
            int(size[0] * (1.0 - PLOTS))
            if any(plot["shown"] for plot in self.clip["plots"])
            else size[0]
        )
        self.size = size
        self.eye = self._eye((FINE * width, FINE * size[1]))
        self.empty = self._empty()

    def _carry(self) -> np.ndarray | None:
        """Return the path of the followed body, relative to which everything is drawn, or None."""
        body = self.data.get("follow")
        if body is None:
            return None
        places = self.poses[:, body, :3]
        way = np.nan_to_num(places - places[np.flatnonzero(np.isfinite(places[:, 0]))[0]])
        self.poses[:, :, :3] -= way[:, np.newaxis]
        self.origin = self.origin + way
        return way

    def _eye(self, size: tuple[int, int]) -> Eye:
        """Return the camera with the page's initial view."""
        up, middle, reach = (
            self.up,
            np.array(self.data["middle"]),
            max(self.data["reach"], 0.3 * self.data["size"]),
        )
        across = (
            np.array([0.62, -1.0, 0.0])
            if abs(up[2]) > 0.9
            else np.array([0.45, 0.0, 1.0])
            if abs(up[1]) > 0.9
            else np.array([0.0, 0.45, 1.0])
        )
        normal = None if self.data["normal"] is None else np.array(self.data["normal"])
        if normal is not None and abs(normal @ up) < 0.5:
            normal = normal * (-1.0 if normal @ across < 0.0 else 1.0)
            way = normal + 0.3 * np.cross(up, normal)
        else:
            way = across - (across @ up) * up
        way = way / np.linalg.norm(way) + 0.36 * up
        way = way / np.linalg.norm(way)
        distance = (
            self._fitting(way, size[0] / size[1])
            if self.data["outline"]
            else 1.06 * reach / np.sin(0.5 * ANGLE)
        )
        side = (
            np.array([0.5, -0.6, 0.0])
            if abs(up[2]) > 0.9
            else np.array([0.5, 0.0, 0.6])
            if abs(up[1]) > 0.9
            else np.array([0.0, 0.5, 0.6])
        )
        sun = 2.4 * up + 2.0 * side
        self.sun = sun / np.linalg.norm(sun)
        return Eye(middle + distance * way, middle, up, float(ANGLE), size)

    def _fitting(self, way: np.ndarray, aspect: float) -> float:
        """Return the camera distance at which the outermost points fill the picture."""
        right = np.cross(self.up, way)
        right = right / np.linalg.norm(right)
        p = np.array(self.data["outline"]) - np.array(self.data["middle"])
        wide = np.maximum(np.abs(p @ np.cross(way, right)), np.abs(p @ right) / max(aspect, 0.35))
        return max(
            0.3 * self.data["size"], float((p @ way + MARGIN * wide / np.tan(0.5 * ANGLE)).max())
        )

    def _empty(self, carried: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the picture of sky and floor, and the mask of pixels where the floor is visible."""
        width, height = self.eye.size
        x, y = np.meshgrid(
            (np.arange(width) - 0.5 * width) / self.eye.scale,
            (0.5 * height - np.arange(height)) / self.eye.scale,
        )
        rays = np.stack([x, y, np.full_like(x, -1.0)], axis=-1) @ self.eye.axes
        image = np.tile(SKY.astype(np.float32), (height, width, 1))
        floor = np.zeros((height, width), dtype=bool)
        if self.data["ground"] is None:
            return image, floor
        fall = rays @ self.up
        reach = max(self.data["reach"], 0.3 * self.data["size"])
        depth = np.where(
            fall < -1e-9,
            (self.data["ground"] - self.eye.place @ self.up) / np.minimum(fall, -1e-9),
            np.inf,
        )
        away = np.linalg.norm(self.eye.place - np.array(self.data["middle"]))
        fog = np.clip((depth * np.linalg.norm(rays, axis=-1) - 1.1 * away) / (2.5 * away), 0.0, 1.0)
        floor = np.isfinite(depth) & (fog < 1.0) & (depth > 0.0)
        places = self.eye.place + rays * np.where(floor, depth, 0.0)[..., np.newaxis]
        cell = 10.0 ** np.floor(np.log10(max(reach, self.data["size"]))) / 2.0
        plane = along(self.up)
        lines = np.zeros_like(floor)
        for axis in (plane[:, 0], plane[:, 1]):
            s = (places + carried - np.array(self.data["middle"])) @ axis / cell
            step = np.abs(np.gradient(s, axis=1)) + np.abs(np.gradient(s, axis=0))
            lines |= (np.abs(s - np.round(s)) < 0.75 * step) & (step < 0.4)
        earth = any(
            piece["colour"] == COLOUR for piece in self.data["scenery"]
        )  # a terrain goes on as a plane
        colour = np.where(
            (lines & floor)[..., np.newaxis] & (not earth), GRID, rgb_of(COLOUR) if earth else FLOOR
        )
        image[floor] = (colour * (1.0 - fog[..., np.newaxis]) + SKY * fog[..., np.newaxis])[floor]
        return image, floor

    def pieces(self, k: int) -> Iterator[Triangles]:
        """Yield all triangles of frame k in ground axes."""
        corners, normals, colours = self.ground
        yield corners - self.origin[k], normals, colours
        for b, (pose, triangles_of) in enumerate(zip(self.poses[k], self.bodies, strict=True)):
            if np.isfinite(pose[0]):
                corners, normals, colours = triangles_of
                R = matrix(pose[3:])
                if b in self.bent.colours:
                    colours = np.broadcast_to(self.bent.colours[b][k], colours.shape)
                yield corners @ R.T + pose[:3], normals @ R.T, colours
        yield from self.bent.surfaces(k, self.poses[k])
        for line in self.data["lines"]:
            ends = [self.point(k, line[end]) for end in "ab"]
            if line["kind"] == "turn":
                yield turn_of_wire(
                    line,
                    *(
                        np.r_[at, self.turn(k, line[end])]
                        for at, end in zip(ends, "ab", strict=True)
                    ),
                )
            elif all(np.isfinite(end).all() for end in ends):
                R = along(ends[1] - ends[0])
                corners, normals, colours = triangles(
                    line_parts(line, float(np.linalg.norm(ends[1] - ends[0]))), line["colour"]
                )
                yield corners @ R.T + ends[0], normals @ R.T, colours

    def point(self, k: int, end: Mapping[str, Any]) -> np.ndarray:
        if end["body"] == "ground":
            return np.array(end["point"]) - self.origin[k]
        pose = self.poses[k, self.number[end["body"]]]
        return pose[:3] + matrix(pose[3:]) @ np.array(end["point"])

    def turn(self, k: int, end: Mapping[str, Any]) -> np.ndarray:
        return (
            np.array([1.0, 0.0, 0.0, 0.0])
            if end["body"] == "ground"
            else self.poses[k, self.number[end["body"]], 3:]
        )

    def frame(self, k: int) -> np.ndarray:
        """Return the picture of frame k, height x width x 3 bytes."""
        image, floor = (
            (self.empty[0].copy(), self.empty[1])
            if self.carried is None
            else self._empty(self.carried[k])
        )
        nearness = np.zeros(floor.shape, dtype=np.float32)
        mask = np.zeros(floor.shape, dtype=np.uint8)
        everything = list(self.pieces(k))
        if self.data["ground"] is not None:
            for corners, _, _ in everything:
                drop = (corners @ self.up - self.data["ground"]) / (self.sun @ self.up)
                stencil(
                    mask, self.eye.see(corners - np.maximum(drop, 0.0)[..., np.newaxis] * self.sun)
                )
            image[(mask == 1) & floor] *= SHADE
        for corners, normals, colours in everything:
            facing = np.sign(np.einsum("nij,nij->ni", normals, self.eye.place - corners))[
                ..., np.newaxis
            ]
            ways = normals * np.where(facing == 0.0, 1.0, facing)
            light = AMBIENT * (0.8 + 0.2 * (ways @ self.up)) + SUN * np.maximum(
                ways @ self.sun, 0.0
            )
            fill(
                image,
                nearness,
                np.ascontiguousarray(self.eye.see(corners)),
                np.ascontiguousarray(colours[:, np.newaxis] * light[..., np.newaxis]),
            )
        height, width = floor.shape
        rows = image[::FINE] + image[1::FINE]
        small = (rows[:, ::FINE] + rows[:, 1::FINE]) * np.float32((GAMMA.size - 1) / FINE**2)
        return GAMMA[np.minimum(small, GAMMA.size - 1).astype(np.int32)]

    def picture(self, k: int) -> np.ndarray:
        """Return the picture of frame k with plots, name and time."""
        picture = self.frame(k)
        if self.bent.stress > 0.0:
            picture = with_scale(picture, self.bent.stress, self.bent.times)
        return beside(picture, self.data, self.clip, self.time, k, self.size)


def film(data: Mapping[str, Any], suffix: str, clip: int = 0) -> Iterator[np.ndarray]:
    """Yield the pictures of a clip at the frame rate of the format."""
    painter = Painter(data, SIZES[suffix], clip)
    span = float(painter.time[-1] - painter.time[0])
    length = float(np.clip(span, SHORTEST, LONGEST)) if span > 0.0 else 0.0
    for s in np.linspace(0.0, 1.0, max(1, round(length * RATES[suffix]))):
        yield painter.picture(int(np.abs(painter.time - (painter.time[0] + s * span)).argmin()))


def write_video(data: Mapping[str, Any], path: Path) -> Path:
    """Write a film as .mp4 or .gif."""
    suffix = path.suffix.lower()
    if suffix == ".gif":
        pictures = [tools().fromarray(picture).quantize(128) for picture in film(data, suffix)]
        with whole_file(path) as draft:
            pictures[0].save(
                draft,
                save_all=True,
                append_images=pictures[1:],
                duration=1000 // RATES[suffix],
                loop=0,
                optimize=True,
            )
        return path
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ValueError("films need imageio-ffmpeg: pip install kinetree[films]") from None
    with whole_file(path) as draft:
        writer = imageio_ffmpeg.write_frames(
            str(draft),
            SIZES[suffix],
            fps=RATES[suffix],
            codec="libx264",
            quality=7,
            macro_block_size=2,
        )
        writer.send(None)
        for picture in film(data, suffix):
            writer.send(np.ascontiguousarray(picture))
        writer.close()
    return path


def instant(data: Mapping[str, Any], at: float | None, clip: int = 0) -> float:
    """Return the fraction of a clip at a time; 0 (the start) without a time."""
    time = unpacked(data["clips"][clip]["time"], "<f8")
    if at is None or time.size < 2:
        return 0.0
    if not time[0] <= at <= time[-1]:
        raise ValueError(f"a picture at {at:g} s: the run goes from {time[0]:g} to {time[-1]:g} s")
    return float(np.abs(time - at).argmin()) / (time.size - 1)


def write_picture(
    data: Mapping[str, Any],
    path: Path,
    part: float = 0.0,
    clip: int = 0,
    size: tuple[int, int] = SIZES[".png"],
) -> Path:
    """Write one instant of a clip as a .png file."""
    painter = Painter(data, size, clip)
    with whole_file(path) as draft:
        tools().fromarray(painter.picture(int(round(part * (painter.time.size - 1))))).save(draft)
    return path
