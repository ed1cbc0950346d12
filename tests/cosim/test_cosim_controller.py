"""The position controller: its samples against the solution of its difference equations, in this process and as an FMU."""

import math
from pathlib import Path

import numpy as np
import pytest

from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.pack_drives import build_controller_fmu
from kinetree.scripts.cosim.position_controller import Controller, ControllerError, Pid
from kinetree.scripts.cosim.slave import ControllerSlave, CosimError

PID = Pid(
    gain=2.0, integral_time=0.5, derivative_time=0.1, filter_time=0.03, lower=-100.0, upper=100.0
)
H, COUNT = 0.01, 40


def step_response(pid: Pid, k: np.ndarray) -> np.ndarray:
    """Measured jumps from 0 to 1 before the first sample, k = 1, 2, ...: e = -1, I_k = -(k - 1) h/Ti, D_k = -Td/(Tf + h) (Tf/(Tf + h))^(k - 1)."""
    ratio = pid.filter_time / (pid.filter_time + H)
    return pid.gain * (
        -1.0
        - (k - 1) * H / pid.integral_time
        - pid.derivative_time / (pid.filter_time + H) * ratio ** (k - 1)
    )


def response(slave, first: int = 0) -> np.ndarray:
    slave.set("measured", 1.0)
    found = []
    for k in range(first, first + COUNT):
        slave.step(k * H, H)
        found.append(slave.get("command"))
    return np.array(found)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_controller_fmu(
        Controller(PID), tmp_path_factory.mktemp("controller") / "controller.fmu"
    )


def test_controller_step_response_matches_formula_in_process():
    """Forty sums of numbers below 10: 40 * 10 * 2^-52."""
    slave = ControllerSlave(Controller(PID))
    slave.start({})
    assert np.abs(response(slave) - step_response(PID, np.arange(1, COUNT + 1))).max() < 1e-13


def test_controller_fmu_step_response_matches_formula(archive: Path):
    slave = FmuSlave(archive, "controller")
    slave.start({})
    assert np.abs(response(slave) - step_response(PID, np.arange(1, COUNT + 1))).max() < 1e-13
    slave.close()


def test_numbers_of_the_controller_are_parameters_of_the_fmu(archive: Path):
    slave = FmuSlave(archive, "controller")
    slave.start({"pid.gain": 1.0, "pid.derivative_time": 0.0, "target": 3.0, "measured": 1.0})
    assert slave.get("command") == pytest.approx(2.0) and slave.get("error") == pytest.approx(2.0)
    slave.close()


def test_controller_fmu_rollback_is_exact(archive: Path):
    slave = FmuSlave(archive, "controller")
    slave.start({})
    slave.set("measured", 0.3)
    slave.step(0.0, H)
    state = slave.save()
    once = response(slave, 1)
    slave.restore(state)
    assert (response(slave, 1) == once).all()
    slave.close()


def test_controller_archive_is_valid(archive: Path):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(archive)) == []


def test_controller_integral_stops_at_command_limit():
    """Back calculation: while the command is limited, v tends to u + gain e tracking_time/integral_time."""
    pid = Pid(gain=4.0, integral_time=0.2, tracking_time=0.1)
    controller = Controller(pid)
    controller.settle(0.0)
    controller.target = 1.0
    for _ in range(1000):
        controller.step(0.001)
    assert controller.command == 1.0
    # the update with wanted at the sample's beginning is a contraction by 1 - h/tracking per sample: e^-10 is left of 4
    assert controller.wanted() - 1.0 == pytest.approx(4.0 * 0.1 / 0.2, abs=4.0 * math.exp(-9.0))


def test_feed_forward_follows_a_ramp_without_error():
    """Without an error the command is the speed of the setpoint times its gain."""
    controller = Controller(Pid(gain=1.0, feed_forward=0.5), ((0.0, 1.0), (1.0, 1.4)))
    controller.settle(1.0)
    controller.measured = 1.0 + 0.4 * 0.25
    controller.step(0.25)
    assert controller.command == pytest.approx(0.5 * 0.4)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"gain": 0.0}, "gain is 0"),
        ({"gain": math.nan}, "gain is nan"),
        ({"integral_time": -1.0}, "integral_time is -1"),
        ({"lower": 1.0}, "upper limit 1 is not above"),
    ],
)
def test_invalid_controller_parameters_are_refused(change: dict, text: str):
    with pytest.raises(ControllerError, match=text):
        Pid(**change)


def test_non_finite_measurement_is_named(archive: Path):
    slave = FmuSlave(archive, "controller")
    slave.start({})
    with pytest.raises(CosimError, match="controller.measured is given nan"):
        slave.set("measured", math.nan)
    slave.close()


@pytest.mark.parametrize("h", [0.5, 1.0, 0.25, 2.0])
def test_feed_forward_uses_mean_speed_of_next_step(h):
    """The setpoint rises by 2/s until 1.1 s and falls by 1/s from there: a command is held for a step, over which it brings the whole way."""
    profile = ((0.0, 0.0), (1.1, 2.2), (9.9, -6.6))
    controller = Controller(Pid(gain=1e-9, feed_forward=1.0, lower=-10.0, upper=10.0), profile)
    controller.settle(0.0)
    assert controller.command == pytest.approx(2.0, abs=1e-6)  # no step is known: the speed itself
    place, reached = 0.0, []
    for k in range(4):
        controller.step(h)
        begin, end = (np.interp(t, *zip(*profile, strict=True)) for t in ((k + 1) * h, (k + 2) * h))
        assert controller.command == pytest.approx((end - begin) / h, abs=1e-6)
        place += controller.command * h
        reached.append(end - np.interp(h, *zip(*profile, strict=True)) - place)
    assert np.abs(reached).max() < 1e-5
