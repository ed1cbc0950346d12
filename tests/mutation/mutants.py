"""Small wrong changes made on purpose: which of them do the tests see? `python3 scripts/dev.py mutants` runs it; survivors are listed to be judged.

A mutant changes one place of one file in a copy of the tree. Against a change of Python run the tests that execute its lines, nearest first
(`python3 scripts/dev.py coverage` finds out which; kernels run as plain Python, no engine is built per mutant), a box of time full and, if none of
them fails, the rest of them; against one of the C shell the sequences of calls and the tests of FMUs. A failing test kills a mutant, and so does
one that no longer ends. What makes the same program does not count. `--groups kernels,events,models/compilation,shell,scripts --share` is the sample
from which a share of survivors is told: as many of each as it has lines.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType

import c_places
import places
from chosen import BOX, REST, Chosen
from places import Place
from trials import LAYERS, ROOT, Copy

GROUPS = {
    "kernels": (
        "solvers/algebra",
        "solvers/contacts",
        "solvers/elements",
        "solvers/engine",
        "solvers/expressions",
        "solvers/integrate",
        "solvers/literal",
        "solvers/loops",
        "solvers/numbers",
        "solvers/sensors",
    ),
    "chains": ("solvers/chain", "models/chain"),
    "events": ("solvers/run", "models/run"),
    "compilation": (
        "models/compilation",
        "models/description",
        "models/expressions",
        "models/forces",
        "models/graph",
        "models/joints",
        "models/system",
    ),
    "analysis": (
        "models/analysis",
        "models/result",
        "models/gradients",
        "models/trace",
        "models/controllers",
        "models/scene",
        "models/foreign",
    ),
    "fmu": (
        "fmu_src/archive",
        "fmu_src/slave",
        "fmu_src/source",
        "fmu_src/variables.py",
        "fmu_src/dependencies.py",
        "fmu_src/model_description.py",
    ),
    "shell": ("fmu_src/native/",),
    "scripts": (
        "scripts/cosim",
        "scripts/ssp",
        "scripts/studies",
        "scripts/reports",
        "scripts/terminal",
        "scripts/commands",
        "scripts/hil",
        "scripts/fmi",
    ),
}
# a native FMU's C code is no Python whose lines could be followed; nearest first
SHELL_TESTS = [
    "tests/fmu/test_fmu_native.py", "tests/fmu/test_fmu_exchange.py", "tests/fmu/test_fmu_events.py",
    "tests/fmu/test_fmu_interruptions.py",
    "tests/fmu/test_fmu_engine.py", "tests/fmu/test_fmu_starts.py", "tests/fmu/test_capabilities.py", "tests/chain/test_chain_fmu.py",
    "tests/contacts/test_contact_hosts.py", "tests/loops/test_loops_hosts.py", "tests/run/test_host_discontinuities.py", "tests/fuzz/calls",
]  # fmt: skip
SHELL_TESTS_LAST = 500.0  # seconds of the processor that they may take
JUDGED = Path(__file__).with_name(
    "judged.toml"
)  # changes that make the same program, by hand, each with its reason


@dataclass
class Mutant:
    """One change: where, what stood there, what stands there now, and what the tests said."""

    group: str
    file: str
    line: int
    before: str
    after: str
    verdict: str = ""
    by: str = ""

    def text(self) -> str:
        return f"{self.verdict:10s} {self.file}:{self.line}  {short(self.before)}  ->  {short(self.after)}{'  by ' + self.by if self.by else ''}"


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) < 70 else line[:67] + "..."


def sources() -> list[str]:
    """Everything that may be changed."""
    python = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py")]
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in (*python, *(ROOT / "fmu_src" / "native").glob("*.c"))
    )


def changed_files() -> list[str]:
    """Sources that differ from the last commit but one, committed or not."""
    done = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1"], cwd=ROOT, capture_output=True, text=True
    )
    return sorted(set(done.stdout.split()) & set(sources()))


def group_of(name: str) -> str:
    suffix = ".c" if name.startswith("fmu_src/native/") else ".py"
    return next(
        (
            group
            for group, rooms in GROUPS.items()
            if name.endswith(suffix) and name.startswith(rooms)
        ),
        "",
    )


def files_of(group: str) -> list[str]:
    """Sources of a group, or of a folder."""
    return [
        name
        for name in sources()
        if (
            group_of(name) == group if group in GROUPS else name.startswith(f"{group.rstrip('/')}/")
        )
    ]


def shares(groups: dict[str, list[str]], count: int) -> dict[str, int]:
    """How many of each, in proportion to lines, one at least."""
    lines = {
        group: sum((ROOT / name).read_bytes().count(b"\n") for name in names)
        for group, names in groups.items()
    }
    return {group: max(1, round(count * of / sum(lines.values()))) for group, of in lines.items()}


def places_of(name: str, root: Path = ROOT) -> list[Place]:
    return list((c_places if name.endswith(".c") else places).places(root / name))


def drawn(
    names: Sequence[str], count: int, seed: int, root: Path = ROOT
) -> list[tuple[str, Place]]:
    """Changes of some files, every place as likely as any other."""
    candidates = [(name, place) for name in names for place in places_of(name, root)]
    random.Random(seed).shuffle(candidates)
    return candidates[:count]


def same_code(before: bytes, after: bytes, name: str) -> bool:
    """Whether a change of Python compiles to what stood there."""
    return name.endswith(".py") and code_of(compile(before, name, "exec", optimize=2)) == code_of(
        compile(after, name, "exec", optimize=2)
    )


def code_of(code: CodeType) -> tuple[object, ...]:
    """What a piece of code does, without where it stands."""
    constants = tuple(
        code_of(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def judged() -> set[tuple[str, str, str, str]]:
    """(file, text of the line, before, after) of changes that were found to make the same program."""
    found = (
        tomllib.loads(JUDGED.read_text(encoding="utf-8")).get("same", []) if JUDGED.exists() else []
    )
    return {(each["file"], each["line"], each["before"], each["after"]) for each in found}


def tests_of(name: str, place: Place, maps: dict[str, Chosen]) -> list[tuple[list[str], float]]:
    """What runs against a change, and the seconds of the processor that may take: at first what fits into the box, then the rest."""
    if name.endswith(".c"):
        return [(SHELL_TESTS, SHELL_TESTS_LAST)]
    chosen = maps["plain" if name.startswith("solvers/") else "compiled"]
    if not chosen.there:
        raise SystemExit(
            f"Which tests execute {name} is not known yet: python3 scripts/dev.py coverage"
        )
    tests = chosen.tests(name, place.lines)
    rows = [tests, chosen.tests(name, place.lines, but=tests)]
    return [
        (each, 60.0 + 6.0 * chosen.seconds(each)) for each in rows if each
    ]  # with the start, and what a small change may cost


def run(options: argparse.Namespace) -> int:
    """Try mutants until they, or the minutes, are used up; print and write what came of them."""
    wanted = (
        {group: files_of(group) for group in options.groups.split(",")} if options.groups else {}
    )
    if not wanted:
        wanted = {"": options.files or (sources() if options.all else changed_files())}
    counts = (
        shares(wanted, options.count) if options.share else dict.fromkeys(wanted, options.count)
    )
    started, tried, same = time.monotonic(), list[Mutant](), judged()
    maps = {name: Chosen(name, options.box, options.rest) for name in ("compiled", "plain")}
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for group, names in wanted.items():
            for name, place in drawn(names, counts[group], options.seed, copy.folder):
                if time.monotonic() - started > 60.0 * options.minutes:
                    print("The time is used up")
                    break
                source = (copy.folder / name).read_bytes()  # the tree may change while this runs
                after = source[: place.start] + place.new.encode() + source[place.end :]
                line = source.decode().splitlines()[place.line - 1].strip()
                mutant = Mutant(
                    group or group_of(name),
                    name,
                    place.line,
                    source[place.start : place.end].decode(),
                    place.new,
                )
                if (
                    same_code(source, after, name)
                    or (name, line, mutant.before, mutant.after) in same
                ):
                    mutant.verdict = "same"
                else:
                    mutant.verdict, mutant.by = copy.tried(name, after, tests_of(name, place, maps))
                tried.append(mutant)
                print(mutant.text(), flush=True)
                if options.report:  # after each: a machine may stop
                    Path(options.report).write_text(
                        json.dumps([asdict(mutant) for mutant in tried], indent=1), encoding="utf-8"
                    )
    return report(tried)


def interval(hits: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, 95 %."""
    if not count:
        return 0.0, 1.0
    z, p = 1.96, hits / count
    middle, half = (
        p + z * z / (2 * count),
        z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count)),
    )
    return max(0.0, (middle - half) / (1 + z * z / count)), min(
        1.0, (middle + half) / (1 + z * z / count)
    )


