"""FMUs that begin at any time and are stepped by any length: samples and fast conditions as in runs of our own."""

import numpy as np
import pytest
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive

HELD = {
    "format": "kinetree/1",
    "name": "held",
    "gravity": [0, 0, 0],
    "bodies": {"b": {"mass": 1.0}, "r": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {
        "j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": [1.0]},
        "k": {"child": "r", "type": "revolute", "coordinates": ["q"], "speed": ["2*pi*10"]},
    },
    "actuators": {"m": {"coordinate": "x"}},
    "controllers": {
        "c": {"measure": "x", "kp": 60.0, "ki": 20.0, "kd": 9.0, "filter": 0.02, "drives": "m", "period": 0.01}
    },
    "states": {"n": {"rate": 0}},
    "events": {"tick": {"when": "sin(q) > 0.5", "set": {"n": "n + 1"}}},
    "outputs": {"X": {"value": "x"}, "turns": {"value": "n"}, "samples": {"value": "c.samples"}},
}  # fmt: skip


@pytest.fixture(scope="module", params=["native", "source"])
def archive(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("times") / f"{request.param}.fmu"
    build_fmu(load(HELD), path, request.param)
    with Archive(path) as opened:  # sources are compiled there
        yield str(opened.folder)


@pytest.mark.parametrize("begin", [-1e6, -2.0, 0.0, 100.0, 123.456, 1e6])
def test_fmu_results_do_not_depend_on_start_time_and_steps(archive, begin):
    expected = load(HELD).compile().simulate(stop_time=1.0, output_step=0.5)
    for step in (0.01, 0.1, 0.5):
        found = simulate_fmu(
            archive,
            start_time=begin,
            stop_time=begin + 1.0,
            output_interval=step,
            step_size=step,
            output=["X", "turns", "samples"],
            fmi_type="CoSimulation",
        )
        assert found["samples"][-1] == 100 and found["turns"][-1] == 10, step
        assert found["X"][-1] == pytest.approx(expected["X"][-1], abs=1e-6 + 1e-11 * abs(begin))


@pytest.mark.parametrize("begin", [-2.0, 100.0, 1e4])
def test_model_exchange_hosts_are_told_sample_times(archive, begin):
    """Model exchange by fmpy's integrator: samples are time events, so that none is missed from any start.

    The end lies between two samples, so that the host's rounding of times adds none.
    """
    expected = load(HELD).compile().simulate(stop_time=0.995, output_step=0.995)
    found = simulate_fmu(
        archive,
        start_time=begin,
        stop_time=begin + 0.995,
        output_interval=0.0199,
        relative_tolerance=1e-8,
        output=["X", "samples"],
        fmi_type="ModelExchange",
    )
    assert found["samples"][-1] == 100
    assert found["X"][-1] == pytest.approx(expected["X"][-1], abs=1e-5)
    assert np.isfinite(found["X"]).all()
