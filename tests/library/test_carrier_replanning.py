"""A salvo that plans its next departure by what it has measured of the last one."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.language.errors import ModelError
from kinetree.scripts.fmi.fmpy_host import Archive, Host

HALF = {"advance": 1.0, "slew_advance": 0.5, "luff_advance": 0.5}  # half of the load is known


def largest(result, axis: str) -> np.ndarray:
    """Largest deviation of an angle from the start, by departure [rad]."""
    phase = np.array([*result.phases, ""])[result["stage"].astype(int)]
    away = np.abs(result[axis] - result[axis][0])
    return np.array([away[phase == name].max() for name in dict.fromkeys(result.phases) if name])


def test_replanned_departures_after_the_first_deviate_less():
    as_it_is, planned = (
        load("lib:carrier", drives=1, modules=3, replan=switch).compile(**HALF).simulate()
        for switch in (0, 1)
    )
    for axis in ("slew", "luff"):
        before, after = largest(as_it_is, axis), largest(planned, axis)
        assert after[0] == pytest.approx(before[0], rel=1e-6)
        assert (after[1:] < 0.8 * before[1:]).all()
        assert 0.6 < planned[f"{axis}_size"][-1] < 1.2
    pushes = [change.time for change in planned.stage_changes if change.stage % 2 == 0]
    assert all(0.5 < b - a - 0.55 < 1.6 for a, b in zip(pushes, pushes[1:], strict=False))


def test_replanning_without_new_information_keeps_openings():
    system = load("lib:carrier", drives=1, modules=2, replan=1)
    kept, planned = (system.compile(**HALF, learn=learn).simulate() for learn in (0.0, 1.0))
    assert kept["slew_size"][-1] != 0.5
    assert largest(kept, "luff")[1] > 1.1 * largest(planned, "luff")[1]


@pytest.mark.parametrize("settings", [{"drives": 0}, {"drives": 3}, {"drives": 1, "cylinders": 1}])
def test_drives_without_planning_are_refused(settings: dict):
    with pytest.raises((ModelError, ValueError), match="replan is 1"):
        load("lib:carrier", replan=1, **settings)


@pytest.mark.slow
def test_carrier_fmu_replans_at_its_events(tmp_path: Path):
    mechanism = load("lib:carrier", drives=1, modules=2, replan=1, **HALF)
    build_fmu(mechanism, tmp_path / "carrier.fmu", "native", "2")
    expected = mechanism.compile().simulate(stop_time=3.0, output_step=0.01)
    with Archive(tmp_path / "carrier.fmu") as archive:
        host = Host(archive).start()
        for k in range(1, 301):
            host.step(0.01 * k)
            if k % 50 == 0:
                names = ["luff", "slew", "luff_size", "slew_size"]
                assert host.get(names) == pytest.approx(
                    [expected[name][k] for name in names], rel=1e-5, abs=1e-8
                )
        assert host.get(["luff_advance"])[0] == pytest.approx(expected["luff_size"][-1], rel=1e-5)
        host.fmu.terminate()
        host.fmu.freeInstance()