def report(tried: list[Mutant]) -> int:
    """The share that survived, by group; survivors are what no test executes, too."""
    groups = sorted({mutant.group for mutant in tried})
    for group in [*groups, *(["all"] if len(groups) > 1 else [])]:
        of = [
            mutant
            for mutant in tried
            if group in (mutant.group, "all") and mutant.verdict not in ("same", "invalid")
        ]
        left = [mutant for mutant in of if mutant.verdict in ("survived", "unreached")]
        low, high = interval(len(left), len(of))
        unreached = sum(mutant.verdict == "unreached" for mutant in left)
        share = 100 * len(left) / max(len(of), 1)
        said = f"{group or 'files':12s} {len(of):4d} mutants, {len(left):3d} survive ({unreached} in lines that no test reaches): {share:.1f} %"
        print(f"{said}, 95 % between {100 * low:.1f} and {100 * high:.1f} %")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="dev.py mutants",
        description="Small wrong changes made on purpose: which of them do the tests see?",
    )
    parser.add_argument(
        "files",
        nargs="*",
        help="sources to change (default: those that differ from the last commit but one)",
    )
    parser.add_argument("--all", action="store_true", help="all sources")
    parser.add_argument(
        "--groups",
        default="",
        help=f"groups or folders, --count mutants of each: {', '.join(GROUPS)}",
    )
    parser.add_argument(
        "--share",
        action="store_true",
        help="--count mutants in all, of each group in proportion to its lines",
    )
    parser.add_argument("--count", type=int, default=100, help="most mutants to try")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to stop")
    parser.add_argument(
        "--box",
        type=float,
        default=BOX,
        help="seconds of the processor that the tests of a mutant may take in the tree",
    )
    parser.add_argument(
        "--rest",
        type=float,
        default=REST,
        help="seconds of the tests that run beyond the box against what has survived it",
    )
    parser.add_argument("--seed", type=int, default=0, help="which ones are drawn")
    parser.add_argument("--report", default="", metavar="FILE", help="write all verdicts as JSON")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
