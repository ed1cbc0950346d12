"""FMUs under a master: the drive's own archive, and units that refuse."""

import math
import os
import pickle
import struct
import zlib
from pathlib import Path

import pytest
from fmpy.fmi1 import FMICallException

from kinetree.scripts.cli import main
from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.pack_drives import build_drive_fmu
from kinetree.scripts.cosim.run_master import cosimulate
from kinetree.scripts.cosim.slave import CosimError
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.fmi.fmpy_host import Archive, Host


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drive = Drive(Cylinder(), Valve(), ((0.0, 0.0), (0.05, 0.5)))
    return build_drive_fmu(drive, tmp_path_factory.mktemp("drive") / "drive.fmu")


def test_drive_fmu_matches_drive_class(archive: Path):
    """Its laws are those of the program, whose steps hold the command at their middle: 6e-6 of the stroke on a ramp of 10/s, 6e-6 of the force.

    A restored state repeats the numbers exactly.
    """
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
        assert slave.get("force") == once == pytest.approx(drive.force, rel=2e-5)
    slave.close()


def test_piston_stops_at_stroke_ends(archive: Path):
    """Beyond them the force is that of the end stops: stiffness times length, and the told stiffness has theirs."""
    slave = FmuSlave(archive, "drive")
    slave.start({"load": 1e4, "length": 1.599})
    slave.set("speed", 0.5)
    slave.step(0.0, 0.01)
    c = Cylinder()
    spring = 10.0 * c.bulk_modulus * (c.area_a**2 / c.volume_a + c.area_b**2 / c.volume_b)
    beyond = slave.get("length") - c.longest
    assert beyond == pytest.approx(0.004, rel=1e-6)
    oil = c.force(slave.get("pressure_a"), slave.get("pressure_b"))
    assert slave.get("force") == pytest.approx(oil - spring * beyond, rel=1e-9)
    assert slave.get("stiffness") == pytest.approx(
        c.stiffness(c.longest, 0.0, 0.0) - spring, rel=1e-9
    )
    slave.close()


def test_non_finite_drive_inputs_are_named(archive: Path):
    slave = FmuSlave(archive, "drive")
    slave.start({})
    with pytest.raises(CosimError, match="drive.speed is given nan"):
        slave.set("speed", float("nan"))
    slave.close()


def started(archive: Path) -> tuple[Archive, Host]:
    opened = Archive(archive)
    return opened, Host(opened).start({"load": 1e4, "length": 1.2})


def test_drive_state_is_serialised_as_numbers(archive: Path, tmp_path: Path):
    """Bytes of a host were unpickled: a crafted state ran a command. They are numbers with a checksum; what is none of ours changes nothing."""
    opened, host = started(archive)
    with opened:
        host.step(0.01)
        state = host.save()
        data = host.serialized(state)
        host.step(0.02)
        force = host.get(["force"])

        class Command:
            def __reduce__(self):
                return os.system, (f"touch {tmp_path / 'ran'}",)

        forged = pickle.dumps(Command())
        for wrong in (
            forged,
            forged + struct.pack("<q", zlib.crc32(forged)),
            b"",
            bytes(40),
            data[:-8],
            data[:50] + b"?" + data[51:],
        ):
            with pytest.raises(FMICallException, match="status 3"):
                host.restore(host.parsed(wrong, 0.02))
            assert host.get(["force"]) == force
        assert not (tmp_path / "ran").exists()
        other = Host(opened).start({"load": 0.0})
        other.restore(other.parsed(data, 0.01))
        other.step(0.02)
        assert other.get(["force"]) == force


def test_host_mistakes_are_reported_without_effect(archive: Path):
    """A step back to t = 0, a change of a fixed parameter during the run, references that do not exist: taken silently, or fatal to the host."""
    opened, host = started(archive)
    with opened:
        host.step(0.01)
        before = host.get(["force", "cylinder.area_a"])
        for begin, size in ((0.0, 0.01), (0.01, -0.01), (0.01, math.nan), (math.nan, 0.01)):
            with pytest.raises(FMICallException, match="status 3"):
                host.fmu.doStep(begin, size)
        for call in (
            lambda: host.set({"cylinder.area_a": 1.0}),
            lambda: host.set({"speed": math.nan}),
            lambda: host.fmu.getReal([4_000_000]),
            lambda: host.fmu.setReal([4_000_000], [1.0]),
        ):
            with pytest.raises(FMICallException, match="status 3"):
                call()
        assert len(host.messages) >= 8
        assert host.get(["force", "cylinder.area_a"]) == before
        host.step(0.02)


