"""Wheel = tree: every package is listed, every file travels, and the console command starts."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from tree import PACKAGES, ROOMS, ROOT, import_path

BUILT = {".pyc", ".so", ".dll", ".dylib", ".o", ".fmu"}
FOR_DEVELOPERS = {"bench", "developer", "site"}  # packages of scripts/ that no wheel contains


def is_shipped(path: Path) -> bool:
    """Return whether the wheel contains a file or folder of the tree."""
    parts = path.relative_to(ROOT).parts
    return not (parts[0] == "scripts" and parts[1:] and parts[1] in FOR_DEVELOPERS)


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages_on_disk() -> set[str]:
    """Import names of the folders with an __init__.py."""
    inits = (init for folder in ROOMS.values() for init in (ROOT / folder).rglob("__init__.py"))
    return {".".join(import_path(init.parent)) for init in inits if is_shipped(init)}


def files_of_rooms() -> set[str]:
    """Files as the wheel names them."""
    return {
        "/".join(import_path(path))
        for folder in ROOMS.values()
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in BUILT
        and is_shipped(path)
    }


def test_package_list_matches_folders():
    assert set(project()["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_every_folder_with_modules_is_a_package():
    wrong = {
        path.parent
        for folder in ROOMS.values()
        for path in (ROOT / folder).rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    }
    assert not wrong


def test_every_dependency_has_a_lower_bound():
    """typer below 0.28 broke --version, pydantic 2.0 lacked what is imported: `dev.py dependencies` installs exactly these and runs tests on them."""
    from kinetree.scripts.developer.distribution import dependencies

    assert all(re.fullmatch(r"[a-z][a-z0-9]*>=\d+(\.\d+)+", each) for each in dependencies())


def test_wheel_contains_type_information():
    """Each package that is mapped has the mark of PEP 561."""
    assert all((ROOT / folder / "py.typed").exists() for folder in PACKAGES.values())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy, so that the build leaves nothing in the tree."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in ROOMS.values():
        shutil.copytree(
            ROOT / folder,
            copy / folder,
            ignore=shutil.ignore_patterns("__pycache__", *(f"*{suffix}" for suffix in BUILT)),
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        str(copy / "dist"),
        str(copy),
    ]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return next((copy / "dist").glob("kinetree-*.whl"))


def test_wheel_contains_sources_without_developer_tools(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        content = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert content == files_of_rooms()


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the content of the wheel."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_alone(unpacked: Path, *line: str) -> str:
    """Output of Python in the folder of the unpacked wheel, whose packages come first."""
    finished = subprocess.run([sys.executable, *line], capture_output=True, text=True, cwd=unpacked)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_wheel_runs_without_the_repository(unpacked: Path):
    """With the tree out of reach: the library is there and the command line starts."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]\n"
        "import kinetree.scripts.cli as cli; assert cli.__file__.startswith(sys.argv[1]), cli.__file__\n"
        "sys.exit(cli.main(['list']))"
    )
    assert "regulator" in run_alone(unpacked, "-c", program, str(unpacked))
    assert "regulator" in run_alone(unpacked, "-m", "kinetree", "list")
    benchmarks = run_alone(unpacked, "-m", "kinetree", "bench")
    assert "repository" in benchmarks


def test_top_level_package_exports_public_names(unpacked: Path):
    """They are imported when they are used: `import kinetree` loads neither numpy nor typer."""
    program = (
        "import sys, kinetree; assert not {'numpy', 'typer'} & {*sys.modules}\n"
        "assert {*kinetree.__all__, 'models'} <= {*dir(kinetree)} and kinetree.__version__\n"
        "from kinetree import models; assert {*kinetree.__all__} == {*models.__all__}\n"
        "assert all(getattr(kinetree, name) is getattr(models, name) for name in models.__all__)\n"
        "assert kinetree.solvers and not hasattr(kinetree, 'nonsense')"
    )
    run_alone(unpacked, "-c", program)
