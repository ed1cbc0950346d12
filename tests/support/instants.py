"""What a run does at the instants of its events: the columns and books before and after each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.models import load
from kinetree.models.engine.status import check_status
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.models.system.system import System
from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status
from kinetree.solvers.model_records import HEAD
from kinetree.solvers.unit_layout import STOP_AROUND_EVENT


@dataclass
class Instant:
    """Time and columns by name before and after; several links of a chain are one instant."""

    time: float
    before: dict[str, float]
    after: dict[str, float]


def instants(
    description: dict[str, Any] | System,
    stop: float,
    integrator: str = "adams",
    tolerance: float = 1e-10,
) -> list[Instant]:
    """Run to `stop` in one advance and collect every event on the way."""
    system = description if isinstance(description, System) else load(description).compile()
    run = Run(make_unit(system, integrator))
    run.head.relative, run.head.absolute, run.head.step, run.head.soft = (
        tolerance,
        1e-2 * tolerance,
        1e-2,
        1.0,
    )
    checked(run, run.call("unit_start"))
    found, before = [], {}
    while (status := run.call("unit_advance", STOP_AROUND_EVENT, stop)) == Status.EVENT:
        here = {
            column.name: float(value)
            for column, value in zip(run.unit.columns, run.columns, strict=True)
        }
        if run.head.pending == U.PENDING_EVENT:
            before = here
        else:
            found.append(Instant(float(run.head.event_time), before, here))
    checked(run, status)
    return found


def checked(run: Run, status: int) -> None:
    """Raise for anything but success."""
    head = HEAD.of(np.zeros(HEAD.size))
    head.item = run.head.item
    check_status(status, head, run.unit.compiled[int(run.head.stage)])


def at(instant: dict[str, float], names: tuple[str, ...]) -> np.ndarray:
    """Some columns as an array."""
    return np.array([instant[name] for name in names])
