"""A drive on the boom's actuator, by every scheme, beside one system that holds both sides."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinetree.scripts.cli import main
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.scenario_verdict import BAR, run_coupled
from kinetree.scripts.cosim.step_size_control import ControlSpec
from kinetree.scripts.cosim.valve_cylinder import Cylinder, DriveError, Valve

BOOM = read_scenario("lib:boom")


def error_of(scheme: str, step: float, stop: float = 1.2) -> float:
    """Largest pressure error in bar of a stable run."""
    outcome = run_coupled(BOOM, scheme, step, stop)
    assert outcome.trace.stable, outcome.trace.message
    return outcome.peak_pressure_error / BAR


@pytest.mark.parametrize("scheme", ["told", "chambers"])
def test_long_steps_stay_accurate_with_stiffness(scheme: str):
    """20 ms are 2.3 radians of the oil's oscillation."""
    assert error_of(scheme, 0.02) < 8.0
    assert error_of(scheme, 0.005) < 2.0


@pytest.mark.parametrize(
    ("scheme", "order"), [("told", 2.0), ("chambers", 1.0), ("jacobian", 2.0), ("sequential", 1.0)]
)
def test_schemes_converge_to_monolithic_solution(scheme: str, order: float):
    """Half the step, at least 2^order less error, half an order of slack: the masters and the reference solve the same equations."""
    coarse, fine = error_of(scheme, 0.002, 0.6), error_of(scheme, 0.001, 0.6)
    assert coarse / fine > 2.0 ** (order - 0.5) and fine < 0.5


@pytest.mark.parametrize(
    ("scheme", "step"),
    [("held", 0.001), ("held", 0.02), ("sequential", 0.02), ("slope", 0.02), ("repeat", 0.02)],
)
def test_unstable_coupling_is_reported(scheme: str, step: float):
    trace = run_coupled(BOOM, scheme, step, 2.0).trace
    assert (
        not trace.stable
        and "unstable" in trace.message
        and "smaller step" in trace.message
        and trace.time[-1] < 2.0
    )


def test_interface_jacobian_generates_no_energy():
    """Both sides use the same trapezoidal values: the works agree up to the residual of Newton's method, 1e-9 of about 1 kJ and 100 steps."""
    residual = run_coupled(BOOM, "jacobian", 0.01, 1.0).trace.energy_residual
    assert abs(residual[-1]) < 1e-9 * 1e3 * 100


def test_step_control_finds_stable_steps():
    """Ramps at fixed steps of 10 ms diverge; under control of the residual power most of the run is stepped so far apart, and it stays near."""
    controlled = run_coupled(
        replace(BOOM, control=ControlSpec(0.003, largest=0.01)), "slope", 0.001, 2.0
    )
    steps = np.diff(controlled.trace.time)
    assert controlled.trace.stable and controlled.peak_pressure_error / BAR < 8.0
    assert steps.max() == pytest.approx(0.01) and steps.min() < 1e-3 and steps.size < 1000
    assert not run_coupled(BOOM, "slope", 0.01, 2.0).trace.stable


def test_closed_drive_equals_its_reported_stiffness():
    """With the valve closed the force follows dF/ds as long as the travel is small: second order in the travel."""
    drive = Drive(Cylinder(), Valve())
    drive.settle(1.2, 1e4)
    before, told = drive.force, drive.stiffness
    travel, h = 1e-5, 1e-3
    drive.speed = travel / h
    drive.step(h)
    assert drive.length == pytest.approx(1.2 + travel, rel=1e-12)
    # relative second-order term: travel (A_a/V_a + A_b/V_b) ~ 1e-5 * 3/m
    assert drive.force - before == pytest.approx(told * travel, rel=1e-4)


def test_drive_starts_in_equilibrium_under_load():
    drive = Drive(Cylinder(), Valve())
    drive.settle(1.2, 1e4)
    assert drive.force == pytest.approx(1e4) and drive.force_rate == 0.0


def test_drive_rollback_is_exact():
    drive = Drive(Cylinder(), Valve(), ((0.0, 0.0), (0.1, 0.5)))
    drive.settle(1.2, 1e4)
    drive.speed = 0.05
    drive.step(0.02)
    state = drive.save()
    drive.step(0.01)
    once = drive.save()
    drive.restore(state)
    drive.step(0.01)
    assert drive.save() == once


def test_air_softens_oil():
    """Without pressure the bubbles decide, under high pressure the oil: between isothermal-like polytropic gas and the oil's own modulus."""
    oil, mixed = Cylinder(), Cylinder(air=0.02)
    assert mixed.modulus(1e5) < 1.4 * 1e5 * (1 + 1 / 0.02) < 0.01 * oil.bulk_modulus
    assert mixed.modulus(300e5) > 0.9 * oil.bulk_modulus


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"bulk_modulus": 0.0}, "bulk_modulus is 0"),
        ({"area_a": math.nan}, "area_a is nan"),
        ({"longest": 0.5}, "longest length 0.5 m is not above"),
    ],
)
def test_impossible_cylinders_are_refused(change: dict, text: str):
    with pytest.raises(DriveError, match=text):
        Cylinder(**change)


