"""Work against accuracy of the integrators, beside scipy's and SUNDIALS' (scikit-sundae) on the same compiled right-hand sides.

Errors are those at the end against exact or printed values, or against a run at a tolerance of 1e-13; evaluations include those for Jacobians.
Peers call the right-hand side through Python: compare their evaluations first, their times with that in mind.
"""

import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import typer

from kinetree.scripts.bench.integrator_list import FIXED, METHODS, memory
from kinetree.scripts.bench.integrator_list import run as run_method
from kinetree.scripts.bench.integrator_problems import (
    ARENSTORF_ORBIT,
    HIRES_END,
    VAN_DER_POL_STIFF,
    Problem,
    kepler,
    problem,
    shaken_chain,
)

EXPLICIT_PEERS = ("RK45", "DOP853", "LSODA", "CVODE Adams")
STIFF_PEERS = ("Radau", "BDF", "LSODA", "CVODE BDF")
OWN_EXPLICIT = ("adams", "rk45", "rk4", "stormer")
OWN_STIFF = ("radau", "semi-implicit")
REPEATS = 3  # the fastest counts; peers, which take long, run once
PEER_LIMIT = 20.0  # seconds of one peer run beyond which its tighter tolerances are left out


def cases(quick: bool) -> list[Problem]:
    """Return the test problems, non-stiff ones first."""
    few = [kepler(0.5, 20.0), shaken_chain(20, 400.0, 0.2, 20.0), HIRES_END]
    return (
        few
        if quick
        else [
            *few[:2],
            ARENSTORF_ORBIT,
            HIRES_END,
            VAN_DER_POL_STIFF,
            shaken_chain(20, 1e6, 1e3, 5.0),
        ]
    )


def with_reference(case: Problem) -> Problem:
    """Return the problem with a reference end state, computed at a tolerance of 1e-13 if it has
    none.
    """
    if case.end is not None:
        return case
    name = "radau" if case.stiff else "adams"
    return case._replace(
        end=tuple(
            run_method(
                name, case, np.array([case.stop]), memory(name, case, 1e-13, 1e-13, hard=1.0)
            ).states[-1]
        )
    )


def error_of(case: Problem, end: np.ndarray) -> float:
    """Return the largest error of a final state, relative where the state exceeds one."""
    exact = np.array(case.end)
    return float(np.max(np.abs(end - exact) / np.maximum(1.0, np.abs(exact))))


def own(name: str, case: Problem, setting: float) -> dict:
    """Return one run of our integrator; `setting` is the tolerance or the number of steps."""
    options = (
        {"h": case.stop / setting, "refresh": 5.0}
        if name in FIXED
        else {"rtol": setting, "atol": setting}
    )
    options["hard"] = (
        1.0  # as the peers, the last step ends at the stop: between steps radau's polynomial has only order 3
    )
    runs = [
        run_method(name, case, np.array([case.stop]), memory(name, case, **options))
        for _ in range(REPEATS)
    ]
    result = min(runs, key=lambda run: run.seconds)
    if result.status != 0:
        return {"setting": setting, "status": int(result.status)}
    return {
        "setting": setting,
        "error": error_of(case, result.states[-1]),
        "evaluations": result.evaluations,
        "seconds": result.seconds,
    }


def counted(case: Problem) -> tuple[Callable, list[int]]:
    """Return f(t, y, out) on the compiled right-hand side, and its counter of calls."""
    calls = [0]

    def f(t: float, y: np.ndarray, out: np.ndarray) -> None:
        calls[0] += 1
        problem(out, case.context, t, y)

    return f, calls


def peer(name: str, case: Problem, tolerance: float) -> dict:
    """Return one run of scipy or SUNDIALS."""
    f, calls = counted(case)
    start = np.array(case.start)
    clock = time.perf_counter()
    if name.startswith("CVODE"):
        from sksundae.cvode import CVODE

        solver = CVODE(
            f, method=name.split()[1], rtol=tolerance, atol=tolerance, max_num_steps=10**7
        )
        end = solver.solve(np.array([0.0, case.stop]), start).y[-1]
    else:
        from scipy.integrate import solve_ivp

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            out = np.empty(len(y))
            f(t, y, out)
            return out

        end = solve_ivp(
            rates, (0.0, case.stop), start, method=name, rtol=max(tolerance, 3e-14), atol=tolerance
        ).y[:, -1]
    seconds = time.perf_counter() - clock
    return {
        "setting": tolerance,
        "error": error_of(case, end),
        "evaluations": calls[0],
        "seconds": seconds,
    }


