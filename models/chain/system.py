"""A linear chain of a description: its matrices, modes and simulation by the matrix method
(kinetree.solvers.chain).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.checks.elements_check import MOST_ROWS
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.expressions.columns import Column
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.library.chains import springs
from kinetree.models.result.result import Result

if TYPE_CHECKING:
    from kinetree.models.description.schema import Description
    from kinetree.models.language.parts.chain_parts import Chain

DEFAULT_STEPS = 500  # of a run without an output step
ACCURACY = 1e-10


class ChainResult(Result):
    """Coordinates and speeds of a chain over time."""

    EXTRA = RECORDED = ("stage", "energy")
    chain: ChainSystem | None = None


class ChainSystem:
    """A linear chain M ẍ + F ẋ + (C + Z) x = f(t) + Z x_cm(t)."""

    def __init__(self, description: Description):
        if description.chain is None:
            raise ModelError(
                Problem("chain", hint="the description has no chain", file=description.file)
            )
        self.description, self.name = description, description.name
        self.chain: Chain = description.chain
        self.values = parameter_values(description)
        self.coordinates = self.own_coordinates = self.chain.coordinates
        self.speeds = tuple(f"der({name})" for name in self.coordinates)
        self.n = self.chain.size
        outputs = tuple(
            Column(name, 0, output.unit) for name, output in description.outputs.items()
        )
        self.compiled = SimpleNamespace(inputs=tuple(description.inputs), outputs=outputs)
        mass = self._numbers(self.chain.mass)
        self.mass = np.full(self.n, mass) if mass.ndim == 0 else mass
        self.couplings, self.damping = (
            self._couplings(self.chain.stiffness),
            self._couplings(self.chain.damping),
        )
        self.springs = self._springs()
        self.supports = np.zeros(self.n)  # the diagonal of Z
        for name, support in self.chain.supports.items():
            self.supports[self.coordinates.index(name)] = self.number(support.stiffness)

    @property
    def stiffness(self) -> np.ndarray:
        """Return the stiffness matrix C + Z of couplings and supports."""
        return self.couplings + np.diag(self.supports)

    def _springs(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the springs between neighbours and to the ground if they are given individually
        and none is negative; else None.
        """
        k = self._numbers(self.chain.stiffness)
        if k.ndim == 2:
            return None
        k = np.full(self.n - 1, k) if k.ndim == 0 else k
        between, ground = (
            (k, np.zeros(self.n)) if len(k) == self.n - 1 else (k[1:-1], np.zeros(self.n))
        )
        if len(k) == self.n + 1:
            ground[0] += k[0]
            ground[-1] += k[-1]
        return (between, ground) if (k >= 0.0).all() else None

    def _stored(self, x: np.ndarray) -> np.ndarray:
        """Return the elastic energy of the couplings [J], one row per state."""
        if self.springs is None:
            return 0.5 * ((x @ self.couplings) * x).sum(axis=1)
        between, ground = self.springs
        return 0.5 * (np.diff(x, axis=1) ** 2 @ between + x**2 @ ground)

    @property
    def elastic(self) -> Any:
        """Return C + Z for the solver, as springs if possible, since their sum would lose digits."""
        from kinetree.solvers.chain import Springs

        if self.springs is None or (self.supports < 0.0).any():
            return self.stiffness
        return Springs(self.springs[0], self.springs[1] + self.supports)

    def number(self, value: float | str, more: Mapping[str, float] | None = None) -> float:
        """Return the value of an expression over parameters and the variables in `more`."""
        return evaluate_constant(value, {**self.values, **(more or {})})

    def _numbers(self, values: Any) -> np.ndarray:
        return (
            np.array([self._numbers(each) for each in values])
            if isinstance(values, tuple)
            else np.array(self.number(values))
        )

    def _couplings(self, values: Any) -> np.ndarray:
        """Return the coupling matrix from one number, n - 1 or n + 1 numbers, or a matrix."""
        if values is None:
            return np.zeros((self.n, self.n))
        numbers = self._numbers(values)
        return (
            numbers
            if numbers.ndim == 2
            else springs(np.full(self.n - 1, numbers) if numbers.ndim == 0 else numbers, self.n)
        )

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and speeds at the start."""
        x, v = (
            self._numbers(each) if each else np.zeros(self.n)
            for each in (self.chain.start, self.chain.speed)
        )
        return x, v

    def inputs(self, given: Mapping[str, Any] | None = None) -> Callable[[float], dict[str, float]]:
        """Return the inputs as functions of time; those not given keep their start values."""
        for name in given or {}:
            if name not in self.description.inputs:
                raise KeyError(
                    f"'{name}' is not an input; inputs: {', '.join(self.description.inputs) or 'none'}"
                )
        starts = {name: self.number(each.start) for name, each in self.description.inputs.items()}
        ways: dict[str, Any] = {**starts, **(given or {})}

        def value(way: Any, t: float) -> float:
            given: Any = way(t) if callable(way) else way
            return float(given)

        def values(t: float) -> dict[str, float]:
            return {name: value(way, t) for name, way in ways.items()}

        return values

    def frequencies(self) -> np.ndarray:
        """Return the natural frequencies of the undamped chain in Hz, slowest first."""
        from scipy.linalg import eigh  # takes longer to import than most commands run

        M = self.mass if self.mass.ndim == 2 else np.diag(self.mass)
        return np.sqrt(np.maximum(eigh(self.stiffness, M, eigvals_only=True), 0.0)) / (2 * math.pi)

    def anatomy(self) -> dict[str, Any]:
        """Return the data that `kinetree info` shows for the chain."""
        return {
            "name": self.name,
            "text": self.description.text,
            "method": "matrix method, piecewise parabolic forces",
            "coordinates": list(self.coordinates),
            "forces": {name: str(value) for name, value in self.chain.forces.items()},
            "supports": {
                name: str(support.motion) for name, support in self.chain.supports.items()
            },
            "frequencies": self.frequencies().tolist(),
        }

    def simulate(
        self,
        stop_time: float | None = None,
        start_time: float | None = None,
        output_step: float | None = None,
        accuracy: float | None = None,
        progress: Callable[[float], None] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> ChainResult:
        """Simulate the chain with equal steps; the output step is shortened if it does not divide
        the run. Forces and support motions are parabolas within every step.
        """
        from kinetree.solvers.chain import simulate

        run, began = self.description.run, time.perf_counter()
        begin = self.number(run.start_time) if start_time is None else start_time
        end = (
            (begin + 10.0 if run.stop_time is None else self.number(run.stop_time))
            if stop_time is None
            else stop_time
        )
        if not (math.isfinite(begin) and math.isfinite(end) and end >= begin):
            raise ValueError(f"stop_time is {end:g}, before the start at {begin:g}")
        wanted = (
            ((end - begin) / DEFAULT_STEPS or 1.0)
            if run.output_step is None
            else self.number(run.output_step)
        )
        wanted = wanted if output_step is None else output_step
        if not wanted > 0.0:
            raise ValueError(f"output_step is {wanted:g}, expected a positive number")
        if not (end - begin) / wanted <= MOST_ROWS:
            raise ValueError(
                f"output_step is {wanted:g}: {(end - begin) / wanted:.3g} rows, expected at most {MOST_ROWS}"
            )
        steps = math.ceil((end - begin) / wanted * (1.0 - 1e-12))
        told = self.inputs(inputs)
        channels, force = self.excitation(told)
        x0, v0 = self.start()
        x, v = x0[None, :], v0[None, :]
        if steps:
            arguments = {"force": force, "channels": channels} if channels else {}
            dt, error = (end - begin) / steps, ACCURACY if accuracy is None else accuracy
            x, v = simulate(
                self.mass,
                self.damping,
                self.elastic,
                x0,
                v0,
                dt,
                steps,
                start_time=begin,
                accuracy=error,
                **arguments,
            )
        if progress is not None:
            progress(end)
        return self._result(
            np.linspace(begin, end, steps + 1), x, v, told, time.perf_counter() - began
        )

    def excitation(
        self, inputs: Callable[[float], dict[str, float]]
    ) -> tuple[list[int], Callable[[float], np.ndarray]]:
        """Return the excited coordinates and the function f(t) + Z x_cm(t) of their forces."""
        chain = self.chain
        names = [
            name for name in self.coordinates if name in chain.forces or name in chain.supports
        ]
        place = {name: k for k, name in enumerate(names)}

        def force(t: float) -> np.ndarray:
            known, f = inputs(t) | {"t": t}, np.zeros(len(names))
            for name, value in chain.forces.items():
                f[place[name]] += self.number(value, known)
            for name, support in chain.supports.items():
                f[place[name]] += self.supports[self.coordinates.index(name)] * self.number(
                    support.motion, known
                )
            return f

        return [self.coordinates.index(name) for name in names], force

    def _result(
        self,
        times: np.ndarray,
        x: np.ndarray,
        v: np.ndarray,
        inputs: Callable[[float], dict[str, float]],
        seconds: float,
    ) -> ChainResult:
        """Return a result with the outputs and the energies of masses, couplings and supports."""
        momenta = v * self.mass if self.mass.ndim == 1 else v @ self.mass
        energy = 0.5 * (momenta * v).sum(axis=1) + self._stored(x)
        for name, support in self.chain.supports.items():
            k, motion = (
                self.coordinates.index(name),
                [self.number(support.motion, inputs(float(t)) | {"t": float(t)}) for t in times],
            )
            energy += 0.5 * self.supports[k] * (x[:, k] - motion) ** 2
        columns = [
            Column(name, 0, unit)
            for names, unit in ((self.coordinates, "m"), (self.speeds, "m/s"))
            for name in names
        ]
        columns += self.compiled.outputs
        unit: Any = SimpleNamespace(
            description=self.description, stage_names=("",), columns=columns, iterated=False
        )
        options: Any = SimpleNamespace(start_time=float(times[0]), stop_time=float(times[-1]))
        table = np.column_stack(
            (x, v, self._outputs(times, x, v, inputs), np.zeros(times.size), energy)
        )
        result = ChainResult(unit, times, table, options)
        result.chain = self
        result.statistics = {"seconds": seconds, "steps": float(times.size - 1), "events": 0.0}
        return result

    def _outputs(
        self,
        times: np.ndarray,
        x: np.ndarray,
        v: np.ndarray,
        inputs: Callable[[float], dict[str, float]],
    ) -> np.ndarray:
        """Return the outputs in every row (times, outputs); outputs may use earlier ones."""
        laws = {name: output.value for name, output in self.description.outputs.items()}
        rows = np.zeros((times.size, len(laws)))
        for j, t in enumerate(times if laws else ()):
            known = (
                inputs(float(t))
                | {"t": float(t)}
                | dict(zip((*self.coordinates, *self.speeds), (*x[j], *v[j]), strict=True))
            )
            for k, (name, law) in enumerate(laws.items()):
                rows[j, k] = known[name] = self.number(law or 0.0, known)
        return rows
