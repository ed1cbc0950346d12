"""Laws of time with corners: steps end there, so that no command is stepped over, however long the rest before it was."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.run.simulation_unit import Run, make_unit

MASS = 2.0
PULSE = {
    "x": [0.0, 50.0, 50.01, 50.02, 100.0],
    "y": [0.0, 0.0, 10.0, 0.0, 0.0],
}  # triangle of 0.1 N.s
LINEAR = [50.0, 50.01, 50.02]


def cart(**parts) -> dict:
    """A mass on a rail without gravity, pushed by a law of time."""
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "parameters": {"period": 40.0, "late": 50.0},
        "bodies": {"m": {"mass": MASS}},
        "joints": {"J": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        **parts,
    }


def pushed(law: str, **parts) -> dict:
    return cart(
        forces={"push": {"coordinate": "x", "value": law}}, tables={"pulse": PULSE}, **parts
    )


LAWS = {
    "table": ("table('pulse', t)", 0.1),
    "scaled": ("3*table('pulse', 0.5*t + 0.25*late)", 0.6),  # from t = 75 on, twice as long
    "backwards": ("table('pulse', 100 - t)", 0.1),
    "comparison": ("if(t >= late and t < late + 0.02, 10, 0)", 0.2),
    "max": ("max(0, min(t - late, late + 0.02 - t))", 1e-4),
    "abs": ("0.5*(abs(t - late) - 2*abs(t - late - 0.01) + abs(t - late - 0.02))", 1e-4),
    "periodic": ("table('pulse', 30 + t % period)", 0.2),  # at 20, and 60
    "nested": ("table('pulse', if(t < 40, 0, 2*t - 60))", 0.05),
}


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau", "auto"])
@pytest.mark.parametrize("name", LAWS)
def test_short_commands_after_rest_are_detected(name, integrator):
    """The momentum is the integral of the force; a run of two output intervals would step over 20 ms in 100 s."""
    law, impulse = LAWS[name]
    result = (
        load(pushed(law))
        .compile()
        .simulate(stop_time=90.0, output_step=45.0, tolerance=1e-9, integrator=integrator)
    )
    assert result["der(x)"][-1] * MASS == pytest.approx(impulse, rel=1e-6, abs=1e-10)
    assert result.statistics["steps"] < 400


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau"])
def test_tabulated_prescribed_motion_is_followed(integrator):
    """A cubic table moves the carriage; the pendulum on it is set in motion by the acceleration alone."""
    ride = {
        "x": [0.0, 60.0, 60.2, 60.4, 60.6, 61.0],
        "y": [0.0, 0.0, 0.02, 0.05, 0.07, 0.07],
        "method": "cubic",
    }
    model = {
        "format": "kinetree/1",
        "tables": {"ride": ride},
        "bodies": {"carriage": {"mass": 1.0}, "bob": {"mass": 1.0, "com": [0, 0, -1.0]}},
        "joints": {
            "rail": {"child": "carriage", "transforms": [{"shift": "x", "by": "table('ride', t)"}]},
            "pin": {
                "parent": "carriage",
                "child": "bob",
                "type": "revolute",
                "axis": "y",
                "coordinates": ["phi"],
            },
        },
    }
    given = load(model).compile()
    fine = given.simulate(
        stop_time=61.0, output_step=0.5, tolerance=1e-11, integrator="rk45", largest_step=0.01
    )
    result = given.simulate(
        stop_time=61.0, output_step=61.0, tolerance=1e-10, integrator=integrator
    )
    assert abs(fine["phi"][-1]) > 1e-3
    assert result["phi"][-1] == pytest.approx(fine["phi"][-1], abs=1e-8)


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau"])
def test_steps_ending_at_discontinuities_bound_the_error(integrator):
    """A saw-tooth force of period 1: with steps that end at its corners the error is that of smooth motion."""
    result = (
        load(cart(forces={"push": {"coordinate": "x", "value": "abs(2*(t % 1) - 1) - 0.5"}}))
        .compile()
        .simulate(stop_time=20.0, output_step=20.0, tolerance=1e-8, integrator=integrator)
    )
    assert result["x"][-1] == pytest.approx(20.0 / 2 * integral_of_a_period(), abs=1e-8)


def integral_of_a_period() -> float:
    """Displacement per period of the saw-tooth (1 - 2t) - 1/2 on [0, 1/2], mirrored afterwards, times the mass, from rest."""
    speed = [
        np.polynomial.Polynomial([0, 0.5, -1.0]),
        np.polynomial.Polynomial([0, 0.5, -1.0]),
    ]  # the second half repeats with the other sign
    return float(speed[0].integ()(0.5) - speed[1].integ()(0.5))


def test_nonlinear_time_functions_have_no_breakpoints():
    """sin(t) > 0.5 and tables over coordinates are left to the error control."""
    unit = make_unit(load(pushed("table('pulse', x) + if(sin(t) > 0.5, 1, 0)")).compile())
    compiled = unit.compiled[0]
    assert model_fields(compiled.ints, compiled.floats).knots.size == 0


def test_parameters_move_discontinuities_of_a_running_model():
    """An event shifts the command to a later instant; the knots follow."""
    events = {"postpone": {"when": "t > 40", "set": {"late": "70"}}}
    result = (
        load(pushed("if(t >= late and t < late + 0.02, 10, 0)", events=events))
        .compile()
        .simulate(stop_time=90.0, output_step=45.0, tolerance=1e-9)
    )
    assert result["der(x)"][-1] * MASS == pytest.approx(0.2, rel=1e-6)
    assert result["x"][-1] == pytest.approx(0.2 / MASS * (90.0 - 70.01), rel=1e-6)


def test_fixed_steps_keep_grid_across_discontinuities():
    """Real time asks for the same cost in every step: fixed steps do not end at corners."""
    law = pushed("table('pulse', t)")
    result = (
        load(law).compile().simulate(stop_time=60.0, output_step=60.0, integrator="rk4", step=0.004)
    )
    assert result.statistics["steps"] == math.ceil(60.0 / 0.004)


def advance_like_a_host(model: dict, step: float, count: int) -> float:
    """Speed after steps whose times a host adds up: they miss round numbers by the last digits."""
    run = Run(make_unit(load(model).compile()))
    assert run.call("unit_start", 0, 0.0) == 0
    t = 0.0
    for _ in range(count):
        t += step
        assert run.call("unit_advance", 0, t) == 0, t
    return float(run.columns[[column.name for column in run.unit.columns].index("der(x)")])


@pytest.mark.parametrize("corner", [0.02, 0.019, 0.006])
def test_hosts_accumulating_time_hit_discontinuities_and_events(corner):
    """0.001 added twenty times is 0.02 and 7e-18: nothing is left to integrate there, neither after a corner nor after an event."""
    pulse = {"x": [0.0, corner, corner + 0.01, 1.0], "y": [0.0, 0.0, 10.0, 10.0]}
    law = cart(
        forces={"push": {"coordinate": "x", "value": "table('pulse', t)"}}, tables={"pulse": pulse}
    )
    assert advance_like_a_host(law, 0.001, 40) == pytest.approx(
        (0.05 + 10 * (0.04 - corner - 0.01)) / MASS, rel=1e-6
    )
    event = cart(
        parameters={"push": {"value": 0.0, "tunable": True}},
        forces={"push": {"coordinate": "x", "value": "push"}},
        events={"begin": {"when": f"t - {corner!r} > 0", "set": {"push": 10.0}}},
    )
    assert advance_like_a_host(event, 0.001, 40) == pytest.approx(
        10 * (0.04 - corner) / MASS, rel=1e-6
    )
