"""Words for modes: heave, roll and pitch of a free body on springs, no speeds beside their coordinates."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.modal import mode_facts


def hull(up: str = "z", lying: bool = False) -> dict:
    """A block on four soft feet; gravity along -y or -z."""
    k = "xyz".index(up)
    gravity, place = [0.0] * 3, [0.0] * 3
    gravity[k], place[k] = -9.81, 0.72
    quaternion = [np.sqrt(0.5), np.sqrt(0.5), 0, 0] if lying else [1, 0, 0, 0]
    normal = [float(axis == k) for axis in range(3)]
    forces = {}
    for number, (along, across) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        point = [1.5 * along, 0.0, 0.0]
        point[3 - k] = 0.8 * across
        # The feet are below in ground axes, so a hull that lies has them at its side.
        point[k] = -0.5
        if lying:
            point = [point[0], point[2], -point[1]]
        forces[f"foot{number}"] = {
            "kind": "contact", "body": "hull", "point": point, "radius": 0.3, "normal": normal,
            "stiffness": 3e4, "damping": 1500, "friction": 0.8,
        }  # fmt: skip
    return {
        "format": "kinetree/1",
        "gravity": gravity,
        "bodies": {"hull": {"mass": 1000, "inertia": [300, 1500, 1700, 0, 0, 0]}},
        "joints": {"hull": {"child": "hull", "type": "free", "start": [*place, *quaternion]}},
        "forces": forces,
    }


def swings(description: dict | str) -> str:
    system = load(description).compile()
    modes = mode_facts(system.equilibrium().linear)
    return "; ".join(mode.word for mode in modes if mode.eigenvalue.imag)


@pytest.mark.parametrize("up", ["y", "z"])
def test_vehicle_modes_are_named_heave_roll_and_pitch(up: str):
    words = swings(hull(up))
    assert all(f"({word})" in words for word in ("heave", "roll", "pitch"))
    assert f"shift_{up} (heave)" in words


def test_body_on_its_side_has_no_vehicle_mode_names():
    assert "(" not in swings(hull(lying=True))


def test_speeds_are_not_named_beside_their_coordinates():
    words = swings("lib:double-pendulum")
    assert "swing of" in words and "der(" not in words
