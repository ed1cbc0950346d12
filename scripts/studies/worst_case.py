"""The worst case of a study: the largest or smallest value of a measure over all parameter values
within their bounds.

Bounds: those of a list or a uniform distribution, three deviations of a normal one (factors of a
lognormal one). Differential evolution, with whole generations at once, finds worst cases at corners
of the box and inside it, without a proof of optimality. The worst value of margins and damping is
the smallest.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.scripts.measures.run_measures import parsed
from kinetree.scripts.measures.run_parts import counted_each
from kinetree.scripts.studies.optimise import Found, optimise
from kinetree.scripts.studies.optimise_file import Task, Variable
from kinetree.scripts.studies.samplers import Distribution
from kinetree.scripts.studies.study import Study
from kinetree.scripts.terminal.error_messages import BadInput

DEVIATIONS = 3.0
GENERATIONS = 40
SMALL_IS_BAD = ("damping", "gain_margin", "phase_margin", "delay_margin", "modulus_margin")
OPTIONS = ("stop_time", "output_step", "integrator", "tolerance", "inputs")


def bounds(values: list[float] | Distribution) -> tuple[float, float]:
    """Return the smallest and largest value of a parameter in the search."""
    if not isinstance(values, Distribution):
        return min(values), max(values)
    first, second = values.first, values.second
    if values.kind == "uniform":
        return first, second
    if values.kind == "normal":
        return first - DEVIATIONS * second, first + DEVIATIONS * second
    return first / second**DEVIATIONS, first * second**DEVIATIONS


def sign_of(measure: str) -> float:
    """Return 1 for measures whose smallest value is the worst, else -1."""
    return 1.0 if measure in SMALL_IS_BAD else -1.0


def worst_case(
    study: Study, measure: str, told: Callable[[float, float], None] = lambda done, best: None
) -> Found:
    """Search the worst value of a measure over the parameters of a study."""
    try:
        parsed(measure)
        if counted_each([measure]):
            raise ValueError(f"'{measure}': expected one measure, without `each`")
    except ValueError as error:
        raise BadInput(f"--worst: {error}") from None
    if study.correlated:
        raise BadInput(
            "--worst looks between the bounds of every parameter by itself: leave out [correlated]"
        )
    limits = {name: bounds(values) for name, values in study.vary.items()}
    for name, (low, high) in limits.items():
        if not low < high:
            raise BadInput(f"--worst: vary.{name} has one value only")
    variables = {
        name: Variable(low, high, 0.5 * (low + high)) for name, (low, high) in limits.items()
    }
    run = {key: value for key, value in study.run.items() if key in OPTIONS}
    how = {"seed": study.seed % 2**31, "iterations": GENERATIONS, "run": run}
    task = Task(
        study.source(), variables, {measure: sign_of(measure)}, {}, "differential-evolution", **how
    )
    return optimise(task, told)
