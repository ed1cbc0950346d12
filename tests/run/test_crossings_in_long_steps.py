"""Conditions that come true many times inside of one step of an integrator: on uniform rotations, given motions, contacts; by every integrator."""

import numpy as np
import pytest

from kinetree.models import load

INTEGRATORS = ["auto", "rk45", "radau", "verner65", "tsit5", "adams", "rk4"]
ROTOR = {
    "format": "kinetree/1",
    "name": "rotor",
    "gravity": [0, 0, 0],
    "bodies": {"r": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {"j": {"child": "r", "type": "revolute", "coordinates": ["q"], "speed": ["2*pi*10"]}},
    "states": {"n": {"rate": 0}},
}
# conditions that come true once a turn, of a rotation and of a given law of time of the same pace
ONCE_A_TURN = ["sin(q) > 0.5", "cos(q) < -0.2", "sin(q)**3 > 0.9", "cos(q) + 0.3*sin(2*q) > 1.02"]


def counted(when: str, stop: float, step: float, integrator: str, **more) -> float:
    description = {**ROTOR, "events": {"tick": {"when": when, "set": {"n": "n + 1"}}}}
    system = load(description).compile()
    return system.simulate(
        stop_time=stop, output_step=step, integrator=integrator, step=min(step, 0.1), **more
    )["n"][-1]


@pytest.mark.parametrize("when", ONCE_A_TURN)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_crossing_of_a_rotation_is_counted(integrator: str, when: str):
    """A hundred turns in ten seconds, outputs from every tenth to every ten seconds, and a start that is long ago or long ahead."""
    for step in (0.1, 1.0, 10.0):
        assert counted(when, 10.0, step, integrator) == 100, step
        given = when.replace("q", "(2*pi*10*t)")
        assert counted(given, 10.0, step, integrator) == 100, step


@pytest.mark.parametrize("start", [-1e6, -33.3, 1e4, 1e6])
def test_rotation_crossings_are_counted_at_any_start_time(start: float):
    """The state does not know what time it is: from every start the same hundred."""
    description = {**ROTOR, "events": {"tick": {"when": "sin(q) > 0.5", "set": {"n": "n + 1"}}}}
    system = load(description).compile()
    result = system.simulate(start_time=start, stop_time=start + 10.0, output_step=1.0)
    assert result["n"][-1] == 100
    ticks = np.array([event.time for event in result.events]) - start
    expected = (np.arange(100) + np.arcsin(0.5) / (2 * np.pi)) / 10
    assert ticks == pytest.approx(expected, abs=1e-9 + 2e-14 * abs(start))


def test_fast_rotation_crossings_are_counted_among_slow_ones():
    """A drill at 500 turns a second beside a table that turns twice: both counters, over steps of a second."""
    description = {
        **ROTOR,
        "bodies": dict.fromkeys(("slow", "fast"), ROTOR["bodies"]["r"]),
        "joints": {
            "js": {"child": "slow", "type": "revolute", "coordinates": ["s"], "speed": ["2*pi*2"]},
            "jf": {"child": "fast", "type": "revolute", "coordinates": ["f"], "speed": ["2*pi*500"]},
        },
        "states": {"n": {"rate": 0}, "m": {"rate": 0}},
        "events": {
            "slow": {"when": "sin(s) > 0.5", "set": {"n": "n + 1"}},
            "fast": {"when": "sin(f) > 0.5", "set": {"m": "m + 1"}},
        },
    }  # fmt: skip
    result = load(description).compile().simulate(stop_time=3.0, output_step=1.0)
    assert (result["n"][-1], result["m"][-1]) == (6, 1500)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_rotating_hammer_strikes_at_every_turn(integrator: str):
    """A given rotation, a ball at rest: nothing moves until the touch, and no step ends near it."""
    description = {
        "format": "kinetree/1",
        "name": "hammer",
        "gravity": [0, 0, 0],
        "bodies": {"hammer": {"mass": 5.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}, "ball": {"mass": 1.0}},
        "joints": {
            "shaft": {"child": "hammer", "transforms": [{"rotate": "y", "by": "2*pi*t"}]},
            "slide": {"child": "ball", "type": "prismatic", "axis": "z", "coordinates": ["z"], "start": [-0.9]},
        },
        "contacts": {"blow": {"body": "hammer", "point": [1, 0, 0], "on": "ball"}},
    }  # fmt: skip
    result = (
        load(description)
        .compile()
        .simulate(stop_time=2.0, output_step=1.0, integrator=integrator, step=0.1)
    )
    assert result.events[0].time == pytest.approx(np.arcsin(0.9) / (2 * np.pi), abs=1e-7)


@pytest.mark.parametrize("lanes", [None, False])
def test_rotation_crossings_are_counted_in_ensembles(lanes):
    """In lanes of fixed steps, some of them whole turns long, and one by one."""
    description = {**ROTOR, "parameters": {"w": 10.0}, "events": {"tick": {"when": "cos(q) < -0.2", "set": {"n": "n + 1"}}}}  # fmt: skip
    description["joints"] = {"j": {**ROTOR["joints"]["j"], "speed": ["2*pi*w"]}}
    speeds = np.array([1.0, 2.5, 5.0, 8.0, 10.0, 20.0, 40.0, 33.3])
    many = (
        load(description)
        .compile()
        .simulate_many(
            {"w": speeds}, stop_time=2.0, output_step=1.0, integrator="rk4", step=0.1, lanes=lanes
        )
    )
    assert many["n"][:, -1].tolist() == np.floor(2.0 * speeds + 0.5).tolist()


def test_smooth_conditions_cost_no_extra_evaluations():
    """Two evaluations of the guards a step and a few more, on a motion whose condition is never near: the steps are those without it."""
    pendulum = {**ROTOR, "gravity": [0, 0, -9.81]}
    pendulum["bodies"] = {
        "r": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    }
    pendulum["joints"] = {"j": {"child": "r", "type": "revolute", "axis": "y", "coordinates": ["q"], "start": [1.0]}}  # fmt: skip
    watched = {**pendulum, "events": {"far": {"when": "q > 3", "set": {"n": "n + 1"}}}}
    runs = [
        load(each).compile().simulate(stop_time=20.0, output_step=1.0)
        for each in (pendulum, watched)
    ]
    assert runs[0].statistics["steps"] == runs[1].statistics["steps"]
    assert np.array_equal(runs[0]["q"], runs[1]["q"])
