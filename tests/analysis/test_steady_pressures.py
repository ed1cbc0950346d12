"""Pressures at the start that are found: nothing begins to move where they stand."""

import numpy as np
import pytest

from kinetree.models import ModelError, load

AREAS = 2e-3, 1e-3
LIFT = {
    "format": "kinetree/1",
    "name": "lift",
    "gravity": [0, 0, -9.81],
    "bodies": {
        "load": {"mass": 500.0, "inertia": [1, 1, 1, 0, 0, 0]},
        "swing": {"mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
    },
    "joints": {
        "z": {
            "child": "load",
            "transforms": [{"shift": "z", "coordinate": "z", "start": 1.2}],
        },
        "s": {
            "parent": "load",
            "child": "swing",
            "type": "revolute",
            "axis": "y",
            "coordinates": ["s"],
            "start": [np.pi / 2],
        },
    },
}
ENDS = [{"body": "ground", "point": [0, 0, 0]}, {"body": "load", "point": [0, 0, 0]}]
CYLINDER = {"area_a": AREAS[0], "area_b": AREAS[1], "shortest": 1.0, "longest": 1.6}
CHAMBERS = CYLINDER | {"volume_a": 1e-4, "volume_b": 1e-4}


def with_chambers(**pressures: float | str) -> dict:
    return LIFT | {"actuators": {"lift": {"between": ENDS, "chambers": CHAMBERS | pressures}}}


def still(system) -> dict[str, float]:
    """First row of a run in which nothing moves."""
    run = system.simulate(stop_time=0.2, output_step=0.1)
    assert np.ptp(run["z"]) < 1e-6 and np.ptp(run["s"]) < 1e-6
    return {name: float(run[name][0]) for name in run.names}


def test_steady_chamber_pressures_carry_the_load():
    """The side that pushes nothing is at atmospheric pressure."""
    system = load(with_chambers(pressure_a="steady", pressure_b="steady")).compile()
    row = still(system)
    weight = 501.0 * 9.81
    assert row["lift.pressure_b"] == pytest.approx(1e5)
    assert row["lift.pressure_a"] == pytest.approx((weight + AREAS[1] * 1e5) / AREAS[0], rel=1e-6)


def test_given_pressures_and_start_values_are_kept():
    mechanism = load(with_chambers(pressure_a="steady", pressure_b=3e5))
    row = still(mechanism.compile())
    assert row["lift.pressure_b"] == 3e5
    other = still(mechanism.starting({"z": 1.4}).compile())
    assert other["z"] == 1.4 and other["lift.pressure_a"] == pytest.approx(row["lift.pressure_a"])
    heavy = load(with_chambers(pressure_a="steady", pressure_b="steady"))
    held = still(heavy.starting({"lift.pressure_b": 7e5}).compile())
    assert held["lift.pressure_b"] == 7e5 and held["lift.pressure_a"] > row["lift.pressure_a"]


def test_steady_circuit_pressures_balance_flows():
    """Between a pump and an orifice the pressure is that of its flow; behind a check valve the load decides."""
    circuit = {
        "tank": {"pressure": 1e5},
        "rail": {"volume": 1e-3, "start": "steady"},
        "pump": {"path": ["tank", "rail"], "flow": 1e-4},
        "leak": {"path": ["rail", "tank"], "rated_flow": 2e-4, "rated_drop": 4e6},
        "hose": {"volume": 1e-3, "start": "steady"},
        "cylinder": CYLINDER | {"between": ENDS, "a": "hose", "b": "tank"},
    }
    row = still(load(LIFT | {"hydraulics": circuit}).compile())
    assert row["rail.pressure"] == pytest.approx(1e5 + 4e6 * 0.25, rel=0.02)
    weight = 501.0 * 9.81
    assert row["hose.pressure"] == pytest.approx((weight + 1e5 * AREAS[1]) / AREAS[0], rel=1e-6)


def test_load_beyond_any_pressure_is_reported():
    pulled = with_chambers(pressure_a="steady", pressure_b=1e5) | {"gravity": [0, 0, 98.1]}
    with pytest.raises(ModelError, match="lift.pressure_a.*not held"):
        load(pulled).compile()


def test_words_other_than_steady_are_expressions():
    with pytest.raises(ModelError, match="stedy"):
        load(with_chambers(pressure_a="stedy")).compile()


BOOM = {
    "format": "kinetree/1",
    "materials": {"steel": {"density": 7850, "youngs_modulus": 210e9, "shear_modulus": 80e9}},
    "beams": {
        "boom": {
            "length": 4.0, "segments": 2, "material": "steel",
            "section": {"box": [0.3, 0.2, 0.008]},
        }
    },
    "bodies": {"load": {"mass": 500.0, "inertia": [20, 20, 20, 0, 0, 0]}},
    "joints": {
        "pivot": {
            "child": "boom", "type": "revolute", "axis": "-y", "coordinates": ["luff"],
            "start": 0.6,
        },
        "tip": {"parent": "boom", "child": "load", "type": "rigid", "at": [4.0, 0, 0]},
    },
    "actuators": {
        "lift": {
            "between": [
                {"body": "ground", "point": [1.0, 0, -1.0]},
                {"body": "boom", "point": [2.0, 0, 0]},
            ],
            "chambers": {
                "area_a": 8e-3, "area_b": 4e-3, "shortest": 1.0, "longest": 3.0,
                "volume_a": 1e-3, "volume_b": 1e-3,
                "pressure_a": "steady", "pressure_b": "steady",
            },
        }
    },
}  # fmt: skip


def test_steady_pressures_carry_a_beam():
    """The moment of the straight beam about its bearing; with a state of rest before, it stands still."""
    system = load(BOOM).compile()
    found = system.simulate(stop_time=0.001, output_step=0.001)
    area = 0.3 * 0.2 - (0.3 - 0.016) * (0.2 - 0.016)
    moment = 9.81 * np.cos(0.6) * (500.0 * 4.0 + 7850.0 * area * 4.0 * 2.0)
    foot, head = np.array([1.0, -1.0]), 2.0 * np.array([np.cos(0.6), np.sin(0.6)])
    way = (head - foot) / np.linalg.norm(head - foot)
    arm = head[0] * way[1] - head[1] * way[0]
    force = 8e-3 * found["lift.pressure_a"][0] - 4e-3 * found["lift.pressure_b"][0]
    assert force * arm == pytest.approx(moment, rel=1e-6)
    rested = load(BOOM | {"run": {"prepare": [{"name": "rest"}]}}).compile()
    run = rested.simulate(stop_time=0.1, output_step=0.05)
    assert np.ptp(run["luff"]) < 1e-6
