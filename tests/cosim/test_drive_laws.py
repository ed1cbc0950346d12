"""The hydraulic drive and the position controller beside their equations, and the two other ways in which each is written beside them."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetree.models import load
from kinetree.scripts.cosim.controller_description import (
    controller_description,
    units_of_controller,
)
from kinetree.scripts.cosim.drive_description import drive_description, points
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.position_controller import Controller, ControllerError, Pid
from kinetree.scripts.cosim.slave import DriveSlave, MechanismSlave
from kinetree.scripts.cosim.valve_cylinder import Cylinder, DriveError, Valve

MODELICA = Path(__file__).parents[2] / "models" / "modelica" / "Kinetree"
PLAIN = Cylinder(area_a=2.0, area_b=1.0, volume_a=3.0, volume_b=4.0, shortest=1.0, longest=2.0)
SERVO = Cylinder(
    area_a=5e-3,
    area_b=3.2e-3,
    volume_a=0.5e-3,
    volume_b=0.7e-3,
    shortest=1.35,
    longest=2.35,
    air=0.01,
    leakage=2e-11,
)
LAPPED = Valve(overlap=0.04, relief=60e5, relief_gain=3e-10, make_up_gain=5e-10)
EPS = float(np.finfo(float).eps)


def defaults(block: str) -> dict[str, float]:
    """Parameters of a Modelica class that are plain numbers."""
    file = {"PositionController": "Controllers.mo", "ServoValve": "Hydraulics.mo"}[block]
    (text,) = re.findall(
        rf"(?:block|model) {block}\b.*?end {block};", (MODELICA / file).read_text(), re.S
    )
    return {
        name: float(value)
        for name, value in re.findall(
            r"parameter Real (\w+)(?:\(unit = \S+\))? = (-?[\d.e-]+)[ ;]", text
        )
    }


def test_drive_parameter_defaults():
    """Valve and controller have those of the Modelica package, which is said to be the same; a cylinder those of a small boom."""
    valve, pid = defaults("ServoValve"), defaults("PositionController")
    assert vars(Valve()) == valve and len(valve) == 10
    assert (
        pid.pop("period")
        == controller_description(Controller(Pid()))["parameters"]["period"]["value"]
        and pid.pop("measured_0") == 0.0
    )
    assert vars(Pid()) == pid and len(pid) == 9
    assert vars(Cylinder()) == {
        "area_a": 5e-3, "area_b": 3.5e-3, "volume_a": 1e-3, "volume_b": 1e-3, "shortest": 0.8, "longest": 1.6, "bulk_modulus": 1.4e9,
        "air": 0.0, "leakage": 0.0,
    }  # fmt: skip
    drive = Drive(PLAIN, Valve())
    assert (drive.length, drive.pressure_a, drive.pressure_b, drive.save()) == (
        1.5,
        5e5,
        5e5,
        (0.0, 1.5, 0.0, 0.0, 5e5, 5e5, 0.0, 0.0, 0.0, 0.0),
    )
    assert (
        drive.profile == ()
        and drive.command == 0.0
        and Controller(Pid()).save() == (0.0,) * 9
        and drive.damping == 0.0
    )


@pytest.mark.parametrize("name", ["area_a", "area_b", "volume_a", "volume_b", "bulk_modulus"])
def test_cylinder_volumes_match_geometry(name: str):
    for value in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(DriveError, match=f"{name} is .*expected a positive number"):
            replace(PLAIN, **{name: value})


def test_drive_parameters_at_bounds():
    """What is equal to a bound is on one side of it: no stroke, no drop and no span of commands are refused, times of 0 are none."""
    for change, said in (({"longest": 1.0}, "longest"), ({"longest": 0.5}, "longest")):
        with pytest.raises(DriveError, match=said):
            replace(PLAIN, **change)
    for change in (
        {"rated_flow": 0.0},
        {"rated_drop": 0.0},
        {"laminar": 0.0},
        {"time_constant": 0.0},
        {"time_constant": math.nan},
        {"supply": 5e5},
    ):
        with pytest.raises(DriveError, match=next(iter(change))):
            replace(Valve(), **change)
    for name in ("integral_time", "derivative_time", "filter_time", "tracking_time"):
        assert getattr(Pid(**{name: 0.0}), name) == 0.0
        with pytest.raises(ControllerError, match=f"{name} is -1e-09, expected no negative number"):
            Pid(**{name: -1e-9})
    for wrong in ({"lower": 1.0}, {"lower": 2.0}):
        with pytest.raises(ControllerError, match="not above"):
            Pid(**wrong)
    for length in (-0.5, -1.0, 6.0, 7.0):  # 3 + 2 (s - 1) is empty at -0.5, 4 + (2 - s) at 6
        with pytest.raises(DriveError, match="outside of its stroke"):
            PLAIN.volumes(length)
    assert PLAIN.volumes(1.25) == (3.5, 4.75) and PLAIN.volumes(-0.25) == (0.5, 6.25)
    assert PLAIN.force(3.0, 5.0) == 1.0 and PLAIN.stiffness(1.25, 0.0, 0.0) == pytest.approx(
        -1.4e9 * (4.0 / 3.5 + 1.0 / 4.75), rel=4 * EPS
    )


def test_drive_equilibrium_pressures_match_load():
    """A quarter of the supply above the tank on the ring side, or what a pulling load needs; from the tank's pressure to that of the relief."""
    drive = Drive(replace(PLAIN, area_b=0.5), Valve(supply=9.0, tank=1.0, relief=2.0))
    for weight, pressure in ((0.5, 1.0), (2.0, 1.75), (2.5, 2.0)):
        drive.settle(1.25, weight)
        assert (drive.length, drive.pressure_a, drive.pressure_b, drive.force) == (
            1.25,
            pressure,
            3.0,
            weight,
        )
    for weight in (0.49, 2.51):
        with pytest.raises(DriveError, match="outside of 1e-05 to 2e-05 bar"):
            drive.settle(1.25, weight)
    pulled = Drive(replace(PLAIN, area_a=0.5, area_b=0.5), Valve(supply=9.0, tank=1.0, relief=2.0))
    pulled.settle(1.25, -2.0)
    assert (pulled.pressure_a, pulled.pressure_b) == (1.0, 5.0), (
        "the tank on one side, the whole load on the other"
    )


