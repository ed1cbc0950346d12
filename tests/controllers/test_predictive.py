"""Predictive control: equal to the linear regulator where nothing is limited, within its bounds where something is, the same in every host."""

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

from kinetree.models import ModelError, load

STIFFNESS, DAMPING, MASS, PERIOD = 3.0, 0.4, 2.0, 0.1
CART = {
    "format": "kinetree/1",
    "name": "cart",
    "gravity": [0, 0, 0],
    "parameters": {"mass": {"value": MASS, "tunable": True}},
    "bodies": {"cart": {"mass": "mass"}},
    "joints": {
        "slide": {"child": "cart", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [0.3]}
    },
    "forces": {"spring": {"coordinate": "x", "stiffness": STIFFNESS, "damping": DAMPING}},
    "actuators": {"push": {"coordinate": "x"}},
}  # fmt: skip


def cart(command=None, **more) -> dict:
    mpc = {
        "kind": "predictive",
        "period": PERIOD,
        "horizon": 12,
        "track": [{"value": "x", "weight": 5.0}, {"value": "der(x)", "weight": 0.5}],
        "commands": {"force": {"drives": "push", "weight": 0.02, **(command or {})}},
    }
    return {**CART, "controllers": {"mpc": mpc | more}}


def plant():
    """Return the sampled cart: states x, v."""
    both = np.zeros((3, 3))
    both[:2] = [[0, 1, 0], [-STIFFNESS / MASS, -DAMPING / MASS, 1 / MASS]]
    whole = expm(PERIOD * both)
    return whole[:2, :2], whole[:2, 2:]


def run(description, stop=1.0, step=PERIOD, **how):
    return load(description).compile().simulate(stop_time=stop, output_step=step, **how)


def test_unconstrained_predictive_control_equals_lqr():
    A, B = plant()
    P = solve_discrete_are(A, B, PERIOD * np.diag([5.0, 0.5]), PERIOD * np.array([[0.02]]))
    K = np.linalg.solve(PERIOD * 0.02 + B.T @ P @ B, B.T @ P @ A)[0]
    found = run(cart(terminal=P.tolist()))
    state = np.array([found["x"], found["der(x)"]])
    wanted = -K @ state[:, :-1]
    assert found["mpc"][1:] == pytest.approx(wanted, abs=2e-6 * np.abs(wanted).max())
    assert (found["mpc.work"][1:] == 1.0).all()


def test_predictive_commands_keep_bounds_and_rates():
    found = run(cart({"low": -0.4, "high": 0.5, "rate": 2.0}), 3.0)
    command = found["mpc"]
    assert command.min() >= -0.4 and command.max() <= 0.5
    assert np.abs(np.diff(command)).max() <= 2.0 * PERIOD * (1 + 1e-12)
    assert command.min() == pytest.approx(-0.4)  # it is a bound that counts
    assert abs(found["x"][-1]) < 0.1


def test_soft_limits_hold_where_that_is_possible():
    free = run(cart({"weight": 1e-4}), 2.0, 0.02)
    slow = run(cart({"weight": 1e-4}, limits=[{"value": "der(x)", "low": -0.2, "high": 0.2}]), 2.0, 0.02)  # fmt: skip
    assert free["der(x)"].min() < -0.4
    assert slow["der(x)"].min() > -0.201


def test_predictive_control_anticipates_setpoints():
    """The cart moves before the step of its setpoint, and has half of the error on either side."""
    track = [{"value": "x", "setpoint": "if(t < 2, 0, 1)", "weight": 20.0}]
    start = {**cart({"weight": 1e-3}, track=track, horizon=20)}
    start["joints"] = {"slide": {**CART["joints"]["slide"], "start": [0.0]}}
    found = run(start, 4.0)
    x = dict(zip(np.round(found.time, 6), found["x"], strict=True))
    assert 0.2 < x[2.0] < 0.8
    assert x[0.5] == pytest.approx(0.0, abs=1e-3) and x[4.0] == pytest.approx(1.0, abs=0.02)


def test_predictive_control_compensates_delay():
    """With a delay of a period a plan that knows of it settles as one without, a period later."""
    prompt = run(cart({"weight": 1e-3}), 3.0)
    late = run(cart({"weight": 1e-3}, delay=PERIOD), 3.0)
    assert np.abs(late["x"][-10:]).max() < 2.0 * np.abs(prompt["x"][-10:]).max() + 1e-3
    first = np.flatnonzero(late["mpc"] != 0.0)[0]
    assert late.time[first] == pytest.approx(2 * PERIOD)


