"""Derivatives of events: of the state afterwards by the state before and by the event time, and of
the condition.

The engine executes the event from neighbouring states in a copy of its memory. Whatever an event or
a stage change does is therefore differentiated as it is executed, by fourth-order differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.models.engine.entry_points import bind
from kinetree.models.expressions.internal_names import STAGE_START
from kinetree.models.gradients.trajectory import GradientStages, LocatedEvent
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U

DIFFERENCE_STEP = 2.0**-17  # relative; errors of fourth order lie below rounding
POINTS = (-2.0, -1.0, 1.0, 2.0)
SHRINK, TRIES = 2.0**-7, 3  # where a neighbour goes another way
SMOOTH, ROUNDING = 1e-2, 1e-12  # of first differences, of values: third ones of smooth functions
SLIGHT = 1e-6  # of a slope: smaller errors of it are no sign of a jump
MOMENT = 1.0  # s: instants are moved by DIFFERENCE_STEP of it, which late times hold exactly


class OtherWayError(ValueError):
    """Raised if a neighbouring state leads to a different sequence of events."""


@dataclass
class EventSlopes:
    """Derivatives of an event: rows (state, given) after it, columns (state, given) before it;
    derivatives of its condition.
    """

    states: np.ndarray
    by_time: np.ndarray
    guard: np.ndarray
    guard_by_time: float
    cause: str


class InstanceCopy:
    """A copy of an instance just before an event."""

    def __init__(self, stages: GradientStages, happening: LocatedEvent):
        self.stages, self.happening = stages, happening
        unit = stages.unit
        self.work = happening.work.copy()
        self.stage, self.ws = stages.workspace(self.work)
        record = U.STAGE.of(unit.ints, U.UNIT.size + U.STAGE.size * self.stage)
        blocks = (
            unit.ints[int(record.ints) :],
            unit.floats[int(record.floats) :],
            self.work[int(unit.header.at_workspace) :],
        )
        self.prepare = bind("prepare", *blocks)
        self.advance, self.refresh = (
            bind(name, unit.ints, unit.floats, self.work)
            for name in ("unit_advance", "unit_refresh")
        )
        self.head = U.UNIT_HEAD.of(self.work)

    def at(self, state: np.ndarray, given: np.ndarray, t: float) -> None:
        """Set a state near the saved one in the copy."""
        self.work[:] = self.happening.work
        ws, ends = self.ws, np.cumsum([self.ws.q.size, self.ws.u.size])
        ws.q[:], ws.u[:], ws.x[:] = np.split(state, ends)
        registers = self.stages.registers[self.stage]
        if not np.array_equal(ws.val[registers], given):
            ws.val[registers] = given
            self.prepare(0, 0.0)
        self.head.time = t

    def after(self) -> tuple[int, int, np.ndarray]:
        """Execute the event and return stage, event count, state and held values after it."""
        events = int(self.head.events)
        status = self.advance(self.happening.option, self.happening.until)
        if status not in (L.Status.OK, L.Status.EVENT):
            raise OtherWayError(
                f"what happens at t = {self.happening.time:.9g} fails from neighbouring states"
            )
        stage, state, given = self.stages.numbers(self.work)
        return stage, int(self.head.events) - events, np.concatenate([state, given])

    def guards(self, t: float) -> np.ndarray:
        """Return the values of all guards of the structure."""
        self.refresh(0, t)
        first = int(self.stages.unit.header.at_guards)
        return self.work[first : first + len(self.stages.unit.compiled[self.stage].guards)].copy()


def event_slopes(stages: GradientStages, happening: LocatedEvent) -> EventSlopes:
    """Return the derivatives of everything that an event changes."""
    copy = InstanceCopy(stages, happening)
    stage, state, given = stages.numbers(happening.work)
    whole, t, n = np.concatenate([state, given]), happening.time, state.size
    copy.at(state, given, t)
    way = copy.after()[:2]
    unit = stages.unit
    logged = int(unit.header.logged)
    first = U.EVENT.of(
        copy.work,
        int(unit.header.at_events)
        + U.EVENT.size * (int(U.UNIT_HEAD.of(happening.work).events) % logged),
    )
    cause = int(first.guard)

    def both(moved: np.ndarray, instant: float) -> np.ndarray:
        copy.at(moved[:n], moved[n:], instant)
        guard = copy.guards(instant)[cause]
        copy.at(moved[:n], moved[n:], instant)
        *found, numbers = copy.after()
        if tuple(found) != way:
            raise OtherWayError(
                f"at t = {t:.9g} neighbouring states take another way: what happens there has no slope"
            )
        return np.append(numbers, guard)

    untouched = stages.untouched[copy.stage]
    began = stages.systems[copy.stage].compiled.registers[STAGE_START]
    columns: list[np.ndarray | None] = []
    for k in range(whole.size):
        if k in untouched:
            columns.append(None)
            continue
        size = abs(whole[k]) if k >= n and whole[k] != 0.0 else max(1.0, abs(whole[k]))
        if k >= n and stages.registers[copy.stage][k - n] == began:
            size = MOMENT
        columns.append(
            event_differences(
                lambda shift, k=k: both(whole + shift * (np.arange(whole.size) == k), t), size
            )
        )
    by_time = event_differences(lambda shift: both(whole, t + shift), MOMENT)
    nothing = np.zeros(by_time.size)
    slopes = np.array([nothing if column is None else column for column in columns]).T
    return EventSlopes(
        slopes[:-1],
        by_time[:-1],
        slopes[-1],
        float(by_time[-1]),
        unit.compiled[stage].guards[cause],
    )


def event_differences(
    function: Callable[[float], np.ndarray],
    size: float,
    step: float = DIFFERENCE_STEP,
    noise: float = ROUNDING,
) -> np.ndarray:
    """Return a derivative at zero by differences. The step is reduced if the sequence of events
    changes, or if what an event sets jumps between the points by more than a fraction `noise` of
    its value, as quantised measurements do.
    """
    h = step * size
    for attempt in range(TRIES):
        last = attempt == TRIES - 1
        try:
            values = [function(point * h) for point in POINTS]
        except OtherWayError:
            if last:
                raise
            h *= SHRINK
            continue
        before, low, high, after = values
        beyond = np.abs((after - before) - 2.0 * (high - low))  # of third order where it is smooth
        rounding = noise * np.abs(values).max(axis=0) + SLIGHT * h
        if not (beyond > SMOOTH * np.abs(after - before) + rounding).any():
            return (8.0 * (high - low) - (after - before)) / (12.0 * h)  # of constants exactly 0
        h *= SHRINK
    raise OtherWayError("what an event sets jumps at the very values that it is given")
