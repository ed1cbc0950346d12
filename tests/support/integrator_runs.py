"""Shared by the tests of integrators: slopes and coefficient runs."""

import numpy as np

from kinetree.scripts.bench.methods import memory, run
from kinetree.scripts.bench.problems import Problem


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
