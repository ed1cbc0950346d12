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


def test_developer_script_needs_only_the_standard_library():
    foreign = [
        name for name, _, _ in imports(SCRIPT) if name.split(".")[0] not in sys.stdlib_module_names
    ]
    assert not foreign


def test_old_python_version_gets_a_readable_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """An older Python must be able to parse the file in order to say that it is too old."""
    ast.parse(SCRIPT.read_text(), feature_version=(3, 7))
    monkeypatch.setattr(
        dev,
        "sys",
        SimpleNamespace(
            version_info=(3, 9, 1), version="3.9.1 (main)", executable="python3", stderr=sys.stderr
        ),
    )
    assert dev.main() == 2
    assert "3.11 or newer" in capsys.readouterr().err


def test_changed_constraints_trigger_a_new_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("a")
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    before = dev.fingerprint()
    assert before == dev.fingerprint()
    (tmp_path / "constraints.txt").write_text("b")
    assert before != dev.fingerprint()


def test_missing_compiler_names_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    dev.check_compiler()
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1 and "install" in said[0]


def test_failing_step_prints_end_of_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    with pytest.raises(dev.Failure, match="no such wheel"):
        dev.quietly("A step", [sys.executable, "-c", "print('no such wheel'); raise SystemExit(3)"])
    assert dev.quietly("A step", [sys.executable, "-c", "pass"])


@pytest.mark.parametrize("command", ["lint", "demo", "setup", "wheel"])
def test_unknown_arguments_are_refused(command: str):
    finished = subprocess.run(
        [sys.executable, str(SCRIPT), command, "--nonsense"], capture_output=True, text=True
    )
    assert finished.returncode == 2 and "--nonsense" in finished.stderr


@pytest.mark.parametrize(
    "line", [[], *([name] for name in dev.COMMANDS if name not in dev.TOOLS)], ids=" ".join
)
def test_developer_script_prints_help(line: list[str]):
    """argparse formats what a help says: a bare percent sign in one ended all of them."""
    finished = subprocess.run(
        [sys.executable, str(SCRIPT), *line, "--help"], capture_output=True, text=True
    )
    assert finished.returncode == 0 and finished.stdout.startswith("usage: dev.py"), finished.stderr