def steps_for(case: Problem, quick: bool) -> list[float]:
    """Return the numbers of steps with which fixed-step methods are run."""
    coarsest = 2000 if case.stiff else 400
    return [float(coarsest * 2**k) for k in range(0, 6, 2 if quick else 1)]


def measure(case: Problem, quick: bool) -> dict[str, list[dict]]:
    """Return the work-precision curves of all methods for one problem."""
    tolerances = [float(x) for x in 10.0 ** -np.arange(3, 13, 3 if quick else 1)]
    curves = {}
    for name in OWN_STIFF if case.stiff else OWN_EXPLICIT:
        own(name, case, 500.0 if name in FIXED else 1e-2)  # compiles
        settings = steps_for(case, quick) if name in FIXED else tolerances
        curves[name] = [own(name, case, setting) for setting in settings]
    for name in STIFF_PEERS if case.stiff else EXPLICIT_PEERS:
        curves[name] = []
        for tolerance in tolerances:
            curves[name].append(peer(name, case, tolerance))
            if curves[name][-1]["seconds"] > PEER_LIMIT:
                break
    return curves


def best(curve: list[dict], error: float) -> dict | None:
    """Return the cheapest run of a curve whose error is at most `error`."""
    good = [point for point in curve if point.get("error", np.inf) <= error]
    return min(good, key=lambda point: point["evaluations"]) if good else None


def table(name: str, curves: dict[str, list[dict]], error: float) -> None:
    """Print the cost of every method at one accuracy."""
    typer.echo(f"\n{name}: cheapest run with an error below {error:g}")
    for method, curve in curves.items():
        point = best(curve, error)
        text = (
            f"{point['evaluations']:9d} evaluations {1e3 * point['seconds']:10.3f} ms   error {point['error']:.1e}"
            if point
            else "        not reached"
        )
        typer.echo(f"  {method:14s}{text}")


def plot(path: Path, name: str, curves: dict[str, list[dict]]) -> None:
    """Plot error against evaluations and against time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), sharey=True, constrained_layout=True)
    for method, curve in curves.items():
        points = [point for point in curve if 0.0 < point.get("error", np.inf) < 10.0]
        for axis, key in zip(axes, ("evaluations", "seconds")):
            style = "o-" if method in METHODS else "x--"
            axis.loglog(
                [point[key] for point in points],
                [point["error"] for point in points],
                style,
                label=method,
                markersize=4,
            )
    axes[0].set(xlabel="evaluations of the right-hand side", ylabel="error at the end", title=name)
    axes[1].set(xlabel="seconds (peers call through Python)")
    axes[1].legend(fontsize=8)
    for axis in axes:
        axis.grid(True, which="major", alpha=0.3)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def run(quick: bool = False, json_path: Path | None = None, plot_dir: Path | None = None) -> dict:
    """Measure all problems, print the cost of an error of 1e-6, write curves and plots."""
    packages = ("numpy", "scipy", "numba", "scikit-sundae")
    report = {
        "machine": platform.processor() or platform.machine(),
        "versions": {name: version(name) for name in packages},
        "problems": {},
    }
    for case in map(with_reference, cases(quick)):
        name = f"{case.name}, {len(case.start)} states{', stiff' if case.stiff else ''}"
        curves = measure(case, quick)
        report["problems"][name] = curves
        table(name, curves, 1e-6)
        if plot_dir is not None:
            plot_dir.mkdir(parents=True, exist_ok=True)
            plot(plot_dir / f"integrators-{len(report['problems'])}.png", name, curves)
    if json_path is not None:
        json_path.write_text(json.dumps(report, indent=1))
    return report
