"""Corners of the laws of time under model exchange: announced to the host, read from one side before and after, carried out at their instant."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.layout import ANNOUNCED
from kinetree.solvers.model_records import KNOT

MASS, ARM, INERTIA = 1.0, 0.5, 0.1
PULSE = {"x": [0.0, 5.0, 5.01, 5.02, 8.0], "y": [0.0, 0.0, 10.0, 0.0, 0.0]}
LAWS = {
    "table('pulse', t)": [5.0, 5.01, 5.02, 8.0],
    "max(0, min(t - 2, 3 - t))": [2.0, 2.5, 3.0],
    "if(t >= 4 and t < 4.5, 10, 0)": [4.0, 4.5],
    "table('pulse', 10 - t)": [2.0, 4.98, 4.99, 5.0, 10.0],
    "abs(t - 1) + sin(t)": [1.0],
    "sin(t)": [],
}


def cart(law: str) -> dict:
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"m": {"mass": MASS}},
        "tables": {"pulse": PULSE},
        "joints": {"J": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {"push": {"coordinate": "x", "value": law}},
    }


def pendulum() -> dict:
    """A pendulum without gravity on a carriage whose given speed jumps at t = 1."""
    body = {"mass": MASS, "com": [0, 0, -ARM], "inertia": [0.1, INERTIA, 0.1, 0, 0, 0]}
    transforms = [
        {"shift": "x", "by": "table('w', t)"},
        {"rotate": "y", "coordinate": "a", "start": 0.3},
    ]
    table = {"x": [0, 1, 2], "y": [0, 0.5, 0.2], "method": "linear"}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"m": body},
        "tables": {"w": table},
        "joints": {"j": {"child": "m", "transforms": transforms}},
    }


class Host:
    """What a host of model exchange does with the entries."""

    def __init__(self, model: dict):
        self.run = Run(make_unit(load(model).compile()))
        assert self.run.call("unit_start", 0, 0.0) == 0
        header, count = self.run.unit.header, len(self.run.unit.states)
        self.states, self.rates = (
            self.run.work[int(at) :][:count] for at in (header.at_states, header.at_rates)
        )
        self.corner(0.0)

    def corner(self, t: float) -> float:
        assert self.run.call("unit_corner", 0, t) == 0
        return float(self.run.head.next)

    def derivatives(self, t: float, states: np.ndarray) -> np.ndarray:
        self.states[:] = states
        assert self.run.call("unit_derivatives", 0, t) == 0
        return self.rates.copy()


@pytest.mark.parametrize("law", LAWS)
def test_announced_event_times_match_discontinuities(law: str):
    """From one to the next, as a host goes; instants that rounding moves by 1e-13 are the same."""
    host, found = Host(cart(law)), []
    t = host.corner(0.0)
    while math.isfinite(t) and len(found) < 20:
        found.append(t)
        t = host.corner(t)
    assert found == pytest.approx(LAWS[law], abs=1e-9)


def test_sample_times_are_announced_to_hosts():
    """The instants of a sampled controller, of its late commands, and of events at instants that are known."""
    model = cart("0") | {"actuators": {"motor": {"coordinate": "x"}}}
    model["controllers"] = {
        "hold": {
            "kind": "pid",
            "measure": "x",
            "setpoint": "1",
            "kp": 2,
            "period": 0.1,
            "delay": 0.03,
            "drives": "motor",
        }
    }
    model["parameters"] = {"when": 0.25}
    model["events"] = {"tap": {"when": "t > when and x > -1", "set": {"der(x)": "0.5"}}}
    host, found, t = Host(model), [], 0.0
    while (t := host.corner(t)) < 0.45:
        found.append(t)
        host.derivatives(t, host.states.copy())
        assert host.run.call("unit_event", 1, t) == 0
        host.corner(t)
    expected = sorted([*(0.1 * k for k in range(5)), *(0.03 + 0.1 * k for k in range(5)), 0.25])
    assert all(min(abs(instant - t) for t in found) < 1e-6 for instant in expected), found
    assert all(min(abs(instant - t) for instant in expected) < 1e-6 for t in found if t > 0.001), (
        found
    )


def test_known_event_times_are_no_discontinuities():
    """Guards find them there: their records are for hosts alone."""
    model = cart("0") | {"events": {"tap": {"when": "t > 0.25", "set": {"der(x)": "0.5"}}}}
    compiled = load(model).compile().compiled
    fields = model_fields(compiled.ints, compiled.floats)
    assert [record[-1] for record in fields.knots.reshape(-1, KNOT.size)] == [ANNOUNCED]
    result = load(model).compile().simulate(1.0, output_step=0.5)
    assert [event.time for event in result.events] == pytest.approx([0.25], abs=1e-12) and result[
        "x"
    ][-1] == pytest.approx(0.375, abs=1e-12)


def test_queries_before_a_discontinuity_change_nothing():
    host = Host(cart("table('pulse', t)"))
    states = host.states.copy()
    assert (
        host.corner(1.0) == host.corner(4.999) == 5.0 and host.states.tobytes() == states.tobytes()
    )


def test_rates_at_a_discontinuity_are_one_sided():
    """The last evaluation before the event must not know what follows: an implicit host would refuse the step that ends there."""
    host = Host(cart("if(t >= 4 and t < 4.5, 10, 0)"))
    states = host.states.copy()
    for t in (4.0 * (1 - 1e-15), 4.0, 4.0 * (1 + 1e-15)):
        assert host.derivatives(t, states)[1] == 0.0
    host.corner(4.0)
    for t in (4.0 * (1 - 1e-15), 4.0, 4.0 * (1 + 1e-15), 4.1):
        assert host.derivatives(t, states)[1] == 10.0 / MASS


def test_speeds_jump_when_discontinuity_is_passed():
    host = Host(pendulum())
    assert host.corner(0.5) == 1.0
    host.derivatives(1.0, np.array([0.3, 0.0]))
    host.corner(1.0)
    jump = MASS * ARM * math.cos(0.3) * -0.8 / (INERTIA + MASS * ARM**2)
    assert host.states == pytest.approx([0.3, jump], rel=1e-9)


def test_event_capable_host_finds_same_events():
    """Steps of a Runge-Kutta method between announced instants: as a run of our own."""
    host, own = (
        Host(pendulum()),
        load(pendulum()).compile().simulate(1.9, output_step=1.9, tolerance=1e-11),
    )
    t, y, h = 0.0, host.states.copy(), 1e-3
    while t < 1.9 - 1e-9:
        until = min(t + h, 1.9, host.run.head.next)
        k1 = host.derivatives(t, y)
        k2 = host.derivatives((t + until) / 2, y + (until - t) / 2 * k1)
        k3 = host.derivatives((t + until) / 2, y + (until - t) / 2 * k2)
        k4 = host.derivatives(until, y + (until - t) * k3)
        y, t = y + (until - t) / 6 * (k1 + 2 * k2 + 2 * k3 + k4), until
        if t >= host.run.head.next:
            host.states[:] = y
            host.corner(t)
            y = host.states.copy()
    assert y[0] == pytest.approx(own["a"][-1], abs=1e-9)
