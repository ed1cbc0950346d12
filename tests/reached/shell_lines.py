"""Lines and branches of the C shell that tests reach: `python3 scripts/dev.py coverage --c`.

The shell is compiled once with counters. Sequences of FMI calls run over it, on this processor and, by QEMU, on older ones; then the tests of
FMUs and of hosts, whose archives carry it: a cache of its own holds it in the place of the binary that would be packed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from call_sequences import COUNTERS, ENVIRONMENT, Program, built, missing_tools
from private_cache import private_cache

from kinetree.fmu.native import shell
from kinetree.solvers.library.build import objects_for
from kinetree.solvers.library.c_compiler import compiler, run
from kinetree.solvers.library.platforms import this_platform
from kinetree.solvers.library.verified_files import library_folder, seal

ROOT = Path(__file__).resolve().parents[2]
AIM = (95.0, 85.0)  # percent of the lines and of the branches
OLDER = (
    "Conroe",
    "Nehalem",
    "Haswell,-avx2",
    "Haswell",
)  # processors: without what AVX2 code needs, and with it
SIZES = "tests/fmu/test_documented_sizes.py"  # counters take room
TESTS = (
    "tests/fmu",
    "tests/chain/test_chain_fmu.py",
    "tests/contacts/test_contact_hosts.py",
    "tests/loops/test_loops_hosts.py",
)


@dataclass
class Source:
    """What ran of a file: lines that did not, and of every line the branches that were never taken."""

    name: str
    lines: int
    missed: dict[int, str]
    branches: int
    untaken: dict[int, int]

    def row(self) -> str:
        lines, branches = (
            share(self.lines, len(self.missed)),
            share(self.branches, sum(self.untaken.values())),
        )
        return f"{self.name:16s} {lines:6.1f} % of {self.lines:4d} lines {branches:6.1f} % of {self.branches:4d} branches"


def share(count: int, missed: int) -> float:
    return 100.0 * (count - missed) / count if count else 100.0


def read(program: Program) -> list[Source]:
    """What gcov counted of every source of the shell."""
    return [counted(program.folder, source) for source in shell.sources()]


def counted(folder: Path, source: Path) -> Source:
    code = folder / f"{source.parent.name}-{source.stem}.o"
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(
            ["gcov", "-b", "--json-format", "-o", str(code), str(source)],
            cwd=scratch,
            capture_output=True,
            check=True,
        )
        told = json.loads(gzip.decompress(next(Path(scratch).glob("*.gcov.json.gz")).read_bytes()))
    texts = source.read_text(encoding="utf-8").splitlines()
    lines: dict[int, list[int]] = {}
    branches = dict[int, list[int]]()
    for file in told["files"]:
        if Path(file["file"]) == source:
            for line in file["lines"]:
                lines.setdefault(line["line_number"], []).append(line["count"])
                branches.setdefault(line["line_number"], []).extend(
                    branch["count"] for branch in line["branches"]
                )
    missed = {
        number: texts[number - 1].strip() for number, counts in lines.items() if not max(counts)
    }
    untaken = {
        number: sum(not count for count in counts)
        for number, counts in branches.items()
        if 0 in counts
    }
    return Source(source.name, len(lines), missed, sum(map(len, branches.values())), untaken)


def shares(sources: Sequence[Source]) -> tuple[float, float]:
    """Percent of all lines and of all branches."""
    lines = share(sum(each.lines for each in sources), sum(len(each.missed) for each in sources))
    return lines, share(
        sum(each.branches for each in sources), sum(sum(each.untaken.values()) for each in sources)
    )


def table(sources: Sequence[Source]) -> str:
    lines, branches = shares(sources)
    count, ways = sum(each.lines for each in sources), sum(each.branches for each in sources)
    return "\n".join(
        [
            *(each.row() for each in sources),
            f"{'all':16s} {lines:6.1f} % of {count:4d} lines {branches:6.1f} % of {ways:4d} branches",
        ]
    )


def details(sources: Sequence[Source]) -> str:
    """The lines that nothing reaches, and the lines with branches that nothing takes."""
    missed = [
        f"{each.name}:{number}: {text}"
        for each in sources
        for number, text in sorted(each.missed.items())
    ]
    untaken = [
        f"{each.name}: "
        + ", ".join(f"{number} ({count})" for number, count in sorted(each.untaken.items()))
        for each in sources
        if each.untaken
    ]
    return "\n".join(
        [
            "Lines that nothing reaches:",
            *(missed or ["none"]),
            "Branches that nothing takes, lines (how many):",
            *untaken,
        ]
    )


def play(program: Program, seed: int, count: int) -> str:
    """Sequences of calls of every mechanism; what went wrong."""
    return next(filter(None, (program.run(name, seed, 0, count) for name in program.places)), "")


def older_processors(program: Program) -> str:
    """A sequence on processors that lack AVX-512, AVX2 and more, where QEMU is here to play them."""
    qemu = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    if platform.machine() != "x86_64" or not qemu:
        return "no older processor was tried: qemu-user-static is missing"
    for processor in OLDER:
        command = [
            qemu,
            "-cpu",
            processor,
            *program.command("staged", "run", 1, 0, 1, program.folder / "progress-older"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
        if done.returncode:
            return f"on a processor {processor}: {done.stderr[-300:]}"
    return ""


def cache_with(program: Program) -> Path:
    """A cache in which the binary of this machine's FMUs is the shell with counters."""
    target = this_platform()
    assert target is not None
    objects = objects_for(target)
    folder = private_cache(program.folder / "cache")
    path = folder / "library" / library_folder().name / shell.shell_path(objects, target).name
    exports = program.folder / "exports.map"
    exports.write_text("{ global: fmi2*; fmi3*; best_engine; local: *; };\n")
    codes = [
        str(each)
        for each in sorted(program.folder.glob("*.o"))
        if each.name.startswith(f"{shell.HERE.name}-") or each.name == "calls-starved.o"
    ]
    link = [
        "-shared",
        "-Wl,-Bsymbolic",
        f"-Wl,--version-script={exports}",
        "--coverage",
        *map(str, objects),
        "-lm",
        "-o",
        str(path),
    ]
    run([*compiler(), *codes, *link])
    seal(path)
    return folder


def run_tests(program: Program, tests: Sequence[str]) -> int:
    """Tests in a process whose FMUs carry the shell with counters."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow and not platforms",
        f"--ignore={SIZES}",
        *tests,
    ]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {"KINETREE_CACHE": str(cache_with(program))}
    ).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="dev.py coverage --c", description="Lines and branches of the C shell that tests reach"
    )
    parser.add_argument(
        "--count", type=int, default=1500, help="sequences of calls of each mechanism"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--calls",
        action="store_true",
        help="the sequences of calls alone, without the tests of FMUs",
    )
    options = parser.parse_args()
    if why := missing_tools(COUNTERS):
        print(why)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder), COUNTERS)
        if found := play(program, options.seed, options.count):
            print(found)
            return 1
        if said := older_processors(program):
            print(said)
        if not options.calls and run_tests(program, TESTS):
            print("Some tests of FMUs fail; the table counts them all the same")
        sources = read(program)
        print(table(sources), details(sources), sep="\n\n")
        lines, branches = shares(sources)
    return int(lines < AIM[0] or branches < AIM[1])


if __name__ == "__main__":
    sys.exit(main())
