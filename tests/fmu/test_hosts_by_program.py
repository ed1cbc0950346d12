"""How other programs are called and what becomes of their words, with programs that answer as told; what a machine lacks is named."""

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.bench import fmu_step_instructions
from kinetree.scripts.bench import hosts as table
from kinetree.scripts.fmi import bare_c_host, external_host_checks, host_programs
from kinetree.scripts.fmi.bare_c_host import BareHost, HostError, launcher, why_not
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.fmi.host_programs import FOREIGN, Task
from kinetree.scripts.fmi.verify import Report
from kinetree.solvers.library.platforms import PLATFORMS, Platform

DECAY = {
    "format": "kinetree/1", "name": "decay", "states": {"x": {"rate": "-x", "start": 1.0}}, "outputs": {"y": {"value": "x"}},
    "run": {"stop_time": 1.0, "output_step": 0.01},
}  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory):
    with Archive(
        build_fmu(
            load(DECAY),
            tmp_path_factory.mktemp("decay") / "decay.fmu",
            "native",
            platforms=["linux64"],
        )
    ) as opened:
        yield opened


def test_each_host_has_its_table_rows(archive: Archive, monkeypatch: pytest.MonkeyPatch):
    """One that agrees, one that is off, one that fails, one that cannot; our C host resumes a state of another process too."""

    def stepped(task: Task, platform: Platform) -> list[float]:
        return host_programs.by_fmpy(replace(task, exchange=False), platform)

    made = {
        "good": replace(FOREIGN["bare"], name="good", missing=lambda: "", run=stepped),
        "off": replace(
            FOREIGN["bare"],
            name="off",
            missing=lambda: "",
            run=lambda *given: [each + 0.01 for each in stepped(*given)],
        ),
        "broken": replace(
            FOREIGN["bare"], name="broken", missing=lambda: "", run=lambda task, platform: []
        ),
        "absent": replace(
            FOREIGN["bare"], name="absent", missing=lambda: "absent is not on the path"
        ),
        "bare": FOREIGN["bare"],
    }
    monkeypatch.setattr(external_host_checks, "FOREIGN", FOREIGN | made)
    report = Report(archive.path)
    external_host_checks.in_hosts(report, archive.path, ())
    assert report.checks == []
    external_host_checks.in_hosts(report, archive.path, list(made))
    rows = {check.what: check for check in report.checks}
    assert (
        len(rows) == len(report.checks)
        and rows["host good (linux64), CS 2.0, 100 steps"].good
        and not rows["host off (linux64), CS 2.0, 100 steps"].good
    )
    assert (
        rows["host broken (linux64), ME 2.0"].result == "0 values, expected 3"
        and not rows["host broken (linux64), ME 2.0"].good
    )
    absent = rows["host absent (linux64), CS 2.0"]
    assert absent.good and absent.result == "not run: absent is not on the path"
    if not FOREIGN["bare"].missing():
        assert all(
            rows[f"host bare (linux64), {what}"].good
            for what in ("CS 2.0, 100 steps", "CS 2.0, a state resumed", "ME 2.0, 100 steps")
        )
    # cells of the benchmark say the same in a word
    task = Task(archive, False, ["y"], 0.01, 100)
    cells = [
        table.cell(made[name], task, [math.exp(-1.0)]) for name in ("absent", "good", "broken")
    ]
    assert cells == [
        "absent is not on the path",
        pytest.approx(0.0, abs=1e-6),
        "FAILED: 0 values, expected 1",
    ]


def test_host_program_results_are_parsed(archive: Archive, monkeypatch: pytest.MonkeyPatch):
    """Each by its own words for kind, times and names; the last row that counts is taken."""
    lines: list[list[str]] = []

    def run(line: list[str], cwd: Path, env: dict[str, str], **options: Any) -> SimpleNamespace:
        lines.append(line)
        where = (
            next(
                word.partition("=")[2]
                for word in [*line, "="]
                if word.startswith("--resultFile=") or word == "="
            )
            or line[line.index("--output-file") + 1]
        )
        Path(where).write_text("time,y\n0,1\n0.5,0.6\n1.0,0.37\n", encoding="utf-8")
        assert env["HOME"] == str(cwd) and Path(where).parent == cwd
        return SimpleNamespace(returncode=0, stdout="", stderr="")

    monkeypatch.setattr(host_programs.subprocess, "run", run)
    task = Task(archive, True, ["y"], 0.01, 50)
    assert FOREIGN["fmusim"].run(task, PLATFORMS["linux64"]) == [0.6]
    assert FOREIGN["omsimulator"].run(
        replace(task, exchange=False, count=100), PLATFORMS["linux64"]
    ) == [0.37]
    first, second = (" ".join(line) for line in lines)
    assert (
        "--interface-type me" in first
        and "--output-variable y" in first
        and "--stop-time 0.5" in first
        and first.endswith(str(archive.path.resolve()))
    )
    assert "--mode=cs" in second and "--stopTime=2.0" in second and "--intervals=200" in second, (
        "a stop time of 1 s is none to it"
    )


def test_host_scripts_print_results_in_one_line(archive: Archive):
    """By names or by references, whatever else is printed; last words of what fails are told."""
    task = Task(archive, False, ["y"], 0.25, 4)
    echo = "import json, sys\nprint('hello')\nprint('RESULT', json.dumps([float(sys.argv[2]) * int(sys.argv[3]), len(json.loads(sys.argv[4]))]))"
    assert host_programs.by_script(echo, True)(task, PLATFORMS["linux64"]) == [1.0, 1]
    kind = "import json, sys\nprint('RESULT', json.dumps([isinstance(json.loads(sys.argv[4])[0], str)]))"
    assert [
        host_programs.by_script(kind, named)(task, PLATFORMS["linux64"]) for named in (True, False)
    ] == [[True], [False]]
    with pytest.raises(HostError, match="StopIteration: no result"):
        host_programs.by_script("print('no result')", True)(task, PLATFORMS["linux64"])
    with pytest.raises(HostError, match="^ended with 3: farewell$"):
        host_programs.by_script("import sys; print('farewell'); sys.exit(3)", True)(
            task, PLATFORMS["linux64"]
        )


