"""What happens at the edges of a run: stages without length, stages that never end, nonsense as options, inputs and states."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError

ROD = {
    "format": "kinetree/1",
    "name": "rod that is let go",
    "gravity": [0, -9.81, 0],
    "bodies": {"rod": {"mass": 2.0, "com": [0, -0.6, 0], "inertia": [0.24, 0.001, 0.24, 0, 0, 0]}},
    "joints": {
        "pin": {
            "child": "rod",
            "transforms": [{"rotate": "z", "coordinate": "th", "start": "pi/2"}],
        }
    },
    "inputs": {"torque": 0.0},
    "forces": {"motor": {"coordinate": "th", "value": "torque"}},
    "outputs": {"y": {"quantity": "position", "body": "rod", "point": [0, -0.6, 0], "axis": "y"}},
}


def staged(*stages: dict):
    return load({**ROD, "stages": list(stages)}).compile()


@pytest.mark.parametrize("ends", [{"when": "th > 1"}, {"at": 0.0}, {"after": 0.0}])
def test_stage_of_zero_length_ends_at_once(ends):
    """The rod falls from rest: height -g t²/2 from the first instant on."""
    result = staged({"name": "held", "ends": ends, "free": ["pin"]}, {"name": "falling"}).simulate(
        stop_time=0.5, output_step=0.1
    )
    assert [event.time for event in result.events] == [0.0]
    assert np.abs(result["y"] + 9.81 / 2 * result.time**2).max() < 1e-9


def test_stage_without_end_condition_is_never_left():
    """The run ends at its stop time in the first stage, without an event."""
    result = staged(
        {"name": "held", "ends": {"when": "th > 100"}, "free": ["pin"]}, {"name": "falling"}
    ).simulate(stop_time=0.5, output_step=0.1)
    assert result.time[-1] == 0.5 and not result.events and not result["stage"].any()


@pytest.mark.parametrize(
    "option",
    [
        {"stop_time": -1.0},
        {"stop_time": math.nan},
        {"output_step": 0.0},
        {"tolerance": -1.0},
        {"integrator": "euler"},
    ],
)
def test_invalid_run_options_are_named(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        staged().simulate(**option)


def test_zero_stop_time_gives_one_row():
    assert staged().simulate(stop_time=0.0).time.tolist() == [0.0]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_non_finite_input_is_refused(value):
    with pytest.raises(EvaluationError, match="not a finite number"):
        staged().simulate(stop_time=0.1, inputs={"torque": value})


def test_non_finite_state_is_named():
    system = staged()
    _, u = system.start()
    with pytest.raises(ValueError, match=r"q\[0\] is nan"):
        system.accelerations(0.0, [math.nan], u)


def test_accelerations_by_name():
    """der(der(th)) of the rod at rest, horizontal: -g c m / J about the pin."""
    system = load({**ROD, "outputs": {"second": {"value": "der(der(th))"}}}).compile()
    q, u = system.start()
    assert system.outputs(0.0, q, u)["second"] == pytest.approx(
        -9.81 * 0.6 * 2.0 / (0.24 + 2.0 * 0.36), rel=1e-12
    )


def test_missing_outputs_keep_last_value():
    """After the release there is no angle th any more; an output made of it stays where it was, and an event on it falls away."""
    release = {"name": "held", "ends": {"when": "th < pi/6"}, "free": ["pin"]}
    extra = {
        "outputs": {**ROD["outputs"], "twice": {"value": "2*th"}},
        "events": {"down": {"when": "th < 0", "set": {"th": "th"}}},
    }
    result = (
        load({**ROD, **extra, "stages": [release, {"name": "flying"}]})
        .compile()
        .simulate(stop_time=0.6, output_step=0.1, tolerance=1e-10)
    )
    after = result["twice"][result.time > 0.45]
    assert np.abs(after - math.pi / 3).max() < 1e-8


@pytest.mark.parametrize("word", ["force", "reaction"])
def test_stage_ends_by_joint_reaction(word):
    """A rod from the horizontal at rest: at the angle a below it the pin carries mg (5/2 sin a, 1/4 cos a) along and across a uniform rod."""
    stages = [
        {"name": "held", "ends": {"when": f"{word}('pin') > 30"}, "free": ["pin"]},
        {"name": "flying"},
    ]
    result = (
        load({**ROD, "stages": stages})
        .compile()
        .simulate(stop_time=1.0, output_step=0.01, tolerance=1e-11)
    )
    a = math.asin(math.sqrt(((30 / (2.0 * 9.81)) ** 2 - 1 / 16) / (25 / 4 - 1 / 16)))
    fall = staged().simulate(stop_time=result.events[0].time, output_step=1.0, tolerance=1e-11)
    assert fall["th"][-1] == pytest.approx(math.pi / 2 - a, abs=1e-9)


def test_release_keeps_momentum():
    """A smooth release carries no impulse: momentum and energy are continuous to rounding."""
    result = staged(
        {"name": "held", "ends": {"when": "th < pi/6"}, "free": ["pin"]}, {"name": "flying"}
    ).simulate(stop_time=0.6, tolerance=1e-11)
    event = result.events[0]
    assert event.time == pytest.approx(0.42119702715196464, abs=1e-11)
    assert np.abs(np.subtract(event.before, event.after)).max() < 1e-12


def test_run_continues_from_a_copy_bit_for_bit():
    """A run that is copied in the middle, restored elsewhere and continued equals the uninterrupted one in every bit."""
    from kinetree.models.run.simulation_unit import Run, make_unit

    unit = make_unit(
        staged(
            {"name": "held", "ends": {"when": "th < pi/6"}, "free": ["pin"]}, {"name": "flying"}
        ),
        "adams",
    )
    whole = Run(unit)
    whole.call("unit_start")
    for k in range(1, 11):
        whole.call("unit_advance", 0, 0.05 * k)
        if k == 4:
            other = Run(unit)
            other.work[:] = whole.work
    for k in range(5, 11):
        other.call("unit_advance", 0, 0.05 * k)
    assert other.work.tobytes() == whole.work.tobytes()


def test_chatter_names_the_event_and_the_instant():
    """A ball that loses half its speed at every bounce comes to rest after finitely many: the first fall 0.4515 s and twice that again."""
    ball = {
        "format": "kinetree/1",
        "bodies": {"ball": {"mass": 1.0}},
        "joints": {
            "J": {"child": "ball", "transforms": [{"shift": "z", "coordinate": "z", "start": 1.0}]}
        },
        "events": {
            "never": {"when": "z > 5", "set": {"z": "5"}},
            "bounce": {"when": "z < 0", "set": {"der(z)": "-0.5*der(z)", "z": "0"}},
        },
    }
    with pytest.raises(
        EvaluationError,
        match=r"at t = 1\.354\d+: events accumulate \(chattering\): event 'bounce' \(when z < 0\)",
    ) as caught:
        load(ball).compile().simulate(stop_time=3.0, output_step=0.1, tolerance=1e-10)
    assert caught.value.result.time[-1] == pytest.approx(1.3)


def test_failures_name_the_body():
    """What a status means is known also when it comes from inside a step: a mass that a table takes away."""
    rod = {
        **ROD,
        "parameters": {"k": 1.0},
        "events": {"lighter": {"when": "th < pi/4", "set": {"k": "0"}}},
    }
    rod["bodies"] = {
        name: {**body, "mass": "2*k", "inertia": ["0.24*k", "0.24*k", "0.1*k", 0, 0, 0]}
        for name, body in ROD["bodies"].items()
    }
    with pytest.raises(EvaluationError, match=f"body '{next(iter(ROD['bodies']))}' has no inertia"):
        load(rod).compile().simulate(stop_time=1.0, output_step=0.1)


def test_free_joint_locks_in_place():
    """Place and turn stay, whatever they are: a point beside the origin rests where the flight has led it."""
    flight = {
        "child": "a",
        "type": "free",
        "start": [0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5],
        "speed": [1, 2, 3, 0.3, -0.2, 0.4],
    }
    tip = {
        f"p{x}": {"quantity": "position", "body": "a", "point": [0.1, 0.2, 0.3], "axis": x}
        for x in "xyz"
    }
    mechanism = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": {"mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}},
        "outputs": tip,
    }
    flown = (
        load(mechanism | {"joints": {"j": flight}})
        .compile()
        .simulate(stop_time=0.2, output_step=0.1)
    )
    stages = [{"ends": {"at": 0.2}, "lock": ["j"]}, {}]
    held = (
        load(mechanism | {"joints": {"j": flight}, "stages": stages})
        .compile()
        .simulate(stop_time=0.4, output_step=0.1)
    )
    for name in tip:
        assert (
            held[name][-1] == pytest.approx(flown[name][-1], abs=1e-7)
            and abs(flown[name][-1] - flown[name][0]) > 0.05
        )
