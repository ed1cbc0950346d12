"""Many runs in SIMD lanes through events and stage changes, with fixed steps.

Between events WIDTH runs in the same structure share a vector register
(solvers/run/lanes_until_event.py). An output interval with an event in a lane is left to that run's
own unit, which locates and executes it as in any single run. Then the lane continues or, with
another structure or other parameters, the run joins the next group of its kind. All runs of a part
are at the same row at the end of every window, so that groups can be filled again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.entry_points import pointer_entry
from kinetree.models.engine.instance import Instance, aligned
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.ensemble_cases import Cases
from kinetree.models.run.simulation import Options, raise_on_failure, write_integrator_options
from kinetree.models.run.simulation_unit import Run, Unit
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import AT_WORK

if TYPE_CHECKING:
    from kinetree.models.system.system import System

PART = 64  # runs that go side by side on one thread
WINDOW = 4  # intervals after which groups are filled again
NUMBERS = ("val", "body", "elem", "rotor")  # in which lanes may differ
CODES = ("body_code", "elem_code")  # how bodies and elements are evaluated, which lanes share
IDLE, QUIET, MARKED = -1.0, 0.0, 1.0


class Structure:
    """One structure of a unit with its memory offsets and lane data."""

    def __init__(self, unit: Unit, stage: int, registers: np.ndarray):
        self.compiled = c = unit.compiled[stage]
        self.instance = Instance(c)
        self.lacks = np.flatnonzero(
            registers < 0
        )  # what the structure does not have keeps its last value
        self.registers = np.maximum(registers, 0)
        first, directory = (
            int(unit.header.at_workspace),
            c.ints[AT_WORK : AT_WORK + len(L.WORK) + 1].tolist(),
        )
        self.at = {
            field.name: slice(first + directory[k], first + directory[k + 1])
            for k, field in enumerate(L.WORK)
        }
        self.whole = slice(first, first + self.instance.work.size)
        self.size = sum(self.at[name].stop - self.at[name].start for name in ("q", "u", "x"))
        self.guards = int(c.counts["ng"])

    def part(self, work: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Return a copy of some fields, concatenated."""
        return np.concatenate([work[self.at[name]] for name in names])


class Member:
    """One run of a group: its unit and its state."""

    def __init__(self, row: int, run: Run, room: LaneData):
        self.row, self.run, self.room = row, run, room
        self.enter()

    def enter(self) -> None:
        """Read structure, register values and state of the run."""
        self.known = (int(self.run.head.stage), int(self.run.head.events))
        self.structure = self.room.structure(self.known[0])
        self.image = self.structure.part(self.run.work, NUMBERS)
        self.key = (self.known[0], self.structure.part(self.run.work, CODES).tobytes())
        self.state = self.structure.part(self.run.work, ("q", "u", "x"))

    def put(self, state: np.ndarray, time: float) -> None:
        """Write the state that the lane has reached to the run."""
        first = 0
        for name in ("q", "u", "x"):
            place = self.structure.at[name]
            self.run.work[place] = state[first : first + place.stop - place.start]
            first += place.stop - place.start
        self.run.head.time, self.run.head.started, self.run.head.pending = time, 0.0, 0.0

    def alone(self, at: int) -> bool:
        """Advance the run by one interval in its own unit; return False if an event happened."""
        run, room = self.run, self.room
        raise_on_failure(run, run.call("unit_advance", 0, float(room.times[at + 1])))
        room.table[self.row, at + 1] = run.columns[room.chosen]
        room.stages[self.row, at + 1] = int(run.head.stage)
        if (int(run.head.stage), int(run.head.events)) != self.known:
            self.enter()
            return False
        self.state = self.structure.part(run.work, ("q", "u", "x"))
        return True


class LaneData:
    """Data shared by all runs of one part."""

    def __init__(
        self,
        unit: Unit,
        options: Options,
        times: np.ndarray,
        tables: tuple[np.ndarray, np.ndarray],
        chosen: Sequence[int],
        method: np.ndarray,
    ):
        self.table, self.stages = tables
        self.unit, self.options, self.times, self.chosen, self.method = (
            unit,
            options,
            times,
            list(chosen),
            method,
        )
        self.structures: dict[int, Structure] = {}
        self.failures: dict[int, str] = {}
        entry = pointer_entry("stretch")
        assert entry is not None
        self.entry = entry

    def structure(self, stage: int) -> Structure:
        if stage not in self.structures:
            record = U.STAGE.of(self.unit.ints[U.UNIT.size + stage * U.STAGE.size :])
            columns = self.unit.ints[
                int(record.columns) : int(record.columns) + len(self.unit.columns)
            ]
            self.structures[stage] = Structure(
                self.unit, stage, columns[self.chosen].astype(np.int64)
            )
        return self.structures[stage]


