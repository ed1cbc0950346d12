"""List of all integrators, and a function that runs one of them on a test problem."""

import time
from typing import NamedTuple

import numpy as np

from kinetree.scripts.bench.integrator_problems import Problem, problem
from kinetree.solvers.instance.integrators import KERNELS
from kinetree.solvers.integrate import controller
from kinetree.solvers.integrate.dense_output import sample
from kinetree.solvers.integrate.interface import Kernels
from kinetree.solvers.integrate.kinds import FIXED as FIXED
from kinetree.solvers.integrate.radau_dense import radau_interpolate

# the collocation polynomial alone: what the refined one of runs is compared with
METHODS: dict[str, Kernels] = KERNELS | {
    "radau": KERNELS["radau"]._replace(interpolate=radau_interpolate)
}


class Run(NamedTuple):
    """The states, counters and status of one run."""

    status: int
    states: np.ndarray  # one row per output time
    steps: int
    evaluations: int
    rejected: int
    factorisations: int
    jacobians: int
    seconds: float


def memory(
    name: str,
    case: Problem,
    rtol: float = 1e-6,
    atol: float = 1e-6,
    h: float = 0.0,
    **header: float,
) -> np.ndarray:
    """Return the work array of an integrator with its options set; `header` gives further header
    entries by their names in lower case.
    """
    n = len(case.start)
    mem = np.empty(METHODS[name].size(n))
    controller.set_options(mem, n, rtol, atol, h, 0.0)
    mem[controller.NQ] = mem[controller.NU] = case.coordinates
    for key, value in header.items():
        mem[getattr(controller, key.upper())] = value
    return mem


def run(name: str, case: Problem, times: np.ndarray, mem: np.ndarray) -> Run:
    """Integrate a test problem from t = 0 over the output times."""
    method, start = METHODS[name], np.array(case.start)
    out = np.full(len(times) * len(start), np.nan)
    clock = time.perf_counter()
    status = sample(
        out,
        times,
        method.start,
        method.step,
        method.interpolate,
        mem,
        problem,
        case.context,
        0.0,
        start,
        1e8,
    )
    clock = time.perf_counter() - clock
    steps, evaluations, rejected, factorisations, jacobians = (
        int(mem[i])
        for i in (
            controller.STEPS,
            controller.EVALUATIONS,
            controller.REJECTED,
            controller.FACTORISATIONS,
            controller.JACOBIANS,
        )
    )
    return Run(
        status,
        out.reshape(len(times), -1),
        steps,
        evaluations,
        rejected,
        factorisations,
        jacobians,
        clock,
    )
