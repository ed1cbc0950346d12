"""The interface Jacobian: inputs are linear over the step, and their end values agree with the
outputs there, w = y(w); solved by Newton's method with rollback.

dy/dw comes from the directional derivatives of a slave that has them: the outputs at the end of a ramp to w are
(D + C (h/2 + A h2/6 + A2 h3/24 + ...) B) w, summed by products with vectors; else from difference quotients over repeated steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.scripts.cosim.masters import Master
from kinetree.scripts.cosim.slave import Slave

NEWTON = 8  # repetitions
SETTLED = 1e-9  # residual of the interface relative to its values
DOUBT = 3  # repetition at which difference quotients replace derivatives
NUDGE = 1e-6  # of an input for a difference quotient, relative


class InterfaceJacobian(Master):
    """Master that solves the interface equations by Newton's method, with Jacobian columns by
    differences or directional derivatives.
    """

    differences = derived = 0

    def step(self, t: float, h: float) -> None:
        states = self.saved()
        now = self.read()
        values, slopes = self.forecast(now, h)
        end = values + h * slopes
        columns = {slave.name: self.derivatives(slave, h) for slave in self.slaves}

        def outputs(w: np.ndarray, moved: Slave | None = None) -> np.ndarray:
            for slave, state in zip(self.slaves, states, strict=True):
                if moved is None or slave is moved:
                    slave.restore(state)
                    self.give(now, (w - now) / h, h, slave)
                    slave.step(t, h)
            return np.where(self.holds, now, self.read())

        size = np.maximum(np.abs(now), 1e-3 * np.max(np.abs(now), initial=1.0))
        matrix = None
        for turn in range(NEWTON):
            residual = outputs(end) - end
            if np.all(np.abs(residual) <= SETTLED * size):
                break
            if (
                turn == DOUBT
            ):  # derivatives at the beginning of the step say too little about its end
                matrix, columns = None, dict.fromkeys(columns)
            if matrix is None:
                matrix = self.jacobian(outputs, end, residual + end, size, columns)
            end = end + np.linalg.solve(np.eye(end.size) - matrix, residual)
        else:
            outputs(end)
        self.forget(states)
        self.remember(now, h)

    def derivatives(self, slave: Slave, h: float) -> dict[int, dict[int, float]] | None:
        """Return the columns of one slave by wire from its directional derivatives, d(outputs at
        the end)/d(end of the ramp); None where it has none.
        """
        given: Callable | None = getattr(slave, "ramp_response", None)
        if given is None:
            return None
        rows = [k for k, wire in enumerate(self.wires) if wire.source is slave]
        columns = {}
        for k, wire in enumerate(self.wires):
            if wire.target is slave:
                ramp = wire.input in slave.ramped and not wire.mean
                response = given(wire.input, [self.wires[row].output for row in rows], h, ramp)
                if response is None:
                    return None
                columns[k] = {
                    row: self.wires[row].factor * value
                    for row, value in zip(rows, response, strict=True)
                }
        return columns

    def jacobian(
        self, outputs, end: np.ndarray, base: np.ndarray, size: np.ndarray, columns
    ) -> np.ndarray:
        """Return d(outputs)/d(inputs) at the end of the step, column by column; only the slave that
        has the input repeats the step.
        """
        matrix = np.zeros((end.size, end.size))
        for k, wire in enumerate(self.wires):
            known = columns[wire.target.name]
            if known is not None:
                self.derived += 1
                for row, value in known[k].items():
                    matrix[row, k] = 0.0 if self.holds[row] else value
                continue
            self.differences += 1
            moved = end.copy()
            moved[k] += NUDGE * size[k]
            reached = outputs(moved, wire.target)
            for row, other in enumerate(self.wires):
                if other.source is wire.target:
                    matrix[row, k] = (reached[row] - base[row]) / (NUDGE * size[k])
        return matrix
