"""Between a command line and its work: numbers, choices, files, tables, progress; every border of them, and what is said where one is passed."""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field

from kinetree.models.language.errors import ModelError
from kinetree.scripts.terminal import (
    arguments,
    error_messages,
    input_files,
    input_signals,
    json_output,
    measured_files,
    progress,
)
from kinetree.scripts.terminal import child_process as own_process
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.result_columns import Recorded


def test_settings_are_numbers_by_name():
    """Whole ones stay whole, for they may be counts."""
    found = arguments.numbers([" a = 2", "b=-3", "c=+4", "d=2.0", "e= 1e3", "f=-inf"])
    assert (
        found == {"a": 2, "b": -3, "c": 4, "d": 2.0, "e": 1000.0, "f": -math.inf}
        and arguments.numbers(None) == {}
    )
    assert [type(value) for value in found.values()] == [int] * 3 + [float] * 3
    for wrong in ("a", "a=", "=2", " =2", "a=b", "a=1=2"):
        with pytest.raises(BadInput, match=f"--input {wrong}: expected NAME=VALUE with a number"):
            arguments.numbers(["b=1", wrong], "--input")


def test_choices_ignore_letter_case():
    assert arguments.one_of("dec", ("ABM", "DEC"), "--method") == "DEC"
    for value, choices, said in (
        ("DECC", ("ABM", "DEC"), "--method DECC: expected one of ABM, DEC; did you mean 'dec'?"),
        ("x", (), "--method x: there is nothing that it could name; leave it out"),
        ("abcd", ("abxy",), "--method abcd: expected one of abxy; did you mean 'abxy'?"), ("abcd", ("axyz",), "--method abcd: expected one of axyz"),
    ):  # fmt: skip
        with pytest.raises(BadInput) as error:
            arguments.one_of(value, choices, "--method")
        assert str(error.value) == said
    assert arguments.held(["U=1"], ("u",)) == {"U": 1} and arguments.held(None, ("u",)) is None


def test_unusable_output_files_are_refused_before_the_work(tmp_path: Path):
    assert arguments.writable(None, (".csv",), "-o") is None
    assert arguments.writable(tmp_path / "a.CSV", (".csv", ".mat"), "-o") == tmp_path / "a.CSV"
    for path, said in (
        (tmp_path / "a.doc", "expected a name that ends in .csv, .mat"),
        (tmp_path / "no" / "a.csv", "the folder .*no does not exist"),
    ):
        with pytest.raises(BadInput, match=said):
            arguments.writable(path, (".csv", ".mat"), "-o")


def test_json_output_is_plain_data(tmp_path: Path, capsys: pytest.CaptureFixture):
    """What is no finite number is null; arrays, sets and paths become lists and texts."""
    found = {
        1: (1.5, math.nan, math.inf, -math.inf),
        "a": np.array([[1, 2]]),
        "b": np.float64(0.5),
        "p": Path("x"),
        "t": True,
        "n": None,
        "s": {3},
    }
    plain = {
        "1": [1.5, None, None, None],
        "a": [[1, 2]],
        "b": 0.5,
        "p": "x",
        "t": True,
        "n": None,
        "s": [3],
    }
    assert json_output.plain(found) == plain
    json_output.show_json(found)
    assert json.loads(shown := capsys.readouterr().out) == plain and shown.startswith('{\n  "1": [')
    json_output.keep_json({"ü": 1}, tmp_path / "a.json")
    json_output.keep_json({"ü": 1}, None)
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "ü": 1\n}\n' and list(
        tmp_path.iterdir()
    ) == [tmp_path / "a.json"]


def test_exit_codes_distinguish_failures():
    """2 for what was given, 1 for what failed on its way."""
    wrong = [
        BadInput("x"),
        ModelError([]),
        ValueError("x"),
        FileNotFoundError(2, "x"),
        IsADirectoryError(21, "x"),
    ]
    assert [error_messages.exit_code(each) for each in wrong] == [2] * 5
    assert [
        error_messages.exit_code(each)
        for each in (ArithmeticError(), PermissionError(13, "x"), KeyError("x"), OSError(28, "x"))
    ] == [1] * 4


