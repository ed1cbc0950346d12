"""Reference results inside an archive (draft FMI-LS-REF): verify and a host without Kinetree check them."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.cli import main
from kinetree.scripts.fmi import reference_results as R
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.scripts.fmi.verify import Report

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fmpy" / "check_reference.py"
CART = {
    "format": "kinetree/1",
    "name": "cart",
    "inputs": {"drive": {"start": 2.0, "unit": "N"}},
    "bodies": {"cart": {"mass": 2.0}},
    "joints": {
        "rail": {"child": "cart", "transforms": [{"shift": "x", "coordinate": "x", "start": 0.0}]}
    },
    "forces": {"push": {"coordinate": "x", "value": "drive - 3*x"}},
    "run": {"stop_time": 1.0, "output_step": 0.05},
}


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = build_fmu(load(CART), tmp_path / "cart.fmu", "native", platforms=["linux64"])
    assert R.add_reference(path) == 21
    return path


def checked(path: Path) -> tuple[str, bool]:
    report = Report(path)
    with Archive(path) as archive:
        R.check_reference(report, archive)
    (check,) = report.checks
    return check.result, check.good


def test_archive_reproduces_its_reference_results(packed: Path):
    """The input swings, the files have the roles of the draft, the archive stays one that fmpy accepts."""
    from fmpy.validation import validate_fmu

    result, good = checked(packed)
    assert good and "21 rows" in result
    assert validate_fmu(str(packed)) == []
    with ZipFile(packed) as archive:
        root = ElementTree.fromstring(archive.read(f"{R.FOLDER}/fmi-ls-manifest.xml"))
        stimuli = archive.read(f"{R.FOLDER}/{R.STIMULI}").decode().splitlines()
        names = set(archive.namelist())
    assert root.tag == "fmiReferences"
    assert root.get("{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-name") == R.NAME
    roles = {each.get("role"): each.get("source") for each in root}
    assert roles["experiment/smoke-test"] == R.EXPERIMENT and roles["result"] == R.RESULTS
    assert f"resources/{Path(roles['model']).name}" in names
    pushes = [float(row.split(",")[1]) for row in stimuli[1:]]
    assert pushes[0] == 2.0 and max(pushes) == pytest.approx(2.02) and min(pushes) < 1.99


def test_deviating_reference_results_are_reported(packed: Path, tmp_path: Path):
    """A column that is off by twice its tolerance; an experiment that another program wrote."""
    for change, word in (("off", "x uses 2 "), ("other", "not compared")):
        other = tmp_path / f"{change}.fmu"
        with ZipFile(packed) as before, ZipFile(other, "w") as after:
            for name in before.namelist():
                content = before.read(name)
                if change == "other" and name.endswith(R.EXPERIMENT):
                    content = json.dumps({"format": "another/1"}).encode()
                if change == "off" and name.endswith(R.RESULTS):
                    heading, *rows = content.decode().splitlines()
                    at = heading.split(",").index("x")
                    cells = rows[5].split(",")
                    cells[at] = repr(float(cells[at]) + 2e-4)
                    rows[5] = ",".join(cells)
                    content = "\n".join([heading, *rows, ""]).encode()
                after.writestr(name, content)
        result, good = checked(other)
        assert word in result and good == (change == "other")


def test_independent_fmpy_script_checks_reference_results(packed: Path, tmp_path: Path):
    blocked = (
        "import sys; sys.modules['kinetree'] = None; sys.argv = ['x', sys.argv[1]]; "
        f"exec(compile(open({str(EXAMPLE)!r}).read(), 'script', 'exec'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked, str(packed)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "good  x:" in done.stdout and "BAD" not in done.stdout


def test_commands_write_and_check_reference_results(tmp_path: Path, capsys: pytest.CaptureFixture):
    model, path = tmp_path / "cart.json", str(tmp_path / "c.fmu")
    model.write_text(json.dumps(CART))
    line = ["fmu", str(model), "--backend", "native", "--platforms", "linux64", "--reference"]
    assert main([*line, "-o", path]) == 0
    assert "21 rows of reference results" in capsys.readouterr().err
    assert main(["verify", path, "--stop-time", "0.2"]) == 0
    assert "reference results inside" in capsys.readouterr().out
