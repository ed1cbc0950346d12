"""Gears, racks, brakes, bearings and motors are drawn where they act, and teeth never cut into one another."""

from typing import Any

import numpy as np
import pytest
from tree import ROOT

from kinetree.models import load
from kinetree.models.scene.command_targets import CONTROLLED
from kinetree.models.scene.joint_drive_graphics import CALLIPER, MOTOR
from kinetree.models.scene.make_scenes import run_data, start_scene
from kinetree.models.scene.shapes import matrix
from kinetree.models.scene.video import unpacked


def wheels(**forces: Any) -> dict[str, Any]:
    """A wheel in the origin, one 0.5 m beside it, a slide below; axes along y."""
    bodies = {
        name: {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
        for name in ("first", "second", "bar")
    }
    turn = {"rotate": "y"}
    return {
        "format": "kinetree/1", "name": "wheels", "bodies": bodies, "forces": forces, "run": {"stop_time": 1.0},
        "joints": {
            "first": {"child": "first", "transforms": [{**turn, "coordinate": "a", "start": 0.3, "speed": 2.0}]},
            "second": {"child": "second", "transforms": [{"shift": [0.5, 0, 0]}, {**turn, "coordinate": "b", "start": -0.3, "speed": -2.0}]},
            "bar": {"child": "bar", "transforms": [{"shift": [0.2, 0, -0.3]}, {"shift": "x", "coordinate": "x", "start": 0.0}]},
        },
    }  # fmt: skip


def pieces(data: dict[str, Any], body: str) -> list[dict[str, Any]]:
    return (
        data["scenery"] + data["bearings"]
        if body == "ground"
        else next(each["parts"] for each in data["bodies"] if each["name"] == body)
    )


def outline(piece: dict[str, Any], pose: np.ndarray) -> np.ndarray:
    """Corners of a toothed wheel in the plane of x and z."""
    points = np.array(piece["points"]).reshape(-1, 3)
    points = points[: len(points) // 4]  # the outer rim, one face
    points = np.array(piece["at"]) + points @ matrix(piece["turn"]).T
    return (pose[:3] + points @ matrix(pose[3:]).T)[:, [0, 2]]


@pytest.mark.parametrize(("ratio", "speed"), [(1.0, -2.0), (2.0, -1.0), (0.25, -8.0)])
def test_drawn_gear_teeth_mesh_while_turning(ratio: float, speed: float):
    from matplotlib.path import Path

    described = wheels(
        mesh={
            "kind": "gear",
            "coordinate": "a",
            "other": "b",
            "ratio": ratio,
            "stiffness": 1e6,
            "damping": 10.0,
        }
    )
    described["joints"]["second"]["transforms"][1] |= {"start": -0.3 / ratio, "speed": speed}
    data = run_data(load(described).compile().simulate(1.0, output_step=0.02))
    poses = unpacked(data["clips"][0]["poses"]).reshape(-1, 3, 7)
    first, second = (
        next(piece for piece in pieces(data, name) if piece["kind"] == "mesh")
        for name in ("first", "second")
    )
    reach = [
        np.linalg.norm(np.array(piece["points"]).reshape(-1, 3)[:, :2], axis=1).max()
        for piece in (first, second)
    ]
    assert sum(reach) > 0.5, "they do not reach one another"
    for pose in poses:
        a, b = outline(first, pose[0]), outline(second, pose[1])
        assert not Path(b).contains_points(a).any() and not Path(a).contains_points(b).any()


def test_drawn_pinion_turns_inside_ring_gear():
    data = start_scene(
        load(
            wheels(
                mesh={
                    "kind": "gear",
                    "coordinate": "a",
                    "other": "b",
                    "ratio": -3.0,
                    "stiffness": 1e6,
                }
            )
        ).compile()
    ).data()
    inner, ring = (
        next(piece for piece in pieces(data, name) if piece["kind"] == "mesh")
        for name in ("first", "second")
    )
    radius = {
        id(piece): np.linalg.norm(np.array(piece["points"]).reshape(-1, 3)[:, :2], axis=1)
        for piece in (inner, ring)
    }
    assert (
        radius[id(inner)].max() < 0.3 < radius[id(ring)].min() < 0.75 < radius[id(ring)].max()
    )  # pitch radii 0.25 and 0.75


def test_drawn_pinion_radius_matches_rack():
    data = start_scene(
        load(
            wheels(
                mesh={
                    "kind": "gear",
                    "coordinate": "x",
                    "other": "a",
                    "ratio": 0.08,
                    "stiffness": 1e6,
                }
            )
        ).compile()
    ).data()
    pinion = next(piece for piece in pieces(data, "first") if piece["kind"] == "mesh")
    radius = np.linalg.norm(np.array(pinion["points"]).reshape(-1, 3)[:, :2], axis=1).max()
    assert 0.08 < radius < 0.1
    heights = {
        round(piece["at"][2] - 0.3, 3)
        for piece in pieces(data, "bar")
        if piece["kind"] == "box" and piece["size"][0] < 0.05
    }
    assert len(heights) == 1 and 0.07 < abs(heights.pop()) < 0.09, (
        "its teeth stand where they touch the pinion"
    )


def test_brakes_and_motors_sit_on_their_joints():
    described = wheels(
        stop={"kind": "brake", "coordinate": "a", "largest": 1.0, "stiffness": 50.0},
        drive={"coordinate": "b", "value": "m - drag*der(b)"},
    )
    described |= {"inputs": {"m": {"unit": "N.m"}}, "parameters": {"drag": 1.0}}
    data = start_scene(load(described).compile()).data()
    colours = [piece["colour"] for piece in pieces(data, "ground")]
    assert colours.count(CALLIPER) == 1 and colours.count(MOTOR) == 1 and CONTROLLED not in colours
    assert any(piece["kind"] == "cylinder" for piece in pieces(data, "first"))
    described["actuators"] = {"servo": {"coordinate": "x"}}
    described["controllers"] = {"hold": {"measure": "x", "kp": 10.0, "drives": "servo"}}
    colours = [
        piece["colour"] for piece in pieces(start_scene(load(described).compile()).data(), "ground")
    ]
    assert colours.count(MOTOR) == 2 and colours.count(CONTROLLED) == 1


def test_friction_without_drive_is_not_drawn_as_motor():
    data = start_scene(
        load(wheels(loss={"coordinate": "a", "value": "-0.1*der(a)"})).compile()
    ).data()
    assert MOTOR not in [piece["colour"] for piece in pieces(data, "ground")]


def test_bushings_are_drawn_on_both_bodies():
    mount = {
        "kind": "bushing", "between": [{"body": "first", "point": [0, 0, 0.1]}, {"body": "second", "point": [-0.5, 0, 0.1]}],
        "stiffness": [1e3, 1e3, 1e3, 10, 10, 1],
    }  # fmt: skip
    data = start_scene(load(wheels(mount=mount)).compile()).data()
    sleeve, pin = (
        next(p for p in pieces(data, name) if p["kind"] == kind)
        for name, kind in (("first", "wheel"), ("second", "cylinder"))
    )
    assert sleeve["at"] == [0, 0, 0.1] and pin["at"] == [-0.5, 0, 0.1]
    assert np.allclose(matrix(sleeve["turn"])[:, 2], [0, 0, 1]) and np.allclose(
        matrix(pin["turn"])[:, 2], [0, 0, 1]
    )
    mount["stiffness"] = [0, 0, 0, 10, 0, 0]
    assert not [
        p
        for p in pieces(start_scene(load(wheels(mount=mount)).compile()).data(), "first")
        if p["kind"] == "wheel"
    ]


def test_commands_without_coordinate_are_drawn():
    """A green box on the struts, at the loaded points and on the cylinders whose valves a controller commands; on nothing else."""
    described = wheels(
        push={"body": "bar", "force": ["go", 0, 0], "point": [0.1, 0, 0]},
        free={"body": "bar", "force": [1.0, 0, 0], "point": [-0.1, 0, 0]},
        strut={
            "between": [{"point": [0, 0, 1]}, {"body": "first", "point": [0, 0, 0.1]}],
            "value": "2*go",
        },
        spring={
            "between": [{"point": [1, 0, 1]}, {"body": "first", "point": [0, 0, 0.1]}],
            "stiffness": 10.0,
            "length": 1.0,
        },
    )
    described |= {"controllers": {"go": {"measure": "a", "kp": 1.0}}}
    data = start_scene(load(described).compile()).data()
    boxes = [
        piece
        for piece in next(each["joints"] for each in data["bodies"] if each["name"] == "bar")
        if piece["colour"] == CONTROLLED
    ]
    assert len(boxes) == 1 and boxes[0]["at"][0] == pytest.approx(0.1)
    assert {line["name"] for line in data["lines"] if "commanded" in line} == {"strut"}


def test_valve_command_highlights_its_cylinder():
    from kinetree.models.language.parts.controller_parts import PidController
    from kinetree.models.scene.command_targets import commanded

    described = load(str(ROOT / "examples" / "excavator" / "excavator.toml")).description
    assert commanded(described) == set()
    valve = described.hydraulics["boom_valve"].model_copy(update={"command": "hold"})
    controllers = {"hold": PidController(measure="0", kp=1.0)}
    heard = commanded(
        described.model_copy(
            update={
                "controllers": controllers,
                "hydraulics": described.hydraulics | {"boom_valve": valve},
            }
        )
    )
    assert "boom_cylinder" in heard and "stick_cylinder" not in heard


def test_ground_supports_are_visible():
    held = {"between": [{"point": [0, 0, 3]}, {"body": "bar"}], "stiffness": 10.0, "length": 1.0}
    foot = {
        "between": [{"point": [0, 0, -2]}, {"body": "first", "point": [0.1, 0, 0]}],
        "stiffness": 10.0,
        "length": 1.0,
    }
    data = start_scene(load(wheels(held=held, foot=foot)).compile()).data()
    heights = [point[2] for point in data["outline"]]
    assert max(heights) >= 3.0 and min(heights) <= -2.0 and data["ground"] < -2.0
