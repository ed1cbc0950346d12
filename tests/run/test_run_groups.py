"""Groups of runs in lanes over stand-ins: whose numbers they share, what becomes of a run in which something happens, and what fails."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.run import lanes_through_events as T
from kinetree.solvers.layout import WIDTH, Status

IDLE, QUIET, MARKED = -1.0, 0.0, 1.0
ROWS, COLUMNS, SIZE = 6, 2, 3


class One:
    """A run of a group: its state is its number, and what happens to it alone is told by row."""

    def __init__(self, row: int, changes: tuple[int, ...] = (), fails: int = -1):
        self.row, self.changes, self.fails, self.told = row, changes, fails, []
        self.image = np.array([1.0, math.nan, 2.0 + row % 2, 5.0])
        self.state = np.full(SIZE, float(row))
        self.known = (0, 0)
        self.run = SimpleNamespace(work=np.arange(10.0) + 100 * row)

    def put(self, state: np.ndarray, time: float) -> None:
        self.told.append(("put", float(state[0]), time))

    def alone(self, at: int) -> bool:
        self.told.append(("alone", at))
        if at == self.fails:
            raise EvaluationError(f"run {self.row} breaks", Status.NOT_A_NUMBER)
        self.state = np.full(SIZE, self.row + 0.5)
        return at not in self.changes


class Lanes:
    """A room and a structure of SIZE numbers whose stretches are scripted: how many rows, which lanes are marked."""

    def __init__(
        self, *stretches: tuple[int, tuple[int, ...]], status: int = 0, value: float = 7.0
    ):
        self.left, self.status, self.value, self.plans = list(stretches), status, value, []
        instance: Any = SimpleNamespace(
            ints=np.zeros(1),
            work=np.zeros(4),
            wide=lambda stride: np.zeros(8),
            keep=lambda *_: None,
        )
        self.structure: Any = SimpleNamespace(
            size=SIZE, guards=2, registers=np.zeros(COLUMNS, dtype=np.int64), instance=instance, whole=slice(2, 6), lacks=np.array([1]),
            compiled=SimpleNamespace(floats=np.zeros(1)),
        )  # fmt: skip
        self.room: Any = SimpleNamespace(
            times=0.5 * np.arange(ROWS),
            table=np.tile(np.arange(20.0)[:, None, None], (1, ROWS, COLUMNS)),
            stages=np.zeros((20, ROWS), dtype=int),
            failures={},
            method=np.zeros(7),
            entry=self.entry,
        )
        self.group: Any = T.LaneGroup(self.room, self.structure, 4)

    def entry(self, *addresses: int) -> int:
        group = self.group
        first = addresses[-4]
        self.plans.append(
            (
                *group.plan.tolist()[:5],
                (first - self.room.times.ctypes.data) // 8,
                group.flags.tolist(),
            )
        )
        rows, marked = self.left.pop(0)
        group.plan[-1] = rows
        group.flags[list(marked)] = MARKED
        out = group.out.reshape(-1)[: WIDTH * group.plan[2] * COLUMNS].reshape(
            WIDTH, group.plan[2], COLUMNS
        )
        out[:] = self.value
        group.states += 10.0
        return self.status


def test_lane_slots_and_memory():
    lanes = Lanes()
    group = lanes.group
    assert (
        group.scratch.size == ((3 + 4) * SIZE + 3 * 2) * WIDTH
        and group.out.shape == (WIDTH, T.WINDOW + 1, COLUMNS)
        and group.fresh
    )
    for row in range(WIDTH):
        group.fresh = False
        group.join(One(row))
        assert group.fresh and len(group.members()) == row + 1 and (group.states[row] == row).all()
    with pytest.raises(ValueError):
        group.join(One(99))


def test_values_that_differ_between_lanes_are_found():
    """By value, two that are none being alike; empty places are like the first run, whose work is that of all."""
    lanes = Lanes()
    for row in (4, 5):
        lanes.group.join(One(row))
    lanes.group.numbers()
    assert lanes.group.varied.tolist() == [2] and lanes.group.values.tolist() == [
        [2.0],
        [3.0],
        *[[2.0]] * 6,
    ]
    assert lanes.structure.instance.work.tolist() == [402.0, 403.0, 404.0, 405.0]


def test_lanes_pass_eventless_rows():
    """Rows that the lanes pass, from the row on at which they stand; a column that the structure lacks keeps its value."""
    lanes = Lanes((3, ()))
    for row in (4, 5):
        lanes.group.join(One(row))
    before = lanes.room.table.copy()
    assert lanes.group.go(1, 4) == []
    assert (
        lanes.plans == [(1, 1, 4, COLUMNS, 4, 1, [QUIET, QUIET, *[IDLE] * 6])]
        and not lanes.group.fresh
    )
    before[[4, 5], 2:5, 0] = 7.0
    assert (lanes.room.table == before).all()
    assert [member.state.tolist() for member in lanes.group.members()] == [
        [14.0] * SIZE,
        [15.0] * SIZE,
    ]


def test_run_without_event_stays_in_its_lane():
    """The interval in which something might have happened is its own; then all go on together."""
    lanes = Lanes((2, (1,)), (1, ()))
    first, second = One(4), One(5)
    lanes.group.join(first)
    lanes.group.join(second)
    assert (
        lanes.group.go(1, 4) == []
        and [plan[2] for plan in lanes.plans] == [4, 2]
        and [plan[0] for plan in lanes.plans] == [1, 0]
    )
    assert [plan[5] for plan in lanes.plans] == [1, 3]
    assert (
        second.told == [("put", 15.0, 0.5 * 2), ("alone", 2)]
        and not first.told
        and lanes.group.members() == [first, second]
    )
    assert second.state.tolist() == [15.5] * SIZE and first.state.tolist() == [24.0] * SIZE


def test_changed_run_leaves_its_lane():
    lanes = Lanes((1, (0,)), (2, ()))
    first, second = One(4, changes=(1,)), One(5)
    lanes.group.join(first)
    lanes.group.join(second)
    assert lanes.group.go(1, 4) == [first] and first.told == [
        ("put", 14.0, 0.5),
        ("alone", 1),
        ("alone", 2),
        ("alone", 3),
    ]
    assert (
        lanes.group.members() == [second]
        and [plan[0] for plan in lanes.plans] == [1, 1]
        and lanes.plans[1][-1] == [IDLE, QUIET, *[IDLE] * 6]
    )
    assert lanes.room.failures == {}


@pytest.mark.parametrize("fails, changes", [(1, ()), (2, (1,))])
def test_failed_run_has_no_rows_after_failure(fails: int, changes: tuple[int, ...]):
    lanes = Lanes((1, (0,)), (2, ()))
    first, second = One(4, changes, fails), One(5)
    lanes.group.join(first)
    lanes.group.join(second)
    assert (
        lanes.group.go(1, 4) == []
        and lanes.room.failures == {4: "run 4 breaks"}
        and lanes.group.members() == [second]
    )
    assert (
        np.isnan(lanes.room.table[4, 2:]).all()
        and np.isfinite(lanes.room.table[4, :2]).all()
        and np.isfinite(lanes.room.table[5]).all()
    )


@pytest.mark.parametrize("status, value", [(4, 7.0), (0, math.nan), (0, math.inf)])
def test_failed_lanes_are_repeated_singly(status: int, value: float):
    lanes = Lanes((1, (0,)), status=status, value=value)
    first = One(4)
    lanes.group.join(first)
    lanes.group.join(One(5))
    before = lanes.room.table.copy()
    assert (
        lanes.group.go(1, 4) == []
        and lanes.room.failures == {4: "", 5: ""}
        and not lanes.group.members()
        and not first.told
    )
    assert (lanes.room.table == before).all()


def test_run_continues_from_lane_state():
    """Its integrator begins anew, at that instant; one interval is told by its columns, and by whether something has happened."""
    at = {"q": slice(2, 4), "u": slice(4, 5), "x": slice(7, 8)}
    structure: Any = SimpleNamespace(
        at=at,
        part=lambda work, names: np.concatenate(
            [work[at[name]] if name in at else [9.0] for name in names]
        ),
    )
    room: Any = SimpleNamespace(
        structure=lambda stage: structure,
        times=0.5 * np.arange(ROWS),
        table=np.zeros((3, ROWS, 2)),
        stages=np.zeros((3, ROWS), dtype=int),
        chosen=[1, 0],
    )
    head: Any = SimpleNamespace(stage=1.0, events=2.0, time=0.0, started=1.0, pending=2.0, told=0.0)
    run: Any = SimpleNamespace(
        head=head, work=np.arange(10.0), columns=np.array([5.0, 6.0]), told=[]
    )
    run.call = lambda name, option, t: run.told.append((name, option, t)) or 0
    member = T.Member(2, run, room)
    assert member.known == (1, 2) and member.key[0] == 1 and member.state.tolist() == [2, 3, 4, 7]
    member.put(np.array([20.0, 30.0, 40.0, 70.0]), 1.5)
    assert run.work.tolist() == [0, 1, 20, 30, 40, 5, 6, 70, 8, 9] and (
        head.time,
        head.started,
        head.pending,
    ) == (1.5, 0.0, 0.0)
    assert (
        member.alone(1)
        and run.told == [("unit_advance", 0, 1.0)]
        and room.table[2, 2].tolist() == [6.0, 5.0]
        and not room.table[:2].any()
    )
    assert member.state.tolist() == [20, 30, 40, 70]
    for name in ("events", "stage"):
        setattr(head, name, getattr(head, name) + 1.0)
        assert (
            not member.alone(2)
            and member.known == (int(head.stage), int(head.events))
            and member.alone(3)
        )
    run.call = lambda name, option, t: int(Status.TOO_MANY_STEPS)
    run.unit = SimpleNamespace(compiled=[None] * 3, description=load("lib:pendulum").description)
    head.item, head.used, head.last_step, head.fastest, head.kind = 0.0, 5.0, 1e-3, 0.0, 0.0
    with pytest.raises(EvaluationError, match="at t = 1.5: 5 steps do not reach"):
        member.alone(4)