def test_impossible_start_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture):
    """The load needs more than the relief valve lets through: the scenario is refused before anything is built."""
    scenario = tmp_path / "scenario.toml"
    scenario.write_text("[units.oil.drive]\n[units.oil.start]\nload = 1e9\nlength = 1.2")
    assert main(["cosim", str(scenario), "--units", "native"]) == 2
    assert "units.oil: the load of 1e+09 N needs" in capsys.readouterr().err


DISCARDING = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Real
from pythonfmu.enums import Fmi2Status


class Impatient(Fmi2Slave):
    def __init__(self, **options):
        super().__init__(**options)
        self.u = self.y = 0.0
        self.register_variable(Real("u", causality=Fmi2Causality.input))
        self.register_variable(Real("y", causality=Fmi2Causality.output))

    def do_step(self, t, h):
        if h > 0.0101:
            self.log("longer than 10 ms", Fmi2Status.discard, None)
            return False
        self.y += h * (1.0 - self.u)
        return True
"""


def test_discarded_step_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture):
    """A foreign FMU of another's pythonfmu script that takes short steps only: it feeds itself, at 10 ms; at 20 ms it says why not."""
    from pythonfmu.builder import FmuBuilder

    script, scenario = tmp_path / "impatient.py", tmp_path / "scenario.toml"
    script.write_text(DISCARDING)
    FmuBuilder.build_FMU(script, dest=tmp_path / "impatient.fmu", needsExecutionTool="false")
    scenario.write_text(
        'stop_time = 0.1\n[units.it]\nfmu = "impatient.fmu"\n[[wires]]\nfrom = "it.y"\nto = "it.u"'
    )
    assert main(["cosim", str(scenario), "--step-size", "0.01"]) == 0
    capsys.readouterr()
    assert main(["cosim", str(scenario), "--step-size", "0.02"]) == 1
    said = capsys.readouterr().out
    assert (
        "it discarded the step of 0.02 s at t = 0 s: longer than 10 ms; it may accept a smaller one"
        in said
    )


@pytest.mark.parametrize("scheme", ["repeat", "jacobian"])
def test_states_of_fmus_are_freed(archive: Path, scheme: str, monkeypatch: pytest.MonkeyPatch):
    """Every state that a step has taken is given back."""
    slave = FmuSlave(archive, "drive")
    slave.start({"load": 1e4, "length": 1.2})
    taken, freed = [], []
    save, forget = slave.host.save, slave.host.forget
    monkeypatch.setattr(slave.host, "save", lambda: taken.append(1) or save())
    monkeypatch.setattr(slave.host, "forget", lambda state: freed.append(1) or forget(state))
    plan = Plan(scheme, (slave,), (Wire(slave, "force_rate", slave, "speed", factor=0.0),))
    cosimulate(plan.make(), 0.05, 0.01, [(slave, "force")])
    slave.close()
    assert len(taken) == len(freed) >= 5


def test_files_that_are_no_fmus_are_named(tmp_path: Path, capsys: pytest.CaptureFixture):
    from zipfile import ZipFile

    scenario = tmp_path / "scenario.toml"
    scenario.write_text('[units.it]\nfmu = "it.fmu"')
    assert main(["cosim", str(scenario)]) == 2 and "no such file" in capsys.readouterr().err
    (tmp_path / "it.fmu").write_text("no archive")
    assert (
        main(["cosim", str(scenario)]) == 2
        and "it.fmu is not an FMU that can be read" in capsys.readouterr().err
    )
    with ZipFile(tmp_path / "it.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", "<fmiModelDescription")
    assert (
        main(["cosim", str(scenario)]) == 2
        and "it.fmu is not an FMU that can be read" in capsys.readouterr().err
    )
