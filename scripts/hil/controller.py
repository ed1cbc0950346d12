"""Sampled PID controllers in the controller process: one loop per command.

u = kp e + ki ∫e + kd (de/dt filtered with time constant `filter`) + offset, e = setpoint - measure, kept between low and high; while a bound holds
it, the integral grows no further than to the bound (anti-windup). The derivative and its filter are those of backward differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol


class Answering(Protocol):
    """Interface of controllers: they answer frames of measurements with commands."""

    count: int

    def answer(self, time: float, values: Sequence[float]) -> tuple[float, ...]: ...


class Loop:
    """One PID loop with its integral, derivative and previous sample."""

    KEYS = {"measure", "command", "setpoint", "kp", "ki", "kd", "filter", "offset", "low", "high"}

    def __init__(self, place: int, table: dict[str, Any]):
        self.place = place  # of its measure in a frame
        self.setpoint, self.kp, self.ki, self.kd = (
            float(table.get(key, 0.0)) for key in ("setpoint", "kp", "ki", "kd")
        )
        self.filter, self.offset = float(table.get("filter", 0.0)), float(table.get("offset", 0.0))
        self.low, self.high = (
            float(table.get("low", float("-inf"))),
            float(table.get("high", float("inf"))),
        )
        self.integral = self.rate = 0.0
        self.before: tuple[float, float] | None = None

    def command(self, time: float, values: Sequence[float]) -> float:
        """Return the command for the measurements of a frame at its time."""
        error = self.setpoint - values[self.place]
        h = 0.0
        if self.before is not None and time > self.before[0]:
            h = time - self.before[0]
            slope = (error - self.before[1]) / h
            self.rate = (
                slope
                if self.filter <= 0.0
                else self.rate + (slope - self.rate) * h / (self.filter + h)
            )
        self.before = (time, error)
        free = self.offset + self.kp * error + self.kd * self.rate
        grown = self.integral + self.ki * error * h
        wanted = free + grown
        if wanted > self.high:
            grown = min(grown, max(self.integral, self.high - free))
        elif wanted < self.low:
            grown = max(grown, min(self.integral, self.low - free))
        self.integral = grown
        return min(max(wanted, self.low), self.high)


class Controller:
    """All PID loops of a scenario; answers a frame of measurements with commands."""

    def __init__(self, measures: Sequence[str], loops: Sequence[dict[str, Any]]):
        self.count = len(measures)
        self.loops = [Loop(list(measures).index(table["measure"]), table) for table in loops]

    def answer(self, time: float, values: Sequence[float]) -> tuple[float, ...]:
        return tuple(loop.command(time, values) for loop in self.loops)


class FmuController:
    """A controller FMU: sets measurements as inputs, steps to the time of the frame, and returns
    outputs as commands.
    """

    def __init__(self, host: Any, inputs: Sequence[str], outputs: Sequence[str]):
        self.host, self.inputs, self.outputs = host, list(inputs), list(outputs)
        self.count = len(self.inputs)

    def answer(self, time: float, values: Sequence[float]) -> tuple[float, ...]:
        self.host.set(dict(zip(self.inputs, values, strict=True)))
        if time > self.host.time:  # what was measured acts from its own time on
            self.host.step(time)
        return tuple(self.host.get(self.outputs))


@contextmanager
def controller_of(text: Mapping[str, Any]) -> Iterator[Answering]:
    """Context manager of the controller in a JSON text: PID loops or an FMU."""
    given = text.get("controller")
    if not given:
        yield Controller(text["measures"], text["loops"])
        return
    from kinetree.scripts.fmi.fmpy_host import Archive, Host
    from kinetree.scripts.terminal.error_messages import BadInput

    with Archive(Path(given["fmu"])) as archive:
        for name in (*given["inputs"], *given["outputs"]):
            if name not in archive.references:
                from kinetree.models.language.errors import suggestion

                raise BadInput(
                    f"{given['fmu']}: no variable '{name}'; {suggestion(name, tuple(archive.references))}"
                )
        host = Host(archive).start({})
        try:
            yield FmuController(host, given["inputs"], given["outputs"])
        finally:
            host.fmu.terminate()
            host.fmu.freeInstance()
