"""Ensembles: many runs of one structure with other parameters, in SIMD lanes if the mechanism
allows it, else one by one on all processors.

In lanes, WIDTH runs share their steps (solvers/run/lane_steps.py): rk4 with fixed steps, or Dormand
and Prince 5(4) with steps as long as the tolerance of the worst lane allows. This requires a tree
without contacts, actuators and prescribed motions with kinks, and parameters that change values
only; with rk4 it may have events and stages (lanes_through_events.py). A group of lanes that fails
is repeated run by run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.models.engine.entry_points import pointer_entry
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.instance import Instance, aligned
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.ensemble_cases import Cases
from kinetree.models.run.lanes_through_events import in_lanes_through_events
from kinetree.models.run.reparameterize import reparameterized_system
from kinetree.models.run.simulation import Options, raise_on_failure, write_integrator_options
from kinetree.models.run.simulation_unit import Run, Unit, later_structures, make_unit
from kinetree.solvers import layout as L
from kinetree.solvers.integrate import rk45
from kinetree.solvers.integrate.kinds import INTEGRATORS
from kinetree.solvers.model_records import KNOT

if TYPE_CHECKING:
    from kinetree.models.system.system import System

TABLES = {method.name: method.tableau for method in INTEGRATORS if method.tableau is not None}
LANES = ("auto", "rk45", "rk4", *TABLES)
MOST_STEPS = (
    200_000  # of a group of lanes; a stiff mechanism is better run one by one by an implicit method
)
MAX_TABLE_BYTES = 4e9  # bytes of a table
SAME = 1e-12  # relative: roundings of expressions
FIRST = 0.1  # of an output interval: first step of the variable method
CLASSICAL = (  # nodes, weights, no error, coefficients
    np.array([0.0, 0.5, 0.5, 1.0]),
    np.array([1.0, 2.0, 2.0, 1.0]) / 6.0,
    np.zeros(4),
    np.array([[0.0] * 4, [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]]),
)


class Ensemble:
    """Results of many runs: `runs["name"]` has the shape (runs, rows)."""

    def __init__(
        self,
        time: np.ndarray,
        parameters: dict[str, np.ndarray],
        names: Sequence[str],
        table: np.ndarray,
    ):
        self.time, self.parameters, self.names, self.table = time, parameters, tuple(names), table
        self.stages = np.zeros(
            table.shape[:2], dtype=np.int32
        )  # number of the stage by run and row
        self.engine = ""  # how it was run, and why not in lanes
        self.failures: dict[
            int, str
        ] = {}  # runs that ended early, and why; their rows are not numbers from there on

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            from kinetree.models.language.errors import suggestion

            raise KeyError(f"no column '{name}'; {suggestion(name, self.names)}")
        return self.table[:, :, self.names.index(name)]

    def __len__(self) -> int:
        return self.table.shape[0]


def simulate_many(
    system: System,
    parameters: Mapping[str, ArrayLike],
    stop_time: float | None = None,
    output_step: float | None = None,
    inputs: Mapping[str, ArrayLike] | None = None,
    integrator: str = "auto",
    step: float | None = None,
    tolerance: float | None = None,
    outputs: Sequence[str] | None = None,
    threads: int | None = None,
    lanes: bool | None = None,
    progress: Callable[[float], None] | None = None,
) -> Ensemble:
    """Return the results of many runs; arguments as in `System.simulate_many`."""
    options = Options.of(
        system, stop_time, None, output_step, integrator, "auto", tolerance, step, None
    )
    cases = Cases(system, parameters, inputs)
    check_times(
        system,
        cases,
        options,
        (stop_time, None, output_step, integrator, "auto", tolerance, step, None),
    )
    times = options.times()
    known = {column.name: column.register for column in system.compiled.running.outputs}
    c = system.compiled.running
    every = {name: c.registers[name] for name in (*c.coordinates, *c.speeds, *c.states)} | known
    names = list(every) if outputs is None else list(outputs)
    for name in names:
        if name not in every:
            from kinetree.models.language.errors import suggestion

            raise KeyError(f"no column '{name}'; {suggestion(name, tuple(every))}")
    size = 8.0 * cases.count * times.size * len(names)
    if size > MAX_TABLE_BYTES:
        raise ValueError(
            f"the table would take {size / 1e9:.1f} GB: choose columns with outputs=[...], or fewer runs or rows"
        )
    table = np.full((cases.count, times.size, len(names)), np.nan)
    found = Ensemble(times, cases.parameters, names, table)
    workers = threads or os.cpu_count() or 1
    reason = lanes_refusal(system, cases, options) if lanes is not False else "as asked for"
    if reason and lanes:
        raise ValueError(f"cannot run in lanes: {reason}")
    left, way = list(range(cases.count)), ""
    if not reason and can_have_events(system):
        way = ", an interval in which something happens by itself"
        left = simulate_through_events(
            system, cases, options, times, names, found, workers, progress
        )
    elif not reason:
        left = simulate_in_lanes(
            system,
            cases,
            options,
            times,
            np.array([every[name] for name in names], dtype=np.int64),
            table,
            workers,
            progress,
        )
    done = cases.count - len(left)
    found.engine = f"{done} runs in lanes of {L.WIDTH}{way}" if done else ""
    if left:
        simulate_singly(system, cases, options, times, names, found, left, workers, progress)
        why = reason or "their lanes failed"
        found.engine = ", ".join(
            part
            for part in (found.engine, f"{len(left)} runs one by one on {workers} threads ({why})")
            if part
        )
    return found


def check_times(system: System, cases: Cases, options: Options, given: tuple[Any, ...]) -> None:
    """Raise if output times depend on parameters that vary between runs."""
    run = system.description.run
    told = {
        "start_time": run.start_time,
        "stop_time": run.stop_time,
        "output_step": run.output_step,
        "step": run.step,
    }
    if not any(isinstance(value, str) for value in told.values()):
        return
    for numbers in cases.ends():
        own = Options.of(reparameterized_system(system, numbers), *given)
        for name in told:
            a, b = getattr(options, name), getattr(own, name)
            if abs(a - b) > SAME * max(abs(a), abs(b)):
                which = ", ".join(f"{key} = {value:g}" for key, value in numbers.items())
                raise ValueError(
                    f"{name} of the runs follows from what varies ({a:g} as described, {b:g} with {which}): give {name}, the same for all"
                )


def can_have_events(system: System) -> bool:
    """Return whether a run can have events or stage ends."""
    counts = system.compiled.counts
    return len(system.stages) > 1 or counts["ng"] > counts["nj"]


def lanes_refusal(system: System, cases: Cases, options: Options) -> str:
    """Return why a mechanism cannot run in SIMD lanes; empty if it can."""
    fixed = options.integrator == "rk4"
    structures = (system.compiled, *(later_structures(system) if fixed else ()))
    fields = [model_fields(c.ints, c.floats) for c in structures]
    cornered = any(
        knot.motion > 0 if fixed else knot.motion != L.ANNOUNCED
        for one in fields
        for knot in KNOT.rows(one.knots)
    )
    parts = (
        (any(c.loops for c in structures), "closed loops are solved one by one"),
        (any(c.contacts for c in structures), "contacts are solved one by one"),
        (
            can_have_events(system) and not fixed,
            "events and stages come at other times in every run, which only lanes by rk4 go through",
        ),
        (cornered, "given motions with corners over time"),
        (
            any(one.latches.size > 0 for one in fields),
            "actuators hold what they know from step to step",
        ),
        (not cases.quick, "a parameter changes more than numbers: every run is compiled by itself"),
        (
            options.integrator not in LANES,
            f"lanes know {', '.join(LANES[1:])}, not {options.integrator}",
        ),
        (pointer_entry("ensemble") is None, "kernels run in plain Python"),
    )
    return next((reason for wrong, reason in parts if wrong), "")


def simulate_through_events(
    system: System,
    cases: Cases,
    options: Options,
    times: np.ndarray,
    names: Sequence[str],
    found: Ensemble,
    workers: int,
    progress,
) -> list[int]:
    """Fill the table by lanes that stop at events; return the runs that must be made one by one."""
    unit = make_unit(system, options.integrator, options.method)
    columns = [column.name for column in unit.columns]
    method = method_numbers(options, 1.0)
    chosen, stages = [columns.index(name) for name in names], len(CLASSICAL[0])
    tables = found.table, found.stages
    ended = in_lanes_through_events(
        system, unit, cases, options, times, tables, chosen, method, stages, workers, progress
    )
    found.failures.update({row: text for row, text in ended.items() if text})
    return sorted(row for row, text in ended.items() if not text)


def method_numbers(options: Options, interval: float) -> np.ndarray:
    """Return the values that describe the integration method to solvers/run/lane_steps.py."""
    tableau = TABLES.get(options.integrator)
    if options.integrator == "rk4":
        c, b, e, a = CLASSICAL
        head = [options.relative, options.absolute, options.step, 4.0, 0.0, options.step, 0.0]
    else:
        head = [options.relative, options.absolute, 0.0, 5.0, 1.0, FIRST * interval, 0.0]
        rows, c, b, e = (
            (rk45.A2, rk45.A3, rk45.A4, rk45.A5, rk45.A6, rk45.B),
            np.array([*rk45.C, 1.0]),
            np.array([*rk45.B, 0.0]),
            np.array(rk45.E),
        )
        if tableau is not None:
            head[3], count = tableau.lower + 1.0, tableau.stages
            rows, c, b, e = (
                tableau.a[1:count],
                np.array(tableau.c[:count]),
                np.array(tableau.b[:count]),
                np.array(tableau.error),
            )
        a = np.zeros((c.size, c.size))
        for row, weights in enumerate(rows, 1):
            a[row, : len(weights)] = weights
    return np.concatenate((head, c, b, e, a.ravel()))


def simulate_in_lanes(
    system: System,
    cases: Cases,
    options: Options,
    times: np.ndarray,
    registers: np.ndarray,
    table: np.ndarray,
    workers: int,
    progress,
) -> list[int]:
    """Fill the table by lanes; return the runs that did not arrive."""
    entry = pointer_entry("ensemble")
    assert entry is not None
    failed: list[int] = []
    interval = float(times[1] - times[0]) if times.size > 1 else 1.0
    method = method_numbers(options, interval)
    stages = int(-3 + np.sqrt(9 + 4 * (method.size - 7))) // 2
    instance = Instance(system.compiled.running)
    for group in cases.groups(instance):
        instance.work[:] = group.work
        varied, n = group.varied, group.starts.shape[1]
        width = -(-max(1, -(-len(group.rows) // workers)) // L.WIDTH) * L.WIDTH
        parts = [slice(first, first + width) for first in range(0, len(group.rows), width)]

        def run(
            part: slice, group=group, varied=varied, n=n
        ) -> tuple[slice, np.ndarray, np.ndarray]:
            values, starts = (
                np.ascontiguousarray(each[part]) for each in (group.values, group.starts)
            )
            count = len(starts)
            plan = np.array(
                [count, varied.size, times.size, registers.size, stages, MOST_STEPS], dtype=np.int64
            )
            own, out = method.copy(), np.empty((count, times.size, registers.size))
            codes = np.zeros(-(-count // L.WIDTH))
            wide, scratch = instance.wide(L.LANES_STRIDE), aligned((2 + stages) * n * L.WIDTH)
            addresses = [
                a.ctypes.data
                for a in (
                    wide,
                    scratch,
                    plan,
                    own,
                    varied,
                    values,
                    starts,
                    times,
                    registers,
                    out,
                    codes,
                )
            ]
            entry(
                instance.ints.ctypes.data,
                system.compiled.running.floats.ctypes.data,
                instance.work.ctypes.data,
                *addresses,
            )
            instance.keep(L.LANES_STRIDE, wide)
            return part, out, codes

        with ThreadPoolExecutor(workers) as pool:
            for part, out, codes in pool.map(run, parts):
                rows = group.rows[part]
                good = np.repeat(codes == 0.0, L.WIDTH)[: len(rows)] & np.isfinite(out).all(
                    axis=(1, 2)
                )
                table[rows[good]] = out[good]
                failed += rows[~good].tolist()
                if progress is not None:
                    progress(float(rows[-1] + 1))
    return sorted(failed)


def simulate_singly(
    system: System,
    cases: Cases,
    options: Options,
    times: np.ndarray,
    names: Sequence[str],
    found: Ensemble,
    rows: Sequence[int],
    workers: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Make the runs one by one, in several threads."""
    shared = make_unit(system, options.integrator, options.method) if cases.quick else None
    columns = [column.name for column in (shared or make_unit(system, options.integrator)).columns]
    chosen = [columns.index(name) for name in names]

    def run(row: int) -> tuple[int, str]:
        unit = shared or make_unit(cases.system(row), options.integrator, options.method)
        return row, simulate_one(unit, cases, row, options, times, found, chosen)

    with ThreadPoolExecutor(workers) as pool:
        for done, (row, text) in enumerate(pool.map(run, rows), 1):
            if text:
                found.failures[row] = text
            if progress is not None:
                progress(float(len(found) - len(rows) + done))


def simulate_one(
    unit: Unit,
    cases: Cases,
    row: int,
    options: Options,
    times: np.ndarray,
    found: Ensemble,
    chosen: Sequence[int],
) -> str:
    """Write one run to its rows of the tables; return why it ended early, or an empty text."""
    run, out, stages = Run(unit), found.table[row], found.stages[row]
    write_integrator_options(run, options, False)
    try:
        starts = cases.starts_of(row) if cases.quick else {}
        for name, value in (cases.parameters_of(row) | starts).items():
            run.set_input(name, value)
        raise_on_failure(run, run.begin(options.start_time, cases.inputs_of(row)))
        out[0], stages[0] = run.columns[chosen], int(run.head.stage)
        for k in range(1, times.size):
            raise_on_failure(run, run.call("unit_advance", 0, float(times[k])))
            out[k], stages[k] = run.columns[chosen], int(run.head.stage)
    except EvaluationError as error:
        return str(error)
    return ""
