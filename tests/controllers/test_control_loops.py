"""Margins of the loops that controllers close: against python-control's discretisation, and by runs on both sides of the border of stability."""

import numpy as np
import pytest
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.analysis.control_loops import control_loops
from kinetree.models.analysis.frequency_response import StateSpace
from kinetree.models.analysis.sampled_loops import held_plant

MASS = 2.0
PID = {
    "measure": "s",
    "setpoint": 1,
    "kp": "k*200",
    "kd": "k*40",
    "filter": 0.01,
    "ki": "k*50",
    "drives": "push",
}


def slider(**controller) -> dict:
    return {
        "format": "kinetree/1",
        "name": "slider",
        "parameters": {"k": 1.0},
        "gravity": [0, 0, -9.81],
        "bodies": {"b": {"mass": MASS}},
        "joints": {
            "j": {
                "child": "b",
                "type": "prismatic",
                "axis": "z",
                "coordinates": ["s"],
                "start": 1.001,
            }
        },
        "actuators": {"push": {"coordinate": "s"}},
        "controllers": {
            "hold": {
                "measure": "s",
                "setpoint": 1,
                "kp": "k*200",
                "kd": "k*40",
                "filter": 0.01,
                "ki": "k*50",
                "drives": "push",
            }
            | controller
        },
    }


def test_loop_of_continuous_pid_matches_formula():
    """L(jω) = (kp + ki/jω + kd jω/(T jω + 1))/(m (jω)²)."""
    (loop,) = control_loops(load(slider()).compile())
    s = 1j * np.array([0.5, 3.0, 20.0, 200.0])
    assert loop.loop.response(s.imag)[:, 0, 0] == pytest.approx(
        (200 + 50 / s + 40 * s / (0.01 * s + 1)) / (MASS * s**2), rel=1e-9
    )
    assert loop.period == 0.0 and not loop.limited


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02, 0.05])
def test_loop_of_sampled_pid_matches_formula(delay):
    """L(z) = C(z) P(z): backward differences, and 1/ms² under a held command that comes n periods and f later (modified z-transform)."""
    T = 0.02
    (loop,) = control_loops(load(slider(period=T, delay=delay)).compile())
    n = int(delay / T + 1e-9)
    f = delay - n * T
    z = np.exp(1j * T * np.array([0.5, 3.0, 20.0, 100.0]))
    d = (1 - 1 / z) / T  # backward difference
    C = 200 + 50 * T / (1 - 1 / z) + 40 * d / (1 + 0.01 * d)
    g = (
        T - f
    )  # the command of a sample acts g long before the next one: s gains g²/2 then, f (T - f/2) and the rest of the speed behind it
    now, then = (g * g / 2, g), (T * T / 2 - g * g / 2, T - g)
    P = (
        z ** (-n)
        * ((now[0] + then[0] / z) * (z - 1) + T * (now[1] + then[1] / z))
        / (MASS * (z - 1) ** 2)
    )
    assert loop.loop.response(np.angle(z) / T)[:, 0, 0] == pytest.approx(C * P, rel=1e-6)


@pytest.mark.parametrize("sampling", [{}, {"period": 0.02}])
def test_limits_that_are_not_reached_change_no_margin(sampling):
    """Differences of a law with large gains must not reach its limits: 20 N about the weight are used up by a tenth of a metre."""
    free, limited = (
        control_loops(
            load(
                slider(
                    kp="k*2e5",
                    kd="k*4e4",
                    ki="k*5e4",
                    offset="2*9.81",
                    tracking=0.1,
                    **sampling,
                    **more,
                )
            ).compile()
        )[0]
        for more in ({}, {"low": 0, "high": 40})
    )
    w = np.array([0.5, 3.0, 20.0, 100.0])
    assert (
        limited.loop.response(w) == pytest.approx(free.loop.response(w), rel=1e-6)
        and not limited.limited
    )


