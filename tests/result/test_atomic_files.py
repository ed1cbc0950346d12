"""Files appear complete or not at all: what goes wrong while one is written names it and leaves what stood there."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree.models import load
from kinetree.models.result.atomic_file import opened, whole_file, write_text

# a limit on the size of files stops a writer in the middle, as a full disk does
RUN = ("lib:pendulum", "--stop-time", "1")
LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
from kinetree.scripts.cli import main
sys.argv = ["kinetree", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["r.csv", "r.mat", "r.h5", "r.parquet"])
def test_interrupted_writer_keeps_the_old_file(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    """Result files of every kind were written in place: a full disk destroyed the old one."""
    result = load("lib:pendulum").compile().simulate(0.1)
    path = tmp_path / name
    path.write_text("old")

    def full(*names: str) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=name):
        result.save(path)
    assert path.read_text() == "old" and [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process as POSIX has them")
@pytest.mark.parametrize(
    ("line", "name"),
    [
        (["run", "lib:pendulum", "--stop-time", "1", "-o"], "r.csv"),
        (
            ["run", "lib:pendulum", "--stop-time", "1", "-o"],
            "r.h5",
        ),  # its library ended the process
        (["schema", "-o"], "s.json"),
        (["run", "lib:pendulum", "--stop-time", "1", "--plot"], "r.png"),
    ],
)
def test_commands_name_the_file_that_cannot_be_written(tmp_path: Path, line: list[str], name: str):
    path = tmp_path / name
    path.write_text("old")
    alone = {
        key: value for key, value in os.environ.items() if key != "COVERAGE_PROCESS_START"
    }  # what is measured is written to files, too
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *line, str(path)], capture_output=True, text=True, env=alone
    )
    assert (
        done.returncode == 1
        and done.stderr.splitlines()[-1] == f"kinetree: {path} cannot be written: File too large"
    )
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_atomic_write_keeps_links_and_permissions(tmp_path: Path):
    real = tmp_path / "real.txt"
    write_text(real, "one")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    write_text(link, "two\r\n")
    assert (
        link.is_symlink()
        and real.read_bytes() == b"two\r\n"
        and real.stat().st_mode & 0o777 == 0o640
    )
    write_text(os.devnull, "three")
    assert not Path(os.devnull).is_file()


def test_other_errors_pass_through_atomic_file(tmp_path: Path):
    """Only errors of the system about the file itself take its name."""
    path = tmp_path / "a.txt"
    with pytest.raises(FileNotFoundError, match="other"), whole_file(path):
        (tmp_path / "other").read_text()
    with pytest.raises(ZeroDivisionError), opened(path, "wb"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