def test_valve_flows_match_orifice_equation():
    """The rated flow at its drop but for the laminar part, (1 + (laminar/drop)²)^-¼; edges open beyond the overlap, both sides are protected."""
    valve = Valve(
        supply=40.0,
        tank=4.0,
        rated_flow=6.0,
        rated_drop=9.0,
        overlap=0.25,
        laminar=3.0,
        relief=30.0,
        relief_gain=0.5,
        make_up_gain=0.75,
    )

    def rooted(drop: float) -> float:
        return 2.0 * math.copysign(math.sqrt(abs(drop)), drop) / (1.0 + (3.0 / drop) ** 2) ** 0.25

    assert (
        valve.orifice(9.0) == pytest.approx(6.0 * (1.0 + 1.0 / 9.0) ** -0.25, rel=4 * EPS)
        and valve.orifice(0.0) == 0.0
    )
    assert [valve.opening(x) for x in (1.0, 0.5, 0.25, 0.125, -0.125, -0.75)] == [
        0.75,
        0.25,
        0.0,
        0.0,
        0.0,
        -0.5,
    ]
    assert [valve.protection(p) for p in (32.0, 30.0, 10.0, 4.0, 2.0)] == [-1.0, 0.0, 0.0, 0.0, 1.5]
    for a, b in ((10.0, 20.0), (36.0, 2.0)):
        guard = valve.protection(a), valve.protection(b)
        assert valve.flows(0.75, a, b) == pytest.approx(
            (0.5 * rooted(40.0 - a) + guard[0], 0.5 * rooted(4.0 - b) + guard[1]), rel=8 * EPS
        )
        assert valve.flows(-0.5, a, b) == pytest.approx(
            (0.25 * rooted(4.0 - a) + guard[0], 0.25 * rooted(40.0 - b) + guard[1]), rel=8 * EPS
        )
        assert valve.flows(0.1, a, b) == pytest.approx(guard)
    h = 1e-6  # the change with the pressure is largest where there is no drop
    slope = (valve.flows(0.75, 40.0 + h, 10.0)[0] - valve.flows(0.75, 40.0 - h, 10.0)[0]) / (2 * h)
    assert valve.fastest(0.75) == pytest.approx(-(slope + 0.5) + 0.75, rel=1e-6), (
        "beside the quicker one of both protections"
    )
    assert (
        valve.fastest(-0.75) == valve.fastest(0.75)
        and replace(valve, relief_gain=2.0).fastest(0.0) == 2.0
    )


SHORT = Cylinder(
    area_a=5e-3,
    area_b=3e-3,
    volume_a=1e-6,
    volume_b=1e-6,
    shortest=1.0,
    longest=1.1,
    bulk_modulus=2e7,
)


