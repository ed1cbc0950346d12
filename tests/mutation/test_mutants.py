"""The tool that makes mutants: each is one change, every one is another program, and the tests that look at it are those that execute it."""

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import c_places
import pytest
import trials
from chosen import boxed, room_of_tests
from mutants import (
    GROUPS,
    SHELL_TESTS,
    drawn,
    files_of,
    group_of,
    interval,
    judged,
    same_code,
    shares,
    sources,
)
from places import places
from reached_plugin import FAILED
from trials import ROOT, Copy

from kinetree.solvers.library.c_compiler import LibraryError, compiler

SOURCE = '''"""A text is left alone."""


def f(a: int, b: Literal[3] = 3) -> Table[4]:
    """And this."""
    total = 0.0
    if a < b and not b == 2:
        total += a * b - 1.5
    if a > 7:
        raise ValueError(f"larger than {6 + 1}")
    draw(total)
    print(a + 8, width=9)
    shown = plot({"top": 11 + a}, markersize=12)
    return -total if f else "a" + str(b)
'''
CHANGES = (
    "(a) <= (b)",
    "(b) != (2)",
    "(a < b) or (not b == 2)",
    "(a * b) + (1.5)",
    "(a) / (b)",
    "total = 1.0",
    "2.25",
    "return (total)",
    "(a) >= (7)",
    "= 4)",
)
C_SOURCE = """/* 3 < 4 */
#define SIZE 12
static int f(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n && !x[k]; k++) sum += 2 * x[k];
    call(&sum, "1 + 1");
    if (sum == 5) return say(in, LEVEL_ERROR, "wrong", 6 + 7);
    return in->count - 1;
}
"""
C_CHANGES = (
    "k <= n",
    "|| !x[k]",
    "&& x[k]",
    "sum -= 2",
    "2 / x[k]",
    "sum != 5",
    "in->count + 1",
    "in->count - 2",
    "    ;\n",
    "sum = 1;",
)


def mutated(path: Path, how=places) -> list[str]:
    source = path.read_bytes()
    return [
        (source[: place.start] + place.new.encode() + source[place.end :]).decode()
        for place in how(path)
    ]


def test_every_mutant_is_another_program(tmp_path: Path):
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    found = mutated(path)
    trees = {ast.dump(ast.parse(text)) for text in found}
    assert len(trees) == len(found) and ast.dump(ast.parse(SOURCE)) not in trees
    for change in CHANGES:
        assert any(change in text for text in found), change
    assert any("draw(total)" not in text for text in found)
    for kept in (
        "A text is left alone.",
        '"a" + str(b)',
        "Literal[3]",
        "Table[4]",
        "{6 + 1}",
        "print(a + 8, width=9)",
        '"top": 11 + a',
        "markersize=12",
    ):
        assert all(kept in text for text in found), kept


def test_mutants_of_non_ascii_sources_are_made(tmp_path: Path):
    path = tmp_path / "g.py"
    path.write_text("ω = 1 + 2  # µ\nθ = ω * 3\n")
    for text in mutated(path):
        ast.parse(text)


def test_mutant_lines_match_statements(tmp_path: Path):
    """coverage.py counts a statement over several lines by its first one, and the head of a condition apart from its body."""
    path = tmp_path / "h.py"
    path.write_text("if (\n    a\n    < 2\n):\n    f(\n        3,\n    )\n")
    assert {(place.line, place.lines) for place in places(path)} >= {
        (2, range(1, 5)),
        (3, range(1, 5)),
        (6, range(5, 8)),
    }


def test_shell_mutants_change_code(tmp_path: Path):
    path = tmp_path / "f.c"
    path.write_text(C_SOURCE)
    found = mutated(path, c_places.places)
    assert len(set(found)) == len(found) and C_SOURCE not in found
    for change in C_CHANGES:
        assert any(change in text for text in found), change
    for kept in ("/* 3 < 4 */", "SIZE 12", "const double *x", '"wrong", 6 + 7'):
        assert all(kept in text for text in found), kept


def test_most_shell_mutants_compile(tmp_path: Path):
    """What does not compile says nothing about the tests: few of a hundred."""
    try:
        tool = compiler()
    except LibraryError as error:
        pytest.skip(str(error))
    path = ROOT / "fmu_src" / "native" / "location.c"
    (tmp_path / "location.h").write_text((path.with_name("location.h")).read_text())
    codes = []
    for text in mutated(path, c_places.places)[::6]:
        (tmp_path / "mutant.c").write_text(text)
        codes.append(
            subprocess.run(
                [*tool, "-w", "-fsyntax-only", str(tmp_path / "mutant.c")], capture_output=True
            ).returncode
        )
    assert len(codes) > 8 and sum(map(bool, codes)) <= 1


