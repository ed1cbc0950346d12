"""Events and changes of stage under model exchange: the same as in co-simulation and in Python, in any number, chains included."""

import pytest
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

BODY = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}


def slider(**more) -> dict:
    joints = {"j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x", "speed": 1.0}]}}
    return {
        "format": "kinetree/1",
        "name": "slider",
        "gravity": [0, 0, 0],
        "bodies": {"a": BODY},
        "joints": joints,
        **more,
    }


def crossings(count: int) -> dict:
    """One event per bound; they count themselves."""
    events = {
        f"E{k}": {"when": f"x > {0.01 * (k + 1)}", "set": {"n": "n + 1"}} for k in range(count)
    }
    return slider(states={"n": {"rate": "0"}}, events=events)


def together() -> dict:
    """80 events at one instant, the last ones with a chain behind them, and the end of a stage that sets a speed."""
    events = {f"E{k}": {"when": "x > 0.5", "set": {"n": "n + 1"}} for k in range(80)}
    events["chain"] = {"when": "n > 79.5", "set": {"m": "n"}}
    stages = [
        {"name": "one", "ends": {"when": "x > 0.5"}, "set": {"der(x)": "-2*der(x)"}},
        {"name": "two"},
    ]
    return slider(states={"n": {"rate": "0"}, "m": {"rate": "0"}}, events=events, stages=stages)


def at_once() -> dict:
    """Stages without length, at the start and in the middle, and an event that the beginning of the last one makes true."""
    stages = [
        {"ends": {"at": 0}, "set": {"m": 1}},
        {"ends": {"when": "x > 0.5"}, "set": {"m": 2}},
        {"ends": {"when": "x > 0.4"}, "set": {"m": 3}},
        {},
    ]
    return slider(
        states={"n": {"rate": "0"}, "m": {"rate": "0"}},
        events={"E": {"when": "m > 2.5", "set": {"n": "n + 1"}}},
        stages=stages,
    )


CASES = {
    "1": (crossings(1), 0.5, {"n": 1.0, "x": 0.5}),
    "63": (crossings(63), 0.9, {"n": 63.0, "x": 0.9}),
    "64": (crossings(64), 0.9, {"n": 64.0, "x": 0.9}),
    "80": (crossings(80), 0.9, {"n": 80.0, "x": 0.9}),
    "together": (together(), 1.0, {"n": 80.0, "m": 80.0, "x": -0.5, "der(x)": -2.0, "stage": 1}),
    "at once": (at_once(), 1.0, {"n": 1.0, "m": 3.0, "x": 1.0, "stage": 3}),
}


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation", "Python"])
@pytest.mark.parametrize("name", CASES)
def test_events_agree_in_all_fmu_modes(name, kind, tmp_path):
    """A host that integrates itself finds the instants within its tolerance of 1e-8; counters are exact."""
    description, stop, expected = CASES[name]
    if kind == "Python":
        found = load(description).compile().simulate(stop_time=stop, output_step=0.05)
        last = {key: found[key][-1] for key in expected}
    else:
        path = tmp_path / "m.fmu"
        build_fmu(load(description), path, "native")
        found = simulate_fmu(
            str(path),
            stop_time=stop,
            fmi_type=kind,
            output=list(expected),
            relative_tolerance=1e-8,
            output_interval=0.05,
        )
        last = {key: found[key][-1] for key in expected}
    for key, value in expected.items():
        assert last[key] == pytest.approx(value, abs=1e-6 if key in ("x", "der(x)") else 0.0)
