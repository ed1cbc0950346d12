"""Runs against a clock made by hand: waits, what was late or lost, frames that are sent, and the arrays of the compiled loop."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from plant_stand_in import BEGUN, STEP, Arrays, Plant, commands, scenario

from kinetree.scripts.hil import realtime_loop as clock
from kinetree.scripts.hil.compiled_loop import GET, STOPPED, CompiledLoop
from kinetree.scripts.hil.loop_run import Arrivals, Record
from kinetree.scripts.hil.packet import Frame, unpacked


class Clock:
    """Time that goes on when somebody waits or works."""

    def __init__(self, begin: float = 100.0):
        self.now, self.slept = begin, []

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_real_time_wait_sleeps_then_spins(monkeypatch: pytest.MonkeyPatch):
    """Until 0.3 ms before; the longest time between two looks at the clock is what was taken, the last one too."""
    for looks, expected in (
        ((10.0, 10.9997, 10.9998, 10.9999, 11.00002), (11.00002, 1.2e-4)),
        ((10.0, 10.9997, 10.9999, 11.0), (11.0, 2e-4)),
        ((11.5, 11.5, 11.75), (11.75, 0.25)),
        ((10.9998, 10.9998, 10.9999, 11.00005), (11.00005, 1.5e-4)),
    ):
        ticks, slept = iter(looks), []
        monkeypatch.setattr(
            clock,
            "time",
            SimpleNamespace(perf_counter=lambda ticks=ticks: next(ticks), sleep=slept.append),
        )
        assert clock.wait_until(11.0) == (expected[0], pytest.approx(expected[1], rel=1e-6))
        assert slept == ([pytest.approx(11.0 - looks[0] - 3e-4)] if looks[0] < 10.5 else [])


class Door:
    """Answers come as long after their questions as they are told to; none to what is not asked."""

    def __init__(self, clock: Clock, after: float):
        self.clock, self.after, self.coming, self.got, self.noise = clock, after, [], [], []

    def send(self, data: bytes) -> None:
        frame = unpacked(data)
        assert frame is not None
        self.got.append(frame)
        answer = frame._replace(values=(10.0 * frame.sequence + 1.0,))
        self.coming.append((self.clock.now + self.after, answer.packed()))

    def recv(self, size: int) -> bytes:
        assert size >= 544
        if self.noise:
            return self.noise.pop()
        if not self.coming or self.coming[0][0] > self.clock.now:
            raise BlockingIOError
        return self.coming.pop(0)[1]


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Steps begin 0, 1/8, 3/16, 1/4 s late, then in time; every wait loses 1/64 s more than the one before."""
    watch, late, waits = Clock(), iter([0.0, 0.125, 0.1875, 0.25]), []

    def wait(deadline: float) -> tuple[float, float]:
        waits.append(deadline)
        watch.now = max(watch.now, deadline + next(late, 0.0))
        return watch.now, len(waits) / 64

    monkeypatch.setattr(clock, "time", watch)
    monkeypatch.setattr(clock, "wait_until", wait)
    return watch


def test_real_time_run_counts_frames_and_misses(ticking: Clock):
    """Steps of 1/16 s of work: one that begins 3/16 late ends with its deadline and has not missed it, one that begins 1/4 late has.

    Answers take 1/32 s: each is there when the next step begins, but that of the step that began as the late one ended.
    """
    plant = Plant(tick=lambda: ticking.sleep(0.0625))
    record, door, told = Record(scenario(), False), Door(ticking, 0.03125), []
    door.noise = [Frame(99, 0.0, (5.0,)).packed(), Frame(0, 0.0, (5.0, 5.0)).packed(), b"noise"]
    clock.exchange(record, plant, door, told.append)  # type: ignore[arg-type]
    assert record.lateness == [0.0, 0.125, 0.1875, 0.25, 0.0625, 0.0] and record.gaps == [
        k / 64 for k in range(1, 7)
    ]
    assert (
        record.computing == [0.0625] * 6
        and record.misses == 1
        and record.time == [STEP * k for k in range(1, 7)]
    )
    assert (
        commands(record) == [1, 11, 21, 31, 31, 51]
        and record.ages == [0, 0, 0, 0, 1, 0]
        and told == [STEP]
    )
    assert (record.sent, record.received, record.stale, record.lost) == (7, 5, 1, 0)
    assert record.trips == [0.25, 0.3125, 0.25, 0.25, 0.1875, 0.125]
    assert [(frame.sequence, frame.time, frame.last) for frame in door.got] == [
        (k, STEP * k, False) for k in range(7)
    ]
    assert [frame.values for frame in door.got] == [
        (float(sum(commands(record)[:k])),) for k in range(7)
    ]


