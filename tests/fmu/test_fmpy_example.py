"""The scripts of examples/fmpy where Kinetree cannot be imported: they need fmpy and numpy alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fmpy"
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "kinetree":
            raise ImportError("kinetree is blocked")

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its FMUs and its references, and a start file that blocks Kinetree."""
    folder = tmp_path_factory.mktemp("fmpy") / "example"
    shutil.copytree(EXAMPLE, folder)
    arm = load(folder / "arm.toml")
    build_fmu(arm, folder / "arm.fmu", backend="native")
    arm.compile(load_mass=3.0).simulate(inputs={"torque": 84.0}).to_csv(folder / "reference.csv")
    load(folder / "closed.toml").compile().simulate().to_csv(folder / "closed.csv")
    (folder / "sitecustomize.py").write_text(BLOCKED)
    return folder


def run_script(folder: Path, *line: str) -> str:
    """Return what Python prints in the folder, without Kinetree."""
    done = subprocess.run(
        [sys.executable, *line],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_example_runs_without_kinetree_installed(folder: Path):
    with pytest.raises(AssertionError, match="blocked"):
        run_script(folder, "-c", "import kinetree")


def test_fmpy_single_call_agrees_with_run(folder: Path):
    out = run_script(folder, "simulate.py")
    assert "stage 1" in out
    assert float(out.split("kinetree run:")[1].split()[0]) < 1e-6


def test_fmpy_steps_pass_stage_change_and_roll_back(folder: Path):
    out = run_script(folder, "steps.py")
    assert "stage 0 -> 1 at 2.000 s" in out
    driven, free = (float(part.split()[0]) for part in out.split("4 s: ")[1].split("3 s: "))
    assert driven > free, "without a torque the arm falls"


def test_user_controller_agrees_with_internal_one(folder: Path):
    run_script(folder, "-m", "pythonfmu", "build", "-f", "controller.py")
    out = run_script(folder, "couple.py")
    assert float(out.split("inside the mechanism:")[1]) < 1e-6
