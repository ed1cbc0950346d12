"""What happens at one instant has one order: events together, chains, the end of the stage; the same for every integrator and output step."""

import json
import math

import numpy as np
import pytest
from instants import instants

from kinetree.models import ModelError, load
from kinetree.models.compilation import stage_structures as changes
from kinetree.models.engine.status import EvaluationError
from kinetree.models.joints.kinds import KINDS
from kinetree.scripts.commands.check import check

BODY = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
INTEGRATORS = ("adams", "rk45", "radau", "rk4", "semi-implicit", "stormer", "auto")
COUNTER = {"n": {"rate": "0"}, "m": {"rate": "0"}}


def slider(speed: float = 1.0, **more) -> dict:
    """A mass that moves along x without forces."""
    transforms = [{"shift": "x", "coordinate": "x", "speed": speed}]
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": BODY},
        "joints": {"j": {"child": "a", "transforms": transforms}},
        **more,
    }


def ball(start: float = 1.0, **more) -> dict:
    joints = {
        "j": {
            "child": "a",
            "type": "prismatic",
            "axis": "z",
            "coordinates": ["z"],
            "start": [start],
        }
    }
    return {"format": "kinetree/1", "bodies": {"a": BODY}, "joints": joints, **more}


def counts(rule: dict[str, str], **events: dict) -> dict:
    return {name: {"when": when, "set": {"n": "n + 1"}} for name, when in rule.items()} | events


# -- once is once -------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_condition_at_its_bound_at_the_start_fires_once_in_its_direction(integrator):
    """From x = 0 at rest under a force: x > 0 comes true once, x < 0 never; rounding of the dense output is no crossing."""
    force = {"f": {"coordinate": "x", "value": "1"}}
    events = {
        "E": {"when": "x > 0", "set": {"n": "n + 1"}},
        "never": {"when": "x < 0", "set": {"m": "m + 1"}},
    }
    result = (
        load(slider(0.0, states=COUNTER, events=events, forces=force))
        .compile()
        .simulate(stop_time=1, output_step=0.1, integrator=integrator)
    )
    assert (result["n"][-1], result["m"][-1]) == (1.0, 0.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_one_crossing_is_one_event(integrator, factor):
    """A reset of the speed leaves the guard on its bound, on either side by rounding: the rate tells that it has crossed."""
    events = {
        f"E{k}": {
            "when": f"x > {0.1 * k + 0.05}",
            "set": {"der(x)": f"{factor}*der(x)", "n": "n + 1"},
        }
        for k in range(5)
    }
    result = (
        load(slider(1.0, states=COUNTER, events=events))
        .compile()
        .simulate(stop_time=1, output_step=0.01, integrator=integrator)
    )
    assert result["n"][-1] == 5.0 and result["der(x)"][-1] == pytest.approx(factor**5, rel=1e-12)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_one_crossing_is_one_event_in_a_loop(tolerance):
    """The dense output opens the loop by its error, and closing it moves the guard back across its bound: still one event per crossing.

    The piston passes x on its way out only and loses a tenth of its speed each time; 1 s holds one or two turns.
    """
    rod = lambda length, m: {  # noqa: E731
        "mass": m,
        "com": [length / 2, 0, 0],
        "inertia": [0.001, m * length**2 / 12, m * length**2 / 12, 0, 0, 0],
    }
    z = lambda name, start=0.0, speed=0.0: {  # noqa: E731
        "rotate": "z",
        "coordinate": name,
        "start": start,
        "speed": speed,
    }
    d = {
        "format": "kinetree/1", "gravity": [0, -9.81, 0],
        "bodies": {"crank": rod(0.15, 1.0), "rod": rod(0.4, 0.8), "piston": {"mass": 0.6, "inertia": [0.001, 0.001, 0.001, 0, 0, 0]}},
        "joints": {
            "A": {"child": "crank", "transforms": [z("phi", 0.8, 12.0)]},
            "B": {"parent": "crank", "child": "rod", "at": [0.15, 0, 0], "transforms": [z("psi", -1.0)]},
            "C": {"child": "piston", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.48}]},
            "D": {"parent": "rod", "child": "piston", "transforms": [{"shift": [0.4, 0, 0]}, z("mu", 0.2)]},
        },
    }  # fmt: skip
    for bound in (0.47, 0.5, 0.53):
        d["events"] = {"E": {"when": f"x > {bound}", "set": {"der(x)": "0.9*der(x)"}}}
        found = instants(d, 1.0, tolerance=tolerance)
        times = np.array([each.time for each in found])
        assert times.size and (np.diff(times) > 1e-3).all()
        for each in found:
            assert each.before["der(x)"] > 0.0 and each.after["der(x)"] == pytest.approx(
                0.9 * each.before["der(x)"], rel=1e-9
            )
            assert each.before["x"] == pytest.approx(bound, abs=10.0 * tolerance + 1e-11)


