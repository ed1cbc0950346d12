"""Terms for the rigid-body motions of vehicles and ships: surge, sway, heave, roll, pitch, yaw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.controllers.expansion import values_of
from kinetree.models.expressions.parse import evaluate_constant

if TYPE_CHECKING:
    from kinetree.models.system.system import System

UPRIGHT = 0.9  # cosine of the angle to the vertical up to which a body has a roll and a yaw
WORDS = (("surge", "sway", "heave"), ("roll", "pitch", "yaw"))  # along and about x, y, z with z up
NAMES = (("shift_x", "shift_y", "shift_z"), ("turn_x", "turn_y", "turn_z"))
SPEEDS = (("vx", "vy", "vz"), ("wx", "wy", "wz"))


def vehicle_motions(system: System, q: np.ndarray) -> dict[str, str]:
    """Return these terms for local coordinates and speeds of free joints on the ground, by name.

    x points ahead and z, or y, up; without gravity, or for a body on its side, there are none.
    """
    up = vertical_axis(system)
    if up is None:
        return {}
    order = (0, 1, 2) if up == 2 else (0, 2, 1)  # with y up: z is to the side
    place = {name: float(value) for name, value in zip(system.coordinates, q, strict=True)}
    found = {}
    for label, joint in system.description.joints.items():
        quaternion = [place.get(f"{label}.q{part}") for part in "wxyz"]
        if joint.type != "free" or joint.parent != "ground" or None in quaternion:
            continue
        _, x, y, z = (float(part or 0.0) for part in quaternion)
        beside = (x * x + y * y) if up == 2 else (x * x + z * z)
        if 1.0 - 2.0 * beside < UPRIGHT:
            continue
        for names in (NAMES, SPEEDS):
            for kinds, words in zip(names, WORDS, strict=True):
                found |= {f"{label}.{kinds[order[k]]}": word for k, word in enumerate(words)}
    return found


def vertical_axis(system: System) -> int | None:
    """Return the ground axis, y or z, along which gravity acts downwards, or None."""
    values = values_of(system.description)
    gravity = np.array(
        [evaluate_constant(part, dict(values)) for part in system.description.gravity]
    )
    size = float(np.abs(gravity).max())
    if size == 0.0:
        return None
    axis = int(np.abs(gravity).argmax())
    return axis if axis and gravity[axis] < -UPRIGHT * float(np.linalg.norm(gravity)) else None
