"""FMUs under a master: the drive's own archive, and units that refuse."""

from pathlib import Path

import pytest

from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.drive_fmu import build_drive_fmu
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.oil import Cylinder, Valve
from kinetree.scripts.cosim.slave import CosimError


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drive = Drive(Cylinder(), Valve(), ((0.0, 0.0), (0.05, 0.5)))
    return build_drive_fmu(drive, tmp_path_factory.mktemp("drive") / "drive.fmu")


def test_archive_is_the_drive(archive: Path):
    """The same module runs in both, at the same times up to their rounding; a restored state repeats the numbers exactly."""
    drive = Drive(Cylinder(), Valve(), ((0.0, 0.0), (0.05, 0.5)))
    drive.settle(1.2, 1e4)
    slave = FmuSlave(archive, "drive")
    slave.start({"load": 1e4, "length": 1.2})
    for k in range(5):
        slave.set("speed", 0.1)
        drive.speed, drive.time = 0.1, 0.01 * k
        state = slave.save()
        slave.step(0.01 * k, 0.01)
        drive.step(0.01)
        once = slave.get("force")
        slave.restore(state)
        slave.step(0.01 * k, 0.01)
        assert slave.get("force") == once == pytest.approx(drive.force, rel=1e-12)
    slave.close()


def test_step_out_of_the_stroke_is_named(archive: Path):
    slave = FmuSlave(archive, "drive")
    slave.start({"load": 1e4, "length": 1.2})
    slave.set("speed", 1e3)
    with pytest.raises(CosimError, match="drive (failed in|discarded) the step of 0.01 s at t = 0 s.*outside of its stroke"):
        slave.step(0.0, 0.01)
    slave.close()


def test_values_that_are_no_numbers_are_named(archive: Path):
    slave = FmuSlave(archive, "drive")
    slave.start({})
    with pytest.raises(CosimError, match="drive.speed is given nan"):
        slave.set("speed", float("nan"))
    slave.close()


def test_a_discarded_step_is_said(archive: Path, monkeypatch: pytest.MonkeyPatch):
    slave = FmuSlave(archive, "drive")
    slave.start({})

    def discard(target: float) -> None:
        raise slave.failure("fmi2DoStep", 2)

    monkeypatch.setattr(slave.host, "step", discard)
    with pytest.raises(CosimError, match="drive discarded the step of 0.01 s at t = 0 s.*smaller"):
        slave.step(0.0, 0.01)
    slave.close()
