"""Controllers that cannot work: each is refused with its key, what stands there and what is expected."""

import pytest

from kinetree.models import ModelError, load

MASS = {
    "format": "kinetree/1",
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"b": {"mass": 2.0}},
    "joints": {"j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["s"]}},
    "actuators": {"push": {"coordinate": "s"}, "pull": {"coordinate": "s"}},
}
WAY = {"way": {"x": [0, 1], "y": [0, 1]}}
PID = {"measure": "s", "kp": 3.0}
ONE = {"measures": ["s"], "A": [[0.0]], "B": [[1.0]], "C": [[1.0]], "L": [[1.0]], "K": [[2.0]]}


@pytest.mark.parametrize(
    ("controller", "told"),
    [
        ({"measure": "s", "kind": "pid"}, "controllers.hold: found no gain, expected kp, ki or kd"),
        (
            {"kind": "lead-lag", "measure": "s", "lead": 0.1, "lag_time": 0.2, "gain": 0.0},
            "controllers.hold: found no gain, expected a gain",
        ),
        (
            {"kind": "notch", "measure": "s", "frequency": 2.0, "gain": 0.0},
            "controllers.hold: found no gain, expected a gain",
        ),
        (
            {"kind": "saturation", "input": "s"},
            "controllers.hold: found no limit, expected low, high or both",
        ),
        (
            {"kind": "rate-limit", "input": "s"},
            "controllers.hold.rate: found nothing, expected the largest change per second",
        ),
        (
            {"kind": "sensor", "input": "s"},
            "controllers.hold.period: found nothing, expected the sampling period",
        ),
        ({**PID, "period": 0.0}, "controllers.hold.period: found 0, expected a number > 0"),
        (
            {**PID, "period": 0.1, "delay": -1.0},
            "controllers.hold.delay: found -1, expected 0 or more",
        ),
        (
            {**PID, "low": 2.0, "high": 1.0},
            "controllers.hold.high: found 1, expected a number above low, 2",
        ),
        (
            {**PID, "delay": 0.1},
            "controllers.hold.delay: found delay of a continuous controller, expected a period, too",
        ),
        ({**PID, "kd": 1.0}, "controllers.hold.filter: found 0, expected a time constant"),
        (
            {**PID, "setpoint": "s", "speed_forward": 1.0},
            "found a setpoint that depends on 's', expected a law of time",
        ),
        (
            {**PID, "setpoint": "table('way', t)", "speed_forward": 1.0},
            "found the setpoint 'table('way', t)', expected a law whose derivatives can be written",
        ),
        (
            {**ONE, "drives": "push", "commands": ["pull"]},
            "controllers.hold.drives: found drives and commands, expected one of them",
        ),
        (
            {**ONE, "commands": ["push", "pull"]},
            "controllers.hold.commands: found 2 actuators, expected 1, one for every row of K",
        ),
        (
            {**ONE, "B": [[1.0, 0.0]], "K": [[2.0], [1.0]], "drives": "push"},
            "expected commands with 2, one for every row of K",
        ),
        ({**ONE, "L": [[1.0, 2.0]]}, "controllers.hold.L: found 1 by 2"),
        ({**PID, "drives": "lift"}, "lift"),
    ],
)
def test_infeasible_controllers_are_refused(controller: dict, told: str):
    with pytest.raises(ModelError) as refused:
        load({**MASS, "tables": WAY, "controllers": {"hold": controller}})
    assert told in str(refused.value), refused.value


def test_invalid_controller_names_are_refused():
    with pytest.raises(
        ModelError,
        match="controllers.my-hold: found the name 'my-hold', expected letters, digits, underscores and dots",
    ):
        load({**MASS, "controllers": {"my-hold": PID}})


def test_unreadable_setpoint_is_reported_once():
    """It was told a second time, as one whose derivatives cannot be written."""
    with pytest.raises(ModelError) as refused:
        load({**MASS, "controllers": {"hold": {**PID, "setpoint": "t +", "speed_forward": 1.0}}})
    (line,) = str(refused.value).splitlines()
    assert line.startswith("controllers.hold.setpoint: found 't +'")


def test_periods_that_may_change_in_a_run_are_refused():
    """They decide what states there are."""
    parameters = {"T": {"value": 0.1, "tunable": True}}
    with pytest.raises(
        ModelError,
        match=r"controllers.hold.period: found 'T', which may change in a run, expected a parameter that does not",
    ):
        load({**MASS, "parameters": parameters, "controllers": {"hold": {**PID, "period": "T"}}})
    with pytest.raises(ModelError, match=r"controllers.hold.period"):
        load({**MASS, "controllers": {"hold": {**PID, "period": "2*("}}})


LEAVES = {
    "format": "kinetree/1",
    "name": "leaves",
    "bodies": {"a": {"mass": 2.0}, "b": {"mass": 0.7, "com": [0, 0, -0.3], "inertia": [0.05, 0.05, 0.05, 0, 0, 0]}},
    "joints": {
        "ja": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]},
        "jb": {"parent": "a", "child": "b", "transforms": [{"rotate": "y", "coordinate": "q", "start": 0.4}]},
    },
    "actuators": {"m": {"coordinate": "x"}},
    "stages": [{"name": "one", "ends": {"at": 0.5}, "drop": ["b"]}, {"name": "two"}],
}  # fmt: skip


@pytest.mark.parametrize("period", [{}, {"period": 0.01}])
def test_controller_measuring_a_dropped_body_is_refused_by_name(period):
    """Continuous and sampled, where its command still acts; one whose command has left with it is none of this."""
    law = {"kind": "pid", "measure": "q + x", "kp": 3.0, "ki": 1.0, **period}
    with pytest.raises(ModelError, match=r"\bhold\b"):
        load({**LEAVES, "controllers": {"hold": {**law, "drives": "m"}}}).compile().simulate(1.0)
    used = {**LEAVES, "controllers": {"hold": law}}
    used["forces"] = {"f": {"coordinate": "x", "value": "2*hold"}}
    with pytest.raises(ModelError, match=r"\bhold\b"):
        load(used).compile().simulate(1.0)
    if period:
        idle = load({**LEAVES, "controllers": {"hold": law}}).compile().simulate(1.0)
        assert idle.time[-1] == 1.0


@pytest.mark.parametrize("periods", [1.0, 2.0, 3.0, 3.2])
def test_jitter_with_delay_of_whole_periods_is_at_most_a_period(periods: float):
    """Three tenths of a second are three periods of a tenth, though their remainder is a rounding less than one."""
    late = {**PID, "period": 0.1, "delay": 0.1 * periods}
    load({**MASS, "controllers": {"hold": {**late, "jitter": 0.07}}})
    with pytest.raises(ModelError, match="jitter"):
        load({**MASS, "controllers": {"hold": {**late, "jitter": 0.11}}})
