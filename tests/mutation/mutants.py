"""Small wrong changes made on purpose: which of them do the tests see? `python3 scripts/dev.py mutants` runs it; survivors are listed to be judged.

A mutant changes one place of one file in a copy of the tree: a comparison, an operator, a number, a condition, a statement. The tests of the
file's room run against the copy, kernels as plain Python (no engine is built per mutant). A failing test kills a mutant, and so does one that no
longer ends.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = {"solvers": "solvers", "models": "models", "fmu_src": "fmu", "scripts": "scripts"}
# rooms of tests that look at a room of sources, nearest first
TESTS = {
    "solvers/algebra": ["engine", "literal"],
    "solvers/engine": ["engine", "literal", "forces"],
    "solvers/expressions": ["expressions"],
    "solvers/integrate": ["integrate"],
    "solvers/literal": ["literal"],
    "solvers/loops": ["loops"],
    "solvers/run": ["run", "integrate"],
    "solvers/chain": ["chain"],
    "models/analysis": ["analysis"],
    "models/compilation": ["forces", "loops", "run", "description"],
    "models/description": ["description", "expressions"],
    "models/expressions": ["expressions"],
    "models/foreign": ["foreign"],
    "models/graph": ["description"],
    "models/result": ["result"],
    "models/run": ["run", "integrate"],
    "models/system": ["system", "loops", "analysis"],
    "fmu_src": ["fmu"],
    "scripts/cosim": ["cosim"],
    "scripts/ssp": ["cosim"],
    "scripts": ["commands"],
}
SWAPPED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Mod: "*", ast.Pow: "*", ast.FloorDiv: "*",
}  # fmt: skip
SLOWEST = 90.0  # seconds a mutant's tests may take beyond three times those of the tree


@dataclass
class Mutant:
    """One change: where, what stood there, what stands there now, and what the tests said."""

    file: str
    line: int
    before: str
    after: str
    verdict: str = ""


def places(path: Path) -> Iterator[tuple[int, int, str, int]]:
    """(start, end, new text, line) of every change worth trying in a file; offsets in bytes."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    documents = {
        id(node.body[0]) for node in ast.walk(tree) if hasattr(node, "body") and isinstance(node.body, list) and node.body and is_text(node.body[0])
    }

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def text(node: ast.expr) -> str:
        a, b = span(node)
        return source[a:b].decode()

    for node in ast.walk(tree):
        if id(node) in documents:
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
            yield *span(node), f"({text(node.left)}) {SWAPPED[type(node.ops[0])]} ({text(node.comparators[0])})", node.lineno
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not is_string(node):
            yield *span(node), f"({text(node.left)}) {SWAPPED[type(node.op)]} ({text(node.right)})", node.lineno
        elif isinstance(node, ast.BoolOp):
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield *span(node), word.join(f"({text(value)})" for value in node.values), node.lineno
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            yield *span(node), f"({text(node.operand)})", node.lineno
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield *span(node), repr(node.value + 1 if isinstance(node.value, int) else 1.5 * node.value or 1.0), node.lineno
        elif isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, (ast.Compare, ast.BoolOp)):
            yield *span(node.test), f"not ({text(node.test)})", node.lineno
        elif isinstance(node, (ast.AugAssign, ast.Expr)) and not is_text(node):
            yield *span(node), "pass", node.lineno


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_string(node: ast.expr) -> bool:
    """Whether an operator joins or formats texts."""
    return any(
        isinstance(each, (ast.JoinedStr, ast.List, ast.Tuple)) or isinstance(each, ast.Constant) and isinstance(each.value, str)
        for each in ast.walk(node)
    )


def changed_files() -> list[str]:
    """Sources that differ from the last commit but one, committed or not."""
    done = subprocess.run(["git", "diff", "--name-only", "HEAD~1"], cwd=ROOT, capture_output=True, text=True)
    return [name for name in done.stdout.split() if name.endswith(".py") and name.split("/")[0] in LAYERS and (ROOT / name).exists()]