def test_hanging_host_is_terminated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(host_programs, "LIMIT", 0.05)
    with pytest.raises(HostError, match=r"not done after 0.05 s"):
        host_programs.finished(
            [sys.executable, "-c", "import time; time.sleep(20)"], tmp_path, {}, lambda said: []
        )


def test_model_exchange_by_fmpy_decays(archive: Archive):
    (found,) = host_programs.by_fmpy(Task(archive, True, ["y"], 0.1, 10), PLATFORMS["linux64"])
    assert found == pytest.approx(0.36787944, abs=1e-6)


def test_missing_host_requirements_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Reasons in the order in which they would be mended; what is there is started as it has to be."""
    win, arm = (PLATFORMS[name] for name in ("win64", "aarch64-linux"))
    monkeypatch.setattr(bare_c_host, "this_platform", lambda: PLATFORMS["linux64"])
    monkeypatch.setattr(bare_c_host, "has_zig", lambda: False)
    assert (
        why_not(PLATFORMS["linux64"]) == ""
        and why_not(win) == "zig is missing: pip install ziglang"
    )
    with pytest.raises(HostError, match="no host for win64: zig is missing"):
        launcher(win)
    monkeypatch.setattr(bare_c_host, "has_zig", lambda: True)
    there: list[str] = []
    monkeypatch.setattr(
        bare_c_host,
        "found",
        lambda names: next((f"/usr/bin/{name}" for name in names if name in there), None),
    )
    monkeypatch.setattr(bare_c_host, "ARM_LIBRARIES", tmp_path / "arm")
    assert "apt-get install wine64" in why_not(win) and "qemu-user-static" in why_not(arm)
    there += ["wine64", "qemu-aarch64"]
    assert why_not(win) == "" and "libc6-arm64-cross" in why_not(arm)
    (tmp_path / "arm").mkdir()
    monkeypatch.setattr(bare_c_host, "cache_root", lambda: tmp_path)
    assert launcher(arm) == (
        ["/usr/bin/qemu-aarch64", "-L", str(tmp_path / "arm")],
        {},
    ) and launcher(PLATFORMS["linux64"]) == ([], {})
    command, environment = launcher(win)
    assert (
        command == ["/usr/bin/wine64"]
        and environment["WINEPREFIX"] == str(tmp_path / "wine")
        and (tmp_path / "wine").is_dir()
    )
    monkeypatch.setattr(bare_c_host, "this_platform", lambda: arm)
    assert why_not(PLATFORMS["linux64"]) == "this machine cannot run programs for linux64"
    monkeypatch.setattr(host_programs, "find_spec", lambda name: None)
    assert host_programs.ecos_missing() == "ecospy is missing: pip install ecospy"
    monkeypatch.setattr(host_programs, "find_spec", lambda name: name)
    monkeypatch.setattr(host_programs.shutil, "which", lambda name: name)
    monkeypatch.setattr(
        host_programs.subprocess, "run", lambda line, **options: SimpleNamespace(stdout="libm.so.6")
    )
    assert host_programs.ecos_missing() == "its library is missing: apt-get install libtbb12"


def test_c_host_errors_are_reported(archive: Archive, monkeypatch: pytest.MonkeyPatch):
    if reason := FOREIGN["bare"].missing():
        pytest.skip(reason)
    host = BareHost(archive, PLATFORMS["linux64"], ["y"])
    real = subprocess.run
    monkeypatch.setattr(
        bare_c_host.subprocess,
        "run",
        lambda line, **options: SimpleNamespace(returncode=139, stdout="half", stderr=" of it\n"),
    )
    with pytest.raises(HostError, match="the host for linux64 ended with 139: half of it"):
        host.values("run", 0.1, 1)
    monkeypatch.setattr(
        bare_c_host.subprocess,
        "run",
        lambda line, **options: SimpleNamespace(returncode=0, stdout="step 3\nvalue 1", stderr=""),
    )
    with pytest.raises(HostError, match=r"could not run it: \{'step': \['3'\]"):
        host.values("run", 0.1, 1)
    monkeypatch.setattr(bare_c_host.subprocess, "run", real)
    with pytest.raises(HostError, match="no binary for win64"):
        monkeypatch.setattr(bare_c_host, "launcher", lambda target: ([], {}))
        monkeypatch.setattr(bare_c_host, "native_program", lambda name, target: Path(name))
        BareHost(archive, PLATFORMS["win64"], ["y"])


def test_instruction_count_uses_unpacked_archive(tmp_path: Path):
    """The counting host runs it by itself, in a Python without packages."""
    library, (guid, resources) = fmu_step_instructions.unpacked(
        "lib:pendulum", "rk4", 1e-3, tmp_path
    )
    assert (
        library.is_file()
        and resources.startswith("file://")
        and guid in (tmp_path / "unpacked" / "modelDescription.xml").read_text()
    )
    for token, code in ((guid, 0), ("another", 3)):
        line = [
            sys.executable,
            "-I",
            "-S",
            "-c",
            fmu_step_instructions.HOST,
            str(library),
            token,
            resources,
            "5",
            "1e-3",
        ]
        assert subprocess.run(line, capture_output=True).returncode == code