def test_a_body_at_rest_on_its_stop_is_reported():
    """It would bounce with speeds of rounding without end: chatter, at once; it never falls through."""
    for start, when in ((0.0, "z < 0"), (1.0, "z < 1")):
        for integrator in ("adams", "radau", "rk4"):
            with pytest.raises(EvaluationError, match="chattering"):
                events = {"e": {"when": when, "set": {"der(z)": "-0.5*der(z)"}}}
                load(ball(start, events=events)).compile().simulate(
                    stop_time=0.5, integrator=integrator
                )


# -- together -----------------------------------------------------------------------------------------------------------------------------
def test_event_states_change_in_order_and_speeds_together():
    """Three events of one instant: the counter sees each, the speed is that of the last, from the value before the instant."""
    when = {"a": "x > 0.5", "b": "2*x > 1", "c": "x - 0.5 > 0"}
    events = {
        name: {"when": text, "set": {"n": "n + 1", "m": "2*m + n", "der(x)": f"-{k + 1}*der(x)"}}
        for k, (name, text) in enumerate(when.items())
    }
    (found,) = instants(slider(states=COUNTER, events=events), 0.6)
    assert (found.after["n"], found.after["m"], found.after["der(x)"]) == (
        3.0,
        2.0 * (2.0 * 0.0 + 1.0) + 2.0,
        -3.0,
    )


def test_conditions_differing_by_rounding_are_simultaneous():
    """10 x > 1, x > 0.1 and x/0.1 > 1 cross within rounding of each other: the first must not undo what the others ask for."""
    events = {
        "one": {"when": "10*x > 1", "set": {"der(x)": "-der(x)", "n": "n + 1"}},
        "two": {"when": "x > 0.1", "set": {"n": "n + 1"}},
        "three": {"when": "x/0.1 > 1", "set": {"n": "n + 1"}},
        "four": {"when": "0.3*x > 0.03", "set": {"n": "n + 1"}},
    }
    for integrator in INTEGRATORS:
        for step in (0.01, 0.037, 1.0):
            result = (
                load(slider(states=COUNTER, events=events))
                .compile()
                .simulate(stop_time=1.0, output_step=step, integrator=integrator)
            )
            assert result["n"][-1] == 4.0 and result["x"][-1] == pytest.approx(-0.8, abs=1e-9)


def test_simultaneous_speed_settings_apply():
    """Events of one instant that set two speeds of one system: together, not one that spoils the other by its impulse."""
    joints = {
        "a": {"child": "a", "transforms": [{"rotate": "y", "coordinate": "p", "speed": 1.0}]},
        "b": {
            "parent": "a",
            "child": "b",
            "at": [0, 0, -1],
            "transforms": [{"rotate": "y", "coordinate": "q", "speed": 1.0}],
        },
    }
    bodies = {"a": {**BODY, "com": [0, 0, -0.5]}, "b": {**BODY, "com": [0, 0, -0.5]}}
    events = {
        "one": {"when": "t > 0.1", "set": {"der(p)": 0.25}},
        "two": {"when": "t > 0.1", "set": {"der(q)": -0.5}},
    }
    (found,) = instants(
        {"format": "kinetree/1", "bodies": bodies, "joints": joints, "events": events}, 0.2
    )
    assert (found.after["der(p)"], found.after["der(q)"]) == (0.25, -0.5)


