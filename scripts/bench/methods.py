"""All integrators in one table, and a run of one of them on one of the test problems."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinetree.scripts.bench.problems import Problem, problem
from kinetree.solvers.integrate import controller
from kinetree.solvers.integrate.adams import adams_changed, adams_interpolate, adams_restart, adams_size, adams_start, adams_step
from kinetree.solvers.integrate.dense_output import sample
from kinetree.solvers.integrate.radau import radau_changed, radau_restart, radau_size, radau_start, radau_step
from kinetree.solvers.integrate.radau_dense import radau_interpolate
from kinetree.solvers.integrate.rk4 import rk4_changed, rk4_interpolate, rk4_restart, rk4_size, rk4_start, rk4_step
from kinetree.solvers.integrate.rk45 import rk45_changed, rk45_interpolate, rk45_restart, rk45_size, rk45_start, rk45_step
from kinetree.solvers.integrate.semi_implicit import (
    semi_implicit_changed,
    semi_implicit_interpolate,
    semi_implicit_restart,
    semi_implicit_size,
    semi_implicit_start,
    semi_implicit_step,
)
from kinetree.solvers.integrate.stormer import stormer_changed, stormer_restart, stormer_size, stormer_start, stormer_step
from kinetree.solvers.integrate.stormer_dense import stormer_interpolate


class Method(NamedTuple):
    """The kernels of an integrator."""

    size: Callable
    start: Callable
    step: Callable
    interpolate: Callable
    restart: Callable
    changed: Callable
    fixed: bool  # works with a fixed step


METHODS = {
    "adams": Method(adams_size, adams_start, adams_step, adams_interpolate, adams_restart, adams_changed, False),
    "rk45": Method(rk45_size, rk45_start, rk45_step, rk45_interpolate, rk45_restart, rk45_changed, False),
    "radau": Method(radau_size, radau_start, radau_step, radau_interpolate, radau_restart, radau_changed, False),
    "rk4": Method(rk4_size, rk4_start, rk4_step, rk4_interpolate, rk4_restart, rk4_changed, True),
    "stormer": Method(stormer_size, stormer_start, stormer_step, stormer_interpolate, stormer_restart, stormer_changed, True),
    "semi-implicit": Method(
        semi_implicit_size,
        semi_implicit_start,
        semi_implicit_step,
        semi_implicit_interpolate,
        semi_implicit_restart,
        semi_implicit_changed,
        True,
    ),
}


class Run(NamedTuple):
    """What a run gave."""

    status: int
    states: np.ndarray  # one row per output time
    steps: int
    evaluations: int
    rejected: int
    factorisations: int
    jacobians: int
    seconds: float


def memory(name: str, case: Problem, rtol: float = 1e-6, atol: float = 1e-6, h: float = 0.0, **header: float) -> np.ndarray:
    """Memory of a method with its options set; `header` names further numbers of the header in lower case."""
    n = len(case.start)
    mem = np.empty(METHODS[name].size(n))
    controller.set_options(mem, n, rtol, atol, h, 0.0)
    mem[controller.NQ] = mem[controller.NU] = case.coordinates
    for key, value in header.items():
        mem[getattr(controller, key.upper())] = value
    return mem


def run(name: str, case: Problem, times: np.ndarray, mem: np.ndarray) -> Run:
    """Integrate from t = 0 over the output times."""
    method, start = METHODS[name], np.array(case.start)
    out = np.full(len(times) * len(start), np.nan)
    clock = time.perf_counter()
    status = sample(out, times, method.start, method.step, method.interpolate, mem, problem, case.context, 0.0, start, 1e8)
    clock = time.perf_counter() - clock
    counts = [int(mem[i]) for i in (controller.STEPS, controller.EVALUATIONS, controller.REJECTED, controller.FACTORISATIONS, controller.JACOBIANS)]
    return Run(status, out.reshape(len(times), -1), *counts, clock)
