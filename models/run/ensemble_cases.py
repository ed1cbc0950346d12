"""The cases of an ensemble: parameters and inputs of each run, and the registers of a compiled
structure that they change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from kinetree.models.compilation.compile import parameter_values
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.instance import Instance
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.language.errors import suggestion
from kinetree.models.run.reparameterize import (
    reparameterized_description,
    reparameterized_structures,
    reparameterized_system,
)
from kinetree.models.run.simulation_unit import LATER, later_structures
from kinetree.models.system.controller_variants import other_at_rest, system_of, unprepared
from kinetree.models.system.system import System

FULLY = 2  # runs all of whose structures are compiled to see whether registers tell
CHECKED: WeakKeyDictionary[System, dict[frozenset[str], dict[str, tuple[float, float]]]] = (
    WeakKeyDictionary()
)


@dataclass
class RunGroup:
    """Runs that lanes can share: their indices, the values in which they differ, and the workspace
    of the first of them.
    """

    rows: np.ndarray
    varied: np.ndarray  # registers, then derived constants of bodies and elements
    values: np.ndarray  # (rows, varied)
    starts: np.ndarray  # (rows, nq + nu + nx)
    work: np.ndarray


def run_columns(
    given: Mapping[str, ArrayLike], known: Mapping[str, object] | tuple[str, ...], kind: str
) -> dict[str, np.ndarray]:
    """Return named columns of equal length; a single number is used for all runs."""
    found = {}
    for name, values in given.items():
        if name not in known:
            raise KeyError(f"'{name}' is not {kind}; {suggestion(name, tuple(known))}")
        column = np.asarray(values, dtype=float)
        if column.ndim > 1 or not np.isfinite(column).all():
            raise ValueError(
                f"{name}: expected a number or a row of finite numbers, found shape {column.shape}"
            )
        found[name] = column
    return found


def have_equal_numbers(a: Compiled, b: Compiled, inputs: Mapping[str, float]) -> bool:
    """Return whether two compiled structures have equal values in all registers and derived
    constants.
    """
    if not np.array_equal(a.ints, b.ints) or a.floats.size != b.floats.size:
        return False
    one, other = Instance(a), Instance(b)
    for instance in (one, other):
        instance.set_inputs(inputs)
    pairs = [
        (getattr(one.ws, field), getattr(other.ws, field))
        for field in ("val", "body", "elem", "rotor")
    ]
    beyond = one.ws.val.size  # tables
    return all(
        np.array_equal(x, y, equal_nan=True)
        for x, y in (*pairs, (a.floats[beyond:], b.floats[beyond:]))
    )


class Cases:
    """Parameters and inputs of every run.

    `quick`: writing the parameter registers is sufficient; otherwise (parameters given as
    expressions, or used by tables or start conditions) every run is compiled separately. Which
    applies is determined by compiling the smallest and the largest value of every parameter.
    """

    def __init__(
        self,
        system: System,
        parameters: Mapping[str, ArrayLike],
        inputs: Mapping[str, ArrayLike] | None,
    ):
        self._system = system
        d = system.description
        own = run_columns(parameters, d.parameters, "a parameter")
        given = run_columns(inputs or {}, system.compiled.inputs, "an input")
        lengths = {name: column.size for name, column in (own | given).items() if column.ndim}
        if len(set(lengths.values())) > 1:
            raise ValueError(
                f"columns of different lengths: {', '.join(f'{name} {size}' for name, size in lengths.items())}"
            )
        self.count = next(iter(lengths.values()), 1)
        self.parameters = {
            name: np.broadcast_to(column, self.count) for name, column in own.items()
        }
        self.inputs = {name: np.broadcast_to(column, self.count) for name, column in given.items()}
        if self.count:
            self.check_bounds()
        self.quick = self.count == 0 or self.told_by_registers()

    def ends(self) -> Iterator[dict[str, float]]:
        """Yield the parameters of runs in which one of them is smallest or largest."""
        rows = (
            {
                int(row)
                for column in self.parameters.values()
                for row in (column.argmin(), column.argmax())
            }
            if self.count
            else set()
        )
        yield from (self.parameters_of(row) for row in sorted(rows))

    def check_bounds(self) -> None:
        """Raise if a value lies outside the bounds of its parameter."""
        d = self._system.description
        values = parameter_values(d)
        for name, column in self.parameters.items():
            p = d.parameters[name]
            low, high = (
                None if limit is None else evaluate_constant(limit, values)
                for limit in (p.min, p.max)
            )
            if (low is not None and column.min() < low) or (
                high is not None and column.max() > high
            ):
                raise ValueError(
                    f"{name}: {column.min():g} to {column.max():g} leaves its bounds {low} to {high}"
                )

    def told_by_registers(self) -> bool:
        """Return whether writing registers is equivalent to compiling, tested at both extreme
        values of every parameter.
        """
        d = self._system.description
        if any(isinstance(d.parameters[name].value, str) for name in self.parameters) or (
            d.run.prepare and other_at_rest(d.written)
        ):
            return False
        covered = CHECKED.setdefault(self._system, {}).setdefault(frozenset(self.parameters), {})
        rows: dict[int, None] = {}
        for name, column in self.parameters.items():
            low, high = covered.get(name, (np.inf, -np.inf))
            for row in (int(column.argmin()), int(column.argmax())):
                if not low <= column[row] <= high:
                    rows[row] = None
        for number, row in enumerate(rows):
            if not self.same_as_compiled(row, not covered and number < FULLY):
                return False
        for name, column in self.parameters.items():
            low, high = covered.get(name, (np.inf, -np.inf))
            covered[name] = min(low, float(column.min())), max(high, float(column.max()))
        return True

    def same_as_compiled(self, row: int, fully: bool) -> bool:
        """Return whether the compiled structures of a run equal those with rewritten registers."""
        numbers, plain = self.parameters_of(row), unprepared(self._system.description)
        LATER[plain] = later_structures(self._system) if fully else ()
        made = (
            reparameterized_structures(plain, numbers)
            if fully
            else reparameterized_system(plain, numbers)
        )
        compiled = unprepared(reparameterized_description(self._system, numbers))
        pairs = [(made.compiled, compiled.compiled)]
        if fully:
            pairs += zip(later_structures(made), later_structures(compiled), strict=True)
        return all(
            have_equal_numbers(*pair, self.inputs_of(row) if k == 0 else {})
            for k, pair in enumerate(pairs)
        )

    def write(self, instance: Instance, row: int) -> None:
        """Write parameters and start values of a run to the registers and recompute everything
        derived from them.
        """
        for name, value in (self.parameters_of(row) | self.starts_of(row)).items():
            instance.ws.val[instance.compiled.registers[name]] = value
        instance.call("prepare")
        instance.set_inputs(self.inputs_of(row))

    def starts_of(self, row: int) -> dict[str, float]:
        """Return the start registers that the preparation computes for a run; empty without a
        preparation.
        """
        if not self._system.description.run.prepare:
            return {}
        return {
            f"start({name})": value
            for name, value in self._system.preparation.starts(self.parameters_of(row)).items()
        }

    def parameters_of(self, row: int) -> dict[str, float]:
        return {name: float(column[row]) for name, column in self.parameters.items()}

    def inputs_of(self, row: int) -> dict[str, float]:
        return {name: float(column[row]) for name, column in self.inputs.items()}

    def system(self, row: int) -> System:
        """Return the separately compiled system of a run."""
        return system_of(reparameterized_description(self._system, self.parameters_of(row)))

    def groups(self, instance: Instance) -> Iterator[RunGroup]:
        """Yield the runs in groups with equal axis directions, which share an evaluation path."""
        c, ws = instance.compiled, instance.ws
        n = ws.val.size + ws.body.size + ws.elem.size + ws.rotor.size
        images, starts = (
            np.empty((self.count, n)),
            np.empty((self.count, len(c.coordinates) + len(c.speeds) + len(c.states))),
        )
        shared: dict[bytes, list[int]] = {}
        works: dict[bytes, np.ndarray] = {}
        for row in range(self.count):
            self.write(instance, row)
            val = instance.ws.val
            images[row] = np.concatenate((val, ws.body, ws.elem, ws.rotor))
            q = val[c.start_q : c.start_q + len(c.coordinates)].copy()
            for k in c.quaternions:
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
            rest = (
                val[c.start_u : c.start_u + len(c.speeds)],
                val[c.start_x : c.start_x + len(c.states)],
            )
            starts[row] = np.concatenate((q, *rest))
            key = ws.body_code.tobytes() + ws.elem_code.tobytes()
            if key not in shared:
                shared[key], works[key] = [], instance.work.copy()
            shared[key].append(row)
        for key, rows in shared.items():
            mine = images[rows]
            different = (mine != mine[0]) & ~(np.isnan(mine) & np.isnan(mine[0]))
            varied = np.flatnonzero(different.any(axis=0)).astype(np.int64)
            yield RunGroup(
                np.array(rows),
                varied,
                np.ascontiguousarray(mine[:, varied]),
                starts[rows],
                works[key],
            )
