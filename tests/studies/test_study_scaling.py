"""Studies on clusters and in Parquet, indices of a known function, worst cases, margins as measures."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from report_page import Page, numbers

from kinetree.scripts import cli
from kinetree.scripts.studies import study_rows as rows
from kinetree.scripts.studies import worst_case
from kinetree.scripts.studies.sobol_indices import indices, saltelli
from kinetree.scripts.studies.study import read_study
from kinetree.scripts.studies.study_row_file import (
    alone,
    kept_rows,
    lines_of,
    parquet_rows,
    parts_of,
    rows_file,
    sign,
)
from kinetree.scripts.studies.study_rows import rows_of

MASS = {
    "name": "m",
    "gravity": [0, 0, 0],
    "parameters": {"k": 100.0, "m": 2.0},
    "bodies": {"b": {"mass": "m"}},
    "joints": {
        "j": {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": 0.1}
    },
    "forces": {"s": {"coordinate": "x", "stiffness": "k", "damping": 1.0}},
}
STUDY = """
mechanism = "m.json"
combine = "latin"
samples = 150
seed = 3
rest = ["frequency"]
[vary]
k = { uniform = [50.0, 150.0] }
m = { uniform = [1.0, 3.0] }
[run]
stop_time = 0.5
output_step = 0.1
[report]
x = ["peak"]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "m.json").write_text(json.dumps(MASS))
    path = tmp_path / "s.toml"
    path.write_text(STUDY)
    return path


def test_cluster_loses_no_row_when_a_worker_dies(study: Path, tmp_path: Path):
    """Two workers of which one is killed after the first rows: the file is that of one process, byte for byte but for the digits of Parquet."""
    distributed = pytest.importorskip("dask.distributed")
    study.write_text(
        STUDY.replace("samples = 150", "samples = 60")
    )  # tasks of three cases, of which eight are under way
    assert cli.main(["study", str(study), "-q", "-o", str(tmp_path / "alone.parquet")]) == 0
    wanted = read_study(study)
    cases = list(wanted.cases())
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**options) as cluster:
        found, killed = {}, 0
        for number, row in rows_of(
            wanted.source(),
            cases,
            wanted.run,
            wanted.texts(),
            1,
            lambda done: None,
            cluster.scheduler_address,
        ):
            found[number] = row
            if not killed:
                killed = next(iter(cluster.workers.values())).process.pid
                os.kill(killed, signal.SIGKILL)
        assert (
            cli.main(
                [
                    "study",
                    str(study),
                    "-q",
                    "-o",
                    str(tmp_path / "many.parquet"),
                    "--cluster",
                    cluster.scheduler_address,
                ]
            )
            == 0
        )
    assert killed and sorted(found) == list(range(60))
    import pyarrow.parquet as parquet

    alone, many = (
        parquet.read_table(tmp_path / name) for name in ("alone.parquet", "many.parquet")
    )
    assert alone.equals(many)
    columns = np.column_stack([alone[name].to_numpy() for name in alone.column_names])
    assert np.array([found[k] for k in range(60)]) == pytest.approx(columns, rel=1e-12)


