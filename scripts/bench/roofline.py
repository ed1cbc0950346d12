"""Operations, bytes and processor utilisation of a tree, loops in the plane and in space, a beam and an FMU step.

`valgrind --tool=lackey` counts arithmetic on floats, loads and stores of the engine for AVX2, as the difference of a long and a short call in a bare
Python; callgrind attributes instructions to functions. The same engine is timed, and in the same
run loops of independent scalar multiply-adds and loops that only read a small array: their rates
are the bounds (roofs). The longest chain of dependent operations is found in the traced formulas,
and the latency of one dependent operation is timed by a loop: their product is a lower bound of the
time. The bound that is nearest to being reached is named as the bottleneck.
"""

import ctypes
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numba import njit

from kinetree.models import load
from kinetree.models.system.system import System
from kinetree.models.trace.live_nodes import arguments
from kinetree.models.trace.operations import FREE
from kinetree.scripts.bench.flexible_cases import uniform
from kinetree.scripts.bench.instructions import (
    HOST,
    NAMED,
    Case,
    count,
    counted_level,
    evaluations_of,
    library,
    require_valgrind,
    steps,
)
from kinetree.scripts.bench.loops_spatial import ours, stewart
from kinetree.scripts.bench.results_file import machine, write_results
from kinetree.solvers.library.processor_levels import suffix_of

SHORT, LONG = 20, 120  # evaluations or steps of the two calls
ROUNDS = 100
WIDTHS = {
    "I8": 1,
    "I16": 2,
    "I32": 4,
    "I64": 8,
    "I128": 16,
    "F32": 4,
    "F64": 8,
    "F128": 16,
    "V128": 16,
    "V256": 32,
}
FLOATS = {"F64": 1, "V128": 2, "V256": 4}  # numbers that one operation works on
ROWS = re.compile(r"(I\d+|F\d+|D\d+|V\d+)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)")
FLOPS, READS = 16 * 4096, 8 * 1024
# how long a result is waited for, in units of an addition's or a product's four cycles
WAITS = {"/": 3.5, "sqrt": 4.5, "sin": 12.0, "cos": 12.0, "select": 0.5}


@njit(fastmath={"contract"})
def multiply_adds(x, count):
    """Return 16 independent sums after `count` rounds, each with two scalar operations per sum and
    round.
    """
    a, b, c, d, e, f, g, h = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8
    for _ in range(count):
        a = a * x + 0.1
        b = b * x + 0.2
        c = c * x + 0.3
        d = d * x + 0.4
        e = e * x + 0.5
        f = f * x + 0.6
        g = g * x + 0.7
        h = h * x + 0.8
    return a + b + c + d + e + f + g + h


@njit
def waiting(x, count):
    """Return a number after `count` rounds of two operations, each of which depends on the one
    before.
    """
    a = 0.1
    for _ in range(count):
        a = a * x + 0.1
    return a


@njit
def reads(values, count):
    """Return the sum of entries of a small array that are not adjacent, read by `count` rounds of
    eight scalar loads.
    """
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        a += values[k]
        b += values[k + 131]
        c += values[k + 257]
        d += values[k + 389]
        e += values[k + 521]
        f += values[k + 653]
        g += values[k + 787]
        h += values[k + 919]
    return a + b + c + d + e + f + g + h


def fastest(call: Callable[[], object]) -> float:
    """Return the least time of a call [s]."""
    best = np.inf
    for _ in range(ROUNDS):
        clock = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - clock)
    return best


