"""The real-time loop compiled as C.

Without a C compiler, or on a machine that is not POSIX and little-endian, realtime_loop.py runs the same
steps in Python and reports it.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.scripts.hil.loop_run import Injected, Record
from kinetree.scripts.hil.plant import Plant
from kinetree.scripts.hil.scenario import LATE
from kinetree.scripts.hil.shared_memory import SIZE, Mailbox
from kinetree.solvers.cache import cache_root
from kinetree.solvers.library.c_compiler import LibraryError, compiler, run
from kinetree.solvers.library.verified_files import sound, written

STRETCH = 64  # steps between two looks of the terminal
STOPPED, SET, STEP, GET, GET_STAGE = 1, 2, 3, 4, 5  # what a stretch may end with
CALLS = {SET: "fmi2SetReal", STEP: "fmi2DoStep", GET: "fmi2GetReal", GET_STAGE: "fmi2GetInteger"}
Pointer, Count, Real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class Run(ctypes.Structure):
    """The C structure Run of compiled_loop.c."""

    _fields_ = [
        *(
            (name, Pointer)
            for name in ("component", "set", "advance", "get", "inward", "outward", "given", "seen")
        ),
        *((name, Count) for name in ("commands", "measures", "door")),
        *((name, Pointer) for name in ("ring_out", "ring_in")),
        *((name, Count) for name in ("written", "read")),
        *((name, Real) for name in ("step", "spin", "start")),
        ("late", Count),
        ("token", ctypes.c_uint64),
        *(
            (name, Pointer)
            for name in (
                "delays",
                "sent",
                "due",
                "answers",
                "computing",
                "lateness",
                "gaps",
                "trips",
                "rows",
                "ages",
                "integer",
                "stage",
                "stages",
            )
        ),
        *(
            (name, Count)
            for name in (
                "waiting",
                "frames",
                "newest",
                "steps",
                "received",
                "lost",
                "stale",
                "misses",
                "round_trips",
                "refused",
                "status",
            )
        ),
    ]


def library() -> ctypes.CDLL | str:
    """Return the compiled loop as a shared library, or the reason why there is none."""
    if os.name != "posix" or sys.byteorder != "little":
        return "this system has no POSIX sockets and clocks"
    source = Path(__file__).with_name("compiled_loop.c")
    path = (
        cache_root()
        / "hosts"
        / f"{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}-{sys.platform}-{os.uname().machine}"
        / "compiled_loop.so"
    )
    try:
        if not sound(path):
            with written(path) as draft:
                run(
                    [
                        *compiler(),
                        "-std=c11",
                        "-O2",
                        "-fPIC",
                        "-shared",
                        str(source),
                        "-o",
                        str(draft),
                        "-lm",
                    ]
                )
    except LibraryError as error:
        return str(error)
    loaded = ctypes.CDLL(str(path))
    loaded.realtime_wait.restype = Real
    loaded.realtime_wait.argtypes = [Real, Real, ctypes.POINTER(Real)]
    loaded.realtime_run.argtypes = [ctypes.POINTER(Run), Count]
    return loaded


class CompiledLoop:
    """The arrays of a run in touched (resident) memory, and the calls of the compiled loop on them."""

    def __init__(self, loaded: ctypes.CDLL, record: Record, plant: Plant, door: Any, spin: float):
        s, n = record.scenario, record.scenario.steps
        self.loaded, self.record, self.plant = loaded, record, plant
        injected, frames, commands = Injected(s.channel), n + 1, len(s.commands)
        ways = ((injected.way(), injected.way()) for _ in range(frames))
        self.arrays: dict[str, np.ndarray] = {
            "delays": np.array([math.nan if a is None or b is None else a + b for a, b in ways]),
            **{name: np.full(frames, math.inf) for name in ("sent", "due")},
            "answers": np.full((frames, commands), 0.0),
            **{name: np.full(n, 0.0) for name in ("computing", "lateness", "gaps")},
            "trips": np.full(frames, 0.0),
            "rows": np.full((n, len(s.measures) + commands), 0.0),
            "ages": np.full(n, 0, dtype=np.int64),
            "stages": np.full(n, 0, dtype=np.int32),
        }
        plant.given[:] = plant.first_commands()
        self.box = door if isinstance(door, Mailbox) else None
        self.run = Run(
            commands=commands, measures=len(s.measures), step=s.step, spin=spin, late=LATE.index(s.late), newest=-1,
            token=record.token,
            door=door.fileno() if isinstance(door, socket.socket) else -1,
            **plant.calls(loaded),
            **{name: ctypes.cast(getattr(plant, name), Pointer) for name in ("inward", "outward", "given", "seen")},
            **{name: array.ctypes.data for name, array in self.arrays.items()},
        )  # fmt: skip
        if plant.stage_reference is not None:
            self.run.integer = plant.stage_call(loaded)
            self.run.stage = ctypes.cast(plant.stage_reference, Pointer)
        if self.box is not None:
            self.held: Any = (ctypes.c_char * SIZE).from_buffer(self.box.memory)
            at = ctypes.addressof(self.held)
            self.run.ring_out, self.run.ring_in = at + self.box.out, at + self.box.inward
            self.run.written, self.run.read = self.box.sent, self.box.read

    def bare(self, count: int) -> list[float]:
        """Return the lateness [s] of each step of a compiled loop that only waits."""
        gap, step = Real(), self.run.step
        begin = self.loaded.realtime_wait(0.0, self.run.spin, gap) + step
        return [
            self.loaded.realtime_wait(begin + k * step, self.run.spin, gap) - (begin + k * step)
            for k in range(count)
        ]

    def go(self, told: Callable[[float], None]) -> None:
        """Run all steps of the compiled loop and copy the results to the record."""
        ended, s = self.loaded.realtime_begin(ctypes.byref(self.run)), self.record.scenario
        try:
            while ended == 0 and self.run.steps < s.steps:
                ended = self.loaded.realtime_run(
                    ctypes.byref(self.run), min(self.run.steps + STRETCH, s.steps)
                )
                told(self.run.steps * s.step)
        finally:
            self.keep(ended)
        if ended in CALLS:
            from fmpy.fmi1 import FMICallException

            raise FMICallException(function=CALLS[ended], status=self.run.status)

    def keep(self, ended: int) -> None:
        """Copy the arrays of the run to the record."""
        record, r, n, a = self.record, self.run, self.run.steps, self.arrays
        step = record.scenario.step
        record.time = [k * step for k in range(1, n + 1)]
        record.rows = [tuple(row) for row in a["rows"][:n].tolist()]
        if self.plant.stage_reference is not None:
            record.stages = a["stages"][:n].tolist()
        record.computing = a["computing"][:n].tolist()
        record.lateness, record.gaps, record.ages = (
            a[name][: n + (ended == STOPPED)].tolist() for name in ("lateness", "gaps", "ages")
        )
        record.trips = a["trips"][: r.round_trips].tolist()
        record.sent, record.received, record.lost, record.stale, record.misses = (
            r.frames,
            r.received,
            r.lost,
            r.stale,
            r.misses,
        )
        record.refused = r.refused
        self.plant.time = n * step
        if self.box is not None:
            self.held = None  # its memory can be closed again
            self.box.sent, self.box.read = r.written, r.read
        if ended == STOPPED:
            record.notes.append(f"stopped at step {n}: its command had not come")
