"""Accelerations and outputs of many states of one mechanism, evaluated in SIMD lanes and several
threads.

Arguments are dense rows; omitted ones take the values of the description. States of mechanisms with
closed loops are solved one by one, since the steps of their solution differ from state to state.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.models.engine.entry_points import pointer_entry
from kinetree.models.engine.not_finite import MAY_BE_INFINITE
from kinetree.models.engine.status import EvaluationError
from kinetree.solvers import layout as L

if TYPE_CHECKING:
    from kinetree.models.system.system import System

WORTH = 20_000  # states times freedoms from which a thread of its own pays


class Batch(NamedTuple):
    """Checked arguments of a batch: contiguous rows, with everything but q and u in one array or
    None.
    """

    t: np.ndarray
    q: np.ndarray
    u: np.ndarray
    rest: np.ndarray | None


def rows_of(values: ArrayLike, count: int, width: int, name: str) -> np.ndarray:
    """Return an argument as contiguous rows, given once for all states or once for each."""
    array = np.asarray(values, dtype=float)
    if array.ndim > 2:
        array = array.reshape(array.shape[0], -1) if array.shape[0] == count else array
    elif array.ndim == 2 and array.shape != (count, width) and array.size == width:
        array = array.reshape(-1)
    if array.shape not in ((count, width), (width,)):
        raise ValueError(
            f"{name} has shape {np.shape(values)}, expected ({count}, {width}) or ({width},)"
        )
    if not np.isfinite(array).all():
        k = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}{list(k)} is {array[k]}, expected finite numbers")
    return np.ascontiguousarray(np.broadcast_to(array, (count, width)))


def input_columns(
    values: Mapping[str, ArrayLike] | None,
    names: Sequence[str],
    start: np.ndarray,
    count: int,
    kind: str,
) -> np.ndarray:
    """Return named values as columns, one row per state, with start values as defaults."""
    found = np.tile(start, (count, 1))
    for name, value in (values or {}).items():
        if name not in names:
            raise KeyError(f"'{name}' is not {kind}; there are: {', '.join(names) or 'none'}")
        column = np.asarray(value, dtype=float)
        if column.shape not in ((), (1,), (count,)):
            raise ValueError(f"{name} has shape {column.shape}, expected one number or {count}")
        if not np.isfinite(column).all():
            raise ValueError(f"{name} has values that are not finite")
        found[:, list(names).index(name)] = column
    return found


def checked_batch(system: System, t, q, u, inputs, tau, loads, states) -> Batch:
    """Return the checked arguments of a batch."""
    c, val = system.compiled, system._fast.ws.val
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    count = len(rows)
    q, u = rows_of(rows, count, len(c.coordinates), "q"), rows_of(u, count, system.n, "u")
    time = rows_of(
        np.reshape(np.asarray(t, dtype=float), (-1, 1) if np.ndim(t) else (1,)), count, 1, "t"
    )
    if not np.ndim(t) and inputs is None and tau is None and loads is None and states is None:
        return Batch(time, q, u, None)
    names = tuple(state for state in c.states)
    x = input_columns(
        states, names, val[c.start_x : c.start_x + len(names)], count, "a first-order state"
    )
    given = input_columns(inputs, c.inputs, system._fast.input_starts(), count, "an input")
    added = rows_of(np.zeros(system.n) if tau is None else tau, count, system.n, "tau")
    wrenches = np.zeros((count, 6 * (len(c.bodies) + len(c.twins))))
    if loads is not None:
        wrenches[:, : 6 * len(c.bodies)] = rows_of(loads, count, 6 * len(c.bodies), "loads")
    return Batch(time, q, u, np.ascontiguousarray(np.hstack((time, x, given, added, wrenches))))


def accelerations_many(
    system: System,
    t: ArrayLike,
    q: ArrayLike,
    u: ArrayLike,
    inputs: Mapping[str, ArrayLike] | None,
    tau: ArrayLike | None,
    loads: ArrayLike | None,
    states: Mapping[str, ArrayLike] | None,
    outputs: Sequence[str],
    threads: int | None,
) -> Any:
    """Return accelerations and outputs of many states; arguments as in `System.accelerations_many`."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, expected at least 1")
    columns = {column.name: column.register for column in system.compiled.outputs}
    unknown = [name for name in outputs if name not in columns]
    if unknown:
        raise KeyError(f"'{unknown[0]}' is not an output; outputs: {', '.join(columns) or 'none'}")
    given = checked_batch(system, t, q, u, inputs, tau, loads, states)
    udot, values = np.empty((len(given.q), system.n)), np.empty((len(given.q), len(outputs)))
    registers = np.array([columns[name] for name in outputs], dtype=np.int64)
    system._fast.set_state(given.q[0], given.u[0], None) if len(given.q) else None
    alone = bool(
        system.compiled.loops or (outputs and system.description.actuators)
    )  # what actuators tell begins with the state
    many = None if alone else pointer_entry("many")
    if many is None:
        evaluate_singly(system, given, registers, udot, values)
    elif not evaluate_in_lanes(system, many, given, registers, udot, values, threads):
        evaluate_singly(
            system, given, registers, udot, values
        )  # names the state that has no solution
    refuse_not_finite(system, given, outputs, registers, udot, values)
    return (udot, {name: values[:, k] for k, name in enumerate(outputs)}) if outputs else udot


