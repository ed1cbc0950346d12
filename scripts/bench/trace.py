"""Straight-line equations of motion: operation counts of every form, and times of their machine
code beside the engine and Pinocchio.

Times are of one evaluation of the accelerations, the best of several rounds; Pinocchio is called
from Python, and the time of an empty call is subtracted.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.models.specialised.llvm_compiler import compiled
from kinetree.models.specialised.llvm_functions import llvm_text
from kinetree.models.specialised.specialised_system import REPEATS, Specialised
from kinetree.models.system.system import System
from kinetree.models.trace.fixed_iterations import NEWTON_STEPS
from kinetree.models.trace.mechanism_traces import BODY, WORLD, traced
from kinetree.scripts.bench import dynamics_kinetree as own
from kinetree.scripts.bench import dynamics_peers, dynamics_trees, trace_large
from kinetree.scripts.bench.dynamics import machine, versions
from kinetree.scripts.bench.trace_robots import robots

LAGRANGE = (
    *((form, BODY) for form in ("DRT", "CBM", "LGR", "ITR-M", "ITR-G", "ABM", "DEC")),
    ("DEC", WORLD),
)
HAMILTON = tuple((form, BODY) for form in ("CBM-H", "LGR-H", "ITR-H", "ABM-H", "DEC-H"))
FORMS_OF = (
    "double-pendulum",
    "three-link-rods",
    "regulator",
    "gyroscope",
    "five-link",
    "puma560",
    "spacecraft",
    "chain6",
    "mobile-robot",
)
CHAINS = (
    (7, True),
    (7, False),
    (20, True),
    (20, False),
    (30, True),
)  # bodies; aligned or of general geometry
QUICK = ("regulator", "puma560")
RUNS = (
    "regulator",
    "puma560",
    "mobile-robot",
    "chain6",
    "four-bar",
    "delta",
    "boom-drive",
    "carrier",
)
MANY = 4096  # states of a batch
STEP, RUN, ROUNDS = 1e-4, 1.0, 3  # s, s


def count(system: System, form: str, axes: str) -> int | None:
    """Return the number of operations of a form; None if the form does not support the mechanism."""
    of = "hamilton" if form.endswith("-H") else "accelerations"
    try:
        return traced(system, of, "numbers", form, axes).operations
    except ArithmeticError:
        return None


def forms_row(name: str, system: System) -> dict[str, Any]:
    """Return the predicted and the traced number of operations of every form for one tree."""
    counts = {f"{form} {axes}": count(system, form, axes) for form, axes in (*LAGRANGE, *HAMILTON)}
    return {"mechanism": name, "freedoms": system.n, "predicted": system.costs(), "folded": counts}


def show_forms(rows: list[dict[str, Any]]) -> None:
    """Print the table of forms as it appears in the documentation."""
    columns = [f"{form} {axes}" for form, axes in (*LAGRANGE, *HAMILTON)]
    typer.echo(
        f"operations after folding (formula (4.1)-(4.7) in brackets; ITR with {NEWTON_STEPS} iterations from a given matrix)"
    )
    head = [f"{form}{', world' if axes == WORLD else ''}" for form, axes in (*LAGRANGE, *HAMILTON)]
    typer.echo("| mechanism | freedoms | " + " | ".join(head) + " |\n|" + "---|" * (len(head) + 2))
    for row in rows:
        cells = []
        for name in columns:
            value, predicted = row["folded"][name], row["predicted"].get(name.split()[0])
            known = (
                f" ({predicted:.0f})" if predicted is not None and not name.endswith(WORLD) else ""
            )
            cells.append(f"{value if value is not None else '-'}{known}")
        typer.echo(f"| {row['mechanism']} | {row['freedoms']} | " + " | ".join(cells) + " |")


def code_row(name: str, system: System, case: dynamics_trees.Case | None = None) -> dict[str, Any]:
    """Return operation count, code size, compile time and evaluation times for one mechanism, or
    the reason why there are none.
    """
    begin = time.process_time()
    try:
        trace = system.trace()
    except ValueError as error:
        typer.echo(f"| {name} | – | {str(error).partition(';')[0]} |")
        return {"mechanism": name, "why": str(error)}
    traced_at = time.process_time()
    # a comment makes the text another one: what is measured is compiled now
    code = compiled(f"; {time.time_ns()}\n{llvm_text(trace)}")
    done = time.process_time()
    fast = Specialised(system)
    row: dict[str, Any] = {
        "mechanism": name,
        "operations": trace.operations,
        "form": trace.form,
        "bytes": code.size,
    }
    row |= {"trace_s": traced_at - begin, "compile_s": done - traced_at} | {
        f"{key}_us": value * 1e6 for key, value in fast.times.items()
    }
    if not system.compiled.loops:
        row |= lanes(system, fast)
    if case is not None:
        q, u = system.start()
        empty = dynamics_peers.empty_calls()
        for peer in dynamics_peers.peers(case, q, u):
            if peer.name == "pinocchio":
                row["deviation"] = own.deviation(peer.udot, fast.accelerations(0.0, q, u))
                calls = own.least({"peer": peer.call, "empty": empty["pinocchio"]})
                row["pinocchio_us"] = calls["peer"] - calls["empty"]
    show_code(row)
    return row


def lanes(system: System, fast: Specialised) -> dict[str, float]:
    """Return the time per state of a batch of states on one thread, by the engine and by
    straight-line code.
    """
    q, u = (np.tile(part, (MANY, 1)) for part in system.start())
    u = u + np.random.default_rng(0).normal(size=u.shape)
    fast.engine, best = "specialised", {}
    for name, engine in (("lanes_us", fast), ("generic_lanes_us", system)):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            engine.accelerations_many(0.0, q, u, threads=1)
            times.append(time.perf_counter() - begin)
        best[name] = min(times) / MANY * 1e6
    return best


CODE_HEAD = "| mechanism | operations | form | code | traced, compiled in (CPU) | µs | generic | ratio | in lanes | generic | Pinocchio |"


def show_code(row: dict[str, Any]) -> None:
    """Print one row of the table of machine code."""
    special, generic, wheel = row["specialised_us"], row["generic_us"], row.get("pinocchio_us")
    batch = (
        f"{row['lanes_us']:.3f} | {row['generic_lanes_us']:.3f}" if "lanes_us" in row else "– | –"
    )
    typer.echo(
        f"| {row['mechanism']} | {row['operations']} | {row['form'].replace(' in', ',')} | {row['bytes'] / 1000:.0f} kB | "
        f"{row['trace_s']:.2f}, {row['compile_s']:.2f} s | {special:.3f} | {generic:.3f} | {generic / special:.1f} | {batch} | "
        f"{f'{wheel:.2f} ({wheel / special:.1f})' if wheel else '–'} |"
    )


def runs_row(name: str, system: System) -> dict[str, Any]:
    """Return the processor time per rk4 step of a run with an output row every 100 steps, by the
    engine and by straight-line code, the best of several rounds in turns.
    """
    fast, options = (
        Specialised(system),
        {"integrator": "rk4", "step": STEP, "output_step": 100 * STEP, "stop_time": RUN},
    )
    best = dict.fromkeys(("generic_us", "specialised_us"), np.inf)
    for _ in range(ROUNDS + 1):
        for key, runner in zip(best, (system, fast), strict=True):
            begin = time.process_time()
            runner.simulate(**options)
            best[key] = min(best[key], (time.process_time() - begin) / (RUN / STEP) * 1e6)
    operations = [each.trace.operations for each in fast.motions if not isinstance(each, str)]
    traced_part = f"{max(operations, default=0):6d} operations, {len(operations)} of {len(fast.motions)} structures"
    typer.echo(
        f"  {name:24s} {traced_part}, step {best['specialised_us']:.3g} us, "
        f"generic {best['generic_us']:.3g} us ({best['generic_us'] / best['specialised_us']:.1f}x)"
    )
    return {
        "mechanism": name,
        "structures": len(operations),
        "operations": max(operations, default=0),
        **best,
    }


def aligned(bodies: int) -> System:
    """Return rods on joints with alternating axes along the coordinate axes of the rods."""
    return load("lib:chain", n=bodies).compile()


def run(quick: bool, output: Path | None, plots: Path | None) -> None:
    """Print the tables and write all results as JSON."""
    forms = [
        forms_row(name, load(f"lib:{name}").compile()) for name in (QUICK if quick else FORMS_OF)
    ]
    show_forms(forms)
    typer.echo(
        f"\nmachine code, {REPEATS} evaluations a round, µs; in lanes: per state, 8 side by side\n{CODE_HEAD}\n|{'---|' * CODE_HEAD.count(' | ')}---|"
    )
    codes = [
        code_row(name, load(f"lib:{name}").compile())
        for name in (QUICK if quick else library_names())
    ]
    for bodies, plain in CHAINS[:1] if quick else CHAINS:
        case = None if plain else dynamics_trees.chain("revolute", bodies)
        made = aligned(bodies) if case is None else dynamics_trees.system(case)
        codes.append(
            code_row(f"chain of {bodies}, {'aligned' if plain else 'general'}", made, case)
        )
    large, rows = trace_large.chains(quick), trace_large.four_bars(quick)
    typer.echo(f"\nruns by rk4, {round(RUN / STEP)} steps")
    runs = [runs_row(name, load(f"lib:{name}").compile()) for name in (QUICK if quick else RUNS)]
    named = os.environ.get("KINETREE_CASADI_PYTHON")
    with TemporaryDirectory() as work:
        beside = robots(quick, Path(named) if named else None, Path(work))
    if plots:
        draw([row for row in codes if "operations" in row], large, plots)
    if output:
        record = {
            "machine": machine(),
            "versions": versions(),
            "forms": forms,
            "results": codes,
            "large": large,
            "loops": rows,
            "runs": runs,
            "robots": beside,
        }
        output.write_text(json.dumps(record, indent=1, default=float), encoding="utf-8")


def draw(codes: list[dict[str, Any]], large: list[dict[str, Any]], folder: Path) -> None:
    """Plot the times of the engine and of straight-line code over the number of operations."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    operations = np.array([row["operations"] for row in codes])
    for key, marker in (("generic", "s"), ("specialised", "o")):
        axes.loglog(operations, [row[f"{key}_us"] for row in codes], marker, label=key)
    operations = np.array([row["operations"] for row in large])
    for key, label, style in (
        ("generic_us", "generic, chains", "s:"),
        ("whole_us", "one piece, chains", "v:"),
        ("blocks_us", "blocks, chains", "o:"),
    ):
        axes.loglog(
            operations, [row[key] for row in large], style, markersize=3, linewidth=0.8, label=label
        )
    axes.set_xlabel("operations of the straight-line code")
    axes.set_ylabel("one evaluation, µs")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(folder / "trace.png", dpi=150)
    pyplot.close(figure)