def test_discretised_plant_matches_python_control():
    """Without delay: c2d with a zero-order hold of a third-order plant, poles and response."""
    control = pytest.importorskip("control")
    A = np.array([[0, 1, 0], [-40, -0.8, 3], [0, 0, -5.0]])
    plant = StateSpace(A, np.array([[0.0], [1], [2]]), np.array([[1.0, 0, 0.5]]), np.zeros((1, 1)))
    reference = control.c2d(control.ss(plant.A, plant.B, plant.C, plant.D), 0.05, "zoh")
    omega = np.array([0.3, 2.0, 6.3, 40.0])
    assert held_plant(plant, 0.05).response(omega)[:, 0, 0] == pytest.approx(
        reference(np.exp(0.05j * omega)), rel=1e-9
    )


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.027])
def test_instability_starts_at_gain_margin(delay):
    """Runs with 2 % less and 2 % more than the gain margin: small motions die away and grow."""
    T = 0.02
    (loop,) = control_loops(load(slider(period=T, delay=delay)).compile())
    assert loop.margins.stable
    for part, grows in ((0.98, False), (1.02, True)):
        table = slider(period=T, delay=delay, offset=MASS * 9.81, start=MASS * 9.81)
        table["parameters"]["k"] = part * loop.margins.gain
        result = load(table).compile().simulate(stop_time=8.0, output_step=0.01)
        motion = np.abs(result["s"] - 1.0)
        assert (motion[-200:].max() > motion[200:400].max()) == grows


def test_margins_close_other_loops_and_report_limits():
    """Two controllers of one mass: the speed loop alone is 8/(2 s), behind the closed position loop 8 s/(2 s² + 50); a limit is told."""
    d = slider()
    d["controllers"] = {
        "place": {"measure": "s", "setpoint": 1, "kp": 50, "offset": MASS * 9.81, "drives": "push"},
        "speed": {"measure": "der(s)", "kp": 8, "drives": "push", "high": 0.0},
    }
    loops = {loop.name: loop for loop in control_loops(load(d).compile())}
    s = 2.0j
    assert loops["speed"].loop.response(2.0)[0, 0, 0] == pytest.approx(
        8 * s / (MASS * s * s + 50), rel=1e-9
    )  # the side of the corner inside
    assert loops["speed"].limited and not loops["place"].limited


def test_controllers_agree_in_all_hosts(tmp_path):
    """Co-simulation by the native FMU is the run in Python; a host that integrates itself comes within its tolerance, noise included."""
    d = slider(period=0.02, delay=0.013, jitter=0.002, noise=1e-5, seed=3)
    mechanism = load(d)
    path = build_fmu(mechanism, tmp_path / "m.fmu", "native")
    own = mechanism.compile().simulate(stop_time=1.0, output_step=0.02)
    for kind, bound in (("CoSimulation", 1e-9), ("ModelExchange", 1e-4)):
        found = simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=1.0,
            output_interval=0.02,
            relative_tolerance=1e-9,
            output=["s", "hold"],
        )
        assert np.abs(np.interp(own.time, found["time"], found["s"]) - own["s"]).max() < bound


def test_controller_packs_as_own_fmu(tmp_path):
    """Without bodies: measure and setpoint are inputs, the command an output."""
    table = {"measure": "y", "setpoint": "w", "kp": 2, "ki": 3, "period": 0.1}
    d = {
        "format": "kinetree/1",
        "name": "pid",
        "inputs": {"y": 0.5, "w": 1.0},
        "controllers": {"c": table, "d": {"kind": "saturation", "input": "9*y", "high": 2}},
    }
    path = build_fmu(load(d), tmp_path / "c.fmu", "native")
    found = simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, output=["c", "d"])
    assert found["c"][1:] == pytest.approx(2 * 0.5 + 3 * 0.5 * 0.1 * np.arange(10))
    assert found["d"] == pytest.approx(2.0)


def two_masses(gain: float, **controllers) -> dict:
    """Two masses on a spring; controllers push the first by the place of the second."""
    line = {"type": "prismatic", "axis": "x"}
    ends = [{"body": "a", "point": [0, 0, 1]}, {"body": "b", "point": [1, 0, 1]}]
    return {
        "format": "kinetree/1",
        "name": "two masses",
        "parameters": {"k": gain},
        "gravity": [0, 0, 0],
        "bodies": {"a": {"mass": 1.0}, "b": {"mass": 1.0}},
        "joints": {
            "a": line | {"child": "a", "coordinates": ["xa"]},
            "b": line | {"child": "b", "coordinates": ["xb"], "start": 0.01},
        },
        "forces": {
            "spring": {"between": ends, "stiffness": 200, "damping": 0.1, "length": 1},
            "drag": {"coordinate": "xa", "stiffness": 0, "damping": 3},
        },
        "actuators": {"act": {"coordinate": "xa"}},
        "controllers": controllers,
    }