def test_progress_is_reported_every_64_steps(ticking: Clock):
    told: list[float] = []
    clock.exchange(Record(scenario(steps=130), False), Plant(), Door(ticking, 0.0), told.append)  # type: ignore[arg-type]
    assert told == [STEP, 65 * STEP, 129 * STEP]


def test_injected_delay_adds_to_clock(ticking: Clock, monkeypatch: pytest.MonkeyPatch):
    """Delays of both ways together, from when the answer came; a frame that is to be lost on either way does not set out."""
    ways = iter([0.125, 0.0, None, 0.0, 0.0, None, *[0.25, 0.0] * 8])
    monkeypatch.setattr(clock, "Injected", lambda channel: SimpleNamespace(way=lambda: next(ways)))
    plant = Plant(tick=lambda: ticking.sleep(0.0625))
    record, door = Record(scenario(), False), Door(ticking, 0.0)
    clock.exchange(record, plant, door, lambda time: None)  # type: ignore[arg-type]
    assert [frame.sequence for frame in door.got] == [0, 3, 4, 5, 6] and (
        record.sent,
        record.lost,
    ) == (7, 2)
    assert commands(record) == [BEGUN, 1, 1, 1, 1, 31] and record.ages == [0, 1, 2, 3, 4, 2]
    record, ways = Record(scenario("stop"), False), iter([0.0, 0.0, None, 0.0])
    clock.exchange(record, Plant(), Door(ticking, 0.0), lambda time: None)  # type: ignore[arg-type]
    assert len(record.rows) == 1 == len(record.computing) and len(record.lateness) == 2 == len(
        record.gaps
    )


