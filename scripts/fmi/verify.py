"""Verification of an FMU: model description, comparison with the same model in this process, step
and state handling.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.engine.status import EvaluationError
from kinetree.models.specialised.specialised_rates import attach, machine_of
from kinetree.scripts.fmi.fmpy_host import Archive, Host, packed_with, reasons
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.instance_handling import conditions
from kinetree.scripts.fmi.sensitivity import (
    GROWTH,
    HOST_SOLVER,
    SAME,
    STEPS_ADD_UP,
    deviation,
    deviations,
    end_deviation,
    horizon,
    own_bound,
    run,
    step_error,
)
from kinetree.scripts.terminal.foreign_archives import check_archive

if TYPE_CHECKING:
    from kinetree.models.chain.system import ChainSystem

HOST_TOLERANCE = 1e-8  # relative and absolute, of one step of the host's integrator
DRIFT = 5e-3  # closed loops: every event that closes them restarts the integrator of the host
SWEEP = 1e-4  # other communication steps move the steps of the integrator
ONE_INSTANT = 1e-5  # [s] of one event in two integrations, at HOST_TOLERANCE; what is further away from all others was met by one of them alone
ROUNDED = 1e-9  # [s] rows at an instant itself
MATRIX = 1e-8  # two ways to the matrices of a chain, each made to 1e-10 or better
MOST_STEPS = 2000
SAYS_NOTHING = 0.1  # a bound relative to the size of a column
BEFORE = 0.9  # part that is compared of a motion that ends


@dataclass
class Check:
    """One line of the verification report."""

    what: str
    result: str
    good: bool = True


@dataclass
class Report:
    """The results of all checks."""

    path: Path
    checks: list[Check] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return all(check.good for check in self.checks)

    def add(self, what: str, result: str, good: bool = True) -> None:
        self.checks.append(Check(what, result, good))

    def compare(self, what: str, value: float, bound: float) -> None:
        """Add a deviation with its bound to the report."""
        self.add(what, f"largest deviation {value:.2e} (allowed {bound:.0e})", bool(value <= bound))

    def compare_columns(
        self, what: str, names: Sequence[str], found: np.ndarray, bounds: np.ndarray
    ) -> None:
        """Add the deviation that comes nearest to its column's bound, or exceeds it most.

        Columns whose bound is too wide to be of use (such as accelerations of stiff springs, which
        amplify the rounding of positions) are counted, not judged.
        """
        judged = np.flatnonzero(bounds < SAYS_NOTHING)
        left = len(names) - len(judged)
        remark = f"; {left} too sensitive to be compared" if left else ""
        if not len(judged):
            self.add(what, f"not compared: all {left} variables are too sensitive")
            return
        worst = judged[int(np.argmax(found[judged] / bounds[judged]))]
        self.add(
            what,
            f"largest deviation {found[worst]:.2e} of {names[worst]} "
            f"(allowed {bounds[worst]:.0e}){remark}",
            bool(found[worst] <= bounds[worst]),
        )


def verify(
    path: str | Path,
    stop_time: float | None = None,
    reference: Callable[[Archive], InProcess] | None = None,
) -> Report:
    """Run all checks on an archive; `reference` creates the in-process twin (default: from the
    model file inside).
    """
    with reasons():
        return verified(Path(path), stop_time, reference)


def verified(
    path: Path,
    stop_time: float | None,
    reference: Callable[[Archive], InProcess] | None,
) -> Report:
    """Verify an FMU and return its report; an error of the FMU is reported, too."""
    from fmpy.validation import validate_fmu

    report = Report(path)
    check_archive(path)
    problems = validate_fmu(str(path))
    report.add(
        "modelDescription",
        "no problem found" if not problems else "; ".join(problems),
        not problems,
    )
    with Archive(path) as archive:
        described(report, archive)
        if archive.compiled:
            report.add(
                "sources", "compiled by cc -std=c99 -Wall -Wextra -Wpedantic without a warning"
            )
        twin = (reference or twin_of)(archive)
        experiment: Any = archive.description.defaultExperiment
        end = stop_time if stop_time is not None else min(float(experiment.stopTime), 5.0)
        step = archive.step
        count = max(1, min(MOST_STEPS, round(end / step)))
        grid: Sequence[float] = [k * step for k in range(count + 1)]
        names = comparable(archive, twin)
        grid, expected = motion_of_model(report, twin, grid, names)
        count = len(grid) - 1
        last, responses = horizon(twin, grid, names, expected)
        error = step_error(twin, grid[: last + 1], names, expected[: last + 1])
        upto, bound, stepped = count, SAME, expected
        if straight(archive):
            upto, bound = (
                last,
                own_bound(
                    twin,
                    grid[last],
                    float(responses.max()),
                    lambda each: run(each, grid[: last + 1], names),
                ),
            )
            if reference is None:
                stepped = run(twin_of(archive, straight=True).start(), grid, names)
                beside_engine(
                    report, stepped[: last + 1], expected[: last + 1], bound + float(np.max(error))
                )
        motion(report, archive, grid, names, stepped, upto, bound)
        if (chain := chain_of(twin)) is not None:
            chain_motion(report, chain, grid, names, expected)
        if last < count:
            report.add(
                "sensitivity",
                f"errors grow {GROWTH:.0f} times until t = {grid[last]:.3g}: other integrations are compared up to there",
            )
        grid, expected = grid[: last + 1], expected[: last + 1]
        swept = max(SWEEP, float(np.max(error)))
        if archive.description.modelExchange is not None:
            bounds = np.maximum(HOST_SOLVER, STEPS_ADD_UP * HOST_TOLERANCE * responses)
            if twin.unit.system.compiled.loops:
                bounds = np.full(len(names), DRIFT)
            exchange(report, archive, grid, names, expected, bounds + error)
        sweep(report, archive, grid, names, expected, swept)
        replay(report, archive, grid, names)
        if archive.description.coSimulation is not None:
            conditions(
                report,
                archive,
                twin,
                grid,
                names,
                expected,
                straight(archive),
                swept,
            )
    return report


def motion_of_model(
    report: Report, twin: InProcess, grid: Sequence[float], names: list[str]
) -> tuple[Sequence[float], np.ndarray]:
    """Return the grid and the rows of the in-process reference run; an early end of the run is
    reported.
    """
    rows = [twin.start().get(names)]
    for t in grid[1:]:
        try:
            twin.step(t)
        except EvaluationError as error:
            if len(rows) < 3:
                raise
            rows = rows[
                : max(3, round(BEFORE * len(rows)))
            ]  # just before its end a motion answers to anything
            report.add(
                "end of the motion", f"{error}; compared up to t = {grid[len(rows) - 1]:.6g}"
            )
            break
        rows.append(twin.get(names))
    return grid[: len(rows)], np.array(rows)


def described(report: Report, archive: Archive) -> None:
    d = archive.description
    kinds = " + ".join(
        kind for kind, part in (("CS", d.coSimulation), ("ME", d.modelExchange)) if part is not None
    )
    report.add(
        "archive",
        f"FMI {d.fmiVersion} {kinds}, {len(d.modelVariables)} variables, {archive.path.stat().st_size / 1e6:.2f} MB",
    )


def beside_engine(report: Report, found: np.ndarray, expected: np.ndarray, bound: float) -> None:
    """Compare a run by straight-line code with one by the engine, both in this process.

    Both compute the same rates except for rounding. After a step, however, loops are projected with
    the constraint factor of the engine's last evaluation, which is an older one where straight-line
    code gave the rates. The residual of a step is therefore removed along another direction; this
    part of the step error belongs to the bound.
    """
    report.compare("straight-line code beside the engine", deviation(found, expected), bound)


def twin_of(archive: Archive, straight: bool = False) -> InProcess:
    """Return the model file inside the archive, compiled in this process; `straight`: with
    straight-line code.
    """
    from kinetree.fmu.unit import fmu_unit
    from kinetree.models import load
    from kinetree.models.system.start_values import Beginning

    files = sorted((Path(archive.folder) / "resources").glob("model.*"))
    file = next((f for f in files if f.suffix in (".toml", ".json")), None)
    if file is None:
        raise FileNotFoundError(2, "the archive holds no model file", str(archive.path))
    options = packed_with(archive)
    for name in ("specialised", "output_step"):
        options.pop(name, None)
    mechanism, begin = load(file, **options.pop("overrides")), options.pop("beginning", None)
    if begin is not None:
        mechanism = mechanism.beginning(Beginning(**begin))
    unit = fmu_unit(mechanism, **options, traced=straight)
    if straight:
        attach(unit, unit.motions, machine_of(unit.motions))
    return InProcess(unit)


def chain_of(twin: InProcess) -> ChainSystem | None:
    """Return the linear chain that is stepped by the matrix method; None for other mechanisms."""
    return getattr(twin.unit, "chain", None)


def comparable(archive: Archive, twin: InProcess) -> list[str]:
    """Return the real variables that do not depend on the integrator's steps."""
    own = ("_residual", ".mean_speed") + (",2)",) * (
        chain_of(twin) is not None
    )  # stiff couplings make much of little in accelerations
    return [
        n
        for n in archive.reals
        if n in twin.places and not n.endswith(own) and not n.startswith("event_indicator")
    ]


