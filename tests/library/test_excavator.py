"""The excavator at rest against its potential energy, and its cycle against its books."""

import numpy as np
import pytest

from kinetree.models import load

G = 9.81


def potential(values: dict[str, float], p: dict[str, float]) -> float:
    """Potential energy from the angles, written out: each body hangs in the plane of the arm."""
    boom, stick, bucket = (
        np.cumsum([values[f"{name}_angle"] for name in ("boom", "stick", "bucket")])
    )[:3]
    rocker = stick + values["rocker_angle"]
    link = rocker + values["link_angle"]

    def up(angle: float, x: float, z: float) -> float:
        return x * np.sin(angle) + z * np.cos(angle)

    pins = {"boom": 1.7, "stick": 1.7 + up(boom, p["boom_length"], 0.0)}
    pins["bucket"] = pins["stick"] + up(stick, p["stick_length"], 0.0)
    pins["rocker"] = pins["stick"] + up(stick, p["stick_length"] - 0.45, 0.1)
    pins["link"] = pins["rocker"] + up(rocker, p["rocker_length"], 0.0)
    hung = [
        (p["boom_mass"], pins["boom"] + up(boom, 2.6, 0.45)),
        (p["stick_mass"], pins["stick"] + up(stick, 0.9, 0.1)),
        (p["bucket_mass"], pins["bucket"] + up(bucket, 0.6, -0.35)),
        (p["load_mass"], pins["bucket"] + up(bucket, 0.6, -0.3)),
        (60.0, pins["rocker"] + up(rocker, p["rocker_length"] / 2, 0.0)),
        (70.0, pins["link"] + up(link, p["link_length"] / 2, 0.0)),
    ]
    return G * sum(mass * height for mass, height in hung)


@pytest.mark.parametrize("moved", ["boom", "stick", "bucket"])
def test_excavator_cylinders_balance_potential_energy(moved):
    """Virtual work at the start: the three cylinders together do what the weight takes, along every freedom of the arm; slew moves nothing up."""
    mechanism = load("lib:excavator")
    system = mechanism.compile()
    q, _ = system.start()
    p = {
        name: float(parameter.value)
        for name, parameter in mechanism.description.parameters.items()
        if isinstance(parameter.value, (int, float))
    }
    k, h = system.coordinates.index(f"{moved}_angle"), 1e-5
    rows, lengths = [], []
    for sign in (1, -1):
        there = q.copy()
        there[k] += sign * h
        near, _ = system.project(0.0, there, np.zeros(system.n))
        rows.append(dict(zip(system.coordinates, near, strict=True)))
        outputs = system.outputs(0.0, near, np.zeros(system.n))
        lengths.append([outputs[f"{name}_cylinder.length"] for name in ("boom", "stick", "bucket")])
    forces = [
        system.outputs(0.0, q, np.zeros(system.n))[f"{name}_cylinder.force"]
        for name in ("boom", "stick", "bucket")
    ]
    work = float(np.dot(forces, np.subtract(*lengths)))
    weight = potential(rows[0], p) - potential(rows[1], p)
    # the starting forces are rounded to 100 N, of which levers are below 2 m
    assert work == pytest.approx(weight, abs=200.0 * 2.0 * 2 * h + 1e-4 * abs(weight))


def test_excavator_cycle_balances_energy():
    """A run of the cycle: the loop stays closed, work and energy agree, pressures stay above vacuum and near their reliefs, the arm comes back."""
    result = load("lib:excavator").compile().simulate()
    assert np.max(np.abs(result["constraint_residual"])) < 1e-6
    assert np.max(np.abs(result["energy_residual"])) < 1e-5 * np.ptp(result["energy"])
    for side in ("boom_a", "boom_b", "stick_a", "stick_b", "bucket_a", "bucket_b"):
        assert result[f"{side}.pressure"].min() > 0.0 and result[f"{side}.pressure"].max() < 400e5
    teeth = [result[f"teeth[{axis}]"] for axis in (1, 2, 3)]
    assert (
        max(each[-1] - each[0] for each in teeth) < 0.35
        and teeth[2].max() - teeth[2].min() > 4.0
        and teeth[1].max() > 5.0
    )
