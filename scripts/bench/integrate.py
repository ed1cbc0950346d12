"""Work against accuracy of whole mechanisms, a few per class, beside scipy, SUNDIALS (scikit-sundae) and Exudyn in one run.

Ours run by the engine and by straight-line code (`system.specialise()`); CVODE calls the same
straight-line code from C, scipy calls the engine from Python; both are restarted at every
discontinuity of functions of time. Exudyn runs models of its own. An error is the largest over ten
instants (Exudyn: at the end) of coordinates, speeds and states, relative to their largest values;
the reference is a run at a tolerance of 1e-12. Seconds are processor time of the thread.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from kinetree.models.engine.entry_points import bind
from kinetree.models.run.simulation import Options, write_integrator_options
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.models.specialised.llvm_compiler import Machine
from kinetree.models.specialised.specialised_rates import Motion, attach, machine_of, motions
from kinetree.models.system.system import System
from kinetree.scripts.bench.integrate_cases import CASES, Case
from kinetree.scripts.bench.integrate_exudyn import exudyn_points
from kinetree.scripts.bench.integrate_sundials import ADAMS, BDF, Cvode
from kinetree.scripts.bench.results_file import machine
from kinetree.solvers.integrate import controller
from kinetree.solvers.integrate.kinds import INTEGRATORS

SMOOTH_PEERS, STIFF_PEERS = ("DOP853", "LSODA"), ("Radau", "BDF", "LSODA")  # of scipy
ERRORS = (1e-3, 1e-5, 1e-7)  # accuracies whose cost is told
INSTANTS = 10
REPEATS = 3  # of ours; the fastest counts
PEER_LIMIT = 15.0  # seconds of a peer's run after which its tighter tolerances are left out
REFERENCE, LEAST = (
    1e-12,
    1e-3,
)  # tolerance of the reference; size below which a number's error is not relative
FLOOR = 0.7  # of the best peer, below which ours are never to be


class Point(NamedTuple):
    """One run: its setting, cost and error."""

    setting: float
    error: float
    evaluations: int
    seconds: float


class Rates:
    """(q', u', x') of a system as a function of (t, y) that counts its calls; for coordinates whose
    rates are the speeds.
    """

    def __init__(self, system: System):
        self.instance, self.calls = system._fast, 0
        self.nq, self.n = system.n, 2 * system.n + len(system.compiled.states)
        self.call, ws = self.instance.entry("accelerations"), system._fast.ws
        self.q, self.u, self.x, self.udot, self.xdot = ws.q, ws.u, ws.x, ws.udot, ws.xdot
        q, u = system.start()
        self.instance.set_state(q, u)
        self.y0 = np.concatenate((q, u, self.x.copy()))

    def __call__(self, t: float, y: np.ndarray, out: np.ndarray) -> int:
        n = self.nq
        self.calls += 1
        self.q[:], self.u[:], self.x[:] = y[:n], y[n : 2 * n], y[2 * n :]
        status = self.call(0, t)
        out[:n], out[n : 2 * n], out[2 * n :] = self.u, self.udot, self.xdot
        return status

    def seconds(self) -> float:
        """Return the time [s] of one evaluation by the engine, without Python's overhead."""
        self(0.0, self.y0, np.empty(self.n))
        repeat, best = self.instance.entry("repeat"), math.inf
        for _ in range(20):
            clock = time.perf_counter()
            repeat(200, 0.0)
            best = min(best, time.perf_counter() - clock)
        return best / 200


def instants(case: Case, rows: int = INSTANTS) -> np.ndarray:
    return np.linspace(0.0, case.stop, rows + 1)[1:]


def own_once(
    system: System,
    case: Case,
    integrator: str,
    tolerance: float,
    straight: bool = False,
    rows: int = INSTANTS,
) -> tuple[np.ndarray, int, float]:
    """Run one of our integrators with `rows` output rows; return the states at the instants, the
    evaluations and the seconds.
    """
    unit, c = make_unit(system, integrator), system.compiled
    if straight:
        attach(unit, *straight_line(system))
    run = Run(unit)
    write_integrator_options(
        run,
        Options.of(
            system, case.stop, 0.0, case.stop / rows, integrator, "auto", tolerance, None, None
        ),
        False,
    )
    names = {column.name: k for k, column in enumerate(unit.columns)}
    places = [names[name] for name in (*c.coordinates, *c.speeds, *c.states)]
    # what a row costs is no matter of integration: views and calls are made before
    times, columns = instants(case, rows).tolist(), run.columns
    found = np.empty((rows, columns.size))
    start, advance = (
        bind(name, unit.ints, unit.floats, run.work) for name in ("unit_start", "unit_advance")
    )
    clock = time.thread_time()
    status = start(0, 0.0)
    for k, t in enumerate(times):
        status = status or advance(0, t)
        found[k] = columns
    seconds = time.thread_time() - clock
    if status:
        raise RuntimeError(f"{case.name} by {integrator}: status {status}")
    at = int(unit.header.at_memory)
    return found[:, places], int(run.work[at + controller.EVALUATIONS]), seconds


def row_seconds(system: System, case: Case) -> float:
    """Return the time [s] of one output row of our runs: the state there is projected onto the
    constraints and everything is evaluated, whereas peers only interpolate.
    """
    few, many = (
        min(own_once(system, case, "auto", 1e-4, rows=rows)[2] for _ in range(REPEATS))
        for rows in (INSTANTS, 10 * INSTANTS)
    )
    return max(0.0, many - few) / (9 * INSTANTS)


@cache
def straight_line(system: System) -> tuple[list[Motion | str], Machine | None]:
    """Return the right-hand side of a system as straight-line code."""
    found = motions(make_unit(system))
    return found, machine_of(found)


@cache
def cvode(system: System) -> Cvode:
    """Return CVODE with the straight-line code of a system as its right-hand side."""
    _, machine = straight_line(system)
    if machine is None:
        raise RuntimeError("no straight-line code")
    Rates(system)  # the start
    return Cvode(machine.address("own_0"), system)


def cvode_once(
    system: System, case: Case, name: str, tolerance: float
) -> tuple[np.ndarray, int, float]:
    """Return states, evaluations and seconds of one run of CVODE."""
    return cvode(system).run(
        ADAMS if name == "CVODE Adams" else BDF,
        tolerance,
        Rates(system).y0,
        instants(case),
        case.corners,
    )


def peer_once(
    system: System, case: Case, name: str, tolerance: float
) -> tuple[np.ndarray, int, float]:
    """Return states, evaluations and seconds of one run of scipy, restarted at discontinuities of
    functions of time.
    """
    rates, times = Rates(system), instants(case)
    parts = [0.0, *case.corners, case.stop]
    y, rows, clock = rates.y0, [], time.thread_time()
    for begin, end in zip(parts, parts[1:], strict=False):
        inside = times[(times > begin) & (times <= end)]
        asked = np.unique(np.concatenate(([begin], inside, [end])))
        states = stretch(rates, name, tolerance, asked, y)
        rows += [states[k] for k in np.searchsorted(asked, inside)]
        y = states[-1]
    return np.array(rows), rates.calls, time.thread_time() - clock


def stretch(
    rates: Rates, name: str, tolerance: float, asked: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """Integrate by scipy without a restart; return the states at the requested instants, the first
    of which is the start.
    """
    absolute = 1e-2 * tolerance  # as ours
    from scipy.integrate import solve_ivp

    def f(t: float, y: np.ndarray) -> np.ndarray:
        out = np.empty(rates.n)
        rates(t, y, out)
        return out

    return solve_ivp(
        f,
        (asked[0], asked[-1]),
        y,
        method=name,
        t_eval=asked,
        rtol=max(tolerance, 3e-14),
        atol=absolute,
    ).y.T


def curve(
    once: Callable[..., tuple[np.ndarray, int, float]],
    repeats: int,
    case: Case,
    name: str,
    tolerances: list[float],
    exact: np.ndarray,
) -> list[Point]:
    """Return one point per tolerance for a method: cost and error, the cheapest of `repeats` runs."""
    system, found = case.compiled(), []
    scale = np.maximum(np.abs(exact).max(axis=0), LEAST)
    for tolerance in tolerances:
        try:
            rows, evaluations, seconds = min(
                (once(system, case, name, tolerance) for _ in range(repeats)),
                key=lambda run: run[2],
            )
        except (RuntimeError, ValueError) as reason:
            typer.echo(f"  {name} at {tolerance:g}: {str(reason).splitlines()[0]}")
            continue
        if rows.shape == exact.shape:
            found.append(
                Point(tolerance, float((np.abs(rows - exact) / scale).max()), evaluations, seconds)
            )
        if seconds > PEER_LIMIT:
            break
    return found


def cost(points: list[Point], error: float, of: Callable[[Point], float]) -> float:
    """Return the least cost at which a method reaches an error, interpolated between runs on
    logarithmic scales; infinite if no run is that accurate.
    """
    best = math.inf
    ordered = sorted(points, key=lambda point: -point.error)
    for point in ordered:
        if point.error <= error:
            best = min(best, of(point))
    for a, b in zip(ordered, ordered[1:], strict=False):
        if a.error > error > b.error > 0.0:
            part = math.log(a.error / error) / math.log(a.error / b.error)
            best = min(best, math.exp((1.0 - part) * math.log(of(a)) + part * math.log(of(b))))
    return best


def methods(case: Case) -> list[str]:
    """Return the names of our integrators that suit the class of a mechanism."""
    return [
        *([each.name for each in INTEGRATORS if not each.fixed] if not case.stiff else case.ours),
        "auto",
    ]


def measure(case: Case, quick: bool) -> dict[str, Any]:
    """Return the work-precision curves of all methods for a mechanism."""
    tolerances = [float(x) for x in 10.0 ** -np.arange(2.0, 10.5, 2.0 if quick else 1.0)]
    system = case.compiled()
    exact = own_once(system, case, case.reference, REFERENCE)[0]
    curves = {
        name: curve(own_once, REPEATS, case, name, tolerances, exact) for name in methods(case)
    }
    straight = partial(own_once, straight=True)
    curves |= {
        f"{name}, straight-line": curve(straight, REPEATS, case, name, tolerances, exact)
        for name in methods(case)
    }
    theirs: dict[str, Any] = {}
    if straight_line(system)[1] is not None:
        theirs["CVODE"] = curve(
            cvode_once,
            REPEATS,
            case,
            "CVODE BDF" if case.stiff else "CVODE Adams",
            tolerances,
            exact,
        )
    peers = ("LSODA",) if quick else STIFF_PEERS if case.stiff else SMOOTH_PEERS
    theirs |= {name: curve(peer_once, 1, case, name, tolerances, exact) for name in peers}
    if case.exudyn is not None:
        scale = np.maximum(np.abs(exact).max(axis=0), LEAST)
        theirs |= {
            name: [Point(*each) for each in points]
            for name, points in exudyn_points(
                case.exudyn, case.stop, exact[-1], scale, quick
            ).items()
        }
    return {
        "case": case.name,
        "class": case.kind,
        "us": 1e6 * Rates(system).seconds(),
        "row us": 1e6 * row_seconds(system, case),
        "ours": curves,
        "peers": theirs,
    }


def counted(point: Point) -> float:
    return point.evaluations or math.inf


def taken(point: Point) -> float:
    return point.seconds


def cheapest(
    curves: dict[str, list[Point]], error: float, of: Callable[[Point], float]
) -> tuple[float, str]:
    """Return the least cost at which any method reaches an error, and the name of the method."""
    return min(
        ((cost(points, error, of), name) for name, points in curves.items()),
        default=(math.inf, "–"),
    )


def lines(found: dict[str, Any], aim: float) -> Iterator[str]:
    """Return a table of the cost of every accuracy by every method, then the best peer relative to
    our best.
    """
    methods = found["ours"] | found["peers"]
    yield (
        f"\n{found['class']}: {found['case']}, {found['us']:.2f} µs per evaluation by the engine, "
        f"{found['row us']:.2f} per row of ours"
    )
    yield (
        "| | "
        + " | ".join(f"error {error:g}" for error in ERRORS)
        + " |\n|---"
        + "|---" * len(ERRORS)
        + "|"
    )
    for name, points in methods.items():
        cells = []
        for error in ERRORS:
            seconds, work = cost(points, error, taken), cost(points, error, counted)
            cells.append(
                "–"
                if seconds == math.inf
                else f"{1e3 * seconds:.2f} ms" + (f", {work:.0f}" if work < math.inf else "")
            )
        yield f"| {name} | " + " | ".join(cells) + " |"
    for error in ERRORS:
        clock, work = (cheapest(found["ours"], error, of) for of in (taken, counted))
        best, least = (cheapest(found["peers"], error, of) for of in (taken, counted))
        if clock[0] == math.inf or best[0] == math.inf:
            yield f"error {error:g}: not reached by {'ours' if clock[0] == math.inf else 'any peer'}"
            continue
        row = {
            "error": error,
            "aim": aim,
            "ratio": best[0] / clock[0],
            "without rows": best[0] / max(clock[0] - 1e-6 * INSTANTS * found["row us"], 1e-9),
            "ours": clock[1],
            "peer": best[1],
            "evaluations": least[0] / work[0],
        }
        found.setdefault("ratios", []).append(row)
        yield (
            f"error {error:g}: {best[1]} over {clock[1]}: time {row['ratio']:.2f} (aim {aim:g}, never below {FLOOR:g}), "
            f"without what is evaluated in the rows {row['without rows']:.2f}; "
            f"evaluations, {least[1]} over {work[1]}: {row['evaluations']:.2f}"
        )


def versions() -> dict[str, str]:
    """Return versions of the measured packages."""
    found = {}
    for package in ("scipy", "scikit-sundae", "exudyn", "numpy", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Run all classes of mechanisms."""
    typer.echo(
        f"{machine()}; {', '.join(f'{name} {number}' for name, number in versions().items())}"
    )
    typer.echo(
        "milliseconds of the thread and evaluations that an accuracy costs; CVODE in C on our straight-line code, scipy through Python"
    )
    report: dict[str, Any] = {"machine": machine(), "versions": versions(), "results": []}
    for case in CASES:
        if quick and not case.quick:
            continue
        found = measure(case, quick)
        for line in lines(found, case.aim):
            typer.echo(line)
        report["results"].append(found)
    ratios = [row["ratio"] for found in report["results"] for row in found.get("ratios", ())]
    if ratios:
        typer.echo(
            f"\ntime of the best peer over ours: {min(ratios):.2f} to {max(ratios):.2f}, median {np.median(ratios):.2f}"
        )
    if json_path:
        json_path.write_text(json.dumps(report, indent=1), encoding="utf-8")
