"""`kinetree bench chain [FILE]`: the matrix method beside scipy expm, scipy Radau, SUNDIALS CVODE and explicit Runge-Kutta, in one run on one thread.

Piecewise linear forces at two masses, at rest at the start, 1000 steps of 0.1/omega_min, x and v of all masses at every step. Every method takes its
loosest tolerance that meets TARGET (deviation from the solution by D_0 computed to 1e-13, relative
to the largest value of x and of v); the chain must also be as exact as the fastest peer. Adaptive
methods run over the first knots only, and their time is extrapolated; memory counts the stored
matrices. With a FILE that has a table [chain], that chain is run under the forces of the file.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from kinetree.models.library import chains
from kinetree.scripts.bench import chain_components
from kinetree.scripts.bench import chain_peers as peers
from kinetree.scripts.bench.chain_plots import plot, show
from kinetree.solvers import chain

TARGET = 5e-8  # error that counts; at a ratio of 1e4 exponentials made in double by squaring A come to about 1e-8
PATIENCE = 4.0  # s: an adaptive method is stopped after the interval in which this has passed
DENSE_LIMIT = 1200  # masses beyond which expm is not tried (2n x 2n products)
HEADLINE = (200, 1e4)
ACCURACIES = (1e-6, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10, 1e-11, 1e-12)


def case(kind: str, n: int, ratio: float, steps: int) -> peers.Case:
    """Return a chain at rest with random piecewise linear forces at two of its n masses; `ratio` is
    that of the largest to the smallest frequency.
    """
    if kind == "two-mass cars":
        mass, damping, stiffness = chains.two_mass_train(n // 2, ratio)
    elif kind == "random springs":
        mass, damping, stiffness = chains.stretched_train(n, ratio)
    else:  # equal springs on a soft foundation spring: the wave crosses the chain in one step, the band is full
        stiffness = chains.springs(np.concatenate(([4.2 * n / ratio**2], np.ones(n - 1), [0.0])), n)
        mass, damping = np.ones(n), 1e-3 * stiffness
    slow, fast = chains.extremes(stiffness, mass)
    force = np.random.default_rng(1).normal(size=(steps + 1, 2))
    return peers.Case(mass, damping, stiffness, (0, n // 2), force, 0.1 / slow, fast / slow)


def case_of(source: str | Path) -> tuple[str, peers.Case]:
    """Return the name of a described chain and its benchmark case, with forces sampled at the
    output steps.
    """
    from kinetree.models import load

    system = load(source).chain()
    run = system.description.run
    dt = system.number(run.output_step if run.output_step is not None else 0.01)
    steps = max(1, round(system.number(run.stop_time if run.stop_time is not None else 10.0) / dt))
    channels, force = system.excitation(system.inputs())
    mass = np.diagonal(system.mass) if system.mass.ndim == 2 else system.mass
    values = np.linalg.eigvalsh(system.stiffness / np.sqrt(mass) / np.sqrt(mass)[:, None])
    slow = next(
        value for value in np.sqrt(np.maximum(values, 0.0)) if value > 1e-9 * np.sqrt(values[-1])
    )
    nodes = np.array([force(k * dt) for k in range(steps + 1)]).reshape(steps + 1, len(channels))
    return system.name, peers.Case(
        mass,
        system.damping,
        system.stiffness,
        tuple(channels),
        nodes,
        dt,
        float(np.sqrt(values[-1]) / slow),
    )


def by_chain(c: peers.Case, accuracy: float, way: str = "auto") -> tuple[np.ndarray, np.ndarray]:
    """Return x and v at all knots, computed by the matrix method with the given accuracy per step."""
    zero = np.zeros(len(c.mass))
    return chain.simulate(
        c.mass,
        c.damping,
        c.stiffness,
        zero,
        zero,
        c.dt,
        c.steps,
        c.force,
        c.channels,
        accuracy=accuracy,
        way=way,
    )


def error(y: np.ndarray | tuple[np.ndarray, np.ndarray], reference: np.ndarray) -> float:
    """Return the largest deviation of x and of v from a reference, relative to the largest value of
    each.
    """
    found = np.hstack(y) if isinstance(y, tuple) else y
    n, part = found.shape[1] // 2, reference[: len(found)]
    return float(
        max(
            np.abs(found[:, a] - part[:, a]).max() / np.abs(part[:, a]).max()
            for a in (slice(0, n), slice(n, None))
        )
    )


def best(functions: dict[str, Callable], repeats: int) -> dict[str, float]:
    """Return the least processor time [s] of every function; the functions are called in turns."""
    least = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            begin = time.process_time()
            function()
            least[name] = min(least[name], time.process_time() - begin)
    return least


def adaptive(
    c: peers.Case, reference: np.ndarray, name: str, run: Callable, tolerances: tuple[float, ...]
) -> dict:
    """Return the time [s] of an adaptive method at the loosest tolerance that meets the target."""
    best_row: dict = {"error": np.inf}
    run(c, 1e-3, 1)  # compile
    for tolerance in tolerances:
        begin, knots = time.process_time(), 2
        y = run(c, tolerance, knots)
        seconds = (time.process_time() - begin) / knots * c.steps
        row = {
            "method": name,
            "seconds": seconds,
            "error": error(y, reference),
            "tolerance": tolerance,
            "extrapolated_from": knots,
        }
        if row["error"] < best_row["error"]:
            best_row = row
        if row["error"] <= TARGET or time.process_time() - begin > PATIENCE:
            break
    return best_row


def compare(
    name: str, c: peers.Case, repeats: int, slow_peers: bool = False, explicit: bool = False
) -> list[dict]:
    """Return the times of all methods on one chain."""
    reference = np.hstack(by_chain(c, 1e-13, "matrices"))
    n, rows = len(c.mass), []
    direct: dict[str, Callable] = {}
    if n <= DENSE_LIMIT:
        direct |= {
            "scipy expm": lambda: peers.by_expm(c),
            "scipy expm, blocks": lambda: peers.by_blocks(c),
            "scipy lsim": lambda: peers.by_lsim(c),
        }
    errors = {peer: error(function(), reference) for peer, function in direct.items()}
    target = min(TARGET, *errors.values(), 1.0)
    exact = {way: loosest(c, way, reference, target) for way in ("auto", "matrices")}
    direct = {
        "kinetree chain": lambda: by_chain(c, exact["auto"]),
        "kinetree matrices": lambda: by_chain(c, exact["matrices"], "matrices"),
    } | direct
    errors |= {
        way: error(direct[way](), reference) for way in ("kinetree chain", "kinetree matrices")
    }
    rows = [
        {"method": method, "seconds": s, "error": errors[method]}
        for method, s in best(direct, repeats).items()
    ]
    if slow_peers:
        ladder = (1e-6, 1e-8, 1e-10)
        rows += [
            adaptive(c, reference, peer, run, ladder)
            for peer, run in (("scipy Radau", peers.by_radau), ("SUNDIALS CVODE", peers.by_cvode))
        ]
    if explicit:
        rows.append(adaptive(c, reference, "Runge-Kutta 4", peers.by_rk4, (1e-9, 1e-12)))
    scaled = chain.scale(c.mass, c.damping, c.stiffness)
    made = chain.generate(scaled, c.dt, np.array(c.channels, dtype=int), 2, exact["matrices"])
    common = {
        "chain": name,
        "n": n,
        "ratio": c.ratio,
        "omega_dt": scaled.omega * c.dt,
        "steps": c.steps,
        "half_width": made.step.u.width,
    }
    common |= {
        "r": made.choice.r,
        "m": made.choice.m,
        "matrices_MB": sum(a.data.nbytes for a in made.step) / 1e6,
        "modes_MB": 16e-6 * n * n,
    }
    others = [row for row in rows if not row["method"].startswith("kinetree")]
    equal = min((row["seconds"] for row in others if row["error"] <= TARGET), default=None)
    return [
        {**common, **row, "best_equal_peer_over_chain": equal and equal / rows[0]["seconds"]}
        for row in rows
    ]


def loosest(c: peers.Case, way: str, reference: np.ndarray, target: float) -> float:
    """Return the loosest accuracy per step with which the matrix method meets the target error."""
    return next(
        (a for a in ACCURACIES if error(by_chain(c, a, way), reference) <= target), ACCURACIES[-1]
    )


def run(
    quick: bool,
    json_path: str | Path | None = None,
    plot_dir: str | Path | None = None,
    source: str | Path | None = None,
) -> dict:
    """Run `measure` in a process with one thread, print the results, write JSON and plots, and
    return the results.
    """
    if source:
        case_of(source)  # what is wrong with it is said here
    one_thread = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    arguments = [*["--quick"] * quick, *([str(source)] if source else [])]
    child = subprocess.run(
        [sys.executable, "-m", __name__, *arguments],
        env=one_thread,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    report = json.loads(child.stdout)
    show(report)
    if json_path:
        Path(json_path).write_text(json.dumps(report, indent=1))
    if plot_dir:
        plot(report, Path(plot_dir))
    return report


def measure(quick: bool, source: str | None = None) -> dict:
    """Run the comparisons of all chains and of the components of the matrix method."""
    steps, repeats = 1000, 5 if quick else 15
    for kind in ("two-mass cars", "soft support"):
        for way in ("auto", "matrices"):
            by_chain(case(kind, 20, 1e2, 8), 1e-9, way)  # compile
    results: list[dict] = []
    report: dict[str, Any] = {"machine": machine(), "results": results}
    if source:
        results += compare(*case_of(source), repeats, slow_peers=not quick)
        return report | {"headline": results[0]["best_equal_peer_over_chain"]}
    for kind in ("two-mass cars", "random springs", "soft support"):
        results += compare(
            kind,
            case(kind, *HEADLINE, steps),
            repeats,
            slow_peers=not quick and kind == "two-mass cars",
            explicit=True,
        )
    for n in (10, 50) if quick else (10, 20, 50, 100, 300, 400, 1000, 3000):
        beside = {"slow_peers": not quick and n <= 100, "explicit": not quick and n <= 1000}
        results += compare(
            "two-mass cars",
            case("two-mass cars", n, 1e4, steps),
            repeats if n <= 400 else 1,
            **beside,
        )
    for ratio in (1e3,) if quick else (1e3, 1e5, 1e6):
        beside = {"slow_peers": not quick and ratio < 1e4, "explicit": not quick and ratio < 1e6}
        results += compare(
            "two-mass cars", case("two-mass cars", 200, ratio, steps), repeats, **beside
        )
    report["headline"] = min(
        r["best_equal_peer_over_chain"]
        for r in results
        if (r["n"], round(r["ratio"], -3)) == HEADLINE
    )
    report["bands"] = chain_components.bands(150 if quick else 600)
    report["fill_in"] = {
        what: chain_components.fill_in(report["bands"], what) for what in ("doubling", "steps")
    }
    if not quick:
        report |= {
            "forms": chain_components.forms(),
            "choices": chain_components.choices(),
            "rule": chain_components.rule(),
        }
    return report


def machine() -> dict[str, Any]:
    """Return the processor, the versions of Python, numpy and scipy, and the number of threads."""
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    return {"cpu": platform.processor() or platform.machine(), **versions, "threads": 1}


if __name__ == "__main__":
    files = [argument for argument in sys.argv[1:] if argument != "--quick"]
    json.dump(measure("--quick" in sys.argv, files[0] if files else None), sys.stdout)
