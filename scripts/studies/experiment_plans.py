"""Planning of experiments for identification.

stop_time = 4.0
output_step = 0.01
[noise]                                 # of a row, by column
luff = 1e-3
[experiments.step]                      # as many as wanted
inputs = { "lift.force" = "if(t < 1, 4256, 5000)" }       # numbers or laws of t
set = { load_mass = 60.0 }              # parameters that hold in it
[experiments.sine]
inputs = { "lift.force" = "4256 + a*sin(2*pi*f*t)" }
vary = { a = [10, 500], f = [0.1, 5] }  # numbers that are searched between bounds for the most information
most = { luff = 0.05 }                  # by which columns may move from their start
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from kinetree.models.analysis.experiment_information import Experiment
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, names, parse
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.input_files import FileTable, Positive, Real, checked, read_toml

if TYPE_CHECKING:
    from kinetree.models.expressions.nodes import Node
    from kinetree.models.system.mechanism import Mechanism


class Trial(FileTable):
    """One planned experiment."""

    inputs: dict[str, Real | str] = {}
    settings: dict[str, Real] = Field({}, alias="set")
    vary: dict[str, tuple[Real, Real]] = {}
    most: dict[str, Positive] = {}


class Plan(FileTable):
    """Settings of all planned experiments in a file."""

    stop_time: Positive
    output_step: Positive
    noise: Annotated[dict[str, Positive], Field(min_length=1)]
    experiments: Annotated[dict[str, Trial], Field(min_length=1)]


def told_by(mechanism: Mechanism, path: Path, wanted: list[str]) -> dict[str, Any]:
    """Return the predicted standard deviations of the parameters for every experiment and for all
    together, as plain data.
    """
    from kinetree.models.analysis.experiment_information import (
        combined_information,
        experiment_information,
    )
    from kinetree.models.analysis.identification import checked_parameters

    plan = checked(Plan, read_toml(path), str(path))
    numbers = {
        label: searched(mechanism, path, wanted, plan, label)
        for label, each in plan.experiments.items()
        if each.vary
    }
    trials = {
        label: experiment(
            plan.experiments[label], f"{path}: experiments.{label}", numbers.get(label, {})
        )
        for label in plan.experiments
    }
    found = experiment_information(
        mechanism, wanted, trials, plan.noise, plan.stop_time, plan.output_step
    )
    if len(found) > 1:
        found = {**found, "all together": combined_information(found)}
    values = checked_parameters(mechanism, wanted)
    rows = {
        label: {
            "deviations": {
                key: value if math.isfinite(value) else None
                for key, value in each.deviations.items()
            },
            "score": each.score(list(values.values())),
            **({"found": numbers[label]} if label in numbers else {}),
        }
        for label, each in found.items()
    }
    return {"parameters": values, "experiments": rows}


def experiment(trial: Trial, place: str, numbers: dict[str, float]) -> Experiment:
    """Return a planned experiment with given values of its named numbers."""
    return Experiment(
        {
            name: law_of(value, f"{place}.inputs.{name}", numbers)
            for name, value in trial.inputs.items()
        },
        trial.settings,
    )


def searched(
    mechanism: Mechanism, path: Path, wanted: list[str], plan: Plan, label: str
) -> dict[str, float]:
    """Search the named numbers of an experiment for the most information and return them."""
    from kinetree.scripts.studies.experiment_search import Wanted, best_excitation

    trial, place = plan.experiments[label], f"{path}: experiments.{label}"
    laws = [
        node_of(law, f"{place}.inputs.{given}")
        for given, law in trial.inputs.items()
        if isinstance(law, str)
    ]
    for name, (low, high) in trial.vary.items():
        if not low < high:
            raise BadInput(
                f"{place}.vary.{name}: expected two bounds, the lower one first, found {low:g} and {high:g}"
            )
        if not any(name in names(law) for law in laws):
            raise BadInput(f"{place}.vary.{name}: no law of its inputs has this number")
    task = Wanted(wanted, plan.noise, plan.stop_time, plan.output_step, trial.vary, trial.most)
    return best_excitation(mechanism, task, lambda numbers: experiment(trial, place, numbers))


def node_of(text: str, place: str) -> Node:
    """Parse the law of an input; a syntax error names its place in the file."""
    try:
        return parse(text)
    except ExpressionError as error:
        raise BadInput(f"{place}: {error.message}") from None


def law_of(
    value: float | str, place: str, numbers: dict[str, float]
) -> float | Callable[[float], float]:
    """Return a constant, or the function of time for a law of t that may contain named numbers."""
    if not isinstance(value, str):
        return value
    node = node_of(value, place)
    try:
        if names(node) - {"t", *numbers}:
            raise BadInput(f"{place}: expected a law of t alone, or of numbers in `vary`")
        evaluate_constant(node, {**numbers, "t": 0.0})
    except ExpressionError as error:
        raise BadInput(f"{place}: {error.message}") from None
    return lambda now: evaluate_constant(node, {**numbers, "t": float(now)})


def show_plan(content: dict[str, Any]) -> None:
    """Print the table of planned experiments."""
    from kinetree.scripts.reports.summary import show_table, text_table

    heads = ("experiment", *(f"± 1σ of {name}" for name in content["parameters"]), "score")
    rows = []
    for label, each in content["experiments"].items():
        cells = []
        for name, value in each["deviations"].items():
            size = abs(content["parameters"][name])
            cells.append(
                "not told"
                if value is None
                else f"{value:.3g}" + (f" ({100 * value / size:.2g} %)" if size else "")
            )
        where = ", ".join(f"{name} = {value:.4g}" for name, value in each.get("found", {}).items())
        rows.append((f"{label} ({where})" if where else label, *cells, f"{each['score']:.2f}"))
    show_table(text_table("Predicted accuracy of experiments", heads, rows))