def test_nearest_and_fastest_tests_run_first():
    """Every function of tests once before any of them twice, until the box is full; a slow one alone still runs."""
    seconds = {
        "tests/a/t.py::x[1]": 1.0,
        "tests/a/t.py::x[2]": 2.0,
        "tests/a/t.py::y": 5.0,
        "tests/b/t.py::z": 0.1,
        "tests/b/t.py::w": 90.0,
    }
    order = ["tests/a/t.py::x[1]", "tests/a/t.py::y", "tests/b/t.py::z", "tests/a/t.py::x[2]"]
    assert boxed(seconds, seconds, "tests/a/", box=10.0) == order
    assert boxed(seconds, seconds, "tests/a/", box=6.5) == order[:3]
    assert boxed(["tests/b/t.py::w"], seconds, "tests/a/", box=10.0) == ["tests/b/t.py::w"]


def test_every_source_has_its_tests():
    for name in sources():
        parts = name.split("/")
        assert (
            room_of_tests(name)
            == f"tests/{'fmu' if parts[0] == 'fmu_src' else parts[1] if len(parts) > 2 else parts[0]}/"
        )
    for group, rooms in GROUPS.items():
        assert all((ROOT / room).exists() for room in rooms)
        assert any(group_of(name) == group for name in sources())
    assert all((ROOT / test).exists() for test in SHELL_TESTS)


def test_mutants_are_sampled_in_proportion_to_lines():
    groups = {group: files_of(group) for group in ("kernels", "models/compilation", "shell")}
    lines = {
        group: sum(len((ROOT / name).read_text().splitlines()) for name in names)
        for group, names in groups.items()
    }
    assert all(name.startswith("models/compilation/") for name in groups["models/compilation"])
    for group, count in shares(groups, 1000).items():
        assert abs(count / 1000 - lines[group] / sum(lines.values())) < 1e-3


def test_random_draws_are_reproducible():
    names = [name for name in sources() if group_of(name) == "shell"]
    assert drawn(names, 20, 3) == drawn(names, 20, 3) != drawn(names, 20, 4)


def test_equivalent_code_is_no_mutant():
    assert same_code(b"x = 1 + 2\n", b"x = (1 + 2)\n", "a.py") and not same_code(
        b"x = 1 + 2\n", b"x = 1 - 2\n", "a.py"
    )


def test_confidence_intervals_have_coverage():
    """Wilson's interval by his formula: 2 of 40 lie between 1.4 and 16.5 %."""
    low, high = interval(2, 40)
    assert abs(low - 0.01382) < 1e-4 and abs(high - 0.16504) < 1e-4
    assert interval(0, 0) == (0.0, 1.0) and interval(0, 40)[0] == 0.0


def test_killing_test_is_named(tmp_path: Path):
    """Its name may hold what separates it from the message in the words of pytest."""
    file, told = tmp_path / "test_it.py", tmp_path / "failed.txt"
    file.write_text(
        "import pytest\n@pytest.mark.parametrize('a', ['x - y', 'z'])\ndef test_a(a):\n    assert a == 'z', 'b - c'\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "reached_plugin",
        str(file),
    ]
    subprocess.run(
        command,
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | {FAILED: str(told), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert told.read_text() == "test_it.py::test_a[x - y]\n"


def test_only_long_computation_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Seconds are those of the processor: another load of the machine, here a wait, takes none of them; but nothing waits for ever."""
    monkeypatch.setattr(trials, "WAITING", 100.0)
    calls = [
        ("os._exit(3)", 60.0),
        ("time.sleep(1.2)", 0.5),
        ("[0 for _ in iter(lambda: time.process_time() > 3.0, True)]", 0.5),
    ]
    with ThreadPoolExecutor() as pool:
        found = pool.map(
            lambda call: trials.ended(
                [sys.executable, "-S", "-c", f"import os, time; {call[0]}"], tmp_path, {}, call[1]
            ),
            calls,
        )
    assert list(found) == [3, 0, None]
    monkeypatch.setattr(trials, "WAITING", 0.1)
    assert (
        trials.ended([sys.executable, "-S", "-c", "import time; time.sleep(60)"], tmp_path, {}, 1.0)
        is None
    )


def test_missing_tests_kill_no_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Pytest runs nothing where one of the tests that are asked for is not there; the others still judge."""
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # others' take most of its start, of which there are nine here
    copy = Copy.__new__(Copy)
    copy.folder, copy.cache, copy.fit = tmp_path, tmp_path, {}
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        "from pathlib import Path\ndef test_a():\n    assert Path('a.py').read_text() == 'x = 1'\n"
    )
    (tmp_path / "a.py").write_text("x = 1")
    gone, there = "tests/test_it.py::test_gone", "tests/test_it.py::test_a"
    assert copy.judged("a.py", b"x = 2", [gone, there], 60.0) == ("killed", there)
    assert copy.judged("a.py", b"x = 1", [gone, there], 60.0) == ("survived", "")
    assert copy.judged("a.py", b"x = 2", [gone], 60.0) == ("unreached", "")


def test_judged_mutants_exist_in_sources():
    """A line that has changed since is another program and is judged anew."""
    for name, line, before, after in judged():
        assert line in map(str.strip, (ROOT / name).read_text(encoding="utf-8").splitlines()), (
            name,
            line,
        )
        assert before in line and before != after
