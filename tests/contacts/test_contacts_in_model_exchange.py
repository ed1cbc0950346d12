"""Contacts in closed loops under model exchange: what a host sees of a touch is evaluated where the event acts, on closed loops.

Hosts: CVode at several tolerances; Runge-Kutta steps with and without a search for instants; steps thrown away, states kept and brought back. The
reference is co-simulation, that is the own integrator with its own search.
"""

import copy
import math
from pathlib import Path
from typing import Any

import pytest
from exchange_host import Exchange
from fmpy import simulate_fmu
from fmpy.fmi2 import FMU2Model

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

G = 9.81


def rod(mass: float, length: float) -> dict[str, Any]:
    moment = mass * length**2 / 12
    return {"mass": mass, "com": [length / 2, 0, 0], "inertia": [0, moment, moment, 0, 0, 0]}


def hinge(name: str, **keys: Any) -> dict[str, Any]:
    return {"rotate": "z", "coordinate": name, **keys}


def mechanism(name: str, bodies: dict, joints: dict, contacts: dict, **more: Any) -> dict[str, Any]:
    outputs = {
        f"{contact}_{word}": f"{contact}.{word}"
        for contact in contacts
        for word in ("gap", "state")
    }
    return {
        "format": "kinetree/1", "name": name, "gravity": [0, -G, 0], "bodies": bodies, "joints": joints, "contacts": contacts, "outputs": outputs,
    } | more  # fmt: skip


def four_bar() -> tuple[dict, dict]:
    bodies = {"crank": rod(0.3, 0.3), "coupler": rod(1.0, 1.0), "rocker": rod(0.7, 0.7)}
    joints = {
        "bearing": {"child": "crank", "transforms": [hinge("phi", start=1.0, speed=0.0)]},
        "crankpin": {
            "parent": "crank",
            "child": "coupler",
            "at": [0.3, 0, 0],
            "transforms": [hinge("psi")],
        },
        "pivot": {"child": "rocker", "at": [0.9, 0, 0], "transforms": [hinge("chi")]},
        "pin": {
            "parent": "coupler",
            "child": "rocker",
            "transforms": [{"shift": [1, 0, 0]}, hinge("mu"), {"shift": [-0.7, 0, 0]}],
        },
    }
    return bodies, joints


def stop() -> dict[str, Any]:
    """The crank of a four-bar falls on a stop: some fifteen blows, the last ones of mm/s, then rest."""
    contact = {
        "body": "crank",
        "point": [0.3, 0, 0],
        "at": [0, -0.1, 0],
        "normal": "y",
        "restitution": 0.6,
    }
    return mechanism("four-bar on a stop", *four_bar(), {"stop": contact})


