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
def test_jumps_in_time(force: str, x: float | None, v: float | None, integrator: str):
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
def test_jumps_in_places_against_runs(force: str):
    """Differences of runs with fine steps, several steps of the place apart."""
    description = cart(force, speed=1.013)
    found = run(description, step=2e-4).gradient(["x", "der(x)"], ["p"])[:, 0]
    h = 2e-3
    ends = [run(description, step=2e-5, p=0.3 + s * h) for s in (1, -1)]
    for value, name in zip(found, ("x", "der(x)"), strict=True):
        difference = (ends[0][name][-1] - ends[1][name][-1]) / (2 * h)
        assert value == pytest.approx(difference, rel=5e-3, abs=2e-3)


def test_jumps_before_and_after_events():
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


def test_soft_contact_with_a_damper():
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


@pytest.mark.parametrize("period", [None, 0.004])
@pytest.mark.parametrize("limits", [{}, {"low": -30.0, "high": 30.0}])
def test_controllers_take_part_in_gradients(period: float | None, limits: dict):
    """Gains of a PID that drives an actuator, continuous and sampled, within limits too."""
    law = {"kind": "pid", "measure": "x", "kp": "kp", "kd": "kd", "filter": 0.01, "ki": 20}
    law |= {"drives": "m", **limits} | ({} if period is None else {"period": period})
    d = cart("-3*x", start=1.0, controllers={"c": law}, actuators={"m": {"coordinate": "x"}})
    d["parameters"] = values = {"kp": 80.0, "kd": 8.0}

    def end(**parameters: float):
        system = load(d).compile(**parameters)
        return system.simulate(stop_time=0.4, integrator="rk4", step=1e-4, output_step=0.1)

    found = end().gradient("x", list(values))
    for slope, (name, value) in zip(found, values.items(), strict=True):
        # continuous: the instants at which the limits let go move over many steps
        h = (1e-2 if period is None else 1e-4) * value
        plus, minus = (end(**{name: value + s * h})["x"][-1] for s in (1, -1))
        assert slope == pytest.approx((plus - minus) / (2 * h), rel=5e-3, abs=1e-6)