def evaluate_in_lanes(
    system: System,
    many,
    given: Batch,
    registers: np.ndarray,
    udot: np.ndarray,
    values: np.ndarray,
    threads: int | None,
) -> bool:
    """Evaluate all states in several threads; return False if one of them has no solution."""
    instance = system._fast
    instance.ws.val[0] = given.t[0, 0] if len(given.t) else 0.0
    count = len(given.q)
    if threads is None:
        threads = max(1, min(os.cpu_count() or 1, count * system.n // WORTH))
    size = -(-count // threads)
    size += -size % L.WIDTH
    blocks = [
        instance.ints.ctypes.data,
        system.compiled.floats.ctypes.data,
        instance.work.ctypes.data,
    ]

    def evaluate(first: int) -> int:
        last = min(first + size, count)
        wide = instance.wide(L.LANES_STRIDE)
        at = [part[first:last].ctypes.data for part in (given.q, given.u)]
        rest = None if given.rest is None else given.rest[first:last].ctypes.data
        results = (
            udot[first:last].ctypes.data,
            registers.ctypes.data,
            len(registers),
            values[first:last].ctypes.data,
        )
        status = many(*blocks, wide.ctypes.data, last - first, *at, rest, *results)
        instance.keep(L.LANES_STRIDE, wide)
        return status

    firsts = range(0, count, size) if count else range(0)
    if len(firsts) < 2:
        return not any(map(evaluate, firsts))
    with ThreadPoolExecutor(len(firsts)) as pool:
        return not any(list(pool.map(evaluate, firsts)))


def refuse_not_finite(
    system: System,
    given: Batch,
    outputs: Sequence[str],
    registers: np.ndarray,
    udot: np.ndarray,
    values: np.ndarray,
) -> None:
    """Raise an error for the first state with a non-finite result."""
    told = [k for k, name in enumerate(outputs) if not name.endswith(MAY_BE_INFINITE)]
    if np.isfinite(udot).all() and np.isfinite(values[:, told]).all():
        return
    k = int(
        np.flatnonzero(~(np.isfinite(udot).all(axis=1) & np.isfinite(values[:, told]).all(axis=1)))[
            0
        ]
    )
    alone = Batch(*(None if part is None else part[k : k + 1] for part in given))  # type: ignore[arg-type]
    evaluate_singly(system, alone, registers, udot[k : k + 1].copy(), values[k : k + 1].copy())
    instance, t = system._fast, float(given.t[k, 0])
    for what, found, names in (
        ("accelerations", udot[k], system.speeds),
        ("outputs", values[k, told], [outputs[j] for j in told]),
    ):
        instance.finite(t, f"state {k}, {what}", found, names)


def evaluate_singly(
    system: System, given: Batch, registers: np.ndarray, udot: np.ndarray, values: np.ndarray
) -> None:
    """Evaluate the states one by one, so that an error message names the failing state."""
    instance, c = system._fast, system.compiled
    nx, ni, n = len(c.states), len(c.inputs), system.n
    first = c.registers[c.inputs[0]] if ni else 0
    for k in range(len(given.q)):
        instance.set_state(given.q[k], given.u[k])
        if given.rest is not None:
            row = given.rest[k, 1:]
            instance.ws.x[:] = row[:nx]
            instance.ws.val[first : first + ni] = row[nx : nx + ni]
            instance.ws.added[:] = row[nx + ni : nx + ni + n]
            instance.ws.extra[6:] = row[nx + ni + n :]
            instance.ws.head.extra = 1.0
        try:
            instance.outputs(float(given.t[k, 0])) if len(registers) else instance.call(
                "accelerations", 0, float(given.t[k, 0])
            )
        except EvaluationError as error:
            raise EvaluationError(f"state {k}: {error}", error.status) from error
        udot[k] = instance.ws.udot
        values[k] = instance.ws.val[registers]
