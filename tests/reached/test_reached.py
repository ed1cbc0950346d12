"""The tools that count lines: what moved is found again, and a small room's run knows its tests by line."""

import importlib
import sys
from pathlib import Path

import pytest
import python_lines
from packed_slaves import Finder
from python_lines import PLAIN_ROOMS, ROOT, File, Run, files, lacking, moved, share, spans, table
from shell_lines import Source, details, shares

from kinetree.fmu.slave.pack import HERE, script_text

SOURCE = """def half(x):
    if x < 0:
        return -half(-x)
    return x / 2


def never():
    return 3
"""
TESTS = """import subprocess, sys
from half import half

def test_half():
    assert half(4) == 2

def test_elsewhere():
    subprocess.run([sys.executable, "-c", "import half; half.half(-4)"], check=True)
"""


def test_moved_lines_are_recognised(tmp_path: Path):
    before, now = tmp_path / "a.py", tmp_path / "b.py"
    before.write_text("a = 1\nb = 2\nc = 3\nd = 4\n")
    now.write_text("new = 0\na = 1\nb = 7\nc = 3\nd = 4\n")
    assert moved(before, now) == {1: 2, 3: 4, 4: 5}
    assert (
        moved(before, before) == {1: 1, 2: 2, 3: 3, 4: 4} and moved(tmp_path / "none.py", now) == {}
    )


def test_every_kernel_room_runs_in_plain_python():
    """Tests mirror the rooms: those of a room of kernels, and what else is named, are there."""
    kernels = {path.parent.name for path in (ROOT / "solvers").glob("*/__init__.py")}
    rooms = kernels & {path.name for path in (ROOT / "tests").iterdir()}
    assert (
        len(rooms) > 9
        and rooms <= set(PLAIN_ROOMS)
        and all((ROOT / "tests" / room).exists() for room in PLAIN_ROOMS)
    )


def test_unmet_coverage_bound_names_worst_files():
    found = [
        File("models/a.py", 60, [1, 2]),
        File("scripts/b.py", 30, [7, 8, 9, 12]),
        File("scripts/c.py", 10, []),
    ]
    head, *rows = lacking(found, 97.0).splitlines()
    assert head.startswith(
        "94.0 % of models, fmu_src and scripts, expected 97 % at least: 3 lines more are to be reached"
    )
    assert rows == ["scripts/b.py: 4 of 30 lines: 7-9, 12", "models/a.py: 2 of 60 lines: 1-2"]
    assert lacking(found, 94.0) == "" and lacking(found, 97.0, 1).splitlines() == [head, rows[0]]


@pytest.mark.parametrize(("version", "package"), [(2, "pythonfmu"), (3, "pythonfmu3")])
def test_packed_slaves_map_to_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, package: str
):
    """Names of the archive stand in them; a text that is not what the files say is run as it is."""
    pytest.importorskip(package)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    module, text, kernels = script_text("spring", version)
    (tmp_path / f"{module}_code.py").write_text(text)
    made = importlib.import_module(f"{module}_code")
    assert (made.IDENTIFIER, made.KERNELS) == ("spring", kernels) and made.STATUS
    for function, name in (
        (made.Model.__wrapped__.__init__, "reader.py"),
        (made.Core.open, "core.py"),
    ):
        code, lines = function.__code__, (HERE / name).read_text().splitlines()
        assert Path(code.co_filename) == HERE / name and lines[
            code.co_firstlineno - 1
        ].strip().startswith("def ")
    other = f"{module[:-1]}{'0' if module[-1] != '0' else '1'}_code"
    (tmp_path / f"{other}.py").write_text(text + "CHANGED = True\n")
    changed = importlib.import_module(other)
    assert changed.CHANGED and changed.Core.open.__code__.co_filename == str(
        tmp_path / f"{other}.py"
    )


def test_rooms_and_layers_are_summed():
    found = [
        File("models/run/a.py", 10, [3, 4, 5, 9]),
        File("models/b.py", 10, []),
        File("solvers/run/c.py", 30, [1]),
    ]
    assert share(found[:2]) == (80.0, 4, 20)
    rows = {row[:28].strip(): row[28:].split() for row in table(found).splitlines()}
    assert (
        rows["models/run"][:3] == ["60.0", "%", "4"]
        and rows["all of solvers"][2] == "1"
        and rows["models, fmu_src, scripts"][0] == "80.0"
    )
    assert spans([3, 4, 5, 9]) == "3-5, 9"


def test_coverage_updates_remeasured_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also through processes that tests start, and where lines have moved since; what is known of other tests stays."""
    pytest.importorskip("coverage")
    for name, value in (("ROOT", tmp_path), ("KEPT", tmp_path / "kept"), ("LAYERS", ("models",))):
        monkeypatch.setattr(python_lines, name, value)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "half.py").write_text(SOURCE)
    (tmp_path / "conftest.py").write_text(
        "import os, sys\nsys.path.insert(0, 'models')\nos.environ['PYTHONPATH'] = 'models'\n"
    )
    (tmp_path / "test_half.py").write_text(TESTS)
    test = "from half import half\n\ndef test_{0}():\n    half({1})\n"
    (tmp_path / "test_b.py").write_text(test.format("b", 4))
    run = Run("compiled")
    assert run.measure() == 0
    here, elsewhere, b, c = (
        "test_half.py::test_half",
        "test_half.py::test_elsewhere",
        "test_b.py::test_b",
        "test_b.py::test_c",
    )
    assert set(run.seconds) == {here, elsewhere, b}
    tests = run.tests("models/half.py")
    assert tests[4] == set(run.seconds) and tests[3] == {elsewhere} and not tests.get(8)
    assert [(each.lines, each.missed) for each in files([run], ["models"])] == [(6, [8])]
    (tmp_path / "models" / "half.py").write_text("# moved\n" + SOURCE)
    assert run.tests("models/half.py")[4] == {elsewhere}
    (tmp_path / "test_b.py").write_text(test.format("b", -4) + test.format("c", 4))
    assert Run("compiled").measure(rooms=["test_b.py"], again=True) == 0
    run = Run("compiled")
    tests = run.tests("models/half.py")
    assert tests[4] == {elsewhere, b} and tests[5] == {here, elsewhere, b, c}
    assert (
        set(run.seconds) == tests[5]
        and run.reached("models/half.py") >= {2, 3, 4, 5}
        and files([run], ["models"])[0].missed == [9]
    )


def test_unreached_lines_are_listed():
    sources = [Source("a.c", 10, {7: "return 0;"}, 4, {3: 2}), Source("b.c", 30, {}, 0, {})]
    assert shares(sources) == (97.5, 50.0)
    assert "a.c:7: return 0;" in details(sources) and "a.c: 3 (2)" in details(sources)
