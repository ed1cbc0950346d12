"""Lines of Python that the fast tests reach, and which test reaches which: `python3 scripts/dev.py coverage`.

Two runs of pytest under coverage.py, processes that tests start included: all tests with compiled kernels, then those of the kernels' rooms with
the kernels as plain Python, where a test that takes too long is left out. A line counts when either reaches it: compiled kernels execute no line of
Python. Scripts of Python FMUs count as the files that they are packed from. Less than AIM of models, fmu_src and scripts fails, with the files that
lack most; nothing is left out but what LEFT_OUT says, no platform and no room. What is kept in build/reached tells the tool for mutants which tests
execute a line. Rooms or files of tests as arguments renew what is known of those alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from private_cache import private_cache
from reached_plugin import LIMIT, TIMES

if TYPE_CHECKING:
    from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "reached"
LAYERS = ("models", "fmu_src", "scripts", "solvers")
PLAIN_ROOMS = (
    "elements", "engine", "literal", "expressions", "integrate", "loops", "chain", "contacts", "system", "forces", "run", "sampled", "analysis",
    "library",
    "controllers", "trace/test_run_gradient.py",
)  # fmt: skip
PLAIN_LIMIT = 2.0  # seconds for a test of kernels in plain Python
FILE_LIMIT = 400.0  # and for a file of them
NO_TESTS = 5  # pytest's word for a file none of whose tests is chosen
AIM = 97.0  # percent of the lines of models, fmu_src and scripts
RUNS = ("compiled", "plain")
STARTED = "COVERAGE_PROCESS_START"
PHASE = re.compile(r" \((?:setup|call|teardown)\)$")
LEFT_OUT = ("if TYPE_CHECKING:", r'if __name__ == "__main__":', r"^\s*\.\.\.$", "pragma: no cover")


@dataclass
class Part:
    """What one start of pytest reached: tests by line of the sources of that day, and the seconds of every test that passed."""

    folder: Path

    def measure(self, plain: bool, marks: str, arguments: Sequence[str], cache: Path) -> int:
        """Run pytest; what it reached is combined over all processes."""
        self.folder.mkdir(parents=True)
        self.settings().write_text(
            "[run]\nparallel = true\nconcurrency = thread\nsigterm = true\ncontext = ${PYTEST_CURRENT_TEST-}\n"
            f"data_file = {self.folder / 'data'}\nsource =\n" + "".join(f"    {ROOT / layer}\n" for layer in LAYERS)
            + "[report]\nexclude_also =\n" + "".join(f"    {pattern}\n" for pattern in LEFT_OUT)
        )  # fmt: skip
        for layer in LAYERS:  # lines have moved when the tool for mutants asks later
            shutil.copytree(
                ROOT / layer,
                self.folder / "sources" / layer,
                ignore=shutil.ignore_patterns("__pycache__", "built", "*.toml", "*.svg", "*.png"),
            )
        # processes that tests start read the same settings, where the name of the test stands for itself
        environment = os.environ | {
            "PYTHONPATH": str(Path(__file__).parent),
            STARTED: str(self.settings()),
        }
        environment.pop("PYTEST_CURRENT_TEST", None)
        environment["KINETREE_CACHE"] = str(cache)
        if plain:
            environment |= {"NUMBA_DISABLE_JIT": "1", LIMIT: str(PLAIN_LIMIT)}
        coverage = [sys.executable, "-m", "coverage"]
        # a test that is left out in the midst of what it does may leave something behind: every file of them has a process of its own
        starts = [[file] for file in files_of_tests(arguments)] if plain else [list(arguments)]
        code, times = 0, dict[str, float]()
        for start in starts:
            told = self.folder / "told.json"
            told.unlink(missing_ok=True)
            pytest = [
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "reached_plugin",
                "-m",
                marks,
                *start,
            ]
            command = [*coverage, "run", f"--rcfile={self.settings()}", *pytest]
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment | {TIMES: str(told)},
                    timeout=FILE_LIMIT if plain else None,
                ).returncode
                code |= 0 if done == NO_TESTS and plain else done
            except subprocess.TimeoutExpired:
                print(
                    f"{start[0]} takes longer than {FILE_LIMIT:.0f} s: what comes last in it is left out"
                )
            times |= json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
        (self.folder / "times.json").write_text(json.dumps(times), encoding="utf-8")
        subprocess.run(
            [*coverage, "combine", "--quiet", f"--rcfile={self.settings()}"], cwd=ROOT, check=True
        )
        return code

    def settings(self) -> Path:
        return self.folder / "settings"

    @cached_property
    def data(self) -> CoverageData:
        from coverage import CoverageData

        data = CoverageData(str(self.folder / "data"))
        data.read()
        return data

    @cached_property
    def seconds(self) -> dict[str, float]:
        return json.loads((self.folder / "times.json").read_text(encoding="utf-8"))

    @cached_property
    def asked(self) -> list[str]:
        """The rooms or files of tests that ran; none of them is all."""
        return json.loads((self.folder / "asked.json").read_text(encoding="utf-8"))

    def lines(self, name: str) -> dict[int, list[str]]:
        """By line of a file as it stands today, what executed it."""
        then = self.data.contexts_by_lineno(str(ROOT / name))
        return {
            new: then[old]
            for old, new in moved(self.folder / "sources" / name, ROOT / name).items()
            if old in then
        }


class Run:
    """What the tests reach in one way of running kernels: all of them once, then rooms or files of tests that were asked again."""

    def __init__(self, name: str):
        self.name, self.folder = name, KEPT / name
        self.parts = [
            Part(path)
            for path in sorted(self.folder.glob("part-*"))
            if (path / "asked.json").exists()
        ]

    def measure(self, marks: str = "", rooms: Sequence[str] = (), again: bool = False) -> int:
        """Run the tests of some rooms, or all; with `again` what is known of other tests stays."""
        if not again:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.parts = []
        part = Part(
            self.folder
            / f"part-{1 + max((int(path.name[5:]) for path in self.folder.glob('part-*')), default=-1):03d}"
        )
        with tempfile.TemporaryDirectory() as folder:
            # what is kept from earlier runs would not be made again, so that nothing would be seen of how it is made
            cache = private_cache(Path(folder) / "cache", without=("source", "specialised"))
            code = part.measure(self.name == "plain", marks, rooms, cache)
        (part.folder / "asked.json").write_text(json.dumps(list(rooms)), encoding="utf-8")
        self.parts.append(part)
        self.__dict__.pop("seconds", None)
        return code

    def there(self) -> bool:
        return bool(self.parts)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """By test, of those that passed when they ran last: only they can tell of a mutant."""
        found: dict[str, float] = {}
        for part in self.parts:
            rooms = tuple(part.asked)
            found = {
                test: time for test, time in found.items() if rooms and not test.startswith(rooms)
            } | part.seconds
        return found

    def tests(self, name: str) -> dict[int, set[str]]:
        """By line of a file as it stands today, the tests that passed and executed it; what happens on import belongs to none of them."""
        found: dict[int, set[str]] = {}
        for k, part in enumerate(self.parts):
            later = [tuple(each.asked) for each in self.parts[k + 1 :]]
            for line, contexts in part.lines(name).items():
                tests = (PHASE.sub("", test) for test in contexts)
                told = {
                    test
                    for test in tests
                    if test in self.seconds
                    and test in part.seconds
                    and not any(test.startswith(each or "") for each in later)
                }
                found.setdefault(line, set()).update(told)
        return found

    def reached(self, name: str) -> set[int]:
        """Lines of a file as it stands today that anything executes."""
        return set[int]().union(*(part.lines(name) for part in self.parts))


def files_of_tests(rooms: Iterable[str]) -> list[str]:
    """Of folders and files, as pytest takes them."""
    return [
        str(path.relative_to(ROOT))
        for room in rooms
        for path in (
            sorted((ROOT / room).rglob("test_*.py")) if (ROOT / room).is_dir() else [ROOT / room]
        )
    ]


def moved(before: Path, now: Path) -> dict[int, int]:
    """Lines of a file then and now, as far as they are the same."""
    if not before.exists():
        return {}
    a, b = (path.read_text(encoding="utf-8").splitlines() for path in (before, now))
    blocks = (
        SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        if a != b
        else [(0, 0, len(a))]
    )
    return {i + k + 1: j + k + 1 for i, j, size in blocks for k in range(size)}


@dataclass
class File:
    """Lines of code of a file, and those that no test executes."""

    name: str
    lines: int
    missed: list[int]


def files(runs: Iterable[Run], layers: Iterable[str] = LAYERS) -> list[File]:
    """Every file of some layers, by what any of some runs reached."""
    from coverage import Coverage

    known = [run for run in runs if run.there()]
    found = []
    analyser = Coverage(data_file=None, config_file=str(known[0].parts[0].settings()))
    for layer in layers:
        for path in sorted((ROOT / layer).rglob("*.py")):
            _, statements, excluded, _, _ = analyser.analysis2(str(path))
            name = path.relative_to(ROOT).as_posix()
            reached = set[int]().union(*(run.reached(name) for run in known))
            found.append(
                File(name, len(statements), [line for line in statements if line not in reached])
            )
    return found


def room(name: str) -> str:
    return "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/")[0]


def share(of: Iterable[File]) -> tuple[float, int, int]:
    """Percent reached, lines that are not, lines."""
    lines = missed = 0
    for each in of:
        lines, missed = lines + each.lines, missed + len(each.missed)
    return 100.0 * (lines - missed) / lines if lines else 100.0, missed, lines


def table(found: list[File]) -> str:
    """By room and by layer."""
    rooms = sorted({room(each.name) for each in found})
    rows = [(name, share(each for each in found if room(each.name) == name)) for name in rooms]
    rows += [
        (f"all of {layer}", share(each for each in found if each.name.startswith(f"{layer}/")))
        for layer in LAYERS
    ]
    rows.append(
        (
            "models, fmu_src, scripts",
            share(each for each in found if not each.name.startswith("solvers/")),
        )
    )
    return "\n".join(
        f"{name:28s} {percent:6.1f} %   {missed:5d} of {lines:6d} lines not reached"
        for name, (percent, missed, lines) in rows
        if lines
    )


def spans(lines: list[int]) -> str:
    """Line numbers as ranges."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line - parts[-1][-1] <= 1:
            parts[-1][1:] = [line]
        else:
            parts.append([line])
    return ", ".join("-".join(map(str, part)) for part in parts)


