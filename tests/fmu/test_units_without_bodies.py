"""Descriptions without bodies as FMUs: laws alone, states, events that sample, circuits, the drive and the controller of the couplings."""

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import ModelError, load
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.pack_drives import build_controller_fmu, build_drive_fmu
from kinetree.scripts.cosim.position_controller import Controller, Pid
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.fmi.bare_c_host import BareHost
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.verify import verify
from kinetree.solvers.library.platforms import PLATFORMS

GAIN: dict[str, Any] = {
    "name": "Gain", "parameters": {"k": {"value": 2.0, "tunable": True}}, "inputs": {"u": {"start": 1.5}}, "outputs": {"y": {"value": "k*u"}},
}  # fmt: skip
LAG: dict[str, Any] = {
    "name": "Lag", "parameters": {"tau": 0.1}, "inputs": {"u": {"start": 1.0}}, "states": {"x": {"rate": "(u - x)/tau"}},
    "outputs": {"y": {"value": "2*x + u"}},
}  # fmt: skip
SAMPLER: dict[str, Any] = {
    "name": "Sampler", "parameters": {"period": 0.1}, "inputs": {"u": {"start": 0.0}},
    "states": {"held": {"rate": 0}, "following": {"rate": 0, "start": "period"}},
    "events": {"sample": {"when": "t > following", "set": {"held": "u + sin(t)", "following": "following + period"}}},
}  # fmt: skip


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("description", [GAIN, LAG, SAMPLER], ids=["gain", "lag", "sampler"])
def test_controller_without_mechanism_becomes_fmu(
    description: dict[str, Any], fmi: int, tmp_path: Path
):
    """A description without bodies was refused unless it had states; co-simulation, model exchange, steps and states are those of any other."""
    path = build_fmu(
        load(description | {"run": {"stop_time": 1.0, "output_step": 0.02}}),
        tmp_path / "unit.fmu",
        "native",
        fmi,
    )
    report = verify(path)
    assert report.good, [check for check in report.checks if not check.good]
    told = {check.what: check.result for check in report.checks}
    assert {
        "co-simulation",
        "model exchange (CVode)",
        "after a reset",
        "two instances, step by step",
        "4 rewinds over all stages",
        "growing steps",
    } <= told.keys()
    if fmi == 2:
        assert "largest deviation" in told["empty environment, awkward folder"]
    assert ("k changed at run time" in told) == (description is GAIN)


@pytest.mark.parametrize("backend", ["native", "python"])
def test_law_lag_and_sampler_fmu_match_formulas(backend: str, tmp_path: Path):
    with Archive(build_fmu(load(GAIN), tmp_path / "gain.fmu", backend)) as archive:
        host = Host(archive).start({"u": 3.0})
        assert host.get(["y"]) == [6.0]
        host.set({"u": -1.0, "k": 4.0})
        assert host.get(["y"]) == [-4.0]
        host.close()
    with Archive(build_fmu(load(LAG), tmp_path / "lag.fmu", backend)) as archive:
        host = Host(archive).start()
        host.step(0.05)
        assert host.get(["x", "y"]) == pytest.approx(
            [1.0 - math.exp(-0.5), 3.0 - 2.0 * math.exp(-0.5)], rel=1e-8
        )
        host.close()
    with Archive(build_fmu(load(SAMPLER), tmp_path / "sampler.fmu", backend)) as archive:
        host = Host(archive).start()
        host.step(0.35)
        assert host.get(["held"]) == pytest.approx([math.sin(0.3)], abs=1e-9) and host.integers(
            ["events"]
        ) == [3]
        host.close()


def test_empty_description_is_refused():
    with pytest.raises(ModelError, match="at least one, or states, outputs or a hydraulic circuit"):
        load({"name": "Nothing", "inputs": {"u": 0.0}})


def test_outputs_may_have_names_of_mechanical_quantities():
    """Expressions read force('NAME') and reaction('NAME'): an output by that name is no ambiguity, a state or an input would be."""
    system = load(LAG | {"outputs": {"force": {"value": "3*x", "unit": "N"}}}).compile()
    assert system.simulate(1.0)["force"][-1] == pytest.approx(
        3.0 * (1.0 - math.exp(-10.0)), rel=1e-6
    )
    with pytest.raises(ModelError, match="'force' has a meaning in expressions"):
        load(LAG | {"inputs": {"u": 1.0, "force": 0.0}})


def test_drive_and_controller_need_no_python(tmp_path: Path):
    """Their archives held the texts of Python modules; a C host with an empty environment runs them now, bit for bit as fmpy."""
    files = [
        build_drive_fmu(
            Drive(Cylinder(), Valve(), ((0.0, 0.0), (0.01, 0.5))),
            tmp_path / "drive.fmu",
            horizon=1e-3,
        ),
        build_controller_fmu(
            Controller(Pid(gain=3.0, integral_time=0.2)), tmp_path / "controller.fmu", period=1e-3
        ),
    ]
    for path, names in zip(
        files, (["pressure_a", "force", "resting_rate"], ["command", "integral"]), strict=True
    ):
        with zipfile.ZipFile(path) as archive:
            assert not [
                name for name in archive.namelist() if name.endswith(".py") or "pythonfmu" in name
            ]
        with Archive(path) as archive:
            bare = BareHost(archive, PLATFORMS["linux64"], names)
            host = Host(archive).start()
            for k in range(20):
                host.fmu.doStep(k * 1e-3, 1e-3)
            assert bare.values("run", 1e-3, 20) == host.get(names)
            host.close()


def test_valve_flows_use_mean_spool_position(tmp_path: Path):
    """With the oil at the partner: x = 1 - exp(-t/T) after a step of the command, its mean over the second millisecond by integration."""
    valve, h = Valve(time_constant=2e-3), 1e-3
    drive = Drive(Cylinder(), valve, ((0.0, 0.5), (1.0, 0.5)), inside=True)
    with Archive(build_drive_fmu(drive, tmp_path / "valve.fmu", horizon=h)) as archive:
        host = Host(archive).start({"pressure_a": 100e5, "pressure_b": 60e5})
        for k in (1, 2):
            host.step(k * h)
            ends = np.exp(-np.array([k - 1, k]) * h / valve.time_constant)
            mean = 0.5 * (1.0 - valve.time_constant / h * (ends[0] - ends[1]))
            assert host.get(["mean_spool", "flow_a", "flow_b"]) == pytest.approx(
                [mean, *valve.flows(mean, 100e5, 60e5)], rel=1e-6
            )
        host.close()


def test_sample_at_step_end_belongs_to_that_step(tmp_path: Path):
    """The host's times are sums: samples at multiples of the period would be a step late by rounding."""
    controller = Controller(Pid(gain=2.0, lower=-1e3, upper=1e3))
    with Archive(build_controller_fmu(controller, tmp_path / "c.fmu", period=0.1)) as archive:
        host, t = Host(archive).start(start_time=0.7), 0.7
        for k in range(1, 60):
            host.set({"measured": float(k)})
            t += 0.1
            host.step(t)
            assert host.get(["command"]) == [-2.0 * k]
        host.close()
