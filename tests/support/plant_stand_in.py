"""A plant in the loop made by hand, without any FMU: what it measures is the sum of its commands."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kinetree.scripts.hil.loop_run import Record
from kinetree.scripts.hil.scenario import Channel, Scenario

STEP = 0.25
BEGUN = 7.0  # the command that the plant begins with


def scenario(late: str = "hold", steps: int = 6, **channel: float) -> Scenario:
    more: Any = {"channel": Channel(**channel)}  # type: ignore[arg-type]
    return Scenario(
        Path("s.toml"),
        "m",
        None,
        STEP,
        steps * STEP,
        late,
        ["y"],
        ["u"],
        [{"measure": "y", "command": "u"}],
        **more,
    )


class Plant:
    """y is the sum of the commands of all steps, each taking a while where there is a clock; context and host are itself."""

    def __init__(self, given: Any = None, tick: Any = None):
        self.y, self.u, self.time, self.commands, self.tick, self.host = (
            0.0,
            BEGUN,
            0.0,
            [],
            tick,
            self,
        )
        self.archive = SimpleNamespace(needs_python=False)
        self.parts = self.stage_reference = None

    def __enter__(self) -> Plant:
        return self

    def __exit__(self, *reason: object) -> None:
        pass

    def get(self, names: list[str]) -> list[float]:
        assert names == ["u"]
        return [self.u]

    def first_commands(self) -> list[float]:
        return [self.u]

    def measures(self) -> tuple[float, ...]:
        return (self.y,)

    def command(self, values: tuple[float, ...]) -> None:
        (self.u,) = values
        self.commands.append(self.u)

    def advance(self, target: float) -> None:
        assert target == self.time + STEP
        self.time, self.y = target, self.y + self.u
        if self.tick:
            self.tick()


def commands(record: Record) -> list[float]:
    return [row[1] for row in record.rows]


class Arrays(Plant):
    """A plant with what the compiled loop takes of one."""

    def __init__(self) -> None:
        super().__init__()
        one = ctypes.c_double * 1
        self.given, self.seen, self.inward, self.outward = (
            one(),
            one(),
            (ctypes.c_uint32 * 1)(4),
            (ctypes.c_uint32 * 1)(5),
        )

    def calls(self, loaded: Any) -> dict[str, Any]:
        return {"component": 17} | {
            name: ctypes.cast(self.seen, ctypes.c_void_p) for name in ("set", "advance", "get")
        }