def roofs() -> dict[str, float]:
    """Return the highest rates of operations and of loads per second, in scalar code."""
    values = np.ones(2048)
    multiply_adds(0.9, 1), reads(values, 1), waiting(0.9, 1)
    return {
        "flops": FLOPS / fastest(lambda: multiply_adds(0.9, FLOPS // 16)),
        "loads": READS / fastest(lambda: reads(values, READS // 8)),
        "latency": fastest(lambda: waiting(0.9, READS // 2)) / READS,
    }


def longest_chain(system: System) -> float | None:
    """Return the longest chain of dependent operations of the accelerations, in units of an
    addition; None if the mechanism cannot be traced.
    """
    try:
        trace = system.trace()
    except ValueError:
        return None
    depth: dict[int, float] = {}
    for i in trace.live:
        node = trace.tape.nodes[i]
        own = 0.0 if node[0] in FREE else WAITS.get(node[0], 1.0)
        depth[i] = own + max((depth[each] for each in arguments(node)), default=0.0)
    return max((depth[i] for i in trace.results), default=0.0)


def counts(case: Case, engine: Path, size: int) -> dict[str, float]:
    """Return floating-point operations, loads, stores and bytes of one evaluation or step."""
    call = (
        replace(case, option=size)
        if case.entry == "repeat"
        else replace(case, target=case.target / case.count * size)
    )
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("ints", "floats", "work")]
        for path, block in zip(files, case.blocks, strict=True):
            block.tofile(path)
        watch = ["valgrind", "--tool=lackey", "--detailed-counts=yes", "--basic-counts=no"]
        host = [
            sys.executable,
            "-I",
            "-S",
            "-c",
            HOST,
            str(engine),
            f"kt_{case.entry}{suffix_of(counted_level())}",
        ]
        done = subprocess.run(
            [*watch, *host, str(call.option), str(call.target), *map(str, files)],
            capture_output=True,
            text=True,
            check=True,
        )
    found = {"flops": 0.0, "loads": 0.0, "stores": 0.0, "bytes": 0.0}
    for kind, *columns in ROWS.findall(done.stderr):
        loads, stores, operations = (float(each.replace(",", "")) for each in columns)
        found["flops"] += FLOATS.get(kind, 0) * operations
        found["loads"] += loads
        found["stores"] += stores
        found["bytes"] += WIDTHS.get(kind, 0) * (loads + stores)
    return found


def seconds(case: Case, engine: Path) -> float:
    """Return the least time [s] of an evaluation or a step by the engine whose operations are
    counted.
    """
    entry = getattr(ctypes.CDLL(str(engine)), f"kt_{case.entry}{suffix_of(counted_level())}")
    entry.argtypes, entry.restype = (
        [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_double],
        ctypes.c_int32,
    )
    ints, floats, work = case.blocks
    begin = work.copy()

    def call() -> float:
        work[:] = begin
        clock = time.perf_counter()
        entry(ints.ctypes.data, floats.ctypes.data, work.ctypes.data, case.option, case.target)
        return time.perf_counter() - clock

    return min(call() for _ in range(ROUNDS)) / case.count


def bottleneck(shares: dict[str, float]) -> str:
    """Return the name of the resource whose bound is nearest to being reached."""
    return max(shares, key=shares.__getitem__)


def measure(
    case: Case, engine: Path, roof: dict[str, float], chain: float | None = None
) -> dict[str, Any]:
    """Return one row of results; `chain` is the length of the longest chain of dependent
    operations.
    """
    long, short = (counts(case, engine, size) for size in (LONG, SHORT))
    each = {name: (long[name] - short[name]) / (LONG - SHORT) for name in long}
    by_function = count(case, engine)
    took = seconds(case, engine)
    total = by_function.pop("total")
    most = sorted(by_function, key=lambda name: -by_function[name])[:NAMED]
    shares = {
        "operations": each["flops"] / took / roof["flops"],
        "loads": each["loads"] / took / roof["loads"],
        "waiting": (chain or 0.0) * roof["latency"] / took,
    }
    return {
        "case": case.name, "us": 1e6 * took, "instructions": total, **each,
        "shares": shares, "chain": chain, "bottleneck": bottleneck(shares),
        "functions": {name: by_function[name] / total for name in most},
    }  # fmt: skip


def cases() -> list[tuple[Case, System | None, int]]:
    """Return the cases to measure, each with the system whose formulas are traced and its number of
    evaluations per step.
    """
    systems = {
        "tree: 6 revolute bodies": load("lib:chain6").compile(),
        "loops in space: Stewart platform": ours(stewart()),
        "loops: 10 four-bars": load("lib:n_four_bar", n=10).compile(),
        "flexible body: beam of 8 pieces": load(uniform(segments=8)).compile(),
    }
    found = [(evaluations_of(name, each), each, 1) for name, each in systems.items()]
    step = steps("FMU step: boom, 1 ms, rk4", "lib:boom", "rk4", 1e-3)
    return [*found, (step, load("lib:boom").compile(), 4)]


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Measure the bounds, then all cases; print tables and write JSON."""
    require_valgrind("bench roofline")
    engine, roof = library(), roofs()
    typer.echo(
        f"{machine()}; multiply-adds on single numbers {1e-9 * roof['flops']:.1f} GFlop/s, loads of single numbers {1e-9 * roof['loads']:.1f} G/s, "
        f"{1e9 * roof['latency']:.2f} ns for an operation that waits\n"
    )
    typer.echo(
        "| case | µs | instructions | operations | loads | stores | kB | operations of the roof | loads of the roof "
        "| chain | chain of the time | bottleneck | functions |"
    )
    typer.echo("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    found = []
    for case, system, evaluated in cases()[: 2 if quick else None]:
        chain = None if system is None else longest_chain(system)
        chain = None if chain is None else evaluated * chain
        found.append(row := measure(case, engine, roof, chain))
        cells = [
            f"{row['us']:.2f}",
            *(f"{row[name]:.0f}" for name in ("instructions", "flops", "loads", "stores")),
            f"{1e-3 * row['bytes']:.1f}",
        ]
        shares = [f"{100 * row['shares'][name]:.0f} %" for name in ("operations", "loads")]
        waits = f"{100 * row['shares']['waiting']:.0f} %" if chain else "–"
        shares += [f"{chain:.0f}" if chain else "–", waits, row["bottleneck"]]
        names = ", ".join(f"{name} {100 * share:.0f} %" for name, share in row["functions"].items())
        typer.echo(f"| {case.name} | {' | '.join(cells + shares)} | {names} |")
    write_results(json_path, roof=roof, results=found)