# -- chains -------------------------------------------------------------------------------------------------------------------------------
def test_reset_triggers_second_event():
    """One instant, three links; each sees what the one before left."""
    events = {
        "third": {"when": "m > 1.5", "set": {"der(x)": 0}},
        "second": {"when": "n > 0.5", "set": {"m": "m + 2*n"}},
        "first": {"when": "x > 0.5", "set": {"n": "n + 1"}},
    }
    result = (
        load(slider(states=COUNTER, events=events))
        .compile()
        .simulate(stop_time=1.0, output_step=0.5)
    )
    assert [event.cause.split("'")[1] for event in result.events] == ["first", "second", "third"]
    assert {event.time for event in result.events} == {result.events[0].time} and result["x"][
        -1
    ] == pytest.approx(0.5, abs=1e-11)


def test_speed_reversal_triggers_event():
    """A bounce makes der(z) > 0 come true: an event of its own at the same instant, and again only after the next bounce."""
    events = {
        "hit": {"when": "z < 0", "set": {"z": 0, "der(z)": "-0.5*der(z)"}},
        "up": {"when": "der(z) > 0", "set": {"n": "n + 1"}},
    }
    result = (
        load(ball(states=COUNTER, events=events)).compile().simulate(stop_time=1.0, output_step=0.1)
    )
    bounces = [event.time for event in result.events if "hit" in event.cause]
    first = math.sqrt(2.0 / 9.81)
    assert bounces == pytest.approx([first, 2.0 * first], abs=1e-9) and result["n"][-1] == 2.0


def test_endless_event_chain_is_reported_as_chatter():
    events = {
        "a": {"when": "x > 0.5 and n < 0.5", "set": {"n": 1}},
        "b": {"when": "n > 0.5", "set": {"n": 0}},
    }
    with pytest.raises(EvaluationError, match=r"t = 0.5.*chattering"):
        load(slider(states=COUNTER, events=events)).compile().simulate(stop_time=1.0)


def test_parameter_change_triggers_event():
    events = {"a": {"when": "x > 0.5", "set": {"k": 2}}, "b": {"when": "k > 1", "set": {"n": "k"}}}
    result = (
        load(slider(states=COUNTER, parameters={"k": 0.0}, events=events))
        .compile()
        .simulate(stop_time=1.0)
    )
    assert result["n"][-1] == 2.0 and len(result.events) == 2


# -- with stages --------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("step", [0.1, 0.013])
def test_reset_at_stage_end_is_applied(integrator, step):
    """Both happen, the reset first: the ball goes on upwards in the new stage, bounces there and ends as the closed form says."""
    events = {"hit": {"when": "z < 0", "set": {"z": 0, "der(z)": "-0.8*der(z)"}}}
    d = ball(events=events, stages=[{"name": "fall", "ends": {"when": "z < 0"}}, {"name": "after"}])
    result = load(d).compile().simulate(stop_time=0.8, output_step=step, integrator=integrator)
    first = math.sqrt(2.0 / 9.81)
    rest = 0.8 - first
    assert result["z"][-1] == pytest.approx(
        0.8 * 9.81 * first * rest - 9.81 / 2.0 * rest**2, abs=1e-8
    )
    assert [event.kind for event in result.events] == ["reset", "stage"] and result.events[
        0
    ].time == result.events[1].time


def test_stage_end_sets_speeds_and_states():
    """A bounce and a change of structure at one instant: the pin lets go of what bounced, and the state counts with the values before."""
    d = ball(
        states=COUNTER,
        stages=[
            {
                "name": "fall",
                "ends": {"when": "z < 0.2"},
                "set": {"der(z)": "-0.5*der(z)", "n": "der(z)", "k": "z"},
            },
            {"name": "up"},
        ],
    )
    d |= {"parameters": {"k": 7.0}, "outputs": {"kept": {"value": "k"}}}
    result = load(d).compile().simulate(stop_time=0.6, output_step=0.1)
    speed, (change,) = math.sqrt(2.0 * 9.81 * 0.8), result.events
    assert (
        change.kind == "stage"
        and result["n"][-1] == pytest.approx(-speed, rel=1e-9)
        and result["kept"][-1] == pytest.approx(0.2, abs=1e-9)
    )
    rest = 0.6 - change.time
    assert result["z"][-1] == pytest.approx(
        0.2 + 0.5 * speed * rest - 9.81 / 2.0 * rest**2, abs=1e-8
    )
    assert change.energy_loss == pytest.approx(0.5 * speed**2 * (1.0 - 0.25), rel=1e-8)


