"""Which tests look at a line: those that execute it, by what `python3 scripts/dev.py coverage` keeps, the nearest first."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from python_lines import ROOT, Run

LOOKING = "tests/house/"  # at the tree, which a copy is not
BOX = 30.0  # seconds of the processor that the tests of one mutant take in the tree, at first
REST = 240.0  # and then, of those that did not fit


class Chosen:
    """The tests of one run: kernels compiled, or as plain Python."""

    def __init__(self, name: str, box: float = BOX, rest: float = REST):
        self.run, self.box, self.rest = Run(name), box, rest
        self.by_file: dict[str, dict[int, set[str]]] = {}

    @cached_property
    def there(self) -> bool:
        return self.run.there()

    def of_file(self, name: str) -> dict[int, set[str]]:
        if name not in self.by_file:
            self.by_file[name] = self.run.tests(name)
        return self.by_file[name]

    def reached(self, name: str, lines: Iterable[int]) -> set[str]:
        """Tests that execute the lines. What runs on import, or in a process that does not know its test, belongs to all tests of the file."""
        known = self.of_file(name)
        tests = set[str]().union(*(known.get(line, set()) for line in lines))
        everywhere = on_import(name, lines) or not tests and any(line in known for line in lines)
        return set[str]().union(*known.values()) if everywhere else tests

    def tests(self, name: str, lines: Iterable[int], but: Sequence[str] = ()) -> list[str]:
        """In the order in which they run, as many as the box of time holds, or the rest of them."""
        found = [
            test
            for test in self.reached(name, list(lines)) - set(but)
            if not test.startswith(LOOKING)
        ]
        return boxed(found, self.run.seconds, room_of_tests(name), self.rest if but else self.box)

    def seconds(self, tests: Iterable[str]) -> float:
        return sum(self.run.seconds[test] for test in tests)


def boxed(
    tests: Iterable[str], seconds: dict[str, float], near: str, box: float = BOX
) -> list[str]:
    """The nearest and quickest first, every function of tests once before any of them twice, until the box is full; one at least."""
    turns: dict[str, int] = {}
    rows = []
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        function = test.partition("[")[0]
        turns[function] = turns.get(function, 0) + 1
        rows.append((turns[function], near not in test, seconds[test], test))
    chosen, spent = [], 0.0
    for _, _, time, test in sorted(rows):
        if not chosen or spent + time <= box:
            chosen.append(test)
            spent += time
    return chosen


def room_of_tests(name: str) -> str:
    """The folder of tests with the name of a source's room."""
    parts = name.split("/")
    room = {"fmu_src": "fmu"}.get(parts[0], parts[1] if len(parts) > 2 else parts[0])
    return f"tests/{room}/"


def on_import(name: str, lines: Iterable[int]) -> bool:
    """Whether a line is outside of every function."""
    inside = functions(ROOT / name)
    return not any(line in inside for line in lines)


@lru_cache(maxsize=512)
def functions(path: Path) -> frozenset[int]:
    """Lines of the bodies of functions."""
    found = set[int]()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body = node.body if isinstance(node.body, list) else [node.body]
            found.update(range(body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)
