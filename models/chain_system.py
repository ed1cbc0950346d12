"""A linear chain of a description: its matrices, its modes and its motion by the matrix method (kinetree.solvers.chain)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from kinetree.models.compilation.builder import Column
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.description.errors import ModelError, Problem
from kinetree.models.description.expressions import evaluate_constant
from kinetree.models.library.chains import springs
from kinetree.models.result import Result

if TYPE_CHECKING:
    from kinetree.models.description.chain_parts import Chain
    from kinetree.models.description.schema import Description

STEPS = 500  # of a run without an output step
ACCURACY = 1e-10


class ChainResult(Result):
    """Coordinates and speeds of a chain over time."""

    EXTRA = ("stage", "energy")


class ChainSystem:
    """M ẍ + F ẋ + C x = f(t)."""

    def __init__(self, description: Description):
        if description.chain is None:
            raise ModelError(Problem("chain", hint="the description has no chain", file=description.file))
        self.description, self.name = description, description.name
        self.chain: Chain = description.chain
        self.values = parameter_values(description)
        self.coordinates = self.chain.coordinates
        self.speeds = tuple(f"der({name})" for name in self.coordinates)
        self.n = self.chain.size
        self.compiled = SimpleNamespace(inputs=(), outputs=())
        mass = self._numbers(self.chain.mass)
        self.mass = np.full(self.n, mass) if mass.ndim == 0 else mass
        self.stiffness, self.damping = self._couplings(self.chain.stiffness), self._couplings(self.chain.damping)

    def _number(self, value: float | str, t: float | None = None) -> float:
        return evaluate_constant(value, self.values if t is None else self.values | {"t": t})

    def _numbers(self, values: Any) -> np.ndarray:
        return np.array([self._numbers(each) for each in values]) if isinstance(values, tuple) else np.array(self._number(values))

    def _couplings(self, values: Any) -> np.ndarray:
        """A matrix from one number, n - 1 or n + 1 numbers, or as it is."""
        if values is None:
            return np.zeros((self.n, self.n))
        numbers = self._numbers(values)
        return numbers if numbers.ndim == 2 else springs(np.full(self.n - 1, numbers) if numbers.ndim == 0 else numbers, self.n)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds at the start."""
        x, v = (self._numbers(each) if each else np.zeros(self.n) for each in (self.chain.start, self.chain.speed))
        return x, v

    def frequencies(self) -> np.ndarray:
        """Natural frequencies of the undamped chain in Hz, slowest first."""
        M = self.mass if self.mass.ndim == 2 else np.diag(self.mass)
        return np.sqrt(np.maximum(eigh(self.stiffness, M, eigvals_only=True), 0.0)) / (2 * math.pi)

    def anatomy(self) -> dict[str, Any]:
        """What `kinetree info` tells about the chain, plain data for JSON."""
        return {
            "name": self.name,
            "text": self.description.text,
            "method": "matrix method, piecewise parabolic forces",
            "coordinates": list(self.coordinates),
            "forces": {name: str(value) for name, value in self.chain.forces.items()},
            "frequencies": self.frequencies().tolist(),
        }

    def simulate(
        self,
        stop_time: float | None = None,
        start_time: float | None = None,
        output_step: float | None = None,
        accuracy: float | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> ChainResult:
        """Motion in equal steps; the output step is shortened where it does not divide the run. Forces are parabolas on every step."""
        from kinetree.solvers.chain import simulate

        run, began = self.description.run, time.perf_counter()
        begin = self._number(run.start_time) if start_time is None else start_time
        end = (begin + 10.0 if run.stop_time is None else self._number(run.stop_time)) if stop_time is None else stop_time
        if not (math.isfinite(begin) and math.isfinite(end) and end >= begin):
            raise ValueError(f"stop_time is {end:g}, before the start at {begin:g}")
        wanted = ((end - begin) / STEPS or 1.0) if run.output_step is None else self._number(run.output_step)
        wanted = wanted if output_step is None else output_step
        if not wanted > 0.0:
            raise ValueError(f"output_step is {wanted:g}, expected a positive number")
        steps = math.ceil((end - begin) / wanted * (1.0 - 1e-12))
        names = tuple(self.chain.forces)
        channels = [self.coordinates.index(name) for name in names]

        def force(t: float) -> list[float]:
            return [self._number(self.chain.forces[name], t) for name in names]

        x0, v0 = self.start()
        x, v = x0[None, :], v0[None, :]
        if steps:
            arguments = {"force": force, "channels": channels} if names else {}
            dt, error = (end - begin) / steps, ACCURACY if accuracy is None else accuracy
            x, v = simulate(self.mass, self.damping, self.stiffness, x0, v0, dt, steps, start_time=begin, accuracy=error, **arguments)
        if progress is not None:
            progress(end)
        return self._result(np.linspace(begin, end, steps + 1), x, v, time.perf_counter() - began)

    def _result(self, times: np.ndarray, x: np.ndarray, v: np.ndarray, seconds: float) -> ChainResult:
        """Columns with the energy of masses and couplings."""
        momenta = v * self.mass if self.mass.ndim == 1 else v @ self.mass
        energy = 0.5 * ((momenta * v).sum(axis=1) + ((x @ self.stiffness) * x).sum(axis=1))
        columns = [Column(name, 0, unit) for names, unit in ((self.coordinates, "m"), (self.speeds, "m/s")) for name in names]
        unit: Any = SimpleNamespace(description=self.description, stage_names=("",), columns=columns)
        options: Any = SimpleNamespace(start_time=float(times[0]), stop_time=float(times[-1]))
        result = ChainResult(unit, times, np.column_stack((x, v, np.zeros(times.size), energy)), options)
        result.statistics = {"seconds": seconds, "steps": float(times.size - 1), "events": 0.0}
        return result
