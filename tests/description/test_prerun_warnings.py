"""What a run or an FMU takes otherwise than it is written: `kinetree check` refuses it or warns of it, and the run does what the warning says."""

import json
from pathlib import Path

import pytest

from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import Access, variable_table
from kinetree.models import ModelError, load
from kinetree.models.run.prerun_checks import prerun_warnings
from kinetree.scripts.commands.check import examined

BODY = {"mass": 1.0, "com": [0, 0, -1], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
COUNT = {"n": 0.0}


def swing(**more) -> dict:
    joint = {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["q"], "start": 0.5}
    return {
        "format": "kinetree/1",
        "bodies": {"a": BODY},
        "joints": {"j": joint},
        "run": {"stop_time": 1.0},
    } | more


def double(**more) -> dict:
    second = {
        "parent": "a",
        "child": "b",
        "at": [0, 0, -1],
        "type": "revolute",
        "axis": "y",
        "coordinates": ["p"],
    }
    joints = {**swing()["joints"], "k": second}
    return swing(bodies={"a": BODY, "b": BODY}, joints=joints, **more)


def told(path: Path, d: dict) -> list[str]:
    file = path / "m.json"
    file.write_text(json.dumps(d))
    return examined(str(file), {})["warnings"]


def counting(when: str) -> dict:
    return swing(parameters=COUNT, events={"E": {"when": when, "set": {"n": "n + 1"}}})


@pytest.mark.parametrize(
    "when", ["q == 0", "q != 0.2", "not (q == 0)", "t == 0.5", "q > 0 and der(q) == 0"]
)
def test_equality_of_moving_values_is_warned(tmp_path: Path, when: str):
    """Between two steps no sign tells that values were equal: the event never happens."""
    assert any("between values that move" in each for each in told(tmp_path, counting(when)))
    if "t ==" not in when:  # which depends on where the steps end
        assert not load(counting(when)).compile().simulate(1.0).events


@pytest.mark.parametrize(
    "when",
    [
        "q < 0",
        "if(q < 0, 1, 0) == 1",
        "floor(2*t) == 1",
        "n == 1",
        "flag == 1",
        "way == 1",
        "not (q > 0)",
        "abs(q) < 0.1 or t > 0.9",
        "flag",
    ],
)
def test_valid_conditions_cause_no_warning(tmp_path: Path, when: str):
    """Comparisons of what moves, equality of what changes by steps, and flags."""
    d = counting(when) | {
        "inputs": {"flag": {"start": 0.0}},
        "outputs": {"way": {"value": "if(q < 0.3, 1, 0)"}, "seen": {"value": "flag"}},
    }
    d["states"] = {"held": {"rate": "0"}}
    assert not [each for each in told(tmp_path, d) if "events.E" in each]


@pytest.mark.parametrize("when", ["q", "sin(10*t)", "q > 0 and q"])
def test_numbers_used_as_conditions_are_reported(tmp_path: Path, when: str):
    assert any("above 0.5" in each for each in told(tmp_path, counting(when)))
    assert any(
        "stages[0].ends.when" in each
        for each in told(tmp_path, swing(stages=[{"ends": {"when": when}}, {}]))
    )


def test_conditions_true_at_start_are_warned(tmp_path: Path):
    """They have not come true; a first stage that ends so ends at once."""
    assert any(
        "holds at the start: it happens once" in each for each in told(tmp_path, counting("q > 0"))
    )
    assert not load(counting("q > 0")).compile().simulate(0.4).events
    assert not told(tmp_path, counting("q < 0"))
    assert not told(
        tmp_path, counting("q < 0.5")
    )  # on its bound it does not hold, and comes true as the motion begins
    assert len(load(counting("q < 0.5")).compile().simulate(0.4).events) == 1
    d = swing(stages=[{"name": "one", "ends": {"when": "q > 0"}}, {"name": "two"}])
    assert any("ends at once" in each for each in told(tmp_path, d))
    assert [event.time for event in load(d).compile().simulate(0.1).events] == [0.0]


@pytest.mark.parametrize("change", [{"drop": ["b"]}, {"set": {"q": 0.1}}], ids=["drop", "set"])
def test_changes_of_a_last_stage_without_end_are_warned(tmp_path: Path, change: dict):
    """A stage changes the structure at its end; what stands in a last stage never happens."""
    begin = {"name": "one", "ends": {"at": 0.2}}
    d = double(stages=[begin, {"name": "two", **change}])
    assert any("no effect" in each for each in told(tmp_path, d))
    d["stages"] = [begin | change, {"name": "two"}]
    assert not any("no effect" in each for each in told(tmp_path, d))


def test_empty_stage_ends_are_warned(tmp_path: Path):
    assert any(
        "an end condition of the last stage" in each
        for each in told(tmp_path, swing(stages=[{"name": "one", "ends": {"at": 0.2}}]))
    )
    assert any(
        "'a' a second time" in each
        for each in told(
            tmp_path, swing(stages=[{"name": "a", "ends": {"at": 0.2}}, {"name": "a"}])
        )
    )
    assert not told(tmp_path, swing(stages=[{"name": "a", "ends": {"at": 0.2}, "lock": ["j"]}]))


@pytest.mark.parametrize("change", [{"drop": ["b"]}, {"lock": ["k"]}])
@pytest.mark.parametrize(
    "event",
    [
        {"when": "p > 0.01", "set": {"n": 1}},
        {"when": "t > 0.5", "set": {"der(p)": 1}},
        {"when": "q < 0", "set": {"n": "p"}},
    ],
)
def test_events_with_missing_variables_are_dropped_with_warning(
    tmp_path: Path, change: dict, event: dict
):
    d = double(
        parameters=COUNT,
        events={"E": event},
        stages=[{"name": "one", "ends": {"at": 0.001}, **change}, {"name": "two"}],
    )
    d["outputs"] = {"o": {"value": "p + q"}}
    found = told(tmp_path, d)
    gone = "drop" in change and "p" in str(event) or "der(p)" in event["set"]
    assert (
        any(
            each.startswith("events.E: does not happen any more from stage 'two' on, as")
            for each in found
        )
        == gone
    )
    result = load(d).compile().simulate(1.0)
    if gone or event["when"] != "p > 0.01":  # which a locked joint does not meet
        assert (not [each for each in result.events if each.kind == "reset"]) == gone
    if "drop" in change:
        assert any(
            each == "outputs.o: keeps its last value from stage 'two' on, as 'p' is gone"
            for each in found
        )
        assert result["o"][-1] == result["o"][1] != result["q"][-1] + result["p"][-1]


@pytest.mark.parametrize(
    ("more", "key"),
    [
        (
            {"forces": {"f": {"coordinate": "q", "value": "-5*p"}}},
            "forces.f.value: found '-5\\*p'; unknown name 'p'.* in stage 'two'",
        ),
        (
            {"states": {"s": {"rate": "p"}}},
            "states.s.rate: found 'p'; unknown name 'p'.* in stage 'two'",
        ),
    ],
)
def test_laws_with_missing_variables_are_named(more: dict, key: str):
    d = double(
        stages=[{"name": "one", "ends": {"at": 0.2}, "drop": ["b"]}, {"name": "two"}], **more
    )
    with pytest.raises(ModelError, match=key):
        told_of = load(d).compile()
        told_of.simulate(0.1)


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        (
            [{"ends": {"at": 0.2}, "drop": ["b"]}, {"ends": {"at": 0.5}, "lock": ["k"]}, {}],
            r"stages\[1\]\.lock: found 'k', expected a joint",
        ),
        (
            [{"ends": {"at": 0.2}, "lock": ["k"]}, {"ends": {"at": 0.5}, "lock": ["k"]}, {}],
            r"stages\[1\]\.lock: found 'k', which is locked already",
        ),
        (
            [{"ends": {"at": 0.2}, "lock": ["zz"]}, {}],
            r"stages\[0\]\.lock: found the unknown joint 'zz'",
        ),
        ([{"ends": {"at": 0.2}, "lock": ["k"], "free": ["k"]}, {}], "'k' in free and lock"),
    ],
)
def test_lock_mistakes_are_reported_before_the_run(tmp_path: Path, stages: list, expected: str):
    with pytest.raises(ModelError, match=expected):
        told(tmp_path, double(stages=stages))


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"integrator": "adams", "step": 1e-3}, "it finds its own steps"),
        ({"integrator": "rk4", "step": 1e-3, "tolerances": 1e-9}, "its steps are fixed"),
        ({"integrator": "rk4"}, "FMUs 0.001 s"),
        (
            {"integrator": "rk4", "step": 0.07, "output_step": 0.1},
            "the last one before each is shorter",
        ),
        ({"integrator": "rk4", "step": 0.1}, "have 500 rows"),
        ({"integrator": "rk4", "step": 0.05, "output_step": 0.1}, ""),
        ({"integrator": "rk4", "step": 1e-3}, ""),
    ],
)
def test_ignored_steps_and_tolerances_are_warned(tmp_path: Path, run: dict, said: str):
    found = told(tmp_path, swing(run={"stop_time": 1.0, **run}))
    assert said in "".join(found) and bool(found) == bool(said)


