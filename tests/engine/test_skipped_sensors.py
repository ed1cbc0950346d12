"""Sensors that only results read are measured when results are asked for: evaluations inside a step do without them, and miss nothing they need."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.solvers.model_records import HEADER


def pendulum(**more):
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, -9.81],
        "bodies": {"rod": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.01, 0, 0, 0]}},
        "joints": {
            "hinge": {
                "child": "rod",
                "type": "revolute",
                "axis": "y",
                "coordinates": ["p"],
                "start": 0.7,
                "speed": 0.4,
            }
        },
        "outputs": {
            name: {"quantity": "position", "body": "rod", "point": [0, 0, -1], "axis": name[-1]}
            for name in ("tip_x", "tip_z")
        },
    } | more


def counts(system):
    """Early and late sensors that are needed, and all."""
    header = HEADER.of(system.compiled.ints)
    return int(header.late_sensors), int(header.idle_sensors), int(header.sensors)


def test_result_only_sensors_cost_nothing_in_evaluations():
    system = load(pendulum()).compile()
    needed, more, everything = counts(system)
    assert (needed, more) == (0, 0) and everything >= 2
    q, u = system.start()
    found = system.outputs(0.0, q, u)
    assert [found["tip_x"], found["tip_z"]] == pytest.approx(
        [-np.sin(0.7), -np.cos(0.7)], abs=1e-15
    )


def test_result_columns_are_up_to_date_at_every_row():
    """At every row, also between steps and after events, an output is that of the row's own coordinates."""
    result = (
        load(pendulum()).compile().simulate(stop_time=2.0, output_step=0.01, integrator="adams")
    )
    assert np.abs(result["tip_x"] + np.sin(result["p"])).max() < 1e-14
    assert np.abs(result["tip_z"] + np.cos(result["p"])).max() < 1e-14


@pytest.mark.parametrize(
    "reader",
    [
        {"forces": {"f": {"coordinate": "p", "value": "-3*tip_x"}}},
        {"states": {"s": {"rate": "tip_x", "start": 0.0}}},
        {"events": {"e": {"when": "tip_x > 0", "set": {"der(p)": "-0.5*der(p)"}}}},
    ],
)
def test_sensors_read_by_laws_are_measured(reader):
    """Forces, rates and guards by a place: the same as by the coordinate that gives it."""
    by_place = load(pendulum(**reader)).compile()
    assert counts(by_place)[1] >= 1
    by_coordinate = load(
        pendulum(
            **{kind: {k: as_sine(v) for k, v in part.items()} for kind, part in reader.items()}
        )
    ).compile()
    ends = []
    for system in (by_place, by_coordinate):
        result = system.simulate(stop_time=1.5, output_step=0.1, integrator="rk4", step=1e-3)
        ends.append(
            np.array(
                [result[name] for name in ("p", "der(p)", *(["s"] if "states" in reader else []))]
            )
        )
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def as_sine(value):
    """The same law by the coordinate."""
    if isinstance(value, dict):
        return {key: as_sine(each) for key, each in value.items()}
    return value.replace("tip_x", "(-sin(p))") if isinstance(value, str) else value


def test_batch_evaluations_and_derivatives_return_outputs():
    """Lanes and slopes measure them too."""
    system = load(pendulum()).compile()
    q = np.linspace(-1.0, 1.0, 11)[:, None]
    _, found = system.accelerations_many(0.0, q, np.zeros_like(q), outputs=["tip_x"])
    assert np.abs(found["tip_x"] + np.sin(q[:, 0])).max() < 1e-15
    linear = system.linearize(q=np.zeros(1), outputs=["tip_x"])
    assert np.abs(linear.C[0]).max() == pytest.approx(1.0, abs=1e-12)
