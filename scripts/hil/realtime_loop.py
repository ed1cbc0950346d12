"""The real-time loop of a hardware-in-the-loop run.

The process requests SCHED_FIFO and locked memory and reports what it got; Python's garbage
collector is switched off. The loop sleeps until shortly before a deadline and busy-waits for the
rest. Injected faults add to the delays and losses of the network and the controller process: on
this side, losses are drawn and answers delayed for both ways together. The loop is compiled
(compiled_loop.c); the same loop in Python follows for machines without a compiler.
"""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Protocol

from kinetree.scripts.hil.compiled_loop import CompiledLoop, library
from kinetree.scripts.hil.drives import plant_of
from kinetree.scripts.hil.loop_run import Arrivals, Injected, Record, apply, kept
from kinetree.scripts.hil.packet import Frame, unpacked
from kinetree.scripts.hil.plant import Plant
from kinetree.scripts.hil.realtime_scheduling import realtime_priority
from kinetree.scripts.hil.scenario import Scenario
from kinetree.scripts.hil.shared_memory import Mailbox
from kinetree.scripts.terminal.error_messages import BadInput

SPIN = 3e-4  # s before a deadline from which the process does not sleep
BARE = 1000  # steps of the loop that only waits
PRIORITY = 50
GRACE = 2.0  # s for a partner to end
MEMORY = Path("/dev/shm")  # files there are memory alone


class Door(Protocol):
    """A connection to the controller process: send and receive of datagrams."""

    def send(self, data: bytes, /) -> object: ...

    def recv(self, size: int, /) -> bytes: ...


def wait_until(deadline: float) -> tuple[float, float]:
    """Wait until a deadline, first asleep, then busy. Return the time at the end, and the longest
    time [s] between two readings of the clock, in which the process was suspended.
    """
    clock = time.perf_counter
    left = deadline - clock()
    if left > SPIN:
        time.sleep(left - SPIN)
    last, gap = clock(), 0.0
    while (now := clock()) < deadline:
        if now - last > gap:
            gap = now - last
        last = now
    return now, max(gap, now - last)


@contextmanager
def connected(scenario: Scenario, token: int = 0) -> Iterator[Door]:
    """Context manager of the connection to the controller process, which is started if needed."""
    with tempfile.TemporaryDirectory(
        dir=MEMORY if scenario.shared is not None and MEMORY.is_dir() else None
    ) as folder:
        box = None
        if scenario.shared is not None:
            box = Path(folder) / "mailbox" if not scenario.outside else scenario.shared
        with door_of(box) as door, ExitStack() as stack:
            address = scenario.partner
            if not scenario.outside:
                address = stack.enter_context(own_partner(scenario, Path(folder), box, token))
            if isinstance(door, socket.socket):
                assert address is not None
                door.connect(address)
                door.setblocking(False)
            yield door