def test_unused_and_out_of_bounds_inputs_are_warned(tmp_path: Path):
    assert any(
        "nothing uses this input" in each
        for each in told(tmp_path, swing(inputs={"F": {"start": 1.0}}))
    )
    law = {"f": {"coordinate": "q", "value": "F"}}
    assert not told(tmp_path, swing(inputs={"F": {"start": 1.0, "max": 2.0}}, forces=law))
    with pytest.raises(ModelError, match=r"inputs\.F: found 5, expected a number >= 0 and <= 2"):
        told(tmp_path, swing(inputs={"F": {"start": 5.0, "min": 0.0, "max": 2.0}}, forces=law))


PID = {"kind": "pid", "measure": "q", "setpoint": 0.1, "kp": 8.0, "drives": "motor", "period": 0.05}
MADE = {
    "points": {
        "tables": {"T": {"x": [-1, 1], "y": ["2*k", 2]}},
        "forces": {"f": {"coordinate": "q", "value": "table('T', q)"}},
    },
    "copies": {"forces": {"f{i}": {"copies": "k", "coordinate": "q", "value": "1"}}},
    "delay": {
        "actuators": {"motor": {"coordinate": "q"}},
        "controllers": {"c": PID | {"delay": "0.1*k"}},
    },
    "noise": {
        "actuators": {"motor": {"coordinate": "q"}},
        "controllers": {"c": PID | {"noise": "k - 1"}},
    },
}


