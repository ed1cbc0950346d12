"""The tool that makes mutants: each is one change, and every one is a program."""

import ast
from pathlib import Path

from mutants import LAYERS, ROOT, places, rooms_of

SOURCE = '''"""A text is left alone."""


def f(a, b):
    """And this."""
    total = 0.0
    if a < b and not b == 2:
        total += a * b - 1.5
    log(total)
    return -total if f else "a" + str(b)
'''


def mutated(path: Path) -> list[str]:
    source = path.read_bytes()
    return [(source[:a] + new.encode() + source[b:]).decode() for a, b, new, _ in places(path)]


def test_every_mutant_is_another_program(tmp_path: Path):
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    found = mutated(path)
    trees = {ast.dump(ast.parse(text)) for text in found}
    assert len(trees) == len(found) and ast.dump(ast.parse(SOURCE)) not in trees
    for change in ("(a) <= (b)", "(b) != (2)", "(a < b) or (not b == 2)", "(a * b) + (1.5)", "(a) / (b)", "total = 1.0", "2.25", "return (total)"):
        assert any(change in text for text in found), change
    assert any("log(total)" not in text for text in found)
    assert all("A text is left alone." in text and '"a" + str(b)' in text for text in found)


def test_texts_beyond_ascii(tmp_path: Path):
    path = tmp_path / "g.py"
    path.write_text("ω = 1 + 2  # µ\nθ = ω * 3\n")
    for text in mutated(path):
        ast.parse(text)


def test_every_source_has_tests_that_look_at_it():
    for layer in LAYERS:
        for path in (ROOT / layer).rglob("*.py"):
            rooms = rooms_of(path.relative_to(ROOT).as_posix())
            assert rooms and all((ROOT / room).is_dir() for room in rooms), path
