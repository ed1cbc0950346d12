"""The initial camera of a scene: its target and the points that must be visible."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.scene import default_shapes
from kinetree.models.scene.shapes import matrix

if TYPE_CHECKING:
    from kinetree.models.scene.scene import Scene

MAX_REACH_IN_SIZES = (
    1.0  # sizes from the middle that the first view shows, where something goes farther than
)
WIDE = 2.2  # sizes from it: all of what stays inside is shown
ROOM = 1.5  # around what the eye goes with
LOOKED = 80  # frames that decide what is seen
WAYS = np.array(
    [way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)]
)  # directions in which the outline is looked for


@dataclass(frozen=True)
class View:
    """The view target: middle, radius, outermost points, and all points relative to the moving
    middle.
    """

    middle: np.ndarray
    reach: float
    outline: np.ndarray
    cloud: np.ndarray
    places: np.ndarray
    heights: np.ndarray


def first_view(
    cloud: np.ndarray, start: np.ndarray, size: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return middle and radius of the points that stay close together, and the outermost of them."""
    away = np.linalg.norm(cloud - start, axis=1)
    near = cloud[away < MAX_REACH_IN_SIZES * size] if away.max() > WIDE * size else cloud
    low, high = near.min(axis=0), near.max(axis=0)
    return (
        0.5 * (low + high),
        0.5 * float(np.linalg.norm(high - low)),
        near[np.unique((near @ WAYS.T).argmax(axis=0))],
    )


def travelling(places: np.ndarray, size: float) -> bool:
    """Return whether a body travels so far that the camera has to follow it."""
    known = places[np.isfinite(places[:, 0])]
    return bool(known.size) and float(np.linalg.norm(known - known[0], axis=1).max()) > WIDE * size


def followed(scene: Scene) -> int | None:
    """Return the index of the heaviest body if it travels, which the camera then follows; else
    None.
    """
    if not scene.bodies or scene.host is not None:
        return None
    masses = [scene.numbers.number(scene.description.bodies[name].mass) for name in scene.bodies]
    heaviest = int(np.argmax(masses))
    return (
        heaviest
        if travelling(scene.motion.poses[scene.bodies[heaviest]][:, :3], scene.size)
        else None
    )


def carried(scene: Scene) -> np.ndarray:
    """Return the displacement of the view's middle over time, with the host or the followed body."""
    if scene.host is not None:
        return scene.motion.poses[scene.bodies[scene.host]][:, :3]
    if scene.follow is None:
        return np.zeros((scene.motion.time.size, 3))
    places = scene.motion.poses[scene.bodies[scene.follow]][:, :3]
    return places - places[np.flatnonzero(np.isfinite(places[:, 0]))[0]]


def view_of(scene: Scene) -> View:
    """Return the view of everything that stays close during the run."""
    frames = np.unique(
        np.linspace(0, scene.motion.time.size - 1, min(LOOKED, scene.motion.time.size)).astype(int)
    )
    seen, gone = [], []
    way = carried(scene)
    for name in scene.bodies:
        own = [*default_shapes.shape_points(scene.parts[name]), *scene.boxes.get(name, ())]
        corners = np.array([*own, *scene.points[name]]).reshape(-1, 3)
        for pose, away in zip(scene.motion.poses[name][frames], way[frames], strict=True):
            if np.isfinite(pose[0]) and np.isfinite(away[0]):
                seen.append(pose[:3] - away + corners @ matrix(pose[3:]).T)
                gone += [away] * len(corners)
    if not seen:
        return View(
            np.zeros(3),
            scene.size,
            np.zeros((0, 3)),
            np.zeros((0, 3)),
            np.zeros((0, 3)),
            np.zeros(0),
        )
    first = (
        np.vstack(
            [
                np.reshape(scene.at_start(name, points), (-1, 3))
                for name in scene.bodies
                for points in (
                    [*default_shapes.shape_points(scene.parts[name]), *scene.boxes.get(name, ())],
                )
            ]
        )
        - way[0]
    )
    cloud = np.vstack(seen)
    fixed = (
        [*scene.points["ground"], *default_shapes.shape_points(scene.joints["ground"])]
        if scene.follow is None and scene.host is None
        else []
    )
    middle, reach, outline = first_view(
        np.vstack([cloud, *fixed]), 0.5 * (first.min(axis=0) + first.max(axis=0)), scene.size
    )
    if scene.follow is not None:  # room to see where it goes
        reach, outline = ROOM * reach, middle + ROOM * (outline - middle)
    places = cloud + np.array(gone)
    return View(middle, reach, outline, cloud, places, places @ scene.up)
