"""Planned experiments: which of them tells which parameter how well, before anything is measured.

stop_time = 4.0
output_step = 0.01
[noise]                                 # of a row, by column
luff = 1e-3
[experiments.step]                      # as many as wanted
inputs = { "lift.force" = "if(t < 1, 4256, 5000)" }       # numbers or laws of t
set = { load_mass = 60.0 }              # parameters that hold in it
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from kinetree.models.expressions.text import ExpressionError, evaluate_constant, names, parse
from kinetree.scripts.terminal.failure import BadInput
from kinetree.scripts.terminal.tables import FileTable, Positive, Real, checked, read_toml

if TYPE_CHECKING:
    from kinetree.models.system.mechanism import Mechanism


class Trial(FileTable):
    """One experiment."""

    inputs: dict[str, Real | str] = {}
    settings: dict[str, Real] = Field({}, alias="set")


class Plan(FileTable):
    """What may be done."""

    stop_time: Positive
    output_step: Positive
    noise: Annotated[dict[str, Positive], Field(min_length=1)]
    experiments: Annotated[dict[str, Trial], Field(min_length=1)]


def told_by(mechanism: Mechanism, path: Path, wanted: list[str]) -> dict[str, Any]:
    """Deviations to expect of every experiment and of all together, as plain data."""
    from kinetree.models.analysis.experiments import Experiment, informed, together
    from kinetree.models.analysis.identification import checked_parameters

    plan = checked(Plan, read_toml(path), str(path))
    trials = {
        label: Experiment({name: law_of(value, f"{path}: experiments.{label}.inputs.{name}") for name, value in each.inputs.items()}, each.settings)
        for label, each in plan.experiments.items()
    }
    found = informed(mechanism, wanted, trials, plan.noise, plan.stop_time, plan.output_step)
    if len(found) > 1:
        found = {**found, "all together": together(found)}
    values = checked_parameters(mechanism, wanted)
    rows = {
        label: {
            "deviations": {key: value if math.isfinite(value) else None for key, value in each.deviations.items()},
            "score": each.score(list(values.values())),
        }
        for label, each in found.items()
    }
    return {"parameters": values, "experiments": rows}


def law_of(value: float | str, place: str) -> float | Callable[[float], float]:
    """A number, or a law of t as a function."""
    if not isinstance(value, str):
        return value
    try:
        node = parse(value)
        if names(node) - {"t"}:
            raise BadInput(f"{place}: expected a law of t alone")
        evaluate_constant(node, {"t": 0.0})
    except ExpressionError as error:
        raise BadInput(f"{place}: {error.message}") from None
    return lambda now: evaluate_constant(node, {"t": float(now)})


def show_plan(content: dict[str, Any]) -> None:
    """The table."""
    from rich.console import Console

    from kinetree.scripts.commands.identify import table

    heads = ("experiment", *(f"± 1σ of {name}" for name in content["parameters"]), "score")
    rows = []
    for label, each in content["experiments"].items():
        cells = []
        for name, value in each["deviations"].items():
            size = abs(content["parameters"][name])
            cells.append("not told" if value is None else f"{value:.3g}" + (f" ({100 * value / size:.2g} %)" if size else ""))
        rows.append((label, *cells, f"{each['score']:.2f}"))
    Console(highlight=False, soft_wrap=True).print(table("What experiments would tell", heads, rows))