def test_constraint_versions_are_exact():
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert all(name and version for name, _, version in (line.partition("==") for line in lines))
    names = [line.split("==")[0].lower() for line in lines]
    assert len(names) == len(set(names)) > 20


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Lines of programs that would have been run, in an installed environment that is none."""
    ran: list[list[str]] = []
    monkeypatch.setattr(
        dev,
        "run",
        lambda *command: ran.append([Path(str(command[0])).name, *map(str, command[1:])]) or 0,
    )
    monkeypatch.setattr(dev, "installed", lambda extras=dev.EVERYTHING: True)
    monkeypatch.setattr(dev, "build_engine", lambda: None)
    monkeypatch.setattr(dev, "link_for_types", lambda: None)
    monkeypatch.setattr(dev, "install_packages", lambda names: False)
    return ran


def played(monkeypatch: pytest.MonkeyPatch, *line: str) -> int:
    monkeypatch.setattr(sys, "argv", ["dev.py", *line])
    return dev.main()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            ["test", "tests/run"],
            [
                "ruff check",
                "ruff format",
                "pyright --level",
                "python -m pytest -q -m not slow and not platforms -n",
            ],
        ),
        (
            ["test", "--all", "-n", "1"],
            ["ruff", "ruff", "pyright", "python -m pytest -q -m not platforms -n 1"],
        ),
        (["demo"], ["python -m kinetree.scripts.developer.demo"]),
        (["bench", "loops"], ["kinetree bench loops"]),
        (["docs", "--renew"], ["python -m kinetree.scripts.site --renew"]),
        (["release", "0.2.0"], ["python -m kinetree.scripts.developer.release 0.2.0"]),
        (["fix"], ["ruff check --fix .", "ruff format ."]),
        (["wheel"], ["python -m kinetree.scripts.developer.distribution build installed"]),
        (
            ["dependencies"],
            [
                "python -m kinetree.scripts.developer.distribution build installed",
                "python -m kinetree.scripts.developer.distribution oldest newest",
            ],
        ),
        (["mutants", "--all"], [f"python {ROOT / 'tests' / 'mutation' / 'mutants.py'} --all"]),
        (["fuzz"], [f"python {ROOT / 'tests' / 'fuzz' / 'fuzz.py'}"]),
        (["fuzz", "--help"], [f"python {ROOT / 'tests' / 'fuzz' / 'fuzz.py'} --help"]),
        (
            ["coverage", "--missed"],
            [f"python {ROOT / 'tests' / 'reached' / 'python_lines.py'} --missed"],
        ),
        (
            ["coverage", "--c", "--calls"],
            [f"python {ROOT / 'tests' / 'reached' / 'shell_lines.py'} --calls"],
        ),
        (["platforms", "-x"], ["python -m pytest -q -m platforms -rs tests/fmu -x"]),
    ],
    ids=lambda each: (
        " ".join(each) if each and "python" not in each[0] and "ruff" not in each[0] else ""
    ),
)
def test_developer_commands_run_their_tools(
    lines: list[list[str]], monkeypatch: pytest.MonkeyPatch, line: list[str], expected: list[str]
):
    monkeypatch.setenv("PYTHONPATH", "")
    assert played(monkeypatch, *line) == 0
    assert len(lines) == len(expected)
    for ran, begin in zip(lines, expected, strict=True):
        assert " ".join(ran).startswith(begin)


def test_setup_runs_once_and_prints_path(
    lines: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    done = []
    monkeypatch.setattr(dev, "installed", lambda extras: bool(done))
    for name in ("check_compiler", "install_tbb", "install_browser"):
        monkeypatch.setattr(dev, name, lambda name=name: done.append(name))
    monkeypatch.setattr(dev, "make_environment", lambda extras: done.append("make_environment"))
    assert played(monkeypatch, "setup") == 0 and played(monkeypatch, "setup") == 0
    assert done == ["check_compiler", "make_environment", "install_tbb", "install_browser"]
    assert "activate' puts kinetree on this terminal's path" in capsys.readouterr().out

    def fails() -> None:
        raise dev.Failure("no network")

    monkeypatch.setattr(dev, "build_engine", fails)
    assert played(monkeypatch, "setup") == 1 and capsys.readouterr().err == "no network\n"


def test_failed_lint_step_is_named(
    lines: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(dev, "run", lambda *command: int("pyright" in str(command[0])))
    assert played(monkeypatch, "lint") == 1 and capsys.readouterr().out == "Not clean: types\n"


def test_missing_programs_for_other_platforms_are_named(
    lines: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    assert played(monkeypatch, "platforms") == 0
    assert (
        "Not installed, so its platform is skipped: wine64, qemu-user-static"
        in capsys.readouterr().out
    )


def test_environment_is_created_and_invalid_one_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    import venv

    steps = []
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev, "BIN", tmp_path / ".venv" / "bin")
    monkeypatch.setattr(dev, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(venv, "create", lambda folder, with_pip: steps.append("created"))
    monkeypatch.setattr(dev, "quietly", lambda title, command: steps.append(str(command[-1])))
    monkeypatch.setattr(dev, "begin", lambda command, log: steps.append(command[-1]))
    monkeypatch.setattr(dev, "follow", lambda title, process, log, required: steps.append("waited"))
    monkeypatch.setattr(dev, "link_for_types", lambda: None)
    good = SimpleNamespace(returncode=0)
    monkeypatch.setattr(dev.subprocess, "run", lambda *command, **options: good)
    dev.make_environment(dev.LITTLE)
    assert steps == [
        "created",
        "setuptools",
        str(dev.ROOT),
        "build",  # of the engine, while the rest comes
        f"{dev.ROOT}[{dev.LITTLE}]",
        "waited",
    ]
    assert f"{dev.SIZES[dev.LITTLE][0]} MB" in capsys.readouterr().out, "told before it begins"
    assert dev.STAMP.read_text() == dev.fingerprint(dev.LITTLE) != dev.fingerprint()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    dev.program("python").touch()
    assert dev.installed(dev.LITTLE) and not dev.installed()
    dev.make_environment()
    assert dev.installed(dev.LITTLE) and dev.installed(), "everything has what the demo needs"
    good.returncode = 1
    with pytest.raises(dev.Failure, match="is not a usable environment: delete it"):
        dev.make_environment()


def test_system_packages_are_installed_if_permitted(monkeypatch: pytest.MonkeyPatch):
    asked, answers = [], [1, 0, 0]

    def run(command: list[str], **options: object) -> SimpleNamespace:
        asked.append(command[1])
        return SimpleNamespace(returncode=answers[len(asked) - 1], stdout="")

    monkeypatch.setattr(dev.sys, "platform", "linux")
    monkeypatch.setattr(
        dev.shutil,
        "which",
        lambda name: f"/usr/bin/{name}" if name in ("apt-get", "ldconfig") else None,
    )
    monkeypatch.setattr(dev.os, "geteuid", lambda: 0)
    monkeypatch.setattr(dev.subprocess, "run", run)
    assert dev.install_packages(["chromium"]) and asked == ["install", "update", "install"], (
        "the list of packages was old"
    )
    asked.clear()
    answers[:] = [1, 1, 1]
    assert not dev.install_packages(["chromium"])
    wanted = []
    monkeypatch.setattr(dev, "install_packages", lambda names: wanted.extend(names))
    asked.clear()
    dev.install_browser()
    dev.install_tbb()
    assert wanted == ["chromium", "libtbb12"]
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    monkeypatch.undo()


def test_failed_links_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    def refused(self: Path, target: Path, target_is_directory: bool = False) -> None:
        raise OSError("not allowed")

    monkeypatch.setattr(dev, "ROOT", tmp_path)
    dev.link_for_types()
    assert (tmp_path / "build" / "types" / "kinetree" / "fmu").readlink() == tmp_path / "fmu_src"
    monkeypatch.setattr(dev, "ROOT", tmp_path / "other")
    monkeypatch.setattr(dev.Path, "symlink_to", refused)
    dev.link_for_types()
    assert "(not allowed): the type check will know less" in capsys.readouterr().out
