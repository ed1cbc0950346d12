"""Shared by the tests of integrators: methods, problems and runs of the bench as plain Python, and slopes of errors.

A step takes a fraction of a millisecond as plain Python, compiling one method for the problems takes seconds: the runs of all tests are shorter.
"""

from types import ModuleType
from typing import Any

import numpy as np
from plain_kernels import PLAIN, plain

from kinetree.scripts.bench.integrator_problems import Problem


def plain_bench(name: str) -> Any:
    """A module of the bench on plain kernels."""
    whole = f"kinetree.scripts.bench.{name}"
    if whole not in PLAIN.modules:
        PLAIN.modules[whole] = PLAIN.executed(whole, ModuleType(whole))
    return PLAIN.modules[whole]


problem = plain_bench("integrator_problems").problem
METHODS, memory, run = (
    getattr(plain_bench("integrator_list"), name) for name in ("METHODS", "memory", "run")
)
CONTROLLER = plain("integrate.controller")
block, cut, state_of, step_of, time_of = (
    getattr(CONTROLLER, name) for name in ("block", "cut", "state_of", "step_of", "time_of")
)
is_smooth, is_stiff = CONTROLLER.is_smooth, CONTROLLER.is_stiff


def slope(steps: np.ndarray, errors: np.ndarray) -> float:
    """Exponent of the power law through the points."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def end_errors(name: str, case: Problem, steps: list[float], **options: float) -> np.ndarray:
    """Largest error at the end of a run for each step size."""
    errors = []
    for h in steps:
        result = run(name, case, np.array([case.stop]), memory(name, case, h=h, **options))
        assert result.status == 0
        errors.append(np.abs(result.states[-1] - case.end).max())
    return np.array(errors)