def lacking(found: list[File], aim: float = AIM, most: int = 12) -> str:
    """Why the bound is not kept, with the files that lack most; nothing where it is."""
    percent, missed, lines = share(found)
    if percent >= aim:
        return ""
    needed = missed - int(lines * (1.0 - aim / 100.0))
    worst = sorted((each for each in found if each.missed), key=lambda each: -len(each.missed))[
        :most
    ]
    return "\n".join([
        f"{percent:.1f} % of models, fmu_src and scripts, expected {aim:g} % at least: {needed} lines more are to be reached; most is missing in",
        *(f"{each.name}: {len(each.missed)} of {each.lines} lines: {spans(each.missed)}" for each in worst),
    ])  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="dev.py coverage",
        description="Lines that the fast tests reach, and which test reaches which",
    )
    parser.add_argument(
        "rooms",
        nargs="*",
        help="rooms or files of tests that run again, where the rest is known: tests/run",
    )
    parser.add_argument(
        "--runs",
        default=",".join(RUNS),
        help="which runs: compiled kernels, plain Python; '' prints what is known",
    )
    parser.add_argument("--all", action="store_true", help="the slow tests too")
    parser.add_argument("--missed", action="store_true", help="list the lines that no test reaches")
    options = parser.parse_args()
    failed, slow = 0, "not platforms" if options.all else "not slow and not platforms"
    for name in filter(None, options.runs.split(",")):
        rooms = options.rooms or (
            [f"tests/{each}" for each in PLAIN_ROOMS] if name == "plain" else []
        )
        marks = slow if name != "plain" else "not slow and not platforms and not host"
        failed |= Run(name).measure(marks, rooms, again=bool(options.rooms))
    known = [run for run in map(Run, RUNS) if run.there()]
    if not known:
        print("Nothing was measured yet: python3 scripts/dev.py coverage")
        return 1
    found = files(known)
    print(table(found))
    if options.missed:
        print(*(f"{each.name}: {spans(each.missed)}" for each in found if each.missed), sep="\n")
    if failed:
        print("Some tests fail; the table counts them all the same")
    if said := lacking([each for each in found if not each.name.startswith("solvers/")]):
        print(said)
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