@pytest.mark.parametrize(
    ("cylinder", "valve", "begin", "speed", "rise"),
    [
        (SERVO, LAPPED, (1.8, 40e5, 55e5, 0.1), 0.1, -20.0),
        (SHORT, Valve(), (1.003, 200e5, 60e5, 0.2), 0.5, 500.0),
    ],
    ids=["leaks and holds air", "little oil"],
)
def test_drive_step_solves_its_equations(
    cylinder: Cylinder, valve: Valve, begin: tuple[float, ...], speed: float, rise: float
):
    """A speed that changes, a spool on its way to a command that stays: a tight integration of the same rates.

    Twelve steps of the classical method, each of at most half a time constant of the pressures: (1/2)^5/120 of what is left at its end.
    """
    drive = Drive(cylinder, valve, ((0.0, 0.5),))
    drive.length, drive.pressure_a, drive.pressure_b, drive.spool = begin
    drive.speed, drive.acceleration, drive.control, drive.time = speed, rise, -0.25, 7.0

    def rates(t: float, y: np.ndarray) -> list[float]:
        now = speed + rise * t
        return [now, *drive.rates(y[3], y[0], now, y[1], y[2]), (0.25 - y[3]) / valve.time_constant]

    exact = solve_ivp(rates, (0.0, 0.003), begin, rtol=1e-10, atol=1e-12, max_step=2e-4).y[:, -1]
    drive.step(0.003)
    assert drive.length == pytest.approx(exact[0], rel=1e-12) and drive.spool == pytest.approx(
        exact[3], rel=1e-9
    )
    assert (drive.pressure_a, drive.pressure_b) == pytest.approx(
        (exact[1], exact[2]), abs=1e-6 * abs(exact[1] - begin[1])
    )
    assert (drive.time, drive.last_step, drive.speed) == pytest.approx(
        (7.003, 0.003, speed + 0.003 * rise), rel=1e-12
    )
    mean = 0.25 + (begin[3] - 0.25) * valve.time_constant / 0.003 * (
        1.0 - math.exp(-0.003 / valve.time_constant)
    )
    assert drive.mean_spool == pytest.approx(mean, rel=1e-9)
    for control, command in ((-0.25, 0.25), (0.6, 1.0), (-1.75, -1.0)):
        drive.control = control
        assert drive.command == command


def counted(drive: Drive, h: float) -> list[float]:
    """Lengths of the internal steps of one step."""
    made: list[float] = []
    advance = drive.advance
    drive.advance = lambda t, micro, *rest: (made.append(micro), advance(t, micro, *rest))[1]  # type: ignore[method-assign]
    drive.step(h)
    return made


def test_internal_drive_steps_resolve_oil_dynamics():
    """A quarter of a millisecond, or half a time constant of the quicker side behind the wider of what was open and what will be in the step."""
    assert (
        counted(Drive(Cylinder(), Valve()), 1e-3) == [2.5e-4] * 4
        and len(counted(Drive(Cylinder(), Valve()), 1.1e-3)) == 5
    )
    assert (
        counted(Drive(Cylinder(), Valve()), 1e-5) == [1e-5]
        and len(counted(Drive(Cylinder(), Valve()), 1e-3 * (1.0 + 1e-12))) == 4
    )
    stiff = Cylinder(volume_a=5e-5, volume_b=1e-4)
    for length, volume in ((0.8, 5e-5), (1.6, 1e-4)):
        for profile, widest in (
            (((0.0, 0.5), (9.0, 0.5)), 0.5), (((0.0, 0.0), (0.5e-3, 0.5), (1e-3, 0.0)), 0.5), (((0.0, 0.0), (0.25e-3, -0.75), (0.5e-3, 0.0)), 0.75),
            (((0.0, 0.0), (0.001, 0.5), (0.002, 1.0)), 0.5), (((0.0, 0.0),), 0.25),
        ):  # fmt: skip
            drive = Drive(stiff, Valve(), profile)
            drive.settle(length, 1e4)
            drive.spool = -0.25
            quickest = 1.4e9 / volume * Valve().fastest(widest)
            assert len(counted(drive, 1e-3)) == math.ceil(1e-3 * quickest / 0.5 - 1e-9)


def test_drive_without_oil_advances_only_its_spool():
    """With the oil at the partner pressures stay; flows are those of the mean place, and there are the inputs for it."""
    drive = Drive(SERVO, LAPPED, ((0.0, 0.5),), inside=True)
    drive.pressure_a, drive.pressure_b, drive.spool = 40e5, 50e5, 0.25
    drive.step(0.002)
    assert (drive.pressure_a, drive.pressure_b) == (
        40e5,
        50e5,
    ) and 0.25 < drive.mean_spool < drive.spool < 0.5
    assert (drive.flow_a, drive.flow_b) == drive.flows == LAPPED.flows(drive.mean_spool, 40e5, 50e5)
    assert DriveSlave(drive).inputs == ("pressure_a", "pressure_b", "control") and DriveSlave(
        Drive(SERVO, LAPPED)
    ).inputs == ("speed", "control")