NOTCH = {"kind": "notch", "measure": "-xb", "frequency": 3.174, "depth": 0.0424, "width": 0.7}
BEHIND = {
    "measure": "filter", "kp": "k*27.15", "ki": "k*26.76", "kd": "k*11.48", "filter": 0.0169,
    "drives": "act",
}  # fmt: skip
INNER = {"measure": "der(xa)", "setpoint": "outer", "kp": "k*6", "drives": "act"}
OUTER = {"measure": "xb", "kp": 1.2, "ki": 0.1}
SAMPLED = {
    "notch before": lambda k: two_masses(
        k, filter=NOTCH | {"period": 0.01}, hold=BEHIND | {"period": 0.01, "delay": 0.013}
    ),
    "notch behind": lambda k: two_masses(
        k, hold=BEHIND | {"period": 0.04, "delay": 0.01}, filter=NOTCH | {"period": 0.04}
    ),
    "late notch": lambda k: two_masses(
        k, filter=NOTCH | {"period": 0.02, "delay": 0.05}, hold=BEHIND | {"period": 0.02}
    ),
    "faster notch": lambda k: two_masses(
        k, filter=NOTCH | {"period": 0.015}, hold=BEHIND | {"period": 0.03, "delay": 0.02}
    ),
    "cascade": lambda k: two_masses(
        k,
        outer=OUTER | {"period": 0.1},
        hold=INNER | {"period": 0.1, "delay": 0.04},
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", SAMPLED)
def test_instability_starts_at_gain_margin_with_several_sampled_controllers(way):
    """Whatever the order of the controllers, their delays and a faster period of the other one."""
    loops = {loop.name: loop for loop in control_loops(load(SAMPLED[way](1.0)).compile())}
    loop = loops["hold"]
    assert loop.margins.stable and not loop.said and 1.05 < loop.margins.gain < 1e3
    for part, grows in ((0.97, False), (1.03, True)):
        system = load(SAMPLED[way](part * loop.margins.gain)).compile()
        assert [each.margins.stable for each in control_loops(system)] == [not grows] * len(loops)
        result = system.simulate(stop_time=40.0, output_step=0.01)
        motion = np.abs(result["xb"] - result["xb"][-1] * (not grows))
        assert (motion[-500:].max() > motion[1000:1500].max()) == grows


def test_loop_with_slower_controller_says_so_and_is_judged_by_the_whole():
    """A fast loop inside a slow one has no margins from sample to sample; the stability of both together is exact."""
    gains = (3.0, 8.0)
    told, seen = [], []
    for gain in gains:
        inner = INNER | {"period": 0.02, "delay": 0.03}
        outer = OUTER | {"period": 0.5, "kp": f"{gain}"}
        system = load(two_masses(1.0, outer=outer, hold=inner)).compile()
        fast, slow = (
            {loop.name: loop for loop in control_loops(system)}[name] for name in ("hold", "outer")
        )
        assert "'outer' (0.5 s)" in fast.said and not slow.said
        assert fast.margins.stable == slow.margins.stable
        told.append(fast.margins.stable)
        result = system.simulate(stop_time=30.0, output_step=0.02)
        motion = np.abs(result["xb"] - (result["xb"][-1] if told[-1] else 0.0))
        seen.append(bool(motion[-300:].max() < motion[300:600].max()))
    assert told == seen and any(told) and not all(told)


def test_loop_with_incommensurable_periods_is_not_called_stable():
    both = two_masses(
        1.0, filter=NOTCH | {"period": 0.01}, hold=BEHIND | {"period": 0.01 * np.sqrt(2.0)}
    )
    for loop in control_loops(load(both).compile()):
        assert "'" in loop.said and not loop.known and not loop.margins.stable


@pytest.mark.parametrize("sampling", [{}, {"period": 0.02, "delay": 0.013}])
def test_further_dead_time_is_that_of_every_loop(sampling):
    """Stable with a little less than the delay margin, unstable with a little more."""
    system = load(slider(**sampling)).compile()
    (loop,) = control_loops(system)
    for part, stable in ((0.9, True), (1.1, False)):
        (late,) = control_loops(system, delay=part * loop.margins.delay)
        assert late.margins.stable == stable and late.delay > loop.delay