def ball() -> dict[str, Any]:
    """A ball falls on the coupler of a four-bar, which a spring holds, bounces down along it and slides."""
    bodies, joints = four_bar()
    bodies["ball"] = {"mass": 0.3, "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0]}
    joints["fall"] = {
        "child": "ball",
        "transforms": [
            {"shift": "x", "coordinate": "bx", "start": 0.5},
            {"shift": "y", "coordinate": "by", "start": 1.0},
        ],
    }
    contact = {"body": "ball", "radius": 0.05, "on": "coupler", "normal": "y", "restitution": 0.6}
    forces = {"hold": {"coordinate": "phi", "value": "-60*(phi - 1.1) - 0.3*der(phi)"}}
    return mechanism("ball on a coupler", bodies, joints, {"hit": contact}, forces=forces)


def slider() -> dict[str, Any]:
    """The piston of a slider-crank against a stop."""
    bodies = {
        "crank": rod(0.5, 0.05),
        "rod": rod(0.6, 0.2),
        "piston": {"mass": 0.8, "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0]},
    }
    joints = {
        "bearing": {"child": "crank", "transforms": [hinge("phi", start=0.5, speed=10.0)]},
        "crankpin": {
            "parent": "crank",
            "child": "rod",
            "at": [0.05, 0, 0],
            "transforms": [hinge("psi")],
        },
        "guide": {"child": "piston", "transforms": [{"shift": "x", "coordinate": "x"}]},
        "wristpin": {
            "parent": "rod",
            "child": "piston",
            "at": [0.2, 0, 0],
            "transforms": [hinge("mu")],
        },
    }
    contact = {"body": "piston", "at": [0.243, 0, 0], "normal": "-x", "restitution": 0.7}
    forces = {"drive": {"coordinate": "phi", "value": "-0.3 - 0.02*der(phi)"}}
    return mechanism("slider-crank with a stop", bodies, joints, {"stop": contact}, forces=forces)


def shoe() -> dict[str, Any]:
    """A shoe at the rod of a driven crank falls on its heel and toe, rubs over the floor, sticks, turns back and is lifted."""
    bodies = {
        "crank": rod(0.3, 0.1),
        "rod": rod(0.4, 0.35),
        "shoe": {"mass": 0.5, "inertia": [2e-3, 2e-3, 2e-3, 0, 0, 0]},
    }
    plane = [
        {"shift": "x", "coordinate": "x", "start": 0.3},
        {"shift": "y", "coordinate": "y", "start": 0.1},
        hinge("tilt", start=0.1),
    ]
    joints = {
        "bearing": {
            "child": "crank",
            "at": [0, 0.15, 0],
            "transforms": [hinge("phi", start=1.2, speed=2.0)],
        },
        "crankpin": {
            "parent": "crank",
            "child": "rod",
            "at": [0.1, 0, 0],
            "transforms": [hinge("psi")],
        },
        "move": {"child": "shoe", "transforms": plane},
        "pin": {"parent": "rod", "child": "shoe", "at": [0.35, 0, 0], "transforms": [hinge("mu")]},
    }
    rubs = {"body": "shoe", "normal": "y", "restitution": 0.5, "friction": 0.3}
    contacts = {
        name: {**rubs, "point": [side, -0.03, 0]} for name, side in (("heel", -0.06), ("toe", 0.06))
    }
    forces = {"drive": {"coordinate": "phi", "value": "0.8*cos(7*t) - 0.02*der(phi)"}}
    return mechanism("shoe on a crank", bodies, joints, contacts, forces=forces)


MECHANISMS = {stop: 2.0, ball: 1.5, slider: 2.0, shoe: 1.0}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory):
    folder, built = tmp_path_factory.mktemp("touch"), {}

    def of(make, fmi: int = 2) -> Path:
        if (make, fmi) not in built:
            built[make, fmi] = folder / f"{make.__name__}{fmi}.fmu"
            build_fmu(load(make()), built[make, fmi], "native", fmi)
        return built[make, fmi]

    return of


def coordinates(make) -> list[str]:
    return [
        entry["coordinate"]
        for joint in make()["joints"].values()
        for entry in joint["transforms"]
        if "coordinate" in entry
    ]


def stands(path: Path, stop: float, names: list[str]) -> dict[str, float]:
    """What co-simulation has at the end."""
    found = simulate_fmu(
        str(path), stop_time=stop, fmi_type="CoSimulation", output=names, output_interval=stop
    )
    return {name: float(found[name][-1]) for name in names}


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("make", MECHANISMS)
def test_model_exchange_loses_no_touch(make, fmi: int, archive, monkeypatch):
    """CVode, at tolerances at which a loop stands open by more than the height of the last flights, w²/2g = 2e-8 m after a blow of 1 mm/s.

    Errors of a step are carried on by some dozen impacts, each of which may double an angle between neighbours; blows of the sliding shoe more so.
    """
    path, names, end = archive(make, fmi), coordinates(make), MECHANISMS[make]
    right = stands(path, end, names)
    modes, enter = [], FMU2Model.enterEventMode
    monkeypatch.setattr(FMU2Model, "enterEventMode", lambda unit: (modes.append(1), enter(unit))[1])
    for tolerance in (1e-5, 1e-7, 1e-9):
        modes.clear()
        options = {
            "fmi_type": "ModelExchange",
            "output_interval": end / 20,
            "output": [*names, "events"],
            "record_events": False,
        }
        found = simulate_fmu(str(path), stop_time=end, relative_tolerance=tolerance, **options)
        for name in names:
            assert found[name][-1] == pytest.approx(
                right[name], abs=(1e4 if make is shoe else 100) * tolerance
            ), (tolerance, name)
        if make is not shoe:  # whose slips are stopped for once more when they begin
            assert fmi == 3 or len(modes) == found["events"][-1], tolerance


@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_overrun_touch_uses_speed_at_touch(step: float, archive, tmp_path):
    """A host that looks at signs at the ends of its steps alone. What it overruns is met as it was, without the overlap and what was gained behind
    the touch: blows grow weaker as they should, and the crank comes to rest on its stop.

    The last flights of 1 mm/s are shorter than a step, w/g; overlaps between two steps, while it lies there, are errors of fourth order.
    """
    path = archive(stop)
    right = stands(path, 2.5, ["phi", "events"])
    host = Exchange(path, tmp_path, step, search=False)
    lowest = 0.0
    while host.time < 2.5:
        host.advance(host.time + step)
        lowest = min(lowest, host.read("stop_gap"))
    assert host.read("stop_state") == 1 and abs(host.read("events") - right["events"]) <= 5
    assert host.read("phi") == pytest.approx(right["phi"], abs=1e-9)
    assert lowest > -1e-5
    host.end()


@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_overrun_ball_comes_to_rest(step: float, tmp_path):
    """Without loops, under constant gravity: √(v² - 2 a g) is exact, so that every blow is e of the one before, as many as in theory.

    Speeds at the touches √(2 G z) eⁿ, until one is below the speed of rest, 1 mm/s, with which it would part.
    """
    fall = {"child": "ball", "transforms": [{"shift": "y", "coordinate": "y", "start": 0.3}]}
    bodies, contacts = (
        {"ball": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        {"floor": {"body": "ball", "normal": "y", "restitution": 0.6}},
    )
    path = build_fmu(
        load(mechanism("ball", bodies, {"fall": fall}, contacts)),
        tmp_path / "ball.fmu",
        "native",
        2,
    )
    host = Exchange(path, tmp_path / "host", step, search=False)
    host.advance(2.0)
    blows = math.ceil(math.log(1e-3 / math.sqrt(2 * G * 0.3)) / math.log(0.6))
    assert host.read("events") == blows and host.read("floor_state") == 1
    assert host.read("y") == pytest.approx(0.0, abs=1e-12)
    host.end()


@pytest.mark.parametrize("make", MECHANISMS)
def test_hosts_with_rejected_steps_find_the_same_touches(make, archive, tmp_path):
    """Steps that are thrown away, with the state kept before them or without, and event mode without a reason: touches happen, each one once."""
    path, names = archive(make), coordinates(make)
    end = 0.6 if make is shoe else MECHANISMS[make]
    right = stands(path, end, [*names, "events"])
    for seed in (None, 1):
        host = Exchange(path, tmp_path / str(seed), 2e-3, seed=seed)
        host.advance(end)
        assert host.read("events") == right["events"], seed
        for name in names:
            assert host.read(name) == pytest.approx(right[name], abs=1e-5), (
                seed,
                name,
            )  # fourth order at 2 ms
        host.end()


def test_model_exchange_finds_a_touch_in_every_stage(tmp_path):
    """The ball leaves at the end of a stage, while the coupler still swings, and the crank falls on its stop in the next."""
    parts = copy.deepcopy(ball())
    parts["contacts"] |= stop()["contacts"]
    parts["outputs"] |= stop()["outputs"]
    parts["forces"]["hold"]["value"] = "if(t < 0.7, -60*(phi - 1.1) - 0.3*der(phi), 0)"
    parts["stages"] = [
        {"name": "with", "ends": {"when": "by < -0.3"}},
        {"name": "without", "drop": ["ball"]},
    ]
    path = tmp_path / "stages.fmu"
    build_fmu(load(parts), path, "native", 2)
    right = stands(path, 2.5, ["phi", "psi", "chi", "stage", "stop_state"])
    assert right["stage"] == 1 and right["stop_state"] == 1
    options = {"fmi_type": "ModelExchange", "output_interval": 0.25, "output": list(right)}
    found = simulate_fmu(str(path), stop_time=2.5, relative_tolerance=1e-8, **options)
    host = Exchange(path, tmp_path / "host", 2e-3, seed=1)
    host.advance(2.5)
    for name, value in right.items():
        assert found[name][-1] == pytest.approx(value, abs=1e-6) and host.read(
            name
        ) == pytest.approx(value, abs=1e-5), name
    host.end()


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7])
def test_resting_stack_causes_no_events(tolerance: float, tmp_path, monkeypatch):
    """Blocks that fall on one another: what holds them is judged without the host's errors, which were events without effect, by the thousand."""
    path = build_fmu(load("lib:falling-stack"), tmp_path / "stack.fmu", "native", 2)
    modes, enter = [], FMU2Model.enterEventMode
    monkeypatch.setattr(FMU2Model, "enterEventMode", lambda unit: (modes.append(1), enter(unit))[1])
    options = {"fmi_type": "ModelExchange", "output_interval": 0.05, "output": ["z1", "z4"]}
    found = simulate_fmu(str(path), stop_time=1.0, relative_tolerance=tolerance, **options)
    assert len(modes) < 40  # co-simulation has 26
    assert found["z1"][-1] == pytest.approx(0.1, abs=1e-3 * tolerance + 1e-12) and found["z4"][
        -1
    ] == pytest.approx(0.2, abs=1e-3 * tolerance + 1e-12)
