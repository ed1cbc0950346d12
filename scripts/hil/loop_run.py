"""A run of the loop: its record, the injected faults, frames in transit, and its simulation in
virtual time.

Step k begins at k·step (absolute deadlines: nothing drifts). At its beginning the commands that
have arrived are applied, the newest sequence number wins; an answer with a value that is not finite
is ignored; then the plant steps to the end of the step, and its measurements are sent. Injected
faults: each way a frame is lost with a probability, or late by a delay plus uniform jitter. In
virtual time a frame arrives at its computed time and the controller answers at once: the same seed
gives the same run, bit for bit.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kinetree.scripts.hil.controller import controller_of
from kinetree.scripts.hil.drives import plant_of
from kinetree.scripts.hil.packet import Frame
from kinetree.scripts.hil.plant import Plant
from kinetree.scripts.hil.scenario import Channel, Scenario
from kinetree.scripts.measures.run_parts import RunParts

EARLY = 1e-9  # s: a frame that arrives with the beginning of a step is there, whatever the rounding of its delays


@dataclass
class Record:
    """All recorded values and statistics of a run."""

    scenario: Scenario
    simulated: bool
    time: list[float] = field(default_factory=list)
    rows: list[tuple[float, ...]] = field(
        default_factory=list
    )  # measures and commands after every step
    ages: list[int] = field(
        default_factory=list
    )  # steps since the measures that the present commands answer
    sent: int = 0
    received: int = 0
    lost: int = 0  # by injection
    stale: int = 0  # steps without a new command
    trips: list[float] = field(
        default_factory=list
    )  # s, there and back, as the network and the partner were
    computing: list[float] = field(default_factory=list)  # s per step
    lateness: list[float] = field(
        default_factory=list
    )  # s from the deadline to the beginning of a step
    refused: int = 0  # answers with values that are not finite, which count as not come
    units: dict[str, str] = field(default_factory=dict)  # of measures and commands, where known
    stages: list[int] = field(default_factory=list)  # after every step, where the scenario asks
    parts: RunParts | None = None  # names of the stages, where the scenario speaks of them
    token: int = 0  # of the run, in every frame
    misses: int = 0  # steps that ended after their deadline
    bare: list[float] = field(default_factory=list)  # s, lateness of a loop that only waits
    gaps: list[float] = field(
        default_factory=list
    )  # s, longest time that was taken from the loop while it waited for a step, doing nothing
    notes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return [*self.scenario.measures, *self.scenario.commands]

    def describe(self, plant: Plant) -> None:
        """Store the units and the names of stages of the plant."""
        self.units = dict(getattr(plant, "units", {}))
        self.parts = getattr(plant, "parts", None)

    def add(self, plant: Plant, measures: tuple[float, ...], held: tuple[float, ...]) -> None:
        """Append the row of a finished step: measurements and commands."""
        self.time.append(plant.time)
        self.rows.append((*measures, *held))
        if self.parts is not None:
            self.stages.append(plant.stage())


class Injected:
    """Random losses and delays of one run."""

    def __init__(self, channel: Channel):
        self.channel, self.draw = channel, random.Random(channel.seed)

    def way(self) -> float | None:
        """Draw an injected one-way delay [s]; None for a lost frame."""
        c = self.channel
        lost = c.loss > 0.0 and self.draw.random() < c.loss
        late = c.delay + (self.draw.random() * c.jitter if c.jitter > 0.0 else 0.0)
        return None if lost else late


class Arrivals:
    """Frames in transit, ordered by arrival time."""

    def __init__(self) -> None:
        self.under_way: list[tuple[float, int, tuple[float, ...]]] = []
        self.newest = -1

    def put(self, at: float, frame: Frame) -> None:
        heapq.heappush(self.under_way, (at, frame.sequence, frame.values))

    def take(self, now: float) -> tuple[int, tuple[float, ...]] | None:
        """Return the newest command that has arrived by `now`; older ones are dropped."""
        best = None
        while self.under_way and self.under_way[0][0] <= now:
            _, sequence, values = heapq.heappop(self.under_way)
            if sequence > self.newest:
                self.newest, best = sequence, (sequence, values)
        return best


def apply(
    plant: Plant,
    record: Record,
    arrived: tuple[int, tuple[float, ...]] | None,
    step: int,
    held: tuple[float, ...],
) -> tuple[float, ...] | None:
    """Set the commands of a step and return them, by the scenario's rule where none has arrived;
    None stops the run.
    """
    s = record.scenario
    if arrived is not None:
        record.received += 1
        record.ages.append(step - arrived[0])
        plant.command(arrived[1])
        return arrived[1]
    if step > 0:
        record.stale += 1
    record.ages.append(record.ages[-1] + 1 if record.ages else 0)
    if s.late == "stop" and record.received:
        record.notes.append(f"stopped at step {step}: its command had not come")
        return None
    if s.late == "zero" and record.received:
        held = (0.0,) * len(s.commands)
        plant.command(held)
    return held


@contextmanager
def kept(record: Record) -> Iterator[None]:
    """Context manager that attaches the record to the error of a failed or interrupted run."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        at = f"at t = {record.time[-1]:.6g} s" if record.time else "at its start"
        record.notes.append(f"ended {at}: {str(error) or 'interrupted'}")
        error.record = record  # type: ignore[union-attr]
        raise


def simulate(scenario: Scenario, told: Callable[[float], None] = lambda time: None) -> Record:
    """Run a scenario in virtual time and return its record."""
    record = Record(scenario, True)
    injected, arrivals = Injected(scenario.channel), Arrivals()
    text = {
        "measures": scenario.measures,
        "loops": scenario.loops,
        "controller": scenario.controller,
    }
    asked: list[tuple[float, int, float, tuple[float, ...]]] = []
    with kept(record), plant_of(scenario) as plant, controller_of(text) as controller:
        record.describe(plant)
        held = tuple(plant.first_commands())
        send_simulated(record, injected, asked, 0, 0.0, plant.measures())
        for k in range(scenario.steps):
            now = k * scenario.step
            while (
                asked and asked[0][0] <= now + EARLY
            ):  # the partner answers in the order in which frames reach it
                at, sequence, time, values = heapq.heappop(asked)
                answer, back = controller.answer(time, values), injected.way()
                frame = Frame(sequence, time, answer)
                record.lost += back is None
                record.refused += back is not None and not frame.finite
                if back is not None and frame.finite:
                    arrivals.put(at + back, frame)
            commands = apply(plant, record, arrivals.take(now + EARLY), k, held)
            if commands is None:
                break
            held = commands
            plant.advance((k + 1) * scenario.step)
            measures = plant.measures()
            record.add(plant, measures, held)
            send_simulated(record, injected, asked, k + 1, plant.time, measures)
            told(plant.time)
    return record


def send_simulated(
    record: Record,
    injected: Injected,
    asked: list,
    sequence: int,
    time: float,
    values: tuple[float, ...],
) -> None:
    """Send measurements in virtual time; the controller's answer is put in transit unless it is
    lost.
    """
    out = injected.way()
    record.sent += 1
    record.lost += out is None
    if out is not None:
        heapq.heappush(asked, (time + out, sequence, time, values))
