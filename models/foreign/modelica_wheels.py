"""Import of the ideal rolling wheels of Modelica.Mechanics.MultiBody: sharp-edged discs on the
plane z = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.foreign.modelica_component import Component
from kinetree.models.foreign.modelica_parts import framed, quaternion, sequence
from kinetree.models.foreign.robot import Lump, numbers

if TYPE_CHECKING:
    from kinetree.models.foreign.modelica import Translation

WHEELS = ("RollingWheel",)
AXES = np.array([3, 2, 1])  # of the angles of a wheel, one after another


def add_wheel_body(t: Translation, c: Component) -> None:
    """Add the body of a wheel; a RollingWheel joint has no body of its own."""
    if c.kind.startswith("Parts."):
        long, axis = c.number("I_long", 0.0), c.number("I_axis", 0.0)
        lump = Lump(c.number("m", 0.0), np.zeros(3), np.diag([long, axis, long]))
        radius = c.number("radius", 1.0)
        upright = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # z of the shape along y
        shape = {"cylinder": [radius, radius / 5.0]}
        looks = [(shape, (upright, np.zeros(3)))]
        t.lumps.append((f"{c.path}.frame_a", lump, looks, c))


def add_wheels(t: Translation) -> None:
    """Add the rolling constraints of wheels, and free joints for wheels without another joint."""
    for c in t.model.components:
        if c.kind.rpartition(".")[2] not in WHEELS:
            continue
        cluster, pose = t.nodes.place(f"{c.path}.frame_a")
        name = t.bodies.get(cluster, "ground")
        if name == "ground":
            t.leave_out(c, "a wheel without a body")
            continue
        radius = c.number("radius", 1.0)
        place = {"centre": numbers(pose[1])} if pose[1].any() else {}
        key = t.sheet.fresh(c.path, "coupling", t.sheet.couplings)
        axis = numbers(pose[0][:, 1])
        t.sheet.couplings[key] = {
            "rolling": {"body": name, **place, "radius": radius, "axis": axis}
        }
        table = t.sheet.joints.get(f"{name}_free")
        if table is not None and table.get("child") == name and "parent" not in table:
            table.clear()
            table |= {"child": name, **_start(c, radius), **framed((np.eye(3), np.zeros(3)), pose)}


def _start(c: Component, radius: float) -> dict[str, object]:
    """Return the free joint of a wheel that stands on the plane with its start angles and rolls."""
    angles, rates = c.start_vector("angles"), c.start_vector("der_angles")
    R, w = np.eye(3), np.zeros(3)
    for axis, angle, rate in zip(AXES, angles, rates, strict=True):
        w += rate * R[:, axis - 1]
        R = R @ sequence(np.array([axis, 1, 1]), np.array([angle, 0.0, 0.0]))
    down = np.array([0.0, 0.0, -1.0])
    spoke = down - (down @ R[:, 1]) * R[:, 1]  # towards the lowest point of the rim
    arm = radius * spoke / np.linalg.norm(spoke)
    place = np.array([c.start("x"), c.start("y"), -arm[2]])
    velocity = -np.cross(w, arm)
    return {
        "type": "free",
        "start": [*numbers(place), *quaternion(R)],
        "speed": [*numbers(R.T @ velocity), *numbers(R.T @ w)],
    }
