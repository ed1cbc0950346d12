"""What `kinetree run`, `identify`, `tune`, `study` say and write at the edges of what they take."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from kinetree.models.language.read_files import read_columns
from kinetree.scripts import cli
from kinetree.scripts.commands.new import content

BLOWS_UP = """
format = "kinetree/1"
name = "unstable"
gravity = [0, 0, 0]
[bodies.b]
mass = 1.0
[joints.j]
child = "b"
transforms = [{ shift = "x", coordinate = "s", speed = 1.0 }]
[forces.feed]
coordinate = "s"
value = "50*der(s)*abs(der(s))"
[run]
stop_time = 1.0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("stages.toml").write_text(content("stages", "My stages"))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "run lib:pendulum --tables t.csv",
            "--tables t.csv: the description has no [report.tables], and there is no --table",
        ),
        ("run lib:pendulum --plots p", "--plots p: the description has no [report.plots]"),
        (
            "study stabilisation --resume",
            "stabilisation: a comparison of [ways] knows no --resume: leave it out",
        ),
        (
            "study supports --json --workers 2",
            "supports: a study of supports knows no --workers, --json: leave them out",
        ),
        (
            "study sweep.toml --worst max(phi) -o w.csv",
            "sweep.toml: the search for --worst knows no --output: leave it out",
        ),
        (
            "study sweep.toml --plot p.png",
            "--plot and --set belong to 'stabilisation', 'supports' and files like theirs",
        ),
        ("study sweep.toml --resume", "--resume needs the --output file to go on with"),
        ("identify lib:pendulum a.csv b.csv -p L --modes", "--modes and --diagram take one record"),
        (
            "identify lib:pendulum a.csv -p L --experiments e.toml",
            "--experiments: expected kinetree identify MODEL --parameters",
        ),
        ("tune nothing.toml --by magic", "--by magic: expected one of"),
    ],
)
def test_invalid_run_options_give_one_line(line: str, told: str, capsys: pytest.CaptureFixture):
    Path("sweep.toml").write_text(
        'mechanism = "lib:pendulum"\n[vary]\nL = [1.0, 2.0]\n[run]\nstop_time = 0.1\n[report]\nphi = ["max"]\n'
    )
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("time,phi\n0,0.1\n0.1,0.1\n")
    assert cli.main(line.split()) == 2
    said = capsys.readouterr().err
    assert told in said and "Traceback" not in said


def test_failed_run_keeps_computed_rows(capsys: pytest.CaptureFixture):
    Path("unstable.toml").write_text(BLOWS_UP)
    assert cli.main(["run", "unstable.toml", "--output-interval", "0.002", "-o", "r.csv"]) != 0
    assert "at t = 0.0200000" in capsys.readouterr().err
    rows = [row for row in csv.DictReader(Path("r.csv").open()) if float(row["time"]) < 0.019]
    assert len(rows) == 10
    for row in rows:  # v' = 50 v^2
        assert float(row["der(s)"]) == pytest.approx(
            1.0 / (1.0 - 50.0 * float(row["time"])), rel=1e-4
        )


def test_stages_appear_in_tables_and_plots(capsys: pytest.CaptureFixture):
    assert cli.main(["run", "stages.toml", "--plot", "p.png", "-o", "r.csv"]) == 0
    said = capsys.readouterr().out
    assert "'flight' begins" in said and "written: p-2.png" in said
    assert Path("p.png").read_bytes().startswith(b"\x89PNG") and Path("r.csv").stat().st_size > 0


def test_specialised_run_names_structures(capsys: pytest.CaptureFixture):
    assert cli.main(["run", "lib:pendulum", "--stop-time", "0.1", "--specialised"]) == 0
    said = capsys.readouterr().out
    assert "straight-line code of " in said and "operations for 1 of 1 structures" in said


def test_run_json_contains_all_results(capsys: pytest.CaptureFixture):
    assert cli.main(["run", "lib:pendulum", "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_runs_start_from_given_values_or_stored_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Start values with units, the end of a result, or an instant of it; what is wrong with them is one line."""
    monkeypatch.chdir(tmp_path)
    brief = ["--stop-time", "0.1", "-q"]
    assert cli.main(["run", "lib:boom", "--start", "luff=24deg", "-o", "a.csv", *brief]) == 0
    assert cli.main(["run", "lib:boom", "--from", "a.csv", "-o", "b.csv", *brief]) == 0
    assert cli.main(["run", "lib:boom", "--from", "a.csv@0.05", "-o", "c.csv", *brief]) == 0
    a, b, c = (read_columns(Path(f"{name}.csv"))["luff"][0] for name in "abc")
    assert a[0] == pytest.approx(np.deg2rad(24.0)) and b[0] == a[-1] and c[0] == a[a.size // 2]
    for line in (
        ["--start", "luff=3mm"],
        ["--start", "lufff=1"],
        ["--start", "luff"],
        ["--from", "d.csv"],
        ["--from", "a.csv@9"],
        ["--from", "a.csv@soon"],
    ):
        capsys.readouterr()
        assert cli.main(["run", "lib:boom", *line]) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1 and line[0] in said[0]


def test_parameters_are_given_with_units(tmp_path: Path, capsys: pytest.CaptureFixture):
    out = tmp_path / "r.csv"
    line = ["run", "lib:boom", "--stop-time", "0.1", "-q", "-o", str(out)]
    assert cli.main([*line, "--set", "reach=2500mm"]) == 0
    mine = read_columns(out)["tip"][0]
    assert cli.main([*line, "--set", "reach=2.5"]) == 0
    assert np.array_equal(read_columns(out)["tip"][0], mine)
    for wrong, word in (("reach=25bar", "bar"), ("reach=25foo", "foo"), ("reach=25 mm 3", "reach")):
        assert cli.main([*line, "--set", wrong]) == 2
        assert word in capsys.readouterr().err
