"""Measures the time of builds against target times: the engine from an empty cache and after a
change of one kernel, the structures of the carrier, and `kinetree check`.

The engine is built from a copy of the sources with a cache of its own, so that the cache of this
machine is not touched. Seconds are processor seconds of all processes that take part; the elapsed
time is shorter, since processes run in parallel. No other tool builds this engine, so the reference
is the time in which numba itself is imported and compiles one kernel of three lines: a lower bound
for the smallest change.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import typer

from kinetree.scripts.bench.results_file import machine, write_results
from kinetree.scripts.bench.start import COMMANDS, MODULES, least, processor_seconds, stages

HERE = Path(__file__).parents[2]
FOLDERS = {"solvers": "solvers", "models": "models", "fmu": "fmu_src", "scripts": "scripts"}
CHANGED = (  # a kernel, its line, and one that tells the same otherwise
    "solvers/sensors/points.py",
    "return point_position(ws, s.a, s.point_a)",
    "return add3(point_position(ws, s.a, s.point_a), (0.0, 0.0, 0.0))",
)
RUN = ["-m", "kinetree.scripts.cli", "run", "lib:regulator", "--quiet"]
AIMS = {  # seconds
    "engine, nothing in the cache": 80.0,  # 40 on the clock of two processors
    "engine, one kernel changed": 40.0,  # 20
    "carrier, first structure": 0.3,
    "carrier, all other structures": 0.5,
    "check lib:regulator": 0.2,
}
SMALLEST_PROGRAM = """
import numba
@numba.njit
def twice(x):
    y = x + x
    return y
twice(1.0)
"""


def copied(folder: Path) -> Path:
    """Copy the sources into a folder as the package `kinetree`; return the folder that holds the
    package.
    """
    package = folder / "kinetree"
    shutil.copytree(HERE / "scripts" / "kinetree", package)
    leave = shutil.ignore_patterns("__pycache__", "built", "*.so")
    for name, source in FOLDERS.items():
        shutil.copytree(HERE / source, package / name, ignore=leave)
    return folder


def seconds_of(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the processor seconds and elapsed seconds of a command that uses the copied sources
    and cache.
    """
    surroundings = os.environ | {
        "PYTHONPATH": str(folder),
        "KINETREE_CACHE": str(folder / "cache"),
    }
    clock = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=surroundings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ArithmeticError(f"{' '.join(command)}: ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - clock


def engine() -> list[dict[str, Any]]:
    """Return the build times of the engine, the first one and one after a change of one kernel,
    without the time of the command itself.
    """
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = copied(Path(name))
        first = seconds_of(RUN, folder)
        warm = min(seconds_of(RUN, folder) for _ in range(3))
        path, before, after = CHANGED
        kernel = folder / "kinetree" / path
        text = kernel.read_text(encoding="utf-8")
        if text.count(before) == 0:
            raise ArithmeticError(f"{path} has no line '{before}' that could be changed")
        kernel.write_text(text.replace(before, after, 1), encoding="utf-8")
        changed = seconds_of(RUN, folder)
        for what, times in (("nothing in the cache", first), ("one kernel changed", changed)):
            cpu, clock = (max(0.0, a - b) for a, b in zip(times, warm, strict=True))
            rows.append({"what": f"engine, {what}", "seconds": cpu, "clock": clock})
        small = seconds_of(["-c", SMALLEST_PROGRAM], folder)
        rows.append({"what": "numba, one kernel of three lines", "seconds": small[0]})
    return rows


def structures(modules: int) -> list[dict[str, Any]]:
    """Return the processor seconds for compiling the first structure of the carrier, and all
    others.
    """
    found = stages(modules)
    others = f"carrier, all other structures ({found['structures'] - 1})"
    return [
        {"what": "carrier, first structure", "seconds": found["compile seconds"]},
        {"what": others, "seconds": found["structures seconds"]},
    ]


def checked() -> dict[str, Any]:
    """Return the processor seconds of `kinetree check` on a small mechanism."""
    text = "check lib:regulator"
    assert text in COMMANDS
    command = [sys.executable, "-m", "kinetree.scripts.cli", *text.split()]
    with tempfile.TemporaryDirectory() as folder:
        processor_seconds(command, Path(folder))  # writes the bytecode
        return {"what": text, "seconds": least(5, processor_seconds, command, Path(folder))}


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Print every build time with its target; the quick selection leaves out builds of the engine."""
    typer.echo(f"{machine()}; seconds of processors, as used at the present load")
    rows = [*structures(12 if quick else MODULES), checked(), *([] if quick else engine())]
    for row in rows:
        aim = next((aim for what, aim in AIMS.items() if row["what"].startswith(what)), None)
        row["aim"] = aim
        met = "" if aim is None else f"   aim {aim:g}{'' if row['seconds'] <= aim else ', missed'}"
        clock = f" ({row['clock']:.1f} on the clock)" if "clock" in row else ""
        typer.echo(f"  {row['what']:44s} {row['seconds']:8.2f} s{clock}{met}")
    write_results(json_path, results=rows)
