"""Masters: who steps when, and which values the inputs have meanwhile.

A master advances slaves over one communication step. `Wire` carries one output to one input. Schemes: Jacobi and Gauss-Seidel with held or sloped
inputs, one repeat after a rollback, and the interface Jacobian, which solves the trapezoidal rule of the interface by Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.scripts.cosim.slave import Slave
from kinetree.scripts.failure import BadInput

NEWTON = 6  # repetitions of the interface Jacobian
SETTLED = 1e-9  # residual of the interface relative to its values
NUDGE = 1e-6  # of an input for a difference quotient, relative


@dataclass(frozen=True)
class Wire:
    """One output to one input; `slope` is the output of the same source that is its time derivative."""

    source: Slave
    output: str
    target: Slave
    input: str
    slope: str = ""

    def __str__(self) -> str:
        return f"{self.source.name}.{self.output} -> {self.target.name}.{self.input}"


def check(wire: Wire, slave: Slave, name: str, names: Sequence[str], what: str) -> None:
    """Both ends of a wire must be there."""
    if name not in names:
        raise BadInput(f"{slave.name} has no {what} '{name}' (wire {wire}); it has {', '.join(names) or 'none'}")


class Master:
    """Base: slaves, wires, and what was on the wires."""

    def __init__(self, slaves: Sequence[Slave], wires: Sequence[Wire], sloped: bool = False, ramps: bool = True):
        self.slaves, self.wires, self.sloped, self.ramps = tuple(slaves), tuple(wires), sloped, ramps
        self.used = np.zeros(len(self.wires))  # mean over the last step of what the inputs were given
        self.before: np.ndarray | None = None
        for wire in self.wires:
            check(wire, wire.source, wire.output, wire.source.outputs, "output")
            check(wire, wire.target, wire.input, wire.target.inputs, "input")

    def read(self) -> np.ndarray:
        """Present outputs at the sources of all wires."""
        return np.array([wire.source.get(wire.output) for wire in self.wires])

    def slopes(self, now: np.ndarray, h: float) -> np.ndarray:
        """Slopes of the outputs as their sources give them; the others zero, or by the difference over the last step where a scheme asks for it."""
        guess = np.zeros_like(now)
        if self.sloped and self.before is not None:
            guess = (now - self.before) / h
        return np.array([wire.source.get(wire.slope) if wire.slope else guess[k] for k, wire in enumerate(self.wires)])

    def give(self, values: np.ndarray, slopes: np.ndarray, h: float, target: Slave | None = None) -> None:
        """Set the inputs (of one slave); without ramps, and where a slave takes no slopes, to their means over the step."""
        for k, wire in enumerate(self.wires):
            if target is None or wire.target is target:
                self.used[k] = values[k] + 0.5 * h * slopes[k]
                wire.target.set(
                    wire.input, *((float(values[k]), float(slopes[k])) if self.ramps and wire.target.sloped else (float(self.used[k]), 0.0))
                )

    def step(self, t: float, h: float) -> None:
        """Jacobi: all slaves step with what was on the wires at the beginning."""
        now = self.read()
        self.give(now, self.slopes(now, h), h)
        for slave in self.slaves:
            slave.step(t, h)
        self.before = now


class GaussSeidel(Master):
    """One slave after another; each sees what those before it have reached."""

    def step(self, t: float, h: float) -> None:
        begin = self.read()
        for slave in self.slaves:
            now = self.read()
            self.give(now, self.slopes(now, h), h, slave)
            slave.step(t, h)
        self.before = begin


class Repeat(Master):
    """A trial step with held inputs, a rollback, and the step again, one slave after another, with inputs linear between both ends."""

    def step(self, t: float, h: float) -> None:
        states = [slave.save() for slave in self.slaves]
        now = self.read()
        self.give(now, self.slopes(now, h), h)
        for slave in self.slaves:
            slave.step(t, h)
        for slave, state in zip(self.slaves, states, strict=True):
            reached = self.read()
            slave.restore(state)
            self.give(now, (reached - now) / h, h, slave)
            slave.step(t, h)
        self.before = now


class InterfaceJacobian(Master):
    """Inputs linear over the step whose ends agree with the outputs there: w = y(w), by Newton's method with difference quotients and rollback."""

    def step(self, t: float, h: float) -> None:
        states = [slave.save() for slave in self.slaves]
        now = self.read()
        end = now + h * self.slopes(now, h)

        def outputs(w: np.ndarray, moved: Slave | None = None) -> np.ndarray:
            for slave, state in zip(self.slaves, states, strict=True):
                if moved is None or slave is moved:
                    slave.restore(state)
                    self.give(now, (w - now) / h, h, slave)
                    slave.step(t, h)
            return self.read()

        size = np.maximum(np.abs(now), 1e-3 * np.max(np.abs(now), initial=1.0))
        matrix = None
        for _ in range(NEWTON):
            residual = outputs(end) - end
            if np.all(np.abs(residual) <= SETTLED * size):
                break
            if matrix is None:
                matrix = self.jacobian(outputs, end, residual + end, size)
            end = end + np.linalg.solve(np.eye(end.size) - matrix, residual)
        else:
            outputs(end)
        self.before = now

    def jacobian(self, outputs, end: np.ndarray, base: np.ndarray, size: np.ndarray) -> np.ndarray:
        """d(outputs)/d(inputs) at the end of the step, column by column; only the slave that has the input repeats its step."""
        matrix = np.zeros((end.size, end.size))
        for k, wire in enumerate(self.wires):
            moved = end.copy()
            moved[k] += NUDGE * size[k]
            reached = outputs(moved, wire.target)
            for row, other in enumerate(self.wires):
                if other.source is wire.target:
                    matrix[row, k] = (reached[row] - base[row]) / (NUDGE * size[k])
        return matrix
