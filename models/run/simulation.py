"""Simulation of a unit over time, collected into a Result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.models.checks.elements_check import MOST_ROWS
from kinetree.models.checks.run_check import DEFAULT_ROWS
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.engine.status import EvaluationError
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.result.events import Events
from kinetree.models.result.result import Event, Result
from kinetree.models.run.derived_columns import DerivedColumns
from kinetree.models.run.failure_messages import failure_message
from kinetree.models.run.feedback_functions import Feedback, Law, split_inputs
from kinetree.models.run.input_functions import Sampled, input_pieces, polynomial_value
from kinetree.models.run.keyboard_interrupt import interruptible
from kinetree.models.run.simulation_unit import Run, Unit, make_unit
from kinetree.models.system.forms import HAMILTON, ITERATED
from kinetree.models.system.system import System
from kinetree.solvers import unit_layout as U
from kinetree.solvers.integrate.kinds import FIXED, NAMES
from kinetree.solvers.layout import CURVE, Status
from kinetree.solvers.model_records import HEAD

ABSOLUTE = 1e-2  # the absolute tolerance that is not given, in units of the relative one
Inputs = Mapping[str, float | Callable[[float], float] | Law] | Law
Choose = Callable[[Run, int, float], None]  # given the rows done and the part of the run they are
STEP_LIMIT = 1e6  # steps of the integrator in one output interval


@dataclass
class Options:
    """All settings of a run, from the call or from the table [run]."""

    start_time: float
    stop_time: float
    output_step: float
    integrator: str
    method: str
    relative: float
    absolute: float
    step: float
    largest_step: float
    step_limit: float = STEP_LIMIT
    itr_tolerance: float = 0.0  # 0: rounding level

    @classmethod
    def of(
        cls,
        system: System,
        stop_time,
        start_time,
        output_step,
        integrator,
        method,
        tolerance,
        step,
        largest_step,
        step_limit=None,
        itr_tolerance=None,
    ) -> Options:
        """Return the settings of a call, with missing ones from the description."""
        run, values = system.description.run, parameter_values(system.description)

        def number(given: float | None, default, otherwise: float, name: str) -> float:
            value = (
                float(given)
                if given is not None
                else otherwise
                if default is None
                else evaluate_constant(default, values)
            )
            if not math.isfinite(value):
                raise ValueError(f"{name} is {value}, expected a finite number")
            return value

        begin = number(start_time, run.start_time, 0.0, "start_time")
        end = number(stop_time, run.stop_time, begin + 10.0, "stop_time")
        if end < begin:
            raise ValueError(f"stop_time is {end:g}, before the start at {begin:g}")
        chosen = run.integrator if integrator == "auto" else integrator
        form = run.method if method == "auto" else method
        if chosen not in NAMES:
            raise ValueError(f"unknown integrator '{chosen}', expected one of {', '.join(NAMES)}")
        if chosen == "stormer" and form in HAMILTON:
            raise ValueError(
                f"stormer integrates q'' = f, a run in momenta by '{form}' has none: use adams"
            )
        given = run.tolerances
        relative = number(tolerance, given.relative if given else None, 1e-8, "tolerance")
        absolute = number(
            None if tolerance is None else ABSOLUTE * relative,
            given.absolute if given else None,
            ABSOLUTE * relative,
            "tolerance",
        )
        itr = number(itr_tolerance, run.itr_tolerance, 0.0, "itr_tolerance")
        if itr_tolerance is not None or run.itr_tolerance is not None:
            check_itr_tolerance(itr, form, itr_tolerance is not None)
        limit = number(step_limit, run.step_limit, STEP_LIMIT, "step_limit")
        interval = number(
            output_step, run.output_step, (end - begin) / DEFAULT_ROWS or 1.0, "output_step"
        )
        fixed = number(step, run.step, interval, "step")
        for name, value in (
            ("output_step", interval),
            ("step", fixed),
            ("tolerance", relative),
            ("absolute tolerance", absolute),
            ("step_limit", limit),
        ):
            if not value > 0.0:
                raise ValueError(f"{name} is {value:g}, expected a positive number")
        if not (end - begin) / interval <= MOST_ROWS:
            raise ValueError(
                f"output_step is {interval:g}: {(end - begin) / interval:.3g} rows, expected at most {MOST_ROWS}"
            )
        if not relative < 1.0:
            raise ValueError(
                f"tolerance is {relative:g}, expected a number below 1: it is relative to the size of the states"
            )
        return cls(
            begin,
            end,
            interval,
            chosen,
            form,
            relative,
            absolute,
            fixed,
            largest_step or 0.0,
            limit,
            itr if form in ITERATED else 0.0,
        )

    def times(self) -> np.ndarray:
        """Return the output times: multiples of the output step from the start, and the stop time."""
        count = int((self.stop_time - self.start_time) / self.output_step * (1.0 + 1e-12))
        times = self.start_time + self.output_step * np.arange(count + 1)
        if self.stop_time - times[-1] > 1e-9 * self.output_step:
            return np.append(times, self.stop_time)
        times[-1] = self.stop_time
        return times


def check_itr_tolerance(value: float, form: str, called: bool) -> None:
    """Raise for an invalid ITR residual, or one given for another form than ITR (variable-metric
    iteration).
    """
    if not 0.0 < value < 1.0:
        raise ValueError(
            f"itr_tolerance is {value:g}: expected a relative residual between 0 and 1, "
            "or nothing for rounding level"
        )
    if called and form not in ITERATED:
        raise ValueError(
            f"itr_tolerance is for the methods {', '.join(ITERATED)}, this run is by '{form}': "
            "leave it out, or choose one of them by `method`"
        )


def write_itr_tolerance(run: Run, value: float) -> None:
    """Write the residual at which ITR (variable-metric iteration) stops; a stage change clears it
    until the next row.
    """
    HEAD.of(run.work, int(run.unit.header.at_workspace)).itr_tolerance = value


def simulate(
    system: System,
    options: Options,
    inputs: Inputs,
    progress: Callable[[float], None] | None,
    attach: Callable[[Unit], object] | None = None,
    stream: Path | None = None,
    choice: Choose | None = None,
) -> Result:
    """Simulate from output to output and return the result; an interrupt keeps the rows computed.
    `choice` may switch the unit to specialised code after any row.
    """
    unit = make_unit(system, options.integrator, options.method)
    if attach is not None:
        attach(unit)
    run = Run(unit)
    unknown = (set() if callable(inputs) else set(inputs)) - set(unit.compiled[0].inputs)
    if unknown:
        known = ", ".join(unit.compiled[0].inputs) or "none"
        raise KeyError(f"'{sorted(unknown)[0]}' is not an input; inputs: {known}")
    inputs, feedback = split_inputs(inputs, unit)
    moving = {
        name: Sampled(name, value, options.relative)  # pyright: ignore[reportArgumentType]
        for name, value in inputs.items()
        if callable(value)
    }
    write_integrator_options(run, options, bool(moving) or feedback is not None)
    times = options.times()
    result = empty_result(unit, options, times, stream)
    result.inputs, result.feedback = dict(inputs), feedback is not None
    given = {
        name: moving[name].at(options.start_time) if name in moving else float(value)
        for name, value in inputs.items()
    }  # type: ignore[arg-type]
    raise_on_failure(run, run.begin(options.start_time, given))
    apply_feedback(run, feedback, options.start_time)
    result.record(run, 0)
    began = time.perf_counter()
    failed: EvaluationError | None = None
    try:
        with interruptible(run.work):
            for k in range(1, times.size):
                if options.itr_tolerance:
                    write_itr_tolerance(run, options.itr_tolerance)
                advance_to_row(run, result, moving, float(times[k - 1]), float(times[k]))
                apply_feedback(run, feedback, float(times[k]))
                result.record(run, k)
                collect_events(run, result.events)
                if choice is not None:
                    choice(run, k, k / (times.size - 1))
                if progress is not None:
                    progress(float(times[k]))
    except (KeyboardInterrupt, EvaluationError) as error:
        result.truncate()
        result.interrupted = str(error) or "interrupted"
        failed = error if isinstance(error, EvaluationError) else None
    collect_events(run, result.events)
    result.finish(run, time.perf_counter() - began)
    if failed is not None:
        failed.result = result
        raise failed
    return result


def apply_feedback(run: Run, feedback: Feedback | None, t: float) -> None:
    """Set the inputs computed from measurements; the row recorded next contains them."""
    if feedback is not None and feedback.give(run, t):
        raise_on_failure(run, run.call("unit_refresh", 0, t))


def empty_result(
    unit: Unit, options: Options | None, times: np.ndarray, path: Path | None = None
) -> Result:
    """Return a result without rows, optionally backed by a file."""
    result = Result(unit, times, np.empty((0, 0)), options, DerivedColumns(unit))
    result.begin_table(times.size, path)
    return result


def advance_to_row(
    run: Run, result: Result, moving: dict[str, Sampled], begin: float, end: float
) -> None:
    """Advance over one output interval, piece by piece if inputs are functions of time."""
    if not moving:
        return advance(run, result, 0, end)
    option, origin, reached = 0, begin, dict.fromkeys(moving, np.nan)
    for until, polynomials in input_pieces(moving, begin, end):
        for name, coefficients in polynomials.items():
            write_input_polynomial(run, name, coefficients)
            reached[name] = polynomial_value(coefficients, until - origin)
        advance(run, result, option, until)
        option, origin = U.CONTINUED, until
    # the row shows what follows a jump at its instant; without one the forces of couplings keep the rates of the inputs they follow
    if not run.unit.compiled[0].counts["nfi"] or any(
        not value.near(reached[name], value.at(end)) for name, value in moving.items()
    ):
        for name, value in moving.items():
            run.set_input(name, value.at(end))
        raise_on_failure(run, run.call("unit_refresh", 0, end))


def advance(run: Run, result: Result, option: int, until: float) -> None:
    """Advance to a time; runs with stages stop before and after every event to record values."""
    option |= U.STOP_AROUND_EVENT if len(run.unit.stages) > 1 else U.STOP_BEFORE_FULL
    while (status := run.call("unit_advance", option, until)) == Status.EVENT:
        result.note(run)
        collect_events(run, result.events)
    if status == Status.CANCELLED:
        raise KeyboardInterrupt
    raise_on_failure(run, status)


def write_input_polynomial(run: Run, name: str, coefficients: np.ndarray) -> None:
    """Set an input to a polynomial in time for the next advance."""
    k, header = run.unit.compiled[0].inputs.index(name), run.unit.header
    run.set_input(name, float(coefficients[0]))
    run.work[int(header.at_slopes) + k] = coefficients[1]
    first = int(header.at_curves) + CURVE * k
    run.work[first : first + CURVE] = coefficients[2:]
    run.head.curved = 1.0


def write_integrator_options(run: Run, options: Options, moving: bool) -> None:
    """Write the options of the integrator to the run."""
    w = run.head
    w.relative, w.absolute = options.relative, options.absolute
    w.step, w.largest_step = options.step, options.largest_step
    w.budget = options.step_limit
    held = bool(run.unit.description.actuators)  # what actuators hold changes at every output
    w.soft = 0.0 if moving or held or options.integrator in FIXED else 1.0


def raise_on_failure(run: Run, status: int) -> None:
    """Raise an error with the current time for any failure status."""
    if status not in (Status.OK, Status.EVENT):
        text = failure_message(run, Status(status))
        raise EvaluationError(f"at t = {run.head.time:.9g}: {text}", Status(status))


def collect_events(run: Run, events: list[Event] | Events) -> None:
    """Append the events that were logged since the last call."""
    unit = run.unit
    total = int(run.head.events)
    run.head.told = total
    if total == len(events):
        return
    capacity, first = int(unit.header.logged), int(unit.header.at_events)
    names = unit.stage_names
    for k in range(max(len(events), total - capacity), total):
        e = U.EVENT.of(run.work, first + U.EVENT.size * (k % capacity))
        kind = "stage" if e.kind == U.E_STAGE else "reset"
        number = int(e.stage)
        cause = unit.compiled[number - (kind == "stage")].guards[int(e.guard)]
        books = tuple(map(float, e.before)), tuple(map(float, e.after))
        events.append(
            Event(float(e.time), kind, names[number], number, *books, cause, int(e.count))
        )
