"""Gradients through jumps of laws: the saltation term by hand, against runs, and what is refused."""

import numpy as np
import pytest

from kinetree.models import load


def cart(force: str, start: float = 0.0, speed: float = 0.0, **more) -> dict:
    """A mass of 1 kg on a line."""
    slide = {"shift": "x", "coordinate": "x", "start": start, "speed": speed}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "parameters": {"p": 0.3},
        "bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "transforms": [slide]}},
        "forces": {"f": {"coordinate": "x", "value": force}},
    } | more


def run(description: dict, integrator: str = "rk4", step: float = 1e-3, **parameters: float):
    system = load(description).compile(**parameters)
    return system.simulate(stop_time=1.0, integrator=integrator, step=step, output_step=0.1)


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit"])
@pytest.mark.parametrize(
    ("force", "x", "v"),
    [
        ("if(t < p, 1, -1)", 1.4, 2.0),
        ("sign(p - t)", 1.4, 2.0),
        ("if(t > p and t < 2*p, 3, 1)", 2 * (2 * (1 - 0.6) - (1 - 0.3)), 2.0),
        ("floor(t/p)", None, None),  # jumps at p, 2p, 3p
        ("max(0, t - p)", -0.5 * 0.7**2, -0.7),  # a corner has no jump
    ],
)
def test_gradient_over_time_jumps_matches_differences(
    force: str, x: float | None, v: float | None, integrator: str
):
    """Each jump J at the instant k p adds -k J (1 - k p) to dx/dp and -k J to dv/dp."""
    if x is None:
        x, v = -sum(k * (1 - 0.3 * k) for k in (1, 2, 3)), -6.0
    result = run(cart(force), integrator)
    assert result.gradient("x", ["p"])[0] == pytest.approx(x, abs=2e-3)
    assert result.gradient("der(x)", ["p"])[0] == pytest.approx(v, abs=2e-3)


@pytest.mark.parametrize(
    "force",
    [
        "if(x < p, 0, -4)",  # it turns round and passes the jump again
        "if(x < p, 2, -3*der(x) - p)",
        "-if(x > p, 2000*(x - p) + 60*der(x), 0)",  # a damper that takes hold at the touch
        "10*floor(x/p + 0.1) - 12*der(x)",
    ],
)
def test_gradient_over_state_jumps_matches_runs(force: str):
    """Differences of runs with fine steps, several steps of the place apart."""
    description = cart(force, speed=1.013)
    found = run(description, step=2e-4).gradient(["x", "der(x)"], ["p"])[:, 0]
    h = 2e-3
    ends = [run(description, step=2e-5, p=0.3 + s * h) for s in (1, -1)]
    for value, name in zip(found, ("x", "der(x)"), strict=True):
        difference = (ends[0][name][-1] - ends[1][name][-1]) / (2 * h)
        assert value == pytest.approx(difference, rel=5e-3, abs=2e-3)


def test_gradient_with_jumps_around_events_matches_runs():
    """The grid of steps behind an event moves with its instant, and the jumps on it with it."""
    events = {"kick": {"when": "t > 0.5*p + 0.1", "set": {"x": "x + 0.1"}}}
    force = "if(x < p, 2, -1)*if(t > 0.8, 1.5, 1)"
    states = {"s": {"rate": "if(x > 2*p, 1, 0)"}}
    description = cart(force, speed=1.0, events=events, states=states)
    names = ["x", "der(x)", "s"]
    found = run(description).gradient(names, ["p"])[:, 0]
    h = 1e-2
    ends = [run(description, step=2e-5, p=0.3 + s * h) for s in (1, -1)]
    for value, name in zip(found, names, strict=True):
        difference = (ends[0][name][-1] - ends[1][name][-1]) / (2 * h)
        assert value == pytest.approx(difference, rel=1e-2, abs=5e-3)


@pytest.mark.parametrize("force", ["-2*sign(der(x)) + 0.1*p", "-2*sign(x + 0.2*der(x)) - p*der(x)"])
def test_sliding_along_a_jump_is_refused_by_name(force: str):
    with pytest.raises(ValueError, match=r"der\(x\)"):
        run(cart(force, speed=0.5)).gradient("x", ["p"])


def test_gradient_of_damped_contact_matches_runs():
    """A ball that drops onto a damped spring: the drop height against runs."""
    description = {
        "format": "kinetree/1",
        "parameters": {"h": 0.3},
        "bodies": {"b": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "j": {
                "child": "b",
                "transforms": [{"shift": "z", "coordinate": "z", "start": "h"}],
            }
        },
        "forces": {"f": {"body": "b", "stiffness": 2000, "damping": 60}},
    }

    def end(h: float, step: float):
        system = load(description).compile(h=h)
        return system.simulate(stop_time=0.5, integrator="rk4", step=step, output_step=0.1)

    found = end(0.3, 1e-4).gradient("z", ["h"])[0]
    difference = (end(0.302, 1e-5)["z"][-1] - end(0.298, 1e-5)["z"][-1]) / 0.004
    assert difference == pytest.approx(-6.7e-4, rel=0.02)
    assert found == pytest.approx(difference, rel=0.01)
    assert np.isfinite(found)


GAINS = {"kp": 80.0, "kd": 8.0}
LIMITS = {"low": -30.0, "high": 30.0}


def controlled(step: float, law: dict, **gains: float):
    """Run a cart whose actuator is driven by a PID."""
    pid = {"kind": "pid", "measure": "x", "kp": "kp", "kd": "kd", "filter": 0.01, "ki": 20}
    controllers, actuators = {"c": pid | {"drives": "m"} | law}, {"m": {"coordinate": "x"}}
    d = cart("-3*x", start=1.0, controllers=controllers, actuators=actuators, parameters=GAINS)
    system = load(d).compile(**gains)
    return system.simulate(stop_time=0.4, integrator="rk4", step=step, output_step=0.1)


def differences(step: float, law: dict, relative: float) -> list[float]:
    """Return the central differences of the end of x by the gains."""
    found = []
    for name, value in GAINS.items():
        h = relative * value
        plus, minus = (controlled(step, law, **{name: value + s * h})["x"][-1] for s in (1, -1))
        found.append((plus - minus) / (2 * h))
    return found


@pytest.mark.parametrize("period", [None, 0.004])
@pytest.mark.parametrize("limits", [{}, LIMITS])
def test_controllers_take_part_in_gradients(period: float | None, limits: dict):
    """Gains of a PID that drives an actuator, continuous and sampled, within limits too.

    The slopes are those of the steps as they were made: the differences are so small that no
    corner of the laws passes an evaluation of a step.
    """
    law = limits if period is None else limits | {"period": period}
    found = controlled(1e-4, law).gradient("x", list(GAINS))
    assert found == pytest.approx(differences(1e-4, law, 1e-6), rel=1e-5, abs=1e-9)


def test_gradients_with_a_pid_at_its_limit_converge():
    """The integral of a continuous PID that leaves its limit sets in within some 26 us: steps that
    resolve it have the slopes of the motion, which differences over many steps show.
    """
    found = controlled(1e-6, LIMITS).gradient("x", list(GAINS))
    assert found == pytest.approx(differences(1e-4, LIMITS, 1e-2), rel=5e-3, abs=1e-6)
