"""Archives for several platforms in bare C hosts built for each: here, under Wine, under QEMU; `python3 scripts/dev.py platforms` runs it."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.scripts.cli import main
from kinetree.scripts.fmi.bare_c_host import BareHost, why_not
from kinetree.scripts.fmi.component_host import by_component
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.host_programs import FOREIGN, Task, by_mapping
from kinetree.solvers.library.platforms import NATIVE, PLATFORMS, WEBASSEMBLY

pytestmark = pytest.mark.platforms
STEP, COUNT = 2e-3, 50
# driven without end: compared over the published 0.03 s; up to where a contact opens without speed, whose instant roundings of 1e-11 move by 1e-10 s
COUNTS = {"andrews": 14, "woodpecker": 32}
HOSTED = ("linux64", "win64", "aarch64-linux")  # a program of theirs runs here
OTHERS = HOSTED[1:]
# the C libraries differ in the last digit of a sine; a mechanism that is not chaotic makes 1e-9 of it in a tenth of a second
SAME = 1e-9
# J: the residual is a difference of energies, a megajoule each for cranes, and keeps their roundings
ENERGIES = 100.0
# by the roundings of stiff hinges and of oil: forces of 1e5 N on modes that its output shows; and where
# roundings decide how the steps over touches are divided, by the tolerance of the run
STIFF = {"loader-crane": 3e-6, "geneva": 1e-6}


@pytest.fixture(scope="module", params=library_names())
def archive(request, tmp_path_factory):
    """One archive with binaries for every platform."""
    path = tmp_path_factory.mktemp("platforms ü %") / "x.fmu"
    build_fmu(load(f"lib:{request.param}"), path, "native", platforms="all")
    with Archive(path) as opened:
        yield opened, COUNTS.get(request.param, COUNT), STIFF.get(request.param, SAME)


def host_of(archive, name):
    if reason := why_not(PLATFORMS[name]):
        pytest.skip(f"{name}: {reason}")
    return BareHost(archive, PLATFORMS[name], archive.names("output"))


def close(found, expected, names=(), same=SAME):
    expected = np.array(expected)
    least = np.array([ENERGIES if name == "energy_residual" else 1.0 for name in names] or [1.0])
    return np.max(np.abs(np.array(found) - expected) / np.maximum(least, np.abs(expected))) <= same


def in_fmpy(archive, count):
    host = Host(archive).start()
    for k in range(1, count + 1):
        host.fmu.doStep(currentCommunicationPoint=(k - 1) * STEP, communicationStepSize=STEP)
    values = host.get(archive.names("output"))
    host.fmu.freeInstance()
    return values


def test_platforms_agree_and_exchange_states(archive, tmp_path):
    """Each runs half of the way, saves, goes on to the end; then each goes on from the state of another."""
    archive, count, same = archive
    outputs = archive.names("output")
    hosts = {name: host_of(archive, name) for name in HOSTED}
    ends = {
        name: host.values("save", STEP, count // 2, tmp_path / name) for name, host in hosts.items()
    }
    assert ends["linux64"] == in_fmpy(archive, count)
    for name in OTHERS:
        assert close(ends[name], ends["linux64"], outputs, same), name
    for saved, goes_on in (
        ("win64", "linux64"),
        ("linux64", "aarch64-linux"),
        ("aarch64-linux", "win64"),
    ):
        assert close(
            hosts[goes_on].values("load", STEP, count // 2, tmp_path / saved),
            ends["linux64"],
            outputs,
            same,
        ), (saved, goes_on)


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("fmi", [2, 3])
def test_binaries_are_in_standard_folders(name, fmi, tmp_path):
    path = build_fmu(
        load("lib:regulator"), tmp_path / "Regulator.fmu", "native", fmi, platforms=[name]
    )
    with zipfile.ZipFile(path) as file:
        found = [entry for entry in file.namelist() if entry.startswith("binaries/")]
        assert len(found) == 1
        folder = Path(found[0]).parent.name
        assert folder == (name if fmi == 2 else PLATFORMS[name].tuple)
        assert Path(found[0]).suffix == PLATFORMS[name].extension
        assert all(info.external_attr >> 16 in (0o100644, 0o100755) for info in file.infolist())


def test_component_motion_matches_this_platform(archive, tmp_path):
    """The archive of FMI 3.0 holds the same model: its component, in wasmtime, steps as the library does."""
    pytest.importorskip("wasmtime")
    archive, count, same = archive
    source = next((Path(archive.folder) / "resources").glob("model.[jt]*"))
    path = build_fmu(load(source), tmp_path / "x.fmu", "native", 3, platforms=[WEBASSEMBLY.name])
    names = archive.names("output")
    with Archive(path) as packed:
        found = by_component(Task(packed, False, names, STEP, count), WEBASSEMBLY)
    assert close(found, in_fmpy(archive, count), names, same)


def test_macos_binary_motion_matches_this_platform(archive):
    """The x86_64 library of macOS, mapped into a process of Linux, steps as the library of Linux does."""
    if reason := FOREIGN["mapped"].missing():
        pytest.skip(reason)
    archive, count, same = archive
    task = Task(archive, False, archive.names("output"), STEP, count)
    found = by_mapping(task, PLATFORMS["darwin64"])
    assert close(found, in_fmpy(archive, count), task.names, same)


@pytest.mark.parametrize("name", HOSTED)
def test_misuse_is_refused_on_every_platform(name, tmp_path):
    with Archive(
        build_fmu(load("lib:regulator"), tmp_path / "r.fmu", "native", platforms=[name])
    ) as archive:
        found = {key: values[0] for key, values in host_of(archive, name).run("misuse").items()}
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


def test_verify_reports_every_host(tmp_path, capsys):
    """One row a host: its deviation, or why it did not run."""
    path = build_fmu(
        load("lib:regulator"), tmp_path / "r.fmu", "native", platforms=["linux64", "win64"]
    )
    assert main(["verify", str(path), "--stop-time", "0.1", "--host", "all", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = {
        row["what"].split()[1]: row["result"]
        for row in reversed(said["checks"])
        if row["what"].startswith("host ")
    }
    assert set(rows) == set(FOREIGN)
    assert "largest deviation 0.00e+00" in rows["fmpy"]
    assert "no binary for aarch64-linux" in rows["qemu"] or "not run" in rows["qemu"]
    assert main(["verify", str(path), "--host", "cray"]) == 2


@pytest.mark.parametrize("name", ["puma560", "four-bar", "boom-drive"])
def test_straight_line_code_runs_on_every_platform(name, tmp_path):
    """Code of one mechanism is emitted and linked for each platform; steps of it are those of the general engine."""
    mechanism, ends = load(f"lib:{name}"), {}
    for own in (False, True):
        path = build_fmu(
            mechanism,
            tmp_path / f"{own}.fmu",
            "native",
            2,
            "rk4",
            STEP / 4,
            platforms="all",
            specialised=own,
        )
        with Archive(path) as archive:
            for name_of_host in HOSTED:
                ends[own, name_of_host] = host_of(archive, name_of_host).values(
                    "save", STEP, COUNT, tmp_path / "state"
                )
    for name_of_host in HOSTED:
        assert close(ends[True, name_of_host], ends[False, "linux64"]), name_of_host