def straight(archive: Archive) -> bool:
    """Return whether an FMU steps with straight-line code, whose rounding differs."""
    return archive.compiled or bool(packed_with(archive).get("specialised"))


def motion(
    report: Report,
    archive: Archive,
    grid: Sequence[float],
    names: list[str],
    expected: np.ndarray,
    last: int,
    bound: float,
) -> None:
    """Compare the co-simulation of the archive with the in-process run up to row `last`, and time a
    step.
    """
    begin = time.perf_counter()
    host = Host(archive)
    instantiated = time.perf_counter() - begin
    host.start()
    report.compare(
        "co-simulation", deviation(run(host, grid, names)[: last + 1], expected[: last + 1]), bound
    )
    host.close()
    host = Host(archive).start()
    references = [archive.references[name] for name in archive.names("output")]
    costs = np.empty((len(grid) - 1, 2))
    for k, t in enumerate(grid[1:]):
        begin = time.perf_counter()
        host.step(t)
        middle = time.perf_counter()
        host.get_references(references)
        costs[k] = middle - begin, time.perf_counter() - middle
    host.close()
    median = np.median(costs, axis=0) * 1e6
    size = (grid[1] - grid[0]) * 1e3
    text = f"instantiated in {instantiated * 1e3:.1f} ms; {median[0]:.1f} µs per step of {size:g} ms, {median[1]:.1f} µs for {len(references)} values"
    report.add("cost", text)