def scenario_file(folder: Path, text: str) -> str:
    path = folder / "scenario.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[units.m]\ndescription = 'lib:boom'\n[units.d.drive]\ncylinder = { bulk_modulus = 0 }\n[coupling]\nmechanism = 'm'\ndrive = 'd'",
            "bulk_modulus is 0",
        ),
        (
            "[units.m]\ndescription = 'lib:boom'\n[units.d.drive]\n[coupling]\nmechanism = 'm'\ndrive = 'd'\nactuator = 'left'",
            "no actuator 'left'",
        ),
        (
            "[units.m]\ndescription = 'lib:boom'\nfmu = 'x.fmu'",
            "exactly one of description, fmu, drive",
        ),
        (
            "[units.m]\ndescription = 'lib:boom'\n[[wires]]\nfrom = 'm.lift.spede'\nto = 'm.lift.force'",
            "no output 'lift.spede'",
        ),
        (
            "[units.m]\ndescription = 'lib:boom'\n[coupling]\nmechanism = 'm'\nscheem = 'told'",
            "unknown key",
        ),
        (
            "[units.m]\ndescription = 'lib:boom'\n[units.d]\nfmu = 'd.fmu'\n[coupling]\nmechanism = 'm'\ndrive = 'd'",
            "unit 'd' has no drive",
        ),
        (
            "[units.m]\nfmu = 'm.fmu'\n[units.d.drive]\n[coupling]\nmechanism = 'm'\ndrive = 'd'",
            "unit 'm' has no description",
        ),
        (
            "[units.m]\ndescription = 'lib:boom'\n[coupling]\nmechanism = 'm'",
            "coupling.drive: there is no unit 'drive'; units: m",
        ),
        (
            "format = 'kinetree/1'\n[bodies.rod]\nmass = 1",
            "describes a mechanism, not a scenario of coupled units: run it by `kinetree run",
        ),
        (
            "step_size = 2\nstop_time = 1\n[units.m]\ndescription = 'lib:boom'",
            "a communication step of 2 s is longer than the run of 1 s",
        ),
        (
            "scheme = 'told'\n[units.m]\ndescription = 'lib:boom'",
            "scheme told needs a wire from the stiffness of every drive to ACTUATOR.stiffness",
        ),
        ("step_size = -1\n[units.m]\ndescription = 'lib:boom'", "expected a positive number"),
    ],
)
def test_coupling_mistakes_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture, text: str, said: str
):
    assert main(["cosim", scenario_file(tmp_path, text), "--units", "process"]) == 2
    assert said in capsys.readouterr().err


def test_unconnected_inputs_are_reported(tmp_path: Path):
    text = "stop_time = 0.02\n[units.m]\ndescription = 'lib:boom'\n[[wires]]\nfrom = 'm.lift.speed'\nto = 'm.lift.damping'"
    report = tmp_path / "report.json"
    assert (
        main(
            [
                "cosim",
                scenario_file(tmp_path, text),
                "--units",
                "process",
                "--json",
                str(report),
                "-q",
            ]
        )
        == 0
    )
    notes = json.loads(report.read_text())["notes"]
    assert any("lift.force is never connected" in note for note in notes) and not any(
        "lift.damping is" in note for note in notes
    )


@pytest.mark.parametrize("scheme", ["slope", "told", "repeat", "jacobian"])
def test_coupled_fmus_match_units_in_process(scheme: str):
    """The drive of this process steps by 0.25 ms and holds its command at their middles: on a ramp of 6/s that moves the spool by 6 h2/(12 T) = 3e-6.

    Oil of 6e-4 m3/s * 3e-6 for 0.2 s in 1e-3 m3 of 1.4e9 Pa is 5e-3 bar.
    """
    here, there = (
        run_coupled(BOOM, scheme, 0.005, 0.5, kind).trace for kind in ("process", "native")
    )
    assert np.abs(there["pressure_a"] - here["pressure_a"]).max() / BAR < 5e-3


@pytest.mark.slow
def test_coupled_fmus_of_both_back_ends_agree():
    """FMUs of the Python back end take no slopes; the scheme told needs none."""
    here, there = (
        run_coupled(BOOM, "told", 0.01, 1.0, kind).trace for kind in ("native", "python")
    )
    assert np.abs(there["pressure_a"] - here["pressure_a"]).max() / BAR < 1e-6
