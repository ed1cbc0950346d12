"""Closed loops beside Pinocchio, MuJoCo and Exudyn in one run: time per acceleration and time to simulate, N four-bars of growing N.

Peers model the same plane mechanism in general 3D (Exudyn: in the plane, where it is fastest).
Python's call overhead, measured on a one-body model, is subtracted from the peers' times. MuJoCo's
loop constraints are soft and Exudyn uses fixed steps, so their errors are printed beside their
times.
"""

import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.run.simulation import Options, write_integrator_options
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.models.specialised.specialised_system import Specialised
from kinetree.scripts.bench import loops_peers as peers
from kinetree.scripts.bench import loops_plane, loops_spatial
from kinetree.scripts.bench.results_file import write_results
from kinetree.scripts.terminal.error_messages import BadInput

LOOPS = (1, 2, 5, 10, 20, 40, 80)
QUICK = (2, 10, 40)
REPEATS = 7  # the fastest counts
# times of lcaba over ours in the plane, of constraintDynamics in space, where lcaba does not find the accelerations
AIMS = {"kinetree": 5.0, "kinetree straight-line": 10.0}
AIMS_IN_SPACE = {"kinetree": 3.0, "kinetree straight-line": 8.0}
LARGEST = 10  # loops up to which straight-line code is made
PROJECTION_AIM = 0.3  # of a step
REVOLUTION = {2: 1.9425149226070836835, 40: 1.965601928704650439}  # IFToMM/UDC benchmark A02, exact
# tip of the first crank, N = 2, exact
TIPS = {
    2.0: (0.057815795768011432, 0.99832726786345548),
    10.0: (0.32845811154081538, 0.94451853817860096),
}


def timed(call: Callable[[int], object], count: int) -> float:
    """Return the time [µs] of one of the `count` evaluations that call(count) makes."""
    best = float("inf")
    call(1)
    for _ in range(REPEATS):
        clock = time.perf_counter()
        call(count)
        best = min(best, time.perf_counter() - clock)
    return 1e6 * best / count


