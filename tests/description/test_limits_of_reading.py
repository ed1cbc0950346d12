"""Limits against hostile input and slips: what is just within them is read, one more is refused; parameters that decide what is built."""

from pathlib import Path

import numpy as np
import pytest
from plant_description import PLANT, changed, said

from kinetree.models import ModelError
from kinetree.models.checks.loader import describe
from kinetree.models.checks.structural_parameters import behind, frozen, kept_by_fmus
from kinetree.models.description.reading import read_source as source
from kinetree.models.description.reading import table_files
from kinetree.models.description.reading.read_source import (
    Text,
    parse_json,
    parse_toml,
    plain,
    read,
)
from kinetree.models.description.reading.table_files import fill_tables, names_files, points
from kinetree.models.expressions.nodes import ExpressionError
from kinetree.models.expressions.parse import parse
from kinetree.models.expressions.parser import MAX_NESTING, MAX_SYNTAX_NODES


def refused(source, file: str = "f") -> str:
    with pytest.raises(ModelError) as error:
        plain(source, file)
    return str(error.value)


def nested(levels: int) -> list:
    found: list = []
    for _ in range(levels - 1):
        found = [found]
    return found


def test_size_of_raw_descriptions_is_limited(monkeypatch):
    """Depth, keys, texts, values and characters, each at its bound; arrays become lists."""
    assert plain({"a": nested(12)}, "") == {"a": nested(12)}
    assert (
        refused({"a": nested(13)})
        == "f: a: found tables or lists nested too deeply, expected at most 12 levels"
    )
    assert plain({"k" * 200: 1}, "") == {
        "k" * 200: 1
    } and "text of at most 200 characters as a key" in refused({"k" * 201: 1})
    assert "as a key" in refused({"a": {3: 1}}) and refused({"a": {"b": {"c": {3: 1}}}}).startswith(
        "f: a.b: found the key 3"
    )
    assert plain({"a": "x" * 20_000}, "") and refused({"a": {"b": "x" * 20_001}}).endswith(
        "a text of 20001 characters, expected at most 20000"
    )
    assert refused([1]) == "f: found [1], expected a table of tables"
    assert plain({"a": np.array([1.0, 2.0]), "b": (1, np.float64(2.0))}, "") == {
        "a": [1.0, 2.0],
        "b": [1, 2.0],
    }
    monkeypatch.setattr(source, "MOST_NODES", 5)
    assert plain({"a": [1, 2, 3]}, "") == {"a": [1, 2, 3]} and "at most 5 values" in refused(
        {"a": [1, 2, 3, 4]}
    )
    monkeypatch.setattr(source, "MOST_CHARACTERS", 4)
    assert plain({"a": "abcd"}, "") and "too large" in refused({"a": "abcde", "b": 1})


def test_duplicate_and_nested_keys_are_read():
    assert parse_toml(".".join("abc" for _ in range(30)) + " = 1")
    with pytest.raises(ValueError, match="more than 30 parts"):
        parse_toml(".".join("abc" for _ in range(31)) + " = 1")
    assert parse_json('{"a": {"b": 1}, "b": 2}') == {"a": {"b": 1}, "b": 2}
    with pytest.raises(ValueError, match="the key 'b' twice in one table"):
        parse_json('{"a": 1, "b": 1, "b": 2, "a": 3}'.replace('"a": 3', '"c": 3'))


def test_table_texts_name_their_keys():
    """Line and column of what is no TOML or JSON, and where a name with {i} lacks its quotes."""
    for text, suffix, expected in (
        (
            "a = 1\nb = = 2\n",
            "toml",
            "m.toml:2: found text that is not TOML (column 5); Invalid value",
        ),
        (
            '{"a": 1,\n "b" 2}',
            "json",
            "m.json:2: found text that is not JSON (column 6); Expecting ':' delimiter",
        ),
        (
            "[bodies.b{i}]\n",
            "toml",
            'm.toml:1: found text that is not TOML (column 10); a name with {i} stands in quotes, as in [bodies."module{i}"]',
        ),
    ):
        with pytest.raises(ModelError) as error:
            read(Text(text, f"m.{suffix}"))
        assert str(error.value) == expected
    raw, origin = read(Text("a = 1\n", "here/m.TOML"))
    assert (
        raw == {"a": 1}
        and origin.line(("a",)) == 1
        and read(Text('{"a": 1}', "m.json"))[1].text == ""
    )


