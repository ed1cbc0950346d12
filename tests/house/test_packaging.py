"""Wheel = tree: every package is listed, every file travels, and the console command starts."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from tree import ROOMS, ROOT

BUILT = {".pyc", ".so", ".dll", ".dylib", ".o", ".fmu"}


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages_on_disk() -> set[str]:
    """Import names of the folders with an __init__.py."""
    names = set()
    for name, folder in ROOMS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            names.add(".".join([name, *init.parent.relative_to(ROOT / folder).parts]))
    return names


def files_of_rooms() -> set[str]:
    """Files as the wheel names them."""
    names = set()
    for name, folder in ROOMS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in BUILT:
                names.add("/".join([*name.split("."), *path.relative_to(ROOT / folder).parts]))
    return names


def test_listed_packages_are_the_folders():
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
    from kinetree.scripts.distribution import dependencies

    assert all(re.fullmatch(r"[a-z][a-z0-9]*>=\d+(\.\d+)+", each) for each in dependencies())


def test_types_reach_users():
    """Each room has the mark of PEP 561: the namespace itself cannot carry one."""
    assert all((ROOT / folder / "py.typed").exists() for folder in ROOMS.values())


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


def test_wheel_is_the_tree(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        content = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert content == files_of_rooms()


def test_wheel_runs_alone(wheel: Path, tmp_path: Path):
    """From the unpacked wheel, with the tree out of reach: the library is there and the command line starts."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]\n"
        "import kinetree.scripts.cli as cli; assert cli.__file__.startswith(sys.argv[1]), cli.__file__\n"
        "sys.exit(cli.main(['list']))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path
    )
    assert finished.returncode == 0, finished.stderr
    assert "regulator" in finished.stdout