def test_run_ends_with_three_stop_frames(monkeypatch: pytest.MonkeyPatch):
    """Whatever happened in it; a plant in Python is told, and real time asked for with priority 50."""
    sent: list[bytes] = []
    door = SimpleNamespace(send=sent.append)
    plant, asked = Plant(), []
    plant.time = 1.25

    @contextmanager
    def prompt(priority: int, notes: list[str]) -> Iterator[None]:
        asked.append(priority)
        yield

    monkeypatch.setattr(clock, "plant_of", lambda given: plant)
    monkeypatch.setattr(clock, "connected", lambda given, token: nullcontext(door))
    monkeypatch.setattr(clock, "realtime_priority", prompt)
    monkeypatch.setattr(clock, "steps", lambda record, *given: None)
    record = clock.run(scenario())
    assert not record.simulated and not record.notes and asked == [50]
    assert [unpacked(each) for each in sent] == [Frame(0, 1.25, (), True, record.token)] * 3
    assert record.token > 0
    plant.archive.needs_python = True
    monkeypatch.setattr(clock, "steps", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        clock.run(scenario())
    assert len(sent) == 6
    monkeypatch.setattr(clock, "steps", lambda record, *given: asked.append(record.notes))
    clock.run(scenario())
    assert "behind a Python interpreter" in asked[-1][0]


def refuse(error: type[OSError]) -> Any:
    def call(*given: object) -> bytes:
        raise error

    return call


def test_missing_partner_only_loses_frames():
    for error in (BlockingIOError, ConnectionRefusedError):
        door: Any = SimpleNamespace(send=refuse(error), recv=refuse(error))
        clock.send(door, Frame(0, 0.0, ()))
        clock.collect(Record(scenario(), False), door, Arrivals(), {}, 0.0)
    with pytest.raises(PermissionError):
        clock.send(SimpleNamespace(send=refuse(PermissionError)), Frame(0, 0.0, ()))  # type: ignore[arg-type]


def test_loop_is_compiled_where_possible(monkeypatch: pytest.MonkeyPatch):
    """Before it, a loop that only waits, as many steps of it, but 1000 at most."""
    done: list[Any] = []
    monkeypatch.setattr(clock, "bare_loop", lambda step, count: [step, count])
    monkeypatch.setattr(clock, "exchange", lambda *given: done.append("Python"))
    monkeypatch.setattr(
        clock,
        "CompiledLoop",
        lambda *given: SimpleNamespace(
            bare=lambda count: ["C", count], go=lambda told: done.append((given[-1], told))
        ),
    )
    for found, bare, note in (
        ("no compiler", STEP, ["the loop runs in Python, which is slower: no compiler"]),
        (SimpleNamespace(), "C", []),
    ):
        monkeypatch.setattr(clock, "library", lambda found=found: found)
        for steps in (6, 999, 1001):
            record = Record(scenario(steps=steps), False)
            clock.steps(record, Plant(), None, "told")  # type: ignore[arg-type]
            assert record.bare == [bare, min(steps, 1000)] and record.notes == note
    assert done == ["Python"] * 3 + [(3e-4, "told")] * 3


def test_compiled_loop_arrays_have_run_length(monkeypatch: pytest.MonkeyPatch):
    """A delay per frame, both ways together, not a number where either is lost; a row per step, and room for every frame."""
    from kinetree.scripts.hil import compiled_loop

    ways = iter([0.5, 0.25, None, 0.0, 0.0, None, 1.0, 0.0])
    monkeypatch.setattr(
        compiled_loop, "Injected", lambda channel: SimpleNamespace(way=lambda: next(ways))
    )
    plant: Any = Arrays()
    made = CompiledLoop(None, Record(scenario("zero", steps=3), False), plant, None, 3e-4)  # type: ignore[arg-type]
    a, run = made.arrays, made.run
    assert a["delays"][[0, 3]].tolist() == [0.75, 1.0] and [
        math.isnan(each) for each in a["delays"]
    ] == [False, True, True, False]
    assert (
        a["sent"].tolist() == a["due"].tolist() == [math.inf] * 4
        and a["answers"].tolist() == [[0.0]] * 4
        and a["trips"].tolist() == [0.0] * 4
    )
    assert {
        name: a[name].tolist() for name in ("computing", "lateness", "gaps", "ages")
    } == dict.fromkeys(("computing", "lateness", "gaps", "ages"), [0] * 3)
    assert a["rows"].tolist() == [[0.0, 0.0]] * 3 and list(plant.given) == [BEGUN]
    assert (
        run.component,
        run.commands,
        run.measures,
        run.step,
        run.spin,
        run.late,
        run.newest,
        run.door,
    ) == (17, 1, 1, STEP, 3e-4, 1, -1, -1)


@pytest.mark.parametrize("ended", [0, STOPPED, GET])
def test_compiled_loop_records_steps(ended: int):
    """In stretches of 64 steps; lateness and age of the step at which a rule stopped it, too; a call that failed is named."""
    from fmpy.fmi1 import FMICallException

    plant: Any = Arrays()
    record, asked, told = Record(scenario(steps=150), False), [], []
    made = CompiledLoop(None, record, plant, None, 3e-4)  # type: ignore[arg-type]

    def run(reference: Any, last: int) -> int:
        asked.append(last)
        stops = ended and last == 150
        made.run.steps = 140 if stops else last
        return ended if stops else 0

    made.loaded = SimpleNamespace(realtime_begin=lambda reference: 0, realtime_run=run)  # type: ignore[assignment]
    for array in made.arrays.values():
        array.reshape(-1)[:] = range(array.size)
    for k, name in enumerate(
        ("frames", "received", "lost", "stale", "misses", "round_trips", "status", "refused"), 2
    ):
        setattr(made.run, name, k)
    if ended == GET:
        with pytest.raises(FMICallException, match="fmi2GetReal failed with status 8"):
            made.go(told.append)
    else:
        made.go(told.append)
    steps = 140 if ended else 150
    assert (
        asked == [64, 128, 150]
        and told == [16.0, 32.0, STEP * steps]
        and plant.time == STEP * steps
    )
    assert record.time == [STEP * k for k in range(1, steps + 1)] and record.rows == [
        (2.0 * k, 2.0 * k + 1.0) for k in range(steps)
    ]
    assert record.computing == list(range(steps)) and record.trips == list(range(7))
    assert record.lateness == record.gaps == record.ages == list(range(steps + (ended == STOPPED)))
    told_of = record.sent, record.received, record.lost, record.stale, record.misses
    assert (*told_of, record.refused) == (2, 3, 4, 5, 6, 9)
    assert record.notes == (
        ["stopped at step 140: its command had not come"] if ended == STOPPED else []
    )


def test_uncompiled_loop_gives_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from kinetree.scripts.hil import compiled_loop
    from kinetree.solvers.library.c_compiler import LibraryError

    def none() -> list[str]:
        raise LibraryError("no C compiler found")

    for name, order in (("nt", "little"), ("posix", "big")):
        with monkeypatch.context() as there:
            there.setattr(compiled_loop, "os", SimpleNamespace(name=name))
            there.setattr(compiled_loop, "sys", SimpleNamespace(byteorder=order))
            assert compiled_loop.library() == "this system has no POSIX sockets and clocks"
    monkeypatch.setattr(compiled_loop, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(compiled_loop, "compiler", none)
    assert compiled_loop.library() == "no C compiler found"
