"""A falling stack of blocks with gaps, which land on each other, slide and come to rest.

Simultaneous contacts of corners and planes with restitution and friction; at rest every block
carries the weight above it. Argument: blocks (1 to 12). Verified by: weight on every interface at
rest, energy that never grows, the first impact of free fall.
"""

from __future__ import annotations

from typing import Any

from kinetree.models.library.argument_checks import Argument, whole

MAX_BODIES = 12
ARGUMENTS = {"blocks": Argument("number of blocks", 1, MAX_BODIES)}


def describe(blocks: int = 4) -> dict[str, Any]:
    """Return the description of a stack of blocks in a vertical plane."""
    n = whole("blocks", blocks, 1, MAX_BODIES)
    bodies, joints, contacts = {}, {}, {}
    for i in range(1, n + 1):
        turn = "mass*(width**2 + height**2)/12"
        bodies[f"block{i}"] = {
            "mass": "mass",
            "inertia": [turn, turn, turn, 0, 0, 0],
            "shape": {"box": ["width", "width", "height"]},
        }
        below, parent = ("ground", "ground") if i == 1 else (f"block{i - 1}", f"block{i - 1}")
        joints[f"move{i}"] = {
            "parent": parent,
            "child": f"block{i}",
            "transforms": [
                {"shift": "x", "coordinate": f"x{i}", "start": "offset" if i > 1 else 0},
                {
                    "shift": "z",
                    "coordinate": f"z{i}",
                    "start": "height + gap" if i > 1 else "height/2 + gap",
                },
                {"rotate": "y", "coordinate": f"angle{i}", "start": 0},
            ],
        }
        for side, sign in (("left", "-"), ("right", "")):
            contacts[f"{side}{i}"] = {
                "body": f"block{i}", "point": [f"{sign}width/2", 0, "-height/2"], "on": below, "at": [0, 0, 0 if i == 1 else "height/2"],
                "restitution": "restitution", "friction": "friction",
            }  # fmt: skip
    return {
        "format": "kinetree/1",
        "name": f"Falling stack of {n} blocks",
        "text": "Blocks that land one on another and rest",
        "gravity": [0, 0, -9.81],
        "parameters": {
            "mass": {"value": 2.0, "unit": "kg", "text": "of a block"},
            "width": {"value": 0.4, "unit": "m", "text": "of a block"},
            "height": {"value": 0.2, "unit": "m", "text": "of a block"},
            "gap": {"value": 0.05, "unit": "m", "text": "below each block at the start"},
            "offset": {
                "value": 0.0,
                "unit": "m",
                "text": "of each block from the one below it; planes have no edges",
            },
            "restitution": {"value": 0.2, "text": "coefficient of restitution"},
            "friction": {"value": 0.5, "text": "coefficient of friction"},
        },
        "bodies": bodies,
        "joints": joints,
        "contacts": contacts,
        "outputs": {"energy": {"quantity": "energy"}}
        | {
            f"load{i}": {"value": f"left{i}.force + right{i}.force", "unit": "N"}
            for i in range(1, n + 1)
        }
        | {"energy": {"quantity": "energy"}},
        "run": {"stop_time": 2.0, "output_step": 0.01, "tolerances": 1e-9},
    }
