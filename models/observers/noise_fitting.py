"""Maximum-likelihood fit of sensor and process noise to a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import SPEED_NOISE, Recorded


def fit_densities(
    problem: EstimationProblem,
    record: Recorded,
    evaluations: int = 40,
    progress: Callable[[float], None] = lambda time: None,
) -> tuple[EstimationProblem, dict[str, float]]:
    """Return the problem with the sensor and process noise under which the measurements are most
    likely, and the factors found.

    There is one factor for the noise of every sensor, and one for all process noise densities.
    """
    from scipy.optimize import minimize

    setup = problem.setup
    keys = [f"noise of {sensor.name}" for sensor in setup.sensors] + ["process"]

    def scaled(logarithms: np.ndarray) -> EstimationProblem:
        factors = np.exp(logarithms)
        sensors = tuple(
            replace(sensor, noise=sensor.noise * float(factor))
            for sensor, factor in zip(setup.sensors, factors, strict=False)
        )
        process = {"speeds": SPEED_NOISE, **setup.process}
        return EstimationProblem(
            problem.system,
            replace(
                setup,
                sensors=sensors,
                process={name: value * float(factors[-1]) for name, value in process.items()},
            ),
        )

    def cost(logarithms: np.ndarray) -> float:
        try:
            return -scaled(logarithms).run(record, progress=progress).log_likelihood
        except ArithmeticError:
            return 1e300

    start = np.zeros(len(keys))
    simplex = np.vstack((start, start + 0.7 * np.eye(len(keys))))
    found = minimize(
        cost,
        start,
        method="Nelder-Mead",
        options={"maxfev": evaluations, "initial_simplex": simplex, "xatol": 0.05, "fatol": 0.1},
    )
    return scaled(found.x), dict(zip(keys, map(float, np.exp(found.x)), strict=True))