def test_predictive_model_may_have_other_parameters():
    wrong = run(cart(parameters={"mass": "4*mass"}), 0.2)
    right = run(cart(), 0.2)
    assert abs(wrong["mpc"][1] - right["mpc"][1]) > 1e-3
    heavy = cart()
    heavy["parameters"] = {"mass": 4 * MASS}
    assert run(heavy, 0.2)["mpc"][1] == pytest.approx(wrong["mpc"][1], rel=1e-5)


PENDULUM = {
    "format": "kinetree/1",
    "name": "crane",
    "bodies": {"trolley": {"mass": 5.0}, "load": {"mass": 8.0, "com": [0, 0, -1.5]}},
    "joints": {
        "travel": {"child": "trolley", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
        "rope": {"parent": "trolley", "child": "load", "type": "revolute", "axis": "y", "coordinates": ["swing"]},
    },
    "actuators": {"drive": {"coordinate": "x"}},
    "controllers": {
        "mpc": {
            "period": 0.05, "horizon": 30, "step": 0.1,
            "track": [
                {"value": "x", "setpoint": 2.0, "weight": 3.0, "final": 20},
                {"value": "swing", "weight": 50.0, "final": 20},
                {"value": "der(x)", "weight": 0.0, "final": 10},
                {"value": "der(swing)", "weight": 0.0, "final": 10},
            ],
            "commands": {"force": {"drives": "drive", "low": -40, "high": 40, "rate": 200, "weight": 1e-5}},
            "limits": [{"value": "swing", "low": -0.2, "high": 0.2, "soft": 1e4}],
        }
    },
}  # fmt: skip


def test_predictive_control_moves_crane_without_residual_sway():
    found = load(PENDULUM).compile().simulate(stop_time=10.0, output_step=0.02)
    assert found["x"][-1] == pytest.approx(2.0, abs=2e-3)
    late = found.time > 8.0
    assert np.abs(found["swing"][late]).max() < 1e-3
    assert np.abs(found["swing"]).max() < 0.21
    assert np.abs(found["mpc"]).max() <= 40.0


def test_predictive_commands_do_not_depend_on_start_time():
    now = run(cart(), 0.5)
    later = run(cart(), 100.5, start_time=100.0)
    assert later["mpc"] == pytest.approx(now["mpc"], abs=1e-6)


@pytest.mark.parametrize(
    ("command", "more", "told"),
    [
        ({}, {"period": None}, "mpc.period"),
        ({}, {"track": []}, "mpc.track"),
        ({}, {"commands": {}}, "mpc.commands"),
        ({"weight": -1.0}, {}, "commands.force.weight"),
        ({"low": 2.0, "high": 1.0}, {}, "commands.force.high"),
        ({"drives": "pull"}, {}, "unknown actuator 'pull'"),
        ({}, {"high": 3.0}, "high in commands.NAME"),
        ({}, {"noise": 0.1}, "mpc.noise"),
        ({}, {"delay": 0.3}, "mpc.delay"),
        ({}, {"step": 0.01}, "mpc.step"),
        ({}, {"horizon": 450}, "planned numbers"),
        ({}, {"terminal": [[1.0]]}, "2 by 2"),
        ({}, {"limits": [{"value": "x"}]}, "no limit"),
        ({}, {"parameters": {"masse": 1.0}}, "masse"),
        ({}, {"track": [{"value": "der(y)"}]}, "y"),
    ],
)
def test_unsupported_predictive_settings_are_refused(command: dict, more: dict, told: str):
    table = cart(command, **more)
    table["controllers"]["mpc"] = {k: v for k, v in table["controllers"]["mpc"].items() if v is not None}  # fmt: skip
    with pytest.raises(ModelError) as caught:
        load(table)
    assert told in str(caught.value)


def test_predictive_controller_without_linear_law_is_refused_by_analyses():
    system = load(cart()).compile()
    with pytest.raises(ValueError, match="controllers.mpc is predictive"):
        system.linearize()
    with pytest.raises(ValueError, match="predictive"):
        system.simulate(stop_time=0.2, integrator="rk4", step=0.01).gradient("x", ["mass"])
