"""Tuning: margins that were asked for, beside an independent count; regulators of known problems; loops on top of each other."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.frequency_response import StateSpace, margins
from kinetree.models.analysis.operating_point import linear_at_rest
from kinetree.scripts import cli
from kinetree.scripts.hil.open_loop import pid
from kinetree.scripts.studies.loop_tuning import (
    FILTER,
    LAG,
    LEAD,
    forward_gains,
    notched,
    regulator,
    shaped,
    tuned,
)
from kinetree.scripts.studies.lqg import observed

SLIDER = {
    "name": "slider",
    "gravity": [0, 0, 0],
    "bodies": {"m": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x"}]}},
    "inputs": {"f": {"start": 0.0}},
    "forces": {"law": {"coordinate": "x", "value": "f"}},
    "outputs": {"place": {"value": "x"}},
}
MASS = StateSpace(
    np.array([[0.0, 1], [0, 0]]), np.array([[0.0], [1]]), np.array([[1.0, 0]]), np.zeros((1, 1))
)


@pytest.mark.parametrize("kinds", [("kp", "kd"), ("kp", "ki", "kd")])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_tuned_loops_keep_requested_margins(kinds: tuple[str, ...], sign: float):
    """A mass with a dead time, its force perhaps reversed: stable, the margins at least as wanted, and faster where less is wanted."""
    plant = StateSpace(MASS.A, sign * MASS.B, MASS.C, MASS.D)
    slow, fast = (
        tuned(plant, kinds, 0.01, {"phase": phase, "modulus": 0.3, "gain": 1.8})
        for phase in (45.0, 25.0)
    )
    assert slow is not None and fast is not None and fast.crossover > slow.crossover
    for found, phase in ((slow, 45.0), (fast, 25.0)):
        again = margins(
            pid(**found.numbers).then(plant), np.geomspace(1e-2, 1e4, 20000), delay=0.01
        )
        assert again.stable and again.phase >= phase and again.modulus >= 0.3 and again.gain >= 1.8
        assert np.sign(found.numbers["kp"]) == sign


def test_untunable_loop_is_refused():
    """A mass needs a derivative: no proportional gain has a phase margin."""
    assert tuned(MASS, ("kp",), 0.01, {}) is None


def test_tuned_state_feedback_of_double_integrator_matches_lqr():
    """Q = 1, R = 1: K = (1, √3), eigenvalues of s² + √3 s + 1."""
    linear = linear_at_rest(load(SLIDER).compile())
    K, values = regulator(linear, ["f"], {"x": 1.0, "der(x)": 1.0}, {"f": 1.0})
    assert K[0] == pytest.approx([1.0, np.sqrt(3.0)], rel=1e-9)
    assert np.sort_complex(values) == pytest.approx(
        np.sort_complex(np.roots([1, np.sqrt(3.0), 1])), rel=1e-6
    )


def test_tune_command_writes_working_scenario(tmp_path: Path, capsys: pytest.CaptureFixture):
    """What tune prints is put into the scenario: simulated in the loop, it comes to its setpoint."""
    (tmp_path / "m.json").write_text(json.dumps(SLIDER))
    head = 'mechanism = "m.json"\nstep = 0.01\nstop_time = 4.0\n[channel]\ndelay = 0.01\n'
    loop = '[[loops]]\nmeasure = "place"\ncommand = "f"\nsetpoint = 1.0\nkp = 1.0\nkd = 1.0\n'
    path = tmp_path / "s.toml"
    path.write_text(head + loop + "[lqr]\nstates = { x = 1.0 }\n")
    assert cli.main(["tune", str(path), "-o", str(tmp_path / "t.json")]) == 0
    said = capsys.readouterr().out
    found = json.loads((tmp_path / "t.json").read_text())["f by place"]
    assert (
        found["stable"]
        and found["phase"] >= 45.0
        and "[[loops]]" in said
        and "f = -(1*x + 1.41421*der(x))" in said
    )
    path.write_text(head + said[said.index("[[loops]]") : said.index("f = -(")])
    assert cli.main(["hil", str(path), "--simulated", "-q", "-o", str(tmp_path / "r.csv")]) == 0
    rows = np.loadtxt(tmp_path / "r.csv", delimiter=",", skiprows=1)
    assert rows[-1, 1] == pytest.approx(1.0, abs=0.02) and rows[:, 1].max() < 1.6
    path.write_text(head + loop.replace("kd = 1.0\n", ""))
    assert cli.main(["tune", str(path)]) == 2 and "meets these margins" in capsys.readouterr().err


TWO_MASSES = {
    "name": "two masses",
    "gravity": [0, 0, 0],
    "bodies": {
        "a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]},
        "b": {"mass": 0.5, "inertia": [1, 1, 1, 0, 0, 0]},
    },
    "joints": {
        "ja": {"child": "a", "transforms": [{"shift": "x", "coordinate": "xa"}]},
        "jb": {"child": "b", "transforms": [{"shift": "x", "coordinate": "xb"}]},
    },
    "forces": {
        "oil": {
            "between": [{"body": "a"}, {"body": "b", "point": [1, 0, 0]}],
            "stiffness": 900.0,
            "damping": 0.3,
            "length": 1.0,
        },
        "ground": {"coordinate": "xa", "damping": 2.0},
    },
    "actuators": {"push": {"coordinate": "xa"}},
}


def test_tuned_feed_forward_inverts_mass_with_friction():
    """P = 1/(m s² + c s): c per speed and m per acceleration."""
    A, B = np.array([[0, 1], [0, -3.0 / 2.0]]), np.array([[0], [1 / 2.0]])
    plant = StateSpace(A, B, np.array([[1.0, 0]]), np.zeros((1, 1)))
    assert forward_gains(plant, 10.0) == pytest.approx((3.0, 2.0), rel=1e-9)


def test_notch_removes_bandwidth_limit_of_oil_mode():
    """Two masses on oil, measured behind it: the gain margin at the mode limits the loop; with a notch there it is much faster, margins as wanted."""
    plant = linear_at_rest(load(TWO_MASSES).compile(), None, ["xb"]).part(["push.force"], ["xb"])
    plain, found = (way(plant, ("kp", "kd"), 0.002, {}) for way in (tuned, notched))
    assert plain is not None and found is not None and found.notch is not None
    assert found.notch["frequency"] == pytest.approx(
        np.sqrt(900 * 1.5 / 0.5) / (2 * np.pi), rel=1e-3
    )
    assert found.crossover > 2.0 * plain.crossover
    w = 2 * np.pi * found.notch["frequency"]
    s = 1j * np.geomspace(0.01, 1e3, 40000)
    filter_ = (s**2 + 2 * found.notch["depth"] * w * s + w * w) / (
        s**2 + 2 * found.notch["width"] * w * s + w * w
    )
    L = (
        filter_
        * pid(**found.numbers).response(s.imag)[:, 0, 0]
        * plant.response(s.imag)[:, 0, 0]
        * np.exp(-0.002 * s)
    )
    ones = np.flatnonzero(np.diff(np.sign(np.abs(L) - 1)))
    assert np.abs(np.degrees(np.angle(-L[ones]))).min() >= 44.9
    assert np.abs(1 + L).min() >= 0.499


def test_tuned_lqg_matches_python_control():
    """A mass from sample to sample with a command one period late: both gains by python-control's Riccati solvers on matrices written by hand."""
    control = pytest.importorskip("control")
    T, m = 0.02, 1.0
    linear = linear_at_rest(load(SLIDER).compile(), None, ["place"])
    table = {
        "states": {"x": 50.0},
        "inputs": {"f": 0.1},
        "disturbance": {"f": 0.3},
        "noise": {"place": 1e-3},
    }
    found = observed(linear, ["f"], ["place"], T, T, table)
    A = np.array(
        [[1, T, T * T / 2 / m, 0], [0, 1, T / m, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    )  # place, speed, the last two commands
    order = [0, 1, 2, 3]
    B, C = np.array([[0], [0], [1.0], [0]]), np.array([[1.0, 0, 0, 0]])
    assert found.plant.A[np.ix_(order, order)] == pytest.approx(A)
    K, *_ = control.dlqr(A, B, np.diag([50.0, 0, 0, 0]), np.array([[0.1]]))
    W = (
        0.5 * 0.3**2 * np.array([[T**3 / 3, T**2 / 2], [T**2 / 2, T]])
    )  # of a white force, ∫ over a period
    N = np.array([[1e-3**2 / (2 * T)]])
    L, P, _ = control.dlqe(A[:2, :2], np.eye(2), C[:, :2], W, N)
    assert pytest.approx(K, rel=1e-6) == found.K
    assert found.L[:2] == pytest.approx(
        np.linalg.solve(A[:2, :2], L), rel=1e-6
    )  # theirs predicts, ours corrects
    assert np.abs(found.eigenvalues).max() < 1.0


def test_tuned_controllers_run_in_the_mechanism(tmp_path: Path, capsys: pytest.CaptureFixture):
    """The boom with every design in it, from 0.05 rad beside its rest: each comes back; feed-forward follows a setpoint five times as closely."""
    head = 'mechanism = "lib:boom"\nstep = 0.002\nstop_time = 2.0\n[channel]\ndelay = 0.002\njitter = 0.001\n'
    loop = '[[loops]]\nmeasure = "luff"\ncommand = "lift.force"\nsetpoint = 0.5\noffset = 4256.45\nkp = 1\nki = 1\nkd = 1\nlow = 0\nhigh = 4e4\n'
    weights = "states = { luff = 1e10 }\n"
    more = (
        "[lqr]\n"
        + weights
        + "[lqg]\n"
        + weights
        + 'disturbance = { "lift.force" = 100 }\nnoise = { luff = 1e-5 }\n'
    )
    moving = '[tune]\nforward = true\n[tune.setpoints]\nluff = "0.5 + 0.05*(1 - cos(2*t))"\n'
    (tmp_path / "s.toml").write_text(head + loop + more)
    for way in ("pid", "lqr", "lqg"):
        made = tmp_path / f"{way}.toml"
        assert (
            cli.main(
                [
                    "tune",
                    str(tmp_path / "s.toml"),
                    "--by",
                    way,
                    "--into",
                    str(made),
                    "-o",
                    str(tmp_path / f"block_{way}.toml"),
                    "-q",
                ]
            )
            == 0
        )
        result = (
            load(made, luff_0=0.5)
            .compile()
            .simulate(stop_time=0.5, output_step=0.01, integrator="rk45")
        )
        assert np.abs(result["luff"] - 0.5).max() < 1e-6  # it rests where it was
        moved = tomllib.loads(made.read_text())
        moved["joints"]["pin"]["start"] = [0.52]
        back = load(moved).compile().simulate(stop_time=4.0, output_step=0.01, integrator="rk45")
        assert abs(back["luff"][-1] - 0.5) < 1e-3
        block = tomllib.loads((tmp_path / f"block_{way}.toml").read_text())["controllers"][
            "lift_control"
        ]
        for key, value in moved["controllers"]["lift_control"].items():
            assert block[key] == (
                moved["parameters"][value]["value"] if value == f"lift_control.{key}" else value
            )
    (tmp_path / "s.toml").write_text(head + moving + loop)
    assert (
        cli.main(
            [
                "tune",
                str(tmp_path / "s.toml"),
                "--into",
                str(tmp_path / "m.toml"),
                "-o",
                str(tmp_path / "m.json"),
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    (inside,) = (text for text in said.splitlines() if "lift_control" in text)
    assert "feed-forward" in said
    assert all(part in inside for part in ("mechanism", "500 Hz", "7 ms", ": stable"))
    exact = json.loads((tmp_path / "m.json").read_text())["margins"]["pid"]["lift_control"]
    assert (
        exact["stable"]
        and exact["phase"] == pytest.approx(45.0, abs=1e-3)
        and exact["gain"] >= 2.0
        and exact["modulus"] >= 0.5
    )
    asked = json.loads((tmp_path / "m.json").read_text())["lift.force by luff"]
    assert [
        asked[key]
        for key in (
            "phase",
            "gain",
            "modulus",
            "delay_margin" if "delay_margin" in asked else "disk",
        )
    ] == pytest.approx([exact[key] for key in ("phase", "gain", "modulus", "disk")], rel=1e-5)
    errors = []
    for forward in (1.0, 0.0):
        table = tomllib.loads((tmp_path / "m.toml").read_text())
        for key in ("speed_forward", "acceleration_forward"):
            table["parameters"][f"lift_control.{key}"]["value"] *= forward
        result = load(table).compile().simulate(stop_time=4.0, output_step=0.01, integrator="rk45")
        errors.append(
            np.abs(result["luff"] - 0.5 - 0.05 * (1 - np.cos(2 * result.time)))[100:].max()
        )
    assert errors[0] < 0.2 * errors[1]


@pytest.mark.parametrize("notch", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_sampled_loops_meet_requested_margins(tmp_path: Path, notch: bool):
    """Two masses on a spring, each with its force: every loop opened with the other one closed, by transfer functions in z written down by hand."""
    from scipy.signal import cont2discrete

    d = {key: value for key, value in TWO_MASSES.items() if key != "actuators"}
    d["inputs"] = {"fa": 0.0, "fb": 0.0}
    d["forces"] = {
        **d["forces"],
        "pa": {"coordinate": "xa", "value": "fa"},
        "pb": {"coordinate": "xb", "value": "fb"},
    }
    (tmp_path / "m.json").write_text(json.dumps(d))
    T = 0.005
    text = f'mechanism = "m.json"\nstep = {T}\nstop_time = 1.0\n[tune]\nphase = 40.0\nnotch = {str(notch).lower()}\n'
    for x, f in (("xa", "fa"), ("xb", "fb")):
        text += f'[[loops]]\nmeasure = "{x}"\ncommand = "{f}"\nkp = 1.0\nkd = 1.0\n'
    (tmp_path / "s.toml").write_text(text)
    assert cli.main(["tune", str(tmp_path / "s.toml"), "-q", "-o", str(tmp_path / "t.json")]) == 0
    found = json.loads((tmp_path / "t.json").read_text())
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-900, 900, -2.3, 0.3], [1800, -1800, 0.6, -0.6]])
    B = np.array([[0, 0], [0, 0], [1, 0], [0, 2.0]])
    Phi, Gamma, C, *_ = cont2discrete((A, B, np.eye(2, 4), np.zeros((2, 2))), T)

    def law(n: dict, z: np.ndarray) -> np.ndarray:
        slope = (1 - 1 / z) / T * T / (n["filter"] + T) / (1 - n["filter"] / (n["filter"] + T) / z)
        w = 2 * np.pi * n["notch"]["frequency"] if "notch" in n else 0.0
        s = w / np.tan(w * T / 2) * (z - 1) / (z + 1) if w else 0.0  # bilinear, exact at w
        first = (
            (s * s + 2 * n["notch"]["depth"] * w * s + w * w)
            / (s * s + 2 * n["notch"]["width"] * w * s + w * w)
            if w
            else 1.0
        )
        return first * (n["kp"] + n["kd"] * slope)

    numbers = found["fa by xa"], found["fb by xb"]

    def opened(k: int, omega: np.ndarray) -> np.ndarray:
        z = np.exp(1j * omega * T)
        G = (
            C @ np.linalg.solve(z[:, None, None] * np.eye(4) - Phi, Gamma) / z[:, None, None]
        )  # commands come a period late
        K = [law(n, z) for n in numbers]
        other = 1 - k
        return K[k] * (
            G[:, k, k]
            - G[:, k, other] * K[other] * G[:, other, k] / (1 + K[other] * G[:, other, other])
        )

    grid = np.geomspace(0.1, 0.9999 * np.pi / T, 40000)
    for k, n in enumerate(numbers):
        L = opened(k, grid)
        ones = np.flatnonzero(np.diff(np.sign(np.abs(L) - 1)))
        least = np.abs(np.degrees(np.angle(-L[ones]))).min()
        assert (
            n["stable"] and least == pytest.approx(n["phase"], abs=0.05) and least > 39.0
        )  # the loops were found in turn
        assert np.abs(1 + L).min() == pytest.approx(n["modulus"], abs=2e-3)


@pytest.mark.parametrize("kinds", [("kp",), ("kp", "ki"), ("kp", "ki", "kd")])
def test_controller_zeros_follow_crossover_frequency(kinds: tuple[str, ...]):
    """|C G| = 1 at ω; zeros at ω/LAG and ω/LEAD, the filter at ω FILTER."""
    plant = StateSpace(
        np.array([[0, 1], [-4.0, -0.4]]),
        np.array([[0], [1.0]]),
        np.array([[3.0, 0]]),
        np.zeros((1, 1)),
    )
    omega = 7.0
    found = shaped(kinds, omega, plant, -1.0)
    loop = pid(**found).response(omega) * plant.response(omega)
    assert abs(loop[0, 0, 0]) == pytest.approx(1.0, rel=1e-12) and found["kp"] < 0.0
    if "ki" in kinds:
        assert found["ki"] / found["kp"] == pytest.approx(omega / LAG, rel=1e-12)
    if "kd" in kinds:
        assert found["kd"] / found["kp"] == pytest.approx(LEAD / omega, rel=1e-12) and found[
            "filter"
        ] == pytest.approx(1.0 / (FILTER * omega))


def test_replaced_force_removes_its_inputs(tmp_path: Path, capsys: pytest.CaptureFixture):
    """lib:boom's `hold` and what it alone needs serve the force of the actuator, which the controller gives: nothing idle is left, nor said."""
    loop = '[[loops]]\nmeasure = "luff"\ncommand = "lift.force"\nsetpoint = 0.5\noffset = 4256.45\nkp = 1.0\nki = 1.0\nkd = 1.0\n'
    (tmp_path / "s.toml").write_text(
        'mechanism = "lib:boom"\nstep = 0.002\nstop_time = 1.0\n' + loop
    )
    assert (
        cli.main(["tune", str(tmp_path / "s.toml"), "--into", str(tmp_path / "m.toml"), "-q"]) == 0
    )
    assert cli.main(["check", str(tmp_path / "m.toml")]) == 0
    assert "nothing uses" not in capsys.readouterr().err
    parameters = load(tmp_path / "m.toml").description.parameters
    assert not {"hold", "lever_0", "length_0"} & set(parameters) and {
        "luff_0",
        "eye",
        "lift_control.kp",
    } <= set(parameters)


def test_loop_is_tuned_at_run_start(tmp_path: Path, capsys: pytest.CaptureFixture):
    """A mass that falls away from where its offset holds it, with a memory: at the start the plant is 1/(s² - 3), which it is not at rest."""
    d = {key: value for key, value in SLIDER.items() if key not in ("forces", "joints")}
    d["joints"] = {
        "j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.2}]}
    }
    d["forces"] = {
        "law": {"coordinate": "x", "value": "f - 3*(0.5 - x)*if(x < 0.4, 1, -1)"}
    }  # 3 (x - 0.5) below 0.4, the other way beyond
    d["states"] = {"kept": {"rate": "0", "start": 7.0}}
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\nstep = 0.01\nstop_time = 1.0\n[tune]\nat = "start"\n[[loops]]\nmeasure = "place"\ncommand = "f"\n'
    (tmp_path / "s.toml").write_text(text + "setpoint = 0.2\noffset = 0.9\nkp = 1.0\nkd = 1.0\n")
    assert cli.main(["tune", str(tmp_path / "s.toml"), "-o", str(tmp_path / "t.json")]) == 0
    assert "about place = 0.2" in capsys.readouterr().out
    n, T = json.loads((tmp_path / "t.json").read_text())["f by place"], 0.01
    z = np.exp(1j * n["phase_at"] * T)
    c, s = np.cosh(np.sqrt(3) * T), np.sinh(np.sqrt(3) * T)
    Phi, Gamma = (
        np.array([[c, s / np.sqrt(3)], [np.sqrt(3) * s, c]]),
        np.array([(c - 1) / 3, s / np.sqrt(3)]),
    )
    slope = (1 - 1 / z) / (n["filter"] + T) / (1 - n["filter"] / (n["filter"] + T) / z)
    L = (n["kp"] + n["kd"] * slope) * np.linalg.solve(z * np.eye(2) - Phi, Gamma)[0] / z
    assert (
        n["stable"]
        and abs(L) == pytest.approx(1.0, rel=1e-6)
        and np.degrees(np.angle(-L)) == pytest.approx(n["phase"], abs=1e-4)
    )


def test_scenario_settings_reach_library_mechanism(tmp_path: Path):
    """`outside` and `modules` decide what the carrier is: with them it has the actuators that the loops command."""
    from kinetree.scripts.hil.scenario import read_scenario

    text = 'mechanism = "lib:carrier"\nstep = 0.002\nstop_time = 1.0\n[set]\noutside = 1\nmodules = 2\nmodule_mass = 90.0\n'
    (tmp_path / "s.toml").write_text(
        text + '[[loops]]\nmeasure = "luff"\ncommand = "luff_drive.force"\nkp = 1.0\n'
    )
    found = read_scenario(tmp_path / "s.toml")
    assert (found.settings, found.values) == (
        {"outside": 1.0, "modules": 2.0},
        {"module_mass": 90.0},
    )
    system = load(found.described()).compile()
    assert "luff_drive.force" in system.compiled.inputs and "s3" not in system.coordinates


HELD = {
    "name": "held lift",
    "parameters": {"lock": {"value": 0.0, "tunable": True}, "place": 0.4},
    "bodies": {"m": {"mass": 3.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"j": {"child": "m", "type": "prismatic", "axis": "z", "coordinates": ["z"]}},
    "forces": {
        "rub": {"coordinate": "z", "viscous": 5.0},
        "hold": {"coordinate": "z", "stiffness": "lock*1e5", "length": "place"},
    },
    "actuators": {"lift": {"coordinate": "z"}},
    "run": {
        "stop_time": 1.0,
        "prepare": [
            {"name": "down", "set": {"lock": 1, "place": 0.0}},
            {"name": "aloft", "set": {"lock": 1}},
        ],
    },
}
LIFT = """mechanism = "m.json"
step = 0.001
stop_time = 1.0
measures = ["z"]
commands = ["lift.force"]
[channel]
delay = 0.001
[tune]
at = "start"
"""
PID = '[[loops]]\nmeasure = "z"\ncommand = "lift.force"\nsetpoint = 0.4\nkp = 1.0\nki = 1.0\nkd = 1.0\n'


@pytest.mark.parametrize("way", ["pid", "lqr"])
def test_prepared_mechanism_runs_with_tuned_controllers(tmp_path: Path, way: str):
    """While its states of rest are found the controllers give what they begin with; the motion begins at rest, under the weight."""
    (tmp_path / "m.json").write_text(json.dumps(HELD))
    path, into = tmp_path / "s.toml", tmp_path / "held.toml"
    lqr = '[lqr]\nstates = { z = 1e6 }\ninputs = { "lift.force" = 1e-3 }\n'
    path.write_text(LIFT + PID + lqr)
    assert cli.main(["tune", str(path), "--by", way, "--into", str(into)]) == 0
    made = load(into)
    block = tomllib.loads(into.read_text())["controllers"]["lift_control"]
    assert block["offset"] == pytest.approx(3.0 * 9.81, rel=1e-6)
    run = made.compile().simulate()
    moves = 1e-5 if way == "pid" else 1e-3  # lqr holds the place that the springs gave it last
    assert run["z"] == pytest.approx(np.full(run.time.size, run["z"][0]), abs=moves)
    assert run["z"][0] == pytest.approx(0.4, abs=1e-3)
    pushed = load({**tomllib.loads(into.read_text()), "gravity": [0, 0, -12.0]}).compile()
    moved = pushed.simulate(stop_time=3.0)
    assert np.ptp(moved["z"]) > 1e-4 and abs(moved["z"][-1] - moved["z"].mean()) < 0.05


def test_observer_takes_weights_of_state_feedback(tmp_path: Path):
    """[lqg] with densities alone; a design that weighs no state is refused."""
    from kinetree.scripts.hil.scenario import read_scenario
    from kinetree.scripts.terminal.error_messages import BadInput

    head = 'mechanism = "lib:boom"\nstep = 0.002\nstop_time = 1.0\n[[loops]]\nmeasure = "luff"\ncommand = "lift.force"\nsetpoint = 0.5\nkp = 1\n'
    densities = "[lqg]\nnoise = { luff = 1e-5 }\n"
    weights = 'states = { luff = 3.0 }\ninputs = { "lift.force" = 2.0 }\n'
    path = tmp_path / "s.toml"
    path.write_text(f"{head}[lqr]\n{weights}{densities}")
    found = read_scenario(path)
    assert found.lqg == {"noise": {"luff": 1e-5}, **found.lqr}
    for wrong in (densities, "[lqr]\nstates = { luff = 0.0 }\n"):
        path.write_text(head + wrong)
        with pytest.raises(BadInput, match="states"):
            read_scenario(path)
