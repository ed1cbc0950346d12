"""The position controller beside its difference equations with all of its parts, as its description, and as the limit of short steps."""

import math
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.system.local_coordinates import Evaluation
from kinetree.scripts.cosim.controller_description import controller_description
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.monolithic_reference import with_drive
from kinetree.scripts.cosim.position_controller import Controller, Pid
from kinetree.scripts.cosim.slave import ControllerSlave, MechanismSlave
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve

FULL = Pid(3.0, 0.5, 0.1, 0.03, 0.2, 0.25, 0.05, -0.4, 0.6)
PROFILE = ((0.0, 1.0), (0.2, 1.5), (0.45, 1.1))
H = 0.0625
WAY = (0.9, 1.3, 1.35, 1.1, 0.7, 0.2, -0.1, 0.4, 0.9, 1.6, 1.7, 1.0)


def at(profile: Any, t: float) -> float:
    """Linear between the points of a profile."""
    return float(np.interp(t, *np.array(profile).T))


def commands(pid: Pid) -> tuple[list[float], list[float]]:
    """The difference equations of the head of the controller, at its samples; integrals after each."""
    y, target, speed = WAY[0], 0.125, 0.25
    integral = derivative = 0.0
    found, integrals = [], []
    for k, measured in enumerate(WAY[1:], 1):
        t = k * H
        setpoint, following = at(PROFILE, t), at(PROFILE, t + H)
        derivative = (pid.filter_time * derivative - pid.derivative_time * (measured - y)) / (
            pid.filter_time + H
        )
        y, error = measured, setpoint + target - measured
        v = (
            pid.bias
            + pid.feed_forward * ((following - setpoint) / H + speed)
            + pid.gain * (error + integral + derivative)
        )
        u = min(max(v, pid.lower), pid.upper)
        if pid.integral_time:
            tracking = pid.tracking_time or pid.integral_time
            integral += H * error / pid.integral_time + min(H / tracking, 1.0) * (u - v) / pid.gain
        found.append(u)
        integrals.append(integral)
    return found, integrals


PIDS = {
    "all": FULL, "without anti-windup of its own": Pid(3.0, 0.5, 0.1, 0.03, 0.2, 0.0, 0.05, -0.4, 0.6),
    "a quick anti-windup": Pid(3.0, 0.5, 0.0, 0.0, 0.2, 0.01, 0.05, -0.4, 0.6), "no integral": Pid(3.0, 0.0, 0.1, 0.0, 0.0, 0.25, 0.05, -2.0, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", PIDS)
def test_controller_samples_match_difference_equations(name: str):
    """In this process, and as the description that is packed as an FMU: both at limits, and back from them."""
    pid = PIDS[name]
    expected, integrals = commands(pid)
    assert pid.lower in expected and pid.upper in expected or name == "no integral"
    plain = ControllerSlave(Controller(pid, PROFILE), "c", "rad")
    made = Controller(pid, PROFILE)
    made.measured, made.target, made.target_speed = WAY[0], 0.125, 0.25
    described = MechanismSlave(load(controller_description(made, "rad", H)), "c")
    plain.start({"measured": WAY[0], "target": 0.125, "target_speed": 0.25})
    described.start({})
    first = pid.bias + pid.gain * (1.0 + 0.125 - WAY[0]) + pid.feed_forward * (0.5 / 0.2 + 0.25)
    assert (
        plain.get("command")
        == described.get("command")
        == pytest.approx(pid.limited(first), rel=1e-14)
    )
    for k, measured in enumerate(WAY[1:]):
        for slave in (plain, described):
            slave.set("measured", measured)
            slave.step(k * H, H)
            assert slave.get("command") == pytest.approx(expected[k], rel=1e-11, abs=1e-12), (
                slave,
                k,
            )
            assert slave.get("integral") == pytest.approx(integrals[k], rel=1e-11, abs=1e-12)
        assert described.get("error") == pytest.approx(plain.get("error"), abs=1e-12)
        assert described.get("setpoint") == pytest.approx(plain.get("setpoint"), abs=1e-12)
    assert {name: described.units[name] for name in ("measured", "target_speed", "setpoint")} == {
        name: plain.units[name] for name in ("measured", "target_speed", "setpoint")
    }  # fmt: skip


def test_controller_in_steady_state_starts_with_zero_integral_and_derivative():
    controller = Controller(FULL, PROFILE)
    controller.integral = controller.derivative = 3.0
    controller.settle(0.5)
    assert (controller.measured, controller.before, controller.integral, controller.derivative) == (
        0.5,
        0.5,
        0.0,
        0.0,
    )
    assert controller.command == 0.6 and (controller.setpoint, controller.error) == (1.0, 0.5)
    assert FULL.tracking == 0.25 and Pid(integral_time=0.5).tracking == 0.5


def one_system(pid: Pid | None, valve: Valve, profile: Any) -> tuple[Any, Drive, dict[str, Any]]:
    """A block on a rail with a drive on its coordinate."""
    raw: dict[str, Any] = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"block": {"mass": 2.0}}, "actuators": {"lift": {"coordinate": "s"}},
        "joints": {"rail": {"child": "block", "transforms": [{"shift": "x", "coordinate": "s", "start": 1.8}]}},
    }  # fmt: skip
    cylinder = Cylinder(
        area_a=5e-3,
        area_b=3.2e-3,
        volume_a=0.5e-3,
        volume_b=0.7e-3,
        shortest=1.35,
        longest=2.35,
        air=0.01,
        leakage=2e-11,
    )
    drive = Drive(cylinder, valve, profile)
    drive.settle(1.8, 4e3)
    controller = None
    if pid:
        controller = Controller(pid, PROFILE)
        controller.target, controller.target_speed, controller.integral = 0.75, 0.25, 0.125
    made = with_drive(raw, "lift", drive, controller)
    assert "lift" in raw["actuators"] and not made["actuators"]
    return load(made).compile(), drive, made


