"""Mechanisms with contacts, as dicts: blocks in a plane, balls on a line."""

from __future__ import annotations

from typing import Any

from kinetree.models import load
from kinetree.models.system.system import System

G = 9.81


def plane_block(
    width: float,
    height: float,
    start: tuple[float, float, float],
    speed: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> dict[str, Any]:
    """A rectangular block of 1 kg in the x-z plane: body frame at its centre, coordinates x, z, angle."""
    inertia = (width**2 + height**2) / 12.0
    transforms = [
        {"shift": "x", "coordinate": "x", "start": start[0], "speed": speed[0]},
        {"shift": "z", "coordinate": "z", "start": start[1], "speed": speed[1]},
        {"rotate": "y", "coordinate": "phi", "start": start[2], "speed": speed[2]},
    ]
    return {
        "bodies": {"block": {"mass": 1.0, "inertia": [inertia, inertia, inertia, 0, 0, 0]}},
        "joints": {"move": {"child": "block", "transforms": transforms}},
    }


def feet(width: float, height: float, **keys: Any) -> dict[str, Any]:
    """Contacts of the two lower corners of a block."""
    return {
        side: {"body": "block", "point": [sign * width / 2, 0, -height / 2], **keys}
        for side, sign in (("left", -1), ("right", 1))
    }


def bead_on_a_dome(speed: float) -> dict[str, Any]:
    """A bead of 1 kg that slides down from the top of a smooth ball of 1 m."""
    transforms = [
        {"shift": "x", "coordinate": "x", "speed": speed},
        {"shift": "z", "coordinate": "z", "start": 1.0},
    ]
    bead = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    dome = {"body": "bead", "against": {"body": "ground", "radius": 1.0}}
    outputs = {"state": "dome.state"}
    return {
        "bodies": {"bead": bead},
        "joints": {"move": {"child": "bead", "transforms": transforms}},
        "contacts": {"dome": dome},
        "outputs": outputs,
    }


def line_of_balls(count: int, gap: float = 0.0, speed: float = 1.0, **keys: Any) -> dict[str, Any]:
    """Equal balls of radius 0.5 m on a line; the first one comes with a speed, 1 m away."""
    bodies = {f"b{k}": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]} for k in range(count)}
    joints = {}
    for k in range(count):
        start, moving = (k * (1.0 + gap) if k else -1.0), (speed if k == 0 else 0.0)
        joints[f"j{k}"] = {
            "child": f"b{k}",
            "type": "prismatic",
            "axis": "x",
            "coordinates": [f"x{k}"],
            "start": start,
            "speed": moving,
        }
    contacts = {
        f"c{k}": {
            "body": f"b{k}",
            "radius": 0.5,
            "against": {"body": f"b{k - 1}", "radius": 0.5},
            **keys,
        }
        for k in range(1, count)
    }
    return {"gravity": [0, 0, 0], "bodies": bodies, "joints": joints, "contacts": contacts}


def system(parts: dict[str, Any], **more: Any) -> System:
    """A compiled mechanism."""
    return load({"format": "kinetree/1", **parts, **more}).compile()