def chain_motion(
    report: Report,
    chain: ChainSystem,
    grid: Sequence[float],
    names: list[str],
    expected: np.ndarray,
) -> None:
    """Compare the steps of the FMU with the matrix method in this process."""
    result = chain.simulate(stop_time=grid[-1], start_time=0.0, output_step=grid[1] - grid[0])
    shared = [k for k, name in enumerate(names) if name in (*chain.coordinates, *chain.speeds)]
    report.compare(
        "matrix method",
        deviation(expected[:, shared], np.column_stack([result[names[k]] for k in shared])),
        MATRIX,
    )


def exchange(
    report: Report,
    archive: Archive,
    grid: Sequence[float],
    names: list[str],
    expected: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Compare model exchange, integrated by fmpy's CVode, with the in-process run, each column
    within its own bound.
    """
    from fmpy import simulate_fmu

    interval = grid[1] - grid[0]
    result = simulate_fmu(
        archive.folder, stop_time=grid[-1], fmi_type="ModelExchange", solver="CVode", relative_tolerance=HOST_TOLERANCE, output_interval=interval,
        output=names, record_events=False,
    )  # fmt: skip
    index = np.searchsorted(result["time"], np.array(grid) - 1e-9)
    index = np.minimum(index, len(result) - 1)
    found = np.column_stack([result[name][index] for name in names])
    clear = np.ones(len(grid), dtype=bool)
    if "event_time" in names:
        clear[1:], apart = clear_of_events(
            np.array(grid[1:]),
            *(table[1:, names.index("event_time")] for table in (found, expected)),
        )
        bounds = bounds + apart * steepest(expected) / interval  # late by so much
    report.compare_columns(
        "model exchange (CVode)", names, deviations(found[clear], expected[clear]), bounds
    )


def steepest(table: np.ndarray) -> np.ndarray:
    """Return the largest change of each column from one row to the next, relative to its size
    where that exceeds 1.
    """
    return deviations(table[1:], table[:-1])


def clear_of_events(
    rows: np.ndarray, found: np.ndarray, expected: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the mask of rows that follow the same events in both runs, and the largest difference
    of event times.
    """
    found, expected = np.unique(found), np.unique(expected)
    partner = found[np.abs(np.subtract.outer(expected, found)).argmin(axis=1)]
    same = np.abs(partner - expected) < ONE_INSTANT
    early, late = np.minimum(partner, expected)[same], np.maximum(partner, expected)[same]
    alone = np.concatenate([found, expected])
    between = np.greater.outer(rows, early) & np.less.outer(rows, late)
    clear = ~between.any(axis=1) & (np.abs(np.subtract.outer(rows, alone)).min(axis=1) > ROUNDED)
    return clear, float(np.abs(partner - expected)[same].max(initial=0.0))


def sweep(
    report: Report,
    archive: Archive,
    grid: Sequence[float],
    names: list[str],
    expected: np.ndarray,
    bound: float = SWEEP,
) -> None:
    """Check that other communication steps, which divide the integrator's steps differently, lead
    to the same end.
    """
    end = grid[-1]
    drawn = np.sort(np.random.default_rng(1).uniform(0, end, len(grid) - 2))
    tiny = [*grid[:2], grid[1] + 1e-14, *grid[2:]]
    coarse = [0.0, *(end * k / 7 for k in range(1, 8))]
    fine = list(np.linspace(0.0, end, 2 * len(grid) - 1))
    for what, times in (
        ("coarse steps", coarse),
        ("fine steps", fine),
        ("irregular steps", [0.0, *drawn, end]),
        ("a step of 1e-14 s", tiny),
    ):
        host = Host(archive).start()
        found = run(host, times, names)[-1]
        host.close()
        report.compare(what, end_deviation(found, expected), bound)


def replay(report: Report, archive: Archive, grid: Sequence[float], names: list[str]) -> None:
    """Check that saving, continuing and restoring a state repeats the run, also in another
    instance.
    """
    part = archive.description.coSimulation
    if not (
        getattr(part, "canGetAndSetFMUstate", False) or getattr(part, "canGetAndSetFMUState", False)
    ):
        report.add("state", "not offered")
        return
    half = len(grid) // 2
    host, other = Host(archive).start(), Host(archive).start()
    run(host, grid[: half + 1], names)
    state = host.save()
    first = run(host, grid[half:], names)
    host.restore(state)
    second = run(host, grid[half:], names)
    other.restore(other.parsed(host.serialized(state), state[0]))
    third = run(other, grid[half:], names)
    host.forget(state)
    host.close()
    other.close()
    report.compare("state restored", deviation(second, first), 0.0)
    report.compare("state from bytes in another instance", deviation(third, first), 0.0)