@pytest.mark.parametrize("pid", [None, *PIDS.values()], ids=["alone", *PIDS])
def test_monolithic_reference_uses_same_controller_laws(pid: Pid | None):
    """Random states: force on the block, rates of pressures, spool, filtered speed and integral; the controller as the limit of short steps."""
    valve, profile, random = (
        Valve(overlap=0.04, relief=60e5),
        ((0.0, -0.5), (0.4, 0.5)),
        np.random.default_rng(7),
    )
    system, drive, made = one_system(pid, valve, profile)
    names, states = system.compiled.states, made["states"]
    assert (
        states["pressure_a"]["start"] == drive.pressure_a
        and states["pressure_b"]["start"] == drive.pressure_b
    )
    assert states["spool"]["start"] == 0.0 and (not pid or states["integral"]["start"] == 0.125)
    for t in (0.1, 0.3, 0.3, 0.3):
        s, v, spool = random.uniform(1.4, 2.3), random.uniform(-0.5, 0.5), random.uniform(-1, 1)
        values = dict(zip(names, random.uniform(-0.2, 0.2, len(names)), strict=True)) | {
            "spool": spool
        }
        values |= {"pressure_a": random.uniform(1e5, 90e5), "pressure_b": random.uniform(1e5, 90e5)}
        found = Evaluation(system, t, {}).rates(
            np.array([s]), np.array([v]), np.array([values[name] for name in names])
        )
        control, expected = 0.0, {}
        if pid:
            deviation = at(PROFILE, t) + 0.75 - s
            slope = (2.5 if t < 0.2 else -1.6) + 0.25
            smooth = values["smooth_speed"]
            derivative = -pid.derivative_time * (smooth if pid.filter_time else v - smooth)
            wanted = (
                pid.bias
                + pid.feed_forward * slope
                + pid.gain * (deviation + values["integral"] + derivative)
            )
            control = min(max(wanted, pid.lower), pid.upper)
            expected["smooth_speed"] = (v - smooth) / pid.filter_time if pid.filter_time else 0.0
            expected["integral"] = 0.0
            if pid.integral_time:
                expected["integral"] = deviation / pid.integral_time + (control - wanted) / (
                    pid.gain * (pid.tracking_time or pid.integral_time)
                )
        aim = min(max(at(profile, t) + control, -1.0), 1.0)
        rates = drive.rates(spool, s, v, values["pressure_a"], values["pressure_b"])
        expected |= {
            "pressure_a": rates[0],
            "pressure_b": rates[1],
            "spool": (aim - spool) / valve.time_constant,
        }
        assert found[0] == pytest.approx(
            drive.cylinder.force(values["pressure_a"], values["pressure_b"]) / 2.0, rel=1e-12
        )
        for name, rate in zip(names, found[1:], strict=True):
            assert rate == pytest.approx(expected[name], rel=1e-8, abs=1e-9), (name, t)
    assert math.isfinite(drive.force)
