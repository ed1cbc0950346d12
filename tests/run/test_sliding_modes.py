"""Motions along a jump of a force: named at once, with the laws that switch; jumps that a motion only crosses hold up nothing."""

import math

import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.solvers.layout import Status

SLIDER = {
    "format": "kinetree/1",
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"b": {"mass": 1.0}},
    "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "speed": 1}]}},
}


def slider(law: str, **more) -> dict:
    return {**SLIDER, "forces": {"f": {"coordinate": "x", "value": law}}, **more}


SLIDING = {
    "dry friction": ("-10*sign(der(x))", 0.1, "der(x)"),
    "a relay": ("if(x + 0.4*der(x) > 0.6, -30, 30)", None, "der(x)"),
    "friction on a spring": ("-20*x - 3*sign(der(x))", None, "der(x)"),
    "two levels": ("-8*((der(x) > 0) - (der(x) < 0))", 0.125, "der(x)"),
}


@pytest.mark.parametrize("integrator", ["auto", "rk45", "radau", "adams", "verner65"])
@pytest.mark.parametrize("name", SLIDING)
def test_sliding_along_a_force_jump_is_reported_early(name: str, integrator: str):
    """The state whose rate jumps, the law that switches and the friction element, after a few hundred futile steps."""
    law, instant, state = SLIDING[name]
    with pytest.raises(EvaluationError) as caught:
        load(slider(law)).compile().simulate(stop_time=3.0, output_step=0.05, integrator=integrator)
    error = caught.value
    assert error.status in (Status.SLIDING, Status.STEP_TOO_SMALL)
    text = str(error)
    assert "forces.f" in text and "friction" in text
    assert state in text or error.status == Status.STEP_TOO_SMALL
    result = error.result
    assert result is not None and result.statistics["steps"] < 3000
    if instant is not None:
        assert float(text.split("t = ")[1].split(":")[0]) == pytest.approx(instant, abs=1e-3)


@pytest.mark.parametrize("integrator", ["auto", "rk45", "verner65"])
def test_crossed_force_jumps_are_not_reported_as_sliding(integrator: str):
    """A force that pushes to the other side each time: a motion of period 4 sqrt(2 x0/a), many jumps, no end."""
    system = load(slider("-2*sign(x)")).compile()
    result = system.simulate(stop_time=8.0, output_step=0.5, integrator=integrator, tolerance=1e-7)
    assert result.time[-1] == 8.0 and abs(result["x"][::4]).max() < 2e-3


@pytest.mark.parametrize("integrator", ["auto", "radau"])
def test_steep_continuous_laws_are_integrated(integrator: str):
    """tanh(v/width) in the place of sign(v): the body comes to rest after v²/2a and stays there."""
    system = load(slider("-10*tanh(der(x)/1e-5)")).compile()
    result = system.simulate(stop_time=0.5, output_step=0.05, integrator=integrator)
    assert result["x"][-1] == pytest.approx(0.05, abs=1e-4)


LIMITED = {"measure": "q", "setpoint": "0.5 + 0.1*t", "kp": 7.0, "ki": 55.0, "kd": 4.0}
PENDULUM = {
    "format": "kinetree/1",
    "name": "pendulum",
    "bodies": {"a": {"mass": 2.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {"j": {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["q"]}},
    "forces": {"f": {"coordinate": "q", "damping": 0.2}},
    "actuators": {"m": {"coordinate": "q"}},
}


@pytest.mark.parametrize("integrator", ["auto", "rk45", "radau", "adams", "verner65"])
@pytest.mark.parametrize("bounds", [{"low": -6.0, "high": 3.3}, {"high": 3.3}, {"low": 3.8}])
def test_saturated_continuous_controller_does_not_stall_integrator(integrator, bounds):
    """The integral slows down continuously as the command is wanted beyond its limit: no more than some thousand steps."""
    table = {**LIMITED, "filter": 0.02, "drives": "m", **bounds}
    system = load({**PENDULUM, "controllers": {"c": table}}).compile()
    result = system.simulate(stop_time=5.0, output_step=0.05, integrator=integrator)
    assert result.statistics["steps"] < 20_000
    low, high = bounds.get("low", -math.inf), bounds.get("high", math.inf)
    command = result["c"]
    assert (low - 1e-9 <= command).all() and (command <= high + 1e-9).all()
    assert ((abs(command - low) < 1e-9) | (abs(command - high) < 1e-9)).any()


def test_default_anti_windup_is_limit_of_sampled_one():
    """A command that stands at its limit and comes back: the continuous law, and the sampled one at 0.2 ms."""
    table = {**LIMITED, "filter": 0.02, "drives": "m", "low": -6.0, "high": 3.3}
    smooth, sampled = (
        load({**PENDULUM, "controllers": {"c": {**table, **more}}})
        .compile()
        .simulate(stop_time=2.0, output_step=0.05)
        for more in ({}, {"period": 2e-4})
    )
    assert smooth["q"] == pytest.approx(sampled["q"], abs=5e-3)
    assert smooth["c.integral"] == pytest.approx(sampled["c.integral"], abs=0.15)
