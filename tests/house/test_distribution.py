"""How wheels are made and tried, with the programs that do the work replaced: what is asked of them, and what is said when they fail."""

import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from tree import ROOMS, ROOT

from kinetree.fmu import ship
from kinetree.scripts.developer import distribution
from kinetree.solvers.library.c_compiler import LibraryError


class Programs:
    """In the place of subprocess: notes lines, and does what each is told to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.fails = ""
        self.act = lambda line: None

    def run(self, line: list[str], **options: object) -> SimpleNamespace:
        self.lines.append(" ".join(map(str, line)))
        self.act(line)
        wrong = bool(self.fails) and self.fails in self.lines[-1]
        return SimpleNamespace(returncode=int(wrong), stdout="said ", stderr="why\n")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Programs:
    made = Programs()
    monkeypatch.setattr(distribution.subprocess, "run", made.run)
    for name, path in (
        ("ROOT", tmp_path),
        ("DIST", tmp_path / "dist"),
        ("SHIPPED", tmp_path / "built"),
    ):
        monkeypatch.setattr(distribution, name, path)
    return made


def test_wheel_build_leaves_no_files(
    programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture
):
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "old.whl").write_bytes(b"")

    def act(line: list[str]) -> None:
        if "wheel" in line:
            for name in ("dist", "build", "built"):
                (tmp_path / name).mkdir()
            (tmp_path / "dist" / "kinetree-1-py3.whl").write_bytes(bytes(2_000_000))

    programs.act = act
    assert distribution.main(["build"]) == 0
    assert capsys.readouterr().out == "dist/kinetree-1-py3.whl: 2.0 MB\n" and sorted(
        path.name for path in tmp_path.iterdir()
    ) == ["dist"]
    assert [
        word in line
        for word, line in zip(
            ("fmu.ship", "pip wheel", "build_sdist", "twine check"), programs.lines, strict=True
        )
    ] == [True] * 4
    programs.fails = "fmu.ship"
    assert distribution.main(["build", "installed"]) == 1
    assert "kinetree.fmu.ship' failed" in capsys.readouterr().err and len(programs.lines) == 5


def test_installed_wheel_works(programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture):
    assert (
        distribution.main(["installed"]) == 1
        and "dist/ has no wheel: python3 scripts/dev.py wheel" in capsys.readouterr().err
    )
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "kinetree-1-py3.whl").write_bytes(b"")
    assert distribution.main(["installed"]) == 0
    said = capsys.readouterr().out
    assert "first run: " in said and all(
        f"verified: {name}" in said for name in distribution.MECHANISMS
    )
    assert programs.lines[0].endswith("venv") and "kinetree-1-py3.whl" in programs.lines[1]
    programs.fails = "verify"
    assert distribution.main(["installed"]) == 1 and "said why\n" in capsys.readouterr().err, (
        "a quiet command shows what it said"
    )


def test_timeout_is_a_failure(programs: Programs, tmp_path: Path):
    with pytest.raises(distribution.Failure, match="a start takes .* s, expected -1 s at most"):
        distribution.taken("a start", -1.0, ["true"], tmp_path, {})


def test_oldest_dependencies_and_newest_python_are_tested(
    programs: Programs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
):
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=2.1.3", "numba>=0.62.0,<1"]\n'
    )
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "kinetree-1-py3.whl").write_bytes(b"")

    def act(line: list[str]) -> None:
        if "venv" in line:
            (Path(line[-1]) / "lib" / "kinetree" / "solvers").mkdir(parents=True)

    programs.act = act
    assert distribution.main(["oldest"]) == 0
    assert (
        " numpy==2.1.3 numba==0.62.0 pytest hypothesis " in programs.lines[1]
        and "solvers.library build" in programs.lines[2]
    )
    assert programs.lines[3].endswith(" ".join(distribution.SMOKE))
    monkeypatch.setattr(
        distribution.shutil,
        "which",
        lambda name: "/none/python3.13" if name == "python3.13" else None,
    )
    monkeypatch.setattr(distribution.Path, "home", lambda: tmp_path)
    assert distribution.main(["newest"]) == 0 and any(
        line.startswith("/none/python3.13 -m venv") for line in programs.lines
    )
    programs.fails = "-c "
    assert (
        distribution.main(["newest"]) == 0
        and "not run: no Python of 3.14, 3.13, 3.12" in capsys.readouterr().out
    )


def test_wheel_contents_have_checksums(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """The engine of this machine, shells and objects of every platform; what was shipped before is gone."""
    cache, shipped = tmp_path / "cache", tmp_path / "built"
    cache.mkdir()
    (shipped / "before").mkdir(parents=True)

    def file(*name: object) -> Path:
        path = cache / "-".join(
            getattr(each, "name", str(each)) for each in name if not callable(each)
        )
        path.write_bytes(bytes(1000))
        ship.beside(path).write_bytes(b"sum")
        return path

    monkeypatch.setattr(ship, "SHIPPED", shipped)
    monkeypatch.setattr(ship, "library_folder", lambda: cache)
    monkeypatch.setattr(ship, "build_all_levels", lambda say: say("levels"))
    monkeypatch.setattr(ship, "library_path", lambda name, level: file("engine", name, level))
    monkeypatch.setattr(ship, "shell_library", lambda target, say: file("shell", target))
    monkeypatch.setattr(ship, "objects_for", lambda target, say: [file("object", target)])
    monkeypatch.setattr(ship, "loader", lambda target, version: file("loader", target, version))
    monkeypatch.setattr(ship, "module_path", lambda module, say: file("module", module))
    assert ship.main() == 0
    names = {path.name for path in (shipped / "cache").iterdir()}
    assert (
        not (shipped / "before").exists()
        and {f"shell-{name}" for name in ship.NATIVE}
        | {"loader-win64-2", "loader-linux64-3", "module-live", "module-component"}
        <= names
    )
    assert {f"{name}.sum" for name in names if not name.endswith(".sum")} <= names
    assert "levels" in capsys.readouterr().out

    def fails(say: object) -> None:
        raise LibraryError("no compiler is here")

    monkeypatch.setattr(ship, "build_all_levels", fails)
    assert ship.main() == 1 and capsys.readouterr().err == "no compiler is here\n"


def test_successful_command_is_silent(tmp_path: Path):
    distribution.command(sys.executable, "-c", "pass", cwd=tmp_path, quiet=True)
    with pytest.raises(distribution.Failure, match="^no such thing"):
        distribution.command(
            sys.executable, "-c", "import sys; sys.exit('no such thing')", cwd=tmp_path, quiet=True
        )
    assert distribution.subprocess is subprocess


def test_conda_recipe_and_workflow_match_the_project():
    """The versions that conda installs are those of pyproject.toml; commands that the workflow calls are there."""
    yaml = pytest.importorskip("yaml")
    from kinetree.scripts import dev
    from kinetree.scripts.commands import found

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / ".github" / "conda" / "meta.yaml").read_text())
    wanted = [each.replace(" ", "") for each in recipe["requirements"]["run"]]
    assert wanted == [f"python{project['requires-python']}", *project["dependencies"]]
    assert recipe["package"]["version"] == project["version"]
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())["jobs"]
    lines = [step["run"].split() for job in jobs.values() for step in job["steps"] if "run" in step]
    assert [line[2] for line in lines if line[1].endswith("dev.py")] == [
        "wheel"
    ] and "wheel" in dev.COMMANDS
    assert {line[1] for line in lines if line[0] == "kinetree"} <= found().keys()
    image = (ROOT / ".github" / "docker" / "Dockerfile").read_text().splitlines()
    copied = {name for line in image if line.startswith("COPY") for name in line.split()[1:-1]}
    assert all((ROOT / name).exists() for name in copied) and {*ROOMS.values()} <= copied
