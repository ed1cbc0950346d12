"""`--own-process`: binaries inside archives run apart from the command, which survives their crash and says what happened."""

import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.cli import main
from kinetree.scripts.terminal.child_process import fault_of

CRASH = "__attribute__((constructor)) static void crash(void) { *(volatile int *)0 = 1; }\n"


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive whose binary ends the process that loads it."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler for a binary that crashes")
    folder = tmp_path_factory.mktemp("crash")
    good = build_fmu(load("lib:pendulum"), folder / "good.fmu", "native")
    (folder / "crash.c").write_text(CRASH)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", folder / "crash.so", folder / "crash.c"], check=True
    )
    bad = folder / "bad.fmu"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(bad, "w") as target:
        for name in source.namelist():
            target.writestr(
                name,
                (folder / "crash.so").read_bytes() if name.endswith(".so") else source.read(name),
            )
    return bad


@pytest.mark.parametrize("command", ["verify", "cosim"])
def test_crash_in_child_process_is_reported(
    crashing: Path, command: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
):
    """Without the option the crash of a foreign binary ends the caller."""
    file = crashing
    if command == "cosim":
        file = tmp_path / "s.toml"
        file.write_text(
            f'name = "s"\nstop_time = 0.1\nstep_size = 0.01\n[units.a]\nfmu = "{crashing}"\n'
        )
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert main([command, str(file), "--own-process"]) == 1
    said = capfd.readouterr().err
    assert said.splitlines()[-1].startswith(
        "kinetree: a binary that was run ended its process by SIGSEGV"
    ), said
    assert not list((tmp_path / "scratch").iterdir())


def test_child_output_and_exit_code_are_passed_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    assert main(["verify", str(tmp_path / "none.fmu"), "--own-process"]) == 2
    assert capfd.readouterr().err == f"kinetree: no such file: {tmp_path / 'none.fmu'}\n"


def test_crashes_differ_from_exit_codes():
    assert [fault_of(code) for code in (0, 1, 2, 130, -int(signal.SIGABRT), 0xC0000005)] == [
        "",
        "",
        "",
        "",
        "SIGABRT",
        "fault 0xc0000005",
    ]