def own_acceleration(n: int) -> dict:
    """Return the time of one evaluation of N four-bars by the engine: kinematics, loads,
    multipliers and accelerations.
    """
    system = load("lib:n_four_bar", n=n).compile()
    q, u = system.start()
    system.accelerations(0.0, q, u)
    repeat = system._fast.entry("repeat")
    us = timed(lambda count: repeat(count, 0.0), max(20, 4000 // n))
    return {
        "method": "kinetree",
        "loops": n,
        "us": us,
        "bodies": len(system.bodies),
        "speeds": system.n,
        "freedoms": system.freedoms,
    }


def straight_line(n: int) -> dict:
    """Return the time of one evaluation of N four-bars by straight-line code."""
    return {
        "method": "kinetree straight-line",
        "loops": n,
        "us": 1e6 * Specialised(load("lib:n_four_bar", n=n).compile()).times["specialised"],
    }


def others() -> list[dict]:
    """Return the times of planar library mechanisms beside Pinocchio's lcaba."""
    found = []
    for name in loops_plane.PLANE:
        try:
            found += (rows := loops_plane.accelerations(name, timed))
        except ImportError:
            return found
        deviation = next(row["deviation"] for row in rows if "deviation" in row)
        assert deviation < loops_plane.AGREED, f"{name}: accelerations differ by {deviation:.1e}"
        typer.echo(
            f"  {name:12s}"
            + "".join(f"  {row['method']} {row['us']:.2f} us" for row in rows)
            + f"  (they differ by {deviation:.0e})"
        )
    return found


def in_space() -> list[dict]:
    """Return the times of spatial mechanisms with point constraints beside Pinocchio's, where
    accelerations agree.
    """
    found = []
    for name in loops_spatial.DRAWINGS:
        try:
            rows = loops_spatial.accelerations(name, timed)
        except (ImportError, BadInput):
            continue
        for row in rows:
            typer.echo(
                f"  {name:12s}  {row['method']:28s} {row['us']:8.2f} us"
                + (f"  off by {row['deviation']:.0e}" if "deviation" in row else "")
            )
        found += [row for row in rows if row.get("deviation", 0.0) < loops_spatial.AGREED]
    return found


def ratios(found: list[dict]) -> list[dict]:
    """Return the times of Pinocchio's lcaba, or constraintDynamics, relative to ours, with the
    target ratios.
    """
    theirs = {(row["method"], row.get("mechanism"), row["loops"]): row["us"] for row in found}
    rows = []
    for row in found:
        place = row.get("mechanism"), row["loops"]
        aim = (AIMS_IN_SPACE if place[0] in loops_spatial.DRAWINGS else AIMS).get(row["method"])
        peer = next(
            (
                each
                for each in ("pinocchio lcaba", "pinocchio constraintDynamics")
                if (each, *place) in theirs
            ),
            None,
        )
        if peer is not None and aim is not None:
            name, ratio = (
                row.get("mechanism", f"{row['loops']} four-bars"),
                theirs[(peer, *place)] / row["us"],
            )
            rows.append(
                {
                    "mechanism": name,
                    "method": row["method"],
                    "peer": peer,
                    "ratio": ratio,
                    "aim": aim,
                }
            )
            typer.echo(f"  {name:14s} {peer} / {row['method']:24s} {ratio:5.2f}   aim {aim:g}")
    return rows


def projection(model: str, step: float, **settings: int) -> dict:
    """Return the share of constraint projection in the time of an rk4 step."""
    system, count = load(model, **settings).compile(), 500
    run, best, price = Run(make_unit(system, "rk4")), float("inf"), float("inf")
    write_integrator_options(
        run,
        Options.of(system, count * step, 0.0, count * step, "rk4", "auto", None, step, None),
        False,
    )
    system._fast.set_state(*system.start())
    begin, repeat = run.work.copy(), system._fast.entry("repeat")
    for _ in range(REPEATS):
        run.work[:] = begin
        run.call("unit_start", 0, 0.0)
        clock = time.thread_time()
        run.call("unit_advance", 0, count * step)
        middle = time.thread_time()
        repeat(count, 0.0)
        best, price = min(best, middle - clock), min(price, time.thread_time() - middle)
    each, one = 1e6 * best / count, 1e6 * price / count
    # four evaluations make the step, the last of them after the projection
    row = {
        "mechanism": " ".join([model, *map(str, settings.values())]),
        "step us": each,
        "evaluation us": one,
        "projection": 1.0 - 4.0 * one / each,
    }
    share = f"{100 * row['projection']:.0f} % are projection; aim {100 * PROJECTION_AIM:.0f}"
    typer.echo(
        f"  {row['mechanism']:28s} {each:.2f} us a step of rk4, an evaluation {one:.2f}: {share}"
    )
    return row


def own_simulation(n: int, stop: float, tolerance: float, integrator: str) -> dict:
    """Return the time and final error of a run to `stop`; the error is relative to the exact
    solution.
    """
    system = load("lib:n_four_bar", n=n).compile()
    runs = []
    for _ in range(3):
        clock = time.perf_counter()
        result = system.simulate(
            stop_time=stop, output_step=stop / 100, integrator=integrator, tolerance=tolerance
        )
        runs.append(time.perf_counter() - clock)
    exact = TIPS.get(stop, (0.0, 1.0))
    error = max(abs(result["tip[1]"][-1] - exact[0]), abs(result["tip[2]"][-1] - exact[1]))
    return {
        "method": f"kinetree {integrator} {tolerance:g}",
        "loops": n,
        "stop": stop,
        "seconds": min(runs),
        "error": float(error),
    }


def accelerations(sizes: tuple[int, ...]) -> list[dict]:
    """Return the time per acceleration of all programs, for several numbers of loops."""
    found = []
    for n in sizes:
        found.append(own_acceleration(n))
        if n <= LARGEST:
            found.append(straight_line(n))
        found += peers.accelerations(n, timed)
        for entry in found:
            if entry["loops"] == n:
                typer.echo(f"  N = {n:3d}  {entry['method']:24s} {entry['us']:10.2f} us")
    return found


def simulations(quick: bool) -> list[dict]:
    """Return time and error of runs over 10 s and 2 s (N = 2), and over one revolution (N = 40)."""
    found = [own_simulation(2, 10.0, 1e-6, "adams"), own_simulation(2, 10.0, 1e-10, "adams")]
    found += [own_simulation(40, REVOLUTION[40], 1e-6, "adams")]
    found += [own_simulation(2, 2.0, 1e-8, "adams")] + peers.simulations(2, 2.0, TIPS[2.0], quick)
    for entry in found:
        typer.echo(
            f"  N = {entry['loops']:3d}  {entry['stop']:.3g} s  {entry['method']:30s} {entry['seconds']:8.4f} s   error {entry['error']:.1e}"
        )
    return found


def versions() -> dict[str, str]:
    """Return versions of the installed peers."""
    found = {}
    for package in ("pin", "mujoco", "exudyn", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def growth(results: list[dict], method: str) -> float:
    """Return the exponent of a method's time over the number of loops, fitted to the larger half."""
    points = sorted((entry["loops"], entry["us"]) for entry in results if entry["method"] == method)
    points = points[len(points) // 2 - 1 :]
    if len(points) < 2:
        return float("nan")
    x, y = np.log(np.array(points).T)
    return float(np.polyfit(x, y, 1)[0])


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run all parts; write JSON with machine and versions, and a plot over N."""
    typer.echo("time per acceleration (kinematics included)")
    found = accelerations(QUICK if quick else LOOPS)
    exponents = {
        method: growth(found, method)
        for method in dict.fromkeys(entry["method"] for entry in found)
    }
    for method, exponent in exponents.items():
        typer.echo(f"  {method:24s} grows with N^{exponent:.2f}")
    typer.echo("other plane mechanisms")
    found_others = others()
    typer.echo("mechanisms in space, closed at points")
    found_others += in_space()
    beside = ratios([*found, *found_others])
    typer.echo("projection onto the constraints")
    shares = [projection("lib:n_four_bar", 1e-3, n=n) for n in (2, 10)]
    shares += [
        projection(model, step)
        for model, step in (
            ("lib:andrews", 1e-5),
            ("lib:delta", 1e-3),
            ("lib:slider_crank_spatial", 1e-3),
        )
    ]
    typer.echo("runs")
    runs = simulations(quick)
    write_results(
        json_path,
        versions=versions(),
        results=found,
        others=found_others,
        ratios=beside,
        projection=shares,
        growth=exponents,
        runs=runs,
    )
    if plots:
        draw(found, plots / "loops.png")


def draw(results: list[dict], path: Path) -> None:
    """Plot the time per acceleration over the number of loops."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4.2))
    for method in dict.fromkeys(entry["method"] for entry in results):
        points = np.array(
            [(entry["loops"], entry["us"]) for entry in results if entry["method"] == method]
        )
        axes.loglog(points[:, 0], points[:, 1], "o-", label=method)
    axes.set_xlabel("four-bars N")
    axes.set_ylabel("time per acceleration [us]")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
