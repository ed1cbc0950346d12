"""The command line as a user meets it: light to start, one readable line per error, exit codes 0, 1, 2."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree.scripts import cli
from kinetree.scripts.commands import found
from kinetree.scripts.terminal.result_columns import Recorded

COMMANDS = found()
HEAVY = (
    "numpy",
    "scipy",
    "numba",
    "pydantic",
    "matplotlib",
    "fmpy",
    "pythonfmu",
    "h5py",
    "pyarrow",
)
PENDULUM = """
format = "kinetree/1"
name = "pendulum"
[parameters]
length = { value = 1.0, unit = "m" }
[bodies.rod]
mass = 1.0
com = [0, 0, "-length"]
inertia = [0.01, 0.01, 0.001, 0, 0, 0]
[joints.pivot]
child = "rod"
transforms = [{ rotate = "y", coordinate = "phi", start = 0.1 }]
[forces.motor]
coordinate = "phi"
value = "torque - 0.5*der(phi)"
[inputs.torque]
start = 0.0
[outputs.x]
quantity = "position"
body = "rod"
axis = "x"
"""


@pytest.fixture
def pendulum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    return path


def lines_of_failure(arguments: list[str], code: int, capsys: pytest.CaptureFixture) -> list[str]:
    """Run a line that must fail; nothing of a traceback may show."""
    assert cli.main(arguments) == code
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.strip().splitlines()


def test_help_is_printed_quickly():
    """Under 0.7 s of processor time: the wall clock of a busy machine says nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "kinetree.scripts.cli", "--help"], check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.7


def test_help_imports_nothing_heavy():
    finished = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "kinetree.scripts.cli", "--help"],
        check=True,
        capture_output=True,
        text=True,
    )
    imported = {
        line.rsplit("|", 1)[-1].strip().split(".")[0] for line in finished.stderr.splitlines()
    }
    assert not imported & set(HEAVY)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture):
    assert cli.main([name, "--help"]) == 0
    assert (COMMANDS[name].__doc__ or "").split(".")[0].split(",")[0] in " ".join(
        capsys.readouterr().out.split()
    )


def test_tables_named_in_helps_are_printed(capsys: pytest.CaptureFixture):
    """[lqr] and [[loops]] were taken for markup and left gaps in sentences."""
    for name, words in (
        ("tune", ("[lqr]", "[lqg]", "[tune]", "[[loops]]", "[controllers]")),
        ("run", ("[report.plots]", "[report.tables]")),
    ):
        assert cli.main([name, "--help"]) == 0
        printed = capsys.readouterr().out
        assert all(word in printed for word in words) and "\\[" not in printed, name


def test_console_command_is_installed():
    finished = subprocess.run(
        [str(Path(sys.executable).parent / "kinetree"), "--version"], capture_output=True, text=True
    )
    assert finished.returncode == 0 and finished.stdout.startswith("kinetree ")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["run"], "FILE"),
        (["run", "pendulum.toml", "--stop-tiem", "1"], "--stop-tiem"),
        (["run", "pendulum.toml", "--stop-time", "soon"], "--stop-time"),
        (["run", "pendulum.toml", "--method", "DECC"], "DEC"),
        (["run", "pendulum.toml", "--integrator", "adam"], "adams"),
        (["run", "pendulum.toml", "--set", "length"], "NAME=VALUE"),
        (["run", "pendulum.toml", "--set", "lenght=2"], "length"),
        (["run", "pendulum.toml", "--output", "result.doc"], ".csv"),
        (["run", "pendulum.toml", "--output", "nowhere/result.csv"], "nowhere"),
        (["check", "missing.toml"], "missing.toml"),
        (["info", "lib:regulater"], "regulater"),
        (["bench", "nonsense"], "nonsense"),
        (["fmu", "pendulum.toml", "--backend", "rust"], "native"),
        (["fmu", "pendulum.toml", "-o", "pendulum.zip"], ".fmu"),
        (["verify", "missing.fmu"], "missing.fmu"),
        (["verify", "pendulum.toml"], "zip"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    arguments: list[str], word: str, pendulum: Path, capsys: pytest.CaptureFixture
):
    lines = lines_of_failure(arguments, 2, capsys)
    assert len(lines) == 1 and lines[0].startswith("kinetree: ") and word in lines[0]


