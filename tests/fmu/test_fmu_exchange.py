"""Model exchange through fmpy and CVode: announced corners, loops without events."""

from pathlib import Path

import fmpy
import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory):
    """Archives by model and version, each built once."""
    folder, built = tmp_path_factory.mktemp("exchange"), {}

    def of(model: str, fmi: int) -> Path:
        if (model, fmi) not in built:
            built[model, fmi] = folder / f"{model.removeprefix('lib:')}-{fmi}.fmu"
            build_fmu(load(model), built[model, fmi], backend="native", fmi=fmi)
        return built[model, fmi]

    return of


def exchanged(path: Path, tolerance: float, stop: float, *names: str) -> np.ndarray:
    return fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=stop,
        output_interval=stop / 20,
        relative_tolerance=tolerance,
        output=list(names),
    )


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_command_after_rest_is_executed(archive, fmi: int, tolerance: float):
    """The valve opens for some seconds; a host that steps over the corners never moves the boom at all."""
    own = load("lib:boom-drive").compile().simulate(10.0, output_step=10.0)
    found = exchanged(archive("lib:boom-drive", fmi), tolerance, 10.0, "luff")
    assert abs(own["luff"][-1] - own["luff"][0]) > 0.05
    assert found["luff"][-1] == pytest.approx(own["luff"][-1], abs=20 * tolerance)


@pytest.mark.parametrize("fmi", [2, 3])
def test_closed_loops_cause_no_events(archive, fmi: int):
    """One row per output and none for events; gaps within a few tolerances of CVode, whose absolute tolerance is as large as the relative one."""
    found = exchanged(
        archive("lib:four-bar", fmi), 1e-6, 2.0, "phi", "constraint_residual", "events"
    )
    own = load("lib:four-bar").compile().simulate(2.0, output_step=2.0, tolerance=1e-10)
    assert len(found) == 21 and found["events"][-1] == 0
    assert found["constraint_residual"].max() < 5e-6
    assert found["phi"][-1] == pytest.approx(own["phi"][-1], abs=1e-3)
