"""Search of the most informative experiment within bounds (D-optimal: largest det F of the Fisher
information F).

Differential evolution maximises the score of `models/analysis/experiment_information.py`, the mean
of log₁₀ of the information. A column that deviates more than allowed is penalised. The variables
are named numbers in the laws of inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.analysis.experiment_information import Experiment, experiment_information
from kinetree.models.analysis.identification import checked_parameters
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    from kinetree.models.system.mechanism import Mechanism

GENERATIONS, PEOPLE = 10, 6  # of the search; people per number
SEED = 1
WORST = 1e3  # score of what cannot be run


@dataclass(frozen=True)
class Wanted:
    """Settings of the search: parameters to identify, noise, duration, bounds of variables, allowed
    deviations.
    """

    parameters: list[str]
    noise: Mapping[str, float]
    stop_time: float
    output_step: float
    bounds: Mapping[str, tuple[float, float]]
    most: Mapping[str, float]


def best_excitation(
    mechanism: Mechanism, wanted: Wanted, made: Callable[[dict[str, float]], Experiment]
) -> dict[str, float]:
    """Return the values of the variables for which the experiment has the largest information."""
    from scipy.optimize import differential_evolution

    names, sizes = (
        list(wanted.bounds),
        list(checked_parameters(mechanism, wanted.parameters).values()),
    )

    def price(x: np.ndarray) -> float:
        numbers = dict(zip(names, map(float, x), strict=True))
        each = made(numbers)
        try:
            beyond = excess(mechanism, wanted, each)
            if beyond > 0.0:
                return WORST * (1.0 + beyond)
            found = experiment_information(
                mechanism,
                wanted.parameters,
                {"one": each},
                wanted.noise,
                wanted.stop_time,
                wanted.output_step,
            )["one"]
        except EvaluationError:
            return WORST * 10.0
        score = found.score(sizes)
        return -score if math.isfinite(score) else WORST

    found = differential_evolution(
        price,
        list(wanted.bounds.values()),
        maxiter=GENERATIONS,
        popsize=PEOPLE,
        rng=SEED,
        tol=1e-6,
        polish=False,
        init="sobol",
    )
    if found.fun >= WORST:
        limits = ", ".join(f"{name} within {value:g}" for name, value in wanted.most.items())
        raise BadInput(
            f"no experiment between the bounds of {', '.join(names)} determines the parameters"
            + (f" and keeps {limits}" if limits else "")
        )
    return dict(zip(names, map(float, found.x), strict=True))


def excess(mechanism: Mechanism, wanted: Wanted, each: Experiment) -> float:
    """Return the relative excess of the worst column over its allowed deviation; 0 if none exceeds
    it.
    """
    if not wanted.most:
        return 0.0
    system = mechanism.compile(**each.settings)
    result = raise_if_interrupted(
        system.simulate(
            stop_time=wanted.stop_time, output_step=wanted.output_step, inputs=dict(each.inputs)
        )
    )
    worst = 0.0
    for name, most in wanted.most.items():
        if name not in result:
            from kinetree.models.language.errors import suggestion

            raise BadInput(f"most: no column '{name}'; {suggestion(name, result.names)}")
        worst = max(worst, float(np.abs(result[name] - result[name][0]).max()) / most - 1.0)
    return worst