def test_check_reports_all_errors_of_file(pendulum: Path, capsys: pytest.CaptureFixture):
    pendulum.write_text(
        PENDULUM.replace("mass = 1.0", "mass = -1.0").replace('body = "rod"', 'body = "rood"')
    )
    lines = lines_of_failure(["check", str(pendulum)], 2, capsys)
    assert len(lines) == 2 and "mass" in lines[0] + lines[1] and "rood" in lines[0] + lines[1]


def test_debug_shows_the_traceback(pendulum: Path):
    with pytest.raises(Exception, match="missing.toml"):
        cli.main(["--debug", "check", "missing.toml"])


def test_check_reports_valid_file_as_ok(pendulum: Path, capsys: pytest.CaptureFixture):
    assert cli.main(["check", str(pendulum)]) == 0
    assert "1 body, 1 degree of freedom" in capsys.readouterr().out


def test_info_as_json(pendulum: Path, capsys: pytest.CaptureFixture):
    assert cli.main(["info", str(pendulum), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["bodies"] == [{"name": "rod", "parent": "ground", "joint": "pivot"}]
    assert content["joints"][0]["coordinates"] == ["phi"] and content["cut_joints"] == []
    assert (
        content["freedoms"] == 1
        and content["engine"] == "DEC"
        and content["cheapest"] in content["costs"]
    )
    assert [
        entry["name"] for entry in content["inputs"] + content["outputs"] + content["parameters"]
    ] == ["torque", "x", "length"]


def test_info_draws_the_tree(capsys: pytest.CaptureFixture):
    assert cli.main(["info", "lib:regulator"]) == 0
    said = capsys.readouterr().out
    assert "ground" in said and "used for runs" in said and "fewest operations" in said
    assert "2 bodies, 4 degrees of freedom" in said and re.search(r"\n +method +operations", said)
    assert (
        cli.main(["info", "lib:pendulum"]) == 0
        and "1 body, 1 degree of freedom" in capsys.readouterr().out
    )


def test_run_writes_table_and_picture(pendulum: Path, capsys: pytest.CaptureFixture):
    options = [
        "--stop-time",
        "0.5",
        "--output-interval",
        "0.1",
        "--integrator",
        "rk45",
        "--tolerance",
        "1e-8",
        "--set",
        "length=2",
    ]
    assert (
        cli.main(
            [
                "run",
                str(pendulum),
                *options,
                "--input",
                "torque=1",
                "--output",
                "r.csv",
                "--plot",
                "r.png",
            ]
        )
        == 0
    )
    rows = Path("r.csv").read_text().splitlines()
    assert len([row for row in rows if row[:1].isdigit()]) == 6
    assert os.path.getsize("r.png") > 1000
    assert "phi" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "parquet", "h5", "mat"])
def test_run_writes_chosen_columns(ending: str, pendulum: Path):
    assert (
        cli.main(
            [
                "run",
                str(pendulum),
                "--stop-time",
                "0.1",
                "-q",
                "-o",
                f"all.{ending}",
                "--columns",
                "all",
            ]
        )
        == 0
    )
    assert {
        "phi",
        "der(der(phi))",
        "force('motor')",
        "reaction('pivot')",
        "reaction('pivot')[6]",
    } <= set(Recorded(Path(f"all.{ending}")).names)
    assert (
        cli.main(
            [
                "run",
                str(pendulum),
                "--stop-time",
                "0.1",
                "-q",
                "-o",
                f"some.{ending}",
                "--columns",
                "x, der(*",
            ]
        )
        == 0
    )
    assert set(Recorded(Path(f"some.{ending}")).names) == {"x", "der(phi)", "der(der(phi))"}


