"""Velocity constraints and rolling where parts meet: events, stages, rest, small motions, both kinds of FMU in both archives."""

from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

PLATE = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}


def slide(**more: Any) -> dict[str, Any]:
    """A plate that may only go along (1, -1) because of a blade, with a spring along x."""
    transforms = [{"shift": "x", "coordinate": "x"}, {"shift": "y", "coordinate": "y"}]
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"b": PLATE},
        "joints": {"j": {"child": "b", "transforms": transforms}},
        "couplings": {"c": {"blade": {"body": "b", "normal": [1, 1, 0]}}},
        "forces": {
            "spring": {"coordinate": "x", "value": "-50*(x - 1)"},
            "load": {"coordinate": "y", "value": "0"},
        },
        **more,
    }


def test_equilibrium_and_linearisation_with_knife_edge():
    """Rest is where nothing acts along the blade, whatever acts across it; both masses of the path swing: w² = k/(2m)."""
    system = load(slide()).compile()
    rest = system.equilibrium()
    assert rest.coordinates == pytest.approx({"x": 1.0, "y": -1.0}, abs=1e-9)
    frequency = rest.linear.modes()[-1].frequency
    assert frequency == pytest.approx(np.sqrt(50 / 4.0) / (2 * np.pi), rel=1e-8)


def test_event_sets_speed_consistent_with_knife_edge():
    """The set speed is taken along the blade: the other follows, energy changes by the square."""
    event = {"hit": {"when": "x > 0.5", "set": {"der(x)": "-0.5*der(x)"}}}
    d = slide(events=event, forces={})
    d["joints"]["j"]["transforms"][0]["speed"] = 1.0
    result = load(d).compile().simulate(stop_time=1, output_step=0.25)
    assert result["der(x)"][-1] == pytest.approx(-0.5, abs=1e-10) and result["der(y)"][
        -1
    ] == pytest.approx(0.5, abs=1e-10)


def test_lock_with_rolling_constraint_conserves_momentum():
    """A rolling ball whose body locks to a carriage: the row of positions stays, what cannot move any more has stopped."""
    ball = {"mass": 1.0, "inertia": [0.004, 0.004, 0.004, 0, 0, 0]}
    d = {
        "format": "kinetree/1",
        "bodies": {"frame": PLATE, "ball": ball},
        "joints": {
            "rail": {
                "child": "frame",
                "at": [0, 0, 0.1],
                "transforms": [{"shift": "x", "coordinate": "x", "speed": 1.0}],
            },
            "axle": {
                "parent": "frame",
                "child": "ball",
                "transforms": [{"rotate": "y", "coordinate": "turn"}],
            },
        },
        "couplings": {"c": {"rolling": {"body": "ball", "radius": 0.1}}},
        "stages": [{"ends": {"at": 0.5}, "lock": ["axle"]}, {"name": "stopped"}],
    }
    result = load(d).compile().simulate(stop_time=1, output_step=0.25)
    assert result["turn"][2] == pytest.approx(5.0, rel=1e-8)
    assert result["x"][-1] == pytest.approx(0.5, abs=1e-9)  # rolling and locked: at rest


@pytest.fixture(scope="module")
def disc_run():
    return (
        load("lib:rolling-disc").compile().simulate(stop_time=1.0, output_step=0.1, tolerance=1e-10)
    )


@pytest.mark.parametrize("backend", ["native", "python"])
def test_rolling_disc_fmu_matches_run(backend, disc_run, tmp_path):
    """Co-simulation in steps of 10 ms, and a host that integrates by itself: the motion of the run, no events, the disc on its plane."""
    path = tmp_path / "disc.fmu"
    build_fmu(load("lib:rolling-disc"), path, backend)
    kinds = ("CoSimulation", "ModelExchange") if backend == "native" else ("CoSimulation",)
    for kind in kinds:
        names = ["x", "y", "z", "lean", "events", "load"]
        found = simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=1.0,
            output_interval=0.1,
            relative_tolerance=1e-8,
            output=names,
        )
        for name in ("x", "y", "lean"):
            assert found[name][-1] == pytest.approx(disc_run[name][-1], abs=2e-5), (kind, name)
        assert found["z"][-1] == pytest.approx(0.2 * np.cos(found["lean"][-1]), abs=1e-6)
        assert found["load"][-1] == pytest.approx(disc_run["load"][-1], rel=1e-3)
        if kind == "CoSimulation":
            assert found["events"][-1] == 0


def test_run_starts_with_given_inputs():
    """A state that a coordinate follows has its rate from the input: the speeds at the start are those of a run whose input starts so."""
    joints = {
        name: {"child": name, "type": "prismatic", "axis": axis, "coordinates": [name]}
        for name, axis in (("x", "x"), ("p", "y"))
    }
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": dict.fromkeys("xp", PLATE),
        "joints": joints,
        "couplings": {"c": "x - 0.5*p - lag"},
    }
    d["states"] = {"lag": {"rate": "5*(push - lag)"}}
    given, own = (load(d | {"inputs": {"push": start}}).compile() for start in (0.0, 0.2))
    found = given.simulate(stop_time=0.5, output_step=0.1, inputs={"push": 0.2})
    right = own.simulate(stop_time=0.5, output_step=0.1)
    assert found["der(x)"][0] - 0.5 * found["der(p)"][0] == pytest.approx(1.0, abs=1e-12)
    for name in ("x", "p", "der(x)"):
        assert found[name] == pytest.approx(right[name], abs=1e-9)
