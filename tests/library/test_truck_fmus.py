"""The truck as FMUs in fmpy, in each way: it drives over a bump, brakes on a slope to a true stop, lifts itself on its jacks."""

from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from test_truck import CORNERS, MASS, G

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

WAYS = {
    "native, co-simulation": ("native", "CoSimulation"),
    "native, model exchange": ("native", "ModelExchange"),
    "pythonfmu, co-simulation": ("python", "CoSimulation"),
}
LOADS, JACKS, TRACTION = (
    [f"{word}_{corner}" for corner in CORNERS] for word in ("load", "jack_load", "traction")
)


def driven(trip: int, way: str, stop: float, folder: Path, **settings: float):
    """Columns of the trip by a host."""
    backend, kind = WAYS[way]
    path = folder / "truck.fmu"
    build_fmu(load("lib:truck", trip=trip, **settings), path, backend)
    names = ["x", "der(x)", "heave", "crane_slew", "wheels_off_ground", *LOADS, *JACKS, *TRACTION]
    return simulate_fmu(
        str(path),
        fmi_type=kind,
        stop_time=stop,
        output_interval=0.02,
        relative_tolerance=1e-7,
        output=names,
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_truck_fmu_drives_over_bump(way: str, tmp_path: Path):
    """The front wheels carry more where they are over it, then the rear ones, and before neither."""
    run = driven(1, way, 9.0, tmp_path)
    for name, ahead in (("load_front_left", 2.6), ("load_rear_left", -1.6)):
        over = np.abs(run["x"] + ahead - 14.0) < 0.8
        assert run[name][over].max() > 1.4 * run[name][0]
        before = (run["x"] > 6.0) & (run["x"] + max(ahead, 0.0) < 12.0)
        assert np.abs(run[name][before] - run[name][0]).max() < 0.3 * run[name][0]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_truck_fmu_brakes_to_full_stop(way: str, tmp_path: Path):
    """It rolls, is braked, and then does not move for ten seconds; its patches carry the slope's share of the weight."""
    run = driven(2, way, 40.0, tmp_path)
    assert run["der(x)"].min() < -1.5
    last = run["time"] >= 30.0
    assert np.ptp(run["x"][last]) < 2e-5 and np.abs(run["der(x)"][last]).max() < 1e-4
    assert sum(run[name][-1] for name in TRACTION) == pytest.approx(
        MASS * G * np.sin(np.arctan(0.12)), rel=0.02
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_truck_fmu_lifts_itself_on_jacks(way: str, tmp_path: Path):
    """From four wheels on the ground to none; the jacks carry truck and load, while the crane turns."""
    run = driven(3, way, 20.0, tmp_path)
    assert (run["wheels_off_ground"][0], run["wheels_off_ground"][-1]) == (0.0, 4.0)
    still = run["time"] > 18.0
    assert sum(run[name][still] for name in LOADS).max() == 0.0
    jacks = np.array([run[name][still] for name in JACKS])
    assert jacks.sum(axis=0) == pytest.approx((MASS + 750) * G, rel=0.01) and jacks.min() > 0.0
    assert run["heave"][-1] - run["heave"][0] > 0.2 and run["crane_slew"][-1] == pytest.approx(
        1.6, abs=0.01
    )