class Inner(input_files.FileTable):
    size: input_files.Real = 1.0


class Outer(input_files.FileTable):
    count: Annotated[int, Field(strict=True, ge=2)] = 2
    way: Literal["a", "b"] = "a"
    width: input_files.Positive
    share: Annotated[float, Field(le=1.0, gt=-2.0)] = 0.5
    inner: dict[str, Inner] = {}
    rows: list[float] = []
    spelt: Annotated[float, Field(alias="from")] = 0.0


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"width": 0.0}, ["width: found 0.0, expected a positive number"]), ({}, ["width: is missing"]),
        ({"width": 1.0, "count": 1}, ["count: found 1, expected 2 or more"]),
        ({"width": 1.0, "share": 1.5}, ["share: found 1.5, expected at most 1"]),
        ({"width": 1.0, "share": -2.0}, ["share: found -2.0, expected more than -2"]),
        ({"width": math.inf}, ["width: found inf, expected a finite number"]), ({"width": "1"}, ["width: found '1', expected a number"]),
        ({"width": 1.0, "way": "c"}, ["way: found 'c', expected one of 'a', 'b'"]),
        ({"width": 1.0, "count": 2.5}, ["count: found 2.5, expected a whole number"]),
        ({"width": 1.0, "inner": {"x": {"sise": 1.0}}}, ["inner.x.sise: unknown key; did you mean 'size'?"]),
        ({"width": 1.0, "inner": {"x": {"what": 1.0}}}, ["inner.x.what: unknown key; expected one of size"]),
        ({"width": 1.0, "inner": {"x": 3}}, ["inner.x: found 3, expected a table"]),
        ({"width": 1.0, "rows": [1.0, "a"]}, ["rows[1]: found 'a', expected "]),
        ({"width": 1.0, "q": 1}, ["q: unknown key; expected one of count, from, inner, rows, share, way, width"]),
        ({"count": 1, "q": 1}, ["count: found 1, expected 2 or more", "width: is missing", "q: unknown key"]),
    ],
)  # fmt: skip
def test_every_mistake_in_a_table_gives_one_line(raw: dict[str, Any], said: list[str]):
    with pytest.raises(BadInput) as error:
        input_files.checked(Outer, raw, "s.toml")
    lines = str(error.value).splitlines()
    assert len(lines) == len(said) and all(
        line.startswith(f"s.toml: {words}") for line, words in zip(lines, said, strict=True)
    ), lines