def test_circuit_sends_stiffness_and_rates():
    """Of the force at the present speed; and at rest, with the spool where the command of a quarter of a step leads it in half of a step."""
    drive = Drive(SERVO, LAPPED, ((0.0, 0.0), (1.0, 0.8)))
    drive.settle(1.8, 4e3)
    drive.spool, drive.speed, drive.time, drive.last_step, drive.control = (
        0.5,
        0.3,
        0.5,
        0.008,
        0.125,
    )
    squeeze = [
        SERVO.modulus(p) / v
        for p, v in zip((drive.pressure_a, drive.pressure_b), SERVO.volumes(1.8), strict=True)
    ]
    aim = 0.125 + 0.8 * 0.502
    ahead = aim + (0.5 - aim) * math.exp(-0.004 / LAPPED.time_constant)
    for spool, speed, found in ((0.5, 0.3, drive.force_rate), (ahead, 0.0, drive.resting_rate)):
        flow_a, flow_b = LAPPED.flows(spool, drive.pressure_a, drive.pressure_b)
        leak = 2e-11 * (drive.pressure_a - drive.pressure_b)
        rates = (
            squeeze[0] * (flow_a - 5e-3 * speed - leak),
            squeeze[1] * (flow_b + 3.2e-3 * speed + leak),
        )
        assert found == pytest.approx(5e-3 * rates[0] - 3.2e-3 * rates[1], rel=1e-12)


@pytest.mark.parametrize(
    ("rotary", "profile"), [(False, ((0.0, 0.5), (1.0, 0.5))), (True, ((0.0, -0.25),)), (False, ())]
)
def test_drive_description_matches_drive_class(rotary: bool, profile: Any):
    """At the start, and after a step of 5 ms with a speed that stays: every output, in the same units.

    With air, leakage, overlap and relief: steps of 0.25 ms over corners leave errors of second order, (1/60)² of what a tenth of the flow does.
    """
    h = 0.005
    described = MechanismSlave(
        load(drive_description(Drive(SERVO, LAPPED, profile), rotary, h)), "drive"
    )
    plain = DriveSlave(Drive(SERVO, LAPPED, profile), "drive", rotary)
    start = {"load": 6e3, "length": 1.8}
    described.start({**start, "speed": 0.25, "control": 0.125})
    plain.start({**start, "speed": 0.25, "control": 0.125})
    plain.program.last_step = h
    for k in range(3):
        for name in plain.outputs:
            assert described.get(name) == pytest.approx(plain.get(name), rel=2e-5, abs=1e-12), (
                k,
                name,
            )
        assert described.get("length") == pytest.approx(plain.program.length, rel=1e-12)
        described.step(k * h, h)
        plain.step(k * h, h)
    assert plain.get("pressure_a") < 0.7 * 28e5 and plain.get("pressure_b") > 60e5, (
        "the relief valve has opened"
    )
    told = {name: described.units[name] for name in plain.outputs if name in described.units}
    assert (
        told == {name: plain.units[name] for name in plain.outputs if name in plain.units}
        and ("N.m" in told.values()) == rotary
    )


def test_sign_rules_of_drive_parameters():
    parameters = drive_description(Drive(SERVO, LAPPED))["parameters"]
    free = {name for name, entry in parameters.items() if "min" not in entry}
    assert free == {
        "cylinder.shortest",
        "cylinder.longest",
        "valve.overlap",
        "load",
        "end_stiffness",
    }
    assert {entry["min"] for entry in parameters.values() if "min" in entry} == {
        0.0
    } and parameters["load"]["value"] == 0.0
    assert points(((2.0, 7.0),)) == {"x": [0.0, 1.0], "y": [7.0, 7.0]} and points(()) == {
        "x": [0.0, 1.0],
        "y": [0.0, 0.0],
    }
    assert points(((2.0, 7.0), (3.0, 5.0))) == {"x": [2.0, 3.0], "y": [7.0, 5.0]}
    pid = controller_description(Controller(Pid()))["parameters"]
    assert {name for name, entry in pid.items() if "min" not in entry} == {
        f"pid.{n}" for n in ("gain", "feed_forward", "bias", "lower", "upper")
    }
    assert {entry["min"] for entry in pid.values() if "min" in entry} == {0.0}
    assert units_of_controller("rad")["target_speed"] == "rad/s" and set(units_of_controller("")) == set(units_of_controller("rad")) - {
        "measured", "target", "target_speed", "setpoint", "error", "integral",
    }  # fmt: skip