@pytest.mark.parametrize("rule", ["hits + 1", "weight/2 + 1", "hits + 1 + 0*x"])
def test_stage_end_increments_a_counter(rule: str):
    """A parameter set to an expression over itself, or over what is computed from it, was taken for its own definition: a cycle, at run time."""
    events = {"e": {"when": "x > 0.25", "set": {"hits": "hits + 1"}}}
    parameters = {"hits": 0.0, "weight": "2*hits", "k": 1.0}
    stages = [
        {"ends": {"at": 0.5}, "set": {"hits": rule}},
        {"ends": {"after": 0.2}, "set": {"k": "3*hits"}},
        {},
    ]
    outputs = {f"seen_{name}": {"value": name} for name in parameters}
    result = (
        load(slider(1.0, parameters=parameters, events=events, stages=stages, outputs=outputs))
        .compile()
        .simulate(stop_time=1, output_step=0.1)
    )
    assert [result[f"seen_{name}"][-1] for name in parameters] == [2.0, 4.0, 6.0]


def test_impact_and_lock_at_one_instant_are_applied():
    """The end sets the speed, then the joint locks with the momentum that this leaves: two sliders, one on the other."""
    joints = {
        "J": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x", "speed": 1.0}]},
        "K": {
            "parent": "a",
            "child": "b",
            "transforms": [{"shift": "x", "coordinate": "s", "speed": 1.0}],
        },
    }
    stages = [{"ends": {"when": "s > 0.5"}, "set": {"der(s)": -3.0}, "lock": ["K"]}, {}]
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": BODY, "b": {**BODY, "mass": 3.0}},
        "joints": joints,
        "stages": stages,
    }
    result = load(d).compile().simulate(stop_time=1.0, output_step=0.25)
    momentum = 1.0 * 1.0 + 3.0 * 2.0  # an inner impulse and a lock keep it
    assert result["der(x)"][-1] == pytest.approx(momentum / 4.0, rel=1e-10)


def test_stage_ends_despite_reset_of_its_condition():
    """The condition of the end came true: the stage ends although the reset of the same instant makes it false again; once."""
    events = {"back": {"when": "x > 0.5", "set": {"x": 0, "n": "n + 1"}}}
    stages = [
        {"name": "one", "ends": {"when": "x > 0.5"}},
        {"name": "two", "ends": {"when": "x > 0.5"}},
        {"name": "three"},
    ]
    result = (
        load(slider(states=COUNTER, events=events, stages=stages))
        .compile()
        .simulate(stop_time=1.2, output_step=0.1)
    )
    assert [(event.kind, round(event.time, 9)) for event in result.events] == [
        ("reset", 0.5),
        ("stage", 0.5),
        ("reset", 1.0),
        ("stage", 1.0),
    ]


def test_event_chain_crosses_stage_end():
    """An event makes the end come true; what the end sets makes an event of the next stage come true: all at one instant, each once."""
    events = {
        "first": {"when": "x > 0.5", "set": {"n": 1}},
        "after": {"when": "m > 0.5", "set": {"m": "m + 10"}},
    }
    stages = [{"name": "one", "ends": {"when": "n > 0.5"}, "set": {"m": 1}}, {"name": "two"}]
    result = (
        load(slider(states=COUNTER, events=events, stages=stages))
        .compile()
        .simulate(stop_time=1.0, output_step=0.1)
    )
    assert [event.kind for event in result.events] == ["reset", "stage", "reset"] and result["m"][
        -1
    ] == 11.0
    assert np.ptp([event.time for event in result.events]) == 0.0