def test_valid_study_numbers_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As many bytes as are allowed, twenty mistakes at most."""
    assert input_files.checked(Outer, {"width": 1.0, "from": 2.0}, "").spelt == 2.0
    assert input_files.number(2, "") == 2.0 and type(input_files.number(2, "")) is float
    for wrong in (True, "1", math.nan, math.inf, None):
        with pytest.raises(BadInput, match=f"here: found {wrong!r}, expected a number"):
            input_files.number(wrong, "here")
    input_files.only({"a": 1}, {"a", "b"}, "here")
    with pytest.raises(BadInput, match="here: unknown key 'c', expected one of a, b"):
        input_files.only({"a": 1, "c": 1}, {"b", "a"}, "here")
    with pytest.raises(BadInput) as error:
        input_files.checked(Outer, {f"k{k}": 1 for k in range(30)}, "s")
    assert len(str(error.value).splitlines()) == 20
    monkeypatch.setattr(input_files, "LARGEST_FILE", 5)
    (tmp_path / "s.toml").write_text("a = 1")
    assert input_files.read_toml(tmp_path / "s.toml") == {"a": 1}
    (tmp_path / "s.toml").write_text("a = x")
    with pytest.raises(BadInput, match="s.toml: Invalid value"):
        input_files.read_toml(tmp_path / "s.toml")


def test_columns_are_found_by_name_or_pattern(tmp_path: Path):
    """The time by its name in any case of letters, else the first; names themselves before patterns in any case."""
    path = tmp_path / "r.csv"
    path.write_text("x,Time,X,Xa\n1,5,2,3\n4,6,7,8\n")
    found = Recorded(path)
    assert (
        found.time.tolist() == [5.0, 6.0]
        and found.names == ("x", "X", "Xa")
        and found.name == "r"
        and found.stage_names == () == tuple(found.events)
    )
    assert "X" in found and "Time" not in found and found["Xa"].tolist() == [3.0, 8.0]
    assert (
        found.select(None) == ("x", "X", "Xa") == found.select(["*"])
        and found.select(["x"]) == ("x",)
        and found.select(["XA", "x"]) == ("Xa", "x")
    )
    assert found.select(["X*", "x"]) == ("x", "X", "Xa")
    with pytest.raises(BadInput, match="variable y: expected one of x, X, Xa"):
        found.select(["y"])
    path.write_text("when [s],y [kN]\n1,2\n3,4\n")
    found = Recorded(path)
    assert found.time.tolist() == [1.0, 3.0] and found.names == ("y",) and found.unit("y") == "kN"
    path.write_text("x\n")
    with pytest.raises(BadInput, match="no rows"):
        Recorded(path)


def test_records_get_the_names_and_units_of_the_mechanism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """--map wins over the file; what has no unit stays as it is; settings hold in that record alone."""
    path = tmp_path / "r.csv"
    path.write_text("time,a [mm],b [deg],c\n0,1,180,3\n1,2,360,4\n")
    monkeypatch.setattr(measured_files, "units_of", lambda mechanism: {"way": "m", "b": "rad"})
    found = measured_files.single(
        f"{path}@ m=2,k=1e3,", ["a=way", "c = q : km "], SimpleNamespace()
    )  # type: ignore[arg-type]
    assert (
        found.settings == {"m": 2.0, "k": 1000.0}
        and list(found.columns) == ["way", "b", "q"]
        and found.time.tolist() == [0.0, 1.0]
    )
    assert found.columns["way"] == pytest.approx([1e-3, 2e-3]) and found.columns[
        "b"
    ] == pytest.approx([np.pi, 2 * np.pi])
    assert found.columns["q"] == pytest.approx([3000.0, 4000.0]) and measured_files.single(
        str(path)
    ).columns["c"].tolist() == [3.0, 4.0]
    for text, maps, said in (
        (path, ["c=b"], "two columns for 'b'"), (path, ["a=way:N"], "column 'a' is in N, expected a unit of m"), (path, ["a"], "--map a: expected"),
        (path, ["=b"], "--map =b: expected COLUMN=NAME"), (path, ["a= :m"], "--map a= :m: expected"), (path, ["z=b"], "--map z=b: no such column in"),
        (path, ["c=q:what"], "column 'c': "), (f"{path}@m", None, "expected FILE@NAME=VALUE"), (f"{path}@m=x", None, "expected FILE@NAME=VALUE"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=said):
            measured_files.single(str(text), maps, SimpleNamespace())  # type: ignore[arg-type]


SYSTEM: Any = SimpleNamespace(compiled=SimpleNamespace(inputs=("push", "turn")), description=None)


def test_inputs_are_driven_by_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Times in their unit, rows without a number left out, units of the file converted; what is on the line wins."""
    from kinetree.models.compilation import element_states

    monkeypatch.setattr(
        element_states,
        "inputs_of",
        lambda description: {"push": SimpleNamespace(unit="N"), "turn": SimpleNamespace(unit="")},
    )
    path = tmp_path / "p.csv"
    path.write_text("Time [ms],push [kN],other,spin\n0,1,5,1\n500,nan,5,2\n1000,3,5,3\n")
    found: Any = input_signals.given([str(path)], ["spin=turn:kN"], SYSTEM)
    assert [found["push"](t) for t in (0.0, 0.25, 1.0)] == [1000.0, 1500.0, 3000.0] and found[
        "turn"
    ](0.25) == 1500.0
    assert set(found) == {"push", "turn"} and input_signals.given(None, None, SYSTEM) is None
    assert (
        input_signals.given(["turn=2"], None, SYSTEM) == {"turn": 2}
        and input_signals.given([str(path), "push=4"], None, SYSTEM)["push"] == 4
    )  # type: ignore[index]
    for text, maps, said in (
        ("time,push\n0,1\n0,2\n", None, "the times in 'time' do not ascend"),
        ("time,x\n0,1\n1,2\n", None, "none of its columns x is an input \\(push, turn\\)"),
        ("time,x\n0,1\n1,2\n", ["y=push"], "--map y: no such column"),
        ("time,push [m]\n0,1\n1,2\n", None, "'push' in m drives 'push', which is in N"),
        ("time,x\n0,1\n1,2\n", ["x"], "--map x: expected COLUMN=NAME"), ("time,x\n0,1\n1,2\n", ["=push"], "--map =push: expected"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(BadInput, match=said):
            input_signals.given([str(path)], maps, SYSTEM)
    with pytest.raises(BadInput, match="there is no --input file whose columns"):
        input_signals.given(["push=1"], ["x=push"], SYSTEM)


def test_progress_without_terminal_prints_a_line_every_five_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    now = [10.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    for end, unit, said in ((4.0, "s", "1 of 4 s (25 %)"), (0.0, "runs", "1 runs")):
        now[0] = 10.0
        with progress.progress("work", end, unit=unit) as told:
            for second in (14.0, 14.999, 15.0, 19.9, 20.5):
                now[0] = second
                told(1.0)
        assert capsys.readouterr().err.splitlines() == [
            f"work: {said}, elapsed {seconds} s" for seconds in ("5", "10")
        ]
    with progress.progress("work", 1.0, quiet=True) as told:
        now[0] = 99.0
        told(0.5)
    assert not capsys.readouterr().err


def test_progress_bar_appears_after_two_seconds(monkeypatch: pytest.MonkeyPatch):
    from rich import progress as rich

    now, done = [10.0], []

    class Shown:
        def __init__(self, **options: Any):
            done.append(("made", options["transient"], options["console"].stderr))

        def __getattr__(self, name: str) -> Any:
            return lambda *given, **more: done.append((name, *given, *more.values())) or 7

    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(rich, "Progress", Shown)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    with progress.progress("work", 4.0) as told:
        for second in (11.9, 12.0, 13.0):
            now[0] = second
            told(second - 10.0)
    assert done == [
        ("made", True, True),
        ("add_task", "work", 4.0),
        ("start",),
        ("update", 7, 2.0),
        ("update", 7, 3.0),
        ("stop",),
    ]
    done.clear()
    now[0] = 0.0
    with progress.progress("work", 4.0) as told:
        told(1.0)
    assert done == []


@pytest.mark.parametrize(
    ("code", "ends", "said"),
    [
        (0, 0, ""),
        (3, 3, ""),
        (-11, 1, "by SIGSEGV"),
        (-200, 1, "by signal 200"),
        (0xC0000000, 1, "by fault 0xc0000000"),
    ],
)
def test_own_process_repeats_command_in_child(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, code: int, ends: int, said: str
):
    """The same line without the option, in a folder for what it leaves behind; an interrupt is the child's."""
    from typer.exceptions import Exit

    asked: list[Any] = []
    waits = iter([KeyboardInterrupt(), code])

    def wait() -> int:
        if isinstance(found := next(waits), KeyboardInterrupt):
            raise found
        return found

    def start(line: list[str], env: dict[str, str]) -> Any:
        asked.append(
            (
                line[1:],
                env["TMPDIR"] == env["TEMP"],
                Path(env["TMPDIR"]).is_dir(),
                env["TMPDIR"],
                env.get("PATH"),
            )
        )
        return SimpleNamespace(wait=wait)

    monkeypatch.setattr(own_process.subprocess, "Popen", start)
    context: Any = SimpleNamespace(
        find_root=lambda: SimpleNamespace(obj=["verify", "--own-process", "x.fmu"])
    )
    own_process.again(context, False)
    assert not asked
    with pytest.raises(Exit) as left:
        own_process.again(context, True)
    ((line, same, there, folder, path),) = asked
    assert (
        left.value.exit_code == ends
        and line == ["-m", "kinetree.scripts.cli", "verify", "x.fmu"]
        and same
        and there
        and path
    )
    assert not Path(folder).exists() and (
        said in capsys.readouterr().err if said else not capsys.readouterr().err
    )
    assert own_process.fault_of(0xC0000000 - 1) == ""
