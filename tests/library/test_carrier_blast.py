"""The load on the carrier's cradle after a departure as a table of the distance and the attitude of the module that has left."""

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.library import carrier
from kinetree.models.library.carrier_modules import LOWEST, REACH

ROW, TURN = 2.0, 0.002  # distance [m] and angle [rad] up to which the table goes
END = {"body": "cradle", "point": [REACH + 3.0 - 1.0, 0.0, LOWEST]}  # of the rail of module 1


def watched(**settings) -> dict:
    """Return a carrier whose load is a product of two lines, with what it depends on measured in other words."""
    raw = carrier.describe(modules=1, blast_field=1, **settings)
    raw["tables"]["blast_field"] = {
        "x": [0, ROW], "y": [0, TURN], "z": [[2000.0, 1000.0], [0.0, 0.0]], "method": "linear",
    }  # fmt: skip
    point = {"quantity": "position"}
    raw["outputs"] |= {
        "rear": {**point, "body": "module1", "point": [-1.0, 0.0, 0.0]},
        "end": {**point, **END},
        "of_module": {"quantity": "orientation", "body": "module1"},
        "of_cradle": {"quantity": "orientation", "body": "cradle"},
    }
    return raw


def nose(run, body: str) -> np.ndarray:
    """Return the x axis of a body in ground axes, from its unit quaternion."""
    w, x, y, z = (run[f"of_{body}[{k}]"] for k in (1, 2, 3, 4))
    return np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])


def test_load_is_that_of_the_table_at_the_measured_distance_and_angle():
    """A weak guide lets the module leave out of line by half the angle of the table; the balance of energy has the load."""
    system = load(watched()).compile(tilt_stiffness=500.0, tilt_damping=20.0, blast_factor=1.5)
    run = system.simulate(1.4, output_step=2e-3, tolerance=1e-8)
    apart = np.sqrt(sum((run[f"rear[{k}]"] - run[f"end[{k}]"]) ** 2 for k in (1, 2, 3)))
    angle = np.linalg.norm(np.cross(nose(run, "module").T, nose(run, "cradle").T), axis=1)
    flies = (run["stage"] == 2) & (apart < ROW)
    assert flies.sum() > 50 and angle[flies].max() > 0.4 * TURN
    law = 1.5 * 2000.0 * (1 - apart / ROW) * (1 - 0.5 * np.arcsin(angle) / TURN)
    assert run["blast_load1"][flies] == pytest.approx(law[flies], abs=0.05)
    assert np.abs(run["blast_load1"][run["stage"] != 2]).max() == 0.0
    assert np.abs(run["energy_residual"]).max() < 1e-6 * np.ptp(run["energy"])


def test_default_field_acts_nearly_as_the_load_over_time():
    """At the speed at which modules leave the distances are those of the times of the default load."""
    over_time, over_distance = (
        load("lib:carrier", modules=2, blast_field=switch)
        .compile()
        .simulate(2.4, output_step=0.01, tolerance=1e-6)
        for switch in (0, 1)
    )
    size = np.ptp(over_time["luff"])
    assert over_distance["luff"] == pytest.approx(over_time["luff"], abs=0.1 * size)
    assert np.abs(over_distance["luff"] - over_time["luff"]).max() > 1e-3 * size
    assert over_distance["blast_load2"].max() > 1500.0


def test_two_packs_are_loaded_each_where_its_module_has_left():
    forces = carrier.describe(modules=4, packs=2, blast_field=1)["forces"]
    sides = [forces[f"recoil{i}"]["point"][1] for i in (1, 2, 3, 4)]
    assert sides[0] == sides[1] == "-0.5*pack_distance"
    assert sides[2] == sides[3] == "0.5*pack_distance"


def test_field_is_a_switch():
    with pytest.raises(ModelError, match="blast_field is 2, expected 0 or 1"):
        load("lib:carrier", blast_field=2)