@pytest.mark.parametrize(
    "when, ended",
    [
        ("n >= 1", True),
        ("n > 1", False),
        ("n <= 1", True),
        ("not n < 1", True),
        ("n >= 1 and x > 0.2", True),
    ],
)
def test_stage_starting_at_its_end_condition(when, ended):
    """>= and <= hold there, > and < do not."""
    stages = [{"ends": {"at": 0.5}, "set": {"n": 1}}, {"ends": {"when": when}, "set": {"m": 1}}, {}]
    result = (
        load(slider(states=COUNTER, stages=stages))
        .compile()
        .simulate(stop_time=0.7, output_step=0.1)
    )
    assert len(result.events) == 1 + ended and all(
        event.time == pytest.approx(0.5, abs=1e-12) for event in result.events
    )


def test_event_at_stage_end_is_not_repeated():
    events = {"E": {"when": "x > 0.5", "set": {"n": "n + 1", "der(x)": "0.5*der(x)"}}}
    stages = [{"name": "one", "ends": {"when": "x > 0.5"}}, {"name": "two"}]
    for integrator in INTEGRATORS:
        result = (
            load(slider(states=COUNTER, events=events, stages=stages))
            .compile()
            .simulate(stop_time=1.0, integrator=integrator)
        )
        assert result["n"][-1] == 1.0 and result["x"][-1] == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize("ends", [{"at": 0.3}, {"after": 0.3}, {"when": "z < 0.2"}])
def test_last_stage_end_has_no_effect(ends):
    """There is nothing to go on to: the run goes on as it is, without an event. One stage or two."""
    for stages in (
        [{"name": "one", "ends": ends}],
        [{"ends": {"at": 0.1}}, {"name": "last", "ends": ends}],
    ):
        result = load(ball(stages=stages)).compile().simulate(stop_time=1.0, output_step=0.1)
        assert result.time[-1] == 1.0 and len(result.events) == len(stages) - 1
        assert result["z"][-1] == pytest.approx(1.0 - 9.81 / 2.0, abs=1e-8)


def test_unreached_stages_are_reported():
    stages = [
        {"name": "one", "ends": {"at": 0.1}},
        {"name": "two", "ends": {"when": "z > 10"}},
        {"name": "three"},
    ]
    result = load(ball(stages=stages)).compile().simulate(stop_time=0.3, output_step=0.1)
    assert result.unreached == ("three",)


# -- sizes --------------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_event_sets_many_values(count):
    d = slider(
        states={f"s{k}": {"rate": "0"} for k in range(count)},
        events={"E": {"when": "x > 0.5", "set": {f"s{k}": k + 1 for k in range(count)}}},
    )
    result = load(d).compile().simulate(stop_time=0.6, output_step=0.6)
    assert [result[f"s{k}"][-1] for k in range(count)] == [k + 1.0 for k in range(count)]


def test_many_simultaneous_events():
    d = slider(
        states=COUNTER, events=counts({f"E{k}": f"x > {0.004 * (k + 1)}" for k in range(100)})
    )
    assert load(d).compile().simulate(stop_time=0.5, output_step=0.5)["n"][-1] == 100.0


def test_all_events_are_recorded_beyond_log_size():
    """Between two outputs more than the engine remembers: none is lost, none is told twice."""
    d = slider(
        states=COUNTER, events=counts({f"E{k}": f"x > {0.001 * (k + 1)}" for k in range(600)})
    )
    result = load(d).compile().simulate(stop_time=1.0, output_step=1.0)
    times = np.array([event.time for event in result.events])
    assert times == pytest.approx(0.001 * np.arange(1, 601), abs=1e-10) and result["n"][-1] == 600.0