@contextmanager
def door_of(box: Path | None) -> Iterator[Door]:
    """Context manager of a connection by a UDP socket, or by the shared memory of file `box`."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if box is None
        else closing(Mailbox(box, plant=True)) as door
    ):
        yield door


@contextmanager
def own_partner(
    scenario: Scenario, folder: Path, box: Path | None, token: int = 0
) -> Iterator[tuple[str, int]]:
    """Context manager that starts a controller process for this run and yields its address."""
    path = folder / "controller.json"
    path.write_text(
        json.dumps(
            {
                "measures": scenario.measures,
                "loops": scenario.loops,
                "controller": scenario.controller,
                "token": token,
            }
        )
    )
    more = [] if box is None else ["--shared", str(box)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kinetree.scripts.hil.partner", str(path), *more],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said.strip():
            raise BadInput(
                f"{scenario.path}: the controller process has ended; its messages are above"
            )
        yield "127.0.0.1", int(said)
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def bare_loop(step: float, count: int) -> list[float]:
    """Return the lateness [s] of each step of a loop that only waits."""
    start = time.perf_counter() + step
    return [wait_until(start + k * step)[0] - (start + k * step) for k in range(count)]


def run(scenario: Scenario, told: Callable[[float], None] = lambda time: None) -> Record:
    """Run a scenario in real time and return its record."""
    record = Record(scenario, False, token=secrets.randbits(64))
    with (
        kept(record),
        plant_of(scenario) as plant,
        connected(scenario, record.token) as door,
        realtime_priority(PRIORITY, record.notes),
    ):
        record.describe(plant)
        if plant.archive.needs_python:
            record.notes.append(
                "this FMU computes behind a Python interpreter: `kinetree fmu --backend native` packs a faster one"
            )
        try:
            steps(record, plant, door, told)
        finally:
            for _ in range(3):  # datagrams may be lost
                send(door, Frame(0, plant.time, (), True, record.token))
    return record


def steps(record: Record, plant: Plant, door: Door, told: Callable[[float], None]) -> None:
    """Measure the lateness of an empty loop, then run the real-time loop, compiled if possible."""
    s, loaded = record.scenario, library()
    count = min(BARE, s.steps)
    if not isinstance(loaded, str):
        compiled = CompiledLoop(loaded, record, plant, door, SPIN)
        record.bare = compiled.bare(count)
        compiled.go(told)
        return
    record.notes.append(f"the loop runs in Python, which is slower: {loaded}")
    record.bare = bare_loop(s.step, count)
    exchange(record, plant, door, told)


def send(door: Door, frame: Frame) -> None:
    """Send a datagram; without a receiver it is lost."""
    try:
        door.send(frame.packed())
    except (BlockingIOError, ConnectionRefusedError):
        pass


def exchange(record: Record, plant: Plant, door: Door, told: Callable[[float], None]) -> None:
    """Run all steps of the real-time loop in Python."""
    s, clock = record.scenario, time.perf_counter
    injected, arrivals = Injected(s.channel), Arrivals()
    under_way: dict[
        int, tuple[float, float]
    ] = {}  # sequence: when it was sent, injected delay of both ways
    held = tuple(plant.first_commands())
    ask(record, door, injected, under_way, 0, 0.0, plant.measures())
    start = clock() + s.step
    for k in range(s.steps):
        deadline = start + k * s.step
        begin, gap = wait_until(deadline)
        record.lateness.append(begin - deadline)
        record.gaps.append(gap)
        collect(record, door, arrivals, under_way, begin)
        commands = apply(plant, record, arrivals.take(begin), k, held)
        if commands is None:
            break
        held = commands
        plant.advance((k + 1) * s.step)
        measures = plant.measures()
        ask(record, door, injected, under_way, k + 1, plant.time, measures)
        record.add(plant, measures, held)
        end = clock()
        record.computing.append(end - begin)
        record.misses += end > deadline + s.step
        if k % 64 == 0:
            told(plant.time)


def ask(
    record: Record,
    door: Door,
    injected: Injected,
    under_way: dict,
    sequence: int,
    now: float,
    values: tuple[float, ...],
) -> None:
    """Send measurements to the controller process, unless the injected fault loses them."""
    record.sent += 1
    ways = (injected.way(), injected.way())
    if None in ways:
        record.lost += 1
        return
    under_way[sequence] = (time.perf_counter(), sum(way for way in ways if way is not None))
    send(door, Frame(sequence, now, values, token=record.token))


def collect(record: Record, door: Door, arrivals: Arrivals, under_way: dict, now: float) -> None:
    """Receive all pending answers of the controller process; invalid ones are ignored."""
    while True:
        try:
            data = door.recv(2048)
        except (BlockingIOError, ConnectionRefusedError):
            return
        frame = unpacked(data)
        if (
            frame is None
            or frame.sequence not in under_way
            or len(frame.values) != len(record.scenario.commands)
            or frame.token != record.token
        ):
            continue
        if not frame.finite:
            record.refused += 1
            continue
        sent, delay = under_way.pop(frame.sequence)
        record.trips.append(now - sent)
        arrivals.put(now + delay, frame)
