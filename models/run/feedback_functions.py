"""Inputs as functions of time and measured columns: a controller in Python, sampled at the output
rows.

At every row the functions read the columns of that row and return inputs, which are held until the
next row: the output step is the controller's period.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kinetree.models.run.simulation_unit import Run, Unit

Law = Callable[[float, Mapping[str, float]], Any]


class Measured(Mapping[str, float]):
    """The columns of the current row by name: coordinates, speeds, states and outputs."""

    def __init__(self, run: Run):
        self._run = run
        self._places = {column.name: k for k, column in enumerate(run.unit.columns)}

    def __getitem__(self, name: str) -> float:
        if name not in self._places:
            from kinetree.models.language.errors import suggestion

            raise KeyError(f"'{name}' is not measured; {suggestion(name, tuple(self._places))}")
        return float(self._run.columns[self._places[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Feedback:
    """Inputs of a run that are functions of measured columns, evaluated at every row."""

    def __init__(self, whole: Law | None, single: dict[str, Law], unit: Unit):
        self.whole, self.single = whole, single
        self.known = unit.compiled[0].inputs

    def give(self, run: Run, t: float) -> bool:
        """Set the inputs computed from the measurements at t; return whether one has changed."""
        measured = Measured(run)
        given = dict(self.whole(t, measured) or {}) if self.whole else {}
        given |= {name: law(t, measured) for name, law in self.single.items()}
        changed = False
        for name, value in given.items():
            if name not in self.known:
                known = ", ".join(self.known) or "none"
                raise KeyError(f"'{name}' is not an input; inputs: {known}")
            number = float(value)
            if not math.isfinite(number):
                raise ValueError(
                    f"input '{name}' is {number} at t = {t:.9g}, expected a finite number"
                )
            changed |= number != run.work[run.unit.register(name)]
            run.set_input(name, number)
        return changed


def takes_measurements(value: object) -> bool:
    """Return whether a function takes two arguments, time and measurements."""
    if not callable(value):
        return False
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # of a function that is built in
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [each for each in parameters if each.kind in kinds and each.default is each.empty]
    return len(wanted) == 2


def split_inputs(
    inputs: Mapping[str, Any] | Law, unit: Unit
) -> tuple[dict[str, Any], Feedback | None]:
    """Split inputs into those given as numbers or functions of time and those computed from
    measurements.
    """
    if callable(inputs):
        return {}, Feedback(inputs, {}, unit)
    single = {name: value for name, value in inputs.items() if takes_measurements(value)}
    rest = {name: value for name, value in inputs.items() if name not in single}
    return rest, Feedback(None, single, unit) if single else None