# -- said before the run ------------------------------------------------------------------------------------------------------------------
def test_unknown_targets_are_refused():
    """An event that sets nothing that is there was left out without a word."""
    for more, key in (
        ({"events": {"E": {"when": "x > 1", "set": {"y": 1}}}}, r"events\.E\.set\.y"),
        (
            {"stages": [{"ends": {"at": 1}, "set": {"der(y)": 1}}, {}]},
            r"stages\[0\]\.set\.der\(y\)",
        ),
        (
            {"outputs": {"o": {"value": "x"}}, "events": {"E": {"when": "x > 1", "set": {"o": 1}}}},
            r"events\.E\.set\.o",
        ),
        (
            {
                "parameters": {"a": 1.0, "b": "2*a"},
                "events": {"E": {"when": "x > 1", "set": {"b": 1}}},
            },
            r"events\.E\.set\.b.*computed as 2\*a",
        ),
    ):
        with pytest.raises(ModelError, match=key):
            load(slider(**more)).compile()


def test_check_compiles_every_structure(tmp_path):
    """What is wrong in a later stage only shows at `kinetree check`: there the parameter that an event sets is computed from another."""
    d = slider(
        parameters={"a": 1.0, "b": 1.0},
        events={"E": {"when": "x > 1", "set": {"b": 2}}},
        stages=[{"ends": {"at": 1}, "set": {"b": "2*a"}}, {}],
    )
    path = tmp_path / "m.json"
    path.write_text(json.dumps(d))
    load(d).compile()
    with pytest.raises(ModelError, match="'b', which is computed as 2\\*a"):
        check(str(path))


@pytest.mark.parametrize(
    "change", [{"free": ["j50"]}, {"drop": ["b99"]}, {"lock": ["j3"]}, {"set": {"k": 1}}]
)
def test_stage_change_walks_the_graph_once(change, monkeypatch):
    """Its cost grows with the bodies, not with their square: the way to the ground is found once per joint that lets go, for all bodies together."""
    calls = []
    monkeypatch.setattr(
        changes,
        "grounded",
        lambda joints, walk=changes.grounded: calls.append(len(joints)) or walk(joints),
    )
    bodies = {f"b{k}": BODY for k in range(100)}
    joints = {
        f"j{k}": {"parent": f"b{k - 1}" if k else "ground", "child": f"b{k}", "type": "revolute"}
        for k in range(100)
    }
    d = {
        "format": "kinetree/1",
        "bodies": bodies,
        "joints": joints,
        "parameters": {"k": 0.0},
        "stages": [{"ends": {"at": 1}, **change}, {}],
    }
    assert len(changes.structures(load(d).description)) == 2 and len(calls) <= 2


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("rigid", "free")])
def test_reversed_joints_can_be_locked(kind):
    """A joint used from its child to its parent is locked at its value, turned round; the body stays where it was, and so does its twin joint."""
    start = (
        [0.9, 0.1, 0.3, 0.2]
        if KINDS[kind].quaternion
        else [0.1, 0.2, 0.3][: len(KINDS[kind].coordinates)]
    )
    joint = {
        "type": kind,
        "start": start,
        "at": [0.1, 0.2, 0.3],
        **({"pitch": 0.1} if KINDS[kind].pitch else {}),
    }
    heavy = {**BODY, "com": [0.1, 0, 0.2]}
    outputs = {
        "p": {"quantity": "position", "body": "a", "point": [0.3, 0.1, 0.2]},
        "e": {"quantity": "orientation", "body": "a"},
    }
    for ends in ({"parent": "ground", "child": "a"}, {"parent": "a", "child": "ground"}):
        stages = [{"ends": {"at": 0.1}, "lock": ["J"]}, {}]
        d = {
            "format": "kinetree/1",
            "bodies": {"a": heavy},
            "joints": {"J": {**joint, **ends}},
            "outputs": outputs,
            "stages": stages,
        }
        result = load(d).compile().simulate(stop_time=0.2, output_step=0.05)
        (change,), columns = (
            result.stage_changes,
            ["p[1]", "p[2]", "p[3]", "e[1]", "e[2]", "e[3]", "e[4]"],
        )
        before, after = (result.picked(row, columns) for row in (change.before, change.after))
        after[3:] *= np.sign(after[3:] @ before[3:])
        assert (
            np.abs(after - before).max() < 1e-12
            and np.ptp(result.array(columns)[-2:], axis=0).max() < 1e-14
        )
