"""Straight-line code of large mechanisms, in one piece and split into blocks, beside the engine;
loops beside Pinocchio and MuJoCo.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.specialised import llvm_functions
from kinetree.models.specialised.llvm_compiler import compiled
from kinetree.models.specialised.specialised_system import Specialised
from kinetree.models.system.system import System
from kinetree.models.trace.function_splitting import blocks
from kinetree.models.trace.trace import Trace
from kinetree.scripts.bench import loops_peers
from kinetree.scripts.bench.loops import timed

CHAINS = (30, 60, 100, 200, 400)  # bodies, aligned
FOUR_BARS = (2, 10, 40)
Timed = tuple[dict[str, float], dict[str, Callable[[], object]]]


def code(trace: Trace, system: System, name: str, whole: bool) -> Timed:
    """Return the processor seconds to compile straight-line code, its size in bytes, and a call to
    be timed; `whole` compiles it in one piece instead of blocks.
    """
    before = llvm_functions.blocks
    llvm_functions.blocks = lambda order, needs: blocks(order, needs, whole=10**9 if whole else 0)
    try:
        begin = time.process_time()
        machine = compiled(f"; {time.time_ns()}\n{llvm_functions.llvm_text(trace)}")
        seconds = time.process_time() - begin
    finally:
        llvm_functions.blocks = before
    fast = Specialised.of(system, trace, machine)
    assert fast.machine is not None
    return {f"{name}_compile_s": seconds, f"{name}_bytes": machine.size}, {
        f"{name}_us": fast._repeat()
    }


def chain_row(bodies: int) -> dict[str, Any]:
    """Return the times of one chain by both kinds of code and the engine, measured in turns."""
    system = load("lib:chain", n=bodies).compile()
    begin = time.process_time()
    trace = system.trace()
    row: dict[str, Any] = {
        "bodies": bodies,
        "operations": trace.operations,
        "form": trace.form,
        "trace_s": time.process_time() - begin,
    }
    calls: dict[str, Callable[[], object]] = {}
    for name, whole in (("whole", True), ("blocks", False)):
        more, call = code(trace, system, name, whole)
        row |= more
        calls |= call
    calls["generic_us"] = Specialised.of(system)._repeat_generic()
    return row | best(calls)


def best(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least time [µs] of one evaluation of each call, over some rounds in turns."""
    from kinetree.models.specialised.specialised_system import REPEATS

    found = dict.fromkeys(calls, np.inf)
    for _ in range(7):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            found[name] = min(found[name], (time.perf_counter() - begin) / REPEATS * 1e6)
    return found


def chains(quick: bool) -> list[dict[str, Any]]:
    """Return the rows of the table of chain lengths."""
    typer.echo("\nlarge chains: one piece, blocks")
    typer.echo(
        "| bodies | operations | traced in (CPU) | compiled in | code | µs | generic µs |\n|"
        + "---|" * 7
    )
    rows = []
    for bodies in CHAINS[:1] if quick else CHAINS:
        rows.append(row := chain_row(bodies))
        pairs = [
            [f"{row[f'{name}_{what}'] * scale:.{digits}f}" for name in ("whole", "blocks")]
            for what, scale, digits in COLUMNS
        ]
        cells = [f"{a}, {b}{unit}" for (a, b), unit in zip(pairs, (" s", " kB", ""), strict=True)]
        typer.echo(
            f"| {bodies} | {row['operations']} | {row['trace_s']:.2f} s | {' | '.join(cells)} | {row['generic_us']:.2f} |"
        )
    return rows


COLUMNS = (("compile_s", 1.0, 2), ("bytes", 1e-3, 0), ("us", 1.0, 2))


def four_bars(quick: bool) -> list[dict[str, Any]]:
    """Return the rows of N four-bars with times [µs]: straight-line code, engine, and the peers
    that are installed.
    """
    typer.echo("\nN four-bars, µs; ratios to the straight line in brackets")
    rows = []
    for count in FOUR_BARS[:1] if quick else FOUR_BARS:
        system = load("lib:n-four-bar", n=count).compile()
        fast = system.specialise()
        row: dict[str, Any] = {
            "loops": count,
            "operations": fast.trace.operations if fast.trace else None,
        }
        row |= {f"{name}_us": value * 1e6 for name, value in fast.times.items()}
        peers = loops_peers.accelerations(count, timed)
        row["peers"] = {peer["method"]: peer["us"] for peer in peers}
        straight = row.get("specialised_us", np.nan)
        told = ", ".join(
            f"{name} {value:.3g} ({value / straight:.1f})" for name, value in row["peers"].items()
        )
        typer.echo(
            f"  N = {count}: {row['operations']} operations, straight line {straight:.3g}, generic {row.get('generic_us', np.nan):.3g}, {told}"
        )
        rows.append(row)
    return rows
