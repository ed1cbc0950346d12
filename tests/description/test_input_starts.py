"""Start values of inputs: an expression of the description counts until the host gives a number, whatever is evaluated in between."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.run.simulation_unit import Run, make_unit

MODEL = {
    "format": "kinetree/1",
    "gravity": [0, 0, 0],
    "parameters": {"weight": 4.0},
    "bodies": {"m": {"mass": 1.0}},
    "joints": {"J": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
    "inputs": {"push": {"start": "2*weight"}, "drag": {"start": 0.5}},
    "forces": {"f": {"coordinate": "x", "value": "push - drag"}},
}


def started(**registers: float) -> Run:
    run = Run(make_unit(load(MODEL).compile()))
    for name, value in registers.items():
        run.work[
            run.unit.register(
                name.replace("start_", "start(") + ")" if name.startswith("start_") else name
            )
        ] = value
    for _ in range(2):  # a host may evaluate its start more than once
        assert run.call("unit_start") == 0
    return run


@pytest.mark.parametrize(
    "given, push, drag",
    [
        ({}, 8.0, 0.5),
        ({"weight": 5.0}, 10.0, 0.5),
        ({"start_push": 3.0}, 3.0, 0.5),
        ({"start_push": 3.0, "weight": 5.0, "start_drag": 1.0}, 3.0, 1.0),
        ({"start_push": 0.0}, 0.0, 0.5),
    ],
)
def test_host_values_override_input_starts(given, push, drag):
    run = started(**given)
    assert (
        run.work[run.unit.register("push")] == push and run.work[run.unit.register("drag")] == drag
    )
    assert run.call("unit_advance", 0, 1.0) == 0
    assert run.columns[0] == pytest.approx((push - drag) / 2, rel=1e-9)


def test_single_evaluation_uses_start_expression_of_input():
    system = load(MODEL).compile()
    assert np.allclose(system.accelerations(0.0, [0.0], [0.0]), 7.5)
    assert np.allclose(system.accelerations(0.0, [0.0], [0.0], {"push": 1.0}), 0.5)
    assert load(MODEL).compile(weight=1.0).simulate(stop_time=1.0)["x"][-1] == pytest.approx(
        0.75, rel=1e-9
    )