def test_unknown_columns_are_refused_before_the_run(pendulum: Path, capsys: pytest.CaptureFixture):
    said = lines_of_failure(
        ["run", str(pendulum), "-o", "x.csv", "--columns", "der(der(phy))"], 2, capsys
    )
    assert len(said) == 1 and "der(der(phi))" in said[0] and not Path("x.csv").exists()


def test_quiet_run_prints_nothing(pendulum: Path, capsys: pytest.CaptureFixture):
    assert cli.main(["run", str(pendulum), "--stop-time", "0.1", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""


def test_statics_as_json(pendulum: Path, capsys: pytest.CaptureFixture):
    assert cli.main(["statics", str(pendulum), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["stable"] and abs(content["coordinates"]["phi"]) < 1e-9
    assert cli.main(["statics", str(pendulum), "--input", "torque=1"]) == 0
    assert "stable equilibrium" in capsys.readouterr().out


def test_starter_file_is_a_mechanism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", 'My "arm"']) == 0
    path = next(tmp_path.glob("*.toml"))
    assert cli.main(["check", str(path)]) == 0
    assert cli.main(["run", str(path), "--stop-time", "0.1"]) == 0
    assert 'My "arm"' in capsys.readouterr().out
    assert len(lines_of_failure(["new", 'My "arm"'], 2, capsys)) == 1


def test_list_names_the_library(capsys: pytest.CaptureFixture):
    assert cli.main(["list"]) == 0
    assert "lib:regulator" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "parquet", "h5", "mat"])
def test_view_reads_what_run_writes(ending: str, pendulum: Path, capsys: pytest.CaptureFixture):
    """The same numbers come back from every format, with units where the format keeps them."""
    file = f"r.{ending}"
    assert (
        cli.main(
            [
                "run",
                str(pendulum),
                "--stop-time",
                "0.2",
                "--output-interval",
                "0.1",
                "--output",
                file,
                "--quiet",
            ]
        )
        == 0
    )
    recorded = Recorded(Path(file))
    assert recorded.time == pytest.approx([0.0, 0.1, 0.2])
    assert recorded["phi"][0] == 0.1 and recorded["x"][0] == 0.0
    assert recorded.unit("energy") == ("" if ending == "csv" else "J")
    assert cli.main(["view", file, "phi", "--plot", "v.png"]) == 0
    assert "phi" in capsys.readouterr().out and os.path.getsize("v.png") > 1000
    assert "phi" in lines_of_failure(["view", file, "phj"], 2, capsys)[0]


def test_view_refuses_unsupported_files(pendulum: Path, capsys: pytest.CaptureFixture):
    for name in ("r.csv", "r.parquet", "r.h5", "r.mat", "r.txt"):
        Path(name).write_text("time\n1,2,3\nx")
        assert len(lines_of_failure(["view", name], 2, capsys)) == 1


def test_fmu_command_prints_path_unless_quiet(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = tmp_path / "swing.fmu"
    assert cli.main(["fmu", "lib:pendulum", "-o", str(path)]) == 0
    assert str(path) in capsys.readouterr().out and path.stat().st_size > 0
    path.unlink()
    assert cli.main(["fmu", "lib:pendulum", "-o", str(path), "-q"]) == 0
    assert capsys.readouterr().out == "" and path.stat().st_size > 0


@pytest.mark.parametrize(
    "name, cut, coupled",
    [
        ("lib:pendulum", False, False),
        ("lib:four-bar", True, False),
        ("lib:rolling-disc", False, True),
    ],
)
def test_info_lists_loop_joints_and_couplings(
    capsys: pytest.CaptureFixture, name: str, cut: bool, coupled: bool
):
    """Cut joints and couplings have a line of their own where there are some, and none where there are none."""
    assert cli.main(["info", name]) == 0
    said = capsys.readouterr().out
    assert (cut, coupled) == ("closes a loop between" in said, "couplings: " in said)