class LaneGroup:
    """WIDTH lanes for runs in one structure."""

    def __init__(self, room: LaneData, structure: Structure, stages: int):
        self.room, self.structure, self.stages = room, structure, stages
        n = structure.size
        self.places: list[Member | None] = [None] * L.WIDTH
        self.states = np.zeros((L.WIDTH, n))
        self.wide = structure.instance.wide(L.LANES_STRIDE)
        self.scratch = aligned(((3 + stages) * n + 3 * structure.guards) * L.WIDTH)
        self.varied, self.values = np.zeros(0, dtype=np.int64), np.zeros((L.WIDTH, 0))
        self.plan, self.flags = np.zeros(6, dtype=np.int64), np.zeros(L.WIDTH)
        self.out = np.zeros((L.WIDTH, WINDOW + 1, len(structure.registers)))
        self.fresh = True

    def members(self) -> list[Member]:
        return [member for member in self.places if member is not None]

    def join(self, member: Member) -> None:
        lane = self.places.index(None)
        self.places[lane], self.states[lane], self.fresh = member, member.state, True

    def numbers(self) -> None:
        """Write common and differing register values to the lanes; empty lanes repeat the first
        run.
        """
        first = self.members()[0]
        self.structure.instance.work[:] = first.run.work[self.structure.whole]
        images = np.array([(member or first).image for member in self.places])
        different = (images != images[0]) & ~(np.isnan(images) & np.isnan(images[0]))
        self.varied = np.flatnonzero(different.any(axis=0)).astype(np.int64)
        self.values = np.ascontiguousarray(images[:, self.varied])
        s = self.structure
        before = (
            s.instance.ints,
            s.compiled.floats,
            s.instance.work,
            self.wide,
            self.scratch,
            self.plan,
            self.room.method,
            self.varied,
        )
        self.blocks = [block.ctypes.data for block in (*before, self.values, self.states)]
        self.results = [block.ctypes.data for block in (s.registers, self.out, self.flags)]

    def go(self, at: int, end: int) -> list[Member]:
        """Advance to a row and return the runs that left their lanes there."""
        left: list[Member] = []
        while at < end and self.members():
            if self.fresh:
                self.numbers()
            reached, flags, good = self.stretch(at, end)
            for lane, member in enumerate(self.places):
                if member is None:
                    continue
                if not good:
                    self.places[lane] = None
                    self.room.failures[member.row] = ""  # again by itself, from its start
                elif flags[lane] == MARKED:
                    self.happen(lane, member, at + reached - 1, end, left)
            at += reached
        for lane, member in enumerate(self.places):
            if member is not None:
                member.state = self.states[lane].copy()
        return left

    def stretch(self, at: int, end: int) -> tuple[int, np.ndarray, bool]:
        """Advance all lanes by intervals up to row `end`; return the number of intervals done, an
        event flag per lane, and whether all values are finite.
        """
        room, s = self.room, self.structure
        live = [lane for lane, member in enumerate(self.places) if member is not None]
        for lane, member in enumerate(self.places):
            if member is None:
                self.states[lane] = self.states[live[0]]
        rows, flags = end - at + 1, self.flags
        out = self.out.reshape(-1)[: L.WIDTH * rows * len(s.registers)].reshape(
            L.WIDTH, rows, len(s.registers)
        )
        flags[:] = IDLE
        flags[live] = QUIET
        self.plan[:] = (self.fresh, self.varied.size, rows, len(s.registers), self.stages, 0)
        status = room.entry(
            *self.blocks, room.times.ctypes.data + room.times.itemsize * at, *self.results
        )
        self.fresh = False
        reached = int(self.plan[-1])
        good = status == 0 and bool(np.isfinite(out[live, 1 : reached + 1]).all())
        if good:
            for lane in live:
                member = self.places[lane]
                assert member is not None
                out[lane, :, s.lacks] = room.table[member.row, at, s.lacks][:, None]
                room.table[member.row, at + 1 : at + reached + 1] = out[lane, 1 : reached + 1]
                room.stages[member.row, at + 1 : at + reached + 1] = member.known[0]
        return reached, flags, good

    def happen(self, lane: int, member: Member, at: int, end: int, left: list[Member]) -> None:
        """Repeat an interval that contains an event in the run's own unit; a run whose values
        change leaves its lane.
        """
        member.put(self.states[lane], float(self.room.times[at]))
        try:
            if member.alone(at):
                self.states[lane] = member.state
                return
            self.places[lane] = None
            self.fresh = True
            for later in range(at + 1, end):
                member.alone(later)
            left.append(member)
        except EvaluationError as error:
            self.places[lane] = None
            self.room.table[member.row, at + 1 :] = np.nan
            self.room.failures[member.row] = str(error)


