"""`python -m kinetree.scripts.developer.distribution build|installed|oldest|newest`: builds wheel
and sdist, and tests that they work in fresh environments.

build: the engine for all platforms goes into the wheel; both files are checked as the package index does it. installed: the wheel in an empty
environment, without any compiler on the path. oldest: the lower bounds of the dependencies, the engine built by them, and a smoke set of tests.
newest: the same with the newest Python that is found here. Standard library only, because `scripts/dev.py` starts it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST, SHIPPED = ROOT / "dist", ROOT / "solvers" / "library" / "built"
MECHANISMS = ("regulator", "pendulum", "four-bar", "boom", "boom-drive", "bouncing-ball")
RUN, PACK = (
    3.0,
    1.5,
)  # processor time of the first run, and of a native FMU with the start of Python [s]
SMOKE = (
    "tests/fmu/test_fmu_native.py",
    "tests/fmu/test_units_without_bodies.py",
    "tests/description/test_description_names.py",
)
NEWER = ("3.14", "3.13", "3.12")  # Pythons beside that of the set-up, newest first
NO_BUILD = "import setuptools.build_meta as b; b.build_sdist('dist')"


class Failure(Exception):
    """A distribution problem, in one line."""


def build() -> None:
    """Build a wheel with the engine for all platforms, and the source distribution, in dist/."""
    for name in ("build", "dist"):  # what an earlier build left would travel with this one
        shutil.rmtree(ROOT / name, ignore_errors=True)
    try:
        command(sys.executable, "-m", "kinetree.fmu.ship")
        command(
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            "dist",
            ".",
        )
    finally:
        shutil.rmtree(SHIPPED, ignore_errors=True)
        shutil.rmtree(ROOT / "build", ignore_errors=True)
    command(sys.executable, "-c", NO_BUILD, quiet=True)
    files = sorted(DIST.iterdir())
    command(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))
    for path in files:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")


def installed() -> None:
    """Test the wheel in an environment with Python alone."""
    with environment(sys.executable, [str(wheel())]) as (folder, programs):
        alone = {"PATH": str(programs), "HOME": str(folder / "home")}
        kinetree = str(programs / "kinetree")
        taken("first run", RUN, [kinetree, "run", "lib:regulator", "-o", "r.csv"], folder, alone)
        taken(
            "native FMU",
            PACK,
            [kinetree, "fmu", "lib:regulator", "--backend", "native", "-o", "r.fmu"],
            folder,
            alone,
        )
        for name in MECHANISMS:
            command(
                kinetree,
                "fmu",
                f"lib:{name}",
                "--backend",
                "native",
                "-o",
                f"{name}.fmu",
                cwd=folder,
                env=alone,
                quiet=True,
            )
            command(kinetree, "verify", f"{name}.fmu", cwd=folder, env=alone, quiet=True)
            print(f"verified: {name}")


def oldest() -> None:
    """Test the wheel with every dependency at its lower bound."""
    smoke(sys.executable, [re.sub(r">=([\d.]+).*", r"==\1", each) for each in dependencies()])


def newest() -> None:
    """Test the wheel with the newest available Python that numba supports."""
    for version in NEWER:
        if python := found_python(version):
            smoke(python, [])
            return
    print(f"not run: no Python of {', '.join(NEWER)} is installed here")


def smoke(python: str, pinned: Sequence[str]) -> None:
    """Install the wheel without its built engine, build the engine, and run a few tests."""
    with environment(python, [*pinned, "pytest", "hypothesis", str(wheel())]) as (folder, programs):
        package = next((folder / "venv").rglob("kinetree/solvers"))
        shutil.rmtree(package / "library" / "built", ignore_errors=True)
        own = {
            **os.environ,
            "KINETREE_CACHE": str(folder / "cache"),
            "KINETREE_LEVELS": "machine",
            "PYTHONPATH": "",
        }
        command(str(programs / "python"), "-m", "kinetree.solvers.library", "build", env=own)
        command(
            str(programs / "python"),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *SMOKE,
            env=own,
        )


def dependencies() -> list[str]:
    """Return the requirements of the project, each with its lower bound."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]


def wheel() -> Path:
    found = sorted(DIST.glob("kinetree-*.whl"))
    if not found:
        raise Failure("dist/ has no wheel: python3 scripts/dev.py wheel")
    return found[-1]


def found_python(version: str) -> str:
    """Return the path of a Python of this version, on the path or from pyenv; empty if there is
    none.
    """
    there = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    for path in (shutil.which(f"python{version}"), *map(str, there)):
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return ""


@contextmanager
def environment(python: str, packages: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Context manager that yields a fresh virtual environment and its program folder."""
    with tempfile.TemporaryDirectory(prefix="kinetree-installed-") as name:
        folder = Path(name)
        command(python, "-m", "venv", str(folder / "venv"))
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        command(
            str(programs / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *packages,
        )
        (folder / "home").mkdir()
        yield folder, programs


def taken(what: str, limit: float, line: Sequence[str], folder: Path, env: dict[str, str]) -> None:
    """Run a command and raise Failure if its processor time exceeds a limit."""
    import resource

    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command(*line, cwd=folder, env=env, quiet=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{what}: {seconds:.2f} s of computing, {time.perf_counter() - begun:.2f} s by the clock (allowed {limit:g} s of computing)"
    )
    if seconds > limit:
        raise Failure(f"{what} takes {seconds:.2f} s, expected {limit:g} s at most")


def command(
    *line: str, cwd: Path = ROOT, env: dict[str, str] | None = None, quiet: bool = False
) -> None:
    """Run a command to its end; print the output of a quiet one if it fails."""
    done = subprocess.run(line, cwd=cwd, env=env, capture_output=quiet, text=True)
    if done.returncode:
        raise Failure(
            f"{(done.stdout or '') + (done.stderr or '') if quiet else ''}'{' '.join(line)}' failed"
        )


COMMANDS = {"build": build, "installed": installed, "oldest": oldest, "newest": newest}


def main(names: Sequence[str]) -> int:
    try:
        for name in names:
            COMMANDS[name]()
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
