"""A mechanism compiled as for its FMU and stepped in this process as a host would step the FMU: the
reference of `kinetree verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from kinetree.fmu.variables import Access, Table, variable_table
from kinetree.models.engine.entry_points import bind
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.failure_messages import failure_message
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

Call = Callable[[int, float], int]
Binder = Callable[[str, np.ndarray, np.ndarray, np.ndarray], Call]


def binder_of(unit: Any) -> Binder:
    """Return the function that binds the engine entries of a unit; linear chains use those of the
    FMU shell.
    """
    if getattr(unit, "chain", None) is None:
        return bind
    from kinetree.fmu.native.shell import bound

    return bound


class InProcess:
    """A compiled unit with its table of variables and the engine's entries."""

    def __init__(self, unit: Any, binder: Binder | None = None):
        self.unit, self.table = unit, variable_table(unit)
        self.places = {v.name: v for v in self.table.variables}
        self.places |= {name: self.places[new] for name, new in self.table.renamed.items()}
        self.work = np.zeros(unit.work_size)
        self.head = U.UNIT_HEAD.of(self.work)
        self._binder = binder or binder_of(unit)
        self._calls: dict[str, Call] = {}
        self.reset()

    def reset(self) -> None:
        """Reset the unit to its state before the start."""
        self.call("reset", 0, 0.0)
        for place, value in self.unit.options.items():
            self.work[place] = value

    def call(self, name: str, option: int, t: float) -> None:
        """Call an entry of the engine; raise an error unless it succeeds."""
        if name not in self._calls:
            self._calls[name] = self._binder(
                f"unit_{name}", self.unit.ints, self.unit.floats, self.work
            )
        status = self._calls[name](option, t)
        if status:
            raise EvaluationError(
                f"the model in this process, at t = {self.head.time:.9g}: {self.problem(Status(status))}",
                Status(status),
            )

    def problem(self, status: Status) -> str:
        """Return the error message of a status."""
        if not getattr(self.unit, "compiled", None):
            return f"{status.name.lower().replace('_', ' ')}, item {int(self.head.item)}"
        return failure_message(self, status)

    def start(
        self, values: Mapping[str, float] | None = None, start_time: float = 0.0
    ) -> InProcess:
        """Set start values and initialize."""
        for name, value in (values or {}).items():
            v = self.places[name]
            self.work[v.start_at if v.access == Access.INPUT else v.write] = value
        self.call("start", 0, start_time)
        return self

    def set(self, values: Mapping[str, float]) -> None:
        """Set inputs and tunable parameters by name."""
        prepare = False
        for name, value in values.items():
            self.work[self.places[name].write] = value
            prepare = prepare or self.places[name].access != Access.INPUT
        self.call("prepare" if prepare else "refresh", 0, float(self.head.time))

    def step(self, target: float) -> None:
        """Advance to the time `target`."""
        self.call("advance", 0, target)

    def get(self, names: Iterable[str]) -> list[float]:
        """Return the real variables by name."""
        return [float(self.work[self.places[name].at]) for name in names]


__all__ = ["InProcess", "Table"]
