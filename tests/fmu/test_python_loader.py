"""The Python back end in hosts without Python: the loader brings the interpreter, hands calls on, and turns what the slave says into statuses."""

import json
import math
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from stub_unit import stub_shell, stub_unit

from kinetree.fmu.archive.build import pack_unit
from kinetree.scripts import cli
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.pack_drives import build_drive_fmu
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.fmi.bare_c_host import BareHost, HostError
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.solvers.library.platforms import PLATFORMS

LINUX = PLATFORMS["linux64"]
QUESTION = "import os, sysconfig; v = sysconfig.get_config_var; print(os.path.join(v('LIBDIR'), v('INSTSONAME')))"


def shared_python() -> bool:
    """Whether the python3 that the loader finds here has a shared library."""
    for name in ("/usr/local/bin/python3", "/usr/bin/python3"):
        if Path(name).exists():
            library = subprocess.run(
                [name, "-I", "-c", QUESTION], capture_output=True, text=True
            ).stdout.strip()
            if ".so" in library and Path(library).exists():
                return True
    return False


needs_python = pytest.mark.skipif(
    not shared_python(),
    reason="no python3 with a shared library in /usr: apt-get install libpython3-dev",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("loader") / "ü # + 100%41 %20 x"


@pytest.fixture(scope="module")
def bare(folder):
    """The archive unpacked in a folder whose name hosts write in many ways."""
    archive = Archive(
        pack_unit(stub_unit(), folder.parent / "spring.fmu", "python", shell=stub_shell())
    )
    archive.unpack(folder)
    return BareHost(archive, LINUX, ["x"])


def exact(t: float) -> float:
    """m x'' = pull - k x - c x' from x = 0.25 at rest."""
    k, m, c, pull = 40.0, 2.0, 0.5, 3.0
    d, rest = c / (2 * m), pull / k
    w = math.sqrt(k / m - d * d)
    return rest + math.exp(-d * t) * (0.25 - rest) * (math.cos(w * t) + d / w * math.sin(w * t))


@needs_python
def test_python_fmu_runs_in_c_host_with_empty_environment(bare):
    """It ended with `undefined symbol: _Py_NoneStruct`; steps of 1 ms, fourth order."""
    assert bare.values("run", 1e-3, 1000) == pytest.approx([exact(1.0)], abs=1e-9)


@needs_python
@pytest.mark.parametrize("form", ["{}", "{}/", "file://localhost{}", "file:{}"])
def test_loader_reads_resource_locations_of_every_form(bare, folder, form):
    """pythonfmu knows %20 only: others ended the host."""
    from urllib.parse import quote

    plain = str(folder / "resources")
    found = bare.run("run", place=form.format(quote(plain) if "file" in form else plain))
    assert float(found["value"][0]) == pytest.approx(exact(1.0), abs=1e-9)


@needs_python
def test_loader_refuses_misuse_like_native_archive(bare):
    found = {key: values[0] for key, values in bare.run("misuse").items()}
    refused = (
        "early_step",
        "early_terminate",
        "unknown_get",
        "unknown_set",
        "nan",
        "gap",
        "backwards",
        "other_kind",
        "after",
        "null",
    )
    assert [found[key] for key in refused] == ["3"] * len(refused)
    assert [
        found[key]
        for key in (
            "wrong_guid",
            "wrong_folder",
            "good_step",
            "tiny_step",
            "terminate",
            "read",
            "reset",
            "again",
        )
    ] == ["0"] * 8


@needs_python
def test_loader_states_transfer_between_processes_and_threads_agree(bare, tmp_path):
    assert (
        bare.run("save", 1e-3, 200, tmp_path / "state")["value"]
        == bare.run("load", 1e-3, 200, tmp_path / "state")["value"]
    )
    assert len(set(bare.run("threads", 1e-3, 200)["value"])) == 1


@needs_python
def test_host_exit_is_clean(bare):
    """Interpreters that end before what uses them ended hosts by a signal."""
    for _ in range(5):
        assert bare.values("run", 1e-3, 5) == pytest.approx(
            [exact(5e-3)], abs=1e-12
        )  # steps of fourth order: h⁵ = 1e-15 each
    assert int(bare.run("soak", 1e-3, 2000)["grown"][0]) < 2**20


@pytest.mark.parametrize("interpreter", ["/nowhere/python3", "/bin/sh"])
def test_missing_python_is_reported_once(folder, bare, interpreter):
    """No failed load: a message and no instance."""
    (folder / "resources" / "python.txt").write_text(interpreter)
    try:
        found = bare.run("refused")
    finally:
        (folder / "resources" / "python.txt").unlink()
    assert found["refused"] == ["1"]
    assert len(found["message"]) == 1 and "python.txt names cannot be used" in found["message"][0]


@needs_python
def test_drive_fmus_run_in_c_hosts(tmp_path):
    archive = Archive(
        build_drive_fmu(Drive(Cylinder(), Valve()), tmp_path / "drive.fmu", backend="python")
    )
    bare = BareHost(archive, LINUX, ["pressure_a", "force"])
    drive = Drive(Cylinder(), Valve())
    drive.settle(drive.length, 0.0)
    for _ in range(20):
        drive.step(1e-3)
    assert bare.values("run", 1e-3, 20) == pytest.approx([drive.pressure_a, drive.force], rel=1e-9)


def test_archives_are_compressed_and_readable_for_all(tmp_path):
    """The carrier of 50 modules took 22 MB; entries with mode 0600 stay unreadable for others where a host unpacks for all."""
    paths = [
        pack_unit(stub_unit(), tmp_path / "a.fmu", "python", shell=stub_shell()),
        pack_unit(stub_unit(), tmp_path / "b.fmu", "native", shell=stub_shell()),
        build_drive_fmu(Drive(Cylinder(), Valve()), tmp_path / "c.fmu", backend="python"),
    ]
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                assert info.compress_type == zipfile.ZIP_DEFLATED
                assert info.external_attr >> 16 in (0o100644, 0o100755)


def test_an_archive_without_a_binary_for_the_host_is_named(tmp_path):
    archive = Archive(pack_unit(stub_unit(), tmp_path / "a.fmu", "native", shell=stub_shell()))
    for path in (Path(archive.folder) / "binaries" / "linux64").iterdir():
        path.unlink()
    with pytest.raises(HostError, match="no binary for linux64"):
        BareHost(archive, LINUX, ["x"])


SWING = {
    "format": "kinetree/1",
    "parameters": {"m": {"value": 1.2, "tunable": True}, "k": 3.0},
    "bodies": {"a": {"mass": "m", "com": [0.4, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {
        "j": {"child": "a", "transforms": [{"rotate": "y", "coordinate": "p", "start": 0.5}]}
    },
    "forces": {"s": {"coordinate": "p", "value": "-k*p"}},
}
AFTER_AN_FMU = """
import sys, fmpy
from kinetree.models import load
fmpy.simulate_fmu(sys.argv[1], stop_time=1.0, output_interval=0.01)
run = load(sys.argv[2]).compile().simulate(
    stop_time=1.0, integrator="rk4", step=1e-3, output_step=0.01
)
run.gradient("p", ["m", "k"])
"""
OFTEN = 6  # every second process ended badly


@pytest.mark.slow
def test_process_that_continues_after_an_fmu_exits_cleanly(folder, tmp_path):
    """The library of pythonfmu gave memory back twice at the end, which others had by then.

    malloc checks every block; without its library a broken heap shows itself now and then.
    """
    model, archive = tmp_path / "m.json", tmp_path / "m.fmu"
    model.write_text(json.dumps(SWING))
    line = ["fmu", str(model), "--backend", "python", "--platforms", "linux64", "-o", str(archive)]
    assert cli.main(line) == 0
    checked = next(Path("/").glob("*lib/*/libc_malloc_debug.so.0"), None)
    heap = {"LD_PRELOAD": str(checked), "GLIBC_TUNABLES": "glibc.malloc.check=3"}
    for environment in [heap if checked else {}] * OFTEN:
        ended = subprocess.run(
            [sys.executable, "-c", AFTER_AN_FMU, str(archive), str(model)],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        assert ended.returncode == 0, ended.stderr[-300:]
