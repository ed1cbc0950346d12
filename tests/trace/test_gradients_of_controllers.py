"""Gradients of runs with controllers, at any time: delays, noise, sensors in steps, long after zero; beside differences of the same steps."""

import numpy as np
import pytest

from kinetree.models import load

VALUES = {"k": 20.0, "gain": 6.0}
LAW = {"kind": "pid", "measure": "x", "kp": "gain", "drives": "m", "period": 0.0173}
SENSOR = {"kind": "sensor", "input": "x", "period": 0.0071, "drives": "m"}


def cart(begin: float, **controllers: dict) -> dict:
    """A mass on a spring, which controllers drive."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "parameters": {**VALUES, "begin": begin},
        "bodies": {"b": {"mass": 1.0}},
        "joints": {
            "j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [0.4]}
        },
        "forces": {"s": {"coordinate": "x", "value": "-k*x + sin(3*(t - begin))"}},
        "actuators": {"m": {"coordinate": "x"}},
        "controllers": controllers,
    }  # fmt: skip


def check(description: dict, begin: float, relative: float = 1e-6, close: float = 1e-6) -> None:
    """Compare the gradient of a short run with central differences."""

    def run(**values: float):
        system = load(description, **(VALUES | values)).compile()
        return system.simulate(
            start_time=begin, stop_time=begin + 0.2, output_step=0.2, integrator="rk4", step=4e-3
        )

    found = run().gradient("x", list(VALUES))
    for slope, (name, value) in zip(found, VALUES.items(), strict=True):
        h = relative * value
        ends = [run(**{name: value + sign * h})["x"][-1] for sign in (1, -1)]
        size = abs(slope) + 1e-3
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=close * size), name


@pytest.mark.parametrize("begin", [0.0, 422.532, -4e4, 1e6])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"delay": 0.0052},
        {"delay": 0.03, "jitter": 0.001, "noise": 1e-3},
        {"ki": 9.0, "kd": 0.2, "low": -1.0, "high": 1.0},
    ],
)
def test_sampled_controller_gradients_match_differences_at_any_start_time(more: dict, begin: float):
    """Samples and seeds move with no parameter; instants are moved by seconds, not by parts of the time.

    The command until the first one comes out of a delay was 1e30 s old, and its rounding ended in the slopes.
    """
    check(cart(begin, c={**LAW, **more}), begin, 1e-5, 2e-5)


def test_gradients_of_quantised_sensors_match_differences():
    """Differences through a sample that rounds its measure jump where they pass to the next step."""
    description = cart(0.0, a={**SENSOR, "resolution": 1e-3}, c={**LAW, "measure": "x + der(x)"})
    check(description, 0.0, 1e-7)


def test_gradient_with_nearly_simultaneous_samples_matches_differences():
    """Some nanoseconds apart, as at every start: neither is moved past the other."""
    check(cart(127.0, a=SENSOR, c=LAW), 127.0)


def test_loop_actuator_prevents_adjoint_only_if_effective_mass_is_used():
    """Whatever the actuator tells of itself, nothing here depends on it."""
    system = load(cart(0.0, c={**LAW, "delay": 0.0052, "period": 0.05})).compile()
    result = system.simulate(stop_time=0.2, output_step=0.01, integrator="semi-implicit", step=1e-3)
    assert np.isfinite(result.gradient("c", list(VALUES))).all()
