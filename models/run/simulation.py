"""Runs a unit over time and collects a Result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kinetree.models.compilation.compile import parameter_values
from kinetree.models.expressions.text import evaluate_constant
from kinetree.models.result.result import Event, Result
from kinetree.models.run.replay import Replay
from kinetree.models.run.status import EvaluationError, message
from kinetree.models.run.unit import Run, Unit, make_unit
from kinetree.models.system.forms import HAMILTON
from kinetree.models.system.system import System
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

INTEGRATORS = tuple(U.KINDS)
FIXED = ("rk4", "semi-implicit", "stormer")
STOP_AROUND_EVENT, STOP_BEFORE_FULL = 2, 4  # options of unit_advance
SAMPLES = 500  # output intervals when no output step is given


@dataclass
class Options:
    """Everything a run needs, taken from the call or from [run]."""

    start_time: float
    stop_time: float
    output_step: float
    integrator: str
    method: str
    relative: float
    absolute: float
    step: float
    largest_step: float

    @classmethod
    def of(cls, system: System, stop_time, start_time, output_step, integrator, method, tolerance, step, largest_step) -> Options:
        """Options of a call; what is left out comes from the description."""
        run, values = system.description.run, parameter_values(system.description)

        def number(given: float | None, default, otherwise: float, name: str) -> float:
            value = float(given) if given is not None else otherwise if default is None else evaluate_constant(default, values)
            if not math.isfinite(value):
                raise ValueError(f"{name} is {value}, expected a finite number")
            return value

        begin = number(start_time, run.start_time, 0.0, "start_time")
        end = number(stop_time, run.stop_time, begin + 10.0, "stop_time")
        if end < begin:
            raise ValueError(f"stop_time is {end:g}, before the start at {begin:g}")
        chosen = run.integrator if integrator == "auto" else integrator
        if chosen not in INTEGRATORS:
            raise ValueError(f"unknown integrator '{chosen}', expected one of {', '.join(INTEGRATORS)}")
        if chosen == "stormer" and len(system.coordinates) != system.n:
            raise ValueError("stormer needs coordinates whose derivatives are the speeds, which quaternion joints do not have: use adams")
        if chosen == "stormer" and method in HAMILTON:
            raise ValueError(f"stormer integrates q'' = f, a run in momenta by '{method}' has none: use adams")
        given = run.tolerances
        relative = number(tolerance, given.relative if given else None, 1e-8, "tolerance")
        absolute = number(None if tolerance is None else tolerance * 1e-2, given.absolute if given else None, 1e-10, "tolerance")
        interval = number(output_step, run.output_step, (end - begin) / SAMPLES or 1.0, "output_step")
        fixed = number(step, run.step, interval, "step")
        for name, value in (("output_step", interval), ("step", fixed), ("tolerance", relative)):
            if not value > 0.0:
                raise ValueError(f"{name} is {value:g}, expected a positive number")
        return cls(begin, end, interval, chosen, method, relative, absolute, fixed, largest_step or 0.0)

    def times(self) -> np.ndarray:
        """Output instants: multiples of the output step from the start, and the stop time."""
        count = int((self.stop_time - self.start_time) / self.output_step * (1.0 + 1e-12))
        times = self.start_time + self.output_step * np.arange(count + 1)
        if self.stop_time - times[-1] > 1e-9 * self.output_step:
            return np.append(times, self.stop_time)
        times[-1] = self.stop_time
        return times


def simulate(
    system: System, options: Options, inputs: Mapping[str, float | Callable[[float], float]], progress: Callable[[float], None] | None
) -> Result:
    """Advance from output to output; an interrupt keeps what was computed."""
    unit = make_unit(system, options.integrator, options.method)
    run = Run(unit)
    unknown = set(inputs) - set(unit.compiled[0].inputs)
    if unknown:
        known = ", ".join(unit.compiled[0].inputs) or "none"
        raise KeyError(f"'{sorted(unknown)[0]}' is not an input; inputs: {known}")
    moving = {name: value for name, value in inputs.items() if callable(value)}
    set_options(run, options, bool(moving))
    times = options.times()
    result = blank(unit, options, times)
    check(run, run.call("unit_start", 0, options.start_time))
    for name, value in inputs.items():
        run.set_input(name, float(value(options.start_time)) if callable(value) else float(value))
    if inputs:
        check(run, run.call("unit_refresh", 0, options.start_time))
    result.record(run, 0)
    began = time.perf_counter()
    failure: EvaluationError | None = None
    try:
        for k in range(1, times.size):
            for name, value in moving.items():
                give_sloped(run, name, value, float(times[k - 1]), float(times[k]))
            advance(run, result, float(times[k]))
            result.record(run, k)
            collect_events(run, result)
            if progress is not None:
                progress(float(times[k]))
    except (KeyboardInterrupt, EvaluationError) as error:
        result.truncate()
        result.interrupted = str(error) or "interrupted"
        failure = error if isinstance(error, EvaluationError) else None
    collect_events(run, result)
    result.finish(run, time.perf_counter() - began)
    if failure is not None:
        failure.result = result
        raise failure
    return result


def advance(run: Run, result: Result, time: float) -> None:
    """To the next output; a run in stages stops before and after every event, so that the result knows the values there."""
    option = STOP_AROUND_EVENT if len(run.unit.stages) > 1 else STOP_BEFORE_FULL
    while (status := run.call("unit_advance", option, time)) == Status.EVENT:
        result.note(run)
        collect_events(run, result)
    check(run, status)


def blank(unit: Unit, options: Options | None, times: np.ndarray) -> Result:
    """A result without numbers."""
    table = np.full((times.size, len(unit.columns) + len(Result.EXTRA)), np.nan)
    return Result(unit, times, table, options, Replay(unit))


def give_sloped(run: Run, name: str, value: Callable[[float], float], begin: float, end: float) -> None:
    """An input that moves on a straight line between two outputs."""
    first = float(value(begin))
    run.set_input(name, first)
    slopes = int(run.unit.ints[U.U_AT_SLOPES])
    run.work[slopes + run.unit.compiled[0].inputs.index(name)] = (float(value(end)) - first) / (end - begin)


def set_options(run: Run, options: Options, moving: bool) -> None:
    """Write the options of the integrator."""
    w = run.work
    w[U.V_RELATIVE], w[U.V_ABSOLUTE] = options.relative, options.absolute
    w[U.V_STEP], w[U.V_LARGEST_STEP] = options.step, options.largest_step
    held = bool(run.unit.description.actuators)  # what actuators hold changes at every output
    w[U.V_SOFT] = 0.0 if moving or held or options.integrator in FIXED else 1.0


def check(run: Run, status: int) -> None:
    """Raise for anything but success, with the time at which it happened."""
    if status not in (Status.OK, Status.EVENT):
        stage = int(run.work[U.V_STAGE])
        head = np.zeros(4)
        head[0] = run.work[U.V_ITEM]
        text = message(status, head, run.unit.compiled[stage])
        raise EvaluationError(f"at t = {run.work[U.V_TIME]:.9g}: {text}", Status(status))


def collect_events(run: Run, result: Result) -> None:
    """Take over events that were logged since the last call."""
    unit = run.unit
    total = int(run.work[U.V_EVENTS])
    run.work[U.V_TOLD] = total
    capacity, first = int(unit.ints[U.U_EVENTS]), int(unit.ints[U.U_AT_EVENTS])
    names = unit.stage_names
    for k in range(max(len(result.events), total - capacity), total):
        e = run.work[first + U.EVENT * (k % capacity) :][: U.EVENT]
        kind = "stage" if e[1] == U.E_STAGE else "reset"
        number = int(e[2])
        cause = unit.compiled[number - (kind == "stage")].guards[int(e[3])]
        books = tuple(map(float, e[4:9])), tuple(map(float, e[9:14]))
        result.events.append(Event(float(e[0]), kind, names[number], number, *books, cause, int(e[14])))