def rooms_of(name: str) -> list[str]:
    """Test folders of a source file."""
    parts = name.split("/")
    for size in (2, 1):
        found = TESTS.get("/".join(parts[:size]))
        if found and len(parts) > size:
            return [f"tests/{room}" for room in found if (ROOT / "tests" / room).is_dir()]
    return ["tests/engine", "tests/literal"] if parts[0] == "solvers" else ["tests/description"]


class Copy:
    """A copy of the tree whose packages are found before those of the installation."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in (*LAYERS, "tests", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, folder)
        packages = folder / "packages" / "kinetree"
        packages.mkdir(parents=True)
        for source, name in LAYERS.items():
            (packages / name).symlink_to(folder / source, target_is_directory=True)

    def test(self, rooms: list[str], name: str, limit: float) -> str:
        """'killed', 'survived' or 'endless'."""
        environment = os.environ | {"PYTHONPATH": str(self.folder / "packages"), "PYTHONDONTWRITEBYTECODE": "1"}
        if name.startswith("solvers/"):
            environment["NUMBA_DISABLE_JIT"] = "1"
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow and not host", *rooms]
        try:
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return "endless"
        return "survived" if done.returncode == 0 else "killed"


def run(options: argparse.Namespace) -> int:
    """Try mutants until they, or the minutes, are used up; print and write the survivors."""
    every = sorted(path.relative_to(ROOT).as_posix() for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
    names = options.files or (every if options.all else changed_files())
    if not names:
        print("No changed sources; name files, or say --all")
        return 0
    draw = random.Random(options.seed)
    candidates = [(name, place) for name in names for place in places(ROOT / name)]
    draw.shuffle(candidates)
    started, tried = time.monotonic(), []
    times: dict[tuple[str, bool], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for name, (a, b, new, line) in candidates[: options.count]:
            if time.monotonic() - started > 60.0 * options.minutes:
                print("The time is used up")
                break
            rooms, key = rooms_of(name), (" ".join(rooms_of(name)), name.startswith("solvers/"))
            if key not in times:
                begun = time.monotonic()
                if copy.test(rooms, name, 1800.0) != "survived":
                    print(f"{name}: {' '.join(rooms)} fail without any change; its mutants are left out")
                    times[key] = -1.0
                else:
                    times[key] = time.monotonic() - begun
            if times[key] < 0.0:
                continue
            path, source = copy.folder / name, (ROOT / name).read_bytes()
            path.write_bytes(source[:a] + new.encode() + source[b:])
            mutant = Mutant(name, line, source[a:b].decode(), new, copy.test(rooms, name, 3.0 * times[key] + SLOWEST))
            path.write_bytes(source)
            tried.append(mutant)
            print(f"{mutant.verdict:9s} {name}:{line}  {short(mutant.before)}  ->  {short(mutant.after)}", flush=True)
    return report(tried, options.report)


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) < 60 else line[:57] + "..."


def report(tried: list[Mutant], file: str) -> int:
    survivors = [mutant for mutant in tried if mutant.verdict == "survived"]
    print(f"{len(tried)} mutants, {len(tried) - len(survivors)} seen by the tests, {len(survivors)} not")
    if file:
        Path(file).write_text(json.dumps([asdict(mutant) for mutant in tried], indent=1), encoding="utf-8")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py mutants", description="Small wrong changes made on purpose: which of them do the tests see?")
    parser.add_argument("files", nargs="*", help="sources to change (default: those that differ from the last commit but one)")
    parser.add_argument("--all", action="store_true", help="all sources")
    parser.add_argument("--count", type=int, default=100, help="most mutants to try")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to stop")
    parser.add_argument("--seed", type=int, default=0, help="which ones are drawn")
    parser.add_argument("--report", default="", metavar="FILE", help="write all verdicts as JSON")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