def test_fixed_step_cases_run_in_lanes(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A mass that is thrown back where it passes zero, with other springs and masses: the same rows whether cases share vector registers or not."""
    d = {**MASS, "events": {"back": {"when": "x < -0.02", "set": {"der(x)": "-1.5*der(x)"}}}}
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = STUDY.replace('rest = ["frequency"]\n', "").replace(
        "output_step = 0.1", 'output_step = 0.02\nintegrator = "rk4"\nstep = 0.005'
    )
    study.write_text(text.replace('x = ["peak"]', 'x = ["peak", "end", "rms"]'))
    assert cli.main(["study", str(study), "-q", "-o", str(tmp_path / "lanes.csv")]) == 0
    monkeypatch.setattr(rows, "rows_in_lanes", None)
    monkeypatch.setattr(rows, "together", lambda *given: 7)
    assert cli.main(["study", str(study), "-q", "-o", str(tmp_path / "single.csv")]) == 0
    lanes, single = (
        np.loadtxt(tmp_path / name, delimiter=",", skiprows=1)
        for name in ("lanes.csv", "single.csv")
    )
    assert (
        len(lanes) == 150
        and lanes == pytest.approx(single, rel=1e-9, abs=1e-12)
        and (single[:, 2] > 0.1).any()
    )


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="workers see what is patched only where they are forks"
)
def test_case_crashing_its_workers_has_nan_row(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """The study ends with the rows of all others, and says by what the one was ended."""
    here, plain = os.getpid(), rows.row_of

    def deadly(system: object, case: dict, *rest) -> list[float]:
        if case["k"] == 70.0:
            assert os.getpid() != here
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(system, case, *rest)

    monkeypatch.setattr(rows, "row_of", deadly)
    text = STUDY.replace('combine = "latin"\nsamples = 150\nseed = 3\n', "")
    text = text.replace("{ uniform = [50.0, 150.0] }", "{ from = 50, to = 90, count = 21 }")
    study.write_text(text.replace("{ uniform = [1.0, 3.0] }", "[2.0]"))
    out = tmp_path / "r.csv"
    assert cli.main(["study", str(study), "-q", "-o", str(out), "--workers", "2"]) == 0
    found = np.loadtxt(out, delimiter=",", skiprows=1)
    lost = np.isnan(found).any(axis=1)
    assert len(found) == 21 and list(found[lost][:, 0]) == [70.0]
    said = capsys.readouterr().err
    assert "1 run" in said and "k = 70" in said and "SIGKILL" in said


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("mechanism", "mechanism"),
        ("table", "mechanism"),
        ("stop_time = 0.6", "stop_time"),
        ("inputs = { push = 1.0 }", "inputs"),
        ('integrator = "radau"', "integrator"),
    ],
)
def test_rows_of_another_study_are_not_resumed(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture, change: str, named: str
):
    """Whatever their numbers depend on: the description, a table beside it, the length, inputs and method of the runs. The rows stay as they are."""
    (tmp_path / "push.csv").write_text("x,y\n0,0\n1,1\n")
    made = {
        **MASS,
        "inputs": {"push": {}},
        "tables": {"soft": {"file": "push.csv"}},
        "outputs": {"f": "table('soft', x) + push"},
    }
    (tmp_path / "m.json").write_text(json.dumps(made))
    study.write_text(STUDY.replace("samples = 150", "samples = 4"))
    out = tmp_path / "r.csv"
    assert cli.main(["study", str(study), "-q", "-o", str(out)]) == 0
    whole = out.read_text()
    out.write_text("".join(whole.splitlines(keepends=True)[:3]))
    cut = out.read_text()
    if change == "mechanism":
        made["joints"] = {"j": {**MASS["joints"]["j"], "start": 0.2}}
        (tmp_path / "m.json").write_text(json.dumps(made))
    elif change == "table":
        (tmp_path / "push.csv").write_text("x,y\n0,0\n1,2\n")
    else:
        text = study.read_text()
        old = "stop_time = 0.5"
        study.write_text(text.replace(old, change if "stop" in change else f"{old}\n{change}"))
    assert cli.main(["study", str(study), "-q", "-o", str(out), "--resume"]) == 2
    assert named in capsys.readouterr().err and out.read_text() == cut
    if change == "mechanism":
        (tmp_path / "m.json").write_text(json.dumps({**made, "joints": MASS["joints"]}))
        assert cli.main(["study", str(study), "-q", "-o", str(out), "--resume"]) == 0
        assert out.read_text() == whole
        (tmp_path / "r.csv.study").unlink()
        assert cli.main(["study", str(study), "-q", "-o", str(out), "--resume"]) == 2


def test_incomplete_row_is_not_resumed(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Ctrl-C in the middle of a run ends the study with 130, the rows until then stay, and --resume makes the file of a whole study of them."""
    from kinetree.models.system.system import System

    study.write_text(STUDY.replace("samples = 150", "samples = 6"))
    out, plain, runs = tmp_path / "r.csv", System.simulate, []

    def cut(self: System, *given, **options):
        found = plain(self, *given, **options)
        runs.append(found)
        if len(runs) == 4:
            found.interrupted = "interrupted"
        return found

    assert cli.main(["study", str(study), "-q", "-o", str(out)]) == 0
    whole = out.read_text()
    monkeypatch.setattr(System, "simulate", cut)
    assert cli.main(["study", str(study), "-q", "-o", str(out)]) == 130
    assert out.read_text() == "".join(whole.splitlines(keepends=True)[:4])
    assert cli.main(["study", str(study), "-q", "-o", str(out), "--resume"]) == 0
    assert out.read_text() == whole


def test_missing_scheduler_is_reported(
    study: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """An address at which nobody answers."""
    distributed = pytest.importorskip("dask.distributed")

    def refuse(*given, **options):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", refuse)
    assert cli.main(["study", str(study), "-q", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "no scheduler answers" in capsys.readouterr().err


def test_parquet_study_resumes_from_parts(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An interrupted study leaves whole parts; resumed, only the rest is run and the file is that of an uninterrupted one."""
    pyarrow = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("kinetree.scripts.studies.study_row_file.PAUSE", 0.0)
    wanted, path = read_study(study), tmp_path / "r.parquet"
    cases = list(wanted.cases())
    sign(path, wanted)
    with pytest.raises(KeyboardInterrupt), parquet_rows(path, wanted.columns(), []) as write:
        for number, row in rows_of(
            wanted.source(), cases, wanted.run, wanted.texts(), 1, lambda done: None
        ):
            if number == 100:
                raise KeyboardInterrupt
            write(row)
    assert len(kept_rows(path, wanted)) == 100 and len(list(parts_of(path).iterdir())) == 2
    assert cli.main(["study", str(study), "-q", "-o", str(path), "--resume"]) == 0
    assert cli.main(["study", str(study), "-q", "-o", str(tmp_path / "whole.parquet")]) == 0
    assert (
        pyarrow.read_table(path).equals(pyarrow.read_table(tmp_path / "whole.parquet"))
        and not parts_of(path).exists()
    )
    assert (
        cli.main(["study", str(study), "-q", "-o", str(path), "--resume"]) == 0
    )  # nothing is left to run
    assert pyarrow.read_table(path).num_rows == 150


def test_sobol_indices_match_ishigami_function():
    """sin a + 7 sin² b + 0.1 c⁴ sin a over ±π: S1 = 0.3139, 0.4424, 0 and ST = 0.5576, 0.4424, 0.2437 (Ishigami and Homma 1990)."""
    pytest.importorskip("SALib")
    a, b, c = (np.pi * (2 * saltelli(3, 2048, 1) - 1)).T
    found = indices(np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a), ["a", "b", "c"])
    assert found["S1"] == pytest.approx([0.3139, 0.4424, 0.0], abs=0.02)
    assert found["ST"] == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.02)
    assert (np.abs(found["S1"] - [0.3139, 0.4424, 0.0]) < 2 * found["S1_conf"] + 1e-3).all()


def test_study_computes_sobol_indices(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    """√(k/m): shares of the variance by quadrature of its conditional means; the report has them."""
    pytest.importorskip("SALib")
    text = (
        STUDY.replace("latin", "indices")
        .replace("samples = 150", "samples = 64")
        .replace('x = ["peak"]', 'x = ["rest"]')
    )
    study.write_text(text.replace("stop_time = 0.5\n", ""))
    assert (
        cli.main(
            [
                "study",
                str(study),
                "-q",
                "-o",
                str(tmp_path / "i.csv"),
                "--report",
                str(tmp_path / "i.html"),
            ]
        )
        == 0
    )
    rows = np.loadtxt(tmp_path / "i.csv", delimiter=",", skiprows=1)
    assert len(rows) == 64 * 4 and np.abs(rows[:, 2]).max() < 1e-12  # it rests at 0
    found = indices(rows[:, 3], ["k", "m"])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    k, m, w = 100 + 50 * nodes, 2 + nodes, weights / 2
    f = np.sqrt(k[:, None] / m[None, :])
    mean = w @ f @ w
    variance = w @ (f - mean) ** 2 @ w
    assert found["S1"] == pytest.approx(
        [w @ (f @ w - mean) ** 2 / variance, w @ (w @ f - mean) ** 2 / variance], abs=0.08
    )
    page = {
        row[0]: row[1:]
        for row in [rows for rows in Page(tmp_path / "i.html").tables if rows[0][0] == "parameter"][
            1
        ]
    }
    for k, name in enumerate(("k", "m")):
        told, total = (
            numbers(page[name]),
            1.0 - [w @ (f @ w - mean) ** 2 / variance, w @ (w @ f - mean) ** 2 / variance][1 - k],
        )
        assert told == pytest.approx(
            [found["S1"][k], found["S1_conf"][k], found["ST"][k], found["ST_conf"][k]], rel=1e-5
        )
        assert told[2] == pytest.approx(total, abs=0.08) and 0.0 < told[1] < 0.5
    study.write_text(text.replace("samples = 64", "samples = 60"))
    assert cli.main(["study", str(study), "-q"]) == 2 and "power of two" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_row_file_is_locked_against_second_study(
    study: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture
):
    """Two at once would mix their rows: the second is refused, by whichever path it names the file, and touches nothing. Later ones go on."""
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    study.write_text(STUDY.replace("samples = 150", "samples = 3"))
    wanted, path = read_study(study), tmp_path / name
    with alone(path), rows_file(path, wanted.columns(), []) as write:
        write([1.0] * len(wanted.columns()))
        before = sorted(each.name for each in tmp_path.rglob("*"))
        for given in (path, tmp_path / ".." / tmp_path.name / name):
            assert cli.main(["study", str(study), "-q", "-o", str(given), "--resume"]) == 2
            said = capsys.readouterr().err
            assert "another study is writing to it" in said and name in said
        assert sorted(each.name for each in tmp_path.rglob("*")) == before
    assert kept_rows(path, wanted) == [] and lines_of(path)[1] == [[1.0] * len(wanted.columns())]
    assert cli.main(["study", str(study), "-q", "-o", str(path)]) == 0
    assert len(kept_rows(path, wanted)) == 3 and {each.name for each in tmp_path.iterdir()} == {
        "m.json",
        "s.toml",
        name,
        f"{name}.study",
    }


def test_worst_case_of_a_study_is_found(
    study: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """The frequency √(k/m)/2π is highest in the corner k = 150, m = 1."""
    monkeypatch.setattr(worst_case, "GENERATIONS", 24)  # enough for two parameters
    assert cli.main(["study", str(study), "-q", "--worst", "frequency"]) == 0
    said = capsys.readouterr().out
    assert float(said.split("frequency: ")[1].split()[0]) == pytest.approx(
        np.sqrt(150) / (2 * np.pi), rel=1e-3
    )
    assert cli.main(["study", str(study), "-q", "--worst", "magic(x)"]) == 2


def test_stability_margins_are_study_measures(study: Path, tmp_path: Path):
    """A PD over a mass: phase margin atan(kd w/kp) at the crossover, for every gain, compiled once; an unstable loop has none."""
    d = {key: value for key, value in MASS.items() if key != "forces"} | {
        "actuators": {"p": {"coordinate": "x"}}
    }
    d["controllers"] = {"c": {"gains": {"x": "k", "der(x)": 4.0}, "drives": "p"}}
    (tmp_path / "m.json").write_text(json.dumps(d))
    study.write_text(
        'mechanism = "m.json"\nrest = ["phase_margin", "modulus_margin"]\n[vary]\nk = { from = 10.0, to = 20.0, count = 6 }\n'
    )
    assert cli.main(["study", str(study), "-q", "-o", str(tmp_path / "o.csv")]) == 0
    rows = np.loadtxt(tmp_path / "o.csv", delimiter=",", skiprows=1)
    for k, phase, _ in rows:
        w = np.sqrt((16 + np.sqrt(256 + 16 * k * k)) / 8)  # |k + 4jw| = 2 w²
        assert phase == pytest.approx(np.degrees(np.arctan(4 * w / k)), rel=1e-6)
    d["controllers"]["c"]["period"] = 2.0
    (tmp_path / "m.json").write_text(json.dumps(d))
    assert cli.main(["study", str(study), "-q", "-o", str(tmp_path / "o.csv")]) == 0
    assert (np.loadtxt(tmp_path / "o.csv", delimiter=",", skiprows=1)[:, 1] == 0.0).all()


SOME = """
mechanism = "m.json"
[vary]
k = [60.0, 70.0, 80.0]
[run]
stop_time = 0.5
output_step = 0.1
[report]
x = ["peak"]
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_failed_runs_do_not_end_study(tmp_path: Path, capsys: pytest.CaptureFixture, workers: int):
    """A force that has no value at k = 70: that row is empty, the first such run says why; nothing but such runs is a failure."""
    (tmp_path / "m.json").write_text(
        json.dumps({**MASS, "forces": {"s": {"coordinate": "x", "value": "1/(k - 70)"}}})
    )
    file, out, page = tmp_path / "s.toml", tmp_path / "out.csv", tmp_path / "out.html"
    file.write_text(SOME)
    given = [
        "study",
        str(file),
        "-q",
        "-o",
        str(out),
        "--report",
        str(page),
        "--workers",
        str(workers),
    ]
    assert cli.main(given) == 0
    said = capsys.readouterr().err
    assert "warning: 1 run has no numbers, of 3; k = 70: " in said and "acceleration" in said
    found = np.array(lines_of(out)[1])
    assert np.isnan(found[1, 1]) and np.isfinite(found[[0, 2]]).all()
    text = page.read_text()
    assert "1 of 3 runs failed" in text and "Traceback" not in text
    file.write_text(SOME.replace("[60.0, 70.0, 80.0]", "[70.0]"))
    assert cli.main(given) == 1
