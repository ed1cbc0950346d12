"""`kinetree study`: rows, comparisons and searches for the worst: how far they say they are, what is written and printed; and files refused."""

import json
import math
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree.scripts import cli
from kinetree.scripts.commands import study
from kinetree.scripts.reports import stage_tables
from kinetree.scripts.studies import stabilisation as ways_study
from kinetree.scripts.studies import stabilisation_report, supports_report, worst_case
from kinetree.scripts.studies import study_rows as rows
from kinetree.scripts.studies import support_study as supports


def printed(capsys: pytest.CaptureFixture) -> list[str]:
    return [
        line
        for line in (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
        if line
    ]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is said of progress."""
    said: list[Any] = []

    @contextmanager
    def progress(*given: Any) -> Any:
        said.append(given)
        yield said.append

    monkeypatch.setattr(study, "progress", progress)
    return said


REFUSED = {
    "cosim lib:boom": {"--json": ".json", "--output": ".csv", "--plot": ".png"}, "hil s.toml": {"--output": ".csv", "--report": ".html"},
    "identify a.csv": {"--output": ".json", "--plot": ".png", "--diagram": ".png"}, "import r.urdf": {"--output": ".toml"},
    "linearize lib:pendulum": {"--output": ".npz", "--bode": ".png", "--nyquist": ".png", "--poles": ".png"},
    "optimize s.toml": {"--output": ".json", "--report": ".html", "--state": ".jsonl"}, "schema": {"--output": ".json"},
    "run lib:pendulum": {"--output": ".csv", "--plot": ".png", "--tables": ".html"}, "statics lib:pendulum": {"--html": ".html"},
    "study s.toml": {"--plot": ".png", "--output": ".csv", "--report": ".html"}, "study supports": {"--output": ".csv", "--report": ".html"},
    "study stabilisation": {"--output": ".csv", "--report": ".html", "--plot": ".png"}, "tune s.toml": {"--output": ".json", "--into": ".toml"},
    "view a.csv": {"--plot": ".png", "--html": ".html", "--video": ".mp4", "--picture": ".png"}, "fmu lib:pendulum": {"--output": ".fmu"},
}  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_files_of_unknown_kinds_are_refused_before_the_work(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(
        'mechanism = "lib:pendulum"\n[vary]\nL = [1.0]\n[run]\nstop_time = 0.1\n[report]\nphi = ["max"]\n'
    )
    for option, ending in REFUSED[line].items():
        assert cli.main([*line.split(), option, "a.doc"]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"{option} a.doc: expected a name that ends in {ending}" in said, option
    assert [each.name for each in tmp_path.iterdir()] == ["s.toml"]
    if line.startswith("linearize"):
        assert (
            cli.main([*line.split(), "--root-locus", "L=1:2:a.doc"]) == 2
            and "--root-locus a.doc: expected" in capsys.readouterr().err
        )
        assert (
            cli.main(["linearize", "s.json", "--output", "./s.json"]) == 2
            and "that is the description itself" in capsys.readouterr().err
        )


def test_study_command_compares_ground_and_supports(
    told: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """A case each; what is not possible is said; tables, pictures and pages where they are asked for."""
    cases = [SimpleNamespace(failed="", name="a"), SimpleNamespace(failed="it tips", name="b")]
    made: list[Any] = []
    monkeypatch.setattr(supports, "study", lambda wanted, told: (told(1), cases)[1])
    monkeypatch.setattr(
        supports_report, "overview", lambda wanted, found: [("case", "tilt"), ("a", 1.5)]
    )
    monkeypatch.setattr(supports_report, "disturbances", lambda wanted, found: [("all",)])
    monkeypatch.setattr(supports_report, "name_of", lambda case: f"case {case.name}")
    for name in ("draw", "write_report"):
        monkeypatch.setattr(
            supports_report,
            name,
            lambda wanted, found, path, name=name: made.append((name, found, path)),
        )
    monkeypatch.setattr(stage_tables, "show", made.append)
    wanted: Any = SimpleNamespace(cases=lambda: cases)
    csv, png, html = (tmp_path / f"a.{ending}" for ending in ("csv", "png", "html"))
    study.supports(wanted, csv, png, html, False)
    assert csv.read_text() == "case,tilt\na,1.5\n" and told == [("supports", 2, False, "cases"), 1]
    assert made == [
        ("draw", cases, png),
        ("write_report", cases, html),
        {"Supports": [("case", "tilt"), ("a", 1.5)], "Every disturbance": [("all",)]},
    ]
    assert capsys.readouterr().out.splitlines() == [
        "case b is not possible: it tips",
        *(f"written: {path}" for path in (csv, png, html)),
    ]
    study.supports(wanted, None, None, None, True)
    assert len(made) == 3 and not capsys.readouterr().out


def test_study_command_compares_drive_variants(
    told: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """A run for each, and as many again where values are varied."""
    made: list[Any] = []
    monkeypatch.setattr(ways_study, "compare", lambda wanted, told: (told(2), "runs")[1])
    monkeypatch.setattr(ways_study, "spread", lambda wanted, told: (told(1), "spreads")[1])
    monkeypatch.setattr(ways_study, "table", lambda wanted, runs: [("way", "x"), (runs, 2.0)])
    monkeypatch.setattr(
        stabilisation_report, "draw", lambda wanted, runs, path: made.append((runs, path))
    )
    monkeypatch.setattr(
        stabilisation_report,
        "write_report",
        lambda wanted, runs, spreads, path: made.append((runs, spreads, path)),
    )
    monkeypatch.setattr(stage_tables, "show", made.append)
    csv, png, html = (tmp_path / f"a.{ending}" for ending in ("csv", "png", "html"))
    for vary, spreads, steps in (
        ({"k": [1.0]}, "spreads", [("stabilisation", 6, False, "runs"), 2, 4]),
        ({}, {}, [("stabilisation", 3, False, "runs"), 2]),
    ):
        study.stabilisation(SimpleNamespace(ways=["a", "b", "c"], vary=vary), csv, png, html, False)  # type: ignore[arg-type]
        assert told == steps and made == [
            ("runs", png),
            ("runs", spreads, html),
            {"Deviations from the start": [("way", "x"), ("runs", 2.0)]},
        ]
        assert (
            capsys.readouterr().out.splitlines()
            == [f"written: {path}" for path in (csv, png, html)]
            and csv.read_text() == "way,x\nruns,2.0\n"
        )
        made.clear(), told.clear()
    study.stabilisation(SimpleNamespace(ways=["a"], vary={}), None, None, None, True)  # type: ignore[arg-type]
    assert not made and not capsys.readouterr().out


def test_failed_study_runs_are_counted_and_the_first_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    wanted: Any = SimpleNamespace(
        vary={"k": [], "m": []}, source=lambda: "s", run={"stop_time": 1.0}, texts=lambda: ("t",)
    )
    asked: list[Any] = []
    why: list[Any] = [ArithmeticError("it blew up")]
    monkeypatch.setattr(rows, "failure_of", lambda *given: (asked.append(given), why[0])[1])
    nan = math.nan
    study.tell_failures(wanted, [[1.0, 2.0, 3.0]])
    assert not asked and not capsys.readouterr().err
    study.tell_failures(wanted, [[1.0, 2.0, 3.0], [1.5, 2.5, nan]])
    assert asked == [("s", {"k": 1.5, "m": 2.5}, {"stop_time": 1.0}, ("t",))]
    assert (
        capsys.readouterr().err
        == "warning: 1 run has no numbers, of 2; k = 1.5, m = 2.5: it blew up\n"
    )
    with pytest.raises(ArithmeticError, match="it blew up"):
        study.tell_failures(wanted, [[1.5, 2.5, nan]])
    why[0] = None
    study.tell_failures(wanted, [[1.5, 2.5, nan], [1.0, 2.0, nan]])
    assert (
        capsys.readouterr().err
        == "warning: 2 runs have no numbers, of 2; the first, k = 1.5, m = 2.5: it runs by itself\n"
    )


def test_worst_case_search_reports_progress(
    told: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    def search(wanted: Any, measure: str, say: Any) -> Any:
        say(5, 1.0)
        return SimpleNamespace(objective=1.0, evaluations=5, values={})

    monkeypatch.setattr(worst_case, "worst_case", search)
    study.tell_worst(SimpleNamespace(), "max(x)", True)  # type: ignore[arg-type]
    assert (
        told == [("worst max(x)", 0.0, True, "evaluations"), 5]
        and "after 5 runs" in capsys.readouterr().out
    )


def test_interrupted_study_resumes(
    told: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Rows of the file count as done; the whole is written, shown unless silence is wanted, or told as JSON."""
    (tmp_path / "s.toml").write_text(
        'mechanism = "lib:pendulum"\n[vary]\nL = [1.0, 2.0, 3.0]\n[run]\nstop_time = 0.1\n[report]\nphi = ["max"]\n'
    )
    monkeypatch.chdir(tmp_path)
    asked: list[Any] = []

    def found(
        source: str, left: list[Any], run: Any, texts: Any, workers: int, say: Any, cluster: str
    ) -> Any:
        for done, case in enumerate(left, 1):
            asked.append((case, workers, cluster))
            say(done)
            yield done, [case["L"], 10.0 * case["L"]]

    monkeypatch.setattr(rows, "rows_of", found)
    assert (
        cli.main(["study", "s.toml", "-o", "r.csv", "--workers", "2", "--cluster", "tcp://a:1"])
        == 0
    )
    assert printed(capsys) == ["L max(phi)", "1 10", "2 20", "3 30", "written: r.csv"]
    whole = (tmp_path / "r.csv").read_text()
    assert asked == [({"L": value}, 2, "tcp://a:1") for value in (1.0, 2.0, 3.0)]
    assert told == [("s", 3, False, "runs"), 1, 2, 3] and whole.split() == [
        "L,max(phi)",
        "1.0,10.0",
        "2.0,20.0",
        "3.0,30.0",
    ]
    (tmp_path / "r.csv").write_text("\n".join(whole.splitlines()[:2]) + "\n")
    told.clear(), asked.clear()
    assert (
        cli.main(["study", "s.toml", "-o", "r.csv", "--resume", "-q"]) == 0
        and (tmp_path / "r.csv").read_text() == whole
    )
    assert (
        told == [("s", 3, True, "runs"), 2, 3]
        and [each[0]["L"] for each in asked] == [2.0, 3.0]
        and not capsys.readouterr().out
    )
    assert cli.main(["study", "s.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"L": value, "max(phi)": 10.0 * value} for value in (1.0, 2.0, 3.0)
    ]
    for line, said in (
        ("s.toml --set L=1", "--plot and --set belong to"),
        ("s.toml --worst max(phi) --workers 2", "knows no --workers: leave it out"),
    ):
        assert cli.main(["study", *line.split()]) == 2 and said in " ".join(
            capsys.readouterr().err.split()
        )
