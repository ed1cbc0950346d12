"""`kinetree run`: options that reach what they name, what is written, drawn and said, and how it ends; over results made by hand."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree import models
from kinetree.models.result import plots
from kinetree.scripts import cli
from kinetree.scripts.commands import run
from kinetree.scripts.reports import stage_pictures, stage_report, stage_tables, summary
from kinetree.scripts.terminal.error_messages import BadInput


class Result(dict):
    """Columns over three instants."""

    warnings: tuple[str, ...] = ()

    time = np.array([0.5, 1.0, 2.5])
    interrupted, events, unreached, statistics, names = "", [], (), {"steps": 3}, ("x", "y")

    def __init__(self) -> None:
        super().__init__(x=np.array([1.0, 3.0, 2.0]), y=np.array([0.0, -1.0, 0.0]))
        self.log: list[Any] = []

    def unit(self, name: str) -> str:
        return "m"

    def save(self, path: Path, wanted: Any) -> None:
        self.log.append(("save", path, wanted))

    def plot(self, path: Path, wanted: Any) -> list[int]:
        self.log.append(("plot", path, wanted))
        return [1, 2]

    def select(self, wanted: Any) -> tuple[str, ...]:
        return tuple(wanted)


def system_of(**more: Any) -> Any:
    compiled = SimpleNamespace(outputs=[SimpleNamespace(name="y")], inputs=("u",))
    description = SimpleNamespace(
        slips=(), chain=None, report=SimpleNamespace(plots={}, tables={}), controllers={}
    )
    told = {
        "name": "arm",
        "compiled": compiled,
        "coordinates": ("x",),
        "own_coordinates": ("x",),
        "description": description,
        "warnings": [],
        "stages": (),
    }
    return SimpleNamespace(**told | more)


def test_run_writes_requested_tables_and_plots(tmp_path: Path):
    """A picture of two pages has two files."""
    result: Any = Result()
    csv, png = tmp_path / "r.csv", tmp_path / "p.png"
    assert run.write(result, csv, png, "all") == [
        csv,
        png,
        tmp_path / "p-2.png",
    ] and result.log == [("save", csv, "all"), ("plot", png, "all")]
    assert (
        run.write(result, None, None, None) == []
        and run.write(result, None, png, None) == [png, tmp_path / "p-2.png"]
        and len(result.log) == 3
    )


def test_staged_run_draws_its_own_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """But not where columns are chosen."""
    drawn: list[Any] = []
    staged = [True]
    monkeypatch.setattr(stage_tables, "staged", lambda result: staged[0])
    monkeypatch.setattr(stage_pictures, "draw_stages", lambda *given: drawn.append(given))
    result: Any = Result()
    csv, png = tmp_path / "r.csv", tmp_path / "p.png"
    assert run.pictures_and_table("s", result, csv, png, None) == [csv, png] and drawn == [
        ("s", result, png)
    ]  # type: ignore[arg-type]
    for given in ((csv, png, ("x",)), (csv, None, None)):
        run.pictures_and_table("s", result, *given)  # type: ignore[arg-type]
    staged[0] = False
    run.pictures_and_table("s", result, None, png, None)  # type: ignore[arg-type]
    assert len(drawn) == 1 and [each[0] for each in result.log] == [
        "save",
        "save",
        "plot",
        "save",
        "plot",
    ]


def test_plot_sets_are_saved_under_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        plots,
        "plot",
        lambda result, path, chosen, **options: (asked.append((path, chosen, options)), [1, 2])[1],
    )
    sets = {
        "a": SimpleNamespace(
            columns=["x"], title="A", window=(0, 1), stages=["s"], deviation=True, per_page=4
        ),
        "b": SimpleNamespace(
            columns=None, title="", window=None, stages=None, deviation=False, per_page=None
        ),
    }
    system = system_of()
    system.description.report.plots = sets
    folder = tmp_path / "new" / "p"
    files = [folder / "a.png", folder / "a-2.png", folder / "b.png", folder / "b-2.png"]
    assert run.saved_plots(system, Result(), folder) == files and folder.is_dir()  # type: ignore[arg-type]
    assert asked == [
        (
            folder / "a.png",
            ("x",),
            {"title": "A", "window": (0, 1), "stages": ["s"], "deviation": True, "per_page": 4},
        ),
        (
            folder / "b.png",
            None,
            {"title": "", "window": None, "stages": None, "deviation": False, "per_page": None},
        ),
    ]
    assert run.saved_plots(system, Result(), None) == []  # type: ignore[arg-type]


def test_run_json_summary_is_machine_readable():
    made: Any = [
        SimpleNamespace(
            title="t", names=["a"], units=["m"], labels=["b"], values=[[1.0]], sums=[2.0]
        )
    ]
    found = run.told_of(system_of(), Result(), [Path("r.csv")], made)  # type: ignore[arg-type]
    assert found == {
        "name": "arm", "start_time": 0.5, "stop_time": 2.5, "interrupted": "", "events": [], "unreached": [], "warnings": [],
        "statistics": {"steps": 3},
        "variables": {"y": {"start": 0.0, "end": 0.0, "smallest": -1.0, "largest": 0.0, "unit": "m"},
                      "x": {"start": 1.0, "end": 2.0, "smallest": 1.0, "largest": 3.0, "unit": "m"}},
        "tables": [{"title": "t", "columns": ["a"], "units": ["m"], "rows": ["b"], "values": [[1.0]], "sums": [2.0]}], "written": [Path("r.csv")],
    }  # fmt: skip


def test_specialised_run_prints_operation_counts():
    motions: list[Any] = [
        SimpleNamespace(trace=SimpleNamespace(operations=size)) for size in (30, 10)
    ]
    assert run.said_of(motions[:1]) == "straight-line code of 30 operations for 1 of 1 structures"
    assert (
        run.said_of([*motions, "b", "a", "b"])
        == "straight-line code of 10 to 30 operations for 2 of 5 structures; the engine for the others: a; b"
    )
    assert run.said_of(["why"]) == "no straight-line code; the engine for the others: why"


def test_rows_are_streamed_only_to_parquet():
    assert run.streamed_to(Path("r.Parquet"), None) == Path("r.Parquet")
    for output, wanted, said in (
        (None, None, "not given"),
        (Path("r.csv"), None, "r.csv"),
        (Path("r.parquet"), "all", "leave one of them out"),
    ):
        with pytest.raises(BadInput, match=said):
            run.streamed_to(output, wanted)


def test_run_prints_requested_tables_and_balances(monkeypatch: pytest.MonkeyPatch):
    shown: list[Any] = []
    staged = [True]
    monkeypatch.setattr(stage_tables, "staged", lambda result: staged[0])
    monkeypatch.setattr(stage_tables, "tables", lambda result, coordinates: {"usual": coordinates})
    monkeypatch.setattr(stage_tables, "books", lambda result: "books")
    monkeypatch.setattr(stage_tables, "show", shown.append)
    monkeypatch.setattr(summary, "summary", lambda *given: shown.append(given))
    result, made = Result(), [SimpleNamespace(title="t", rows=lambda: [1])]
    books = {stage_tables.BOOKS: "books"}
    for kind, tables, expected in (
        (True, made, [{"t": [1]}, books]),
        (True, [], [{"usual": ("x",)}, books]),
        (False, made, [{"t": [1]}]),
        (False, [], []),
    ):
        staged[0] = kind
        run.show(system := system_of(), result, ["w"], tables, ("x",))  # type: ignore[arg-type]
        assert shown == [(system, result, ["w"], ("x",)), *expected]
        shown.clear()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "-q",
        "--json",
        "--columns all",
        "--columns x,y",
        "--specialised",
        "--generic",
        "--tables t.csv",
        "--stream -o r.parquet",
    ],
)
def test_run_options_reach_simulation(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """Options reach the simulation by their names, those that are not given stay away; 130 where it was interrupted; warnings in any case.

    Where neither straight-line code nor the engine is asked for, the run has the choice.
    """
    monkeypatch.chdir(tmp_path)
    asked: list[Any] = []
    result = Result()
    result.interrupted = "by hand" if words == "-q" else ""

    def simulate(progress: Any, **options: Any) -> Result:
        asked.append(options)
        return result

    system = system_of(warnings=["mind it"], simulate=simulate)
    system.specialise = lambda: SimpleNamespace(
        simulate=lambda **given: (asked.append("fast"), simulate(**given))[1], motions=["why"]
    )
    monkeypatch.setattr(
        models,
        "load",
        lambda *given, **more: (
            asked.append((given, more)),
            SimpleNamespace(description=system.description, compile=lambda: system),
        )[1],
    )
    monkeypatch.setattr(run, "given", lambda inputs, maps, system: {"u": 1.0} if inputs else None)
    monkeypatch.setattr(run, "end_of", lambda system, stop: stop or 0.0)
    monkeypatch.setattr(run, "check_columns", lambda *given: asked.append(given[1:]))
    monkeypatch.setattr(stage_report, "wanted_tables", lambda description, table: {"t": table})
    monkeypatch.setattr(stage_report, "made_tables", lambda result, asked, coordinates: [])
    monkeypatch.setattr(stage_report, "write_tables", lambda path, made, name: Path(f"{path}!"))
    monkeypatch.setattr(stage_tables, "staged", lambda result: False)
    monkeypatch.setattr(
        summary,
        "summary",
        lambda system, result, written, chosen=(): print("summary", *written, chosen),
    )
    options = [
        "--stop-time",
        "2.5",
        "--output-interval",
        "0.5",
        "--method",
        "dec",
        "--integrator",
        "RADAU",
        "--tolerance",
        "1e-5",
        "--step-size",
        "0.25",
    ]
    options += ["--step-limit", "50", "--set", "m=2", "--input", "u=1", *words.split()]
    assert cli.main(["run", "m", *options]) == (130 if words == "-q" else 0)
    out, err = capsys.readouterr()
    wanted = {"--columns all": "all", "--columns x,y": ("x", "y")}.get(words)
    given: dict[str, Any] = {
        "stop_time": 2.5, "output_step": 0.5, "method": "DEC", "integrator": "radau", "tolerance": 1e-5, "step": 0.25, "step_limit": 50.0,
        "inputs": {"u": 1.0},
    }  # fmt: skip
    given |= {"stream": Path("r.parquet")} if "--stream" in words else {}
    assert callable(asked[-1].pop("choice", None)) == (words not in ("--specialised", "--generic"))
    assert asked == [
        (("m",), {"m": 2}),
        (wanted, {"t": ()}, None),
        *["fast"] * (words == "--specialised"),
        given,
    ]
    assert err == "warning: mind it\n"
    chosen = "('x', 'y')" if wanted == ("x", "y") else "()"
    files = {"--tables t.csv": "t.csv! ", "--stream -o r.parquet": "r.parquet "}.get(words, "")
    if words == "--json":
        assert json.loads(out)["name"] == "arm"
    else:
        more = "no straight-line code; the engine for the others: why\n" * (
            words == "--specialised"
        )
        assert out == ("" if words == "-q" else f"summary {files}{chosen}\n{more}")
    asked.clear()
    monkeypatch.setattr(run, "end_of", lambda system, stop: 0.0)
    assert cli.main(["run", "m", "-q"]) == (130 if words == "-q" else 0)
    assert [*asked[-1]] == ["choice"]


def test_linear_chain_runs_by_matrix_method(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    asked: list[Any] = []
    chain = system_of(simulate=lambda *given, **more: (asked.append((given, more)), Result())[1])
    monkeypatch.setattr(
        summary, "summary", lambda system, result, written: print("summary", written)
    )
    for quiet, as_json, shown in (
        (False, False, "summary []\n"),
        (True, False, ""),
        (True, True, None),
        (False, True, None),
    ):
        run.run_chain(chain, 2.0, 0.5, 1e-6, {"u": 1.0}, None, None, None, quiet, as_json)
        out = capsys.readouterr().out
        assert json.loads(out)["name"] == "arm" if shown is None else out == shown
    assert asked == [((2.0, None, 0.5, 1e-6), {"inputs": {"u": 1.0}})] * 4
