"""Builds and runs the fuzzer of FMI calls: the C shell, whole, with sanitizers or with counters of its lines, linked with the engine's code.

The program plays sequences drawn from a seed; one that ends it, by a sanitizer, a broken promise or a call that does not return, is shrunk here.
"""

from __future__ import annotations

import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.fmu.archive.payload import payload, token_of
from kinetree.fmu.native import shell
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import variable_table
from kinetree.models import load
from kinetree.models.description.reading.read_source import read
from kinetree.solvers.library.build import objects_for
from kinetree.solvers.library.c_compiler import LibraryError, compiler, run
from kinetree.solvers.library.platforms import levels_for, this_platform
from kinetree.solvers.library.processor_levels import suffix_of

HERE = Path(__file__).parent
RECORD = 8  # bytes
SANITIZERS = (
    "-g",
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
COUNTERS = ("-g", "-O0", "-fPIC", "--coverage")
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "PATH": "/usr/bin:/bin",
}

STAGED = {
    "format": "kinetree/1",
    "name": "Sled & arm",
    "parameters": {
        "k": {"value": 40.0, "min": 0, "tunable": True},
        "m": {"value": 2.0, "unit": "kg"},
        "limit": 0.1,
        "hits": 0.0,
    },
    "inputs": {
        "pull": {"start": 3.0, "unit": "N", "min": -100, "max": 100},
        "turn": {"unit": "N.m"},
    },
    "tables": {"command": {"x": [0.0, 0.05, 0.2], "y": [0.0, 2.0, -1.0]}},
    "states": {"lag": {"rate": "pull - 20*lag"}},
    "bodies": {
        "sled": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]},
        "arm": {"mass": 1.0, "com": [0, 0.3, 0], "inertia": [0.1, 0.02, 0.1, 0, 0, 0]},
        "load": {"mass": 0.4, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]},
    },
    "joints": {
        "slide": {
            "child": "sled",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["x"],
            "start": 0.05,
            "speed": 0.5,
        },
        "hinge": {
            "parent": "sled",
            "child": "arm",
            "type": "revolute",
            "axis": "x",
            "coordinates": ["a"],
        },
        "grip": {"parent": "arm", "child": "load", "type": "spherical", "at": [0, 0.6, 0]},
    },
    "forces": {
        "spring": {"coordinate": "x", "value": "lag - k*x + table('command', t)"},
        "motor": {"coordinate": "a", "value": "turn - 0.1*der(a)"},
    },
    "events": {"stop": {"when": "x > limit", "set": {"der(x)": "-0.5*der(x)", "hits": "hits + 1"}}},
    "outputs": {
        "tip": {"quantity": "position", "body": "arm", "point": [0, 0.6, 0]},
        "power": {"value": "pull*der(x)", "unit": "W"},
    },
    "stages": [
        {"name": "held", "ends": {"when": "a < -0.15"}, "free": ["grip"]},
        {"name": "let go", "ends": {"after": 0.1}, "drop": ["load"]},
        {},
    ],
    "run": {"step_limit": 300, "tolerances": 1e-5},
}

ENDLESS = {
    "format": "kinetree/1",
    "name": "Endless",
    "states": {"n": {"rate": "0"}},
    "bodies": {"bead": {"mass": 1.0}},
    "joints": {
        "slide": {
            "child": "bead",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["x"],
            "speed": 1.0,
        }
    },
    "events": {
        "a": {"when": "x > 0.02 and n < 0.5", "set": {"n": 1}},
        "b": {"when": "n > 0.5", "set": {"n": 0}},
    },
    "run": STAGED["run"],
}


def mechanisms() -> dict[str, Any]:
    """Events, stages, inputs, tables, states; a closed loop; a chain by its matrices; events that cause one another without end."""
    return {
        "staged": load(STAGED),
        "loop": load(read("lib:four-bar")[0] | {"run": STAGED["run"]}),
        "chain": load("lib:train", cars=3),
        "endless": load(ENDLESS),
    }


KEPT = (-signal.SIGALRM, -signal.SIGPROF)  # ends of a program that a call keeps


@dataclass
class Program:
    """A program built once, and the payload of every mechanism beside it."""

    folder: Path
    program: Path
    places: dict[str, tuple[Path, str]]  # folder and token of every mechanism
    tried: dict[str, int] = field(default_factory=dict)

    def command(self, name: str, *arguments: object) -> list[str]:
        place, token = self.places[name]
        return [
            str(self.program),
            str(place),
            str(self.folder / f"damaged-{name}"),
            token,
            *map(str, arguments),
        ]

    def played(self, name: str, *arguments: object, limit: float = 3600.0) -> tuple[int, str]:
        """What the program returned and said; a call that keeps it ends by the program's own alarm."""
        done = subprocess.run(
            self.command(name, *arguments),
            capture_output=True,
            text=True,
            errors="replace",
            env=ENVIRONMENT,
            timeout=limit,
        )
        if done.returncode == 0:
            for line in done.stdout.splitlines():
                key, _, value = line.partition(" ")
                self.tried[key] = self.tried.get(key, 0) + int(value)
        return done.returncode, done.stderr

    def run(self, name: str, seed: int, first: int, count: int, out: Path | None = None) -> str:
        """Play sequences; nothing, or what went wrong, with the shrunk sequence in a file."""
        progress = self.folder / f"progress-{name}"
        code, said = self.played(name, "run", seed, first, count, progress)
        if code == 0:
            return ""
        number = int(progress.read_text())
        out = out or self.folder
        out.mkdir(parents=True, exist_ok=True)
        file = out / f"calls-{name}-{seed}-{number}.bin"
        subprocess.run(self.command(name, "dump", seed, number, file), check=True, env=ENVIRONMENT)
        word = cause(code, said)
        content = shrunk(file.read_bytes(), lambda each: self.fails(name, each, word))
        file.write_bytes(content)
        return f"{word}\n{said[-3000:]}\n{len(content) // RECORD} calls: {file}"

    def fails(self, name: str, content: bytes, word: str) -> bool:
        file = self.folder / "shrinking.bin"
        file.write_bytes(content)
        code, said = self.played(name, "play", file)
        return code != 0 and cause(code, said) == word


