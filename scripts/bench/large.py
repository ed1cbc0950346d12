"""Growth of time and memory with the number of bodies, loops and steps.

The cases are long chains, many four-bars in a row, and a run of many rk4 steps whose rows are
streamed to a Parquet file.
"""

import json
import math
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import typer

from kinetree.models import load
from kinetree.scripts.bench.dynamics_trees import chain, system
from kinetree.scripts.bench.results_file import machine

BODIES, LOOPS, STEPS = (100, 1000, 10_000), (10, 100, 1000), 10_000_000
STEP, EVERY = 1e-3, 10  # of the long run: step in s, steps between rows
EVALUATIONS = 20


def memory() -> float:
    """Return the resident memory of this process [MB], or its peak where the system does not report
    the present value.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        rows = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return float(rows["RssAnon"].split()[0]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "darwin" else 1024.0
    )


def sized(what: str, size: int) -> dict[str, Any]:
    """Return the seconds to read and compile a mechanism of a size, the time of an evaluation, and
    its memory.
    """
    clock = time.process_time()
    made = (
        system(chain("revolute", size))
        if what == "bodies"
        else load("lib:n_four_bar", n=size).compile()
    )
    compiled = time.process_time() - clock
    made._fast.set_state(*made.start())
    repeat, best = made._fast.entry("repeat"), math.inf
    for _ in range(20):
        clock = time.perf_counter()
        repeat(EVALUATIONS, 0.0)
        best = min(best, time.perf_counter() - clock)
    numbers = made.compiled.ints.nbytes + made.compiled.floats.nbytes + made._fast.work.nbytes
    return {
        what: size,
        "compile seconds": compiled,
        "us": 1e6 * best / EVALUATIONS,
        "MB": numbers / 1e6,
    }


def long_run(steps: int) -> dict[str, Any]:
    """Return memory and time of the first and the last tenth of a run of `steps` steps."""
    made, marks = load("lib:double-pendulum").compile(), []
    stop = steps * STEP
    next_mark = 0.1 * stop

    def look(t: float) -> None:
        nonlocal next_mark
        if t >= next_mark - 0.5 * STEP:
            marks.append((time.process_time(), memory()))
            next_mark += 0.1 * stop

    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        path = Path(folder) / "run.parquet"
        result = made.simulate(
            stop, integrator="rk4", step=STEP, output_step=EVERY * STEP, progress=look, stream=path
        )
        size = path.stat().st_size / 1e6
    return {
        "steps": int(result.statistics["steps"]), "rows": len(result), "seconds": marks[-1][0] - begin, "first tenth seconds": marks[0][0] - begin,
        "last tenth seconds": marks[-1][0] - marks[-2][0], "MB after a tenth": marks[0][1], "MB at the end": marks[-1][1], "file MB": size,
    }  # fmt: skip


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run all three parts."""
    typer.echo(
        f"{machine()}; compiling and steps by processor time, evaluations by the fastest of 20 rounds\n"
    )
    found: dict[str, Any] = {"machine": machine()}
    for what, sizes in (("bodies", BODIES), ("loops", LOOPS)):
        rows = found[what] = [sized(what, size) for size in (sizes[:2] if quick else sizes)]
        typer.echo(
            f"| {what} | read and compiled, s | evaluation, µs | µs each | blocks, MB |\n|---|---|---|---|---|"
        )
        for row in rows:
            typer.echo(
                f"| {row[what]} | {row['compile seconds']:.2f} | {row['us']:.1f} | {row['us'] / row[what]:.3f} | {row['MB']:.2f} |"
            )
        growth = math.log(rows[-1]["us"] / rows[-2]["us"]) / math.log(
            rows[-1][what] / rows[-2][what]
        )
        typer.echo(f"growth from {rows[-2][what]} to {rows[-1][what]} {what}: N^{growth:.2f}\n")
    found["run"] = row = long_run(STEPS // 100 if quick else STEPS)
    typer.echo(
        "; ".join(
            f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}"
            for name, value in row.items()
        )
    )
    if json_path:
        json_path.write_text(json.dumps(found, indent=1), encoding="utf-8")
