"""Motion with the equations resolved by a chosen form: Lagrangian in (q, u), Hamiltonian in (q, p).

For studies of the forms, on trees without stages, events or first-order states; the default engine integrates everything else. Rates of coordinates
and all columns come from the entry points of the unit, only the dynamics from the form. Explicit Runge-Kutta of order 8 (scipy's DOP853).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from kinetree.models.result import Result
from kinetree.models.simulation import Options, blank, check, set_options
from kinetree.models.status import EvaluationError
from kinetree.models.system import HAMILTON, System
from kinetree.models.unit import Run, make_unit
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

Inputs = Mapping[str, float | Callable[[float], float]]


def simulate_by_form(system: System, options: Options, inputs: Inputs, progress: Callable[[float], None] | None) -> Result:
    """Integrate with `options.method`; the integrator is DOP853 at the tolerances of the options."""
    from scipy.integrate import DOP853

    refuse(system, options.method)
    unit = make_unit(system, "rk45")
    run = Run(unit)
    set_options(run, options, True)
    check(run, run.call("unit_start", 0, options.start_time))
    times = options.times()
    result = blank(unit, options, times)
    nq, hamiltonian = len(system.coordinates), options.method in HAMILTON
    q, u = system.start()

    def given(t: float) -> dict[str, float]:
        return {name: float(value(t)) if callable(value) else float(value) for name, value in inputs.items()}

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        if hamiltonian:
            speeds, second = system.hamilton(t, y[:nq], y[nq:], method=options.method, inputs=given(t))
        else:
            speeds, second = y[nq:], system.accelerations(t, y[:nq], y[nq:], given(t), options.method)
        return np.concatenate([coordinate_rates(run, t, y[:nq], speeds), second])

    def write(t: float, y: np.ndarray, row: int) -> None:
        speeds = system.hamilton(t, y[:nq], y[nq:], method=options.method, inputs=given(t))[0] if hamiltonian else y[nq:]
        for name, value in given(t).items():
            run.set_input(name, value)
        coordinate_rates(run, t, y[:nq], speeds)
        result.record(run, row)

    began = time.perf_counter()
    start = np.concatenate([q, system.momenta(options.start_time, q, u) if hamiltonian else u])
    write(times[0], start, 0)
    method = DOP853(rates, times[0], start, times[-1], rtol=max(options.relative, 1e-13), atol=options.absolute)
    k = 1
    while k < times.size:
        problem = method.step()
        if problem:
            raise EvaluationError(f"at t = {method.t:.9g}: {problem}", Status.STEP_TOO_SMALL)
        dense = method.dense_output()
        while k < times.size and (times[k] <= method.t or method.status == "finished"):
            write(times[k], dense(times[k]), k)
            k += 1
            if progress is not None:
                progress(float(times[k - 1]))
    result.finish(run, time.perf_counter() - began)
    return result


def refuse(system: System, method: str) -> None:
    """What only the default engine can integrate."""
    d = system.description
    for what, there in (
        ("closed loops", system.compiled.loops),
        ("stages", d.stages),
        ("events", d.events),
        ("first-order states", system.compiled.states),
    ):
        if there:
            raise ValueError(f"method '{method}' integrates trees without {what}: use auto or DEC")


def coordinate_rates(run: Run, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Rates of the coordinates at a state; the columns of the run are those of the state afterwards."""
    ints = run.unit.ints
    states, rates = int(ints[U.U_AT_STATES]), int(ints[U.U_AT_RATES])
    run.work[states : states + q.size + u.size] = np.concatenate([q, u])
    check(run, run.call("unit_derivatives", 0, t))
    return run.work[rates : rates + q.size].copy()