class CallSequences:
    """Sequences of calls, two hundred of every mechanism per round, and some in four threads at once."""

    def __init__(self, program: Program):
        self.program = program

    def round(self, draw: random.Random, out: Path) -> tuple[dict[str, int], list[str]]:
        before, found = dict(self.program.tried), list[str]()
        for name in self.program.places:
            seed = draw.randrange(2**31)
            if said := self.program.run(name, seed, 0, 200, out):
                found.append(f"calls: {said}")
            code, said = self.program.played(name, "threads", seed, 10)
            if code:
                found.append(f"calls in threads: {cause(code, said)}: {name}, seed {seed}")
        return {
            f"FMI {key}": value - before.get(key, 0) for key, value in self.program.tried.items()
        }, found


def cause(code: int, said: str) -> str:
    """The line that names a failure."""
    for sign in ("BROKEN:", "SUMMARY:", "runtime error:"):
        for line in said.splitlines():
            if sign in line:
                return line[line.index(sign) :].split(" (call")[0]
    return "a call that does not return" if code in KEPT else f"ended with {code}"


def shrunk(content: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Records left out, halves first, as long as it still fails; a minute at most."""
    until = time.monotonic() + 60
    size = len(content) // RECORD // 2
    while size >= 1 and time.monotonic() < until:
        at = 0
        while at < len(content) and time.monotonic() < until:
            smaller = content[:at] + content[at + size * RECORD :]
            if smaller and fails(smaller):
                content = smaller
            else:
                at += size * RECORD
        size //= 2
    return content


def missing_tools(flags: tuple[str, ...] = SANITIZERS) -> str:
    """Why the program cannot be built here; nothing when it can."""
    if this_platform() is None:
        return "there is no engine for a machine like this"
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "a.c"
        source.write_text("int main(void) { return 0; }\n")
        try:
            run([*compiler(), *flags, str(source), "-o", str(source.with_suffix(""))])
        except LibraryError as error:
            return f"no C compiler with these options here: {str(error)[:200]}"
    return ""


def built(folder: Path, flags: tuple[str, ...] = SANITIZERS) -> Program:
    """The program and the payloads, in a folder."""
    target = this_platform()
    assert target is not None
    places = {}
    for name, mechanism in mechanisms().items():
        unit = fmu_unit(mechanism)
        table = variable_table(unit)
        token = token_of(unit, table)
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "model.kinetree").write_bytes(payload(unit, table, token))
        places[name] = place, token
    (folder / "unit_layout.h").write_text(shell.layout_header())
    for source in (*shell.sources(), *sorted(HERE.glob("*.c"))):
        compiled(folder, source, flags)
    linked(folder, flags)
    return Program(folder, folder / "calls", places)


def compiled(folder: Path, source: Path, flags: tuple[str, ...]) -> None:
    """The code of one source in a folder; sources of the shell allocate by what may starve them."""
    target = this_platform()
    assert target is not None
    define = [f"-DKINETREE{(suffix_of(level) or '_base').upper()}" for level in levels_for(target)]
    includes = [f"-I{folder}", f"-I{shell.HERE}", f"-I{HERE}", f"-I{shell.fmi_headers()}"]
    plain = [flag for flag in shell.FLAGS if flag != "-O2"]
    starved = ("-Dmalloc=starved_malloc", "-Dcalloc=starved_calloc")
    room = "native" if source.parent != HERE else HERE.name
    own = (*flags, *starved) if room == "native" else ("-fPIC",) if "--coverage" in flags else flags
    run(
        [
            *compiler(),
            *plain,
            *own,
            *define,
            *includes,
            "-c",
            str(source),
            "-o",
            str(folder / f"{room}-{source.stem}.o"),
        ]
    )


def linked(folder: Path, flags: tuple[str, ...]) -> None:
    target = this_platform()
    assert target is not None
    codes = sorted((*folder.glob("native-*.o"), *folder.glob(f"{HERE.name}-*.o")))
    run(
        [
            *compiler(),
            *flags,
            *map(str, codes),
            *map(str, objects_for(target)),
            "-lm",
            "-lpthread",
            "-o",
            str(folder / "calls"),
        ]
    )
