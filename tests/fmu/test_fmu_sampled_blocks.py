"""Predictive controllers and observers in FMUs: the commands and estimates of a run, in every back end."""

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.verify import verify

PLANNED = {
    "format": "kinetree/1",
    "name": "planned",
    "bodies": {"trolley": {"mass": 5.0}, "load": {"mass": 8.0, "com": [0, 0, -1.5]}},
    "joints": {
        "travel": {"child": "trolley", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
        "rope": {"parent": "trolley", "child": "load", "type": "revolute", "axis": "y", "coordinates": ["swing"]},
    },
    "actuators": {"drive": {"coordinate": "x"}},
    "observers": {
        "watch": {
            "period": 0.05,
            "readings": [{"value": "x", "noise": 1e-3}, {"value": "swing", "noise": 1e-3}],
            "estimates": {"x": "x", "swing": "swing", "v": "der(x)", "rate": "der(swing)"},
        }
    },
    "controllers": {
        "mpc": {
            "period": 0.05, "horizon": 8, "step": 0.1, "observer": "watch",
            "track": [{"value": "x", "setpoint": 0.5}, {"value": "swing", "weight": 5.0}],
            "commands": {"force": {"drives": "drive", "low": -40, "high": 40, "rate": 400, "weight": 1e-4}},
        }
    },
    "run": {"stop_time": 1.0, "output_step": 0.02},
}  # fmt: skip


@pytest.mark.parametrize(("backend", "fmi"), [("native", 2), ("native", 3)])
def test_native_fmu_predictive_control_and_observer_match_run(tmp_path, backend: str, fmi: int):
    path = build_fmu(load(PLANNED), tmp_path / "planned.fmu", backend, fmi)
    report = verify(path)
    assert report.good, [check for check in report.checks if not check.good]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["python", "source"])
def test_other_back_ends_predictive_control_and_observer_match_run(tmp_path, backend: str):
    path = build_fmu(load(PLANNED), tmp_path / "planned.fmu", backend, 2)
    report = verify(path)
    assert report.good, [check for check in report.checks if not check.good]


def test_saved_state_contains_plan_and_covariance(tmp_path):
    """From a state that was saved and restored the same motion follows once more."""
    path = build_fmu(load(PLANNED), tmp_path / "planned.fmu", "native", 2)
    with Archive(path) as archive:
        host = Host(archive).start({})
        for k in range(1, 11):
            host.step(0.05 * k)
        saved = host.save()
        ends = []
        for _ in range(2):
            for k in range(11, 21):
                host.step(0.05 * k)
            ends.append(host.get(["x", "mpc", "watch.rate", "watch.rate.std"]))
            host.restore(saved)
        host.fmu.freeInstance()
    assert np.array_equal(ends[0], ends[1])
