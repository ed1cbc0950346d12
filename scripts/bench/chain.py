"""`kinetree bench chain`: the matrix method beside scipy expm, scipy Radau, SUNDIALS CVODE and explicit Runge-Kutta, all in one run on one thread.

Piecewise linear forces at two masses, at rest at the start, 1000 steps of 0.1/omega_min, x and v of all masses at every step. A method counts
with the cheapest tolerance that meets TARGET (deviation from the chain solution made to 1e-12, as part of the largest value of x and of v).
Adaptive methods run the first knots only and are extrapolated; memory is that of the matrices kept.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy

from kinetree.models.library import chains
from kinetree.scripts.bench import chain_peers as peers
from kinetree.solvers import chain

TARGET = 5e-9  # error that counts as equal accuracy; at a ratio of 1e4 about the limit of exponentials made in double by squaring A
PATIENCE = 4.0  # s: an adaptive method is stopped after the interval in which this has passed
DENSE_LIMIT = 1200  # masses beyond which expm is not tried (2n x 2n products)
HEADLINE = (200, 1e4)


def case(kind: str, n: int, ratio: float, steps: int) -> peers.Case:
    """A chain at rest and random piecewise linear forces at its first and middle mass."""
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


def by_chain(c: peers.Case, accuracy: float) -> np.ndarray:
    """(x, v) at all knots by the matrix method."""
    zero = np.zeros(len(c.mass))
    x, v = chain.simulate(c.mass, c.damping, c.stiffness, zero, zero, c.dt, c.steps, c.force, c.channels, accuracy=accuracy)
    return np.hstack((x, v))


def error(y: np.ndarray, reference: np.ndarray) -> float:
    """Largest deviation, x and v each as part of their largest value."""
    n, part = y.shape[1] // 2, reference[: len(y)]
    return float(max(np.abs(y[:, a] - part[:, a]).max() / np.abs(part[:, a]).max() for a in (slice(0, n), slice(n, None))))


def best(functions: dict[str, Callable], repeats: int) -> dict[str, float]:
    """Least time of every function, taken in turns so that all see the same load."""
    least = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            begin = time.process_time()
            function()
            least[name] = min(least[name], time.process_time() - begin)
    return least


def adaptive(c: peers.Case, reference: np.ndarray, name: str, run: Callable, tolerances: tuple[float, ...]) -> dict:
    """An adaptive method at the loosest tolerance that meets the target on the first knots, else at the best one tried."""
    best_row = None
    run(c, 1e-3, 1)  # compile
    for tolerance in tolerances:
        begin, knots = time.process_time(), 2
        y = run(c, tolerance, knots)
        seconds = (time.process_time() - begin) / knots * c.steps
        row = {"method": name, "seconds": seconds, "error": error(y, reference), "tolerance": tolerance, "extrapolated_from": knots}
        if best_row is None or row["error"] < best_row["error"]:
            best_row = row
        if row["error"] <= TARGET or time.process_time() - begin > PATIENCE:
            break
    return best_row


def compare(kind: str, n: int, ratio: float, steps: int, repeats: int, slow_peers: bool) -> list[dict]:
    """All methods on one chain."""
    c = case(kind, n, ratio, steps)
    reference = by_chain(c, 1e-12)
    accuracy = next((a for a in (1e-8, 3e-9, 1e-9, 1e-10) if error(by_chain(c, a), reference) <= TARGET), 1e-10)
    direct = {"kinetree chain": lambda: by_chain(c, accuracy)}
    if n <= DENSE_LIMIT:
        direct["scipy expm"] = lambda: peers.by_expm(c)
        direct["scipy lsim"] = lambda: peers.by_lsim(c)
    rows = [{"method": name, "seconds": s, "error": error(direct[name](), reference)} for name, s in best(direct, repeats).items()]
    if slow_peers:
        ladder = (1e-6, 1e-8, 1e-10)
        rows += [adaptive(c, reference, name, run, ladder) for name, run in (("scipy Radau", peers.by_radau), ("SUNDIALS CVODE", peers.by_cvode))]
    if (n, ratio) == HEADLINE:
        rows.append(adaptive(c, reference, "Runge-Kutta 4", peers.by_rk4, (1e-9, 1e-12)))
    scaled = chain.scale(c.mass, c.damping, c.stiffness)
    made = chain.generate(scaled, c.dt, np.array(c.channels), 2, accuracy)
    width = made.step.u.width
    common = {
        "chain": kind,
        "n": n,
        "ratio": c.ratio,
        "omega_dt": c.ratio * 0.1,
        "steps": steps,
        "half_width": width,
        "r": made.choice.r,
        "m": made.choice.m,
    }
    common["memory_MB"] = sum(a.data.nbytes for a in made.step) / 1e6
    peer = min((row["seconds"] for row in rows[1:]), default=None)
    equal = min((row["seconds"] for row in rows[1:] if row["error"] <= TARGET), default=None)
    ratios = {"best_peer_over_chain": peer and peer / rows[0]["seconds"], "best_equal_peer_over_chain": equal and equal / rows[0]["seconds"]}
    return [{**common, **row, **ratios} for row in rows]


def run(quick: bool, json_path: str | Path | None = None, plot_dir: str | Path | None = None) -> dict:
    """Measure in a process of one thread, print, write JSON and plots; returns {"machine", "headline", "any_accuracy", "results"}."""
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    child = subprocess.run([sys.executable, "-m", __name__, *["--quick"] * quick], env=one_thread, stdout=subprocess.PIPE, check=True, text=True)
    report = json.loads(child.stdout)
    show(report)
    if json_path:
        Path(json_path).write_text(json.dumps(report, indent=1))
    if plot_dir:
        plot(report["results"], Path(plot_dir))
    return report


def measure(quick: bool) -> dict:
    """All comparisons."""
    steps, repeats = 1000, 5 if quick else 9
    for kind in ("two-mass cars", "soft support"):
        by_chain(case(kind, 20, 1e2, 8), 1e-9)  # compile
    results = []
    for kind in ("two-mass cars", "random springs", "soft support"):
        results += compare(kind, *HEADLINE, steps, repeats, slow_peers=not quick and kind == "two-mass cars")
    for n in (10, 50) if quick else (10, 20, 50, 100, 400, 1000, 3000):
        results += compare("two-mass cars", n, 1e4, steps, repeats if n <= 400 else 1, slow_peers=False)
    for ratio in (1e3,) if quick else (1e3, 1e5, 1e6):
        results += compare("two-mass cars", 200, ratio, steps, repeats, slow_peers=False)
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    machine = {"cpu": platform.processor() or platform.machine(), **versions, "threads": 1}
    return {
        "machine": machine,
        "headline": results[0]["best_equal_peer_over_chain"],
        "any_accuracy": results[0]["best_peer_over_chain"],
        "results": results,
    }


def show(report: dict) -> None:
    """Print machine, table and ratios."""
    print("  ".join(f"{k} {v}" for k, v in report["machine"].items()))
    print(f"{'chain':15} {'n':>5} {'ratio':>8} {'method':16} {'ms':>12} {'error':>9} {'band':>6} {'MB':>6} {'peer/chain':>10}")
    for r in report["results"]:
        place = f"{r['chain']:15} {r['n']:5} {r['ratio']:8.0f} {r['method']:16}"
        ratio = f"{r['best_peer_over_chain']:.1f}" if r["best_peer_over_chain"] and r["method"] == "kinetree chain" else ""
        print(f"{place} {r['seconds'] * 1e3:12.2f} {r['error']:9.1e} {r['half_width']:6} {r['memory_MB']:6.1f} {ratio:>10}")
    equal = report["headline"] or float("nan")
    print(f"fastest peer over chain, {HEADLINE[0]} masses: {report['any_accuracy']:.1f}; fastest that is as accurate: {equal:.0f}")


def plot(results: list[dict], folder: Path) -> None:
    """Time against n and against the stretch of the spectrum."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for axis, chosen, name in (
        ("n", lambda r: abs(r["ratio"] / 1e4 - 1.0) < 0.03, "chain_size"),
        ("ratio", lambda r: r["n"] == 200, "chain_stretch"),
    ):
        figure, area = plt.subplots(figsize=(6, 4))
        for method in dict.fromkeys(r["method"] for r in results):
            points = sorted((r[axis], r["seconds"]) for r in results if r["method"] == method and r["chain"] == "two-mass cars" and chosen(r))
            if points:
                area.loglog(*zip(*points), "o-", label=method)
        area.set(xlabel={"n": "masses", "ratio": "omega_max / omega_min"}[axis], ylabel="s for 1000 steps")
        area.grid(True, which="both", alpha=0.3)
        area.legend()
        figure.tight_layout()
        figure.savefig(folder / f"{name}.png", dpi=130)
        plt.close(figure)


if __name__ == "__main__":
    json.dump(measure("--quick" in sys.argv), sys.stdout)
