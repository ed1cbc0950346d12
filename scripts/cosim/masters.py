"""Masters of co-simulation: the order in which slaves step, and the values of their inputs during a
step.

A master advances slaves over one communication step. A `Wire` connects one output to one input.
This module has Jacobi and Gauss-Seidel masters with constant inputs or inputs extrapolated by
polynomials of order 1 or 2 through past values, and a master that repeats each step once after a
rollback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.scripts.cosim.slave import Slave
from kinetree.scripts.terminal.error_messages import BadInput

ORDERS = (0, 1, 2)  # of the extrapolation


@dataclass(frozen=True)
class Wire:
    """input = factor * output + offset; `slope` is the output of the same source that is the time derivative.

    `mean` sets the mean of the ramp instead of the ramp; `hold` sets the value at the beginning of
    the step, as samplers do.
    """

    source: Slave
    output: str
    target: Slave
    input: str
    slope: str = ""
    factor: float = 1.0
    offset: float = 0.0
    mean: bool = False
    hold: bool = False
    bond: str = ""  # power bond that it belongs to

    def __str__(self) -> str:
        return f"{self.source.name}.{self.output} -> {self.target.name}.{self.input}"

    def read(self) -> float:
        """Return the present value of the source, scaled for the input."""
        return self.factor * self.source.get(self.output) + self.offset


def check(wire: Wire, slave: Slave, name: str, names: Sequence[str], what: str) -> None:
    """Raise BadInput if the output or input that a wire names does not exist."""
    if name not in names:
        raise BadInput(
            f"{slave.name} has no {what} '{name}' (wire {wire}); it has {', '.join(names) or 'none'}"
        )


class Master:
    """The Jacobi master, base class of the others: slaves, wires and the last exchanged values."""

    def __init__(self, slaves: Sequence[Slave], wires: Sequence[Wire], extrapolation: int = 0):
        self.slaves, self.wires, self.extrapolation = tuple(slaves), tuple(wires), extrapolation
        self.holds = np.array([wire.hold for wire in self.wires], dtype=bool)
        self.lines = np.array(
            [not (w.mean or w.hold) and (bool(w.slope) or extrapolation > 0) for w in self.wires],
            dtype=bool,
        )
        self.into = {
            id(slave): [k for k, wire in enumerate(self.wires) if wire.target is slave]
            for slave in self.slaves
        }
        self.out_of = {
            id(slave): [k for k, wire in enumerate(self.wires) if wire.source is slave]
            for slave in self.slaves
        }
        self.steady = [
            (k, wire) for k, wire in enumerate(self.wires) if wire.slope or wire.mean or wire.hold
        ]  # not extrapolated
        self.used = np.zeros(
            len(self.wires)
        )  # mean over the last step of what the inputs were given
        self.before: np.ndarray | None = None  # outputs at the beginning of the last step
        self.past: list[
            tuple[float, np.ndarray]
        ] = []  # length of the last steps and outputs at their beginnings, newest first
        for wire in self.wires:
            check(wire, wire.source, wire.output, wire.source.outputs, "output")
            check(wire, wire.target, wire.input, wire.target.inputs, "input")

    def read(self) -> np.ndarray:
        """Return the present outputs of all wires' sources, scaled for the inputs."""
        return np.array([wire.read() for wire in self.wires])

    def saved(self) -> list[Any]:
        """Return the states of all slaves."""
        return [slave.save() for slave in self.slaves]

    def forget(self, states: Sequence[Any]) -> None:
        for slave, state in zip(self.slaves, states, strict=True):
            slave.forget(state)

    def reread(self, outputs: np.ndarray, slopes: np.ndarray, source: Slave) -> None:
        """Update outputs and slopes (time derivatives) on the wires that start at one slave."""
        for k in self.out_of[id(source)]:
            wire = self.wires[k]
            outputs[k] = wire.read()
            if wire.slope:
                slopes[k] = wire.factor * source.get(wire.slope)

    def remember(self, outputs: np.ndarray, h: float) -> None:
        """Store the outputs at the beginning of a finished step."""
        self.before = outputs
        self.past = [(h, outputs), *self.past[:1]]

    def forecast(self, now: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Return values and slopes of the inputs over the next step, extrapolated from derivatives
        or past values.

        The ramp of a parabola y + b t + c t2 is the nearest line to it over the step: y - c h2/6 + (b + c h) t.
        """
        slopes, bends = np.zeros_like(now), np.zeros_like(now)
        if self.extrapolation >= 1 and self.past:
            width, last = self.past[0]
            slopes = (now - last) / width
            if self.extrapolation >= 2 and len(self.past) == 2:
                wider, oldest = self.past[1]
                bends = (slopes - (last - oldest) / wider) / (width + wider)
                slopes = slopes + bends * width
        for k, wire in self.steady:
            slopes[k], bends[k] = (
                wire.factor * wire.source.get(wire.slope) if wire.slope else 0.0,
                0.0,
            )
        return now - bends * h * h / 6.0, slopes + bends * h

    def give(
        self, values: np.ndarray, slopes: np.ndarray, h: float, target: Slave | None = None
    ) -> None:
        """Set the inputs of all slaves, or of one; inputs that accept no slope get the mean over
        the step.
        """
        for k in range(len(self.wires)) if target is None else self.into[id(target)]:
            wire, value, slope = self.wires[k], float(values[k]), float(slopes[k])
            self.used[k] = mean = value + 0.5 * h * slope
            if wire.mean or wire.input not in wire.target.ramped:
                value, slope = mean, 0.0
            wire.target.set(wire.input, value, slope)

    def step(self, t: float, h: float) -> None:
        """Step all slaves in parallel, with inputs from the beginning of the step."""
        now = self.read()
        self.give(*self.forecast(now, h), h)
        for slave in self.slaves:
            slave.step(t, h)
        self.remember(now, h)


class GaussSeidel(Master):
    """Master that steps slaves in sequence; each slave uses the new outputs of those before it."""

    def step(self, t: float, h: float) -> None:
        begin = self.read()
        now, (values, slopes) = begin.copy(), self.forecast(begin, h)
        for slave in self.slaves:
            self.give(values, slopes, h, slave)
            slave.step(t, h)
            self.reread(now, slopes, slave)
            for k in self.out_of[id(slave)]:
                if self.lines[k]:
                    values[k], slopes[k] = begin[k], (now[k] - begin[k]) / h
                else:
                    values[k] = begin[k] if self.holds[k] else now[k]
        self.remember(begin, h)


class Repeat(Master):
    """Master that makes every step twice with a rollback; the second time inputs are linear between
    the values at both ends.
    """

    def step(self, t: float, h: float) -> None:
        states = self.saved()
        now = self.read()
        self.give(*self.forecast(now, h), h)
        for slave in self.slaves:
            slave.step(t, h)
        for slave, state in zip(self.slaves, states, strict=True):
            reached = self.read()
            slave.restore(state)
            self.give(now, np.where(self.holds, 0.0, (reached - now) / h), h, slave)
            slave.step(t, h)
        self.forget(states)
        self.remember(now, h)