def test_file_size_limit_is_inclusive(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(source, "LARGEST_FILE", {".toml": 10, ".json": 20})
    (tmp_path / "a.toml").write_bytes(b"a = 1\n####")
    (tmp_path / "b.toml").write_bytes(b"a = 1\n#####")
    (tmp_path / "c.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read(tmp_path / "a.toml")[0] == read(tmp_path / "c.json")[0] == {"a": 1}
    with pytest.raises(ModelError, match="found 11 bytes, expected at most 10"):
        read(tmp_path / "b.toml")
    with pytest.raises(
        ModelError, match=r"found a file ending in '\.yaml', expected a \.toml or \.json file"
    ):
        read(tmp_path / "b.yaml")


def test_expression_size_limit_is_inclusive():
    """20 000 characters, 200 deep, 5 000 pieces: `x + x` has three and one more with every further term."""
    assert said(changed("gravity", [0, 0, "1" + " " * 19_999])) == []
    assert "at most 20000" in said(changed("gravity", [0, 0, "1" + " " * 20_000]))[0]
    assert parse("-" * (MAX_NESTING - 1) + "x") and parse("+".join(["x"] * (MAX_SYNTAX_NODES // 2)))
    for text, words in (
        ("-" * (MAX_NESTING + 1) + "x", "nested too deeply"),
        ("+".join(["x"] * (MAX_SYNTAX_NODES // 2 + 1)), "too long"),
    ):
        with pytest.raises(ExpressionError, match=words):
            parse(text)


def test_reported_problems_are_limited_to_hundred():
    bodies = {f"b{k}": {"mass": -1} for k in range(101)}
    joints = {f"j{k}": {"child": f"b{k}", "type": "prismatic"} for k in range(101)}
    for count, more in ((99, 0), (100, 1), (101, 1)):
        d = {
            "bodies": dict(list(bodies.items())[:count]),
            "joints": dict(list(joints.items())[:count]),
        }
        with pytest.raises(ModelError) as error:
            describe(d)
        assert len(error.value.problems) == min(count, 100) + more and (
            "only the first 100 problems" in str(error.value)
        ) == bool(more)


# -- tables from files ------------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def columns(monkeypatch) -> dict:
    given: dict = {
        "t": (np.array([0.0, 1.0, np.nan, 3.0]), "ms"),
        "F": (np.array([5.0, 6.0, 7.0, 8.0]), ""),
        "T": (np.array([20.0, 30.0, 0.0, np.inf]), "degC"),
    }
    monkeypatch.setattr("kinetree.models.language.read_files.read_columns", lambda path: given)
    return given


def test_table_points_are_read_from_files(columns: dict):
    """The first two columns in their own units, or those that are asked for; rows without numbers are left out."""
    assert points({"file": "f"}, Path()) == ([0.0, 1e-3, 3e-3], [5.0, 6.0, 8.0])
    assert points({"file": "f", "columns": ["F", "T"], "units": ["kN", ""]}, Path()) == (
        [5e3, 6e3, 7e3],
        [293.15, 303.15, 273.15],
    )
    assert points({"file": "f", "columns": ["t", "T"], "units": ["s", "K"]}, Path()) == (
        [0.0, 1.0],
        [20.0, 30.0],
    )
    for table, words in (
        ({"x": [1]}, "either a file or its points"),
        ({"z": [1]}, "either a file"),
        ({"columns": ["t"]}, "two texts each"),
        ({"units": "ms"}, "two texts"),
        ({"columns": ["t", 3]}, "two texts"),
        ({"columns": ["t", "f"]}, "no column 'f'; did you mean 'F'"),
        ({"units": ["q", ""]}, "column 't': 'q' is not a known"),
    ):
        with pytest.raises(ValueError, match=words):
            points({"file": "f"} | table, Path())


def test_row_limits_of_table_files(columns: dict, monkeypatch):
    for size, words in (
        (200_000, ""),
        (200_001, "200001 rows, expected at most 200000"),
        (2, ""),
        (1, "fewer than two rows"),
    ):
        columns["t"] = columns["F"] = (np.arange(float(size)), "")
        if words:
            with pytest.raises(ValueError, match=words):
                points({"file": "f"}, Path())
        else:
            assert len(points({"file": "f"}, Path())[0]) == size
    assert (
        table_files.names_files({"tables": {"T": {"file": "f"}}})
        and not names_files({"tables": {"T": {}}})
        and not names_files({"tables": 3})
    )
    raw = {
        "tables": {
            "T": {"file": "f", "columns": ["t", "q"], "method": "cubic"},
            "U": {"x": [0, 1], "y": [0, 1]},
            "V": 3,
        }
    }
    (problem,) = fill_tables(raw, source.Origin("a.toml"))
    assert str(problem).startswith("a.toml: tables.T: found 'f'; no column 'q'") and raw["tables"][
        "T"
    ] == {
        "method": "cubic",
        "x": [0.0, 1.0],
        "y": [0.0, 0.0],
    }
    assert fill_tables({"tables": 3}, source.Origin()) == [] and raw["tables"]["V"] == 3


# -- parameters that decide -------------------------------------------------------------------------------------------------------------------
def test_structural_parameters_are_listed():
    """Copies, points of tables, and of controllers delays, periods beside them and what is switched on by not being 0; through others too."""
    pid = {"kind": "pid", "measure": "q", "kp": 1.0, "drives": "m"}
    d = PLANT | {
        "parameters": dict.fromkeys("abcdefghij", 1.0) | {"n": "2*a", "off": 0.0, "wide": "h"},
        "actuators": {"m": {"coordinate": "x"}},
        "tables": {
            "T": {"x": [0, "b"], "y": ["c", 2]},
            "flat": {"x": [0, 1], "y": [0, "d"], "z": [["e", 1], [1, 2]]},
        },
        "forces": {"f{i}": {"copies": "n", "coordinate": "q", "value": "j"}},
        "controllers": {
            "one": pid | {"period": "f", "delay": "g"},
            "two": pid | {"period": "wide", "noise": "off"},
            "three": pid | {"period": "i", "jitter": "off"},
        },
    }
    d["parameters"]["g"] = 0.5
    found = frozen(describe(d))
    assert found.pop("off") in (
        "the noise of the controller 'two'",
        "the jitter of the controller 'three'",
    )
    one, points = "of the controller 'one'", "points of the table"
    assert found == {
        **dict.fromkeys("na", "a number of copies"), **dict.fromkeys("bc", f"{points} 'T'"), **dict.fromkeys("de", f"{points} 'flat'"),
        "f": f"the period {one}", "g": f"the delay {one}", "i": "the period of the controller 'three'",
    }  # fmt: skip


def test_fmu_fixed_settings_are_listed():
    run = {"step": "2*h", "tolerances": {"relative": "r", "absolute": 1e-9}}
    d = PLANT | {"parameters": {"h": "k/10", "k": 1.0, "r": 1e-6, "x0": 1.0}, "run": run}
    assert kept_by_fmus(describe(d)) == [
        f"[run] {what} stays that of the values written: a host that sets '{name}' does not change it"
        for name, what in (("r", "tolerances.relative"), ("h", "step"), ("k", "step"))
    ]
    assert kept_by_fmus(describe(PLANT)) == []
    (said,) = kept_by_fmus(describe(PLANT | {"run": {"prepare": [{}]}}))
    assert said.startswith(
        "the equilibrium of [run] prepare is computed for the values in the file"
    )
    assert behind(describe(d), [("k*k +", "nothing"), (3.0, "nothing")]) == {}


# -- where descriptions come from -------------------------------------------------------------------------------------------------------------
def test_robot_formats_are_recognised_by_suffix(tmp_path: Path):
    """In any case; an .xml file is MJCF unless a robot begins within its first 4000 characters."""
    assert [
        source.is_foreign(name)
        for name in ("a.urdf", "b.URDF", "c.Xacro", "d.xml", "e.mjcf", "f.toml", "lib:x", 3)
    ] == [True] * 5 + [False] * 3
    near, far = tmp_path / "near.xml", tmp_path / "far.xml"
    near.write_text(" " * 3994 + "<robot/>")
    far.write_text(" " * 3995 + "<robot/>")
    readers = [
        source.foreign_reader(path).func.__module__.rpartition(".")[2] for path in (near, far)
    ]  # type: ignore[attr-defined]
    assert readers == ["urdf", "mjcf"]
    with pytest.raises(ModelError, match=r"none\.urdf: found no file of that name.* URDF"):
        source.foreign_reader(tmp_path / "none.urdf")


def test_library_entries_are_listed():
    """By names with either dash; files as paths, generators as functions; a near miss is told."""
    assert (
        source.library_entry("lib:four_bar") == source.library_entry("lib:four-bar")
        and "four-bar" in source.library_names()
    )
    entry = source.library_entry("lib:n-four-bar")
    assert callable(entry) and entry.__name__ == "describe"
    with pytest.raises(
        ModelError,
        match="found 'lib:for-bar', expected the name of a library mechanism; did you mean 'four-bar'?",
    ):
        source.library_entry("lib:for-bar")
    with pytest.raises(ModelError, match='found 3, expected a file, a dict, or "lib:NAME"'):
        read(3)  # type: ignore[arg-type]