@pytest.mark.parametrize("what", MADE)
def test_structural_parameters_cannot_be_set_by_hosts(what: str):
    """A host cannot set them and events are refused, as neither compiles anew; others stay as they are. The end of a stage builds the next one."""
    parameters = {"k": {"value": 1.0}, "half": 0.5, "load": {"value": 1.0, "tunable": True}}
    d = swing(parameters=parameters, **MADE[what])
    d["forces"] = d.get("forces", {}) | {"g": {"coordinate": "q", "value": "load*half"}}
    variables = {v.name: v for v in variable_table(fmu_unit(load(d))).variables}
    k, half, load_ = (variables[name] for name in ("k", "half", "load"))
    assert (k.access, k.write, k.variability) == (Access.NONE, -1, "fixed")
    assert k.causality not in ("parameter", "input") and k.start is None  # no host offers to set it
    assert (half.access, half.variability) == (Access.FIXED, "fixed")
    assert (load_.access, load_.variability) == (Access.TUNABLE, "tunable")
    with pytest.raises(ModelError, match=r"events\.E\.set\.k: found 'k', on which"):
        load(d | {"events": {"E": {"when": "q < 0.2", "set": {"k": 2}}}})
    staged = d | {"stages": [{"ends": {"at": 0.2}, "set": {"k": 2}}, {}]}
    with pytest.raises(ModelError, match=r"stages\[0\]\.set\.k"):
        load(d | {"stages": [{"ends": {"at": 0.2}, "set": {"k": "2 + q"}}, {}]})
    if what == "points":
        assert load(staged).compile().simulate(1.0)["q"][-1] != pytest.approx(
            load(d).compile().simulate(1.0)["q"][-1], abs=1e-3
        )


def test_singular_start_is_warned():
    """A point on a free joint has no inertia about it; with three moments, or on a slide, it moves."""
    load_of = {"mass": 2.0}
    free = {"bodies": {"load": load_of}, "joints": {"f": {"child": "load", "type": "free"}}}
    (told,) = prerun_warnings(load(free).compile())
    assert "cannot begin" in told and "body 'load' has no inertia" in told
    assert not prerun_warnings(
        load(free | {"bodies": {"load": load_of | {"inertia": [1, 1, 1, 0, 0, 0]}}}).compile()
    )
    assert not prerun_warnings(
        load(free | {"joints": {"f": {"child": "load", "type": "prismatic"}}}).compile()
    )


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ({"tables": {"drift": {"columns": ["q", "p*"]}}}, "report.tables.drift: no column 'p*'"),
        ({"tables": {"drift": {"columns": ["der(der(q))"]}}}, "report.tables.drift: 'der(der(q))'"),
        (
            {"tables": {"drift": {"stages": ["swings*"]}}},
            "report.tables.drift: no stage 'swings*'; did you mean 'swing",
        ),
        (
            {"tables": {"drift": {"columns": ["q"], "reference": {"p": 1.0}}}},
            "report.tables.drift: reference: 'p' is no column of the table",
        ),
        ({"plots": {"over": {"columns": ["p"]}}}, "report.plots.over: "),
        ({"plots": {"over": {"stages": ["rest"]}}}, "report.plots.over: no stage 'rest'"),
    ],
)
def test_unknown_report_columns_are_warned(tmp_path: Path, report: dict, words: str):
    stages = [{"name": "swing 1", "ends": {"at": 0.5}}, {"name": "swing 2"}]
    (warning,) = told(tmp_path, swing(stages=stages, report=report))
    assert warning.startswith(words)


def test_columns_of_runs_cause_no_unknown_column_warning(tmp_path: Path):
    stages = [{"name": "swing 1", "ends": {"at": 0.5}}, {"name": "swing 2"}]
    table = {"columns": ["q", "der(*)"], "stages": ["swing*"], "reference": {"q": 1.0}}
    assert not told(
        tmp_path,
        swing(
            stages=stages,
            report={
                "tables": {"drift": table},
                "plots": {"over": {"columns": ["der(der(q))", "energy"]}},
            },
        ),
    )


def test_names_of_variables_that_no_run_has_are_warned_of():
    wanted = {"names": {"q": "angle", "der(q)": "speed", "Q": "angle"}}
    system = load(swing(report=wanted)).compile()
    found = [each for each in prerun_warnings(system) if each.startswith("report.names")]
    assert len(found) == 1 and "'Q'" in found[0]
