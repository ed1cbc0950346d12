"""The set-up script: bare Python, clear words, nothing done twice."""

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tree import ROOT, imports

from kinetree.scripts import dev

SCRIPT = ROOT / "scripts" / "dev.py"


def test_needs_the_standard_library_only():
    foreign = [name for name, _, _ in imports(SCRIPT) if name.split(".")[0] not in sys.stdlib_module_names]
    assert not foreign


def test_old_python_gets_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    """An older Python must be able to parse the file in order to say that it is too old."""
    ast.parse(SCRIPT.read_text(), feature_version=(3, 7))
    monkeypatch.setattr(dev, "sys", SimpleNamespace(version_info=(3, 9, 1), version="3.9.1 (main)", executable="python3", stderr=sys.stderr))
    assert dev.main() == 2
    assert "3.11 or newer" in capsys.readouterr().err


def test_changed_constraints_mean_a_new_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("a")
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    before = dev.fingerprint()
    assert before == dev.fingerprint()
    (tmp_path / "constraints.txt").write_text("b")
    assert before != dev.fingerprint()


def test_missing_compiler_names_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    dev.check_compiler()
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1 and "install" in said[0]


def test_failing_step_shows_the_end_of_its_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    with pytest.raises(dev.Failure, match="no such wheel"):
        dev.quietly("A step", [sys.executable, "-c", "print('no such wheel'); raise SystemExit(3)"])
    assert dev.quietly("A step", [sys.executable, "-c", "pass"])


def test_unknown_arguments_are_refused():
    finished = subprocess.run([sys.executable, str(SCRIPT), "lint", "--nonsense"], capture_output=True, text=True)
    assert finished.returncode == 2 and "--nonsense" in finished.stderr


def test_constraints_are_exact():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(name and version for name, _, version in (line.partition("==") for line in lines))
    names = [line.split("==")[0].lower() for line in lines]
    assert len(names) == len(set(names)) > 20
