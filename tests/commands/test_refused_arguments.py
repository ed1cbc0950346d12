"""Commands that refuse small things say what to do instead: files that exist, keys without meaning, cases that cannot be."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.description.reading.table_files import points
from kinetree.models.language.read_files import read_columns
from kinetree.scripts import cli
from kinetree.scripts.commands import verify
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.slave import CosimError
from kinetree.scripts.reports import stage_report
from kinetree.scripts.studies.samplers import Distribution
from kinetree.scripts.studies.worst_case import bounds, worst_case
from kinetree.scripts.terminal import error_messages, input_files
from kinetree.scripts.terminal.error_messages import BadInput

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>'
URDF = f'<robot name="r"><link name="base"/><link name="arm">{INERTIA}</link>{JOINT}</robot>'


def test_schema_is_linked_in_editor_settings_once(tmp_path: Path, capsys: pytest.CaptureFixture):
    target = tmp_path / "k.json"
    assert cli.main(["schema", "--taplo", "-o", str(target)]) == 0
    assert (
        json.loads(target.read_text())["title"]
        and 'path = "k.json"' in (tmp_path / ".taplo.toml").read_text()
    )
    (tmp_path / ".taplo.toml").write_text("mine")
    assert cli.main(["schema", "--taplo", "-o", str(target)]) == 2
    assert (
        ".taplo.toml exists already; --force overwrites it" in capsys.readouterr().err
        and (tmp_path / ".taplo.toml").read_text() == "mine"
    )
    assert (
        cli.main(["schema", "--taplo", "--force", "-o", str(target)]) == 0
        and "mine" not in (tmp_path / ".taplo.toml").read_text()
    )
    assert (
        cli.main(["schema", "-o", str(tmp_path / "plain.json")]) == 0
        and (tmp_path / "plain.json").read_text() == target.read_text()
    )


def test_import_refuses_overwriting_and_meaningless_options(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    robot = tmp_path / "r.urdf"
    robot.write_text(URDF)
    (tmp_path / "r.xml").write_text("<mujoco/>")
    assert cli.main(["import", str(robot), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["bodies"], told["joints"]) == (1, 1) and (tmp_path / "r.toml").exists()
    for given, said in (
        ([str(robot)], "r.toml exists already; --force overwrites it, -o names another"),
        (
            [str(robot), "--force", "--arg", "a=1"],
            "--arg has no meaning for .urdf: only xacro files have arguments",
        ),
        (["r.xml", "--force", "--floating"], "--floating has no meaning for .xml"),
        (["r.txt"], "r.txt: expected .urdf, .xacro, .xml, .mjcf, .step or .mo"),
    ):
        (tmp_path / "r.txt").write_text("")
        assert cli.main(["import", *given]) == 2 and said in " ".join(
            capsys.readouterr().err.split()
        ), given


def test_worst_case_bounds_are_those_of_distributions():
    """Three deviations of a bell, factors of one of logarithms; what has no width, no name or no independence is refused."""
    assert bounds([3.0, 1.0, 2.0]) == (1.0, 3.0)
    for kind, first, second, expected in (
        ("uniform", 1.0, 4.0, (1.0, 4.0)),
        ("normal", 5.0, 0.5, (3.5, 6.5)),
        ("lognormal", 8.0, 2.0, (1.0, 64.0)),
    ):
        assert bounds(Distribution(kind, first, second)) == pytest.approx(expected)  # type: ignore[arg-type]
    study: Any = SimpleNamespace(correlated={}, vary={"k": [2.0]})
    with pytest.raises(BadInput, match="--worst: vary.k has one value only"):
        worst_case(study, "max(x)")
    with pytest.raises(BadInput, match="^--worst: "):
        worst_case(study, "size of x")
    study.correlated = {"k": 1.0}
    with pytest.raises(BadInput, match="leave out \\[correlated\\]"):
        worst_case(study, "max(x)")


def test_fmu_inputs_are_set_in_their_own_type():
    """Whole numbers are rounded, what is on or off becomes so, enumerations are whole numbers; what cannot be is refused."""
    calls: list[tuple[str, list[int], list[Any]]] = []

    class Fmu:
        def __getattr__(self, name: str) -> Any:
            return lambda references, *values: calls.append((name, references, *values)) or [7]

    slave: Any = object.__new__(FmuSlave)
    slave.name, slave.types = "s", {"n": "Integer", "b": "Boolean", "e": "Enumeration", "x": "Real"}
    slave.archive = SimpleNamespace(references={"n": 1, "b": 2, "e": 3, "x": 4}, version=2)
    slave.host, slave.messages, slave.rolls_back, slave.failure = (
        SimpleNamespace(fmu=Fmu(), time=0.5),
        [],
        False,
        ValueError,
    )
    slave.waiting, slave.slopes, slave.interpolates, slave.ramped = {}, {}, False, ("x",)
    for name, value in (("n", 2.6), ("b", 1.0), ("e", 3.0)):
        slave.set(name, value)
    slave.archive.version = 3
    slave.set("e", 3.0)
    assert calls == [
        ("setInteger", [1], [3]),
        ("setBoolean", [2], [True]),
        ("setInteger", [3], [3]),
        ("setInt64", [3], [3]),
    ]
    slave.set("x", 2.0, 0.5)
    assert (
        slave.waiting == {"x": 2.0, "der(x)": 0.5}
        and slave.other("n") == 7
        and not slave.directional([], [1], [1.0]).size
    )
    assert np.array_equal(slave.directional([1, 2], [], []), [0.0, 0.0])
    with pytest.raises(CosimError, match="s cannot go back .*take a scheme without rollback"):
        slave.save()
    with pytest.raises(CosimError, match="s.x is given nan, which is not a finite number"):
        slave.set("x", float("nan"))

    def fails() -> None:
        raise ValueError("no such thing")

    with pytest.raises(CosimError, match=r"s failed in reading at t = 0.5 s: no such thing"):
        slave.guard(0.5, "reading", fails)
    slave.messages.append(" tank is empty\n")
    with pytest.raises(CosimError, match=r"s failed in reading at t = 0.5 s: tank is empty$"):
        slave.guard(0.5, "reading", fails)


def test_study_files_are_read_or_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "s.toml"
    with pytest.raises(FileNotFoundError, match="no such file"):
        input_files.read_toml(path)
    path.write_text("\ufeffa = 1\n", encoding="utf-8")
    assert input_files.read_toml(path) == {"a": 1}
    path.write_text("a = " + 20_000 * "[" + 20_000 * "]")
    with pytest.raises(BadInput, match=r"s.toml: tables or lists nested too deeply|s.toml: .*"):
        input_files.read_toml(path)
    monkeypatch.setattr(input_files, "LARGEST_FILE", 3)
    path.write_text("a = 1")
    with pytest.raises(BadInput, match="s.toml: 5 bytes, expected at most 3"):
        input_files.read_toml(path)


def test_every_error_is_printed_as_one_line(capsys: pytest.CaptureFixture):
    """Files by their name, a full disk as what cannot be written, what has no words by its type, defects as such; none ends in ;."""
    for error, said in (
        (FileNotFoundError(2, "No such file or directory", "a.toml"), "no such file: a.toml"),
        (
            OSError(28, "No space left on device", "a.csv"),
            "a.csv cannot be written: No space left on device",
        ),
        (
            OSError(28, "No space left on device"),
            "a file cannot be written: No space left on device",
        ),
        (PermissionError(13, "Permission denied", "a.csv"), "a.csv: Permission denied"),
        (ArithmeticError(), "ArithmeticError"),
        (KeyError("x"), "KeyError: 'x' (a defect of Kinetree; --debug shows where)"),
        (BadInput("one\ntwo"), "one\nkinetree: two"),
        (BadInput("no column 'x'; \nno column 'y'; "), "no column 'x'\nkinetree: no column 'y'"),
    ):
        error_messages.report(error)
        assert capsys.readouterr().err == f"kinetree: {said}\n"


def test_measured_files_accept_units_in_heading_or_row(tmp_path: Path):
    """In the head, or in a row of their own; what is asked of it and is not there is named."""
    path = tmp_path / "t.csv"
    path.write_text("time,Force [kN],tip[1]\n0,1,2\n1,3,4\n")
    found = read_columns(path)
    assert {name: unit for name, (_, unit) in found.items()} == {
        "time": "",
        "Force": "kN",
        "tip[1]": "",
    } and found["tip[1]"][0].tolist() == [
        2.0,
        4.0,
    ]
    path.write_text("x,y\nmm,kN\n0,1\n500,2\n")
    assert read_columns(path)["y"][1] == "kN" and points({"file": "t.csv"}, tmp_path) == (
        [0.0, 0.5],
        [1000.0, 2000.0],
    )
    for table, said in (
        ({"x": [0, 1]}, "either a file or its points"), ({"columns": ["x"]}, "columns and units are two texts each"),
        ({"columns": ["x", "z"]}, "no column 'z'"), ({"units": ["mm", "what"]}, "column 'y': "),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            points({"file": "t.csv", **table}, tmp_path)
    path.write_text("x,y\n0,1\n1,nan\n")
    with pytest.raises(ValueError, match="fewer than two rows of numbers"):
        points({"file": "t.csv"}, tmp_path)
    path.write_text("x,y\n")
    with pytest.raises(ValueError, match="t.csv: no rows"):
        read_columns(path)
    with pytest.raises(ValueError, match="expected a table that ends in .csv"):
        read_columns(tmp_path / "t.docx")


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"couplings": {"c": {"rolling": {"body": "b", "semiaxes": [1, 1, 0], "axis": [0, 1, 0]}}}}, ("radius beside it", "a length above 0")),
        ({"couplings": {"c": {"between": [{"body": "b"}, {"body": "ground"}], "length": 1.0, "point": {"body": "b"}}}}, ("value beside it",)),
        ({"forces": {"g": {"kind": "guide", "helix": {"radius": 1, "pitch": 0, "begin": 2, "end": 1}, "closed": True}}},
         ("more than begin, 2", "a rise; points and closed make a circle", "no closed: a helix has two ends")),
    ],
)  # fmt: skip
def test_incompatible_parts_are_named(part: dict[str, Any], said: tuple[str, ...]):
    ends = {"between": [{"body": "ground"}, {"body": "b"}], "stiffness": 1e5}
    if "forces" in part:
        part = {"forces": {name: {**ends, **force} for name, force in part["forces"].items()}}
    joint = {"child": "b", "transforms": [{"shift": "x", "coordinate": "x"}]}
    with pytest.raises(ModelError) as error:
        load(
            {"format": "kinetree/1", "bodies": {"b": {"mass": 1.0}}, "joints": {"j": joint}, **part}
        )
    for words in said:
        assert words in str(error.value)


def test_invalid_command_line_specifications_are_refused():
    with pytest.raises(
        BadInput, match="--table end:a:b:c:d: expected ROWS:COLUMNS:STAGES:REFERENCE"
    ):
        stage_report.asked("end:a:b:c:d")
    with pytest.raises(
        BadInput, match="REFERENCE is start, stage or an instant in s, found 'late'"
    ):
        stage_report.asked("end:a:b:late")
    with pytest.raises(BadInput, match="--host: unknown host 'nobody', expected all or some of"):
        verify.hosts_of("bare, nobody")
    assert verify.hosts_of(" bare ,fmpy") == ["bare", "fmpy"] and "bare" in verify.hosts_of("all")
