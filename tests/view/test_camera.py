"""What is seen first: all of what stays, the body that travels; what touches and rolls is drawn, terrains and ruts are where contacts have them."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.scene.contact_shapes import ellipsoid
from kinetree.models.scene.make_scenes import run_data
from kinetree.models.scene.video import Painter, unpacked

BALL = {
    "format": "kinetree/1",
    "name": "ball on hills",
    "bodies": {"ball": {"mass": 1.0, "inertia": [0.004, 0.004, 0.004, 0, 0, 0]}},
    "joints": {"free": {"child": "ball", "type": "free", "start": [0, 0, 0.3, 1, 0, 0, 0]}},
    "forces": {
        "touch": {
            "kind": "contact",
            "body": "ball",
            "radius": 0.1,
            "stiffness": 1e5,
            "damping": 100.0,
            "height": "0.1*sin(3*ground.x)",
        }
    },
}
RIG = {
    "format": "kinetree/1",
    "name": "rig",
    "bodies": {"wheel": {"mass": 510.0}},
    "joints": {"rig": {"child": "wheel", "transforms": [{"shift": "x", "by": "t"}, {"shift": "z", "coordinate": "z", "start": 0.53}]}},
    "forces": {
        "tyre": {
            "kind": "tyre", "body": "wheel", "radius": 0.55, "stiffness": 5e6, "damping": 1e4,
            "soil": {"friction_modulus": 1.5e6, "cohesion_modulus": 5270, "exponent": 0.7, "width": 0.25, "viscosity": 100, "stiffness": 2e7,
                     "damping": 3e3, "track": {"at": [0.1, 0, 0], "length": 1.0, "cells": 11}},
        }
    },
}  # fmt: skip


def seen(data: dict, k: int) -> np.ndarray:
    """Where the bodies of a frame are in the picture, as parts of its size."""
    painter = Painter({**data, "clips": [{**data["clips"][0], "plots": []}]}, (300, 200))
    middles = np.array([pose[:3] for pose in painter.poses[k] if np.isfinite(pose[0])])
    x, y, _ = painter.eye.see(middles).T
    return np.stack([x / painter.eye.size[0], y / painter.eye.size[1]])


@pytest.mark.parametrize(
    "name", ["double-pendulum", "pendulum", "trailer", "rolling-disc", "mobile-robot", "elasto-gap"]
)
def test_initial_view_contains_all_bodies(name: str):
    """A pendulum that swings to the other side and a car that drives away were out of the picture."""
    data = run_data(load(f"lib:{name}").compile().simulate(3.0))
    frames = unpacked(data["clips"][0]["time"], "<f8").size
    for k in np.linspace(0, frames - 1, 12).astype(int):
        places = seen(data, int(k))
        assert places.min() > 0.0 and places.max() < 1.0, (name, k)


def test_camera_follows_travelling_bodies():
    assert run_data(load("lib:trailer").compile().simulate(10.0))["follow"] == 0
    assert run_data(load("lib:trailer").compile().simulate(1.0))["follow"] is None
    assert run_data(load("lib:carrier", modules=2).compile().simulate())["follow"] is None, (
        "modules leave, the carrier stays"
    )


def test_rolling_bodies_are_drawn_rolling():
    celt = run_data(load("lib:rattleback").compile().simulate(0.05))["bodies"][0]["parts"]
    corners = np.array(celt[0]["points"]).reshape(-1, 3)
    np.testing.assert_allclose((corners / [0.2, 0.03, 0.02]) ** 2 @ np.ones(3), 1.0, atol=1e-9)
    made = ellipsoid(np.array([1.0, 2.0, 3.0]))
    points, faces = (
        np.array(made["points"]).reshape(-1, 3),
        np.array(made["triangles"]).reshape(-1, 3),
    )
    assert np.linalg.det(points[faces]).sum() / 6.0 == pytest.approx(
        4 / 3 * np.pi * 6.0, rel=0.03
    ), "triangles do not close around the volume"


def test_terrain_is_drawn_under_path():
    data = run_data(load(BALL).compile().simulate(1.0))
    mesh = next(piece for piece in data["scenery"] if piece["kind"] == "mesh")
    points = np.array(mesh["points"]).reshape(-1, 3)
    np.testing.assert_allclose(points[:, 2], 0.1 * np.sin(3 * points[:, 0]), atol=1e-4)
    poses = unpacked(data["clips"][0]["poses"]).reshape(-1, 7)
    assert (
        points[:, 0].min() < poses[:, 0].min()
        and points[:, 0].max() > poses[:, 0].max()
        and data["ground"] < points[:, 2].min()
    )
    assert data["bodies"][0]["parts"][0]["kind"] == "sphere" and data["bodies"][0]["parts"][0][
        "size"
    ] == [0.1]


def test_drawn_ruts_match_soil_states():
    result = load(RIG).compile().simulate(0.6, integrator="radau", output_step=0.02)
    data = run_data(result)
    depths = unpacked(data["clips"][0]["ruts"][0]).reshape(-1, 11)
    np.testing.assert_allclose(
        depths[-1], [result[f"tyre.rut_{k}"][-1] for k in range(1, 12)], rtol=1e-6, atol=1e-9
    )
    assert depths[0].max() == 0.0 and depths[-1, 3] > 0.005 and depths[-1, 9] == 0.0, (
        "the wheel has passed cell 4 and not cell 10"
    )
    strip = data["strips"][0]
    np.testing.assert_allclose(
        np.subtract(strip["left"], strip["right"]), np.tile([0.0, 0.25, 0.0], (11, 1)), atol=1e-12
    )
    np.testing.assert_allclose(
        0.5 * np.add(strip["left"], strip["right"])[[0, -1]], [[0.1, 0, 0], [1.1, 0, 0]], atol=1e-12
    )
