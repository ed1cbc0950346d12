"""Instruction counts of kernels, steps, FMU steps and a compilation, independent of timing noise.

`valgrind --tool=callgrind` counts the engine for AVX2, which valgrind knows. A bare Python process
calls the engine on the blocks of a mechanism, read from files, or loads a native FMU and does
steps; only instructions inside the library are counted. Compiling a description is Python code: its
counts are bytecode instructions. With `--against FILE` of an earlier run a case that grew by more
than 2 % fails, and the functions that grew most are named. Counts of other versions of LLVM or
Python are not compared.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.run.simulation import Options, write_integrator_options
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.models.system.system import System
from kinetree.scripts.bench import fmu_step_instructions
from kinetree.scripts.bench.bytecode_counts import bytecodes
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.solvers.library.build import make_library
from kinetree.solvers.library.processor_levels import LEVELS, level, suffix_of
from kinetree.solvers.library.verified_files import library_path, sound

GROWTH = 0.02
NAMED = 5  # functions that are named
EVALUATIONS, STEPS = 20, 20
FMU_MODEL, FMU_STEP = "lib:boom", 1e-3
COMPILED = "lib:chain6"
UNNAMED = "without a name"  # functions of an archive's library, which keeps no names: the same steps by the engine have them
HOST = """
import ctypes, sys
library, name, option, target = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
blocks = [ctypes.create_string_buffer(open(path, "rb").read()) for path in sys.argv[5:8]]
entry = getattr(ctypes.CDLL(library), name)
entry.argtypes, entry.restype = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_double], ctypes.c_int32
sys.exit(entry(*blocks, option, target))
"""


@dataclass
class Case:
    """A call of an engine entry, with the number of evaluations or steps that it makes."""

    name: str
    entry: str
    blocks: tuple[np.ndarray, ...]
    option: int
    target: float
    count: int


def evaluations(name: str, model: str | dict[str, Any], **settings: float) -> Case:
    """Return the case that evaluates the accelerations of a model at its start."""
    return evaluations_of(name, load(model, **settings).compile())


def evaluations_of(name: str, system: System) -> Case:
    """Return the case that evaluates the accelerations of a compiled system at its start."""
    system._fast.set_state(*system.start())
    return Case(
        name,
        "repeat",
        (system.compiled.ints, system.compiled.floats, system._fast.work),
        EVALUATIONS,
        0.0,
        EVALUATIONS,
    )


def steps(name: str, model: str, integrator: str, step: float, **settings: float) -> Case:
    """Return the case that makes steps of fixed size from the start of a model."""
    system = load(model, **settings).compile()
    run = Run(make_unit(system, integrator))
    stop = STEPS * step
    write_integrator_options(
        run, Options.of(system, stop, None, step, integrator, "auto", None, step, None, None), False
    )
    run.call("unit_start", 0, 0.0)
    return Case(name, "unit_advance", (run.unit.ints, run.unit.floats, run.work), 0, stop, STEPS)


def cases() -> list[Case]:
    return [
        evaluations("chain of 6", "lib:chain6"),
        evaluations("10 plane loops", "lib:n_four_bar", n=10),
        evaluations("2 loops in space", "lib:delta"),
        evaluations("oil and forces", "lib:boom"),
        steps("rk4, chain of 6", "lib:chain6", "rk4", 1e-3),
        steps("rk4, 10 plane loops", "lib:n_four_bar", "rk4", 1e-3, n=10),
        steps("rk4, oil and forces", FMU_MODEL, "rk4", FMU_STEP),
    ]


def counted_level() -> str:
    """Return the highest processor level that both valgrind and this machine support."""
    return LEVELS[1] if level() in LEVELS[1:] else LEVELS[0]


def library() -> Path:
    """Return the engine compiled for that processor level, built if missing."""
    processor = counted_level()
    if level() not in LEVELS:
        raise BadInput("bench instructions: valgrind counts on x86-64 machines")
    if not sound(library_path("core", processor)):
        typer.echo(f"preparing the engine for {processor} ...")
        make_library("core", processor)
    return library_path("core", processor)


def count(case: Case, engine: Path) -> dict[str, float]:
    """Return the instructions per evaluation or step, by function and in total."""
    entry = f"kt_{case.entry}{suffix_of(counted_level())}"
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, block in zip(("ints", "floats", "work"), case.blocks, strict=True):
            files.append(Path(folder) / name)
            block.tofile(files[-1])
        report = watched(
            case.name,
            Path(folder),
            HOST,
            str(engine),
            entry,
            str(case.option),
            str(case.target),
            *map(str, files),
        )
    return {
        name: instructions / case.count
        for name, instructions in functions(report, engine.name).items()
    }


def watched(name: str, folder: Path, host: str, *arguments: str) -> str:
    """Run a host script in a bare Python under callgrind and return the report of
    callgrind_annotate.
    """
    out = folder / "out"
    watch = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    finished = subprocess.run(
        [*watch, sys.executable, "-I", "-S", "-c", host, *arguments], capture_output=True, text=True
    )
    if finished.returncode:
        raise BadInput(
            f"bench instructions: '{name}' ended with {finished.returncode}: {finished.stderr.strip().splitlines()[-1]}"
        )
    return subprocess.run(
        ["callgrind_annotate", "--threshold=100", str(out)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def fmu_step(name: str) -> dict[str, float]:
    """Return the instructions of one step of a native FMU by function, from the difference of a
    long and a short run.
    """
    with tempfile.TemporaryDirectory() as folder:
        library, arguments = fmu_step_instructions.unpacked(
            FMU_MODEL, "rk4", FMU_STEP, Path(folder)
        )
        host = (str(library), *arguments)
        long, short = (
            functions(
                watched(
                    name, Path(folder), fmu_step_instructions.HOST, *host, str(steps), str(FMU_STEP)
                ),
                library.name,
            )
            for steps in (2 * STEPS, STEPS)
        )
    return {function: (long[function] - short.get(function, 0.0)) / STEPS for function in long}


def compilation() -> dict[str, float]:
    """Return the bytecode instructions by function for reading and compiling a description, without
    imports.
    """
    load(COMPILED).compile()
    return bytecodes(lambda: load(COMPILED).compile())


def functions(report: str, engine: str) -> dict[str, float]:
    """Return the exclusive instruction counts by function of the engine, and their sum, from a
    report of callgrind_annotate; kernels by module and name.
    """
    found = {"total": 0.0}
    for line in report.splitlines():
        row = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(.*)", line)
        if row and engine in row[2]:
            own = (
                re.search(r"solvers::([\w:]+)", row[2])
                or re.search(r"kt_in_[0-9a-f]+_(\w+)", row[2])
                or re.search(r":(\w+)", row[2])
            )
            name = own[1].replace("::", ".") if own and not own[1].startswith("0x") else UNNAMED
            for each in (name, "total"):
                found[each] = found.get(each, 0.0) + float(row[1].replace(",", ""))
    return found


def grown(before: dict[str, float], after: dict[str, float]) -> str:
    """Return the functions whose counts grew most, as text."""
    more = {name: after[name] - before.get(name, 0.0) for name in after if name != "total"}
    worst = sorted(more, key=lambda name: -more[name])[:NAMED]
    return ", ".join(
        f"{name} {before.get(name, 0.0):.0f} -> {after[name]:.0f}"
        for name in worst
        if more[name] > 0.0
    )


def compare(kept: dict[str, Any], data: dict[str, Any]) -> list[str]:
    """Return the cases that grew by more than 2 %, with their functions; only for equal LLVM and
    Python versions.
    """
    failed = []
    for part, made_by in MADE_BY.items():
        if any(kept[key] != data[key] for key in made_by):
            typer.echo(
                f"{part} not compared: the other run has {', '.join(str(kept[key]) for key in made_by)}"
            )
            continue
        for name, after in data[part].items():
            before = kept[part].get(name)
            if before is not None and after["total"] > (1.0 + GROWTH) * before["total"]:
                failed.append(
                    f"{name}: {before['total']:.0f} -> {after['total']:.0f} instructions; {grown(before, after)}"
                )
    return failed


MADE_BY = {
    "instructions": ("versions", "level"),
    "bytecodes": ("python",),
}  # what counts depend on beside the sources


def require_valgrind(who: str) -> None:
    """Raise an error if valgrind is not installed; `who` names the benchmark."""
    if shutil.which("valgrind") is None or shutil.which("callgrind_annotate") is None:
        raise BadInput(f"{who} needs valgrind: install it with 'apt-get install valgrind'")


def show(name: str, found: dict[str, float]) -> None:
    most = sorted((each for each in found if each != "total"), key=lambda each: -found[each])[
        :NAMED
    ]
    typer.echo(
        f"{name:26s} {found['total']:9.0f}   "
        + ", ".join(f"{each} {100 * found[each] / found['total']:.0f} %" for each in most)
    )


def run(
    quick: bool, json_path: Path | None, plots: Path | None, against: Path | None = None
) -> None:
    """Count all cases, print them, write JSON, and compare them with an earlier run if one is
    given.
    """
    require_valgrind("bench instructions")
    kept = None if against is None else json.loads(against.read_text(encoding="utf-8"))
    engine = library()
    data: dict[str, Any] = {
        "versions": {name: version(name) for name in ("numba", "llvmlite")},
        "level": counted_level(),
        "instructions": {},
    }
    data |= {"python": ".".join(map(str, sys.version_info[:2])), "bytecodes": {}}
    for case in cases()[: 3 if quick else None]:
        data["instructions"][case.name] = count(case, engine)
        show(case.name, data["instructions"][case.name])
    if not quick:
        name = f"FMU step, {FMU_MODEL}"
        data["instructions"][name] = fmu_step(name)
        show(name, data["instructions"][name])
    name = f"compile {COMPILED}"
    data["bytecodes"][name] = compilation()
    show(name, data["bytecodes"][name])
    if json_path:
        json_path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    failed = compare(kept, data) if kept is not None else []
    if failed:
        raise BadInput("\n".join(["more instructions than before:", *failed]))
