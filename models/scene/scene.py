"""A scene as plain data: bodies with their shapes, poses over time, elements between bodies,
arrows, traces, plots, time marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.description.mass_properties import folder_of
from kinetree.models.description.schema import Description
from kinetree.models.scene import (
    default_shapes,
    flexible_shapes,
    force_graphics,
    ground_surface,
    joint_drive_graphics,
)
from kinetree.models.scene.attachments import Numbers, Place, held_points, places
from kinetree.models.scene.body_poses import Motion
from kinetree.models.scene.camera import MAX_REACH_IN_SIZES, followed, view_of
from kinetree.models.scene.contact_shapes import blades, outlines
from kinetree.models.scene.plotted_columns import curves, marks, packed
from kinetree.models.scene.shapes import Part, given_part, matrix

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

PALETTE = (
    "#4878a8",
    "#d08a3e",
    "#5f9e6e",
    "#b5615a",
    "#8a78b0",
    "#4f9fa8",
    "#a98467",
    "#c9699c",
    "#7f9140",
    "#6b7fc2",
)
FARAWAY = 300.0  # sizes of the bodies to what holds them: the scene goes with the first body then
MAX_MECHANISM_SIZE = 1e15  # of a mechanism [m]
TRACES, SHOWN = 12, 2  # of a page, and of those at first


class Scene:
    """All displayed content of a mechanism; `data()` returns it as the page reads it."""

    def __init__(
        self,
        description: Description,
        motion: Motion,
        result: Result | None = None,
        folder: Path | None = None,
    ):
        self.description, self.motion, self.result = description, motion, result
        self.numbers = Numbers(description)
        self.folder = folder or folder_of(description)
        self.places = [
            p
            for p in places(description, self.numbers)
            if {p.parent, p.child} <= {"ground", *motion.poses}
        ]
        self.bodies = [name for name in motion.poses if name in description.bodies]
        self.boxes = flexible_shapes.boxes(description)
        self.points = self._points()
        self.given = self._given()
        self.size = self._size()
        self.up, self.weight = self._up()
        self.parts, self.joints = self._parts()
        self.follow = followed(self)
        self.view = view_of(self)
        self.middle, self.reach = self.view.middle, self.view.reach
        self.terrain = ground_surface.under(self)

    # -- what there is ----------------------------------------------------------------------------------------------------------------------
    def _points(self) -> dict[str, list[np.ndarray]]:
        """Return the points of every body, with those of joints first."""
        found: dict[str, list[np.ndarray]] = {name: [] for name in ("ground", *self.bodies)}
        self.jointed = dict.fromkeys(found, 0)
        for place in self.places:
            if not place.count("free"):
                found[place.parent].append(place.on_parent)
                found[place.child].append(place.on_child)
                self.jointed[place.parent] += 1
                self.jointed[place.child] += 1
        for body, points in held_points(self.description, self.numbers).items():
            if body in found:
                found[body] += points
        return found

    def _given(self) -> dict[str, list[Part]]:
        """Return the shapes of the description, or contact shapes for bodies without any."""
        found, touching = {}, outlines(self.description, self.numbers)
        for name in self.bodies:
            body = self.description.bodies[name]
            shapes = [*([body.shape] if body.shape is not None else []), *body.shapes]
            found[name] = [
                given_part(
                    shape, self.numbers, self.folder, body.at if shape is body.shape else None
                )
                for shape in shapes
            ] or touching.get(name, [])
        return found

    def at_start(self, body: str, points: list[np.ndarray]) -> list[np.ndarray]:
        """Return points of a body in ground axes, in the first frame in which the body exists."""
        if body == "ground":
            return points
        there = np.flatnonzero(np.isfinite(self.motion.poses[body][:, 0]))
        if not there.size:
            return []
        pose = self.motion.poses[body][there[0]]
        return [pose[:3] + matrix(pose[3:]) @ point for point in points]

    def _size(self) -> float:
        """Return the largest extent of the mechanism at the start, without distant attachments."""
        seen, core = [], []
        for name in self.bodies:
            com = self.numbers.vector(self.description.bodies[name].com)
            shapes = [*default_shapes.shape_points(self.given[name]), *self.boxes.get(name, ())]
            own = self.at_start(name, [com, *shapes])
            core += own
            seen += [*own, *self.at_start(name, self.points[name])]
        inner, found = extent(core), extent([*seen, *self.points["ground"]])
        self.host = 0 if inner > 0.0 and found > FARAWAY * inner else None
        if self.host is not None:
            found = inner
            for name in self.bodies:
                com = self.numbers.vector(self.description.bodies[name].com)
                near = [
                    bool(np.linalg.norm(point - com) < FARAWAY * inner)
                    for point in self.points[name]
                ]
                self.jointed[name] = sum(near[: self.jointed[name]])
                self.points[name] = [
                    point for point, kept in zip(self.points[name], near, strict=True) if kept
                ]
            self.places = [place for place in self.places if place.parent != "ground"]
        if found <= 1e-9:
            found = max(
                (extent(pose[np.isfinite(pose[:, 0]), :3]) for pose in self.motion.poses.values()),
                default=0.0,
            )
        if (
            found > MAX_MECHANISM_SIZE
        ):  # squares of single precision end at 1e38, and graphics hang beyond
            raise ValueError(
                f"the mechanism is {found:.3g} m large; scenes are drawn up to {MAX_MECHANISM_SIZE:g} m"
            )
        return found if found > 1e-9 else 1.0

    def _up(self) -> tuple[np.ndarray, bool]:
        """Return the upward direction: against gravity, or z or y without gravity."""
        gravity = self.numbers.vector(self.description.gravity)
        strength = float(np.linalg.norm(gravity))
        self.normal = self._plane()
        if strength > 1e-9:
            return -gravity / strength, True
        flat = self.normal is not None and abs(self.normal[2]) > 0.9
        return np.array([0.0, 1.0, 0.0]) if flat else np.array([0.0, 0.0, 1.0]), False

    def _plane(self) -> np.ndarray | None:
        """Return the normal of the plane in which everything moves, or None."""
        turns, slides = [], []
        for place in self.places:
            R = np.eye(3)
            if place.parent != "ground":
                pose = self.motion.poses[place.parent]
                there = np.flatnonzero(np.isfinite(pose[:, 0]))
                R = matrix(pose[there[0], 3:]) if there.size else R
            turns += [R @ move.axis for move in place.moves if move.kind == "turn"]
            slides += [R @ move.axis for move in place.moves if move.kind == "slide"]
            if place.count("ball") or place.count("free"):
                return None
        if not turns:
            return None
        n = turns[0]
        plane = all(np.linalg.norm(np.cross(n, each)) < 1e-3 for each in turns) and all(
            abs(n @ each) < 1e-3 for each in slides
        )
        return n if plane else None

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return minimum and maximum of the coordinates during the run."""
        if self.result is None:
            return {}
        names = [
            move.coordinate
            for place in self.places
            for move in place.moves
            if move.coordinate in self.result
        ]
        return {
            name: (float(np.nanmin(self.result[name])), float(np.nanmax(self.result[name])))
            for name in names
        }

    def _parts(self) -> tuple[dict[str, list[Part]], dict[str, list[Part]]]:
        """Return the shapes of bodies and ground, and those of joints."""
        size, ranges = self.size, self.ranges()
        standing, self.contacts = force_graphics.standing(self.description, self.numbers, size)
        for name, pieces in blades(self.description, self.numbers, size).items():
            standing.setdefault(name, []).extend(pieces)
        parts: dict[str, list[Part]] = {
            "ground": [
                given_part(each, self.numbers, self.folder) for each in self.description.scenery
            ]
        }
        joints: dict[str, list[Part]] = {name: [] for name in ("ground", *self.bodies)}
        skinned = {
            part
            for name, r in self.description.reduced.items()
            if "skin_points" in r.skin
            for part in (name, f"{name}.frame", *(f"{name}.{face}" for face in r.interfaces))
        }
        for name in self.bodies:
            body = self.description.bodies[name]
            if name in skinned and not self.given[name]:
                parts[name] = [*standing.get(name, ())]
                continue
            own = (
                []
                if not self.given[name] and name in standing and not self.points[name]
                else self.given[name]
            )
            made = default_shapes.body_parts(
                body, own, self.points[name], self.jointed[name], self.numbers, size
            )
            parts[name] = [*made, *standing.get(name, ())]
        parts["ground"] += standing.get("ground", ())
        for place in self.places:
            if ("joints", place.joint) in self.description.pieces:
                continue  # hinges of beams: they bend without a symbol
            clearance = max(
                (
                    thickness(self.given[each], point)
                    for each, point in ends(place)
                    if each in self.given
                ),
                default=0.0,
            )
            for body, pieces in default_shapes.joint_parts(
                place, ranges, size, clearance, not self.given.get(place.child)
            ).items():
                joints[body] += pieces
            if self.weight and self.host is None:
                joints["ground"] += default_shapes.pedestal(
                    place, self.up if self.hangs(place) else -self.up, size
                )
        joint_drive_graphics.dress(
            self,
            joint_drive_graphics.axes_of(self.places, self.motion.poses, ranges),
            parts,
            joints,
        )
        return parts, joints

    def hangs(self, place: Place) -> bool:
        """Return whether the child of a joint on the ground is below it at the start."""
        if place.child not in self.bodies:
            return False
        com = self.at_start(
            place.child, [self.numbers.vector(self.description.bodies[place.child].com)]
        )
        arm = com[0] - place.on_parent if com else np.zeros(3)
        return float(arm @ self.up) < -0.7 * float(np.linalg.norm(arm)) < 0.0

    def ground_height(self) -> float | None:
        """Return the height of the ground plane along `up`: that of contacts, else below
        everything.
        """
        if self.terrain is not None:
            return float(min(self.terrain["points"][2::3])) - 0.02 * self.size
        known = [
            c["height"]
            for c in self.contacts
            if c["height"] is not None and np.array(c["normal"]) @ self.up > 0.999
        ]
        if known:
            return float(min(known))
        if not self.weight or not self.bodies or self.host is not None:
            return None
        standing = default_shapes.shape_points(self.parts["ground"])
        if standing:  # scenery stands on it
            return float((np.array(standing) @ self.up).min())
        lowest = float(
            self.view.heights[
                np.linalg.norm(self.view.cloud - self.middle, axis=1)
                < MAX_REACH_IN_SIZES * self.size
            ].min(initial=0.0)
        )
        held = (*self.points["ground"], *(np.array(piece["at"]) for piece in self.joints["ground"]))
        feet = min((float(at @ self.up) for at in held), default=lowest)
        return min(lowest, feet) - 0.03 * self.size

    # -- what moves -------------------------------------------------------------------------------------------------------------------------
    def traces(self) -> list[dict[str, Any]]:
        """Return the points whose paths can be shown: position outputs, then the ends of the tree."""
        found: list[dict[str, Any]] = []
        seen: list[tuple[str, np.ndarray]] = []

        def add(name: str, body: str, point: np.ndarray) -> None:
            near = any(
                other == body and np.linalg.norm(point - at) < 1e-6 * self.size
                for other, at in seen
            )
            if body in self.motion.poses and not near and len(found) < TRACES:
                seen.append((body, point))
                found.append(
                    {
                        "name": name,
                        "body": body,
                        "point": point.tolist(),
                        "shown": len(found) < SHOWN,
                    }
                )

        for name, output in self.description.outputs.items():
            if output.quantity in ("position", "velocity") and output.body is not None:
                add(name, output.body, self.numbers.vector(output.point))
        parents = {place.parent for place in self.places}
        for name in self.bodies:
            if name not in parents:
                points = self.points[name][self.jointed[name] :]
                add(
                    name,
                    name,
                    points[0] if points else self.numbers.vector(self.description.bodies[name].com),
                )
        return found

    def arrows(self) -> list[dict[str, Any]]:
        """Return the arrows for joint reactions and contact forces."""
        found: list[dict[str, Any]] = []
        for place in self.places:
            if place.joint in self.motion.reactions and not place.count("free"):
                found.append(
                    {
                        "name": place.joint,
                        "kind": "reaction",
                        "body": place.child,
                        "point": place.on_child.tolist(),
                    }
                )
        for contact in self.contacts:
            if contact["name"] in self.motion.forces:
                found.append({"kind": "contact", **contact})
        return found

    def vectors(self, arrow: dict[str, Any], motion: Motion) -> str | None:
        """Return the vector of an arrow over time in ground axes."""
        if arrow["kind"] == "reaction":
            values = motion.reactions.get(arrow["name"])
        else:
            size = motion.forces.get(arrow["name"])
            values = None if size is None else size[:, np.newaxis] * np.array(arrow["normal"])
        return None if values is None else packed(np.nan_to_num(values))

    def clip(
        self, clip: Clip, arrows: list[dict[str, Any]], lines: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return poses, arrows, plots and marks of one motion."""
        motion = clip.motion
        poses = np.zeros((motion.time.size, len(self.bodies), 7))
        for k, name in enumerate(self.bodies):
            poses[:, k] = motion.poses[name]
        origin = poses[:, self.host, :3].copy() if self.host is not None else None
        if origin is not None:
            poses[:, :, :3] -= origin[:, np.newaxis]
        forces = (motion.forces.get(line["name"]) for line in lines)
        return {
            "name": clip.name, "time": packed(motion.time, "<f8"), "poses": packed(poses),
            "origin": None if origin is None else packed(origin, "<f8"),
            "vectors": [self.vectors(arrow, motion) for arrow in arrows],
            "forces": [None if values is None else packed(np.nan_to_num(values)) for values in forces],
            "plots": curves(clip.result, motion, self.description), "marks": marks(clip.result, motion), "rate": clip.rate,
            "ruts": [ground_surface.ruts(strip, clip.result, motion.rows) for strip in self.strips],
            "amplitudes": flexible_shapes.amplitudes(self.description, motion), **self.stresses(motion),
        }  # fmt: skip

    def stresses(self, motion: Motion) -> dict[str, Any]:
        """Return the stresses of beam pieces over time, and the largest stress of all flexible
        parts.
        """
        of_beams = flexible_shapes.beam_stresses(self.description, motion, self.bodies)
        largest = [float(each.max(initial=0.0)) for each in of_beams]
        largest += [
            flexible_shapes.largest_stress(r, motion, name)
            for name, r in self.description.reduced.items()
        ]
        return {
            "beam_stresses": [packed(each) for each in of_beams],
            "stress": max(largest, default=0.0),
        }

    def colour(self, body: str) -> str:
        """Return the default colour of a body; pieces of a beam have the colour of its root."""
        root = self.description.pieces.get(("bodies", body), body)
        return PALETTE[self.bodies.index(root if root in self.bodies else body) % len(PALETTE)]

    def data(self, more: Sequence[Clip] = ()) -> dict[str, Any]:
        """Return the data of the page; `more` are further motions that can be selected there."""
        d = self.description
        bodies = [
            {"name": name, "text": d.bodies[name].text, "colour": self.colour(name), "parts": self.parts[name], "joints": self.joints[name],
             "com": self.numbers.vector(d.bodies[name].com).tolist(), "mass": self.numbers.number(d.bodies[name].mass)}
            for name in self.bodies
        ]  # fmt: skip
        self.strips = ground_surface.strips(d, self.numbers, self.size)
        lines, arrows = (
            force_graphics.stretched(d, self.numbers, self.motion, self.size),
            self.arrows(),
        )
        return {
            "name": d.name, "text": d.text, "size": self.size, "middle": self.middle.tolist(), "reach": self.reach, "up": self.up.tolist(),
            "normal": None if self.normal is None else self.normal.tolist(), "ground": self.ground_height(), "bodies": bodies,
            "follow": self.follow,
            "scenery": self.parts["ground"], "bearings": self.joints["ground"], "lines": lines, "strips": self.strips, "arrows": arrows,
            "traces": self.traces(),
            "skins": flexible_shapes.skins(d), "beams": flexible_shapes.beams(d, self.bodies),
            "outline": self.view.outline.tolist(),
            "clips": [self.clip(each, arrows, lines) for each in (Clip("motion", self.motion, self.result), *more)],
        }  # fmt: skip


@dataclass(frozen=True)
class Clip:
    """One motion that the page can play."""

    name: str
    motion: Motion
    result: Result | None = None
    rate: float | None = None  # seconds of the motion per second of play


def extent(points: Sequence[np.ndarray] | np.ndarray) -> float:
    """Return the largest side of the bounding box of points."""
    return float(np.ptp(np.array(points), axis=0).max()) if len(points) > 1 else 0.0


def ends(place: Place) -> tuple[tuple[str, np.ndarray], ...]:
    return (place.parent, place.on_parent), (place.child, place.on_child)


def thickness(pieces: list[Part], point: np.ndarray) -> float:
    """Return half the thickness of the part around a joint, so that its pin is visible."""
    from kinetree.models.scene.shapes import distance_outside, half_extents

    inside = [
        float(np.sort(half_extents(piece))[0])
        for piece in pieces
        if piece["kind"] != "mesh" and distance_outside(piece, point) < 1e-9
    ]
    return max(inside, default=0.0)