def run_part(room: LaneData, cases: Cases, rows: Sequence[int], stages: int) -> None:
    """Simulate some runs, window by window."""
    groups: dict[tuple[int, bytes], list[LaneGroup]] = {}
    free = [member for row in rows if (member := started_run(room, cases, row)) is not None]
    last = room.times.size - 1
    for at in range(0, last, WINDOW):
        for member in free:
            join_group(room, groups, member, stages)
        free = []
        for key, present in list(groups.items()):
            for group in present:
                free += group.go(at, min(at + WINDOW, last))
            groups[key], out = fullest_groups(present)
            free += out
    for group in (group for present in groups.values() for group in present):
        group.structure.instance.keep(L.LANES_STRIDE, group.wide)


def started_run(room: LaneData, cases: Cases, row: int) -> Member | None:
    """Return a run at its start; None if it failed, which is reported."""
    run = Run(room.unit)
    write_integrator_options(run, room.options, False)
    try:
        for name, value in (cases.parameters_of(row) | cases.starts_of(row)).items():
            run.set_input(name, value)
        raise_on_failure(run, run.begin(room.options.start_time, cases.inputs_of(row)))
    except EvaluationError as error:
        room.failures[row] = str(error)
        return None
    room.table[row, 0] = run.columns[room.chosen]
    room.stages[row, 0] = int(run.head.stage)
    return Member(row, run, room)


def join_group(
    room: LaneData, groups: dict[tuple[int, bytes], list[LaneGroup]], member: Member, stages: int
) -> None:
    """Put a run into a group with a free lane, or into a new group."""
    present = groups.setdefault(member.key, [])
    group = next((group for group in present if None in group.places), None)
    if group is None:
        group = LaneGroup(room, member.structure, stages)
        present.append(group)
    group.join(member)


def fullest_groups(present: list[LaneGroup]) -> tuple[list[LaneGroup], list[Member]]:
    """Return the fewest groups that can hold the runs of one kind, and the remaining runs."""
    present = sorted(present, key=lambda group: -len(group.members()))
    count = -(-sum(len(group.members()) for group in present) // L.WIDTH)
    for group in present[count:]:
        group.structure.instance.keep(L.LANES_STRIDE, group.wide)
    return present[:count], [member for group in present[count:] for member in group.members()]


def in_lanes_through_events(
    system: System,
    unit: Unit,
    cases: Cases,
    options: Options,
    times: np.ndarray,
    tables: tuple[np.ndarray, np.ndarray],
    chosen: Sequence[int],
    method: np.ndarray,
    stages: int,
    workers: int,
    progress: Callable[[float], None] | None,
) -> dict[int, str]:
    """Fill the tables of values and stage indices by SIMD lanes; return the runs that ended early,
    with the reasons.
    """
    if system.description.run.prepare:
        _ = system.preparation  # made once, before threads ask for it
    parts = [range(first, min(first + PART, cases.count)) for first in range(0, cases.count, PART)]
    failures: dict[int, str] = {}

    def work(mine: Sequence[range]) -> None:
        room = LaneData(unit, options, times, tables, chosen, method)
        for part in mine:
            run_part(room, cases, part, stages)
            if progress is not None:
                progress(float(part.stop))
        failures.update(room.failures)

    shares = [parts[k::workers] for k in range(min(workers, len(parts)))]
    if len(shares) == 1:
        work(shares[0])
    else:
        with ThreadPoolExecutor(len(shares)) as pool:
            list(pool.map(work, shares))
    return failures
